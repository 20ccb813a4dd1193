#include "attempt.h"

#include "kernel/kernel.h"

#define MOST_DRAWS 20000 // in search of legal configurations
#define MOST_TRIES 8     // of them, to be compiled

// Resources are a matter of a device's limits: without one only this asks for them.
static bool has_resources(const struct space *space, const struct config *c, struct err *e)
{
    struct resources ignored = {0};
    return !space->resources || space->resources(space->resources_context, c, &ignored, e) ||
           err_prefix(e, "resources");
}

static bool compiles(struct script *s, const struct config *c, struct err *e)
{
    struct job job;
    if (!script_render(s, c, &job, e))
        return false;
    bool ok = true;
    for (int i = 0; ok && i < job.pass_count; i++) {
        struct spirv spirv = {0};
        ok = kernel_compile_pass(&job.pass[i], &spirv, e);
        spirv_finish(&spirv);
    }
    job_finish(&job);
    return ok;
}

enum attempt attempt_candidate(struct script *s, const struct limits *l, uint64_t seed,
                               const struct config *first, struct err *e)
{
    const struct space *space = script_space(s);
    struct rng rng;
    struct config c;
    struct verdict v;
    int tries = 0;
    rng_seed(&rng, seed);
    kernel_setup();
    for (int draws = 0; draws < MOST_DRAWS && tries < MOST_TRIES; draws++) {
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
        tries++;
        if (compiles(s, &c, e))
            return ATTEMPT_COMPILED;
    }
    return tries ? ATTEMPT_FAILED : ATTEMPT_NO_LEGAL;
}
