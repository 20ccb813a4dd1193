#include "search/evolution.h"

#include "base/mem.h"
#include "search/breed.h"

#include <math.h>
#include <stdlib.h>

enum { TRIES = 4 }; // children made for one wanted, at most
enum { CHUNK = 256 };

void evolution_add(struct evolution *v, const struct config *c)
{
    MEM_GROW(v->member, v->members, v->member_capacity);
    v->member[v->members++] = config_set_add(&v->pool, c, NULL);
}

static void score_new(struct evolution *v)
{
    struct config c[CHUNK];
    while (v->scored < v->pool.count) {
        int count = 0;
        for (; count < CHUNK && v->scored + count < v->pool.count; count++) {
            config_set_get(&v->pool, v->scored + count, &c[count]);
            MEM_GROW(v->value, v->scored + count, v->value_capacity);
        }
        v->score(v->self, c, count, v->value + v->scored);
        v->scored += count;
    }
}

// Running sums of the members' chances.
static double *sum_chances(const struct evolution *v)
{
    double *sum = mem_zero((size_t)v->members, sizeof *sum), total = 0;
    for (int i = 0; i < v->members; i++)
        sum[i] = total += fmax(0, (double)v->value[v->member[i]]);
    for (int i = 0; i < v->members && total <= 0; i++)
        sum[i] = i + 1;
    return sum;
}

static void draw_parent(const struct evolution *v, const double *sum, struct config *out)
{
    double at = rng_real(v->rng) * sum[v->members - 1];
    int low = 0, high = v->members - 1; // the first whose sum is above `at`
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (sum[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    config_set_get(&v->pool, v->member[low], out);
}

// False: nothing came of it.
static bool make_child(const struct evolution *v, const double *sum, struct config *child)
{
    struct config first, second;
    draw_parent(v, sum, &first);
    *child = first;
    if (rng_real(v->rng) < v->crossover) {
        draw_parent(v, sum, &second);
        breed_cross(v->space, v->rng, &first, &second, child);
    } else if (rng_real(v->rng) >= v->mutation) {
        return true;
    } else if (!breed_mutate(v->space, v->rng, child)) {
        return false;
    }
    return config_set_find(&v->pool, child) >= 0 || v->legal(v->self, child);
}

static void breed_generation(struct evolution *v)
{
    double *sum = sum_chances(v);
    int *child = mem_zero((size_t)v->population, sizeof *child), children = 0;
    for (int n = 0; n < v->population * TRIES && children < v->population; n++) {
        struct config c;
        if (make_child(v, sum, &c))
            child[children++] = config_set_add(&v->pool, &c, NULL);
    }
    free(sum);
    free(v->member);
    v->member = child;
    v->members = children;
    v->member_capacity = v->population;
}

void evolution_run(struct evolution *v, const atomic_bool *stop)
{
    score_new(v);
    for (int g = 0; g < v->generations && v->members > 0 && !*stop; g++) {
        breed_generation(v);
        score_new(v);
    }
}

struct scored {
    float value;
    int index;
};

static int compare(const void *a, const void *b)
{
    const struct scored *x = a, *y = b;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

void evolution_rank(const struct evolution *v, int *order)
{
    struct scored *all = mem_zero((size_t)v->pool.count, sizeof *all);
    for (int i = 0; i < v->pool.count; i++)
        all[i] = (struct scored){v->value[i], i};
    if (v->pool.count)
        qsort(all, (size_t)v->pool.count, sizeof *all, compare);
    for (int i = 0; i < v->pool.count; i++)
        order[i] = all[i].index;
    free(all);
}

void evolution_finish(struct evolution *v)
{
    config_set_finish(&v->pool);
    free(v->value);
    free(v->member);
}
