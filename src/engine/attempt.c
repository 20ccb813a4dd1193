#include "engine/attempt.h"

#include "base/os.h"
#include "trial/helper_job.h"

#define MOST_DRAWS 20000 // in search of legal configurations
#define MOST_TRIES 8     // of them, to be compiled

enum attempt attempt_candidate(struct script *s, const struct limits *l, uint64_t seed,
                               const struct config *first, double seconds, struct err *e)
{
    const struct space *space = script_space(s);
    struct rng rng;
    struct config c;
    struct verdict v;
    struct err why;
    int tries = 0;
    const int64_t begun_ns = os_now_ns();
    double left_s = seconds;
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
        // Resources are judged by a device's limits: without one they are evaluated only here.
        struct resources ignored = {0};
        if (!l && space->resources &&
            !space->resources(space->resources_context, &c, &ignored, e)) {
            err_prefix(e, "resources");
            return ATTEMPT_FAILED;
        }
        struct job job;
        if (script_render(s, &c, &job, &why)) {
            bool ok = helper_job_compile(&job, left_s, NULL, &why);
            job_finish(&job);
            if (ok)
                return ATTEMPT_COMPILED;
        }
        if (tries++ == 0 && e) // the others have less time
            *e = why;
        left_s = seconds - (double)(os_now_ns() - begun_ns) * 1e-9;
    }
    return tries ? ATTEMPT_FAILED : ATTEMPT_NO_LEGAL;
}
