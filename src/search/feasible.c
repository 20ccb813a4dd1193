// Constrained Bayesian optimisation, for spaces where much fails that no rule forbids: as BaCO
// (Hellsten and others 2023).
//
// It begins with `starts` random points. Then a Gaussian process learns the logarithms of the
// speeds of all valid results (training.h), and a forest (classifier.h) learns from all results
// which ones fail. The acquisition value of a point is its expected improvement times its chance of
// success. It is zero where that chance is below a bound, which is drawn anew for each trial from
// [0, `bound`). So the neighbours of failures are neither excluded for good nor tried again and
// again. The candidates are single moves from the best results and some random immigrants. From the
// `climbs` best ones the search climbs, move by move, to a local maximum of the acquisition value.
// The best of these maxima is measured.
//
// BaCO says that the bound is random, but not its distribution, which is ours. Also ours are the
// moves from the best results, the correlations of the process (gp.h), and its limit of `points`
// results.
#include "model/classifier.h"
#include "search/climb.h"

#include <stdlib.h>

enum {
    OPTION_STARTS,
    OPTION_POINTS,
    OPTION_LEARN,
    OPTION_TREES,
    OPTION_BOUND,
    OPTION_NEIGHBOURHOODS,
    OPTION_IMMIGRANTS,
    OPTION_CLIMBS,
    OPTION_AHEAD
};

enum { JUMP_LIMIT = 64 }; // as in moves.h
#define IMMIGRANT_Q 0.2   // of the mutations to a legal point

struct feasible {
    struct batches batches; // first: a strategy is a struct feasible
    struct rng rng;
    int starts, trees;
    double bound;
    struct coordinates coordinates;
    struct training_set training;
    struct gp model;
    struct classifier *forest; // NULL: nothing failed so far
    double least;              // the bound of the next trial
    struct candidates candidates;
    double *x, *mean, *deviation, *value; // of the candidates: [width] each, and one each
    struct climbs climbs;
};

// --- acquisition values ---

static double chance(const struct feasible *f, const struct config *c)
{
    return f->forest ? classifier_probability(f->forest, c->slot) : 1;
}

// Returns the factor of the expected improvement of a candidate.
static double feasible_factor(void *self, int candidate, const double *output)
{
    (void)output;
    const struct feasible *f = self;
    double succeeds = chance(f, &f->candidates.candidate[candidate].config);
    return succeeds < f->least ? 0 : succeeds;
}

// Computes the acquisition value of each candidate. Those below the bound come after all others,
// ordered by their chance.
static void value_all(struct feasible *f)
{
    struct candidates *c = &f->candidates;
    gp_predict(&f->model, f->x, c->count, f->mean, f->deviation);
    for (int i = 0; i < c->count; i++) {
        double succeeds = chance(f, &c->candidate[i].config);
        f->value[i] = succeeds < f->least
                          ? succeeds - f->least
                          : succeeds * gp_expected_improvement(f->mean[i], f->deviation[i], 0);
    }
}

static void locate(struct feasible *f)
{
    for (int i = 0; i < f->candidates.count; i++)
        coordinates_of(&f->coordinates, &f->candidates.candidate[i].config,
                       f->x + i * f->model.width);
}

static bool is_allowed(void *self, int candidate)
{
    return candidates_allowed(&((struct feasible *)self)->candidates, candidate);
}

// Above the bound it is enough to know the best move; below it all expected improvements count as
// zero, and each move is valued.
static int best_move(void *self, double *value)
{
    struct feasible *f = self;
    int count = f->candidates.count, best = -1;
    locate(f);
    if (*value >= 0)
        return gp_best(&f->model, f->x, count, 0, (struct gp_filter){is_allowed, f}, value);
    value_all(f);
    for (int i = 0; i < count; i++)
        if (f->value[i] > *value && is_allowed(f, i)) {
            *value = f->value[i];
            best = i;
        }
    return best;
}

// --- batches ---

// Fits the forest to all results. Its inputs are the values of a configuration, as ranks or
// numbers.
static void fit_forest(struct feasible *f)
{
    int rows = f->training.results;
    classifier_destroy(f->forest);
    f->forest = NULL;
    if (f->training.valid == rows)
        return;
    bool *succeeded = mem_zero((size_t)rows, sizeof *succeeded);
    double *weight = mem_zero((size_t)rows, sizeof *weight);
    for (int i = 0; i < rows; i++) {
        succeeded[i] = f->batches.fitness[i] > 0;
        weight[i] = 1;
    }
    const struct classifier_rows of = {f->batches.archive.given.row, succeeded, weight, rows,
                                       f->batches.problem.space->slots};
    f->forest = classifier_fit(&of, f->trees, &f->rng);
    free(succeeded);
    free(weight);
}

static void feasible_make_batch(void *self)
{
    struct feasible *f = self;
    struct candidates *c = &f->candidates;
    int size = f->batches.number == 0 ? f->starts : 1;
    struct config warm;
    climbs_begin(&f->climbs);
    while (f->training.results < f->batches.handed_out - f->batches.open)
        training_observe(&f->training, f->training.results);
    if (f->batches.number && f->training.valid && !archive_warm(&f->batches.archive, &warm)) {
        training_fit(&f->training, &f->model, &f->rng);
        fit_forest(f);
        f->least = f->bound * rng_real(&f->rng);
        candidates_begin(c);
        for (int i = 0; i < c->neighbourhoods && i < f->training.valid; i++)
            candidates_add_neighbours(c, f->training.ranked[i]);
        candidates_add_immigrants(c);
        locate(f);
        value_all(f);
        for (int i = 0; i < c->count; i++)
            climbs_add(&f->climbs, &c->candidate[i], f->value[i]);
        climbs_run(&f->climbs, c, best_move, f);
    }
    const struct candidate *best = &f->climbs.peak[0].at;
    if (f->climbs.count)
        batches_add(&f->batches, &best->config, best->from[0] ? best->from : NULL);
    else
        while (size-- > 0 && batches_draw(&f->batches, &f->rng))
            continue;
}

static struct strategy *feasible_create(const struct search_problem *problem, uint64_t seed,
                                        const double *option, struct err *e)
{
    (void)e;
    struct feasible *f = mem_zero(1, sizeof *f);
    int points = (int)option[OPTION_POINTS];
    batches_init(&f->batches, problem, feasible_make_batch);
    f->batches.open = (int)option[OPTION_AHEAD];
    rng_seed(&f->rng, seed);
    f->starts = (int)option[OPTION_STARTS];
    f->trees = (int)option[OPTION_TREES];
    f->climbs.most = (int)option[OPTION_CLIMBS];
    f->bound = option[OPTION_BOUND];
    coordinates_init(&f->coordinates, problem->space, false);
    training_init(&f->training, &f->batches, &f->coordinates, NULL, points,
                  (int)option[OPTION_LEARN]);
    f->training.logarithms = true;
    f->candidates = (struct candidates){.batches = &f->batches,
                                        .rng = &f->rng,
                                        .immigrants = (int)option[OPTION_IMMIGRANTS],
                                        .neighbourhoods = (int)option[OPTION_NEIGHBOURHOODS],
                                        .jump_limit = JUMP_LIMIT,
                                        .q = IMMIGRANT_Q};
    size_t most = (size_t)(candidates_most(&f->candidates) + f->batches.open);
    size_t width = (size_t)f->coordinates.count;
    gp_init(&f->model, f->coordinates.count, points + f->batches.open, (int)most);
    f->model.factor = feasible_factor;
    f->model.factor_context = f;
    f->x = mem_zero(most * (width + 3), sizeof *f->x);
    f->mean = f->x + most * width;
    f->deviation = f->mean + most;
    f->value = f->deviation + most;
    return &f->batches.base;
}

static void feasible_destroy(struct strategy *s)
{
    struct feasible *f = (struct feasible *)s;
    batches_finish(&f->batches);
    gp_finish(&f->model);
    coordinates_finish(&f->coordinates);
    candidates_finish(&f->candidates);
    training_finish(&f->training);
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
    [OPTION_NEIGHBOURHOODS] = {"near", "best results whose neighbours are candidates", 3, 1, 64,
                               true},
    [OPTION_IMMIGRANTS] = {"strangers", "drawn for each trial", 50, 0, 4096, true},
    [OPTION_CLIMBS] = {"climbs", "candidates that are climbed from", 3, 1, CLIMBS_MOST, true},
    [OPTION_AHEAD] = {"ahead", "results not waited for (tune: workers - 1)", 0, 0, 255, true},
    {NULL},
};

const struct strategy_kind strategy_feasible = {
    .name = "feasible",
    .help = "a model of speed and one of what fails, as BaCO",
    .options = options,
    .create = feasible_create,
    .ask = batches_ask,
    .tell = batches_tell,
    .origin = batches_origin,
    .generation = batches_generation,
    .destroy = feasible_destroy,
};
