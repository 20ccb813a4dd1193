// A first run of a kernel that nobody knows: in parts, so that no submission is long. A device that
// is busy for seconds may be reset by its driver, and its display stands still.
#include "base/minmax.h"
#include "base/os.h"
#include "gpu/vk.h"

#define MOST_GROWTH 8

struct gpu_pass parts_next(const struct gpu_pass *p, uint64_t done, uint64_t most)
{
    const uint64_t row = p->groups[0], layer = row * p->groups[1];
    const uint64_t x = done % row, y = done % layer / row, z = done / layer;
    struct gpu_pass part = {.pipeline = p->pipeline,
                            .push = p->push,
                            .base = {(uint32_t)x, (uint32_t)y, (uint32_t)z},
                            .groups = {(uint32_t)row, (uint32_t)p->groups[1], 1}};
    if (x > 0 || most < row) {
        part.groups[0] = (uint32_t)uint64_min(most, row - x);
        part.groups[1] = 1;
    } else if (y > 0 || most < layer) {
        part.groups[1] = (uint32_t)uint64_min(most / row, p->groups[1] - y);
    } else {
        part.groups[2] = (uint32_t)uint64_min(most / layer, p->groups[2] - z);
    }
    return part;
}

static uint64_t at_least_one(double groups)
{
    return groups < 1 ? 1 : groups < 0x1p62 ? (uint64_t)groups : UINT64_C(1) << 62;
}

uint64_t parts_first(double group_s, double submit_s)
{
    return at_least_one(submit_s / group_s);
}

uint64_t parts_grow(uint64_t most, uint64_t groups, double seconds, double submit_s)
{
    double factor = submit_s / (2 * seconds);
    uint64_t next = at_least_one((double)groups * (factor < MOST_GROWTH ? factor : MOST_GROWTH));
    return next > most || factor < 1 ? next : most;
}

static uint64_t volume(const uint32_t groups[3])
{
    return (uint64_t)groups[0] * groups[1] * groups[2];
}

// In what is left of the time; who reads of a timeout wants to know how long it had in all.
static enum gpu_status run_part(struct gpu *g, const struct gpu_sequence *part, int64_t begin_ns,
                                double timeout_s, double *seconds, struct err *e)
{
    double left_s = timeout_s - (double)(os_now_ns() - begin_ns) * 1e-9;
    enum gpu_status status = left_s > 0 ? gpu_run(g, part, 1, left_s, seconds, e) : GPU_TIMEOUT;
    if (status == GPU_TIMEOUT)
        err_set(e, "the kernel is not done after %g s", timeout_s);
    return status;
}

enum gpu_status gpu_run_in_parts(struct gpu *g, const struct gpu_sequence *s,
                                 const struct gpu_pace *pace, struct gpu_parts *out, struct err *e)
{
    int64_t begin_ns = os_now_ns();
    struct gpu_pass pass;
    const struct gpu_sequence part = {&pass, 1, s->buffer, s->buffer_count};
    *out = (struct gpu_parts){0};
    for (int i = 0; i < s->pass_count; i++) {
        uint64_t most = parts_first(pace->group_s, pace->submit_s);
        for (uint64_t done = 0, total = volume(s->pass[i].groups); done < total; out->count++) {
            double seconds;
            pass = parts_next(&s->pass[i], done, most);
            GPU_TRY(run_part(g, &part, begin_ns, pace->timeout_s, &seconds, e));
            most = parts_grow(most, volume(pass.groups), seconds, pace->submit_s);
            done += volume(pass.groups);
            out->seconds += seconds;
        }
    }
    out->is_split = out->count > s->pass_count;
    return GPU_OK;
}
