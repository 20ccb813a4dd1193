#include "space/space.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static size_t row_bytes(const struct config_set *s)
{
    return (size_t)s->slots * sizeof *s->row;
}

static int32_t *row_of(const struct config_set *s, int index)
{
    return s->row + (size_t)index * (size_t)s->slots;
}

// The bucket that holds `row`, or the empty one where it belongs. There is always an empty one.
static int *bucket_of(const struct config_set *s, const int32_t *row)
{
    size_t mask = (size_t)s->buckets - 1; // a power of two
    for (size_t b = hash_bytes(row, row_bytes(s)) & mask;; b = (b + 1) & mask) {
        int held = s->bucket[b];
        if (held == 0 || memcmp(row_of(s, held - 1), row, row_bytes(s)) == 0)
            return &s->bucket[b];
    }
}

static void grow_buckets(struct config_set *s)
{
    assert(s->buckets <= INT_MAX / 4);
    s->buckets = s->buckets ? 2 * s->buckets : 64;
    free(s->bucket);
    s->bucket = mem_zero((size_t)s->buckets, sizeof *s->bucket);
    for (int i = 0; i < s->count; i++)
        *bucket_of(s, row_of(s, i)) = i + 1;
}

int config_set_find(const struct config_set *s, const struct config *c)
{
    return s->count ? *bucket_of(s, c->slot) - 1 : -1;
}

int config_set_add(struct config_set *s, const struct config *c, bool *was_new)
{
    assert(s->slots > 0);
    if (2 * (s->count + 1) > s->buckets) // at most half full
        grow_buckets(s);
    int *bucket = bucket_of(s, c->slot);
    bool is_new = *bucket == 0;
    if (was_new)
        *was_new = is_new;
    if (is_new) {
        if (s->count == s->capacity) {
            s->capacity = s->capacity ? 2 * s->capacity : 32;
            s->row = mem_resize(s->row, (size_t)s->capacity, row_bytes(s));
        }
        memcpy(row_of(s, s->count), c->slot, row_bytes(s));
        *bucket = ++s->count;
    }
    return *bucket - 1;
}

void config_set_get(const struct config_set *s, int index, struct config *out)
{
    assert(index >= 0 && index < s->count);
    *out = (struct config){0};
    memcpy(out->slot, row_of(s, index), row_bytes(s));
}

void config_set_finish(struct config_set *s)
{
    free(s->row);
    free(s->bucket);
    *s = (struct config_set){.slots = s->slots};
}
