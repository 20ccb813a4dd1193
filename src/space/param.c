#include "space/param.h"

#include "base/json.h"
#include "space/kind.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Parameters whose value is one index into a list: discrete (a path) and categorical (a complete
// graph), and what the custom kind shares with them.

bool listed_check_count(const char *name, const char *what, int count, int most, struct err *e)
{
    if (count < 1 || count > most)
        return err_set(e, "parameter '%s': %d %s are not within 1..%d", name, count, what, most);
    return true;
}

static int compare_labels(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

const char *const *listed_copy_labels(struct arena *arena, const char *name, int count,
                                      const char *const *label, struct err *e)
{
    const char **copy = arena_zero(arena, (size_t)count, sizeof *copy);
    for (int i = 0; i < count; i++)
        copy[i] = arena_strdup(arena, label[i]);

    const char **sorted = mem_alloc((size_t)count * sizeof *sorted);
    memcpy(sorted, copy, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_labels);
    const char *twice = NULL;
    for (int i = 1; i < count && !twice; i++)
        if (str_equal(sorted[i - 1], sorted[i]))
            twice = sorted[i];
    free(sorted);
    if (twice) {
        err_set(e, "parameter '%s': '%s' is listed twice", name, twice);
        return NULL;
    }
    return copy;
}

double *listed_copy_numbers(struct arena *arena, const char *name, int count, const double *number,
                            struct err *e)
{
    size_t bytes = (size_t)count * sizeof(double);
    double *copy = arena_zero(arena, (size_t)count, sizeof *copy), *sorted = mem_alloc(bytes);
    memcpy(copy, number, bytes);
    memcpy(sorted, number, bytes);
    bool good = true;
    for (int i = 0; i < count && good; i++)
        if (!isfinite(number[i]))
            good = err_set(e, "parameter '%s': %g is not a finite number", name, number[i]);
    if (good)
        qsort(sorted, (size_t)count, sizeof *sorted, compare_numbers);
    for (int i = 1; i < count && good; i++)
        if (sorted[i - 1] == sorted[i])
            good = err_set(e, "parameter '%s': %.17g is listed twice", name, sorted[i]);
    free(sorted);
    return good ? copy : NULL;
}

bool param_discrete(struct param *p, struct arena *arena, const char *name, int count,
                    const double *number, struct err *e)
{
    if (!listed_check_count(name, "values", count, PARAM_MAX_VALUES, e))
        return false;
    double *copy = listed_copy_numbers(arena, name, count, number, e);
    if (!copy)
        return false;
    qsort(copy, (size_t)count, sizeof *copy, compare_numbers);
    *p = (struct param){
        .name = arena_strdup(arena, name),
        .kind = PARAM_DISCRETE,
        .width = 1,
        .count = count,
        .number = copy,
        .size = (uint64_t)count,
    };
    return true;
}

bool param_categorical(struct param *p, struct arena *arena, const char *name, int count,
                       const char *const *label, struct err *e)
{
    if (!listed_check_count(name, "values", count, PARAM_MAX_VALUES, e))
        return false;
    const char *const *copy = listed_copy_labels(arena, name, count, label, e);
    if (!copy)
        return false;
    *p = (struct param){
        .name = arena_strdup(arena, name),
        .kind = PARAM_CATEGORICAL,
        .width = 1,
        .count = count,
        .label = copy,
        .size = (uint64_t)count,
    };
    return true;
}

void listed_value(const struct param *p, uint64_t index, int32_t *out)
{
    (void)p;
    *out = (int32_t)index;
}

bool listed_valid(const struct param *p, const int32_t *v)
{
    return *v >= 0 && *v < p->count;
}

void listed_add_json(const struct param *p, const int32_t *v, struct str *out)
{
    if (p->label)
        json_add_string(out, p->label[*v]);
    else
        str_add_real(out, p->number[*v]);
}

static int discrete_degree(const struct param *p, const int32_t *v)
{
    return (*v > 0) + (*v < p->count - 1);
}

static void discrete_neighbour(const struct param *p, int k, int32_t *v)
{
    (void)p;
    *v += k == 0 && *v > 0 ? -1 : 1;
}

static void discrete_degree_range(const struct param *p, int *lowest, int *highest)
{
    *lowest = p->count > 1;
    *highest = p->count > 2 ? 2 : *lowest;
}

static int discrete_distance(const struct param *p, const int32_t *a, const int32_t *b)
{
    (void)p;
    return abs(*a - *b);
}

const struct kind kind_discrete = {
    .name = "discrete",
    .value = listed_value,
    .valid = listed_valid,
    .degree = discrete_degree,
    .neighbour = discrete_neighbour,
    .degree_range = discrete_degree_range,
    .distance = discrete_distance,
    .add_json = listed_add_json,
};

static int categorical_degree(const struct param *p, const int32_t *v)
{
    (void)v;
    return p->count - 1;
}

static void categorical_neighbour(const struct param *p, int k, int32_t *v)
{
    (void)p;
    *v = k < *v ? k : k + 1;
}

static void categorical_degree_range(const struct param *p, int *lowest, int *highest)
{
    *lowest = *highest = p->count - 1;
}

static int categorical_distance(const struct param *p, const int32_t *a, const int32_t *b)
{
    (void)p;
    return *a != *b;
}

const struct kind kind_categorical = {
    .name = "categorical",
    .value = listed_value,
    .valid = listed_valid,
    .degree = categorical_degree,
    .neighbour = categorical_neighbour,
    .degree_range = categorical_degree_range,
    .distance = categorical_distance,
    .add_json = listed_add_json,
};

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
            json_add_string(out, p->label[i]);
        else
            str_add_real(out, p->number[i]);
    }
    str_add(out, "]");
}
