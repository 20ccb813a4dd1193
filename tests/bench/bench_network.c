// bench network: schedulers against each other on networks made of recordings.
//
// The tasks of every network are the recordings of recordings.h. Each of the `--mixes` networks
// uses them differently: in its fastest form a task has a share of the latency between 1 and 30
// parts, drawn by logarithm. Every task is searched once a mix and strategy; all schedulers are
// played on the same curves, and the oracle knows them.
//
// The table has the least latency / latency after so many trials a task, mean over the mixes, with
// the standard error of the last, and the share of the budget after which the mean is that of
// roundrobin at its end.
#include "bench.h"
#include "recordings.h"
#include "simulate/curve.h"
#include "simulate/network.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUND 8
#define SEED  1

static const char *const schedulers[] = {"roundrobin", "gradient", SIMULATED_ORACLE};
enum { SCHEDULERS = sizeof schedulers / sizeof *schedulers };

struct mixes {
    struct recording **recording;
    int recordings, count;
    int trials;   // a task
    double *uses; // [count * recordings]
};

static void draw_uses(struct mixes *m)
{
    struct rng rng;
    rng_seed(&rng, SEED);
    m->uses = mem_zero((size_t)(m->count * m->recordings), sizeof *m->uses);
    for (int k = 0; k < m->count; k++)
        for (int i = 0; i < m->recordings; i++) {
            const struct recording *r = m->recording[i];
            m->uses[k * m->recordings + i] = pow(30, rng_real(&rng)) / r->entry[r->best].seconds;
        }
}

static void search_all(const struct mixes *m, const char *strategy, struct simulation *task)
{
    struct simulate_options o = {.threads = 0};
    struct err e;
    for (int i = 0; i < m->recordings; i++)
        task[i] = (struct simulation){.recording = m->recording[i],
                                      .strategy = strategy,
                                      .trials = 4L * m->trials,
                                      .repeats = m->count,
                                      .seed = SEED};
    if (!simulate(task, m->recordings, &o, &e))
        bench_fail(strategy, &e);
}

// Means and deviations over the mixes, each of which is a network with one repeat of each search.
static void play_all(const struct mixes *m, const struct simulation *task, const char *scheduler,
                     double *mean, double *deviation)
{
    struct simulation *one = mem_zero((size_t)m->recordings, sizeof *one);
    struct simulated_network n = {.task = one,
                                  .tasks = m->recordings,
                                  .trials = (int64_t)m->trials * m->recordings,
                                  .round = ROUND};
    int64_t marks = simulated_network_marks(&n);
    double *curve = mem_zero((size_t)marks, sizeof *curve), *none = mem_zero((size_t)marks, 8);
    struct err e;
    for (int64_t at = 0; at < marks; at++)
        mean[at] = deviation[at] = 0;
    for (int k = 0; k < m->count; k++) {
        for (int i = 0; i < m->recordings; i++) {
            one[i] = task[i];
            one[i].run += k;
            one[i].repeats = 1;
        }
        n.uses = &m->uses[k * m->recordings];
        if (!simulated_network_play(&n, scheduler, curve, none, &e))
            bench_fail(scheduler, &e);
        for (int64_t at = 0; at < marks; at++)
            simulated_mean_add(curve[at], k + 1, &mean[at], &deviation[at]);
    }
    simulated_mean_finish(deviation, marks, m->count);
    free(none);
    free(curve);
    free(one);
}

static double share_to_reach(const double *mean, int64_t marks, double target)
{
    int64_t at = 0;
    while (at < marks && mean[at] < target)
        at++;
    return at < marks ? (double)(at + 1) / (double)marks : NAN;
}

static void print_strategy(const struct mixes *m, const char *strategy)
{
    struct simulation *task = mem_zero((size_t)m->recordings, sizeof *task);
    int64_t marks = (int64_t)m->trials * m->recordings / ROUND;
    double *mean = mem_zero((size_t)marks, sizeof *mean), target = 0;
    double *deviation = mem_zero((size_t)marks, sizeof *deviation);
    search_all(m, strategy, task);
    for (int i = 0; i < SCHEDULERS; i++) {
        play_all(m, task, schedulers[i], mean, deviation);
        if (i == 0)
            target = mean[marks - 1];
        printf("| %s | %s |", strategy, schedulers[i]);
        for (int part = 1; part <= 4; part *= 2)
            printf(" %.4f |", mean[marks * part / 4 - 1]);
        printf(" %.4f | %.2f |\n", deviation[marks - 1] / sqrt(m->count),
               share_to_reach(mean, marks, target));
        fflush(stdout);
    }
    for (int i = 0; i < m->recordings; i++)
        simulation_finish(&task[i]);
    free(deviation);
    free(mean);
    free(task);
}

int main(int argc, char **argv)
{
    struct mixes m = {.count = 100, .trials = 200};
    const struct bench_option options[] = {{"mixes", &m.count, 1000}, {"trials", &m.trials, 10000}};
    bench_options(argc, argv, options, 2);
    m.recording = recordings_gather(&m.recordings);
    draw_uses(&m);
    printf("%d tasks, %d mixes, rounds of %d trials\n\n| search | scheduler |", m.recordings,
           m.count, ROUND);
    for (int part = 4; part >= 1; part /= 2)
        printf(" after %d a task |", m.trials / part);
    printf(" s.e. | share of the trials to roundrobin's end |\n|---|---|---|---|---|---|---|\n");
    static const char *const strategies[] = {"random", "opevo", "walk", "autotvm"};
    for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++)
        print_strategy(&m, strategies[i]);
    free(m.uses);
    recordings_forget(m.recording, m.recordings);
    return EXIT_SUCCESS;
}
