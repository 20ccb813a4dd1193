#include "space/space.h"

#include "base/json.h"

#include <assert.h>
#include <gmp.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool config_equal(const struct config *a, const struct config *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

uint64_t config_hash(const struct config *c)
{
    return hash_bytes(c, sizeof *c);
}

void config_add_json(const struct space *s, const struct config *c, struct str *out)
{
    struct json_writer w = json_begin(out);
    for (int i = 0; i < s->param_count; i++) {
        if (!space_is_live(s, c, i))
            continue;
        json_add_name(&w, s->param[i].name);
        param_add_json(&s->param[i], c->slot + s->param[i].offset, out);
    }
    json_end(&w);
}

void config_add_key(const struct space *s, const struct config *c, struct str *out)
{
    for (int i = 0; i < s->slots; i++) {
        str_add(out, i > 0 ? "," : "");
        str_add_int(out, c->slot[i]);
    }
}

bool config_parse_key(const struct space *s, const char *key, struct config *out, struct err *e)
{
    *out = (struct config){0};
    char *text = mem_strdup(key), *at = text;
    bool is_read = true;
    for (int i = 0; i < s->slots && is_read; i++) {
        char *comma = strchr(at, ',');
        int64_t number = 0;
        if (comma)
            *comma = '\0';
        is_read = !comma == (i == s->slots - 1) && str_to_int(at, INT32_MIN, INT32_MAX, &number);
        out->slot[i] = (int32_t)number;
        at = comma ? comma + 1 : at;
    }
    free(text);
    if (!is_read)
        return err_set(e, "configuration '%s' is not %d numbers joined by commas", key, s->slots);
    for (int i = 0; i < s->param_count; i++)
        if (!param_valid(&s->param[i], out->slot + s->param[i].offset))
            return err_set(e, "configuration '%s' is not a point of space '%s': see parameter '%s'",
                           key, s->name, s->param[i].name);
    return true;
}

// --- sets of configurations ---

static size_t row_bytes(const struct config_set *s)
{
    return (size_t)s->slots * sizeof *s->row;
}

static int32_t *row_of(const struct config_set *s, int index)
{
    return s->row + (size_t)index * (size_t)s->slots;
}

// Returns the bucket that holds `row`, or the empty one for it. There is always an empty one.
static int *bucket_of(const struct config_set *s, const int32_t *row)
{
    size_t mask = (size_t)s->buckets - 1; // a power of two
    for (size_t b = hash_bytes(row, row_bytes(s)) & mask;; b = (b + 1) & mask) {
        int held = s->bucket[b];
        if (held == 0 || memcmp(row_of(s, held - 1), row, row_bytes(s)) == 0)
            return &s->bucket[b];
    }
}

int config_set_find(const struct config_set *s, const struct config *c)
{
    return s->count ? *bucket_of(s, c->slot) - 1 : -1;
}

int config_set_add(struct config_set *s, const struct config *c, bool *was_new)
{
    assert(s->slots > 0);
    if (2 * (s->count + 1) > s->buckets) {
        assert(s->buckets <= INT_MAX / 4); // at most half full
        s->buckets = s->buckets ? 2 * s->buckets : 64;
        free(s->bucket);
        s->bucket = mem_zero((size_t)s->buckets, sizeof *s->bucket);
        for (int i = 0; i < s->count; i++)
            *bucket_of(s, row_of(s, i)) = i + 1;
    }
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

// --- building a space ---

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

bool space_is_live(const struct space *s, const struct config *c, int param)
{
    int32_t choice = s->chooser < 0 ? 0 : c->slot[s->param[s->chooser].offset];
    return is_live_for(&s->param[param], choice);
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

// Adds the number of points with one choice.
static void count_points(const struct space *s, int choice, mpz_t sum)
{
    mpz_t product;
    mpz_init_set_ui(product, 1);
    for (int i = 0; i < s->param_count; i++)
        if (i != s->chooser && is_live_for(&s->param[i], choice)) {
            uint64_t factor = s->param[i].size;
            mpz_t f; // mpz_mul_ui takes a long, which may have 32 bits
            mpz_init(f);
            mpz_import(f, 1, 1, sizeof factor, 0, 0, &factor);
            mpz_mul(product, product, f);
            mpz_clear(f);
        }
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
    int choices = s->chooser < 0 ? 1 : s->param[s->chooser].count;
    for (int i = 0; i < choices; i++)
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

// --- points and their neighbours ---

void space_sample(const struct space *s, struct rng *r, struct config *out)
{
    *out = (struct config){0};
    for (int i = 0; i < s->param_count; i++)
        param_sample(&s->param[i], r, out->slot + s->param[i].offset);
    space_settle(s, out);
}

void space_point(const struct space *s, uint64_t index, struct config *out)
{
    assert(index < s->size);
    *out = (struct config){0};
    if (s->chooser >= 0) {
        // Points are numbered choice by choice: find the choice of the index-th point; `index`
        // becomes the number among the points of that choice.
        int choice = 0;
        mpz_t sum;
        mpz_init(sum);
        count_points(s, choice, sum);
        for (uint64_t points; index >= (points = saturated(sum)); index -= points) {
            mpz_set_ui(sum, 0);
            count_points(s, ++choice, sum);
        }
        mpz_clear(sum);
        out->slot[s->param[s->chooser].offset] = choice;
    }
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
