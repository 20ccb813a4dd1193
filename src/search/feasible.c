// Constrained Bayesian optimisation, for spaces where much fails that no rule forbids: as BaCO
// (Hellsten and others 2023).
//
// It begins with `starts` random points. Then a Gaussian process learns the logarithms of the
// speeds, of what did not fail only (lessons.h); and a forest (classifier.h) learns from all
// results where they fail. What a point is worth is its expected improvement times its chance of
// success; but nothing where that chance is below a bound, which is drawn anew for each trial from
// [0, `bound`). So what failed nearby is neither forbidden for good nor tried again and again. Of
// the single moves from the best results and some draws, the `climbs` that are worth the most are
// climbed from, move by move, as long as that gains; the best of where this ends is measured.
//
// BaCO says that the bound is random, not from which distribution: that is ours. So are the moves
// from the best results, the process's correlations (gp.h), and that it learns from at most
// `points` results.
#include "model/classifier.h"
#include "search/surrogate.h"

#include <math.h>
#include <stdlib.h>

enum {
    OPTION_STARTS,
    OPTION_POINTS,
    OPTION_LEARN,
    OPTION_TREES,
    OPTION_BOUND,
    OPTION_NEAR,
    OPTION_STRANGERS,
    OPTION_CLIMBS,
    OPTION_AHEAD
};

enum { MOST_CLIMBS = 64, STEPS = 32, REACH = 64 }; // steps of a climb; reach: as in moves.h
#define STRANGER_Q 0.2                             // of the walks to what is legal

struct peak {
    struct candidate at;
    double worth;
};

struct feasible {
    struct rounds rounds; // first: a strategy is a struct feasible
    struct rng rng;
    int starts, trees, climbs;
    double bound;
    struct coordinates coordinates;
    struct lessons lessons;
    struct gp model;
    struct classifier *forest; // NULL: nothing failed so far
    double least;              // the bound of the trial that is due
    struct proposals proposals;
    double *x, *mean, *deviation, *worth; // of them: [width] each, and one
    struct peak peak[MOST_CLIMBS];        // best first
    int peaks;
};

static double chance(const struct feasible *f, const struct config *c)
{
    return f->forest ? classifier_probability(f->forest, c->slot) : 1;
}

// By which factor an expected improvement counts.
static double count_chance(void *self, int candidate, const double *further)
{
    (void)further;
    const struct feasible *f = self;
    double succeeds = chance(f, &f->proposals.candidate[candidate].config);
    return succeeds < f->least ? 0 : succeeds;
}

static struct strategy *create(const struct search_problem *problem, uint64_t seed,
                               const double *option, struct err *e)
{
    (void)e;
    struct feasible *f = mem_zero(1, sizeof *f);
    int points = (int)option[OPTION_POINTS];
    rounds_init(&f->rounds, problem);
    f->rounds.open = (int)option[OPTION_AHEAD];
    rng_seed(&f->rng, seed);
    f->starts = (int)option[OPTION_STARTS];
    f->trees = (int)option[OPTION_TREES];
    f->climbs = (int)option[OPTION_CLIMBS];
    f->bound = option[OPTION_BOUND];
    coordinates_init(&f->coordinates, problem->space, false);
    lessons_init(&f->lessons, &f->rounds, &f->coordinates, NULL, points, (int)option[OPTION_LEARN]);
    f->lessons.logarithms = true;
    f->proposals = (struct proposals){.rounds = &f->rounds,
                                      .rng = &f->rng,
                                      .strangers = (int)option[OPTION_STRANGERS],
                                      .places = (int)option[OPTION_NEAR],
                                      .reach = REACH,
                                      .q = STRANGER_Q};
    size_t most = (size_t)(proposals_most(&f->proposals) + f->rounds.open);
    size_t width = (size_t)f->coordinates.count;
    gp_init(&f->model, f->coordinates.count, points + f->rounds.open, (int)most);
    f->model.worth = count_chance;
    f->model.judge = f;
    f->x = mem_zero(most * (width + 3), sizeof *f->x);
    f->mean = f->x + most * width;
    f->deviation = f->mean + most;
    f->worth = f->deviation + most;
    return &f->rounds.base;
}

// --- what fails ---

// --- what a point is worth ---

static void locate(struct feasible *f)
{
    for (int i = 0; i < f->proposals.count; i++)
        coordinates_of(&f->coordinates, &f->proposals.candidate[i].config,
                       f->x + i * f->model.width);
}

// Of each. What is below the bound comes after all others, the surer the sooner.
static void value_all(struct feasible *f)
{
    struct proposals *p = &f->proposals;
    locate(f);
    gp_predict(&f->model, f->x, p->count, f->mean, f->deviation);
    for (int i = 0; i < p->count; i++) {
        double succeeds = chance(f, &p->candidate[i].config);
        f->worth[i] = succeeds < f->least
                          ? succeeds - f->least
                          : succeeds * gp_expected_improvement(f->mean[i], f->deviation[i], 0);
    }
}

// A climb from what is worth `above` only asks which one is worth the most. Below the bound nothing
// promises anything, and each has to be valued.
static void value_best(struct feasible *f, double above)
{
    if (above < 0) {
        value_all(f);
        return;
    }
    locate(f);
    gp_promise(&f->model, f->x, f->proposals.count, 0, f->worth);
}

static void remember(struct feasible *f, int candidate)
{
    const struct candidate *c = &f->proposals.candidate[candidate];
    int place = f->peaks;
    for (int i = 0; i < f->peaks; i++)
        if (config_equal(&f->peak[i].at.config, &c->config))
            return;
    while (place > 0 && f->peak[place - 1].worth < f->worth[candidate])
        place--;
    if (place == f->climbs)
        return;
    f->peaks += f->peaks < f->climbs;
    for (int i = f->peaks - 1; i > place; i--)
        f->peak[i] = f->peak[i - 1];
    f->peak[place] = (struct peak){*c, f->worth[candidate]};
}

static void climb(struct feasible *f, struct peak *peak)
{
    struct proposals *p = &f->proposals;
    for (int step = 0; step < STEPS; step++) {
        const struct candidate *best = NULL;
        proposals_begin(p);
        proposals_add_moves(p, &peak->at);
        value_best(f, peak->worth);
        for (int i = 0; i < p->count; i++)
            if (f->worth[i] > peak->worth) {
                peak->worth = f->worth[i];
                best = &p->candidate[i];
            }
        if (!best)
            return;
        peak->at = *best;
    }
}

// NULL: there is no candidate.
static const struct candidate *choose(struct feasible *f)
{
    struct proposals *p = &f->proposals;
    const struct peak *best = f->peak;
    f->peaks = 0;
    f->least = f->bound * rng_real(&f->rng);
    proposals_begin(p);
    for (int i = 0; i < p->places && i < f->lessons.valid; i++)
        proposals_add_neighbours(p, f->lessons.ranked[i]);
    proposals_add_strangers(p);
    value_all(f);
    for (int i = 0; i < p->count; i++)
        remember(f, i);
    for (int i = 0; i < f->peaks; i++) {
        climb(f, &f->peak[i]);
        best = f->peak[i].worth > best->worth ? &f->peak[i] : best;
    }
    return f->peaks ? &best->at : NULL;
}

// --- rounds ---

static void make_round(void *self)
{
    struct feasible *f = self;
    int size = f->rounds.number == 0 ? f->starts : 1;
    struct config warm;
    const struct candidate *c = NULL;
    while (f->lessons.results < f->rounds.handed_out - f->rounds.open)
        lessons_told(&f->lessons, f->lessons.results);
    if (f->rounds.number && f->lessons.valid && !visited_warm(&f->rounds.visited, &warm)) {
        lessons_teach(&f->lessons, &f->model, &f->rng);
        // The forest takes the values as they stand in a configuration, as ranks or numbers.
        int rows = f->lessons.results;
        classifier_destroy(f->forest);
        f->forest = NULL;
        if (f->lessons.valid != rows) {
            bool *succeeded = mem_zero((size_t)rows, sizeof *succeeded);
            double *weight = mem_zero((size_t)rows, sizeof *weight);
            for (int i = 0; i < rows; i++) {
                succeeded[i] = f->rounds.fitness[i] > 0;
                weight[i] = 1;
            }
            const struct classifier_rows of = {f->rounds.visited.given.row, succeeded, weight, rows,
                                               f->rounds.problem.space->slots};
            f->forest = classifier_fit(&of, f->trees, &f->rng);
            free(succeeded);
            free(weight);
        }
        c = choose(f);
    }
    if (c) {
        rounds_add(&f->rounds, &c->config, c->from[0] ? c->from : NULL);
        return;
    }
    while (size-- > 0 && rounds_draw(&f->rounds, &f->rng))
        continue;
}

static enum ask ask(struct strategy *s, struct config *out)
{
    struct feasible *f = (struct feasible *)s;
    return rounds_ask(&f->rounds, out, make_round, f);
}

static void destroy(struct strategy *s)
{
    struct feasible *f = (struct feasible *)s;
    rounds_finish(&f->rounds);
    gp_finish(&f->model);
    coordinates_finish(&f->coordinates);
    proposals_finish(&f->proposals);
    lessons_finish(&f->lessons);
    classifier_destroy(f->forest);
    free(f->x);
    free(f);
}

static const struct spec_option options[] = {
    [OPTION_STARTS] = {"starts", "random points it begins with", 10, 1, 4096, true},
    [OPTION_POINTS] = {"points", "results that its model of speed learns from", 128, 1, 512, true},
    [OPTION_LEARN] = {"learn", "weights of that model tried at each trial", 2, 0, 1000, true},
    [OPTION_TREES] = {"trees", "of the forest that learns what fails", 50, 1, 1000, true},
    [OPTION_BOUND] = {"bound", "chance of success asked for, at most; each trial a part of it", 0.5,
                      0, 1, false},
    [OPTION_NEAR] = {"near", "best results whose neighbours are candidates", 3, 1, 64, true},
    [OPTION_STRANGERS] = {"strangers", "drawn for each trial", 50, 0, 4096, true},
    [OPTION_CLIMBS] = {"climbs", "candidates that are climbed from", 3, 1, MOST_CLIMBS, true},
    [OPTION_AHEAD] = {"ahead", "results not waited for (tune: workers - 1)", 0, 0, 255, true},
    {NULL},
};

const struct strategy_kind strategy_feasible = {
    .name = "feasible",
    .help = "a model of speed and one of what fails, as BaCO",
    .options = options,
    .create = create,
    .ask = ask,
    .tell = rounds_tell,
    .origin = rounds_origin,
    .generation = rounds_generation,
    .destroy = destroy,
};
