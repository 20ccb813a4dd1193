#include "pairs.h"

#include "base/mem.h"
#include "base/os.h"
#include "bench.h"
#include "report/compare.h"
#include "simulate/simulate.h"
#include "spaces.h"
#include "trial/source.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

// --- on recordings ---

// One of the figures that strategies are compared by, recording by recording.
struct column {
    const char *title;
    // Of one search; `horizon_s`: until when all searches of the recording went on.
    double (*value)(const struct simulation *s, int repeat, double at, double horizon_s);
    double at;     // trials, or a share of the optimum
    bool is_ratio; // of seconds it is told how many times as many they are, else the difference
};

static double optimum_of(const struct simulation *s)
{
    return s->recording->entry[s->recording->best].seconds;
}

// Optimum / best after `at` trials.
static double share_after(const struct simulation *s, int repeat, double at, double horizon_s)
{
    const struct simulated_run *run = &s->run[repeat];
    double best = 0;
    (void)horizon_s;
    for (int i = 0; i < run->count && (double)run->step[i].trial <= at; i++)
        best = optimum_of(s) / run->step[i].seconds;
    return best;
}

// Seconds until the share `at` of the optimum was found; all there were where it was not.
static double seconds_to(const struct simulation *s, int repeat, double at, double horizon_s)
{
    const struct simulated_run *run = &s->run[repeat];
    for (int i = 0; i < run->count; i++)
        if (optimum_of(s) / run->step[i].seconds >= at)
            return fmin(run->step[i].at_s, horizon_s);
    return horizon_s;
}

// The mean of optimum / best over all seconds.
static double area_within(const struct simulation *s, int repeat, double at, double horizon_s)
{
    const struct simulated_run *run = &s->run[repeat];
    double area = 0;
    (void)at;
    for (int i = 0; i < run->count && run->step[i].at_s < horizon_s; i++) {
        double until = i + 1 < run->count ? fmin(run->step[i + 1].at_s, horizon_s) : horizon_s;
        area += optimum_of(s) / run->step[i].seconds * (until - run->step[i].at_s);
    }
    return area / horizon_s;
}

static const struct column over_trials[] = {{"20", share_after, 20, false},
                                            {"50", share_after, 50, false},
                                            {"100", share_after, 100, false},
                                            {"200", share_after, 200, false},
                                            {"400", share_after, 400, false}};

static const struct column over_seconds[] = {{"0.90", seconds_to, 0.90, true},
                                             {"0.95", seconds_to, 0.95, true},
                                             {"0.99", seconds_to, 0.99, true},
                                             {"area", area_within, 0, false}};

enum {
    MARKS = sizeof over_trials / sizeof *over_trials,
    TIMES = sizeof over_seconds / sizeof *over_seconds
};

static int marks_within(int64_t trials)
{
    int count = 0;
    while (count < MARKS && over_trials[count].at <= (double)trials)
        count++;
    return count;
}

static void begin_table(const char *first, const struct column *column, int columns,
                        const char *last)
{
    printf("| %s |", first);
    for (int i = 0; i < columns; i++)
        printf(" %s |", column[i].title);
    printf("%s\n|---|", last);
    for (int i = 0; i < columns + (*last != '\0'); i++)
        printf("---:|");
    printf("\n");
}

static double horizon_of(const struct simulation *list, int specs)
{
    double least = INFINITY;
    for (int i = 0; i < specs; i++)
        for (int k = 0; k < list[i].repeats; k++)
            least = fmin(least, list[i].run[k].recorded_s + list[i].run[k].own_s);
    return least;
}

struct difference {
    double before, now, p; // means over all repeats
};

// Of the strategies list[0] and list[spec], in pairs.
static struct difference differ(const struct simulation *list, int spec, int specs,
                                const struct column *c)
{
    int repeats = list->repeats;
    double horizon_s = horizon_of(list, specs);
    double *a = mem_zero((size_t)repeats, sizeof *a), *b = mem_zero((size_t)repeats, sizeof *b);
    struct difference d = {0};
    for (int k = 0; k < repeats; k++) {
        a[k] = c->value(&list[0], k, c->at, horizon_s);
        b[k] = c->value(&list[spec], k, c->at, horizon_s);
        d.before += a[k] / repeats;
        d.now += b[k] / repeats;
    }
    d.p = significance_wilcoxon(a, b, repeats);
    free(a);
    free(b);
    return d;
}

static void print_difference(const struct difference *d, bool is_ratio, double p)
{
    const char *mark = p < 0.05 ? "*" : "";
    if (is_ratio)
        printf(" %.1f x%.3f%s |", d->now, d->now / d->before, mark);
    else
        printf(" %.4f %+.4f%s |", d->now, d->now - d->before, mark);
}

// Of ratios the geometric mean, over all recordings.
static void print_mean(const struct difference *d, int recordings, int columns, bool is_ratio)
{
    struct difference mean = {0};
    double logarithms = 0;
    for (int i = 0; i < recordings; i++) {
        mean.before += d[i * columns].before / recordings;
        mean.now += d[i * columns].now / recordings;
        logarithms += is_ratio ? log(d[i * columns].now / d[i * columns].before) / recordings : 0;
    }
    if (is_ratio)
        printf(" x%.3f |", exp(logarithms));
    else
        print_difference(&mean, false, 1);
}

// A line for each of the recordings, each of which has `specs` simulations in the list.
static void print_differences(const struct simulation *list, int spec, int recordings, int specs,
                              const struct column *column, int columns)
{
    int count = recordings * columns;
    struct difference *d = mem_zero((size_t)count, sizeof *d);
    double *p = mem_zero((size_t)count, sizeof *p);
    for (int i = 0; i < count; i++) {
        d[i] = differ(list + i / columns * specs, spec, specs, &column[i % columns]);
        p[i] = d[i].p;
    }
    significance_holm(p, count);
    begin_table("recording", column, columns, "");
    for (int i = 0; i < count; i++) {
        if (i % columns == 0)
            printf("| %s |", list[i / columns * specs].recording->name);
        print_difference(&d[i], column[i % columns].is_ratio, p[i]);
        if ((i + 1) % columns == 0)
            printf("\n");
    }
    printf("| mean |");
    for (int i = 0; i < columns; i++)
        print_mean(d + i, recordings, columns, column[i].is_ratio);
    printf("\n");
    free(d);
    free(p);
}

static void print_comparison(const struct simulation *list, int spec, int recordings, int specs)
{
    const char *of = list[spec].strategy, *to = list->strategy;
    printf("\n%s after so many trials, and what it is better than %s; * p < 0.05\n\n", of, to);
    print_differences(list, spec, recordings, specs, over_trials, marks_within(list->trials));
    printf("\n%s: seconds to a share of the optimum, times those of %s, and the mean of optimum / "
           "best over them\n\n",
           of, to);
    print_differences(list, spec, recordings, specs, over_seconds, TIMES);
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
        print_comparison(list, k, recordings, specs);
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
    int64_t start = os_process_cpu_ns(getpid());
    struct strategy *s = strategy_create(spec, &problem, (uint64_t)seed << 32, &e);
    if (!s)
        bench_fail("no strategy", &e);
    double best = 0;
    for (int n = 1, mark = 0; mark < MARKS && strategy_ask(s, &c) == ASK_NEW; n++) {
        double quality = synthetic_quality(trap, &c, NULL);
        strategy_tell(s, &c, OUTCOME_OK, quality);
        best = fmax(best, quality);
        if (n == over_trials[mark].at)
            out->count[mark++] += best >= 0.95;
    }
    strategy_destroy(s);
    out->cpu_s += 1e-9 * (double)(os_process_cpu_ns(getpid()) - start);
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
        printf("\nShare of %d runs that are at 0.95 or above, in traps of %s points\n\n", seeds,
               space->size_text);
        begin_table("strategy", over_trials, MARKS, " ms a trial |");
        for (int k = 0; k < specs; k++) {
            printf("| %s |", spec[k]);
            for (int m = 0; m < MARKS; m++)
                printf(" %d %% |", 100 * out[k].count[m] / seeds);
            printf(" %.2f |\n", 1e3 * out[k].cpu_s / (seeds * over_trials[MARKS - 1].at));
        }
        space_destroy(space);
    }
}
