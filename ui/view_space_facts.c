#include "view_space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIALS_SLICE  200
#define SHARES_POINTS 40 // of a slice

// --- coverage ---

// Makes a key of `config_set` of a parameter's value.
static struct config value_alone(const struct param *p, const int32_t *value)
{
    struct config c = {{0}};
    memcpy(c.slot, value, (size_t)p->width * sizeof *value);
    return c;
}

static void coverage_add_trial(void *context, const struct trial *t)
{
    struct coverage *c = context;
    if (!t->has_config || t->outcome == OUTCOME_REJECTED)
        return;
    for (int i = 0; i < c->space->param_count; i++) {
        const struct param *p = &c->space->param[i];
        struct value_facts *v = &c->of[i];
        struct config value = value_alone(p, t->config.slot + p->offset);
        int at = config_set_find(&v->seen, &value);
        if (at < 0 && v->seen.count == COVERAGE_MOST) {
            v->full = true;
            continue;
        }
        if (at < 0) {
            if (v->seen.count == v->capacity) {
                v->capacity = v->capacity ? 2 * v->capacity : 16;
                v->trials = mem_resize(v->trials, (size_t)v->capacity, sizeof *v->trials);
                v->best = mem_resize(v->best, (size_t)v->capacity, sizeof *v->best);
            }
            at = config_set_add(&v->seen, &value, NULL);
            v->trials[at] = 0;
            v->best[at] = (struct rank){0, false};
        }
        v->trials[at]++;
        if (t->outcome == OUTCOME_OK && rank_is_better(trial_rank(t), v->best[at]))
            v->best[at] = trial_rank(t);
    }
}

bool coverage_step(struct coverage *c, struct model *m)
{
    const struct space *s = m->open.space;
    int64_t races = scan_races(m);
    if (c->space != s || c->scan.session != m->open.record.id || c->races != races) {
        coverage_finish(c);
        scan_start(&c->scan, m);
        c->races = races;
        c->space = s;
        for (int i = 0; s && i < s->param_count; i++)
            c->of[i].seen.slots = s->param[i].width;
    }
    return s && scan_step(&c->scan, m, TRIALS_SLICE, coverage_add_trial, c);
}

void coverage_finish(struct coverage *c)
{
    for (int i = 0; i < SPACE_MAX_PARAMS; i++) {
        config_set_finish(&c->of[i].seen);
        free(c->of[i].trials);
        free(c->of[i].best);
    }
    *c = (struct coverage){.space = NULL};
}

int value_facts_find(const struct value_facts *v, const struct param *p, const int32_t *value)
{
    struct config c = value_alone(p, value);
    return v->seen.count > 0 ? config_set_find(&v->seen, &c) : -1;
}

// --- shares ---

// Counts exactly what draws hardly find.
static void count_legal(struct shares *s, const struct space *space, const struct limits *l)
{
    struct legal *legal = legal_create(space, l);
    struct str count = {0};
    if (legal_build_within(legal, LEGAL_STEPS_SHORT, &s->trouble) && legal_is_built(legal)) {
        legal_add_count(legal, &count);
        snprintf(s->legal, sizeof s->legal, "%s", str_text(&count));
    }
    str_finish(&count);
    legal_destroy(legal);
}

bool shares_step(struct shares *s, const struct space *space, const struct limits *l)
{
    if (s->done)
        return false;
    if (s->sum.wanted == 0)
        survey_begin(&s->sum, space, &survey_usual);
    bool judged = survey_step(&s->sum, space, l, SHARES_POINTS, &s->trouble);
    if (judged)
        s->trouble.text[0] = '\0';
    s->done = !judged || s->sum.points == s->sum.wanted;
    if (s->done && judged && !s->sum.exact && s->sum.valid * 100 <= s->sum.points)
        count_legal(s, space, l);
    return !s->done;
}

void shares_finish(struct shares *s)
{
    survey_finish(&s->sum);
    *s = (struct shares){.done = false};
}

double share_of(const struct shares *s, uint64_t points)
{
    return s->sum.points ? (double)points / (double)s->sum.points : 0;
}

double share_error(const struct shares *s, double share)
{
    if (s->sum.exact || s->sum.points == 0)
        return 0;
    return 1.96 * sqrt(share * (1 - share) / (double)s->sum.points);
}

// --- neighbourhood ---

static int degree_of(const struct space *s, const struct config *c, int param)
{
    const struct param *p = &s->param[param];
    return space_is_live(s, c, param) ? param_degree(p, c->slot + p->offset) : 0;
}

void neighbourhood_begin(struct neighbourhood *n, const struct space *s, const struct config *from)
{
    neighbourhood_finish(n);
    n->from = *from;
    n->candidates = space_degree(s, from);
}

// Goes on to the parameter of the next neighbour. Returns false when there is none.
static bool find_next(struct neighbourhood *n, const struct space *s)
{
    while (n->param < s->param_count &&
           (n->next == NEIGHBOURHOOD_MOST_EACH || n->next >= degree_of(s, &n->from, n->param))) {
        n->param++;
        n->next = 0;
    }
    return n->param < s->param_count;
}

bool neighbourhood_step(struct neighbourhood *n, const struct space *s, const struct limits *l,
                        int most, neighbourhood_find *find, struct model *m)
{
    for (int i = 0; i < most && find_next(n, s); i++) {
        const struct param *p = &s->param[n->param];
        struct config c;
        space_step(s, &n->from, n->param, n->next++, &c);
        MEM_GROW(n->neighbour, n->count, n->capacity);
        struct neighbour *out = &n->neighbour[n->count++];
        *out = (struct neighbour){.param = n->param};
        memcpy(out->value, c.slot + p->offset, (size_t)p->width * sizeof *out->value);
        const struct trial *t = find(m, &c);
        struct verdict v;
        struct err e;
        if (t) {
            bool ended = t->told > 0, rejected = ended && t->outcome == OUTCOME_REJECTED;
            out->status = rejected ? NEIGHBOUR_FORBIDDEN
                          : ended  ? NEIGHBOUR_TRIED
                                   : NEIGHBOUR_IN_FLIGHT;
            out->number = t->number;
            out->outcome = t->outcome;
            if (ended)
                out->rank = trial_rank(t);
            snprintf(out->reason, sizeof out->reason, "%s", t->reason);
        } else if (space_judge(s, l, &c, &v, &e)) {
            out->status = v.legal ? NEIGHBOUR_UNTRIED : NEIGHBOUR_FORBIDDEN;
            snprintf(out->reason, sizeof out->reason, "%s", v.legal ? "" : v.reason);
        } else {
            out->status = NEIGHBOUR_RULE_FAILED;
            snprintf(out->reason, sizeof out->reason, "%s", e.text);
        }
    }
    return find_next(n, s);
}

struct neighbourhood_counts neighbourhood_counts(const struct neighbourhood *n,
                                                 const struct space *s, int param, struct rank now)
{
    struct neighbourhood_counts counts = {.candidates = n->candidates};
    if (param != NEIGHBOURHOOD_ALL)
        counts.candidates = degree_of(s, &n->from, param);
    for (int i = 0; i < n->count; i++) {
        const struct neighbour *k = &n->neighbour[i];
        if (param != NEIGHBOURHOOD_ALL && k->param != param)
            continue;
        counts.looked_at++;
        counts.valid += k->status < NEIGHBOUR_FORBIDDEN;
        counts.tried += k->status == NEIGHBOUR_TRIED;
        counts.better += now.seconds > 0 && rank_is_better(k->rank, now);
    }
    return counts;
}

void neighbourhood_finish(struct neighbourhood *n)
{
    free(n->neighbour);
    *n = (struct neighbourhood){0};
}
