#include "spaces.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

enum { MAX_LISTED = 4096 };

static void add(struct space *s, bool built, const struct param *p)
{
    bool added = built && space_add(s, p, NULL);
    assert(added);
}

void add_factorization(struct space *s, const char *name, int64_t product, int parts)
{
    struct param p;
    add(s, param_factorization(&p, &s->arena, name, product, parts, NULL), &p);
}

static const char *const *number_labels(struct space *s, int count)
{
    const char **label = arena_zero(&s->arena, (size_t)count, sizeof *label);
    for (int i = 0; i < count; i++)
        label[i] = arena_printf(&s->arena, "%d", i);
    return label;
}

void add_permutation(struct space *s, const char *name, int count)
{
    struct param p;
    add(s, param_permutation(&p, &s->arena, name, count, number_labels(s, count), NULL), &p);
}

void add_discrete(struct space *s, const char *name, int count)
{
    double number[MAX_LISTED];
    assert(count <= MAX_LISTED);
    for (int i = 0; i < count; i++)
        number[i] = (double)i * i;
    struct param p;
    add(s, param_discrete(&p, &s->arena, name, count, number, NULL), &p);
}

void add_categorical(struct space *s, const char *name, int count)
{
    struct param p;
    add(s, param_categorical(&p, &s->arena, name, count, number_labels(s, count), NULL), &p);
}

static bool on_ring(void *context, int i, int j)
{
    int count = *(int *)context;
    return i != j && ((i + 1) % count == j || (j + 1) % count == i);
}

void add_ring(struct space *s, const char *name, int count)
{
    struct param p;
    const char *const *label = number_labels(s, count);
    add(s,
        param_custom(&p, &s->arena, name,
                     &(struct custom_graph){count, NULL, label, on_ring, &count}, NULL),
        &p);
}

struct space *sealed(struct space *s)
{
    bool good = space_seal(s, NULL);
    assert(good);
    return s;
}

struct space *space_mm(int n, int m, int k)
{
    struct space *s = space_create("mm");
    add_factorization(s, "tile_k", k, 3);
    add_factorization(s, "tile_n", n, 4);
    add_factorization(s, "tile_m", m, 4);
    return sealed(s);
}

struct space *space_mixed(void)
{
    struct space *s = space_create("mixed");
    add_factorization(s, "split", 4, 2);
    add_permutation(s, "order", 3);
    add_discrete(s, "unroll", 4);
    add_categorical(s, "layout", 3);
    add_ring(s, "ring", 5);
    return sealed(s);
}

struct space *space_of_one(void)
{
    struct space *s = space_create("one");
    add_factorization(s, "product", 1, 3);
    add_factorization(s, "part", 12, 1);
    add_permutation(s, "order", 1);
    add_discrete(s, "unroll", 1);
    add_categorical(s, "layout", 1);
    add_ring(s, "ring", 1);
    return sealed(s);
}

struct space *space_conditional(void)
{
    static const int32_t tile[] = {2, 4}, order[] = {0, 1, 2}, last[] = {1};
    struct space *s = space_create("conditional");
    add_categorical(s, "kind", 3);
    add_discrete(s, "always", 5);
    add_factorization(s, "tile", 8, 2);
    add_permutation(s, "order", 3);
    add_categorical(s, "switch", 2);
    add_categorical(s, "of two", 2);
    space_condition(s, 2, 0, 1, tile);
    space_condition(s, 3, 0, 2, order);
    space_condition(s, 4, 0, 5, last);
    space_condition(s, 5, 0, 2, last);
    return sealed(s);
}

struct space *space_24(void)
{
    struct space *s = space_create("24");
    add_categorical(s, "layout", 4);
    add_permutation(s, "order", 3);
    return sealed(s);
}

struct space *space_huge(void)
{
    struct space *s = space_create("huge");
    add_permutation(s, "first", 16);
    add_permutation(s, "second", 16);
    add_factorization(s, "split", 735134400, 16);
    return sealed(s);
}

double chi_square(int cells, const int *count, const double *probability)
{
    double total = 0, sum = 0;
    for (int i = 0; i < cells; i++)
        total += count[i];
    for (int i = 0; i < cells; i++) {
        double expected = total * probability[i];
        if (expected > 0)
            sum += (count[i] - expected) * (count[i] - expected) / expected;
        else if (count[i])
            return INFINITY;
    }
    return sum;
}

double chi_square_limit(int degrees_of_freedom)
{
    double d = 2.0 / (9 * degrees_of_freedom), z = 3.719;
    return degrees_of_freedom * pow(1 - d + z * sqrt(d), 3);
}
