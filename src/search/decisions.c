#include "search/decisions.h"

#include <stdlib.h>
#include <string.h>

enum { WIDEST = 1024, RADIX = 256 }; // PARAM_MAX_VALUES = RADIX * RADIX

static void decide(struct decisions *d, struct decision decision, int values)
{
    int room = d->capacity;
    MEM_GROW(d->decision, d->count, room);
    MEM_GROW(d->values, d->count, d->capacity);
    d->values[d->count] = values;
    d->decision[d->count++] = decision;
    d->all_values += values;
}

static void add_factorization(struct decisions *d, const struct param *p)
{
    for (int m = 0; m < p->prime_count; m++)
        for (int part = 0; part + 1 < p->width; part++)
            decide(d, (struct decision){DECISION_FACTORS, p, part, m}, p->exponent[m] + 1);
}

static void add_permutation(struct decisions *d, const struct param *p)
{
    for (int place = 0; place + 1 < p->count; place++)
        decide(d, (struct decision){DECISION_ITEM, p, place, 0}, p->count);
}

static void add_listed(struct decisions *d, const struct param *p)
{
    if (p->count > WIDEST) {
        decide(d, (struct decision){DECISION_HIGH, p, 0, 0}, (p->count + RADIX - 1) / RADIX);
        decide(d, (struct decision){DECISION_LOW, p, 0, 0}, RADIX);
    } else if (p->count > 1) {
        decide(d, (struct decision){DECISION_VALUE, p, 0, 0}, p->count);
    }
}

void decisions_init(struct decisions *d, const struct space *s)
{
    *d = (struct decisions){0};
    for (int i = 0; i < s->param_count; i++) {
        const struct param *p = &s->param[i];
        if (p->kind == PARAM_FACTORIZATION)
            add_factorization(d, p);
        else if (p->kind == PARAM_PERMUTATION)
            add_permutation(d, p);
        else
            add_listed(d, p);
    }
}

void decisions_finish(struct decisions *d)
{
    free(d->decision);
    free(d->values);
    *d = (struct decisions){0};
}

static void allow_factors(const struct decision *e, const int *choice, int values, bool *allowed)
{
    int rest = e->param->exponent[e->prime];
    for (int part = 1; part <= e->place; part++)
        rest -= choice[-part];
    for (int i = 0; i < values; i++)
        allowed[i] = i <= rest;
}

static void allow_items(const struct decision *e, const int *choice, int values, bool *allowed)
{
    for (int i = 0; i < values; i++)
        allowed[i] = true;
    for (int place = 1; place <= e->place; place++)
        allowed[choice[-place]] = false;
}

void decisions_allow(const struct decisions *d, int t, const int *choice, bool *allowed)
{
    const struct decision *e = &d->decision[t];
    int values = d->values[t];
    if (e->kind == DECISION_FACTORS) {
        allow_factors(e, choice + t, values, allowed);
    } else if (e->kind == DECISION_ITEM) {
        allow_items(e, choice + t, values, allowed);
    } else {
        int first = e->kind == DECISION_LOW ? choice[t - 1] * RADIX : 0;
        for (int i = 0; i < values; i++)
            allowed[i] = first + i < e->param->count;
    }
}

void decisions_allow_all(const struct decisions *d, const int *choice, bool *allowed)
{
    for (int t = 0; t < d->count; t++) {
        decisions_allow(d, t, choice, allowed);
        allowed += d->values[t];
    }
}

static int32_t power(int32_t base, int exponent)
{
    int32_t result = 1;
    while (exponent-- > 0)
        result *= base;
    return result;
}

// What no decision says yet: every part is 1, the items stand in their order, the index is 0.
static void start(const struct space *s, struct config *out)
{
    *out = (struct config){0};
    for (int i = 0; i < s->param_count; i++) {
        const struct param *p = &s->param[i];
        for (int k = 0; k < p->width && p->kind == PARAM_PERMUTATION; k++)
            out->slot[p->offset + k] = k;
        for (int k = 0; k < p->width && p->kind == PARAM_FACTORIZATION; k++)
            out->slot[p->offset + k] = k == p->width - 1 ? p->product : 1;
    }
}

// The item stands behind `place` until it is chosen; whom it replaces takes its place, so the last
// one is right when all others are.
static void put_item(int32_t *slot, int place, int32_t item)
{
    int at = place;
    while (slot[at] != item)
        at++;
    slot[at] = slot[place];
    slot[place] = item;
}

void decisions_config(const struct decisions *d, const struct space *s, const int *choice,
                      struct config *out)
{
    start(s, out);
    for (int t = 0; t < d->count; t++) {
        const struct decision *e = &d->decision[t];
        int32_t *slot = out->slot + e->param->offset;
        if (e->kind == DECISION_FACTORS) {
            int32_t factor = power(e->param->prime[e->prime], choice[t]);
            slot[e->place] *= factor;
            slot[e->param->width - 1] /= factor;
        } else if (e->kind == DECISION_ITEM) {
            put_item(slot, e->place, choice[t]);
        } else {
            *slot = (e->kind == DECISION_LOW ? *slot * RADIX : 0) + choice[t];
        }
    }
    space_settle(s, out);
}

static int choice_of(const struct decision *e, const int32_t *slot)
{
    switch (e->kind) {
    case DECISION_FACTORS: return factor_multiplicity(slot[e->place], e->param->prime[e->prime]);
    case DECISION_ITEM: return slot[e->place];
    case DECISION_HIGH: return *slot / RADIX;
    case DECISION_LOW: return *slot % RADIX;
    case DECISION_VALUE: break;
    }
    return *slot;
}

void decisions_of(const struct decisions *d, const struct config *c, int *choice)
{
    for (int t = 0; t < d->count; t++)
        choice[t] = choice_of(&d->decision[t], c->slot + d->decision[t].param->offset);
}
