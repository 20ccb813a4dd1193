#include "search/parzen.h"

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

static int widest(const struct param *p)
{
    int most = 1;
    switch (p->kind) {
    case PARAM_FACTORIZATION:
        most = 0;
        for (int m = 0; m < p->prime_count; m++)
            most += p->exponent[m];
        break;
    case PARAM_PERMUTATION:
    case PARAM_DISCRETE:
    case PARAM_CUSTOM: most = p->count - 1; break;
    case PARAM_CATEGORICAL: break;
    }
    return most < FARTHEST ? most : FARTHEST;
}

void parzen_init(struct parzen *z, const struct space *space, double moved)
{
    *z = (struct parzen){.space = space};
    z->window = mem_zero((size_t)space->param_count, sizeof *z->window);
    for (int i = 0; i < space->param_count; i++) {
        struct parzen_window *w = &z->window[i];
        w->param = &space->param[i];
        w->moved = fmin(moved / space->param_count, MOST_MOVED);
        w->farthest = widest(w->param);
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

static void guess_shells(const struct parzen_window *w, const int32_t *v, double *count)
{
    double ways = 1, degree = param_degree(w->param, v);
    for (int d = 1; d <= w->farthest; d++)
        count[d] = fmax(1, ways *= degree / d);
}

static struct shells *shells_create(const struct parzen_window *w, const int32_t *v)
{
    const struct param *p = w->param;
    struct shells *s = mem_zero(1, sizeof *s);
    double count[FARTHEST + 1] = {0}, sum = 0, weight = 1, size = fmin((double)p->size, LARGEST);
    if (p->kind == PARAM_CUSTOM)
        s->distance = mem_zero((size_t)p->count, sizeof *s->distance);
    if (p->size <= COUNTED)
        count_shells(w, s, v, count);
    else
        guess_shells(w, v, count);
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

static int window_add(struct parzen_window *w, const int32_t *v)
{
    struct config key = {{0}};
    memcpy(key.slot, v, (size_t)w->param->width * sizeof *v);
    bool is_new;
    int k = config_set_add(&w->known, &key, &is_new);
    if (is_new) {
        MEM_GROW(w->shells, k, w->capacity);
        w->shells[k] = shells_create(w, v);
    }
    return k;
}

int parzen_add(struct parzen *z, const struct config *c)
{
    int params = z->space->param_count;
    if (z->count == z->capacity) {
        z->capacity = z->capacity ? 2 * z->capacity : 64;
        z->value = mem_resize(z->value, (size_t)z->capacity * (size_t)params, sizeof *z->value);
    }
    for (int i = 0; i < params; i++)
        z->value[z->count * params + i] =
            window_add(&z->window[i], c->slot + z->space->param[i].offset);
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
