// Likelihood-free Bayesian optimisation by tree search: Helion's LFBOTreeSearch, after Song and
// others 2022 and Misic 2020.
//
// It begins with `starts` random points. A forest (classifier.h) learns which results are good: the
// fastest `quantile` of them, weighted by their lead; failures are not good. A path starts from
// each of the best `copies` results. In each generation it makes `near` neighbours of its position
// and measures those with the best chance to be good that differ from one another (the penalty is
// `penalty` times the share of trees in which two fall into the same leaf). The path goes to the
// best of them if that is better. The first neighbours of a path are random; later ones are guided:
// the parameters that a random tree uses take the values with the best vote of this tree. A path
// ends after `patience` generations that gained less than 0.1 % each, or after GENERATIONS. When
// all paths have ended, all steps from the best result are tried as long as that helps, then all
// pairs of steps of sizes. Then the search restarts, and keeps its results.
//
// The authors measure a tenth of the neighbours at a time; our defaults are for budgets of a few
// hundred trials, one by one.
#include "model/classifier.h"
#include "search/batches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTION_STARTS,
    OPTION_TREES,
    OPTION_COPIES,
    OPTION_NEIGHBOURHOODS,
    OPTION_MEASURED,
    OPTION_RADIUS,
    OPTION_QUANTILE,
    OPTION_PENALTY,
    OPTION_PATIENCE
};
enum { GENERATIONS = 20, MOST_COPIES = 64, MOST_VALUES = 256 };
#define LEAST_GAIN   0.001
#define LEAST_WEIGHT 1e-5
#define LEAST_NEWS   0.02 // share of new results before the forest is fitted again

struct path {
    int at; // index of its result
    int idle, generations;
    int first, count; // its proposals in the newest batch
    bool over;
};

struct lfbo {
    struct batches batches; // first: a strategy is a struct lfbo
    struct rng rng;
    int starts, trees, copies, near, measured, radius, patience;
    double quantile, penalty;
    enum { STARTING, WALKING, STEPPING, PAIRING } phase;
    int begun; // results before this start
    struct path path[MOST_COPIES];
    int paths;
    double polished; // the best fitness before the newest batch of steps
    struct classifier *forest;
    int fitted;                        // number of results that the forest was fitted to
    int sizes, size[SPACE_MAX_PARAMS]; // parameters that are sizes
    int param_of[SPACE_MAX_SLOTS];

    struct config *neighbour; // [near]
    int neighbours;
    double *chance, *alike; // of each: to be good; summed similarity to the chosen ones
    int *leaf;              // of each neighbour in each tree
};

static int by_speed(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x < *y) - (*x > *y);
}

// --- neighbours ---

// Takes one random step of a parameter.
static void step(struct lfbo *l, int param, struct config *c)
{
    const struct space *s = l->batches.problem.space;
    int degree = param_degree(&s->param[param], c->slot + s->param[param].offset);
    if (degree > 0)
        space_step(s, c, param, (int)rng_below(&l->rng, (uint64_t)degree), c);
}

static bool is_among(const struct config *list, int count, const struct config *c)
{
    for (int i = 0; i < count; i++)
        if (config_equal(&list[i], c))
            return true;
    return false;
}

// Sets a parameter to the value with the best vote of the tree, of equals a random one. Looks at
// its own value and at those within `radius` steps, at most MOST_VALUES.
static void set_best(struct lfbo *l, int tree, int param, struct config *c)
{
    struct config value[MOST_VALUES];
    const struct param *p = &l->batches.problem.space->param[param];
    int count = 1, begun = 0, equals = 0;
    double best = -1;
    value[0] = *c;
    for (int n = 0; n < l->radius; n++)
        for (int end = count; begun < end; begun++) {
            const int32_t *v = value[begun].slot + p->offset;
            for (int k = 0; k < param_degree(p, v) && count < MOST_VALUES; k++) {
                value[count] = value[begun];
                param_neighbour(p, v, k, value[count].slot + p->offset);
                space_settle(l->batches.problem.space, &value[count]);
                count += !is_among(value, count, &value[count]);
            }
        }
    for (int i = 0; i < count; i++) {
        double vote = classifier_vote(l->forest, tree, value[i].slot, NULL);
        if (vote > best)
            equals = 0;
        if (vote < best || rng_below(&l->rng, (uint64_t)++equals))
            continue;
        best = vote;
        *c = value[i];
    }
}

// Sets the parameters that a random tree uses, and a random size, to the best values.
static void move_guided(struct lfbo *l, struct config *c)
{
    int column[SPACE_MAX_SLOTS], tree = (int)rng_below(&l->rng, (uint64_t)l->trees);
    int count = classifier_path(l->forest, tree, c->slot, column);
    bool done[SPACE_MAX_PARAMS] = {false};
    if (l->sizes && count < SPACE_MAX_SLOTS) {
        int size = l->size[rng_below(&l->rng, (uint64_t)l->sizes)];
        column[count++] = l->batches.problem.space->param[size].offset;
    }
    for (int i = 0; i < count; i++) {
        int param = l->param_of[column[i]];
        if (!done[param])
            set_best(l, tree, param, c);
        done[param] = true;
    }
}

// Takes the best neighbour that is left, given that `chosen` were taken.
static struct config choose(struct lfbo *l, int chosen)
{
    int best = 0;
    double most = -INFINITY;
    for (int i = 0; i < l->neighbours; i++) {
        double score = l->chance[i] - (chosen ? l->penalty * l->alike[i] / chosen : 0);
        if (score > most) {
            most = score;
            best = i;
        }
    }
    for (int i = 0; i < l->neighbours; i++) {
        int same = 0;
        for (int t = 0; t < l->trees; t++)
            same += l->leaf[i * l->trees + t] == l->leaf[best * l->trees + t];
        l->alike[i] += (double)same / l->trees;
    }
    l->chance[best] = -INFINITY;
    return l->neighbour[best];
}

// --- the forest ---

static void fit(struct lfbo *l)
{
    int rows = l->batches.observed, slots = l->batches.problem.space->slots;
    const double *fitness = l->batches.fitness;
    double *speed = mem_zero((size_t)rows, sizeof *speed);
    double *weight = mem_zero((size_t)rows, sizeof *weight), sum = 0;
    bool *good = mem_zero((size_t)rows, sizeof *good);
    int valid = 0, count = 0;
    for (int i = 0; i < rows; i++)
        if (fitness[i] > 0)
            speed[valid++] = fitness[i];
    qsort(speed, (size_t)valid, sizeof *speed, by_speed);
    double from =
        valid ? speed[(int)(l->quantile * (valid - 1))] : INFINITY; // the slowest good one
    for (int i = 0; i < rows; i++) { // times are shares of the time of that one
        good[i] = fitness[i] >= from;
        weight[i] = good[i] ? fmax(1 - from / fitness[i], LEAST_WEIGHT) : 1;
        sum += good[i] ? weight[i] : 0;
        count += good[i];
    }
    for (int i = 0; i < rows; i++)
        if (good[i])
            weight[i] *= count / sum;
    const struct classifier_rows of = {l->batches.archive.given.row, good, weight, rows, slots};
    classifier_destroy(l->forest);
    l->forest = classifier_fit(&of, l->trees, &l->rng);
    l->fitted = rows;
    free(speed);
    free(good);
    free(weight);
}

// --- paths ---

// Proposes the next generation of a path.
static void go_on(struct lfbo *l, struct path *path)
{
    uint64_t params = (uint64_t)l->batches.problem.space->param_count;
    struct config here;
    config_set_get(&l->batches.archive.given, path->at, &here);
    l->neighbours = 0;
    for (int n = 0; n < l->near; n++) {
        struct config c = here;
        if (path->generations > 0) {
            move_guided(l, &c);
        } else { // a size by 1 to `radius` steps, and up to `radius` parameters by one step
            int size = l->sizes ? l->size[rng_below(&l->rng, (uint64_t)l->sizes)] : -1;
            int steps = size < 0 ? 0 : 1 + (int)rng_below(&l->rng, (uint64_t)l->radius);
            while (steps-- > 0)
                step(l, size, &c);
            steps = (int)rng_below(&l->rng, (uint64_t)l->radius + 1);
            while (steps-- > 0)
                step(l, (int)rng_below(&l->rng, params), &c);
        }
        if (archive_repair(&l->batches.archive, &here, &c) &&
            archive_allows(&l->batches.archive, &c) && !is_among(l->neighbour, l->neighbours, &c))
            l->neighbour[l->neighbours++] = c;
    }
    for (int i = 0; i < l->neighbours; i++) {
        l->chance[i] = l->alike[i] = 0;
        for (int t = 0; t < l->trees; t++)
            l->chance[i] +=
                classifier_vote(l->forest, t, l->neighbour[i].slot, &l->leaf[i * l->trees + t]) /
                l->trees;
    }
    path->first = l->batches.archive.given.count;
    path->count = l->neighbours < l->measured ? l->neighbours : l->measured;
    path->over = path->count == 0;
    for (int n = 0; n < path->count; n++) {
        struct config c = choose(l, n);
        batches_add_child(&l->batches, &c, path->at);
    }
}

// Starts paths at the best valid results since the last restart.
static void start_paths(struct lfbo *l)
{
    const double *fitness = l->batches.fitness;
    for (l->paths = 0; l->paths < l->copies; l->paths++) {
        int best = -1;
        for (int i = l->begun; i < l->batches.observed; i++) {
            bool is_start = false;
            for (int k = 0; k < l->paths && !is_start; k++)
                is_start = l->path[k].at == i;
            if (fitness[i] > 0 && !is_start && (best < 0 || fitness[i] > fitness[best]))
                best = i;
        }
        if (best < 0)
            return;
        l->path[l->paths] = (struct path){.at = best};
    }
}

// Moves the paths to their best results and proposes their next generations.
static void advance_paths(struct lfbo *l)
{
    const double *fitness = l->batches.fitness;
    for (int k = 0; k < l->paths; k++) {
        struct path *p = &l->path[k];
        if (p->count == 0)
            continue;
        double before = fitness[p->at];
        for (int i = p->first; i < p->first + p->count; i++)
            if (fitness[i] > fitness[p->at])
                p->at = i;
        bool gained = fitness[p->at] > before && 1 - before / fitness[p->at] >= LEAST_GAIN;
        p->idle = gained ? 0 : p->idle + 1;
        p->over = p->idle > l->patience || ++p->generations >= GENERATIONS;
        p->count = 0;
    }
    if (!l->forest || l->batches.observed >= l->fitted * (1 + LEAST_NEWS))
        fit(l);
    for (int k = 0; k < l->paths; k++)
        if (!l->path[k].over)
            go_on(l, &l->path[k]);
}

// --- steps from the best result ---

static int best_of(const struct lfbo *l)
{
    int best = 0;
    for (int i = 1; i < l->batches.observed; i++)
        if (l->batches.fitness[i] > l->batches.fitness[best])
            best = i;
    return best;
}

// --- batches ---

// Proposes all steps of one parameter.
static void add_steps(struct lfbo *l, const struct config *c, int from, int param)
{
    const struct param *p = &l->batches.problem.space->param[param];
    for (int k = 0; k < param_degree(p, c->slot + p->offset); k++) {
        struct config n;
        space_step(l->batches.problem.space, c, param, k, &n);
        if (archive_repair(&l->batches.archive, c, &n) && archive_allows(&l->batches.archive, &n))
            batches_add_child(&l->batches, &n, from);
    }
}

// Proposes all steps from the best result, or all pairs of steps of two sizes.
static void polish(struct lfbo *l)
{
    const struct space *s = l->batches.problem.space;
    const int best = best_of(l);
    struct config c;
    config_set_get(&l->batches.archive.given, best, &c);
    l->polished = l->batches.fitness[best];
    for (int i = 0; l->phase == PAIRING && i < l->sizes; i++) {
        const struct param *p = &s->param[l->size[i]];
        for (int k = 0; k < param_degree(p, c.slot + p->offset); k++) {
            struct config n;
            space_step(s, &c, l->size[i], k, &n);
            for (int j = i + 1; j < l->sizes; j++)
                add_steps(l, &n, best, l->size[j]);
        }
    }
    for (int i = 0; l->phase == STEPPING && i < s->param_count; i++)
        add_steps(l, &c, best, i);
}

static void lfbo_make_batch(void *self)
{
    struct lfbo *l = self;
    struct batches *b = &l->batches;
    bool gained = b->observed && b->fitness[best_of(l)] * (1 - LEAST_GAIN) >= l->polished;
    if (l->phase == STARTING && b->observed - l->begun >= l->starts) {
        start_paths(l);
        l->phase = l->paths ? WALKING : STARTING;
    } else if (l->phase == STEPPING || l->phase == PAIRING) {
        l->phase = gained ? STEPPING : l->phase == STEPPING ? PAIRING : STARTING;
        l->begun = l->phase == STARTING ? b->observed : l->begun;
    }
    if (l->phase == WALKING) {
        advance_paths(l);
        l->phase = batches_added(b) ? WALKING : STEPPING;
    }
    if (l->phase == STEPPING && batches_added(b) == 0)
        polish(l);
    if (l->phase == STEPPING && batches_added(b) == 0)
        l->phase = PAIRING;
    if (l->phase == PAIRING && batches_added(b) == 0)
        polish(l);
    if (batches_added(b))
        return;
    l->begun = l->phase == STARTING ? l->begun : b->observed;
    l->phase = STARTING;
    while (batches_added(b) < l->starts && batches_draw(b, &l->rng))
        continue;
}

static struct strategy *lfbo_create(const struct search_problem *problem, uint64_t seed,
                                    const double *option, struct err *e)
{
    (void)e;
    struct lfbo *l = mem_zero(1, sizeof *l);
    batches_init(&l->batches, problem, lfbo_make_batch);
    rng_seed(&l->rng, seed);
    l->starts = (int)option[OPTION_STARTS];
    l->trees = (int)option[OPTION_TREES];
    l->copies = (int)option[OPTION_COPIES];
    l->near = (int)option[OPTION_NEIGHBOURHOODS];
    l->measured = (int)option[OPTION_MEASURED];
    l->radius = (int)option[OPTION_RADIUS];
    l->quantile = option[OPTION_QUANTILE];
    l->penalty = option[OPTION_PENALTY];
    l->patience = (int)option[OPTION_PATIENCE];
    for (int i = 0; i < problem->space->param_count; i++) {
        const struct param *p = &problem->space->param[i];
        for (int k = 0; k < p->width; k++)
            l->param_of[p->offset + k] = i;
        // Sizes are powers of two, and parts of a product.
        int exponent;
        bool all = p->kind == PARAM_DISCRETE && p->size > 1;
        for (int j = 0; all && j < p->count; j++)
            all = p->number[j] >= 1 && frexp(p->number[j], &exponent) == 0.5;
        if (all || (p->kind == PARAM_FACTORIZATION && p->size > 1))
            l->size[l->sizes++] = i;
    }
    l->neighbour = mem_zero((size_t)l->near, sizeof *l->neighbour);
    l->chance = mem_zero((size_t)l->near, sizeof *l->chance);
    l->alike = mem_zero((size_t)l->near, sizeof *l->alike);
    l->leaf = mem_zero((size_t)(l->near * l->trees), sizeof *l->leaf);
    return &l->batches.base;
}

static void lfbo_destroy(struct strategy *s)
{
    struct lfbo *l = (struct lfbo *)s;
    batches_finish(&l->batches);
    classifier_destroy(l->forest);
    free(l->neighbour);
    free(l->chance);
    free(l->alike);
    free(l->leaf);
    free(l);
}

static const struct spec_option options[] = {
    [OPTION_STARTS] = {"starts", "random points it begins with", 20, 1, 4096, true},
    [OPTION_TREES] = {"trees", "trees of the forest", 100, 1, 1000, true},
    [OPTION_COPIES] = {"copies", "best results that paths start from", 3, 1, MOST_COPIES, true},
    [OPTION_NEIGHBOURHOODS] = {"near", "neighbours of a path that are looked at", 200, 1, 4096,
                               true},
    [OPTION_MEASURED] = {"measured", "of them measured before a path goes on", 2, 1, 4096, true},
    [OPTION_RADIUS] = {"radius", "steps that a parameter may move at once", 2, 1, 64, true},
    [OPTION_QUANTILE] = {"quantile", "share of the results that are good", 0.1, 0, 1, false},
    [OPTION_PENALTY] = {"penalty", "for being like what is measured too", 1, 0, 1000, false},
    [OPTION_PATIENCE] = {"patience", "generations in vain before a path ends", 4, 0, 1000, true},
    {NULL},
};

const struct strategy_kind strategy_lfbo = {
    .name = "lfbo",
    .help = "paths guided by a forest that knows good from bad, as Helion's tuner",
    .options = options,
    .create = lfbo_create,
    .ask = batches_ask,
    .tell = batches_tell,
    .origin = batches_origin,
    .generation = batches_generation,
    .destroy = lfbo_destroy,
};
