#include "importance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- statistics ---

struct ranked {
    double value;
    int index;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->index - y->index;
}

void rank_values(const double *value, int n, double *rank)
{
    struct ranked *order = mem_alloc((size_t)n * sizeof *order);
    for (int i = 0; i < n; i++)
        order[i] = (struct ranked){value[i], i};
    qsort(order, (size_t)n, sizeof *order, compare_ranked);
    for (int first = 0, end; first < n; first = end) {
        for (end = first; end < n && order[end].value == order[first].value; end++)
            ;
        for (int i = first; i < end; i++)
            rank[order[i].index] = (first + 1 + end) / 2.0;
    }
    free(order);
}

struct keyed {
    uint64_t key;
    double value;
};

static int compare_keyed(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value); // the same sums in any order
}

// Sums of squares between groups and in all, about the mean.
static void sum_squares(const struct keyed *item, int n, double mean, double *between,
                        double *total, int *groups)
{
    *between = *total = 0;
    *groups = 0;
    for (int first = 0, end; first < n; first = end) {
        double sum = 0;
        for (end = first; end < n && item[end].key == item[first].key; end++) {
            double away = item[end].value - mean;
            sum += away;
            *total += away * away;
        }
        *between += sum * sum / (end - first);
        ++*groups;
    }
}

double explained_share(const double *value, const uint64_t *key, int n, int *groups)
{
    struct keyed *item = mem_alloc((size_t)n * sizeof *item);
    double mean = 0, between, total;
    int k;
    for (int i = 0; i < n; i++) {
        item[i] = (struct keyed){key[i], value[i]};
        mean += value[i] / n;
    }
    qsort(item, (size_t)n, sizeof *item, compare_keyed);
    sum_squares(item, n, mean, &between, &total, &k);
    free(item);
    if (groups)
        *groups = k;
    if (k >= n || !(total > 0))
        return 0;
    double share = 1 - (1 - between / total) * (n - 1) / (n - k);
    return share > 0 ? share < 1 ? share : 1 : 0;
}

// --- the sample ---

void importance_init(struct importance *i, const struct space *s)
{
    *i = (struct importance){.space = s};
    i->speed = mem_alloc(IMPORTANCE_SAMPLE * sizeof *i->speed);
    i->rank = mem_alloc(IMPORTANCE_SAMPLE * sizeof *i->rank);
    i->slot = mem_zero((size_t)IMPORTANCE_SAMPLE * (size_t)s->slots, sizeof *i->slot);
    rng_seed(&i->rng, 1);
}

void importance_finish(struct importance *i)
{
    free(i->speed);
    free(i->rank);
    free(i->slot);
    *i = (struct importance){0};
}

static int32_t *slots_of(const struct importance *i, int kept)
{
    return i->slot + (size_t)kept * (size_t)i->space->slots;
}

void importance_add(struct importance *i, const struct config *c, double speed)
{
    int64_t at = i->added++;
    if (at >= IMPORTANCE_SAMPLE)
        at = (int64_t)rng_below(&i->rng, (uint64_t)i->added);
    if (at >= IMPORTANCE_SAMPLE)
        return;
    i->busy &= at >= i->sampled; // what is being worked on changed
    i->kept += at == i->kept;
    i->speed[at] = speed;
    memcpy(slots_of(i, (int)at), c->slot, (size_t)i->space->slots * sizeof *c->slot);
}

// --- entries ---

// Whole parameters and, of those that have several, parts.
static int list_entries(const struct space *s, struct importance_entry *out)
{
    struct factor factor[SPACE_MAX_SLOTS];
    int factors = factor_list(s, factor), count = 0;
    for (int i = 0; i < factors; i++) {
        if (factor[i].slot == 0)
            out[count++].factor = (struct factor){factor[i].param, -1};
        out[count++].factor = factor[i];
    }
    return count;
}

static uint64_t key_of(const struct importance *i, int kept, struct factor f)
{
    const struct param *p = &i->space->param[f.param];
    const int32_t *v = slots_of(i, kept) + p->offset;
    if (f.slot >= 0)
        return (uint64_t)v[f.slot];
    return p->width == 1 ? (uint64_t)v[0] : hash_bytes(v, (size_t)p->width * sizeof *v);
}

static void make_entry(struct importance *i, struct importance_entry *entry)
{
    uint64_t *key = mem_alloc((size_t)i->sampled * sizeof *key);
    for (int n = 0; n < i->sampled; n++)
        key[n] = key_of(i, n, entry->factor);
    entry->share = explained_share(i->rank, key, i->sampled, &entry->values);
    free(key);
}

static int compare_entries(const void *a, const void *b)
{
    const struct importance_entry *x = a, *y = b;
    if (x->share != y->share)
        return x->share > y->share ? -1 : 1;
    if (x->factor.param != y->factor.param)
        return x->factor.param - y->factor.param;
    return x->factor.slot - y->factor.slot;
}

static void start(struct importance *i)
{
    i->busy = true;
    i->next = 0;
    i->started_at = i->added;
    i->sampled = i->kept;
    rank_values(i->speed, i->sampled, i->rank);
}

static bool is_due(const struct importance *i)
{
    int64_t fresh = i->added - i->used;
    return fresh > 0 && fresh >= i->used / 20;
}

bool importance_step(struct importance *i)
{
    struct importance_entry all[FACTORS_MOST];
    int count = list_entries(i->space, all);
    if (!i->busy) {
        if (is_due(i))
            start(i);
        return i->busy;
    }
    if (i->next < count) {
        i->made[i->next] = all[i->next];
        make_entry(i, &i->made[i->next++]);
        return true;
    }
    memcpy(i->entry, i->made, (size_t)count * sizeof *i->entry);
    qsort(i->entry, (size_t)count, sizeof *i->entry, compare_entries);
    i->count = count;
    i->used = i->started_at;
    i->busy = false;
    return is_due(i);
}

double importance_of(const struct importance *i, struct factor f)
{
    for (int n = 0; n < i->count; n++)
        if (i->entry[n].factor.param == f.param && i->entry[n].factor.slot == f.slot)
            return i->entry[n].share;
    return NAN;
}
