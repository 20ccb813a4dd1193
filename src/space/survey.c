#include "space/survey.h"

#include <stdlib.h>

const struct survey_plan survey_usual = {
    .count_up_to = 20000, .samples = SURVEY_SAMPLES, .seed = 1};

void survey_begin(struct survey *v, const struct space *s, const struct survey_plan *plan)
{
    bool exact = s->size <= plan->count_up_to && s->size < UINT64_MAX;
    *v = (struct survey){
        .exact = exact,
        .wanted = exact ? s->size : plan->samples,
        .by_constraint = mem_zero((size_t)s->constraint_count, sizeof *v->by_constraint),
    };
    rng_seed(&v->rng, plan->seed);
}

bool survey_step(struct survey *v, const struct space *s, const struct limits *l, uint64_t count,
                 struct err *e)
{
    struct config c;
    for (; count > 0 && v->points < v->wanted; count--) {
        if (v->exact)
            space_point(s, v->points, &c);
        else
            space_sample(s, &v->rng, &c);
        // Every rule judges the point. A rule may rely on those before it (a division that a
        // constraint makes safe): where an earlier one does not hold, its failure removes nothing
        // and is no error.
        bool valid = true;
        struct rule_reads cost = {0};
        for (int i = 0; i < s->constraint_count; i++) {
            const struct constraint *rule = &s->constraint[i];
            int holds = rule->holds_reading ? rule->holds_reading(rule->context, &c, &cost, e)
                                            : rule->holds(rule->context, &c, e);
            if (holds < 0 && valid)
                return err_prefix(e, "constraint '%s'", rule->name);
            v->by_constraint[i] += holds == 0;
            valid = valid && holds > 0;
        }
        if (l && s->resources) {
            struct resources needs = {0};
            bool known = s->resources_reading
                             ? s->resources_reading(s->resources_context, &c, &needs, &cost, e)
                             : s->resources(s->resources_context, &c, &needs, e);
            if (!known && valid)
                return err_prefix(e, "resources");
            unsigned exceeded = known ? limits_exceeded(l, &needs) : 0;
            for (int i = 0; i < LIMIT_COUNT; i++)
                v->by_limit[i] += exceeded >> i & 1;
            valid = valid && !exceeded;
        }
        if (valid && v->valid++ == 0)
            v->example = c;
        v->points++;
        v->steps += cost.steps;
        if (v->steps > SURVEY_STEPS && !v->exact)
            v->wanted = v->points;
    }
    return true;
}

bool survey_take(const struct space *s, const struct limits *l, const struct survey_plan *plan,
                 struct survey *out, struct err *e)
{
    survey_begin(out, s, plan);
    if (survey_step(out, s, l, out->wanted, e))
        return true;
    survey_finish(out);
    return false;
}

void survey_finish(struct survey *v)
{
    free(v->by_constraint);
    *v = (struct survey){0};
}
