// Likelihood-free Bayesian optimisation by tree search: Helion's LFBOTreeSearch, after Song and
// others 2022 and Misic 2020.
//
// It begins with `starts` random points. A forest (classifier.h) learns which results are good: the
// fastest `quantile` of them, each counting by how far it is ahead; what failed is not. From each
// of the best `copies` results a path starts. In each generation `near` neighbours of where it
// stands are made, those with the best chance of being good are measured, unlike one another
// (`penalty` times the share of trees in which two fall into the same leaf), and the path goes to
// the best of them, if that is better. The first neighbours of a path are random; later ones are
// guided: they set the parameters that a random tree looks at to the values that this tree likes
// best. A path ends after `patience` generations that brought less than 0.1 %, or GENERATIONS. When
// all have ended, all steps from the best are tried while that helps, then all pairs of steps of
// sizes; then it begins again, with what was learned.
//
// Its makers measure a tenth of the neighbours at a time; these defaults are for budgets of a few
// hundred trials, one by one.
#include "model/classifier.h"
#include "search/moves.h"
#include "search/rounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTION_STARTS,
    OPTION_TREES,
    OPTION_COPIES,
    OPTION_NEAR,
    OPTION_MEASURED,
    OPTION_RADIUS,
    OPTION_QUANTILE,
    OPTION_PENALTY,
    OPTION_PATIENCE
};
enum { GENERATIONS = 20, MOST_COPIES = 64, MOST_VALUES = 256 };
#define LEAST_GAIN   0.001
#define LEAST_WEIGHT 1e-5
#define LEAST_NEWS   0.02 // share of more results, before it learns again

struct path {
    int at; // index of the result where it stands
    int idle, generations;
    int first, count; // of the newest round: what it asked for
    bool over;
};

struct lfbo {
    struct rounds rounds; // first: a strategy is a struct lfbo
    struct rng rng;
    int starts, trees, copies, near, measured, radius, patience;
    double quantile, penalty;
    enum { STARTING, WALKING, STEPPING, PAIRING } phase;
    int begun; // results before this start
    struct path path[MOST_COPIES];
    int paths;
    double polished; // what was the best before the newest round of polishing
    struct classifier *forest;
    int fitted;                        // to so many results
    int sizes, size[SPACE_MAX_PARAMS]; // parameters that are sizes
    int param_of[SPACE_MAX_SLOTS];

    struct config *neighbour; // [near]
    int neighbours;
    double *chance, *alike; // of each: of being good; sum over the chosen of how alike they are
    int *leaf;              // of each in each tree
};

static struct strategy *create(const struct search_problem *problem, uint64_t seed,
                               const double *option, struct err *e)
{
    (void)e;
    struct lfbo *l = mem_zero(1, sizeof *l);
    rounds_init(&l->rounds, problem);
    rng_seed(&l->rng, seed);
    l->starts = (int)option[OPTION_STARTS];
    l->trees = (int)option[OPTION_TREES];
    l->copies = (int)option[OPTION_COPIES];
    l->near = (int)option[OPTION_NEAR];
    l->measured = (int)option[OPTION_MEASURED];
    l->radius = (int)option[OPTION_RADIUS];
    l->quantile = option[OPTION_QUANTILE];
    l->penalty = option[OPTION_PENALTY];
    l->patience = (int)option[OPTION_PATIENCE];
    for (int i = 0; i < problem->space->param_count; i++) {
        const struct param *p = &problem->space->param[i];
        for (int k = 0; k < p->width; k++)
            l->param_of[p->offset + k] = i;
        // Powers of two, and parts of a product.
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
    return &l->rounds.base;
}

// --- the model ---

static int by_speed(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x < *y) - (*x > *y);
}

// The speed of a result that is just good.
static double threshold(const struct lfbo *l)
{
    int valid = 0, told = l->rounds.told;
    double *speed = mem_zero((size_t)told, sizeof *speed);
    for (int i = 0; i < told; i++)
        if (l->rounds.fitness[i] > 0)
            speed[valid++] = l->rounds.fitness[i];
    qsort(speed, (size_t)valid, sizeof *speed, by_speed);
    double at = valid ? speed[(int)(l->quantile * (valid - 1))] : INFINITY;
    free(speed);
    return at;
}

// --- neighbours ---

static void step(struct lfbo *l, int param, struct config *c)
{
    const struct space *s = l->rounds.problem.space;
    int degree = param_degree(&s->param[param], c->slot + s->param[param].offset);
    if (degree > 0)
        space_step(s, c, param, (int)rng_below(&l->rng, (uint64_t)degree), c);
}

// A size moves within the radius, and up to `radius` others by a step.
static void move_at_random(struct lfbo *l, struct config *c)
{
    int params = l->rounds.problem.space->param_count, radius = l->radius;
    if (l->sizes) {
        int size = l->size[rng_below(&l->rng, (uint64_t)l->sizes)];
        for (int n = 1 + (int)rng_below(&l->rng, (uint64_t)radius); n > 0; n--)
            step(l, size, c);
    }
    for (int n = (int)rng_below(&l->rng, (uint64_t)radius + 1); n > 0; n--)
        step(l, (int)rng_below(&l->rng, (uint64_t)params), c);
}

static bool is_among(const struct config *list, int count, const struct config *c)
{
    for (int i = 0; i < count; i++)
        if (config_equal(&list[i], c))
            return true;
    return false;
}

// The values of one parameter within `radius` steps, its own first; at most MOST_VALUES.
static int values_near(const struct lfbo *l, const struct param *p, const struct config *from,
                       struct config *out)
{
    int count = 1, begun = 0;
    out[0] = *from;
    for (int n = 0; n < l->radius; n++) {
        int end = count;
        for (; begun < end; begun++) {
            int degree = param_degree(p, out[begun].slot + p->offset);
            for (int k = 0; k < degree && count < MOST_VALUES; k++) {
                out[count] = out[begun];
                param_neighbour(p, out[begun].slot + p->offset, k, out[count].slot + p->offset);
                space_settle(l->rounds.problem.space, &out[count]);
                count += !is_among(out, count, &out[count]);
            }
        }
    }
    return count;
}

// The value that the tree likes best, of equals any.
static void set_best(struct lfbo *l, int tree, int param, struct config *c)
{
    struct config value[MOST_VALUES];
    const struct param *p = &l->rounds.problem.space->param[param];
    int count = values_near(l, p, c, value), equals = 0;
    double best = -1;
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

// The best that is left, when `chosen` are: it is not there any more then.
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

// --- rounds ---

static void add_from(struct lfbo *l, const struct config *c, int index)
{
    int from[SPACE_MAX_PARAMS];
    for (int i = 0; i < l->rounds.problem.space->param_count; i++)
        from[i] = index + 1;
    rounds_add(&l->rounds, c, from);
}

static void go_on(struct lfbo *l, struct path *path)
{
    struct config here;
    config_set_get(&l->rounds.visited.given, path->at, &here);
    l->neighbours = 0;
    for (int n = 0; n < l->near; n++) {
        struct config c = here;
        if (path->generations == 0)
            move_at_random(l, &c);
        else {
            int column[SPACE_MAX_SLOTS], tree = (int)rng_below(&l->rng, (uint64_t)l->trees);
            int count = classifier_path(l->forest, tree, c.slot, column);
            bool done[SPACE_MAX_PARAMS] = {false};
            if (l->sizes && count < SPACE_MAX_SLOTS) {
                int size = l->size[rng_below(&l->rng, (uint64_t)l->sizes)];
                column[count++] = l->rounds.problem.space->param[size].offset;
            }
            for (int i = 0; i < count; i++) {
                int param = l->param_of[column[i]];
                if (!done[param])
                    set_best(l, tree, param, &c);
                done[param] = true;
            }
        }
        if (visited_allows(&l->rounds.visited, &c) && !is_among(l->neighbour, l->neighbours, &c))
            l->neighbour[l->neighbours++] = c;
    }
    for (int i = 0; i < l->neighbours; i++) {
        l->chance[i] = l->alike[i] = 0;
        for (int t = 0; t < l->trees; t++)
            l->chance[i] +=
                classifier_vote(l->forest, t, l->neighbour[i].slot, &l->leaf[i * l->trees + t]) /
                l->trees;
    }
    path->first = l->rounds.visited.given.count;
    path->count = l->neighbours < l->measured ? l->neighbours : l->measured;
    path->over = path->count == 0;
    for (int n = 0; n < path->count; n++) {
        struct config c = choose(l, n);
        add_from(l, &c, path->at);
    }
}

static int best_of(const struct lfbo *l)
{
    int best = 0;
    for (int i = 1; i < l->rounds.told; i++)
        if (l->rounds.fitness[i] > l->rounds.fitness[best])
            best = i;
    return best;
}

static bool is_start(const struct lfbo *l, int index)
{
    for (int k = 0; k < l->paths; k++)
        if (l->path[k].at == index)
            return true;
    return false;
}

// At the best results since the last start.
static void start_paths(struct lfbo *l)
{
    for (l->paths = 0; l->paths < l->copies;) {
        int best = -1;
        for (int i = l->begun; i < l->rounds.told; i++)
            if (l->rounds.fitness[i] > 0 && !is_start(l, i) &&
                (best < 0 || l->rounds.fitness[i] > l->rounds.fitness[best]))
                best = i;
        if (best < 0)
            return;
        l->path[l->paths++] = (struct path){.at = best};
    }
}

static void walk_on(struct lfbo *l)
{
    for (int k = 0; k < l->paths; k++)
        if (l->path[k].count) {
            const double *fitness = l->rounds.fitness;
            double before = fitness[l->path[k].at];
            for (int i = l->path[k].first; i < l->path[k].first + l->path[k].count; i++)
                if (fitness[i] > fitness[l->path[k].at])
                    l->path[k].at = i;
            bool gained = fitness[l->path[k].at] > before &&
                          1 - before / fitness[l->path[k].at] >= LEAST_GAIN;
            l->path[k].idle = gained ? 0 : l->path[k].idle + 1;
            l->path[k].over =
                l->path[k].idle > l->patience || ++l->path[k].generations >= GENERATIONS;
            l->path[k].count = 0;
        }
    int rows = l->rounds.told, slots = l->rounds.problem.space->slots;
    if (!l->forest || !(rows < l->fitted * (1 + LEAST_NEWS))) {
        l->fitted = rows;
        bool *good = mem_zero((size_t)rows, sizeof *good);
        double *weight = mem_zero((size_t)rows, sizeof *weight);
        const struct classifier_rows of = {l->rounds.visited.given.row, good, weight, rows, slots};
        // Times are shares of the threshold's.
        double from = threshold(l), sum = 0;
        int count = 0;
        for (int i = 0; i < l->rounds.told; i++) {
            double speed = l->rounds.fitness[i];
            good[i] = speed >= from;
            weight[i] = good[i] ? fmax(1 - from / speed, LEAST_WEIGHT) : 1;
            sum += good[i] ? weight[i] : 0;
            count += good[i];
        }
        for (int i = 0; i < l->rounds.told; i++)
            if (good[i])
                weight[i] *= count / sum;
        classifier_destroy(l->forest);
        l->forest = classifier_fit(&of, l->trees, &l->rng);
        free(good);
        free(weight);
    }
    for (int k = 0; k < l->paths; k++)
        if (!l->path[k].over)
            go_on(l, &l->path[k]);
}

// All steps of one parameter.
static void add_steps(struct lfbo *l, const struct config *c, int from, int param)
{
    const struct param *p = &l->rounds.problem.space->param[param];
    for (int k = 0; k < param_degree(p, c->slot + p->offset); k++) {
        struct config n;
        space_step(l->rounds.problem.space, c, param, k, &n);
        if (visited_allows(&l->rounds.visited, &n))
            add_from(l, &n, from);
    }
}

static void polish(struct lfbo *l)
{
    struct config c;
    const int best = best_of(l);
    config_set_get(&l->rounds.visited.given, best, &c);
    l->polished = l->rounds.fitness[best];
    if (l->phase == PAIRING) {
        for (int i = 0; i < l->sizes; i++) {
            const struct param *p = &l->rounds.problem.space->param[l->size[i]];
            for (int k = 0; k < param_degree(p, c.slot + p->offset); k++) {
                struct config n;
                space_step(l->rounds.problem.space, &c, l->size[i], k, &n);
                for (int j = i + 1; j < l->sizes; j++)
                    add_steps(l, &n, best, l->size[j]);
            }
        }
    }
    for (int i = 0; l->phase == STEPPING && i < l->rounds.problem.space->param_count; i++)
        add_steps(l, &c, best, i);
}

static int new_ones(const struct lfbo *l)
{
    return l->rounds.visited.given.count - l->rounds.handed_out;
}

static void make_round(void *self)
{
    struct lfbo *l = self;
    // What the results so far lead to.
    bool gained = l->rounds.told && l->rounds.fitness[best_of(l)] * (1 - LEAST_GAIN) >= l->polished;
    if (l->phase == STARTING && l->rounds.told - l->begun >= l->starts) {
        start_paths(l);
        l->phase = l->paths ? WALKING : STARTING;
    } else if (l->phase == STEPPING || l->phase == PAIRING) {
        l->phase = gained ? STEPPING : l->phase == STEPPING ? PAIRING : STARTING;
        l->begun = l->phase == STARTING ? l->rounds.told : l->begun;
    }
    if (l->phase == WALKING) {
        walk_on(l);
        l->phase = new_ones(l) ? WALKING : STEPPING;
    }
    if (l->phase == STEPPING && new_ones(l) == 0)
        polish(l);
    if (l->phase == STEPPING && new_ones(l) == 0)
        l->phase = PAIRING;
    if (l->phase == PAIRING && new_ones(l) == 0)
        polish(l);
    if (new_ones(l))
        return;
    l->begun = l->phase == STARTING ? l->begun : l->rounds.told;
    l->phase = STARTING;
    while (new_ones(l) < l->starts && rounds_draw(&l->rounds, &l->rng)) {
    }
}

static enum ask ask(struct strategy *s, struct config *out)
{
    struct lfbo *l = (struct lfbo *)s;
    return rounds_ask(&l->rounds, out, make_round, l);
}

static void destroy(struct strategy *s)
{
    struct lfbo *l = (struct lfbo *)s;
    rounds_finish(&l->rounds);
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
    [OPTION_NEAR] = {"near", "neighbours of a path that are looked at", 200, 1, 4096, true},
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
    .create = create,
    .ask = ask,
    .tell = rounds_tell,
    .origin = rounds_origin,
    .generation = rounds_generation,
    .destroy = destroy,
};
