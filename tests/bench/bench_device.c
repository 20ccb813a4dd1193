// bench device: how many trials, and how much time, each strategy needs for a good kernel on the
// device here.
//
// Every strategy tunes a preset (`--preset`: gemm, 256 cubed; conv-implicit, depthwise, ... at
// their standard sizes) `--seeds` (5) times for `--trials` (200) trials; all of a seed one after
// the other, so that slow neighbours meet all of them. The best known kernel is the fastest of all
// sessions. What counts are the first trials within 90 and 95 % of it; a session that has none
// counts as one trial, and its whole time, more than it had. $TILEWALK_STRATEGIES lists other
// strategies, "A,B". `--db FOLDER` keeps the sessions, a database for each strategy: what is there
// is not measured again and what was cut off goes on, so that idle nights add up. A folder is for
// one device.
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/str.h"
#include "bench.h"
#include "curves.h"
#include "kept.h"
#include "tuned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SEEDS = 20, MOST_SIZE = 4096, MOST_STRATEGIES = 16 };

struct plan {
    const char *preset, *folder;
    struct bench_cube cube; // of gemm
    int trials, seeds, size;
    int from_one; // the device, from 1; 0: the program's choice
    const char *strategy[MOST_STRATEGIES];
    int strategies;
};

static struct curve curve[MOST_STRATEGIES][MOST_SEEDS];

static void take_strategies(struct plan *p, char *list)
{
    char *rest;
    for (char *one = strtok_r(list, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
        if (p->strategies == MOST_STRATEGIES)
            bench_fail("TILEWALK_STRATEGIES lists too many", NULL);
        p->strategy[p->strategies++] = one;
    }
}

static void tune(const struct plan *p, int strategy, int seed, struct curve *out)
{
    char *db = mem_printf("%s/%s.db", p->folder, p->strategy[strategy]);
    struct kept k = {.db = db,
                     .preset = p->preset,
                     .strategy = p->strategy[strategy],
                     .trials = p->trials,
                     .seed = seed,
                     .device = p->from_one - 1};
    if (str_equal(p->preset, "gemm"))
        memcpy(k.set, p->cube.set, sizeof p->cube.set);
    curve_read(db, kept_make(&k), out);
    if (out->count == 0)
        bench_fail("a session without trials", NULL);
    if (out->count > p->trials) // kept with more
        out->count = p->trials;
    free(db);
}

static double best_known(const struct plan *p)
{
    double best = INFINITY;
    for (int k = 0; k < p->strategies; k++)
        for (int i = 0; i < p->seeds; i++)
            best = fmin(best, curve[k][i].best[curve[k][i].count - 1]);
    return best;
}

// How soon the sessions of a strategy came to `share` of the best.
static void print_reached(const struct plan *p, int strategy, double best, double share)
{
    double trials[MOST_SEEDS], seconds[MOST_SEEDS];
    int reached = 0;
    for (int i = 0; i < p->seeds; i++) {
        const struct curve *c = &curve[strategy][i];
        trials[i] = curve_reached(c, best / share);
        bool is_there = trials[i] <= c->count;
        seconds[i] = c->at_s[is_there ? (int)trials[i] - 1 : c->count - 1];
        reached += is_there;
        printf("%s%.0f", i ? ", " : " ", trials[i]);
    }
    printf(" | %.0f | %.0f | %d of %d |", median_of(trials, p->seeds), median_of(seconds, p->seeds),
           reached, p->seeds);
}

static void print_row(const struct plan *p, int strategy, double best)
{
    double share[MOST_SEEDS];
    for (int i = 0; i < p->seeds; i++) {
        const struct curve *c = &curve[strategy][i];
        share[i] = best / c->best[c->count - 1];
    }
    printf("| %s |", p->strategy[strategy]);
    print_reached(p, strategy, best, 0.9);
    print_reached(p, strategy, best, 0.95);
    printf(" %.3f |\n", median_of(share, p->seeds));
}

int main(int argc, char **argv)
{
    struct plan p = {.preset = "gemm", .trials = 200, .seeds = 5, .size = 256};
    const struct bench_option options[] = {{"trials", &p.trials, CURVE_MOST_TRIALS},
                                           {"seeds", &p.seeds, MOST_SEEDS},
                                           {"size", &p.size, MOST_SIZE},
                                           {"device", &p.from_one, 100},
                                           {"preset", NULL, 0, &p.preset},
                                           {"db", NULL, 0, &p.folder}};
    const char *wanted = getenv("TILEWALK_STRATEGIES");
    char *list = mem_strdup(wanted ? wanted : "walk,local,opevo,tpe");
    struct err e;
    bench_options(argc, argv, options, 6);
    take_strategies(&p, list);
    bench_cube_init(&p.cube, p.size);
    if (!p.folder)
        p.folder = tuned_folder();
    if (!file_make_folders(p.folder, &e))
        bench_fail(p.folder, &e);
    for (int i = 0; i < p.seeds; i++)
        for (int k = 0; k < p.strategies; k++)
            tune(&p, k, i + 1, &curve[k][i]);
    double best = best_known(&p);
    printf("%s, %d trials; the best known takes %.4g ms\n\n", p.preset, p.trials, best);
    printf("| strategy | trials to 90 %% of it, by seed | median | median s | reached | trials to "
           "95 %%, by seed | median | median s | reached | best after all |\n"
           "|---|---|---:|---:|---:|---|---:|---:|---:|---:|\n");
    for (int k = 0; k < p.strategies; k++)
        print_row(&p, k, best);
    free(list);
    return EXIT_SUCCESS;
}
