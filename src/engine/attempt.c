#include "engine/attempt.h"

#include "base/os.h"
#include "trial/errand.h"

#define MOST_DRAWS 20000 // in search of legal configurations
#define MOST_TRIES 8     // of them, to be compiled

// Resources are a matter of a device's limits: without one only this asks for them.
static bool has_resources(const struct space *space, const struct config *c, struct err *e)
{
    struct resources ignored = {0};
    return !space->resources || space->resources(space->resources_context, c, &ignored, e) ||
           err_prefix(e, "resources");
}

static bool compiles(struct script *s, const struct config *c, double seconds, struct err *e)
{
    struct job job;
    if (!script_render(s, c, &job, e))
        return false;
    bool ok = errand_compile(&job, seconds, NULL, e);
    job_finish(&job);
    return ok;
}

static double now_s(void)
{
    return (double)os_now_ns() / 1e9;
}

enum attempt attempt_candidate(struct script *s, const struct limits *l, uint64_t seed,
                               const struct config *first, double seconds, struct err *e)
{
    const struct space *space = script_space(s);
    struct rng rng;
    struct config c;
    struct verdict v;
    struct err why;
    int tries = 0;
    double end_s = now_s() + seconds, left_s = seconds;
    rng_seed(&rng, seed);
    for (int draws = 0; draws < MOST_DRAWS && tries < MOST_TRIES && left_s > 0; draws++) {
        if (first && draws == 0)
            c = *first;
        else
            space_sample(space, &rng, &c);
        if (!space_judge(space, l, &c, &v, e))
            return ATTEMPT_FAILED;
        if (!v.legal)
            continue;
        if (!l && !has_resources(space, &c, e))
            return ATTEMPT_FAILED;
        if (compiles(s, &c, left_s, &why))
            return ATTEMPT_COMPILED;
        if (tries++ == 0 && e) // the others have less time
            *e = why;
        left_s = end_s - now_s();
    }
    return tries ? ATTEMPT_FAILED : ATTEMPT_NO_LEGAL;
}
