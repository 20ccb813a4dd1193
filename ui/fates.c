#include "fates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int degree_of(const struct space *s, const struct config *c, int param)
{
    const struct param *p = &s->param[param];
    return space_is_live(s, c, param) ? param_degree(p, c->slot + p->offset) : 0;
}

static struct config moved(const struct space *s, const struct config *c, int param, int k)
{
    struct config out;
    space_step(s, c, param, k, &out);
    return out;
}

void fates_begin(struct fates *m, const struct space *s, const struct config *from)
{
    fates_finish(m);
    m->from = *from;
    m->candidates = space_degree(s, from);
}

static void judge(const struct space *s, const struct limits *l, const struct config *c,
                  struct move *out)
{
    struct verdict v;
    struct err e;
    if (!space_judge(s, l, c, &v, &e)) {
        out->fate = FATE_BROKEN;
        snprintf(out->reason, sizeof out->reason, "%s", e.text);
        return;
    }
    out->fate = v.legal ? FATE_UNTRIED : FATE_FORBIDDEN;
    snprintf(out->reason, sizeof out->reason, "%s", v.legal ? "" : v.reason);
}

static void tell(const struct trial *t, struct move *out)
{
    bool told = t->told > 0, rejected = told && t->outcome == OUTCOME_REJECTED;
    out->fate = rejected ? FATE_FORBIDDEN : told ? FATE_TRIED : FATE_IN_FLIGHT;
    out->number = t->number;
    out->outcome = t->outcome;
    if (told)
        out->rank = trial_rank(t);
    snprintf(out->reason, sizeof out->reason, "%s", t->reason);
}

static void look_at(struct fates *m, const struct space *s, const struct limits *l,
                    fates_find *find, void *context)
{
    const struct param *p = &s->param[m->param];
    struct config c = moved(s, &m->from, m->param, m->next++);
    MEM_GROW(m->move, m->count, m->capacity);
    struct move *out = &m->move[m->count++];
    *out = (struct move){.param = m->param};
    memcpy(out->value, c.slot + p->offset, (size_t)p->width * sizeof *out->value);
    const struct trial *t = find(context, &c);
    if (t)
        tell(t, out);
    else
        judge(s, l, &c, out);
}

// Goes on to the parameter that the next move is of. False: there is none.
static bool settle(struct fates *m, const struct space *s)
{
    while (m->param < s->param_count &&
           (m->next == FATES_MOST_EACH || m->next >= degree_of(s, &m->from, m->param))) {
        m->param++;
        m->next = 0;
    }
    return m->param < s->param_count;
}

bool fates_step(struct fates *m, const struct space *s, const struct limits *l, int most,
                fates_find *find, void *context)
{
    for (int i = 0; i < most && settle(m, s); i++)
        look_at(m, s, l, find, context);
    return settle(m, s);
}

struct fates_sum fates_sum(const struct fates *m, const struct space *s, int param, struct rank now)
{
    struct fates_sum sum = {.candidates = m->candidates};
    if (param != FATES_ALL)
        sum.candidates = degree_of(s, &m->from, param);
    for (int i = 0; i < m->count; i++) {
        const struct move *move = &m->move[i];
        if (param != FATES_ALL && move->param != param)
            continue;
        sum.looked_at++;
        sum.valid += move->fate < FATE_FORBIDDEN;
        sum.tried += move->fate == FATE_TRIED;
        sum.better += now.seconds > 0 && rank_is_better(move->rank, now);
    }
    return sum;
}

void fates_finish(struct fates *m)
{
    free(m->move);
    *m = (struct fates){0};
}
