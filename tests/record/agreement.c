#include "agreement.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define MOST_POINTS (UINT64_C(1) << 28)

// For each parameter of the recording: the parameter of the rules with its name, and the index of
// each of its values there (-1: not declared there).
struct mapping {
    const struct param *to[SPACE_MAX_PARAMS]; // NULL: a constant that the rules do not have
    int32_t *slot[SPACE_MAX_PARAMS];
};

static bool is_listed(const struct param *p)
{
    return p->kind != PARAM_FACTORIZATION && p->kind != PARAM_PERMUTATION;
}

static bool make_mapping(const struct space *from, const struct space *to, struct mapping *m,
                         struct err *e)
{
    *m = (struct mapping){0};
    for (int i = 0; i < from->param_count; i++) {
        const struct param *p = &from->param[i], *rule = space_find(to, p->name);
        m->to[i] = rule;
        if (!rule && p->size == 1)
            continue;
        if (!rule)
            return err_set(e, "the conditions' file does not declare parameter '%s'", p->name);
        if (!is_listed(p) || !is_listed(rule))
            return err_set(e, "parameter '%s' is no list of values", p->name);
        m->slot[i] = mem_alloc((size_t)p->count * sizeof *m->slot[i]);
        for (int k = 0; k < p->count; k++) {
            m->slot[i][k] = -1;
            for (int j = 0; j < rule->count && m->slot[i][k] < 0; j++) {
                bool same = p->label && rule->label
                                ? str_equal(p->label[k], rule->label[j])
                                : p->number && rule->number && p->number[k] == rule->number[j];
                m->slot[i][k] = same ? j : -1;
            }
        }
    }
    for (int i = 0; i < to->param_count; i++)
        if (to->param[i].size != 1 && !space_find(from, to->param[i].name))
            return err_set(e, "the recording has no parameter '%s'", to->param[i].name);
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
        struct config c, there = {0}; // constants that only the rules have get their only value
        struct verdict verdict = {.legal = false};
        bool is_declared = true;
        space_point(r->space, i, &c);
        for (int k = 0; is_declared && k < r->space->param_count; k++) {
            int32_t slot = m.to[k] ? m.slot[k][c.slot[r->space->param[k].offset]] : 0;
            is_declared = slot >= 0;
            if (m.to[k])
                there.slot[m.to[k]->offset] = slot;
        }
        ok = !is_declared || space_judge(rules, NULL, &there, &verdict, e);
        bool recorded = recording_find(r, &c) != NULL;
        out->points += ok;
        out->legal += ok && verdict.legal;
        out->legal_absent += ok && verdict.legal && !recorded;
        out->illegal_record += ok && !verdict.legal && recorded;
        if (ok && verdict.legal != recorded)
            out->example = c;
    }
    for (int i = 0; i < r->space->param_count; i++)
        free(m.slot[i]);
    return ok;
}
