// bench search: what a strategy costs: CPU time of opevo's ask and tell a trial, and memory, at
// 100 000 trials on the mm1 space; and what it costs to check that space.
//
// First with every point valid; that figure has the target. Then with 7 of 100 valid, as on a small
// device: a trial takes 14 asks and tells, and the strategy remembers 1.4 million points, a third
// of the space. The cheap objective is measured with them. The calibration loop says how fast the
// machine is: dependent steps of the random generator.
#include "base/os.h"
#include "bench.h"
#include "search/strategy.h"
#include "spaces.h"

#include <math.h>
#include <stdlib.h>

static double calibrate(void)
{
    enum { STEPS = 20000000 };
    struct rng r;
    rng_seed(&r, 1);
    uint64_t sum = 0;
    int64_t start = os_cpu_ns();
    for (int i = 0; i < STEPS; i++)
        sum += rng_next(&r);
    int64_t ns = os_cpu_ns() - start;
    return sum ? (double)ns / STEPS : 0;
}

// A bowl around the hidden point; of all points `percent` are valid.
static double fitness(const struct space *s, const struct config *hidden, const struct config *c,
                      int percent)
{
    if (config_hash(c) % 100 >= (uint64_t)percent)
        return 0;
    return 1.0 / (1 + space_distance(s, hidden, c));
}

struct cost {
    int asks;
    double microseconds; // a trial
    double mebibytes;    // peak of the process
};

static struct cost measure(const struct space *s, int wanted, int percent)
{
    struct search_problem problem = {.space = s};
    struct strategy *o = strategy_create("opevo", &problem, 1, NULL);
    struct config hidden, c;
    struct rng r;
    rng_seed(&r, 2);
    space_sample(s, &r, &hidden);

    struct cost cost = {0};
    int64_t start = os_cpu_ns();
    for (int trials = 0; trials < wanted && strategy_ask(o, &c) == ASK_NEW; cost.asks++) {
        double f = fitness(s, &hidden, &c, percent);
        strategy_tell(o, &c, f > 0 ? OUTCOME_OK : OUTCOME_REJECTED, f);
        trials += f > 0;
    }
    cost.microseconds = (double)(os_cpu_ns() - start) / 1e3 / wanted;
    uint64_t peak = 0;
    os_peak_memory(&peak);
    cost.mebibytes = (double)peak / (1 << 20);
    strategy_destroy(o);
    return cost;
}

// The best of a few runs: neighbours only ever add.
static double check_milliseconds(void)
{
    enum { RUNS = 5 };
    double best = INFINITY;
    char line[4096];
    for (int i = 0; i < RUNS; i++) {
        struct bench_child c;
        bench_start(&c, (const char *const[]){"check", "mm1", "--device", "none", NULL});
        while (fgets(line, sizeof line, c.out)) {
        }
        best = fmin(best, 1e3 * bench_end(&c));
    }
    return best;
}

int main(int argc, char **argv)
{
    int trials = 100000;
    const struct bench_option options[] = {{"trials", &trials, 10000000}};
    bench_options(argc, argv, options, 1);
    printf("opevo on mm1, %d trials; calibration loop: %.2f ns a step\n", trials, calibrate());
    struct space *s = space_mm(512, 1024, 1024);
    struct cost cost = measure(s, trials, 100);
    bench_figure("ask and tell, CPU time a trial", cost.microseconds, "us", UNDER, 20);
    bench_figure("memory", cost.mebibytes, "MiB", UNDER, 100);
    cost = measure(s, trials, 7);
    printf("  with 7 %% valid: %d asks, %.2f us a trial, %.2f us an ask, %.0f MiB\n", cost.asks,
           cost.microseconds, cost.microseconds * trials / cost.asks, cost.mebibytes);
    space_destroy(s);
    bench_figure("check mm1 --device none, CPU time", check_milliseconds(), "ms", UNDER, 50);
    return EXIT_SUCCESS;
}
