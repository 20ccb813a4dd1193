#include "view_trials_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLICE       500
#define LEAST_MERGE 256
#define MOST_FRESH  8192
// Ranks are searched at these many places around the last one, and by halves when there are fewer.
#define NEAR_RANKS   32
#define MOST_HALVING 100000

void rows_start(struct rows *r, const struct model *m, const struct order *o)
{
    rows_finish(r);
    r->order = *o;
    bool all = !o->filter && !o->rejected;
    r->kind = all && o->by.kind == COLUMN_NUMBER                   ? ROWS_NUMBERED
              : all && o->by.kind == COLUMN_SPEED && o->descending ? ROWS_RANKED
                                                                   : ROWS_LISTED;
    scan_start(&r->scan, m);
    r->more = r->kind == ROWS_LISTED;
}

void rows_finish(struct rows *r)
{
    free(r->entry);
    free(r->fresh);
    words_finish(&r->words);
    *r = (struct rows){0};
}

// --- the list ---

static struct rows_entry entry_of(struct rows *r, const struct trial *t)
{
    double key = column_key(&r->order.by, t, &r->words);
    return (struct rows_entry){isnan(key) ? INFINITY : r->order.descending ? -key : key, t->ask};
}

static bool is_wanted(const struct rows *r, const struct trial *t)
{
    if (t->told == 0 || (t->number == 0 && !r->order.rejected))
        return false;
    return !r->order.filter || filter_accepts(r->order.filter, t);
}

static void take(void *context, const struct trial *t)
{
    struct rows *r = context;
    if (!is_wanted(r, t))
        return;
    MEM_GROW(r->fresh, r->fresh_count, r->fresh_capacity);
    r->fresh[r->fresh_count++] = entry_of(r, t);
}

static int compare(const void *a, const void *b)
{
    const struct rows_entry *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->ask > y->ask) - (x->ask < y->ask);
}

// How many of the first `count` entries come before `e`.
static int64_t place_of(const struct rows *r, int64_t count, const struct rows_entry *e)
{
    int64_t low = 0;
    while (low < count) {
        int64_t middle = low + (count - low) / 2;
        if (compare(&r->entry[middle], e) < 0)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

static void reserve(struct rows *r, int64_t count)
{
    if (r->capacity >= count)
        return;
    r->capacity = count > 2 * r->capacity ? count : 2 * r->capacity;
    r->entry = mem_resize(r->entry, (size_t)r->capacity, sizeof *r->entry);
}

// From the end: each new entry goes to its place, and what lies behind it moves once.
static void merge(struct rows *r)
{
    if (r->fresh_count == 0)
        return;
    qsort(r->fresh, (size_t)r->fresh_count, sizeof *r->fresh, compare);
    reserve(r, r->count + r->fresh_count);
    int64_t end = r->count;
    for (int64_t i = r->fresh_count - 1; i >= 0; i--) {
        int64_t place = place_of(r, end, &r->fresh[i]);
        memmove(r->entry + place + i + 1, r->entry + place,
                (size_t)(end - place) * sizeof *r->entry);
        r->entry[place + i] = r->fresh[i];
        end = place;
    }
    r->count += r->fresh_count;
    r->fresh_count = 0;
}

bool rows_step(struct rows *r, struct model *m)
{
    if (r->kind != ROWS_LISTED)
        return false;
    r->more = scan_step(&r->scan, m, SLICE, take, r);
    int64_t due = r->count / 8 < MOST_FRESH ? r->count / 8 : MOST_FRESH;
    if (!r->more || r->fresh_count >= (due > LEAST_MERGE ? due : LEAST_MERGE))
        merge(r);
    return r->more;
}

// --- places ---

int64_t rows_count(const struct rows *r, const struct model *m)
{
    switch (r->kind) {
    case ROWS_NUMBERED: return m->open.last_number;
    case ROWS_RANKED: return m->open.tally[OUTCOME_OK];
    default: return r->count;
    }
}

const struct trial *rows_at(const struct rows *r, struct model *m, int64_t place)
{
    if (place < 0 || place >= rows_count(r, m))
        return NULL;
    switch (r->kind) {
    case ROWS_NUMBERED:
        return model_trial_numbered(m,
                                    r->order.descending ? m->open.last_number - place : place + 1);
    case ROWS_RANKED: return model_trial_ranked(m, place);
    default: return model_trial(m, r->entry[place].ask);
    }
}

static bool is_ranked_at(struct model *m, int64_t ask, int64_t place)
{
    const struct trial *t = model_trial_ranked(m, place);
    return t && t->ask == ask;
}

static int64_t find_near(struct model *m, int64_t ask, int64_t near)
{
    for (int64_t by = 0; by < NEAR_RANKS; by++) {
        if (is_ranked_at(m, ask, near + by))
            return near + by;
        if (near >= by && is_ranked_at(m, ask, near - by))
            return near - by;
    }
    return -1;
}

// Trials of equal rank are in the order asked.
static int64_t find_by_halves(struct model *m, struct rank rank, int64_t ask)
{
    int64_t low = 0, high = m->open.tally[OUTCOME_OK];
    while (low < high) {
        int64_t middle = (low + high) / 2;
        const struct trial *t = model_trial_ranked(m, middle);
        struct rank other = t ? trial_rank(t) : (struct rank){0, false};
        if (rank_is_better(other, rank) || (!rank_is_better(rank, other) && t && t->ask < ask))
            low = middle + 1;
        else
            high = middle;
    }
    return is_ranked_at(m, ask, low) ? low : -1;
}

static int64_t find_listed(struct rows *r, const struct trial *t)
{
    if (!is_wanted(r, t))
        return -1;
    struct rows_entry e = entry_of(r, t);
    int64_t place = place_of(r, r->count, &e);
    return place < r->count && r->entry[place].ask == t->ask ? place : -1;
}

int64_t rows_find(struct rows *r, struct model *m, int64_t ask, int64_t near)
{
    const struct trial *t = model_trial(m, ask);
    if (!t)
        return -1;
    if (r->kind == ROWS_LISTED)
        return find_listed(r, t);
    if (r->kind == ROWS_NUMBERED) {
        if (t->number == 0)
            return -1;
        return r->order.descending ? m->open.last_number - t->number : t->number - 1;
    }
    struct rank rank = trial_rank(t);
    if (rank.seconds <= 0)
        return -1;
    int64_t found = find_near(m, ask, near);
    if (found >= 0 || m->open.tally[OUTCOME_OK] > MOST_HALVING)
        return found;
    return find_by_halves(m, rank, ask);
}
