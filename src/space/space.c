#include "space/space.h"

#include <assert.h>
#include <gmp.h>
#include <stdio.h>
#include <stdlib.h>

struct space *space_create(const char *name)
{
    struct space *s = mem_zero(1, sizeof *s);
    arena_init(&s->arena);
    s->name = arena_strdup(&s->arena, name);
    return s;
}

void space_destroy(struct space *s)
{
    if (!s)
        return;
    arena_finish(&s->arena);
    free(s->constraint);
    free(s->size_text);
    free(s);
}

bool space_add(struct space *s, const struct param *p, struct err *e)
{
    if (space_find(s, p->name))
        return err_set(e, "parameter '%s' is declared twice", p->name);
    if (s->param_count == SPACE_MAX_PARAMS)
        return err_set(e, "parameter '%s': a space has at most %d parameters", p->name,
                       SPACE_MAX_PARAMS);
    if (s->slots + p->width > SPACE_MAX_SLOTS)
        return err_set(e, "parameter '%s': all parts, items and values of a space are at most %d",
                       p->name, SPACE_MAX_SLOTS);
    struct param *mine = &s->param[s->param_count++];
    *mine = *p;
    mine->offset = s->slots;
    s->slots += p->width;
    return true;
}

void space_add_constraint(struct space *s, const struct constraint *c)
{
    MEM_GROW(s->constraint, s->constraint_count, s->constraint_capacity);
    struct constraint *mine = &s->constraint[s->constraint_count++];
    *mine = *c;
    mine->name = arena_strdup(&s->arena, c->name);
    mine->file = c->file ? arena_strdup(&s->arena, c->file) : NULL;
}

static void multiply(mpz_t product, uint64_t factor)
{
    mpz_t f; // mpz_mul_ui takes a long, which may have 32 bits
    mpz_init(f);
    mpz_import(f, 1, 1, sizeof factor, 0, 0, &factor);
    mpz_mul(product, product, f);
    mpz_clear(f);
}

bool space_seal(struct space *s, struct err *e)
{
    if (s->param_count == 0)
        return err_set(e, "space '%s' has no parameters", s->name);
    mpz_t product;
    mpz_init_set_ui(product, 1);
    for (int i = 0; i < s->param_count; i++)
        multiply(product, s->param[i].size);
    s->size_text = mem_alloc(mpz_sizeinbase(product, 10) + 2);
    mpz_get_str(s->size_text, 10, product);
    s->size = UINT64_MAX;
    if (mpz_sizeinbase(product, 2) <= 64)
        mpz_export(&s->size, NULL, 1, sizeof s->size, 0, 0, product);
    mpz_clear(product);
    return true;
}

const struct param *space_find(const struct space *s, const char *name)
{
    for (int i = 0; i < s->param_count; i++)
        if (str_equal(s->param[i].name, name))
            return &s->param[i];
    return NULL;
}

void space_sample(const struct space *s, struct rng *r, struct config *out)
{
    *out = (struct config){0};
    for (int i = 0; i < s->param_count; i++)
        param_sample(&s->param[i], r, out->slot + s->param[i].offset);
}

void space_point(const struct space *s, uint64_t index, struct config *out)
{
    assert(index < s->size);
    *out = (struct config){0};
    for (int i = s->param_count - 1; i >= 0; i--) { // the last parameter changes fastest
        const struct param *p = &s->param[i];
        param_value(p, index % p->size, out->slot + p->offset);
        index /= p->size;
    }
}

void space_walk(const struct space *s, double q, struct rng *r, struct config *c)
{
    for (int i = 0; i < s->param_count; i++)
        param_walk(&s->param[i], q, r, c->slot + s->param[i].offset);
}

int space_degree(const struct space *s, const struct config *c)
{
    int degree = 0;
    for (int i = 0; i < s->param_count; i++)
        degree += param_degree(&s->param[i], c->slot + s->param[i].offset);
    return degree;
}

void space_neighbour(const struct space *s, const struct config *c, int k, struct config *out)
{
    *out = *c;
    const struct param *p = s->param;
    for (int degree; k >= (degree = param_degree(p, c->slot + p->offset)); p++)
        k -= degree;
    param_neighbour(p, c->slot + p->offset, k, out->slot + p->offset);
}

int space_distance(const struct space *s, const struct config *a, const struct config *b)
{
    int sum = 0;
    for (int i = 0; i < s->param_count; i++) {
        const struct param *p = &s->param[i];
        int distance = param_distance(p, a->slot + p->offset, b->slot + p->offset);
        if (distance < 0)
            return -1;
        sum += distance;
    }
    return sum;
}

bool space_judge(const struct space *s, const struct limits *l, const struct config *c,
                 struct verdict *v, struct err *e)
{
    *v = (struct verdict){.legal = true, .constraint = -1};
    for (int i = 0; i < s->constraint_count; i++) {
        const struct constraint *rule = &s->constraint[i];
        int holds = rule->holds(rule->context, c, e);
        if (holds < 0)
            return err_prefix(e, "constraint '%s'", rule->name);
        if (!holds) {
            v->legal = false;
            v->constraint = i;
            snprintf(v->reason, sizeof v->reason, "constraint '%s'", rule->name);
            return true;
        }
    }
    if (!l || !s->resources)
        return true;
    struct resources needs = {0};
    if (!s->resources(s->resources_context, c, &needs, e))
        return err_prefix(e, "resources");
    v->limits = limits_exceeded(l, &needs);
    v->legal = v->limits == 0;
    limits_explain(l, &needs, v->reason, sizeof v->reason);
    return true;
}
