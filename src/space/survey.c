#include "space/survey.h"

#include <stdlib.h>

// Judges one point by every rule. A rule may rely on those before it (a division that a constraint
// makes safe): where an earlier one does not hold, its failure removes nothing and is no error.
static bool look_at(const struct space *s, const struct limits *l, const struct config *c,
                    struct survey *out, struct err *e)
{
    bool valid = true;
    for (int i = 0; i < s->constraint_count; i++) {
        const struct constraint *rule = &s->constraint[i];
        int holds = rule->holds(rule->context, c, e);
        if (holds < 0 && valid)
            return err_prefix(e, "constraint '%s'", rule->name);
        out->by_constraint[i] += holds == 0;
        valid = valid && holds > 0;
    }
    if (l && s->resources) {
        struct resources needs = {0};
        bool known = s->resources(s->resources_context, c, &needs, e);
        if (!known && valid)
            return err_prefix(e, "resources");
        unsigned exceeded = known ? limits_exceeded(l, &needs) : 0;
        for (int i = 0; i < LIMIT_COUNT; i++)
            out->by_limit[i] += exceeded >> i & 1;
        valid = valid && !exceeded;
    }
    if (valid && out->valid++ == 0)
        out->example = *c;
    out->points++;
    return true;
}

bool survey_take(const struct space *s, const struct limits *l, uint64_t count_up_to,
                 uint64_t samples, uint64_t seed, struct survey *out, struct err *e)
{
    *out = (struct survey){
        .exact = s->size <= count_up_to && s->size < UINT64_MAX,
        .by_constraint = mem_zero((size_t)s->constraint_count, sizeof *out->by_constraint),
    };
    struct rng rng;
    rng_seed(&rng, seed);
    uint64_t points = out->exact ? s->size : samples;
    for (uint64_t i = 0; i < points; i++) {
        struct config c;
        if (out->exact)
            space_point(s, i, &c);
        else
            space_sample(s, &rng, &c);
        if (!look_at(s, l, &c, out, e)) {
            survey_finish(out);
            return false;
        }
    }
    return true;
}

void survey_finish(struct survey *v)
{
    free(v->by_constraint);
    *v = (struct survey){0};
}
