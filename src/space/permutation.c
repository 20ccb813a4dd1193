// Orders of items: a value is a list of item indices, a move swaps two positions.
#include "space/kind.h"

#include "base/json.h"
#include <string.h>

bool param_permutation(struct param *p, struct arena *arena, const char *name, int count,
                       const char *const *label, struct err *e)
{
    if (!listed_check_count(name, "items", count, PARAM_MAX_WIDTH, e))
        return false;
    const char *const *copy = listed_copy_labels(arena, name, count, label, e);
    if (!copy)
        return false;
    *p = (struct param){
        .name = arena_strdup(arena, name),
        .kind = PARAM_PERMUTATION,
        .width = count,
        .count = count,
        .label = copy,
        .size = 1,
    };
    for (int i = 2; i <= count; i++)
        p->size *= (uint64_t)i;
    return true;
}

// Lexicographic: the leading item decides first.
static void value(const struct param *p, uint64_t index, int32_t *out)
{
    for (int i = 0; i < p->count; i++)
        out[i] = i;
    uint64_t orders = p->size; // of the items from position i on
    for (int i = 0; i < p->count; i++) {
        orders /= (uint64_t)(p->count - i);
        size_t pick = (size_t)(index / orders);
        index %= orders;
        int32_t item = out[(size_t)i + pick];
        memmove(out + i + 1, out + i, pick * sizeof *out);
        out[i] = item;
    }
}

static bool valid(const struct param *p, const int32_t *v)
{
    unsigned seen = 0;
    for (int i = 0; i < p->count; i++) {
        if (v[i] < 0 || v[i] >= p->count || (seen & 1u << v[i]))
            return false;
        seen |= 1u << v[i];
    }
    return true;
}

static int degree(const struct param *p, const int32_t *v)
{
    (void)v;
    return p->count * (p->count - 1) / 2;
}

static void neighbour(const struct param *p, int k, int32_t *v)
{
    int i = 0; // pairs (0,1) (0,2) .. (1,2) ..
    for (int pairs = p->count - 1; k >= pairs; pairs--) {
        k -= pairs;
        i++;
    }
    int j = i + 1 + k;
    int32_t item = v[i];
    v[i] = v[j];
    v[j] = item;
}

static void degree_range(const struct param *p, int *lowest, int *highest)
{
    *lowest = *highest = degree(p, NULL);
}

// Any swap joins or splits one cycle of the permutation that turns `a` into `b`, which must fall
// apart into n cycles.
static int distance(const struct param *p, const int32_t *a, const int32_t *b)
{
    int32_t place[PARAM_MAX_WIDTH]; // of each item in `a`
    for (int i = 0; i < p->count; i++)
        place[a[i]] = i;
    int cycles = 0;
    bool seen[PARAM_MAX_WIDTH] = {false};
    for (int i = 0; i < p->count; i++) {
        cycles += !seen[i];
        for (int j = i; !seen[j]; j = place[b[j]])
            seen[j] = true;
    }
    return p->count - cycles;
}

static void add_json(const struct param *p, const int32_t *v, struct str *out)
{
    for (int i = 0; i < p->count; i++) {
        str_add_char(out, i == 0 ? '[' : ',');
        json_add_string(out, p->label[v[i]]);
    }
    str_add_char(out, ']');
}

const struct kind kind_permutation = {
    .name = "permutation",
    .value = value,
    .valid = valid,
    .degree = degree,
    .neighbour = neighbour,
    .degree_range = degree_range,
    .distance = distance,
    .add_json = add_json,
};
