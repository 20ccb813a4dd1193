#include "pairs.h"

#include "base/mem.h"
#include "base/os.h"
#include "bench.h"
#include "report/significance.h"
#include "simulate/simulate.h"
#include "spaces.h"
#include "trial/source.h"

#include <math.h>
#include <stdlib.h>

static const int marks[] = {20, 50, 100, 200, 400};
enum { MARKS = sizeof marks / sizeof *marks };

static int marks_within(int trials)
{
    int count = 0;
    while (count < MARKS && marks[count] <= trials)
        count++;
    return count;
}

static void begin_table(const char *first, int columns, const char *last)
{
    printf("\n| %s |", first);
    for (int i = 0; i < columns; i++)
        printf(" %d |", marks[i]);
    printf("%s\n|---|", last);
    for (int i = 0; i < columns + (*last != '\0'); i++)
        printf("---:|");
    printf("\n");
}

// --- on recordings ---

static double share_after(const struct simulation *s, int repeat, int trials)
{
    const struct simulated_run *run = &s->run[repeat];
    double best = 0;
    for (int i = 0; i < run->count && run->step[i].trial <= trials; i++)
        best = s->recording->entry[s->recording->best].seconds / run->step[i].seconds;
    return best;
}

static double mean_after(const struct simulation *s, int trials, double *each)
{
    double sum = 0;
    for (int k = 0; k < s->repeats; k++)
        sum += each[k] = share_after(s, k, trials);
    return sum / s->repeats;
}

// `of` and `to` are the first of `recordings` simulations, `stride` apart.
static void print_differences(const struct simulation *to, const struct simulation *of,
                              int recordings, int stride)
{
    int columns = marks_within((int)of->trials), repeats = of->repeats;
    double *a = mem_zero((size_t)repeats, sizeof *a), *b = mem_zero((size_t)repeats, sizeof *b);
    double *p = mem_zero((size_t)(recordings * columns), sizeof *p), better[MARKS] = {0},
           mean[MARKS] = {0};
    char(*cell)[24] = mem_zero((size_t)(recordings * columns), sizeof *cell);
    for (int i = 0; i < recordings * columns; i++) {
        int at = i % columns, row = i / columns * stride;
        double before = mean_after(&to[row], marks[at], a),
               now = mean_after(&of[row], marks[at], b);
        better[at] += (now - before) / recordings;
        mean[at] += now / recordings;
        p[i] = significance_wilcoxon(a, b, repeats);
        snprintf(cell[i], sizeof *cell, "%.4f %+.4f", now, now - before);
    }
    significance_holm(p, recordings * columns);
    printf("\n%s, and what it is better than %s; * p < 0.05\n", of->strategy, to->strategy);
    begin_table("recording", columns, "");
    for (int i = 0; i < recordings * columns; i++) {
        if (i % columns == 0)
            printf("| %s |", of[i / columns * stride].recording->name);
        printf(" %s%s |%s", cell[i], p[i] < 0.05 ? "*" : "", (i + 1) % columns ? "" : "\n");
    }
    printf("| mean |");
    for (int i = 0; i < columns; i++)
        printf(" %.4f %+.4f |", mean[i], better[i]);
    printf("\n");
    free(a);
    free(b);
    free(p);
    free(cell);
}

static double milliseconds(const struct simulation *list, int recordings, int stride)
{
    double seconds = 0, trials = 0;
    for (int i = 0; i < recordings; i++)
        for (int k = 0; k < list[i * stride].repeats; k++) {
            seconds += list[i * stride].run[k].own_s;
            trials += (double)list[i * stride].run[k].trials;
        }
    return 1e3 * seconds / trials;
}

static bool has_failures(const struct recording *r)
{
    for (int i = 0; i < r->count; i++)
        if (simulate_is_trial(&r->entry[i]) && r->entry[i].outcome != OUTCOME_OK)
            return true;
    return false;
}

static void print_failures(const struct simulation *list, int recordings, int specs)
{
    printf("\nShare of all trials that failed, where any can\n\n| recording |");
    for (int k = 0; k < specs; k++)
        printf(" %s |", list[k].strategy);
    printf("\n|---|");
    for (int k = 0; k < specs; k++)
        printf("---:|");
    for (int i = 0; i < recordings * specs; i++) {
        int64_t failed = 0, trials = 0;
        if (!has_failures(list[i].recording))
            continue;
        for (int k = 0; k < list[i].repeats; k++) {
            failed += list[i].run[k].failed;
            trials += list[i].run[k].trials;
        }
        if (i % specs == 0)
            printf("\n| %s |", list[i].recording->name);
        printf(" %.1f %% |", 100 * (double)failed / (double)trials);
    }
    printf("\n\n");
}

void pairs_on_recordings(char *const *spec, int specs, struct recording *const *recording,
                         int recordings, int trials, int repeats)
{
    struct err e;
    int count = recordings * specs;
    struct simulation *list = mem_zero((size_t)count, sizeof *list);
    for (int i = 0; i < count; i++)
        list[i] = (struct simulation){.recording = recording[i / specs],
                                      .strategy = spec[i % specs],
                                      .seeded_as = spec[0],
                                      .trials = trials,
                                      .repeats = repeats,
                                      .seed = 1};
    if (!simulate(list, count, &(struct simulate_options){0}, &e))
        bench_fail("the simulation failed", &e);
    for (int k = 1; k < specs; k++)
        print_differences(&list[0], &list[k], recordings, specs);
    print_failures(list, recordings, specs);
    for (int k = 0; k < specs; k++)
        printf("%s: %.2f ms CPU time a trial\n", spec[k],
               milliseconds(&list[k], recordings, specs));
    for (int i = 0; i < count; i++)
        simulation_finish(&list[i]);
    free(list);
}

// --- in traps ---

static struct space *make_space(const char *name, const int *sizes)
{
    struct space *s = space_create(name);
    for (int i = 0; sizes[i]; i++) {
        char param[8];
        snprintf(param, sizeof param, "p%d", i);
        add_discrete(s, param, sizes[i]);
    }
    return sealed(s);
}

struct escapes {
    int count[MARKS];
    double cpu_s;
};

// The trap's own seed would draw its optimum first.
static void run_in_trap(const struct source *trap, const struct space *space, const char *spec,
                        int seed, struct escapes *out)
{
    struct err e;
    struct config c;
    struct search_problem problem = {.space = space};
    int64_t start = os_cpu_ns();
    struct strategy *s = strategy_create(spec, &problem, (uint64_t)seed << 32, &e);
    if (!s)
        bench_fail("no strategy", &e);
    double best = 0;
    for (int n = 1, mark = 0; mark < MARKS && strategy_ask(s, &c) == ASK_NEW; n++) {
        double quality = synthetic_quality(trap, &c, NULL);
        strategy_tell(s, &c, OUTCOME_OK, quality);
        best = fmax(best, quality);
        if (n == marks[mark])
            out->count[mark++] += best >= 0.95;
    }
    strategy_destroy(s);
    out->cpu_s += 1e-9 * (double)(os_cpu_ns() - start);
}

// Each runs in the same traps.
static void run_in_traps(const struct space *space, char *const *spec, int specs, int seeds,
                         struct escapes *out)
{
    for (int seed = 1; seed <= seeds; seed++) {
        struct err e;
        char name[32];
        snprintf(name, sizeof name, "trap:seed=%d", seed);
        struct source *trap = synthetic_create(name, space, 1, 1, &e);
        if (!trap)
            bench_fail("no landscape", &e);
        for (int k = 0; k < specs; k++)
            run_in_trap(trap, space, spec[k], seed, &out[k]);
        source_destroy(trap);
    }
}

void pairs_in_traps(char *const *spec, int specs, int seeds)
{
    static const int small[] = {2, 2, 4, 4, 4, 5, 8, 0},
                     large[] = {2, 2, 3, 4, 4, 8, 8, 8, 8, 8, 16, 0};
    const struct {
        const char *name;
        const int *sizes;
    } spaces[] = {{"10^4", small}, {"10^8", large}};
    for (int i = 0; i < 2; i++) {
        struct space *space = make_space(spaces[i].name, spaces[i].sizes);
        struct escapes out[PAIRS_MOST] = {{{0}, 0}};
        run_in_traps(space, spec, specs, seeds, out);
        printf("\nShare of %d runs that are at 0.95 or above, in traps of %s points\n", seeds,
               space->size_text);
        begin_table("strategy", MARKS, " ms a trial |");
        for (int k = 0; k < specs; k++) {
            printf("| %s |", spec[k]);
            for (int m = 0; m < MARKS; m++)
                printf(" %d %% |", 100 * out[k].count[m] / seeds);
            printf(" %.2f |\n", 1e3 * out[k].cpu_s / (seeds * marks[MARKS - 1]));
        }
        space_destroy(space);
    }
}
