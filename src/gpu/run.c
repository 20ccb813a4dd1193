#include "base/mem.h"
#include "base/number.h"
#include "base/os.h"
#include "gpu/vk.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double seconds_since(int64_t begin_ns)
{
    return (double)(os_now_ns() - begin_ns) * 1e-9;
}

// --- runs ---

// Checks that the sequence can run. `passes` gets the number of passes in all, `turns` the number
// of different buffers that they run on.
static enum gpu_status check_run(const struct gpu *g, const struct gpu_sequence *s, int repeats,
                                 int *passes, int *turns, struct err *e)
{
    const uint32_t *most = g->adapter.info.limits.group_count;
    const struct gpu_sequence *first = s;
    *passes = 0;
    *turns = 1;
    for (; s; s = s->next) {
        if (s->image && (s != first || s->next || s->copies > 1)) {
            err_set(e, "a kernel with images runs alone, on no copies of its buffers (--cold)");
            return GPU_FAILED;
        }
        bool ok = repeats >= 1 && s->pass_count >= 1 && s->pass_count <= GPU_MAX_PASSES;
        ok = ok && (!s->begins || repeats <= GPU_MOST_BEGUN);
        for (int i = 0; ok && i < s->pass_count; i++) {
            const struct gpu_pass *pass = &s->pass[i];
            ok = pass->pipeline->bindings <= s->buffer_count;
            for (int d = 0; d < 3; d++)
                ok = ok && pass->groups[d] <= most[d] && pass->base[d] <= most[d] - pass->groups[d];
        }
        if (!ok) {
            err_set(e,
                    "%d passes, %d repeats, %d buffers: more than can be run, or fewer than is "
                    "needed",
                    s->pass_count, repeats, s->buffer_count);
            return GPU_FAILED;
        }
        *passes += s->pass_count;
        *turns = int_max(*turns, int_min(s->copies, repeats));
    }
    return GPU_OK;
}

static bool has_others(const struct gpu_sequence *s)
{
    bool has = false;
    for (; s; s = s->next)
        for (int i = 0; i < s->pass_count; i++)
            has = has || s->pass[i].descriptors;
    return has;
}

// Makes room for the descriptor sets of so many passes, with or without third ones; all sets become
// free.
static enum gpu_status need_sets(struct gpu *g, int count, bool others, struct err *e)
{
    const uint32_t most = (uint32_t)count, each = GPU_MAX_ELEMENTS;
    vk_views_destroy(g);
    if (count <= g->most_sets && (g->has_others || !others)) {
        VK_TRY(vkResetDescriptorPool(g->device, g->descriptors, 0));
        return GPU_OK;
    }
    const VkDescriptorPoolSize size[] = {
        {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, most * (GPU_MAX_BINDINGS + (others ? each : 0))},
        {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, most * GPU_MAX_UNIFORMS},
        {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, most * each},
        {VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, most * each},
        {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, most * each},
        {VK_DESCRIPTOR_TYPE_SAMPLER, most * each},
        {VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, most * each},
        {VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER, most * each},
    };
    const VkDescriptorPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = (uint32_t)count * GPU_SETS,
        .poolSizeCount = others ? sizeof size / sizeof *size : 2,
        .pPoolSizes = size,
    };
    vkDestroyDescriptorPool(g->device, g->descriptors, NULL);
    g->descriptors = VK_NULL_HANDLE;
    g->most_sets = 0;
    VK_TRY(vkCreateDescriptorPool(g->device, &info, NULL, &g->descriptors));
    g->most_sets = count;
    g->has_others = others;
    return GPU_OK;
}

struct set_pair {
    VkDescriptorSet set[GPU_SETS];
};

static enum gpu_status allocate_set(struct gpu *g, VkDescriptorSetLayout layout,
                                    VkDescriptorSet *set, struct err *e)
{
    const VkDescriptorSetAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = g->descriptors,
        .descriptorSetCount = 1,
        .pSetLayouts = &layout,
    };
    VK_TRY(vkAllocateDescriptorSets(g->device, &allocate, set));
    return GPU_OK;
}

static enum gpu_status create_set(struct gpu *g, VkDescriptorSetLayout layout,
                                  VkDescriptorType type, struct gpu_buffer *const *buffer,
                                  int count, VkDescriptorSet *set, struct err *e)
{
    GPU_TRY(allocate_set(g, layout, set, e));
    VkDescriptorBufferInfo whole[GPU_MAX_BINDINGS];
    VkWriteDescriptorSet write[GPU_MAX_BINDINGS];
    for (int i = 0; i < count; i++) {
        whole[i] = (VkDescriptorBufferInfo){buffer[i]->handle, buffer[i]->guard, VK_WHOLE_SIZE};
        write[i] = (VkWriteDescriptorSet){
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = *set,
            .dstBinding = (uint32_t)i,
            .descriptorCount = 1,
            .descriptorType = type,
            .pBufferInfo = &whole[i],
        };
    }
    vkUpdateDescriptorSets(g->device, (uint32_t)count, write, 0, NULL);
    return GPU_OK;
}

// Creates the sets of a pass of a sequence: the buffers of one copy, its uniform blocks, and its
// other descriptors.
static enum gpu_status create_sets(struct gpu *g, const struct gpu_sequence *s,
                                   const struct gpu_pass *pass, struct gpu_buffer *const *buffer,
                                   struct set_pair *out, struct err *e)
{
    const struct gpu_pipeline *p = pass->pipeline;
    GPU_TRY(create_set(g, p->set_layout[0], VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, buffer, p->bindings,
                       &out->set[0], e));
    if (p->sets > 1)
        GPU_TRY(create_set(g, p->set_layout[1], VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, pass->uniform,
                           p->uniforms, &out->set[1], e));
    if (p->sets < 3)
        return GPU_OK;
    GPU_TRY(allocate_set(g, p->set_layout[2], &out->set[2], e));
    return vk_write_descriptors(g, pass, buffer, s->image, out->set[2], e);
}

// Returns the first buffer of the copy that a run uses.
static struct gpu_buffer *const *buffers_of(const struct gpu_sequence *s, unsigned turn)
{
    return s->buffer + (s->copies > 1 ? (ptrdiff_t)(turn % (unsigned)s->copies) * s->stride : 0);
}

// Buffers get the content that they have before a run.
static void record_begin(struct gpu *g, const struct gpu_sequence *s, unsigned turn)
{
    struct gpu_buffer *const *buffer = buffers_of(s, turn);
    if (!s->begins)
        return;
    vk_barrier(g, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
               VK_PIPELINE_STAGE_TRANSFER_BIT,
               VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT);
    for (int i = 0; i < s->begins; i++) {
        const struct gpu_buffer *to = buffer[s->begin[i].to];
        const struct gpu_buffer *from = s->begin[i].from < 0 ? NULL : buffer[s->begin[i].from];
        if (from) {
            const VkBufferCopy region = {from->guard, to->guard,
                                         uint64_min(from->bytes, to->bytes)};
            vkCmdCopyBuffer(g->command, from->handle, to->handle, 1, &region);
        } else {
            vkCmdFillBuffer(g->command, to->handle, to->guard, to->bytes, 0);
        }
    }
    if (s->image)
        vk_barrier(g, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                   VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT);
    for (int i = 0; s->image && i < s->begins; i++)
        if (s->image[s->begin[i].to])
            vk_image_record_load(g, s->image[s->begin[i].to], buffer[s->begin[i].to]);
    vk_barrier(g, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
               VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
               VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
}

static void record_push(struct gpu *g, const struct gpu_pass *pass,
                        struct gpu_buffer *const *buffer)
{
    const struct gpu_pipeline *p = pass->pipeline;
    if (p->push_bytes)
        vkCmdPushConstants(g->command, p->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, p->push_bytes,
                           pass->push);
    for (int i = 0; i < pass->addresses; i++) {
        uint64_t address = vk_buffer_address(g, buffer[pass->address[i]]);
        vkCmdPushConstants(g->command, p->layout, VK_SHADER_STAGE_COMPUTE_BIT,
                           (uint32_t)i * (uint32_t)sizeof address, sizeof address, &address);
    }
}

static void record_once(struct gpu *g, const struct gpu_sequence *s, const struct set_pair *set,
                        unsigned turn, bool is_bound)
{
    for (const struct gpu_sequence *q = s; q; q = q->next) {
        if (q != s)
            record_begin(g, q, turn);
        for (int i = 0; i < q->pass_count; i++, set++) {
            const struct gpu_pipeline *p = q->pass[i].pipeline;
            if (!is_bound) {
                record_push(g, &q->pass[i], buffers_of(q, turn));
                vkCmdBindPipeline(g->command, VK_PIPELINE_BIND_POINT_COMPUTE, p->handle);
                vkCmdBindDescriptorSets(g->command, VK_PIPELINE_BIND_POINT_COMPUTE, p->layout, 0,
                                        (uint32_t)p->sets, set->set, 0, NULL);
            }
            // With base 0 both calls do the same, but the synchronization validation of 1.3.239
            // does not check vkCmdDispatchBase.
            const uint32_t *n = q->pass[i].groups, *base = q->pass[i].base;
            if (base[0] || base[1] || base[2])
                vkCmdDispatchBase(g->command, base[0], base[1], base[2], n[0], n[1], n[2]);
            else
                vkCmdDispatch(g->command, n[0], n[1], n[2]);
            vk_barrier(g, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
                       VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                       VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
        }
    }
}

// The descriptor sets of a run, one copy after the other.
struct turns {
    struct set_pair *set; // [count * passes]
    int count, passes;
};

double vk_stamp_seconds(uint64_t begin, uint64_t end, uint32_t valid_bits, double tick_s)
{
    uint64_t mask = valid_bits < 64 ? (UINT64_C(1) << valid_bits) - 1 : UINT64_MAX;
    uint64_t ticks = (end - begin) & mask;
    return (double)(ticks ? ticks : 1) * tick_s;
}

static void stamp(struct gpu *g, uint32_t index)
{
    if (g->stamps)
        vkCmdWriteTimestamp(g->command, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, g->stamps, index);
}

// Returns the seconds between pairs of timestamps, all together.
static enum gpu_status read_stamps(struct gpu *g, int pairs, double *seconds, struct err *e)
{
    uint64_t at[2 * GPU_MOST_BEGUN];
    *seconds = 0;
    VK_TRY(vkGetQueryPoolResults(g->device, g->stamps, 0, 2 * (uint32_t)pairs, sizeof at, at,
                                 sizeof at[0], VK_QUERY_RESULT_64_BIT));
    for (int i = 0; i < pairs; i++)
        *seconds +=
            vk_stamp_seconds(at[2 * i], at[2 * i + 1], g->adapter.valid_bits, g->adapter.tick_s);
    return GPU_OK;
}

static enum gpu_status run_with(struct gpu *g, const struct gpu_sequence *s, const struct turns *t,
                                int repeats, double timeout_s, double *seconds, struct err *e)
{
    double run_s;
    struct set_pair *set = t->set;
    for (int turn = 0; turn < t->count; turn++)
        for (const struct gpu_sequence *q = s; q; q = q->next)
            for (int i = 0; i < q->pass_count; i++)
                GPU_TRY(create_sets(g, q, &q->pass[i], buffers_of(q, g->turn + (unsigned)turn),
                                    set++, e));
    GPU_TRY(vk_begin(g, timeout_s, e));
    // Timestamps are no barriers: without a barrier after each dispatch the runs would overlap, and
    // the time would not be that of `repeats` runs one after the other.
    int pairs = s->begins ? repeats : 1;
    if (g->stamps)
        vkCmdResetQueryPool(g->command, g->stamps, 0, 2 * (uint32_t)pairs);
    bool is_single = t->passes == 1 && t->count == 1;
    for (int n = 0; n < repeats; n++) {
        unsigned turn = g->turn + (unsigned)n;
        record_begin(g, s, turn);
        if (n < pairs)
            stamp(g, 2 * (uint32_t)n);
        record_once(g, s, t->set + n % t->count * t->passes, turn, n > 0 && is_single);
        if (s->begins)
            stamp(g, 2 * (uint32_t)n + 1);
    }
    if (!s->begins)
        stamp(g, 1);
    g->turn += (unsigned)repeats;
    GPU_TRY(vk_submit(g, timeout_s, &run_s, e));
    if (seconds && g->stamps)
        return read_stamps(g, pairs, seconds, e);
    if (seconds)
        *seconds = run_s;
    return GPU_OK;
}

static enum gpu_status run_submission(struct gpu *g, const struct gpu_sequence *s, int repeats,
                                      double timeout_s, double *seconds, struct err *e)
{
    struct turns t;
    GPU_TRY(check_run(g, s, repeats, &t.passes, &t.count, e));
    GPU_TRY(vk_settle(g, timeout_s, e)); // the sets of the last run become free
    GPU_TRY(need_sets(g, t.count * t.passes, has_others(s), e));
    t.set = mem_zero((size_t)(t.count * t.passes), sizeof *t.set);
    enum gpu_status status = run_with(g, s, &t, repeats, timeout_s, seconds, e);
    free(t.set);
    return status;
}

// Gives buffers the content that they have before the next run, in a submission of its own.
static enum gpu_status begin_run(struct gpu *g, const struct gpu_sequence *s, double timeout_s,
                                 struct err *e)
{
    if (!s->begins)
        return GPU_OK;
    GPU_TRY(vk_begin(g, timeout_s, e));
    record_begin(g, s, g->turn);
    return vk_submit(g, timeout_s, NULL, e);
}

// Runs a sequence whose images have their content.
static enum gpu_status run_again(struct gpu *g, const struct gpu_sequence *s, int repeats,
                                 double timeout_s, double *seconds, struct err *e)
{
    struct gpu_sequence plain = *s;
    double all = 0, one = 0;
    if (!s->begins || g->stamps)
        return run_submission(g, s, repeats, timeout_s, seconds, e);
    plain.begins = 0;
    for (int i = 0; i < repeats; i++, all += one) {
        GPU_TRY(begin_run(g, s, timeout_s, e));
        GPU_TRY(run_submission(g, &plain, 1, timeout_s, &one, e));
    }
    if (seconds)
        *seconds = all;
    return GPU_OK;
}

enum gpu_status gpu_run(struct gpu *g, const struct gpu_sequence *s, int repeats, double timeout_s,
                        double *seconds, struct err *e)
{
    GPU_TRY(vk_images_move(g, s, false, e));
    GPU_TRY(run_again(g, s, repeats, timeout_s, seconds, e));
    return vk_images_move(g, s, true, e);
}

// --- the first run of an unknown kernel ---
//
// It goes in parts, so that no submission is long: a driver may reset a device that is busy for
// seconds, and its display freezes.

#define MOST_GROWTH 8

struct gpu_pass parts_next(const struct gpu_pass *p, uint64_t done, uint64_t most)
{
    const uint64_t row = p->groups[0], layer = row * p->groups[1];
    const uint64_t x = done % row, y = done % layer / row, z = done / layer;
    struct gpu_pass part = *p;
    memcpy(part.base, (const uint32_t[]){(uint32_t)x, (uint32_t)y, (uint32_t)z}, sizeof part.base);
    memcpy(part.groups, (const uint32_t[]){(uint32_t)row, p->groups[1], 1}, sizeof part.groups);
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

enum gpu_status gpu_run_in_parts(struct gpu *g, const struct gpu_sequence *s,
                                 const struct gpu_pace *pace, struct gpu_parts *out, struct err *e)
{
    int64_t begin_ns = os_now_ns();
    struct gpu_pass pass;
    const struct gpu_sequence part = {&pass, 1, s->buffer, s->buffer_count, .image = s->image};
    *out = (struct gpu_parts){0};
    GPU_TRY(vk_images_move(g, s, false, e));
    GPU_TRY(begin_run(g, s, pace->timeout_s, e));
    for (int i = 0; i < s->pass_count; i++) {
        uint64_t most = parts_first(pace->group_s, pace->submit_s);
        for (uint64_t done = 0, total = volume(s->pass[i].groups); done < total; out->count++) {
            double seconds;
            pass = parts_next(&s->pass[i], done, most);
            double left_s = pace->timeout_s - seconds_since(begin_ns);
            enum gpu_status status =
                left_s > 0 ? run_again(g, &part, 1, left_s, &seconds, e) : GPU_TIMEOUT;
            if (status == GPU_TIMEOUT) // the message has the whole time, not that of the last part
                err_set(e, "the kernel is not done after %g s", pace->timeout_s);
            GPU_TRY(status);
            most = parts_grow(most, volume(pass.groups), seconds, pace->submit_s);
            done += volume(pass.groups);
            out->seconds += seconds;
        }
    }
    out->is_split = out->count > s->pass_count;
    return vk_images_move(g, s, true, e);
}

// --- timing ---
//
// Warm up, find how many repeats make a batch long enough to be measured, measure batches. The time
// of a run is a batch's device time divided by its repeats; the budget counts on the host's clock,
// overheads included.

#define RUN_TIMEOUT_S 30.0
#define MAX_REPEATS   10000
#define AGREEMENT     0.02
#define WARMUP_CAP    4 // the warm-up ends after so many times warmup_s, agreement or not

enum { FEWEST_SAMPLES = 2 };

// GPUs idle at a fraction of their clock: they need time to warm up. On CPU devices few batches are
// enough (the minimum counts), and they are slow (kernels run for milliseconds).
struct gpu_timing gpu_timing_default(const struct gpu_info *i)
{
    struct gpu_timing gpu = {.warmup_s = 0.06, .batch_s = 0.015, .batches = 5, .budget_s = 0.5};
    struct gpu_timing cpu = {.warmup_s = 0, .batch_s = 0.004, .batches = 6, .budget_s = 0.1};
    struct gpu_timing t = i->is_cpu ? cpu : gpu;
    t.submit_s = 0.2;
    t.hopeless = 3;
    t.apart_s = 0.025; // some time slices of the scheduler
    return t;
}

bool gpu_is_hopeless(const struct gpu_timing *t, const double *seconds, int count, double apart_s,
                     double incumbent_s)
{
    double best = INFINITY;
    for (int i = 0; i < count; i++)
        best = fmin(best, seconds[i]);
    return count >= FEWEST_SAMPLES && apart_s >= t->apart_s && t->hopeless > 0 && incumbent_s > 0 &&
           best > t->hopeless * incumbent_s;
}

int timing_repeats(const struct gpu_timing *t, int n, double seconds)
{
    double each = seconds / n;
    double most = fmin(floor(t->submit_s / each), MAX_REPEATS);
    double wanted = n;
    if (seconds < t->batch_s)
        wanted = fmin(ceil(1.1 * t->batch_s / each), 16.0 * n);
    return (int)fmax(1, fmin(wanted, most));
}

bool timing_is_warm(const struct gpu_timing *t, double elapsed_s, double each, double previous)
{
    bool agrees = fabs(each - previous) <= AGREEMENT * each;
    return elapsed_s >= (agrees ? 1 : WARMUP_CAP) * t->warmup_s;
}

static int next_repeats(const struct gpu_sequence *s, const struct gpu_timing *t, int n,
                        double seconds)
{
    int next = timing_repeats(t, n, seconds);
    return s->begins ? int_min(next, GPU_MOST_BEGUN) : next;
}

enum gpu_status gpu_time(struct gpu *g, const struct gpu_sequence *s, const struct gpu_timing *t,
                         double incumbent_s, struct gpu_samples *out, struct err *e)
{
    assert(t->submit_s > 0);
    *out = (struct gpu_samples){0};
    GPU_TRY(vk_images_move(g, s, false, e));
    // Warm up. The first run decides how many repeats the second batch has, so that no submission
    // of an unknown kernel is long.
    int64_t begin = os_now_ns();
    int repeats = 1;
    double seconds, previous = 0;
    for (bool done = false; !done;) {
        GPU_TRY(run_again(g, s, repeats, RUN_TIMEOUT_S, &seconds, e));
        double each = seconds / repeats;
        int next = next_repeats(s, t, repeats, seconds);
        done = next <= repeats && timing_is_warm(t, seconds_since(begin), each, previous);
        repeats = next;
        previous = each;
    }
    int64_t first = os_now_ns();
    int batches = int_min(t->batches, 32), fewest = int_min(batches, FEWEST_SAMPLES);
    double wall_s = 0;
    for (bool done = false; !done;) {
        double apart_s = seconds_since(first);
        begin = os_now_ns();
        GPU_TRY(run_again(g, s, repeats, RUN_TIMEOUT_S, &seconds, e));
        int next = next_repeats(s, t, repeats, seconds);
        if (out->count == 0 && next > 2 * repeats) { // a compiler slowed the warm-up
            repeats = next;
            first = os_now_ns();
            continue;
        }
        wall_s += seconds_since(begin) / repeats;
        out->seconds[out->count++] = seconds / repeats;
        out->early_stopped = out->count < batches &&
                             gpu_is_hopeless(t, out->seconds, out->count, apart_s, incumbent_s);
        done = out->early_stopped || out->count >= batches ||
               (out->count >= fewest && seconds_since(first) >= t->budget_s);
    }
    out->repeats = repeats;
    out->wall_s = wall_s / out->count;
    return vk_images_move(g, s, true, e);
}
