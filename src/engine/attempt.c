#include "engine/attempt.h"

#include "base/os.h"
#include "space/survey.h"
#include "trial/helper_job.h"

#define MOST_DRAWS 20000 // in search of legal configurations
#define MOST_TRIES 8     // of them, to be compiled

bool attempt_rules(const struct space *space, const struct limits *l, struct legal **out,
                   struct err *e)
{
    enum { POINTS = 64 };
    struct survey survey;
    struct config c;
    struct verdict v;
    struct rng rng;
    *out = NULL;
    if (!survey_take(space, l, &survey_usual, &survey, e))
        return false;
    survey_finish(&survey);
    struct legal *g = legal_create(space, l);
    bool ok = legal_build_within(g, LEGAL_STEPS_SHORT, e);
    // Some legal points reach the last rule, also where not all could be counted.
    rng_seed(&rng, 1);
    for (int i = 0; ok && i < POINTS && legal_draw(g, &rng, &c); i++)
        ok = space_judge(space, l, &c, &v, e);
    if (ok)
        *out = g;
    else
        legal_destroy(g);
    return ok;
}

// Judges a configuration and takes it as far as its SPIR-V. ATTEMPT_FAILED with `tries` as it was:
// a rule failed.
static enum attempt try_candidate(struct script *s, const struct limits *l, const struct config *c,
                                  double seconds, int *tries, struct err *e)
{
    const struct space *space = script_space(s);
    struct verdict v;
    struct resources ignored = {0};
    struct job job;
    if (!space_judge(space, l, c, &v, e))
        return ATTEMPT_FAILED;
    if (!v.legal)
        return ATTEMPT_NO_LEGAL;
    // Resources are judged by a device's limits: without one they are evaluated only here.
    if (!l && space->resources && !space->resources(space->resources_context, c, &ignored, e)) {
        err_prefix(e, "resources");
        return ATTEMPT_FAILED;
    }
    ++*tries;
    if (!script_render(s, c, &job, e))
        return ATTEMPT_FAILED;
    bool ok = helper_job_compile(&job, seconds, NULL, e);
    job_finish(&job);
    return ok ? ATTEMPT_COMPILED : ATTEMPT_FAILED;
}

enum attempt attempt_candidate(struct script *s, const struct limits *l, uint64_t seed,
                               const struct config *first, double seconds, struct err *e)
{
    const struct space *space = script_space(s);
    struct rng rng;
    struct config c;
    struct err why;
    struct legal *legal;
    const int64_t begun_ns = os_now_ns();
    double left_s = seconds;
    enum attempt found = ATTEMPT_NO_LEGAL;
    int tries = 0;
    if (!legal_open_sparse(space, l, &legal, e))
        return ATTEMPT_FAILED;
    rng_seed(&rng, seed);
    for (int draws = 0; draws < MOST_DRAWS && tries < MOST_TRIES && left_s > 0; draws++) {
        const int before = tries;
        if (first && draws == 0)
            c = *first;
        else if (!legal_sample(legal, space, &rng, &c))
            break;
        enum attempt this = try_candidate(s, l, &c, left_s, &tries, &why);
        if (this == ATTEMPT_NO_LEGAL)
            continue;
        found = this;
        if (found == ATTEMPT_FAILED && e && before == 0) // the others have less time
            *e = why;
        if (found == ATTEMPT_COMPILED || tries == before)
            break;
        left_s = seconds - (double)(os_now_ns() - begun_ns) * 1e-9;
    }
    if (found == ATTEMPT_FAILED && e && tries == 0)
        *e = why;
    legal_destroy(legal);
    return found;
}
