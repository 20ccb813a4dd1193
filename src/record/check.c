// Conditions against what is recorded.
#include "record/record.h"

#include <stdlib.h>

#define MOST_POINTS (UINT64_C(1) << 28)

// For each parameter of the recording: which one of the rules it is, and where its values are
// there (-1: not declared there).
struct mapping {
    const struct param *to[SPACE_MAX_PARAMS]; // NULL: a constant that the rules do not know
    int32_t *slot[SPACE_MAX_PARAMS];
};

static bool same_value(const struct param *a, int i, const struct param *b, int j)
{
    if (a->label && b->label)
        return str_equal(a->label[i], b->label[j]);
    return a->number && b->number && a->number[i] == b->number[j];
}

static int32_t find_value(const struct param *from, int i, const struct param *to)
{
    for (int j = 0; j < to->count; j++)
        if (same_value(from, i, to, j))
            return j;
    return -1;
}

static bool is_listed(const struct param *p)
{
    return p->kind != PARAM_FACTORIZATION && p->kind != PARAM_PERMUTATION;
}

static bool map_param(const struct param *from, const struct param *to, int32_t **slot,
                      struct err *e)
{
    if (!to)
        return from->size == 1 ||
               err_set(e, "the conditions' file does not declare parameter '%s'", from->name);
    if (!is_listed(from) || !is_listed(to))
        return err_set(e, "parameter '%s' is no list of values", from->name);
    *slot = mem_alloc((size_t)from->count * sizeof **slot);
    for (int i = 0; i < from->count; i++)
        (*slot)[i] = find_value(from, i, to);
    return true;
}

static bool make_mapping(const struct space *from, const struct space *to, struct mapping *m,
                         struct err *e)
{
    *m = (struct mapping){0};
    for (int i = 0; i < from->param_count; i++) {
        m->to[i] = space_find(to, from->param[i].name);
        if (!map_param(&from->param[i], m->to[i], &m->slot[i], e))
            return false;
    }
    for (int i = 0; i < to->param_count; i++)
        if (to->param[i].size != 1 && !space_find(from, to->param[i].name))
            return err_set(e, "the recording has no parameter '%s'", to->param[i].name);
    return true;
}

static void release(const struct space *from, struct mapping *m)
{
    for (int i = 0; i < from->param_count; i++)
        free(m->slot[i]);
}

// Into the rules' space; false: a value is not declared there.
static bool translate(const struct space *from, const struct mapping *m, const struct config *c,
                      struct config *out)
{
    *out = (struct config){0}; // constants that only the rules have: their only value
    for (int i = 0; i < from->param_count; i++) {
        if (!m->to[i])
            continue;
        int32_t slot = m->slot[i][c->slot[from->param[i].offset]];
        if (slot < 0)
            return false;
        out->slot[m->to[i]->offset] = slot;
    }
    return true;
}

static bool look_at(const struct recording *r, const struct space *rules, const struct mapping *m,
                    const struct config *c, struct record_agreement *out, struct err *e)
{
    struct config there;
    struct verdict verdict = {.legal = false};
    if (translate(r->space, m, c, &there) && !space_judge(rules, NULL, &there, &verdict, e))
        return false;
    bool recorded = recording_find(r, c) != NULL;
    out->points++;
    out->legal += verdict.legal;
    out->legal_absent += verdict.legal && !recorded;
    out->illegal_record += !verdict.legal && recorded;
    if (verdict.legal != recorded)
        out->example = *c;
    return true;
}

bool recording_check(const struct recording *r, const struct space *rules,
                     struct record_agreement *out, struct err *e)
{
    struct mapping m;
    *out = (struct record_agreement){0};
    if (r->space->size > MOST_POINTS)
        return err_set(e, "a space of %s points is too large to look at all of them",
                       r->space->size_text);
    bool ok = make_mapping(r->space, rules, &m, e);
    for (uint64_t i = 0; ok && i < r->space->size; i++) {
        struct config c;
        space_point(r->space, i, &c);
        ok = look_at(r, rules, &m, &c, out, e);
    }
    release(r->space, &m);
    return ok;
}
