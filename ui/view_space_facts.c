#include "view_space_facts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TRIALS_SLICE 200

// --- values that were tried ---

static struct config alone(const struct param *p, const int32_t *value)
{
    struct config c = {{0}};
    memcpy(c.slot, value, (size_t)p->width * sizeof *value);
    return c;
}

static void count_value(struct value_facts *v, const struct param *p, const struct trial *t)
{
    struct config value = alone(p, t->config.slot + p->offset);
    int i = config_set_find(&v->seen, &value);
    if (i < 0 && v->seen.count == COVERAGE_MOST) {
        v->full = true;
        return;
    }
    if (i < 0) {
        if (v->seen.count == v->capacity) {
            v->capacity = v->capacity ? 2 * v->capacity : 16;
            v->trials = mem_resize(v->trials, (size_t)v->capacity, sizeof *v->trials);
            v->best = mem_resize(v->best, (size_t)v->capacity, sizeof *v->best);
        }
        i = config_set_add(&v->seen, &value, NULL);
        v->trials[i] = 0;
        v->best[i] = (struct rank){0, false};
    }
    v->trials[i]++;
    if (t->outcome == OUTCOME_OK && rank_is_better(trial_rank(t), v->best[i]))
        v->best[i] = trial_rank(t);
}

static void count_trial(void *context, const struct trial *t)
{
    struct coverage *c = context;
    if (!t->has_config || t->outcome == OUTCOME_REJECTED)
        return;
    for (int i = 0; i < c->space->param_count; i++)
        count_value(&c->of[i], &c->space->param[i], t);
}

void coverage_begin(struct coverage *c, struct model *m)
{
    coverage_finish(c);
    scan_start(&c->scan, m);
    c->races = scan_races(m);
    c->space = m->open.space;
    for (int i = 0; c->space && i < c->space->param_count; i++)
        c->of[i].seen.slots = c->space->param[i].width;
}

bool coverage_step(struct coverage *c, struct model *m)
{
    if (c->space && c->races != scan_races(m))
        coverage_begin(c, m);
    return c->space && scan_step(&c->scan, m, TRIALS_SLICE, count_trial, c);
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

void value_facts_get(const struct value_facts *v, int index, int32_t out[PARAM_MAX_WIDTH])
{
    struct config c;
    config_set_get(&v->seen, index, &c);
    memcpy(out, c.slot, PARAM_MAX_WIDTH * sizeof *out);
}

int value_facts_find(const struct value_facts *v, const struct param *p, const int32_t *value)
{
    struct config c = alone(p, value);
    return v->seen.count > 0 ? config_set_find(&v->seen, &c) : -1;
}

// --- what rules remove ---

void shares_begin(struct shares *s, const struct space *space)
{
    shares_finish(s);
    survey_begin(&s->sum, space, &survey_usual);
}

bool shares_step(struct shares *s, const struct space *space, const struct limits *l)
{
    if (s->done || !s->sum.by_constraint)
        return false;
    bool judged = survey_step(&s->sum, space, l, SHARES_SLICE, &s->trouble);
    if (judged)
        s->trouble.text[0] = '\0';
    s->done = !judged || s->sum.points == s->sum.wanted;
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
