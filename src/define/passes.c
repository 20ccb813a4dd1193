// The kernels of one configuration as a job: a pass each, or two where workgroups share one.
#include "define/program.h"

#include "base/minmax.h"

static bool add_pass(const struct program *p, int kernel, const struct tiling *t, bool is_second,
                     struct job *job)
{
    struct pass *pass = job_add_pass(job);
    struct str text = {0};
    uint64_t groups[3];
    tiling_groups(t, groups);
    for (int k = 0; k < 3; k++)
        pass->groups[k] = (uint32_t)groups[k];
    if (t->shape && p->device.lanes != p->device.subgroup && !p->device.emulates)
        pass->subgroup = p->device.lanes;
    bool fits = program_glsl(p, kernel, t, is_second, &text);
    pass->glsl = str_take(&text);
    return fits;
}

// One pass, or two where workgroups share the reduction.
static bool add_passes(const struct program *p, int kernel, const struct tiling *t, struct job *job)
{
    struct program_variant v;
    int64_t parts = tiling_reduced(t, TILE_ACROSS);
    bool fits = add_pass(p, kernel, t, false, job);
    if (!fits || parts == 1)
        return fits;
    struct tiling second = tiling_second(t, &v);
    uint64_t bytes = p->scratch_bytes + 4 * (uint64_t)(parts * tiling_points(t));
    job->scratch_bytes = uint64_max(job->scratch_bytes, bytes);
    return add_pass(p, kernel, &second, true, job);
}

bool program_job(const struct program *p, const struct config *c, const char *name, struct job *job,
                 struct err *e)
{
    bool fits = true;
    *job = (struct job){.scratch_bytes = p->scratch_bytes};
    for (int i = 0; i < p->kernel_count && fits; i++) {
        struct tiling t = program_tiling(p, i, c);
        fits = add_passes(p, i, &t, job);
        if (!fits)
            err_set(e, "the kernel of %s would be too long",
                    p->inlined.tensor[p->kernel[i].stage.tensor].name);
    }
    for (int i = 0; i < job->pass_count; i++)
        job->pass[i].template_name = mem_strdup(name);
    if (!fits)
        job_finish(job);
    return fits;
}
