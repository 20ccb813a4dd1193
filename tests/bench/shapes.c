#include "shapes.h"

#include "base/mem.h"
#include "curves.h"
#include "tuned.h"
#include "ways.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SHAPES = 4, WAYS = 2, FIRST_SEED = 1000 };

struct shape {
    const char *title, *set[4];
    const char *others; // the sessions that search the other shapes first
};

static const struct shape shapes[SHAPES] = {
    {"256x256x256", {"M=256", "N=256", "K=256", NULL}, "2,3,4"},
    {"128x512x256", {"M=128", "N=512", "K=256", NULL}, "1,3,4"},
    {"512x128x128", {"M=512", "N=128", "K=128", NULL}, "1,2,4"},
    {"192x192x384", {"M=192", "N=192", "K=384", NULL}, "1,2,3"},
};

static const char *const way_name[WAYS] = {"alone", "with the others"};

struct sessions { // of one shape
    struct curve first, of[WAYS][SHAPES_MOST_SEEDS];
};

static void search(const char *db, const struct tuning *t, struct curve *out)
{
    curve_read(db, curve_tune(db, t), out);
}

static void run_seed(const char *db, const char *strategy, int trials, int seed,
                     struct sessions *sessions)
{
    for (int i = 0; i < SHAPES; i++)
        for (int way = 0; way < WAYS; way++)
            search(db,
                   &(struct tuning){.space = "gemm",
                                    .strategy = strategy,
                                    .set = shapes[i].set,
                                    .transfer = way ? shapes[i].others : NULL,
                                    .trials = trials,
                                    .seed = seed},
                   &sessions[i].of[way][seed - 1]);
}

static double fastest(const struct curve *c)
{
    return c->count ? c->best[c->count - 1] : INFINITY;
}

static void print_shape(struct ways *w, const struct shape *shape, const struct sessions *s)
{
    double share[SHAPES_MOST_TRIALS], optimum = fastest(&s->first);
    for (int way = 0; way < WAYS; way++)
        for (int i = 0; i < w->repeats; i++)
            optimum = fmin(optimum, fastest(&s->of[way][i]));
    for (int way = 0; way < WAYS; way++)
        for (int i = 0; i < w->repeats; i++) {
            const struct curve *c = &s->of[way][i];
            int count = c->count < w->trials ? c->count : w->trials;
            for (int n = 0; n < count; n++)
                share[n] = optimum / c->best[n];
            ways_take(w, way, i, share, count);
        }
    ways_print(w, shape->title);
}

void shapes_print(const char *strategy, int trials, int first_trials, int seeds)
{
    struct sessions *sessions = mem_zero(SHAPES, sizeof *sessions);
    char *db = mem_printf("%s/shapes.db", tuned_folder());
    struct ways w;
    ways_init(&w, way_name, WAYS, trials, seeds);
    for (int i = 0; i < SHAPES; i++)
        search(db,
               &(struct tuning){.space = "gemm",
                                .strategy = strategy,
                                .set = shapes[i].set,
                                .trials = first_trials,
                                .seed = FIRST_SEED},
               &sessions[i].first);
    for (int seed = 1; seed <= seeds; seed++)
        run_seed(db, strategy, trials, seed, sessions);
    printf("gemm, %s, after %d trials of each shape: ", strategy, first_trials);
    ways_print_head(&w, "shape");
    for (int i = 0; i < SHAPES; i++)
        print_shape(&w, &shapes[i], &sessions[i]);
    ways_print_mean(&w);
    ways_finish(&w);
    free(db);
    free(sessions);
}
