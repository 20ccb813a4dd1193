#include "space/space.h"

#include <assert.h>
#include <gmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct space *space_create(const char *name)
{
    struct space *s = mem_zero(1, sizeof *s);
    arena_init(&s->arena);
    s->name = arena_strdup(&s->arena, name);
    s->chooser = -1;
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

void space_condition(struct space *s, int param, int chooser, uint64_t values, const int32_t *rest)
{
    struct param *p = &s->param[param];
    assert(param != chooser && s->param[chooser].kind == PARAM_CATEGORICAL &&
           s->param[chooser].count <= 64 && values && (s->chooser < 0 || s->chooser == chooser));
    s->chooser = chooser;
    p->when = values;
    memcpy(p->rest, rest, (size_t)p->width * sizeof *rest);
}

static bool is_live_for(const struct param *p, int32_t choice)
{
    return p->when == 0 || (p->when >> choice & 1);
}

static int32_t choice_of(const struct space *s, const struct config *c)
{
    return s->chooser < 0 ? 0 : c->slot[s->param[s->chooser].offset];
}

bool space_is_live(const struct space *s, const struct config *c, int param)
{
    return is_live_for(&s->param[param], choice_of(s, c));
}

void space_settle(const struct space *s, struct config *c)
{
    for (int i = 0; s->chooser >= 0 && i < s->param_count; i++) {
        const struct param *p = &s->param[i];
        if (!space_is_live(s, c, i))
            memcpy(c->slot + p->offset, p->rest, (size_t)p->width * sizeof *p->rest);
    }
}

bool space_is_settled(const struct space *s, const struct config *c)
{
    struct config settled = *c;
    space_settle(s, &settled);
    return config_equal(c, &settled);
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

static int choices(const struct space *s)
{
    return s->chooser < 0 ? 1 : s->param[s->chooser].count;
}

// Adds the points of one choice.
static void count_points(const struct space *s, int choice, mpz_t sum)
{
    mpz_t product;
    mpz_init_set_ui(product, 1);
    for (int i = 0; i < s->param_count; i++)
        if (i != s->chooser && is_live_for(&s->param[i], choice))
            multiply(product, s->param[i].size);
    mpz_add(sum, sum, product);
    mpz_clear(product);
}

static uint64_t saturated(const mpz_t number)
{
    uint64_t n = 0; // mpz_export writes nothing of 0
    if (mpz_sizeinbase(number, 2) > 64)
        return UINT64_MAX;
    mpz_export(&n, NULL, 1, sizeof n, 0, 0, number);
    return n;
}

bool space_seal(struct space *s, struct err *e)
{
    if (s->param_count == 0)
        return err_set(e, "space '%s' has no parameters", s->name);
    mpz_t sum;
    mpz_init(sum);
    for (int i = 0; i < choices(s); i++)
        count_points(s, i, sum);
    s->size_text = mem_alloc(mpz_sizeinbase(sum, 10) + 2);
    mpz_get_str(s->size_text, 10, sum);
    s->size = saturated(sum);
    mpz_clear(sum);
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
    space_settle(s, out);
}

// The choice that the index-th point has, choices one after the other; `index` becomes that among
// the points of the choice.
static int choice_at(const struct space *s, uint64_t *index)
{
    int choice = 0;
    mpz_t sum;
    mpz_init(sum);
    count_points(s, choice, sum);
    for (uint64_t points; *index >= (points = saturated(sum)); *index -= points) {
        mpz_set_ui(sum, 0);
        count_points(s, ++choice, sum);
    }
    mpz_clear(sum);
    return choice;
}

void space_point(const struct space *s, uint64_t index, struct config *out)
{
    assert(index < s->size);
    *out = (struct config){0};
    if (s->chooser >= 0)
        out->slot[s->param[s->chooser].offset] = choice_at(s, &index);
    for (int i = s->param_count - 1; i >= 0; i--) { // the last parameter changes fastest
        const struct param *p = &s->param[i];
        if (i == s->chooser || !space_is_live(s, out, i))
            continue;
        param_value(p, index % p->size, out->slot + p->offset);
        index /= p->size;
    }
    space_settle(s, out);
}

void space_walk(const struct space *s, double q, struct rng *r, struct config *c)
{
    for (int i = 0; i < s->param_count; i++)
        param_walk(&s->param[i], q, r, c->slot + s->param[i].offset);
    space_settle(s, c);
}

static int live_degree(const struct space *s, const struct config *c, int param)
{
    const struct param *p = &s->param[param];
    return space_is_live(s, c, param) ? param_degree(p, c->slot + p->offset) : 0;
}

int space_degree(const struct space *s, const struct config *c)
{
    int degree = 0;
    for (int i = 0; i < s->param_count; i++)
        degree += live_degree(s, c, i);
    return degree;
}

void space_step(const struct space *s, const struct config *c, int param, int k, struct config *out)
{
    const struct param *p = &s->param[param];
    *out = *c;
    param_neighbour(p, c->slot + p->offset, k, out->slot + p->offset);
    space_settle(s, out);
}

void space_neighbour(const struct space *s, const struct config *c, int k, struct config *out)
{
    int i = 0;
    for (int degree; k >= (degree = live_degree(s, c, i)); i++)
        k -= degree;
    space_step(s, c, i, k, out);
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
    *v = (struct verdict){.legal = space_is_settled(s, c), .constraint = -1};
    if (!v->legal) {
        snprintf(v->reason, sizeof v->reason, "a parameter that '%s' lacks is not at rest",
                 s->param[s->chooser].name);
        return true;
    }
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
