#include "trial/outside.h"

#include "kernel/checked.h"

#include <stdio.h>
#include <string.h>

struct look {
    struct rig *rig;
    const struct candidate *candidate;
    const struct gpu_pace *pace;
};

static enum gpu_status run(const struct look *l, struct candidate *checked, uint32_t *report,
                           struct err *e)
{
    struct rig *r = l->rig;
    struct gpu_buffer *buffer[OPERATOR_MAX_BUFFERS + 2];
    struct gpu_parts parts;
    memcpy(buffer, r->buffer, sizeof r->buffer);
    buffer[l->candidate->bindings] = r->report;
    enum gpu_status status = candidate_link(checked, r->gpu, e);
    if (status == GPU_OK)
        status = rig_load(r, INPUT_EXACT, e);
    if (status == GPU_OK)
        status = gpu_fill(r->gpu, r->report, 0, e);
    if (status == GPU_OK)
        status = candidate_run(checked, r->gpu, buffer, l->pace, &parts, e);
    if (status == GPU_OK)
        status = gpu_read(r->gpu, r->report, 0, report, sizeof *report, e);
    return status;
}

static enum gpu_status look(const struct look *l, bool roll, uint32_t *report, struct err *e)
{
    struct candidate checked = {0};
    uint64_t bytes[OPERATOR_MAX_BUFFERS + 1];
    rig_sizes(l->rig, bytes);
    bool ok = candidate_check_accesses(l->candidate, bytes, roll, &checked, e);
    enum gpu_status status = ok ? run(l, &checked, report, e) : GPU_FAILED;
    if (status != GPU_TIMEOUT && status != GPU_LOST)
        candidate_finish(&checked, l->rig->gpu);
    return status;
}

static void describe(const struct rig *r, uint32_t report, char *reason, size_t size)
{
    int where = kernel_outside_access(report);
    const char *what = where == ACCESS_SHARED  ? "a shared array"
                       : where == ACCESS_LOCAL ? "a local array"
                                               : "buffer ";
    snprintf(reason, size, "with every access checked: it reads or writes outside %s%s", what,
             where >= 0 ? rig_buffer_name(r, where) : "");
}

// A driver that cuts long loops cuts them sooner where they are rolled up, which may make indices
// that the kernel never has: only what is found without that counts.
enum gpu_status outside_look(struct rig *r, const struct candidate *c, const struct gpu_pace *pace,
                             char *reason, size_t size, struct err *e)
{
    const struct look l = {r, c, pace};
    uint32_t report = 0;
    enum gpu_status status = look(&l, true, &report, e);
    if (status == GPU_OK && report && r->hello.limits.loop_trips && c->has_loops)
        status = look(&l, false, &report, e);
    *reason = '\0';
    if (kernel_outside_access(report) != ACCESS_INSIDE)
        describe(r, report, reason, size);
    return status;
}
