#include "carpet.h"

#include "text.h"

#include <float.h>
#include <stdlib.h>

bool factor_equal(const struct space *s, struct factor f, const struct config *a,
                  const struct config *b)
{
    const struct param *p = &s->param[f.param];
    bool live = space_is_live(s, a, f.param);
    if (live != space_is_live(s, b, f.param) || !live)
        return !live && !space_is_live(s, b, f.param);
    if (f.slot >= 0)
        return a->slot[p->offset + f.slot] == b->slot[p->offset + f.slot];
    return value_equal(p, a, b);
}

void carpet_init(struct carpet *c, const struct space *s)
{
    *c = (struct carpet){.space = s, .stride = 1};
    c->factors = s ? factor_list(s, c->factor) : 0;
}

void carpet_finish(struct carpet *c)
{
    free(c->moment);
    *c = (struct carpet){0};
}

double carpet_limit(const struct carpet *c)
{
    return c->best_count < CARPET_BEST ? DBL_MAX : c->best[CARPET_BEST - 1].seconds;
}

// --- a moment ---

// Finds the most frequent value of one factor.
static void find_value(const struct carpet *c, int i, struct moment *m)
{
    int most = 0, which = 0;
    for (int k = 0; k < c->best_count; k++) {
        int agree = 0;
        for (int j = 0; j < c->best_count; j++)
            agree += factor_equal(c->space, c->factor[i], &c->best[k].config, &c->best[j].config);
        if (agree > most) {
            most = agree;
            which = k;
        }
    }
    const struct param *p = &c->space->param[c->factor[i].param];
    const struct config *from = &c->best[which].config;
    int first = c->factor[i].slot >= 0 ? c->factor[i].slot : 0;
    int past = c->factor[i].slot >= 0 ? first + 1 : p->width;
    for (int slot = p->offset + first; slot < p->offset + past; slot++)
        m->value.slot[slot] = from->slot[slot];
    m->agree[i] = (uint8_t)most;
    if (!space_is_live(c->space, from, c->factor[i].param))
        m->absent |= UINT64_C(1) << i;
}

static struct moment moment_of(const struct carpet *c, const struct trial *t)
{
    struct moment m = {.number = t->number,
                       .generation = t->generation,
                       .elapsed_s = t->elapsed_s,
                       .finished = t->finished,
                       .count = c->best_count};
    for (int k = 0; k < c->best_count; k++)
        m.ask[k] = c->best[k].ask;
    for (int i = 0; i < c->factors; i++)
        find_value(c, i, &m);
    return m;
}

// --- all of them ---

static int64_t place_of(const struct carpet *c, const struct moment *m)
{
    return (m->number - 1) / c->stride;
}

// Keeps the last moment of every `stride` numbers.
static void thin_out(struct carpet *c)
{
    int kept = 0;
    c->stride *= 2;
    for (int i = 0; i < c->count; i++) {
        if (kept > 0 && place_of(c, &c->moment[kept - 1]) == place_of(c, &c->moment[i]))
            kept--;
        c->moment[kept++] = c->moment[i];
    }
    c->count = kept;
}

void carpet_add(struct carpet *c, const struct trial *t)
{
    if (!c->space || !t->has_config || !(t->seconds > 0) || t->seconds >= carpet_limit(c))
        return;
    int at = c->best_count < CARPET_BEST ? c->best_count++ : CARPET_BEST - 1;
    for (; at > 0 && c->best[at - 1].seconds > t->seconds; at--)
        c->best[at] = c->best[at - 1];
    c->best[at] = (struct carpet_best){t->ask, t->seconds, t->config};
    struct moment m = moment_of(c, t);
    if (c->count > 0 && place_of(c, &c->moment[c->count - 1]) == place_of(c, &m))
        c->count--;
    while (c->count == CARPET_MOST)
        thin_out(c);
    MEM_GROW(c->moment, c->count, c->capacity);
    c->moment[c->count++] = m;
}

// Returns how many moments are at that number or before it.
static int count_until(const struct carpet *c, int64_t number)
{
    int low = 0, high = c->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (c->moment[middle].number <= number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct moment *carpet_at(const struct carpet *c, int64_t number)
{
    int count = count_until(c, number);
    return count > 0 ? &c->moment[count - 1] : NULL;
}

int64_t carpet_step(const struct carpet *c, int64_t number, bool forward)
{
    int last = c->count - 1;
    if (last < 0)
        return 0;
    bool by_generation = c->moment[0].generation != c->moment[last].generation;
    int i = number > 0 ? count_until(c, number) - 1 : last;
    do
        i += forward ? 1 : -1;
    while (i >= 0 && i < last && by_generation &&
           c->moment[i].generation == c->moment[i + 1].generation);
    if (i < 0)
        return number; // it is at the first one
    return i >= last ? 0 : c->moment[i].number;
}
