// bench gemm: how good are the kernels that tilewalk finds on this machine's CPU device, and how
// fast does it find them?
//
// Tunes the preset `gemm` (fp32, 256^3) with seeds 1..3 and 200 trials, then times the winners, the
// hand-written kernels of tests/bench/kernels and the naive one in turns, in one process: ratios
// from one run, whatever the neighbours do.
#include "base/mem.h"
#include "base/number.h"
#include "base/str.h"
#include "bench.h"
#include "gpu/gpu.h"
#include "tuned.h"

#include <math.h>
#include <stdlib.h>

enum { SIZE = 256 };
#define FLOP (2.0 * SIZE * SIZE * SIZE)

// The naive one is the last.
static const char *const hand_written[] = {"register_8x8", "register_16x8", "vec4_8x8", "naive"};
enum { HAND_WRITTEN = 4, MOST_SEEDS = RACE_MOST - HAND_WRITTEN };

struct plan {
    int trials, seeds, rounds;
    int device;
    char device_name[256];
};

static struct tuned session(const struct plan *p, int seed)
{
    return (struct tuned){.preset = "gemm",
                          .set = {"N=256", "M=256", "K=256"},
                          .trials = p->trials,
                          .seed = seed,
                          .device = p->device};
}

static struct operation product(void)
{
    static const char *const sizes[] = {"N", "M", "K"};
    struct operation o;
    struct err e;
    operation_init(&o, operation_kind_find("matmul"));
    for (int i = 0; i < 3; i++)
        if (!operation_set_size(&o, sizes[i], SIZE, &e))
            bench_fail("the product", &e);
    if (!operation_complete(&o, &e))
        bench_fail("the product", &e);
    return o;
}

static struct race *hold_race(const struct plan *p)
{
    const struct operation o = product();
    struct race *r = race_create(p->device, &o);
    for (int i = 0; i < p->seeds; i++) {
        struct tuned t = session(p, i + 1);
        char name[32];
        snprintf(name, sizeof name, "tilewalk, seed %d", i + 1);
        tuned_add(r, name, &t);
    }
    for (int i = 0; i < HAND_WRITTEN; i++) {
        char *path = mem_printf("%s/%s.comp", TILEWALK_BENCH_KERNELS, hand_written[i]);
        tuned_add_file(r, hand_written[i], path);
        free(path);
    }
    race_run(r, p->rounds);
    return r;
}

// --- the figures ---

static void report_kernels(const struct plan *p, const struct race *r)
{
    double ratio[MOST_SEEDS], speedup[MOST_SEEDS], hand_s = INFINITY;
    int naive = race_count(r) - 1;
    for (int i = p->seeds; i < naive; i++)
        hand_s = fmin(hand_s, race_seconds(r, i));
    for (int i = 0; i < race_count(r); i++)
        printf("  %-20s %7.2f GFLOPS\n", race_name(r, i), FLOP / race_seconds(r, i) / 1e9);
    for (int i = 0; i < p->seeds; i++) {
        ratio[i] = hand_s / race_seconds(r, i);
        speedup[i] = race_seconds(r, naive) / race_seconds(r, i);
    }
    bench_figure("speed against the best by hand, median", median_of(ratio, p->seeds), "", AT_LEAST,
                 0.95);
    bench_figure("speed against the naive one, median", median_of(speedup, p->seeds), "", AT_LEAST,
                 8);
}

// Of the whole wall clock: starting, loading the space and exporting are the engine's time, too.
static void report_runs(const struct plan *p, const struct tuned_run *runs)
{
    double rate[MOST_SEEDS], share[MOST_SEEDS];
    for (int i = 0; i < p->seeds; i++) {
        const struct tuned_run *r = &runs[i];
        rate[i] = 60 * r->trials / r->wall_s;
        share[i] = 100 * (1 - r->busy_s / r->wall_s);
        printf("  seed %d: %.0f trials and %.0f rejected in %.2f s (session %.2f s, workers busy "
               "%.2f s)\n",
               i + 1, r->trials, r->rejected, r->wall_s, r->ran_s, r->busy_s);
    }
    bench_figure("trials a minute, median", median_of(rate, p->seeds), "", AT_LEAST, 60);
    bench_figure("the engine's share of the wall clock, median", median_of(share, p->seeds), "%",
                 UNDER, 2);
}

static void find_cpu(struct plan *p)
{
    struct err e;
    struct gpu_info *list;
    int count, i = 0;
    if (!gpu_list(&list, &count, &e))
        bench_fail("devices", &e);
    while (i < count && !list[i].is_cpu)
        i++;
    if (i == count)
        bench_skip("no CPU device (mesa-vulkan-drivers has one)");
    p->device = list[i].index;
    snprintf(p->device_name, sizeof p->device_name, "%s", list[i].name);
    free(list);
}

int main(int argc, char **argv)
{
    struct plan p = {.trials = 200, .seeds = 3, .rounds = 7};
    struct tuned_run runs[MOST_SEEDS];
    const struct bench_option options[] = {{"trials", &p.trials, 1000000},
                                           {"seeds", &p.seeds, MOST_SEEDS},
                                           {"rounds", &p.rounds, 1000}};
    bench_options(argc, argv, options, 3);
    setenv("LP_NUM_THREADS", "1", 1);
    gpu_prepare_environment();
    find_cpu(&p);
    printf("gemm 256^3 fp32 on %s, LP_NUM_THREADS=1, %d trials a seed, %d rounds\n", p.device_name,
           p.trials, p.rounds);
    for (int i = 0; i < p.seeds; i++) {
        struct tuned t = session(&p, i + 1);
        runs[i] = tuned_make(&t);
    }
    struct race *r = hold_race(&p);
    report_kernels(&p, r);
    report_runs(&p, runs);
    race_destroy(r);
    return EXIT_SUCCESS;
}
