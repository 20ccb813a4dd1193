// bench network: schedulers and searches against each other on networks made of recordings.
//
//  1. AlexNet: its tasks as they were recorded (landscapes/), each used once, `--seeds` times, for
//     half as many trials.
//  2. `--mixes` networks of the recordings of recordings.h. Each uses them differently: in its
//     fastest form a task has a share of the latency between 1 and 30 parts, drawn by logarithm.
//
// Every task is searched once a network and strategy, and all schedulers are played on the same
// curves: informed (informed.h) knows how the search does on each recording, the oracle knows the
// curves. The tables have the least latency / latency after so many trials a task, mean over the
// networks, with the standard error of the last, and the shares of the budget after which the mean
// is what roundrobin has at the end: with this search, and with autotvm.
#include "bench.h"
#include "informed.h"
#include "recordings.h"
#include "simulate/curve.h"
#include "simulated_network.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUND    8
#define SEED     1
#define INFORMED "informed" // informed.h

static const char *const schedulers[] = {"roundrobin", "gradient", INFORMED, SIMULATED_ORACLE};
enum { SCHEDULERS = sizeof schedulers / sizeof *schedulers };
static const char *const strategies[] = {"autotvm", "opevo", "walk", "random"};

struct networks {
    struct recording **recording;
    int recordings, count;
    int trials;     // a task
    double *uses;   // [count * recordings]
    double autotvm; // what roundrobin has with it at the end
};

static void use_once(struct networks *m)
{
    m->uses = mem_zero((size_t)(m->count * m->recordings), sizeof *m->uses);
    for (int i = 0; i < m->count * m->recordings; i++)
        m->uses[i] = 1;
}

static void draw_uses(struct networks *m)
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

static void search_all(const struct networks *m, const char *strategy, struct simulation *task)
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

// Of network k, in which each search ran its k-th repeat.
static void play_one(const struct networks *m, const struct simulation *task, int k,
                     const char *scheduler, double *curve)
{
    struct simulation *one = mem_zero((size_t)m->recordings, sizeof *one);
    struct simulated_network n = {.task = task,
                                  .tasks = m->recordings,
                                  .uses = &m->uses[k * m->recordings],
                                  .trials = (int64_t)m->trials * m->recordings,
                                  .round = ROUND};
    int64_t marks = simulated_network_marks(&n);
    if (str_equal(scheduler, INFORMED)) {
        informed_play(&n, k, curve);
        for (int64_t at = 0; at < marks; at++)
            curve[at] = simulated_network_optimum(&n) / curve[at];
        free(one);
        return;
    }
    double *none = mem_zero((size_t)marks, sizeof *none);
    struct err e;
    n.task = one;
    for (int i = 0; i < m->recordings; i++) {
        one[i] = task[i];
        one[i].run += k;
        one[i].repeats = 1;
    }
    if (!simulated_network_play(&n, scheduler, curve, none, &e))
        bench_fail(scheduler, &e);
    free(none);
    free(one);
}

static void play_all(const struct networks *m, const struct simulation *task, const char *scheduler,
                     int64_t marks, double *mean, double *deviation)
{
    double *curve = mem_zero((size_t)marks, sizeof *curve);
    for (int64_t at = 0; at < marks; at++)
        mean[at] = deviation[at] = 0;
    for (int k = 0; k < m->count; k++) {
        play_one(m, task, k, scheduler, curve);
        for (int64_t at = 0; at < marks; at++)
            simulated_mean_add(curve[at], k + 1, &mean[at], &deviation[at]);
    }
    simulated_mean_finish(deviation, marks, m->count);
    free(curve);
}

static void print_share(const double *mean, int64_t marks, double target)
{
    int64_t at = 0;
    while (at < marks && mean[at] < target)
        at++;
    if (at < marks)
        printf(" %.2f |", (double)(at + 1) / (double)marks);
    else
        printf(" - |");
}

static void print_strategy(struct networks *m, const char *strategy)
{
    int64_t marks = (int64_t)m->trials * m->recordings / ROUND;
    if (marks < 4)
        bench_fail("so few --trials make no table", NULL);
    struct simulation *task = mem_zero((size_t)m->recordings, sizeof *task);
    double *mean = mem_zero((size_t)marks, sizeof *mean), target = 0;
    double *deviation = mem_zero((size_t)marks, sizeof *deviation);
    search_all(m, strategy, task);
    for (int i = 0; i < SCHEDULERS; i++) {
        play_all(m, task, schedulers[i], marks, mean, deviation);
        if (i == 0)
            target = mean[marks - 1];
        if (i == 0 && str_equal(strategy, strategies[0]))
            m->autotvm = target;
        printf("| %s | %s |", strategy, schedulers[i]);
        for (int part = 1; part <= 4; part *= 2)
            printf(" %.4f |", mean[marks * part / 4 - 1]);
        printf(" %.4f |", deviation[marks - 1] / sqrt(m->count));
        print_share(mean, marks, target);
        print_share(mean, marks, m->autotvm);
        printf("\n");
        fflush(stdout);
    }
    for (int i = 0; i < m->recordings; i++)
        simulation_finish(&task[i]);
    free(deviation);
    free(mean);
    free(task);
}

static void print_table(struct networks *m, const char *what)
{
    printf("%s: %d tasks, %d networks, rounds of %d trials\n\n| search | scheduler |", what,
           m->recordings, m->count, ROUND);
    for (int part = 4; part >= 1; part /= 2)
        printf(" after %d a task |", m->trials / part);
    printf(" s.e. | share of the trials to roundrobin's end | to that with autotvm |\n"
           "|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++)
        print_strategy(m, strategies[i]);
    printf("\n");
    free(m->uses);
    recordings_forget(m->recording, m->recordings);
}

int main(int argc, char **argv)
{
    struct networks alexnet = {.count = 30}, mixes = {.count = 100, .trials = 200};
    const struct bench_option options[] = {{"seeds", &alexnet.count, 1000},
                                           {"mixes", &mixes.count, 1000},
                                           {"trials", &mixes.trials, 10000}};
    bench_options(argc, argv, options, 3);
    alexnet.trials = (mixes.trials + 1) / 2; // smaller landscapes
    alexnet.recording = recordings_read(TILEWALK_BENCH_LANDSCAPES, &alexnet.recordings);
    use_once(&alexnet);
    print_table(&alexnet, "AlexNet");
    mixes.recording = recordings_gather(&mixes.recordings);
    draw_uses(&mixes);
    print_table(&mixes, "mixes");
    return EXIT_SUCCESS;
}
