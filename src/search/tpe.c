// The tree-structured Parzen estimator (Bergstra, Bardenet, Bengio, Kegl 2011), as Bayesian search
// without any model library.
//
// After `starts` draws all results are split: the best share `gamma` of them (at most 25, as
// Hyperopt and Optuna have it), none that failed, are good; all others, failures and those still
// open among them, are bad. Each side is a density: the mean of a window around each of its results
// and of the uniform density over the space (windows: parzen.h). `candidates` are drawn from the
// good density, and the one with the largest good / bad is asked for.
//
// With joint=1 a window lies around a whole configuration, which keeps together what is good only
// together (as BOHB and Optuna's multivariate mode do); with joint=0 every parameter has windows of
// its own and densities multiply, as published. What is illegal or known is no candidate.
//
// With `again`, what is known is one. Where it is the best of them its result counts once more, as
// if it had been measured again, so that the densities grow sharper where the search keeps going
// (Optuna asks for known points, too); then candidates are drawn anew. After `again` such turns the
// trial is a uniform draw: what the densities know is exhausted.

#include "search/tpe.h"

#include "search/rounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    COUNTED = 4096, // values of a graph whose shells are counted
    FARTHEST = 255, // steps that a window reaches
    TRIES = 64,     // to find a neighbour further away
};

static const double MOST_MOVED = 0.7, LARGEST = 1e6; // so that products of 32 densities are finite

// Of a distinct value: what is d steps away.
struct shells {
    double chance[FARTHEST + 1];  // of a draw to be there
    double density[FARTHEST + 1]; // of each value there, relative to a uniform draw
    int16_t *distance;            // custom: to each value, where asking takes long; else NULL
    int16_t *known;               // to the first `known_count` distinct values of the sample
    int known_count, known_capacity;
};

struct parzen_window {
    const struct param *param;
    double moved, ratio; // chance to move; of the chances of neighbouring distances
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

// Capped; not connected: far.
static int16_t steps_to(const struct param *p, const int32_t *from, const int32_t *to)
{
    int d = param_distance(p, from, to);
    return (int16_t)(d >= 0 && d <= FARTHEST ? d : FARTHEST + 1);
}

static int16_t distance(const struct shells *s, const struct param *p, const int32_t *from,
                        const int32_t *to)
{
    return s->distance ? s->distance[*to] : steps_to(p, from, to);
}

static void count_shells(const struct parzen_window *w, struct shells *s, const int32_t *v,
                         double *count)
{
    const struct param *p = w->param;
    int32_t other[PARAM_MAX_WIDTH];
    for (uint64_t i = 0; i < p->size; i++) {
        param_value(p, i, other);
        int16_t d = steps_to(p, v, other);
        if (d <= w->farthest)
            count[d]++;
        if (s->distance)
            s->distance[i] = d;
    }
}

int parzen_add(struct parzen *z, const struct config *c)
{
    int params = z->space->param_count;
    if (z->count == z->capacity) {
        z->capacity = z->capacity ? 2 * z->capacity : 64;
        z->value = mem_resize(z->value, (size_t)z->capacity * (size_t)params, sizeof *z->value);
    }
    for (int i = 0; i < params; i++) {
        const int32_t *v = c->slot + z->space->param[i].offset;
        struct config key = {{0}};
        memcpy(key.slot, v, (size_t)z->window[i].param->width * sizeof *v);
        bool is_new;
        int k = config_set_add(&z->window[i].known, &key, &is_new);
        if (is_new) {
            MEM_GROW(z->window[i].shells, k, z->window[i].capacity);
            const struct param *p = z->window[i].param;
            struct shells *s = mem_zero(1, sizeof *s);
            double count[FARTHEST + 1] = {0}, sum = 0, weight = 1,
                                    size = fmin((double)p->size, LARGEST);
            if (p->kind == PARAM_CUSTOM)
                s->distance = mem_zero((size_t)p->count, sizeof *s->distance);
            if (p->size <= COUNTED)
                count_shells(&z->window[i], s, v, count);
            else {
                double ways = 1, degree = param_degree(z->window[i].param, v);
                for (int d = 1; d <= z->window[i].farthest; d++)
                    count[d] = fmax(1, ways *= degree / d);
            }
            for (int d = 1; d <= z->window[i].farthest; d++, weight *= z->window[i].ratio)
                sum += s->chance[d] = count[d] > 0 ? weight : 0;
            double moved = sum > 0 ? z->window[i].moved : 0;
            s->chance[0] = 1 - moved;
            s->density[0] = s->chance[0] * size;
            for (int d = 1; d <= z->window[i].farthest && sum > 0; d++) {
                s->chance[d] *= moved / sum;
                s->density[d] = count[d] > 0 ? s->chance[d] / count[d] * size : 0;
            }
            z->window[i].shells[k] = s;
        }
        z->value[z->count * params + i] = k;
    }
    return z->count++;
}

// A random walk that leads away at every step, in `v`. False: it came to an end earlier.
static bool walk_away(const struct param *p, const int32_t *from, int steps, struct rng *r,
                      int32_t *v)
{
    int32_t next[PARAM_MAX_WIDTH];
    size_t bytes = (size_t)p->width * sizeof *v;
    memcpy(v, from, bytes);
    for (int d = 1; d <= steps; d++) {
        int try = 0;
        do
            param_neighbour(p, v, (int)rng_below(r, (uint64_t)param_degree(p, v)), next);
        while (param_distance(p, from, next) != d && ++try < TRIES);
        if (try == TRIES)
            return false;
        memcpy(v, next, bytes);
    }
    return true;
}

void parzen_draw(const struct parzen *z, int i, int param, struct rng *r, struct config *out)
{
    const struct parzen_window *w = &z->window[param];
    int known = z->value[i * z->space->param_count + param];
    const struct shells *s = w->shells[known];
    struct config value;
    config_set_get(&w->known, known, &value);
    int steps = (int)rng_weighted(r, (size_t)w->farthest + 1, s->chance);
    int32_t *v = out->slot + w->param->offset;
    for (int try = 0; !walk_away(w->param, value.slot, steps, r, v) && try < TRIES; try++) {
    }
}

// From the k-th distinct value to all of them; what is looked at is mostly one that is known.
static const int16_t *known_distances(const struct parzen_window *w, int k)
{
    struct shells *s = w->shells[k];
    int width = w->param->width;
    const int32_t *row = w->known.row;
    for (int i = s->known_count; i < w->known.count; i++) {
        MEM_GROW(s->known, i, s->known_capacity);
        s->known[i] = distance(s, w->param, row + k * width, row + i * width);
        s->known_count++;
    }
    return s->known;
}

static void look_at(const struct parzen_window *w, const int32_t *v, double *near)
{
    const struct param *p = w->param;
    struct config key = {{0}};
    memcpy(key.slot, v, (size_t)p->width * sizeof *v);
    int known = config_set_find(&w->known, &key);
    const int16_t *to = known >= 0 ? known_distances(w, known) : NULL;
    for (int k = 0; k < w->known.count; k++) {
        int d = to ? to[k] : distance(w->shells[k], p, w->known.row + k * p->width, v);
        near[k] = d <= w->farthest ? w->shells[k]->density[d] : 0;
    }
}

void parzen_look(const struct parzen *z, const struct config *c, struct parzen_view *v)
{
    for (int i = 0; i < z->space->param_count; i++) {
        const struct parzen_window *w = &z->window[i];
        if (v->capacity[i] < w->known.count) {
            v->capacity[i] = 2 * w->known.count;
            v->near[i] = mem_resize(v->near[i], (size_t)v->capacity[i], sizeof *v->near[i]);
        }
        look_at(w, c->slot + w->param->offset, v->near[i]);
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
    DRAWS = 64, // for each candidate, before there are fewer of them
};

struct tpe {
    struct rounds rounds; // first: a strategy is a struct tpe
    struct rng rng;
    int starts, candidates, batch, again;
    double gamma;
    bool joint;
    struct parzen sample; // all that was given, and with `again` some of it several times
    struct parzen_view view;
    int good[MOST_GOOD], good_count; // of the sample, best first
    bool *is_good;                   // by place in the sample
    int *index;                      // of what was given, by place in the sample
    int added;                       // of what was given, how many are in the sample
    int capacity, index_capacity;
};

static struct strategy *create(const struct search_problem *problem, uint64_t seed,
                               const double *option, struct err *e)
{
    (void)e;
    struct tpe *t = mem_zero(1, sizeof *t);
    rounds_init(&t->rounds, problem);
    rng_seed(&t->rng, seed);
    t->starts = (int)option[OPTION_STARTS];
    t->gamma = option[OPTION_GAMMA];
    t->candidates = (int)option[OPTION_CANDIDATES];
    t->joint = option[OPTION_JOINT] != 0;
    t->batch = (int)option[OPTION_BATCH];
    t->again = (int)option[OPTION_AGAIN];
    parzen_init(&t->sample, problem->space, option[OPTION_MOVED]);
    return &t->rounds.base;
}

static double fitness_of(const struct tpe *t, int i)
{
    return t->index[i] < t->rounds.told ? t->rounds.fitness[t->index[i]] : 0;
}

// The best results of the sample take the places of the good ones.
static void split(struct tpe *t)
{
    int told = 0;
    for (int i = 0; i < t->sample.count; i++)
        told += t->index[i] < t->rounds.told;
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

static void sample_put(struct tpe *t, const struct config *c, int index)
{
    MEM_GROW(t->is_good, t->sample.count, t->capacity);
    MEM_GROW(t->index, t->sample.count, t->index_capacity);
    t->index[t->sample.count] = index;
    t->is_good[parzen_add(&t->sample, c)] = false;
}

static void sample_add(struct tpe *t)
{
    struct config c;
    while (t->added < t->rounds.visited.given.count) {
        config_set_get(&t->rounds.visited.given, t->added, &c);
        sample_put(t, &c, t->added++);
    }
}

// Of the good ones and the uniform density, which counts as one more: an index, or -1.
static int choose_origin(struct tpe *t)
{
    int k = (int)rng_below(&t->rng, (uint64_t)t->good_count + 1);
    return k < t->good_count ? t->good[k] : -1;
}

static void draw(struct tpe *t, struct config *c, int from[SPACE_MAX_PARAMS])
{
    const struct space *s = t->rounds.problem.space;
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

// Log of good / bad, a sum over the windows of [first, past) parameters; the uniform density is 1.
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

static double worth(struct tpe *t, const struct config *c)
{
    int params = t->rounds.problem.space->param_count;
    parzen_look(&t->sample, c, &t->view);
    if (t->joint)
        return log_ratio(t, 0, params);
    double sum = 0;
    for (int k = 0; k < params; k++)
        sum += log_ratio(t, k, k + 1);
    return sum;
}

// The best of the candidates. False: none was allowed.
static bool propose(struct tpe *t, struct config *best, int best_from[SPACE_MAX_PARAMS])
{
    double most = -INFINITY;
    int found = 0;
    for (int n = 0; n < t->candidates * DRAWS && found < t->candidates; n++) {
        struct config c;
        int from[SPACE_MAX_PARAMS];
        draw(t, &c, from);
        bool known = t->again && config_set_find(&t->rounds.visited.given, &c) >= 0;
        if (!known && !visited_allows(&t->rounds.visited, &c))
            continue;
        double value = worth(t, &c);
        if (found++ > 0 && value <= most)
            continue;
        most = value;
        *best = c;
        for (int i = 0; i < t->rounds.problem.space->param_count; i++)
            best_from[i] = from[i];
    }
    return found > 0;
}

static bool add_one(struct tpe *t)
{
    struct config c;
    int from[SPACE_MAX_PARAMS];
    bool starts = t->rounds.told < t->starts || t->good_count == 0;
    if (visited_warm(&t->rounds.visited, &c) || starts || !propose(t, &c, from))
        return rounds_draw(&t->rounds, &t->rng);
    for (int n = 0, index; (index = config_set_find(&t->rounds.visited.given, &c)) >= 0; n++) {
        if (n == t->again)
            return rounds_draw(&t->rounds, &t->rng);
        sample_put(t, &c, index);
        split(t);
        if (!propose(t, &c, from))
            return rounds_draw(&t->rounds, &t->rng);
    }
    rounds_add(&t->rounds, &c, from);
    return true;
}

static void make_round(void *self)
{
    struct tpe *t = self;
    sample_add(t);
    split(t);
    int size = t->rounds.told < t->starts ? t->starts - t->rounds.told : t->batch;
    for (int i = 0; i < size && add_one(t); i++)
        sample_add(t); // what is open is bad: the next one goes elsewhere
}

static enum ask ask(struct strategy *s, struct config *out)
{
    struct tpe *t = (struct tpe *)s;
    return rounds_ask(&t->rounds, out, make_round, t);
}

static void destroy(struct strategy *s)
{
    struct tpe *t = (struct tpe *)s;
    rounds_finish(&t->rounds);
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
    .create = create,
    .ask = ask,
    .tell = rounds_tell,
    .generation = rounds_generation,
    .origin = rounds_origin,
    .destroy = destroy,
};
