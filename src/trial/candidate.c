#include "trial/candidate.h"

#include "kernel/checked.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool __attribute__((format(printf, 3, 4)))
fail(struct failure *f, enum outcome o, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    f->outcome = o;
    vsnprintf(f->reason, sizeof f->reason, format, args);
    va_end(args);
    return false;
}

bool candidate_compile(struct candidate *c, const struct job *j, const struct limits *l,
                       int bindings, struct failure *why)
{
    c->bindings = bindings;
    c->scratch_bytes = j->scratch_bytes;
    if (j->pass_count < 1)
        return fail(why, OUTCOME_COMPILE, "the job has no pass");
    if (j->scratch_bytes > l->buffer_bytes)
        return fail(why, OUTCOME_REJECTED, "scratch buffer %" PRIu64 " bytes > %" PRIu64,
                    j->scratch_bytes, l->buffer_bytes);
    if (l->buffers && (uint32_t)bindings > l->buffers)
        return fail(why, OUTCOME_REJECTED, "buffers %d > %" PRIu32, bindings, l->buffers);
    if (j->pass[j->pass_count - 1].once)
        return fail(why, OUTCOME_COMPILE, "all kernels run once: none is left to be timed");
    for (int i = 0; i < j->pass_count; i++) {
        const struct pass *p = &j->pass[i];
        struct err e = {0};
        char text[sizeof why->reason];
        if (!kernel_compile_pass(p, l->spirv_minor, &c->spirv[i], &e))
            return fail(why, OUTCOME_COMPILE, "%s", err_format(&e, text, sizeof text));
        c->pass_count = i + 1;
        struct kernel_facts facts;
        if (!kernel_inspect(&c->spirv[i], &facts, &e))
            return fail(why, OUTCOME_COMPILE, "%s", e.text);
        facts.subgroup = p->subgroup;
        c->subgroup[i] = kernel_subgroup(&facts, l);
        c->local_x[i] = facts.local_size[0];
        c->has_loops |= facts.has_loops;
        c->uses_group_count |= facts.uses_group_count;
        if (facts.bindings > (uint32_t)bindings)
            return fail(why, OUTCOME_COMPILE, "it uses binding %" PRIu32 ", there are only %d",
                        facts.bindings - 1, bindings);
        if (!kernel_check_use(&c->spirv[i], &facts, p, bindings - 1 - (j->scratch_bytes > 0), &e))
            return fail(why, OUTCOME_COMPILE, "%s", err_format(&e, text, sizeof text));
        c->pass[i].push = p->push;
        c->push_bytes[i] = p->push_bytes;
        if (kernel_check(&facts, p->groups, l, text, sizeof text))
            return fail(why, OUTCOME_REJECTED, "%s", text);
        if (p->once && c->packing < i)
            return fail(why, OUTCOME_COMPILE,
                        "a kernel that runs once stands behind one that does not");
        c->packing += p->once;
        for (int d = 0; d < 3; d++)
            c->pass[i].groups[d] = p->groups[d];
    }
    return true;
}

enum gpu_status candidate_link(struct candidate *c, struct gpu *g, struct err *e)
{
    enum gpu_status status = GPU_OK;
    for (int i = 0; status == GPU_OK && i < c->pass_count; i++) {
        const struct gpu_shader shader = {.word = c->spirv[i].word,
                                          .word_count = c->spirv[i].count,
                                          .bindings = c->bindings,
                                          .subgroup = c->subgroup[i],
                                          .local_x = c->local_x[i],
                                          .entry = kernel_entry(&c->spirv[i]),
                                          .push_bytes = c->push_bytes[i]};
        status = gpu_pipeline_create(g, &shader, &c->pass[i].pipeline, e);
    }
    return status;
}

struct gpu_sequence candidate_sequence(const struct candidate *c, int first,
                                       struct gpu_buffer *const *buffer)
{
    return (struct gpu_sequence){c->pass + first, c->pass_count - first, buffer, c->bindings};
}

enum gpu_status candidate_pack(const struct candidate *c, struct gpu *g,
                               struct gpu_buffer *const *buffer, double timeout_s, struct err *e)
{
    const struct gpu_sequence packing = {c->pass, c->packing, buffer, c->bindings};
    double seconds;
    return c->packing ? gpu_run(g, &packing, 1, timeout_s, &seconds, e) : GPU_OK;
}

enum gpu_status candidate_run(const struct candidate *c, struct gpu *g,
                              struct gpu_buffer *const *buffer, const struct gpu_pace *pace,
                              struct gpu_parts *out, struct err *e)
{
    enum gpu_status status = candidate_pack(c, g, buffer, pace->timeout_s, e);
    return status == GPU_OK ? candidate_run_packed(c, g, buffer, pace, out, e) : status;
}

enum gpu_status candidate_run_packed(const struct candidate *c, struct gpu *g,
                                     struct gpu_buffer *const *buffer, const struct gpu_pace *pace,
                                     struct gpu_parts *out, struct err *e)
{
    const struct gpu_sequence timed = candidate_sequence(c, c->packing, buffer);
    *out = (struct gpu_parts){0};
    if (c->uses_group_count)
        return gpu_run(g, &timed, 1, pace->timeout_s, &out->seconds, e);
    return gpu_run_in_parts(g, &timed, pace, out, e);
}

bool candidate_check_accesses(const struct candidate *c, const uint64_t *bytes, bool roll,
                              struct candidate *out, struct err *e)
{
    *out = (struct candidate){.bindings = c->bindings + 1,
                              .pass_count = c->pass_count,
                              .packing = c->packing,
                              .has_loops = c->has_loops,
                              .uses_group_count = c->uses_group_count};
    for (int i = 0; i < c->pass_count; i++) {
        memcpy(out->pass[i].groups, c->pass[i].groups, sizeof out->pass[i].groups);
        out->pass[i].push = c->pass[i].push;
        out->push_bytes[i] = c->push_bytes[i];
        out->subgroup[i] = c->subgroup[i];
        out->local_x[i] = c->local_x[i];
        if (!kernel_check_accesses(&c->spirv[i], bytes, c->bindings, roll, &out->spirv[i], e))
            return false;
    }
    return true;
}

void candidate_finish(struct candidate *c, struct gpu *g)
{
    for (int i = 0; i < c->pass_count; i++) {
        if (c->pass[i].pipeline)
            gpu_pipeline_destroy(g, c->pass[i].pipeline);
        spirv_finish(&c->spirv[i]);
    }
    *c = (struct candidate){0};
}
