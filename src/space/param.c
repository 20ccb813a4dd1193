#include "space/param.h"

#include "space/kind.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

static const struct kind *kind_of(const struct param *p)
{
    static const struct kind *const kinds[] = {
        [PARAM_FACTORIZATION] = &kind_factorization,
        [PARAM_PERMUTATION] = &kind_permutation,
        [PARAM_DISCRETE] = &kind_discrete,
        [PARAM_CATEGORICAL] = &kind_categorical,
        [PARAM_CUSTOM] = &kind_custom,
    };
    return kinds[p->kind];
}

const char *param_kind_name(enum param_kind k)
{
    return kind_of(&(struct param){.kind = k})->name;
}

uint64_t param_size(const struct param *p)
{
    return p->size;
}

char *param_size_text(const struct param *p)
{
    return mem_printf("%" PRIu64, p->size);
}

void param_value(const struct param *p, uint64_t index, int32_t *out)
{
    assert(index < p->size);
    kind_of(p)->value(p, index, out);
}

void param_sample(const struct param *p, struct rng *r, int32_t *out)
{
    param_value(p, rng_below(r, p->size), out);
}

bool param_valid(const struct param *p, const int32_t *v)
{
    return kind_of(p)->valid(p, v);
}

int param_degree(const struct param *p, const int32_t *v)
{
    return kind_of(p)->degree(p, v);
}

void param_neighbour(const struct param *p, const int32_t *v, int k, int32_t *out)
{
    assert(k >= 0 && k < param_degree(p, v));
    memmove(out, v, (size_t)p->width * sizeof *out);
    kind_of(p)->neighbour(p, k, out);
}

void param_degree_range(const struct param *p, int *lowest, int *highest)
{
    kind_of(p)->degree_range(p, lowest, highest);
}

int param_walk(const struct param *p, double q, struct rng *r, int32_t *v)
{
    const struct kind *kind = kind_of(p);
    for (int steps = 0;; steps++) {
        if (rng_real(r) >= q)
            return steps;
        int degree = kind->degree(p, v);
        if (degree == 0)
            return steps;
        kind->neighbour(p, (int)rng_below(r, (uint64_t)degree), v);
    }
}

int param_distance(const struct param *p, const int32_t *a, const int32_t *b)
{
    return kind_of(p)->distance(p, a, b);
}

void param_add_json(const struct param *p, const int32_t *v, struct str *out)
{
    kind_of(p)->add_json(p, v, out);
}

void param_add_listed_json(const struct param *p, struct str *out)
{
    str_add(out, "[");
    for (int i = 0; i < p->count; i++) {
        str_add(out, i ? "," : "");
        if (p->label)
            str_add_json(out, p->label[i]);
        else
            str_add_real(out, p->number[i]);
    }
    str_add(out, "]");
}
