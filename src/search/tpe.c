// The tree-structured Parzen estimator (Bergstra, Bardenet, Bengio, Kegl 2011), as Bayesian search
// without any model library.
//
// After `starts` draws all results are split. The best share `gamma` of them (at most 25, as in
// Hyperopt and Optuna), without failures, is good; all others, failures and open trials included,
// are bad. Each side has a density: the mean of the windows around its results and of the uniform
// density over the space (windows: tpe.h). `candidates` are drawn from the good density, and the
// one with the largest good / bad is proposed.
//
// With joint=1 a window is around a whole configuration, so that values that are good only together
// stay together (as in BOHB and Optuna's multivariate mode). With joint=0 every parameter has its
// own windows and the densities multiply, as published. Candidates are legal and new.
//
// With `again`, known configurations are candidates too. If one is the best candidate its result
// counts once more, as if it had been measured again, and candidates are drawn anew. So the
// densities get sharper where the search returns (Optuna proposes known points, too). After `again`
// such repetitions the trial is a uniform draw: the densities are exhausted.
#include "search/tpe.h"

#include "search/batches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    COUNTED = 4096, // values of the largest graph whose shells are counted
    FARTHEST = 255, // steps to the end of a window
    TRIES = 64,     // to find a neighbour farther away
};

static const double MOST_MOVED = 0.7, LARGEST = 1e6; // so that products of 32 densities are finite

// The values d steps away from a distinct value.
struct shells {
    double chance[FARTHEST + 1];  // of a draw at that distance
    double density[FARTHEST + 1]; // of each value at that distance, relative to a uniform draw
    int16_t *distance;            // custom: to each value, as computing it is slow; else NULL
    int16_t *known;               // distances to the first `known_count` distinct values
    int known_count, known_capacity;
};

struct parzen_window {
    const struct param *param;
    double moved, ratio; // chance to move; ratio of the chances of successive distances
    int farthest;
    struct config_set known; // distinct values, in slots from 0 on
    struct shells **shells;  // of each
    int capacity;
};

void parzen_init(struct parzen *z, const struct space *space, double moved)
{
    *z = (struct parzen){.space = space};
    z->window = mem_zero((size_t)space->param_count, sizeof *z->window);
    for (int i = 0; i < space->param_count; i++) {
        struct parzen_window *w = &z->window[i];
        w->param = &space->param[i];
        w->moved = fmin(moved / space->param_count, MOST_MOVED);
        int most = 1;
        switch (w->param->kind) {
        case PARAM_FACTORIZATION:
            most = 0;
            for (int m = 0; m < w->param->prime_count; m++)
                most += w->param->exponent[m];
            break;
        case PARAM_PERMUTATION:
        case PARAM_DISCRETE:
        case PARAM_CUSTOM: most = w->param->count - 1; break;
        case PARAM_CATEGORICAL: break;
        }
        w->farthest = most < FARTHEST ? most : FARTHEST;
        w->ratio = 1 - 1 / fmax(1, w->farthest / 10.0);
        w->known.slots = w->param->width;
    }
}

void parzen_finish(struct parzen *z)
{
    for (int i = 0; i < z->space->param_count; i++) {
        struct parzen_window *w = &z->window[i];
        for (int k = 0; k < w->known.count; k++) {
            free(w->shells[k]->distance);
            free(w->shells[k]->known);
            free(w->shells[k]);
        }
        free(w->shells);
        config_set_finish(&w->known);
    }
    free(z->window);
    free(z->value);
}

// Returns the number of steps between two values, limited to FARTHEST + 1, also if there is no
// path.
static int16_t distance(const struct shells *s, const struct param *p, const int32_t *from,
                        const int32_t *to)
{
    if (s->distance)
        return s->distance[*to];
    int d = param_distance(p, from, to);
    return (int16_t)(d >= 0 && d <= FARTHEST ? d : FARTHEST + 1);
}

// Computes the shells of a new distinct value.
static struct shells *make_shells(const struct parzen_window *w, const int32_t *v)
{
    const struct param *p = w->param;
    struct shells *s = mem_zero(1, sizeof *s);
    int16_t *distances = NULL;
    double count[FARTHEST + 1] = {0}, sum = 0, weight = 1, size = fmin((double)p->size, LARGEST);
    int32_t other[PARAM_MAX_WIDTH];
    if (p->kind == PARAM_CUSTOM)
        distances = mem_zero((size_t)p->count, sizeof *distances);
    for (uint64_t i = 0; i < p->size && p->size <= COUNTED; i++) {
        param_value(p, i, other);
        int16_t d = distance(s, p, v, other);
        if (d <= w->farthest)
            count[d]++;
        if (distances)
            distances[i] = d;
    }
    s->distance = distances;
    double ways = 1, degree = p->size > COUNTED ? param_degree(p, v) : 0;
    for (int d = 1; d <= w->farthest && p->size > COUNTED; d++)
        count[d] = fmax(1, ways *= degree / d);
    for (int d = 1; d <= w->farthest; d++, weight *= w->ratio)
        sum += s->chance[d] = count[d] > 0 ? weight : 0;
    double moved = sum > 0 ? w->moved : 0;
    s->chance[0] = 1 - moved;
    s->density[0] = s->chance[0] * size;
    for (int d = 1; d <= w->farthest && sum > 0; d++) {
        s->chance[d] *= moved / sum;
        s->density[d] = count[d] > 0 ? s->chance[d] / count[d] * size : 0;
    }
    return s;
}

int parzen_add(struct parzen *z, const struct config *c)
{
    int params = z->space->param_count;
    if (z->count == z->capacity) {
        z->capacity = z->capacity ? 2 * z->capacity : 64;
        z->value = mem_resize(z->value, (size_t)z->capacity * (size_t)params, sizeof *z->value);
    }
    for (int i = 0; i < params; i++) {
        struct parzen_window *w = &z->window[i];
        const int32_t *v = c->slot + w->param->offset;
        struct config key = {{0}};
        memcpy(key.slot, v, (size_t)w->param->width * sizeof *v);
        bool is_new;
        int k = config_set_add(&w->known, &key, &is_new);
        if (is_new) {
            MEM_GROW(w->shells, k, w->capacity);
            w->shells[k] = make_shells(w, v);
        }
        z->value[z->count * params + i] = k;
    }
    return z->count++;
}

void parzen_draw(const struct parzen *z, int i, int param, struct rng *r, struct config *out)
{
    const struct parzen_window *w = &z->window[param];
    const struct param *p = w->param;
    int known = z->value[i * z->space->param_count + param];
    struct config value;
    config_set_get(&w->known, known, &value);
    int steps = (int)rng_weighted(r, (size_t)w->farthest + 1, w->shells[known]->chance);
    int32_t *v = out->slot + p->offset, next[PARAM_MAX_WIDTH];
    size_t bytes = (size_t)p->width * sizeof *v;
    bool arrived = false;
    for (int walk = 0; walk <= TRIES && !arrived; walk++) { // each step must lead farther away
        memcpy(v, value.slot, bytes);
        arrived = true;
        for (int d = 1; d <= steps && arrived; d++) {
            int n = 0;
            do
                param_neighbour(p, v, (int)rng_below(r, (uint64_t)param_degree(p, v)), next);
            while (param_distance(p, value.slot, next) != d && ++n < TRIES);
            arrived = n < TRIES;
            if (arrived)
                memcpy(v, next, bytes);
        }
    }
}

void parzen_view_fill(const struct parzen *z, const struct config *c, struct parzen_view *v)
{
    for (int i = 0; i < z->space->param_count; i++) {
        const struct parzen_window *w = &z->window[i];
        const struct param *p = w->param;
        const int32_t *value = c->slot + p->offset;
        struct config key = {{0}};
        memcpy(key.slot, value, (size_t)p->width * sizeof *value);
        int known = config_set_find(&w->known, &key);
        struct shells *s = known >= 0 ? w->shells[known] : NULL;
        if (v->capacity[i] < w->known.count) {
            v->capacity[i] = 2 * w->known.count;
            v->near[i] = mem_resize(v->near[i], (size_t)v->capacity[i], sizeof *v->near[i]);
        }
        // The distances from a known value, which is the usual case, are kept.
        for (; s && s->known_count < w->known.count; s->known_count++) {
            MEM_GROW(s->known, s->known_count, s->known_capacity);
            s->known[s->known_count] =
                distance(s, p, value, w->known.row + s->known_count * p->width);
        }
        for (int k = 0; k < w->known.count; k++) {
            int d = s ? s->known[k] : distance(w->shells[k], p, w->known.row + k * p->width, value);
            v->near[i][k] = d <= w->farthest ? w->shells[k]->density[d] : 0;
        }
    }
}

void parzen_view_finish(struct parzen_view *v)
{
    for (int i = 0; i < SPACE_MAX_PARAMS; i++)
        free(v->near[i]);
}

enum {
    OPTION_STARTS,
    OPTION_GAMMA,
    OPTION_CANDIDATES,
    OPTION_MOVED,
    OPTION_JOINT,
    OPTION_BATCH,
    OPTION_AGAIN
};
enum {
    MOST_GOOD = 25,
    DRAWS = 64, // for each candidate, before fewer candidates are enough
};

struct tpe {
    struct batches batches; // first: a strategy is a struct tpe
    struct rng rng;
    int starts, candidates, batch, again;
    double gamma;
    bool joint;
    struct parzen sample; // the archive, with `again` some of it several times
    struct parzen_view view;
    int good[MOST_GOOD], good_count; // places in the sample, best first
    bool *is_good;                   // by place in the sample
    int *index;                      // in the archive, by place in the sample
    int added;                       // number of configurations of the archive in the sample
    int capacity, index_capacity;
};

static double fitness_of(const struct tpe *t, int i)
{
    return t->index[i] < t->batches.observed ? t->batches.fitness[t->index[i]] : 0;
}

// Splits the sample into good and bad results.
static void split(struct tpe *t)
{
    int told = 0;
    for (int i = 0; i < t->sample.count; i++)
        told += t->index[i] < t->batches.observed;
    int most = (int)ceil(t->gamma * told);
    most = most < MOST_GOOD ? most : MOST_GOOD;
    for (int i = 0; i < t->good_count; i++)
        t->is_good[t->good[i]] = false;
    t->good_count = 0;
    for (int i = 0; i < t->sample.count; i++) {
        double fitness = fitness_of(t, i);
        if (fitness <= 0 || (t->good_count == most && fitness <= fitness_of(t, t->good[most - 1])))
            continue;
        int place = t->good_count < most ? t->good_count++ : most - 1;
        for (; place > 0 && fitness_of(t, t->good[place - 1]) < fitness; place--)
            t->good[place] = t->good[place - 1];
        t->good[place] = i;
    }
    for (int i = 0; i < t->good_count; i++)
        t->is_good[t->good[i]] = true;
}

// Adds a result to the sample.
static void sample_put(struct tpe *t, const struct config *c, int index)
{
    MEM_GROW(t->is_good, t->sample.count, t->capacity);
    MEM_GROW(t->index, t->sample.count, t->index_capacity);
    t->index[t->sample.count] = index;
    t->is_good[parzen_add(&t->sample, c)] = false;
}

// Adds the new configurations of the archive to the sample.
static void sample_update(struct tpe *t)
{
    struct config c;
    while (t->added < t->batches.archive.given.count) {
        config_set_get(&t->batches.archive.given, t->added, &c);
        sample_put(t, &c, t->added++);
    }
}

// Chooses among the good results and the uniform density, which counts as one more: -1.
static int choose_origin(struct tpe *t)
{
    int k = (int)rng_below(&t->rng, (uint64_t)t->good_count + 1);
    return k < t->good_count ? t->good[k] : -1;
}

static void draw(struct tpe *t, struct config *c, int from[SPACE_MAX_PARAMS])
{
    const struct space *s = t->batches.problem.space;
    *c = (struct config){{0}};
    int origin = choose_origin(t);
    for (int i = 0; i < s->param_count; i++) {
        if (i > 0 && !t->joint)
            origin = choose_origin(t);
        from[i] = origin < 0 ? 0 : t->index[origin] + 1;
        if (origin >= 0)
            parzen_draw(&t->sample, origin, i, &t->rng, c);
        else
            param_sample(&s->param[i], &t->rng, c->slot + s->param[i].offset);
    }
    space_settle(s, c);
}

// Returns the logarithm of good / bad for the parameters in [first, past); the uniform density is
// 1.
static double log_ratio(const struct tpe *t, int first, int past)
{
    double good = 1, bad = 1;
    for (int i = 0; i < t->sample.count; i++) {
        double near = 1;
        for (int k = first; k < past && near > 0; k++)
            near *= parzen_near(&t->sample, &t->view, i, k);
        *(t->is_good[i] ? &good : &bad) += near;
    }
    return log(good / (t->good_count + 1)) - log(bad / (t->sample.count - t->good_count + 1));
}

// Gives the best of the candidates. False: none was allowed.
static bool propose(struct tpe *t, struct config *best, int best_from[SPACE_MAX_PARAMS])
{
    int found = 0, params = t->batches.problem.space->param_count;
    double highest = -INFINITY;
    const struct archive *a = &t->batches.archive;
    const int most = t->candidates * archive_tries(a, DRAWS);
    for (int n = 0; n < most && found < t->candidates; n++) {
        struct config c;
        int from[SPACE_MAX_PARAMS];
        draw(t, &c, from);
        if (!archive_repair(a, NULL, &c))
            continue;
        bool known = t->again && config_set_find(&a->given, &c) >= 0;
        if (!known && !archive_allows(a, &c))
            continue;
        double value = 0;
        parzen_view_fill(&t->sample, &c, &t->view);
        if (t->joint)
            value = log_ratio(t, 0, params);
        for (int k = 0; k < params && !t->joint; k++)
            value += log_ratio(t, k, k + 1);
        if (found++ > 0 && value <= highest)
            continue;
        highest = value;
        *best = c;
        memcpy(best_from, from, sizeof from);
    }
    return found > 0;
}

// Adds a trial to the batch. False: none is left.
static bool add_trial(struct tpe *t)
{
    struct config c;
    int from[SPACE_MAX_PARAMS], index = -1;
    bool starts = t->batches.observed < t->starts || t->good_count == 0;
    bool proposes = !archive_warm(&t->batches.archive, &c) && !starts && propose(t, &c, from);
    for (int n = 0; proposes; n++) {
        index = config_set_find(&t->batches.archive.given, &c);
        if (index < 0)
            break;
        proposes = n < t->again;
        if (proposes) {
            sample_put(t, &c, index);
            split(t);
            proposes = propose(t, &c, from);
        }
    }
    if (!proposes)
        return batches_draw(&t->batches, &t->rng);
    batches_add(&t->batches, &c, from);
    return true;
}

static void tpe_make_batch(void *self)
{
    struct tpe *t = self;
    sample_update(t);
    split(t);
    int size = t->batches.observed < t->starts ? t->starts - t->batches.observed : t->batch;
    for (int i = 0; i < size && add_trial(t); i++)
        sample_update(t); // open trials are bad, so the next one goes elsewhere
}

static struct strategy *tpe_create(const struct search_problem *problem, uint64_t seed,
                                   const double *option, struct err *e)
{
    (void)e;
    struct tpe *t = mem_zero(1, sizeof *t);
    batches_init(&t->batches, problem, tpe_make_batch);
    rng_seed(&t->rng, seed);
    t->starts = (int)option[OPTION_STARTS];
    t->gamma = option[OPTION_GAMMA];
    t->candidates = (int)option[OPTION_CANDIDATES];
    t->joint = option[OPTION_JOINT] != 0;
    t->batch = (int)option[OPTION_BATCH];
    t->again = (int)option[OPTION_AGAIN];
    parzen_init(&t->sample, problem->space, option[OPTION_MOVED]);
    return &t->batches.base;
}

static void tpe_destroy(struct strategy *s)
{
    struct tpe *t = (struct tpe *)s;
    batches_finish(&t->batches);
    parzen_finish(&t->sample);
    parzen_view_finish(&t->view);
    free(t->is_good);
    free(t->index);
    free(t);
}

static const struct spec_option options[] = {
    [OPTION_STARTS] = {"starts", "random points before the first densities", 16, 1, 4096, true},
    [OPTION_GAMMA] = {"gamma", "share of the results that is good, at most 25", 0.1, 0.01, 0.9,
                      false},
    [OPTION_CANDIDATES] = {"candidates", "draws of which the best is asked for", 24, 1, 4096, true},
    [OPTION_MOVED] = {"moved", "parameters of a draw that differ from the good one, on average",
                      1.5, 0.01, 32, false},
    [OPTION_JOINT] = {"joint", "1: windows around configurations, 0: around single parameters", 1,
                      0, 1, true},
    [OPTION_BATCH] = {"batch", "points asked for at once", 1, 1, 4096, true},
    [OPTION_AGAIN] = {"again", "known points that may win in a row, and then count once more", 0, 0,
                      4096, true, NULL, true},
    {NULL},
};

const struct strategy_kind strategy_tpe = {
    .name = "tpe",
    .help = "tree-structured Parzen estimator: Bayesian search by two densities",
    .options = options,
    .create = tpe_create,
    .ask = batches_ask,
    .tell = batches_tell,
    .generation = batches_generation,
    .origin = batches_origin,
    .destroy = tpe_destroy,
};
