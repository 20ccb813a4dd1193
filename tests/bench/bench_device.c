// bench device: how many trials, and how much time, each strategy needs for a good kernel on the
// device here.
//
// Every strategy tunes the preset `gemm` (fp32, `--size` (256) cubed) `--seeds` (5) times for
// `--trials` (200) trials; all of a seed one after the other, so that slow neighbours meet all of
// them. The best known kernel is the fastest of all sessions. What counts is the first trial within
// 95 % of it; a session that has none counts as one trial, and its whole time, more than it had.
#include "base/median.h"
#include "base/mem.h"
#include "bench.h"
#include "curves.h"
#include "tuned.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_SEEDS = 20, MOST_SIZE = 4096 };

static const char *const strategies[] = {"walk",  "walk:profile=0", "opevo", "autotvm",
                                         "ansor", "local",          "random"};
enum { STRATEGIES = sizeof strategies / sizeof *strategies };

static struct curve curve[STRATEGIES][MOST_SEEDS];

static double best_known(int seeds)
{
    double best = INFINITY;
    for (int k = 0; k < STRATEGIES; k++)
        for (int i = 0; i < seeds; i++)
            best = fmin(best, curve[k][i].best[curve[k][i].count - 1]);
    return best;
}

static void print_row(int strategy, int seeds, double best)
{
    double trials[MOST_SEEDS], seconds[MOST_SEEDS], share[MOST_SEEDS];
    int reached = 0;
    for (int i = 0; i < seeds; i++) {
        const struct curve *c = &curve[strategy][i];
        trials[i] = curve_reached(c, best / 0.95);
        bool is_there = trials[i] <= c->count;
        seconds[i] = c->at_s[is_there ? (int)trials[i] - 1 : c->count - 1];
        share[i] = best / c->best[c->count - 1];
        reached += is_there;
    }
    printf("| %s |", strategies[strategy]);
    for (int i = 0; i < seeds; i++)
        printf("%s%.0f", i ? ", " : " ", trials[i]);
    printf(" | %.0f | %.0f | %d of %d | %.3f |\n", median_of(trials, seeds),
           median_of(seconds, seeds), reached, seeds, median_of(share, seeds));
}

int main(int argc, char **argv)
{
    int trials = 200, seeds = 5, size = 256;
    struct bench_cube cube;
    bench_options(argc, argv,
                  (const struct bench_option[]){{"trials", &trials, CURVE_MOST_TRIALS},
                                                {"seeds", &seeds, MOST_SEEDS},
                                                {"size", &size, MOST_SIZE}},
                  3);
    bench_cube_init(&cube, size);
    char *db = mem_printf("%s/device.db", tuned_folder());
    for (int i = 0; i < seeds; i++)
        for (int k = 0; k < STRATEGIES; k++) {
            struct tuning t = {.space = "gemm",
                               .strategy = strategies[k],
                               .set = cube.set,
                               .trials = trials,
                               .seed = i + 1};
            curve_read(db, curve_tune(db, &t), &curve[k][i]);
            if (curve[k][i].count == 0)
                bench_fail("a session without trials", NULL);
        }
    double best = best_known(seeds);
    printf("gemm, fp32, %d^3, %d trials; the best known takes %.4g ms: %.4g GFLOPS\n\n", size,
           trials, best, 2e-6 * pow(size, 3) / best);
    printf("| strategy | trials to 95 %% of it, by seed | median | median s | reached | best after "
           "all |\n|---|---|---:|---:|---:|---:|\n");
    for (int k = 0; k < STRATEGIES; k++)
        print_row(k, seeds, best);
    free(db);
    return EXIT_SUCCESS;
}
