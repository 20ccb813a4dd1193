#include "standing.h"

#include "base/mem.h"
#include "base/os.h"
#include "bench.h"
#include "search/strategy.h"
#include "simulate/simulate.h"
#include "synthetic_landscapes.h"
#include "trial/source.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { MARKS = 5, MOST_GROUNDS = 64 };
static const int mark[MARKS] = {20, 50, 100, 200, 400};

#define NEAR 0.99 // of the optimum: within 1 %

struct outcome_of_run {
    double share[MARKS]; // optimum / best
};

struct ground {
    const char *name;
    struct recording *recording; // or
    const struct landscape_kind *kind;
    struct outcome_of_run *run; // [specs][repeats]
};

struct field { // the grounds of one table
    const struct standing *of;
    struct ground ground[MOST_GROUNDS];
    int grounds;
    double *cpu_s; // [specs]
};

// --- runs ---

static bool is_recorded(void *context, const struct config *c)
{
    return simulate_is_trial(recording_find(context, c));
}

static enum ask wait_and_ask(struct strategy *s, struct config *c)
{
    enum ask asked;
    while ((asked = strategy_ask(s, c)) == ASK_WAIT && strategy_wait(s)) {
    }
    return asked;
}

struct measured {
    double speed, share; // as measured; true one, of the optimum; 0: failed
    double took_s;       // 0: not known
};

static struct measured measure(const struct ground *g, const struct landscape *l,
                               const struct config *c, struct rng *r)
{
    if (l)
        return (struct measured){landscape_measure(l, c, r), landscape_quality(l, c), 0};
    const struct recording *of = g->recording;
    const struct record_entry *entry = recording_find(of, c);
    double share = entry->outcome == OUTCOME_OK ? of->entry[of->best].seconds / entry->seconds : 0;
    return (struct measured){share, share, replay_source_cost(entry)};
}

static void run(const struct ground *g, const struct landscape *l, const char *spec, uint64_t seed,
                struct outcome_of_run *out)
{
    struct err e;
    struct config c;
    struct rng noise;
    struct search_problem recorded = {.legal = is_recorded, .context = g->recording};
    if (!l)
        recorded.space = g->recording->space;
    struct strategy *s =
        strategy_create(spec, l ? landscape_problem(l) : &recorded, seed << 32, &e);
    struct measured best = {0};
    int trials = 0, at = 0;
    if (!s)
        bench_fail("no strategy", &e);
    rng_seed(&noise, seed);
    while (at < MARKS && wait_and_ask(s, &c) == ASK_NEW) {
        if (!search_is_legal(l ? landscape_problem(l) : &recorded, &c)) {
            strategy_tell(s, &c, OUTCOME_REJECTED, 0);
            continue;
        }
        struct measured m = measure(g, l, &c, &noise);
        if (s->kind->took)
            s->kind->took(s, &c, m.took_s);
        strategy_tell(s, &c, m.speed > 0 ? OUTCOME_OK : OUTCOME_CRASH, m.speed);
        best = m.speed > best.speed ? m : best;
        if (++trials == mark[at])
            out->share[at++] = best.share;
    }
    for (; at < MARKS; at++) // it found nothing more
        out->share[at] = best.share;
    strategy_destroy(s);
}

static void run_all(struct field *f)
{
    const struct standing *of = f->of;
    f->cpu_s = mem_zero((size_t)of->specs, sizeof *f->cpu_s);
    for (int i = 0; i < f->grounds; i++) {
        struct ground *g = &f->ground[i];
        g->run = mem_zero((size_t)(of->specs * of->repeats), sizeof *g->run);
        for (int k = 0; k < of->repeats; k++) {
            uint64_t seed = (uint64_t)k + 1;
            struct landscape *l = g->kind ? landscape_create(g->kind, seed) : NULL;
            for (int s = 0; s < of->specs; s++) {
                int64_t start = os_process_cpu_ns(getpid());
                run(g, l, of->spec[s], seed, &g->run[s * of->repeats + k]);
                f->cpu_s[s] += 1e-9 * (double)(os_process_cpu_ns(getpid()) - start);
            }
            if (l)
                landscape_destroy(l);
        }
    }
}

// --- tables ---

struct mean {
    double value, error; // with its standard error, the grounds being what they are
};

// Returns the mean of one ground; with `less` at least 0, of what strategy `spec` is ahead of that.
static struct mean mean_on(const struct field *f, int ground, int spec, int less, int at)
{
    int n = f->of->repeats;
    const struct outcome_of_run *a = f->ground[ground].run + spec * n, *b = a + (less - spec) * n;
    double sum = 0, squares = 0;
    for (int k = 0; k < n; k++) {
        double value = a[k].share[at] - (less >= 0 ? b[k].share[at] : 0);
        sum += value;
        squares += value * value;
    }
    double variance = fmax(squares - sum * sum / n, 0) / fmax(n - 1, 1);
    return (struct mean){sum / n, sqrt(variance / n)};
}

static struct mean mean_of(const struct field *f, int spec, int less, int at)
{
    struct mean all = {0};
    for (int i = 0; i < f->grounds; i++) {
        struct mean m = mean_on(f, i, spec, less, at);
        all.value += m.value / f->grounds;
        all.error += m.error * m.error;
    }
    all.error = sqrt(all.error) / f->grounds;
    return all;
}

static double within(const struct field *f, int ground, int spec, int at)
{
    int n = f->of->repeats, count = 0;
    for (int k = 0; k < n; k++)
        count += f->ground[ground].run[spec * n + k].share[at] >= NEAR;
    return 100.0 * count / n;
}

static void print_means(const struct field *f)
{
    printf("| strategy | 20 | 50 | 100 | 200 | 400 | ms a trial |\n"
           "|---|---:|---:|---:|---:|---:|---:|\n");
    for (int s = 0; s < f->of->specs; s++) {
        printf("| %s |", f->of->spec[s]);
        for (int at = 0; at < MARKS; at++) {
            struct mean m = mean_of(f, s, -1, at);
            printf(" %.4f ± %.4f |", m.value, m.error);
        }
        printf(" %.2f |\n", 1e3 * f->cpu_s[s] / (f->grounds * f->of->repeats * mark[MARKS - 1]));
    }
}

// Returns the best of all but the first; `ground` -1: in the mean.
static int best_other(const struct field *f, int ground, int at)
{
    int best = 1;
    double most = -INFINITY;
    for (int s = 1; s < f->of->specs; s++) {
        struct mean m = ground < 0 ? mean_of(f, s, -1, at) : mean_on(f, ground, s, -1, at);
        if (m.value > most) {
            most = m.value;
            best = s;
        }
    }
    return best;
}

static void print_lead(const struct field *f)
{
    printf(
        "\n| trials | %s | the best other | lead ± s.e. | in s.e. |\n|---:|---:|---|---:|---:|\n",
        f->of->spec[0]);
    for (int at = 0; at < MARKS; at++) {
        int other = best_other(f, -1, at);
        struct mean lead = mean_of(f, 0, other, at);
        printf("| %d | %.4f | %s | %+.4f ± %.4f | %+.1f |\n", mark[at], mean_of(f, 0, -1, at).value,
               f->of->spec[other], lead.value, lead.error,
               lead.error > 0 ? lead.value / lead.error : 0);
    }
}

static void print_grounds(const struct field *f)
{
    printf("\n%s on each: optimum / best; the share of runs within 1 %%; and at which budgets "
           "another is ahead by more than three standard errors\n\n"
           "| | 20 | 50 | 100 | 200 | 400 | 1 %%: 100 | 200 | 400 | behind |\n"
           "|---|---:|---:|---:|---:|---:|---:|---:|---:|---|\n",
           f->of->spec[0]);
    for (int i = 0; i < f->grounds; i++) {
        printf("| %s |", f->ground[i].name);
        for (int at = 0; at < MARKS; at++)
            printf(" %.4f |", mean_on(f, i, 0, -1, at).value);
        for (int at = 2; at < MARKS; at++)
            printf(" %.0f %% |", within(f, i, 0, at));
        for (int at = 0; at < MARKS && f->of->specs > 1; at++) {
            int other = best_other(f, i, at);
            struct mean lead = mean_on(f, i, 0, other, at);
            if (lead.value < -3 * lead.error)
                printf(" %d: %s %+.4f", mark[at], f->of->spec[other], lead.value);
        }
        printf(" |\n");
    }
}

// Every strategy on every ground after so many trials.
static void print_all(const struct field *f, int at)
{
    printf("\nAfter %d trials\n\n| strategy |", mark[at]);
    for (int i = 0; i < f->grounds; i++)
        printf(" %s |", f->ground[i].name);
    printf("\n|---|");
    for (int i = 0; i < f->grounds; i++)
        printf("---:|");
    for (int s = 0; s < f->of->specs; s++) {
        printf("\n| %s |", f->of->spec[s]);
        for (int i = 0; i < f->grounds; i++)
            printf(" %.3f |", mean_on(f, i, s, -1, at).value);
    }
    printf("\n");
}

static void compare(struct field *f, const char *title)
{
    run_all(f);
    printf("\n### %s: optimum / best after so many trials, %d runs on each of %d\n\n", title,
           f->of->repeats, f->grounds);
    print_means(f);
    if (f->of->specs > 1)
        print_lead(f);
    print_grounds(f);
    print_all(f, 2);
    fflush(stdout);
    for (int i = 0; i < f->grounds; i++)
        free(f->ground[i].run);
    free(f->cpu_s);
}

void standing_on_recordings(const struct standing *s, struct recording *const *recording,
                            int recordings)
{
    struct field f = {.of = s};
    for (; f.grounds < recordings; f.grounds++)
        f.ground[f.grounds] =
            (struct ground){.name = recording[f.grounds]->name, .recording = recording[f.grounds]};
    compare(&f, "Recordings");
}

void standing_on_landscapes(const struct standing *s, bool held_out)
{
    struct field f = {.of = s};
    for (int i = 0; i < LANDSCAPES; i++)
        if (landscape_kinds[i].held_out == held_out)
            f.ground[f.grounds++] =
                (struct ground){.name = landscape_kinds[i].name, .kind = &landscape_kinds[i]};
    compare(&f, held_out ? "Landscapes that were held out" : "Landscapes");
}
