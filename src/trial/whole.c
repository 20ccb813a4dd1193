#include "trial/whole.h"

#include "base/mem.h"
#include "base/os.h"
#include "base/rng.h"
#include "space/tensor.h"
#include "trial/candidate.h"
#include "trial/context.h"
#include "trial/operator.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// --- constants ---

enum { GAP_BYTE = 0xff, LARGEST_WHOLE = 7, APART = 64 };

bool constants_map(struct constants *c, int fd, struct err *e)
{
    size_t size = (size_t)plan_file_offset(c->plan, c->plan->value_count);
    if (!size)
        return true;
    void *files = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (files == MAP_FAILED)
        return err_set(e, "cannot map %zu bytes of weights: %s", size, strerror(errno));
    c->files = files;
    return true;
}

void constants_unmap(struct constants *c)
{
    if (c->files)
        munmap((void *)(uintptr_t)c->files,
               (size_t)plan_file_offset(c->plan, c->plan->value_count));
    c->files = NULL;
}

void constants_fill(const struct constants *c, int value, const struct operation *o, int index,
                    void *out)
{
    const struct plan_value *v = &c->plan->value[value];
    uint64_t seed = c->seed + APART * (uint64_t)(value + 1); // operator_fill adds a little to it
    if (v->from) { // spreads the value over the layout of its buffer
        const unsigned char *packed = c->files + plan_file_offset(c->plan, value);
        struct tensor tensor[OPERATION_MAX_TENSORS];
        const struct tensor *t = &tensor[index];
        memset(out, GAP_BYTE, v->bytes);
        if (v->role == PLAN_INPUT) {
            memcpy(out, packed, (size_t)v->count * (size_t)element_bytes(v->element));
            return;
        }
        operation_tensors(o, tensor);
        int64_t bytes = element_bytes(t->element), lines = tensor_lines(t),
                size = t->size[t->rank - 1], step = t->stride[t->rank - 1];
        for (int64_t line = 0; line < lines; line++)
            for (int64_t i = 0, at = tensor_line(t, line); i < size;
                 i++, at += step, packed += bytes)
                memcpy((unsigned char *)out + at * bytes, packed, (size_t)bytes);
    } else if (v->role == PLAN_INPUT) {
        struct rng rng;
        bool is_whole = v->element == ELEMENT_I8 || v->element == ELEMENT_I32;
        int64_t count = (int64_t)v->bytes / element_bytes(v->element);
        rng_seed(&rng, seed);
        for (int64_t i = 0; i < count; i++)
            element_put(out, v->element, i,
                        is_whole ? (double)rng_below(&rng, 2 * LARGEST_WHOLE + 1) - LARGEST_WHOLE
                                 : 2 * rng_real(&rng) - 1);
    } else
        operator_fill_weight(o, seed, index, out);
}

// --- the run ---

enum {
    RACE_ROUNDS = 7,
    RACE_ROUNDS_OF_SLOW = 2,
    THE_WHOLE = -1,
    MOST_BOUND = OPERATION_MAX_TENSORS + 1,
    REASON_SIZE = TRIAL_REASON_SIZE - 100 // without the layer's name
};
#define RACE_SECONDS 10.0

#define PATIENCE 0.9 // of a deadline: to report a timeout is cheaper than to be killed

// Drivers of GPUs may end a submission after 2 seconds and more.
#define LONG_RUN_S 1.0

struct output { // of the network, layer by layer
    int step;
    double magnitude;
    void *bytes;
};

struct running {
    const struct whole *whole;
    struct constants constants;
    struct wire *wire;
    struct gpu *gpu;
    struct gpu_memory *shared;
    struct gpu_buffer **value;             // of the plan; then scratch, which all kernels share
    struct gpu_buffer **bound;             // of each step, MOST_BOUND apart
    struct candidate *kernel;              // of each task, WHOLE_SETS apart
    struct gpu_sequence *link[WHOLE_SETS]; // of each step, each followed by the next
    void *tensor[OPERATION_MAX_TENSORS];   // of the step that is verified, the reference last
    void *got;                             // its output
    uint64_t *hash;                        // of each value when it was written
    struct output *output;
    int outputs;
    double seconds; // of all layers, one after the other
    enum trial_phase phase;
    struct whole_result result;
};

static bool fail(struct running *r, int step, const char *what)
{
    char *text = r->result.reason;
    if (step == THE_WHOLE)
        snprintf(text, sizeof r->result.reason, "%s", what);
    else
        snprintf(text, sizeof r->result.reason, "layer '%s': %s", r->whole->plan.step[step].name,
                 what);
    return false;
}

static bool accept(struct running *r, int step, enum gpu_status status, const struct err *e)
{
    return status == GPU_OK || fail(r, step, e->text);
}

// Announces a phase. `index` is that of a task or step, or THE_WHOLE, which is announced as one
// past the last step.
static enum fault_kind enter(struct running *r, enum trial_phase phase, int index)
{
    int candidate = index == THE_WHOLE ? r->whole->plan.step_count : index;
    r->phase = phase;
    return wire_enter(r->wire, phase, candidate, WHOLE_FAULTS + 1 + index);
}

static const struct operation *operation_of_task(const void *context, int task)
{
    const struct whole *w = context;
    return &w->task[task].operation;
}

// --- kernels and buffers ---

// Builds the kernels of both sets. The second has none for tasks where it is like the first.
static bool build_all(struct running *r)
{
    const struct whole *w = r->whole;
    r->kernel = mem_zero((size_t)w->task_count * WHOLE_SETS, sizeof *r->kernel);
    for (int i = 0; i < (w->races ? WHOLE_SETS : 1) * w->task_count; i++) {
        int set = i / w->task_count, task = i % w->task_count;
        const struct job *job = &w->task[task].job[set];
        struct candidate *c = &r->kernel[task * WHOLE_SETS + set];
        struct failure why = {0};
        struct err e = {0};
        if (set && !job->pass_count)
            continue;
        enter(r, PHASE_COMPILE, task);
        const struct operator_layout layout = operator_layout(&w->task[task].operation);
        const struct job_roles roles = operator_roles(&layout);
        if (!candidate_compile(c, job, &w->place.limits, &roles, &why))
            return fail(r, THE_WHOLE, why.reason);
        if (c->kept)
            return fail(r, THE_WHOLE, "a network's kernel keeps a buffer from run to run (kept =)");
        enter(r, PHASE_PIPELINE, task);
        if (!accept(r, THE_WHOLE, candidate_link(c, r->gpu, &e), &e))
            return false;
    }
    return true;
}

static struct candidate *kernel_of(const struct running *r, int task, int set)
{
    bool is_same = !r->whole->task[task].job[set].pass_count;
    return &r->kernel[task * WHOLE_SETS + (is_same ? 0 : set)];
}

static bool create_buffers(struct running *r)
{
    const struct plan *p = &r->whole->plan;
    struct err e = {0};
    enum gpu_status status = GPU_OK;
    uint64_t scratch = 0;
    for (int i = 0; i < r->whole->task_count; i++)
        for (int k = 0; k < WHOLE_SETS; k++)
            if (r->whole->task[i].job[k].scratch_bytes > scratch)
                scratch = r->whole->task[i].job[k].scratch_bytes;
    r->value = mem_zero((size_t)p->value_count + 1, sizeof(struct gpu_buffer *));
    if (p->shared)
        status = gpu_memory_create(r->gpu, p->shared, &r->shared, &e);
    for (int i = 0; status == GPU_OK && i < p->value_count; i++) {
        const struct plan_value *v = &p->value[i];
        status = plan_shares(v)
                     ? gpu_buffer_place(r->gpu, r->shared, v->offset, v->bytes, &r->value[i], &e)
                     : gpu_buffer_create(r->gpu, v->bytes, &r->value[i], &e);
        if (status != GPU_OK)
            err_prefix(&e, "%s", v->name);
    }
    if (status == GPU_OK && scratch)
        status = gpu_buffer_create(r->gpu, scratch, &r->value[p->value_count], &e);
    r->bound = mem_zero((size_t)p->step_count * MOST_BOUND, sizeof(struct gpu_buffer *));
    for (int i = 0; i < p->step_count; i++) {
        struct gpu_buffer **bound = &r->bound[i * MOST_BOUND];
        for (int k = 0; k < p->step[i].value_count; k++)
            bound[k] = r->value[p->step[i].value[k]];
        bound[p->step[i].value_count] = r->value[p->value_count];
    }
    return accept(r, THE_WHOLE, status, &e);
}

// Uploads inputs and weights.
static bool upload_all(struct running *r)
{
    const struct plan *p = &r->whole->plan;
    bool *done = mem_zero((size_t)p->value_count, sizeof *done);
    struct err e = {0};
    r->hash = mem_zero((size_t)p->value_count, sizeof *r->hash);
    enum gpu_status status = GPU_OK;
    for (int i = 0; status == GPU_OK && i < p->step_count; i++) {
        const struct plan_step *s = &p->step[i];
        enter(r, PHASE_PREPARE, i);
        mem_expect(operator_reference_bytes(operation_of_task(r->whole, s->task)));
        for (int k = 0; status == GPU_OK && k < s->value_count - 1; k++) {
            int v = s->value[k];
            uint64_t bytes = p->value[v].bytes;
            if (!plan_shares(&p->value[v]) && !done[v]) {
                void *data = mem_alloc(bytes);
                constants_fill(&r->constants, v, operation_of_task(r->whole, s->task), k, data);
                status = gpu_write(r->gpu, r->value[v], 0, data, bytes, &e);
                r->hash[v] = hash_bytes(data, bytes);
                free(data);
            }
            done[v] = true;
        }
    }
    free(done);
    return accept(r, THE_WHOLE, status, &e);
}

// --- one layer after the other ---

static void *fetch(struct running *r, int value, enum gpu_status *status, struct err *e)
{
    uint64_t bytes = r->whole->plan.value[value].bytes;
    void *data = mem_alloc(bytes);
    if (*status == GPU_OK)
        *status = gpu_read(r->gpu, r->value[value], 0, data, bytes, e);
    return data;
}

// Runs and verifies a layer. Its output is poisoned before, so that places that stay unwritten, and
// writes between its rows, are found. Its inputs must be what was written there: the reference
// computes from them, too.
static bool verify_layer(struct running *r, int step)
{
    const uint32_t wrong_word = 0x40404040;
    char reason[REASON_SIZE];
    struct err e = {0};
    const struct plan_step *s = &r->whole->plan.step[step];
    int last = s->value_count - 1;
    const struct plan_value *output = &r->whole->plan.value[s->value[last]];
    const struct operation *o = operation_of_task(r->whole, s->task);
    if (enter(r, PHASE_RUN, step) == FAULT_WRONG &&
        gpu_write(r->gpu, r->value[s->value[0]], 0, &wrong_word, sizeof wrong_word, &e) != GPU_OK)
        return fail(r, step, e.text);
    const struct gpu_pace pace = {.submit_s = gpu_timing_default(gpu_get_info(r->gpu)).submit_s,
                                  .timeout_s = PATIENCE * r->whole->place.deadline_s[r->phase]};
    struct gpu_parts parts = {0};
    enum gpu_status status = gpu_fill(r->gpu, r->value[s->value[last]], CONTEXT_POISON_WORD, &e);
    for (int k = 0; k < last; k++)
        r->tensor[k] = fetch(r, s->value[k], &status, &e);
    if (status == GPU_OK)
        status = candidate_run(kernel_of(r, s->task, 0), r->gpu, &r->bound[step * MOST_BOUND],
                               &pace, &parts, &e);
    r->got = fetch(r, s->value[last], &status, &e);
    r->seconds += parts.seconds;
    if (!accept(r, step, status, &e))
        return false;
    for (int k = 0; k < last; k++) {
        const struct plan_value *v = &r->whole->plan.value[s->value[k]];
        if (hash_bytes(r->tensor[k], v->bytes) == r->hash[s->value[k]])
            continue;
        snprintf(reason, sizeof reason, "'%s' was overwritten before it was read", v->name);
        return fail(r, step, reason);
    }
    enter(r, PHASE_PREPARE, step); // which may take long
    r->tensor[last] = mem_alloc(output->bytes);
    operator_reference(o, (const void *const *)r->tensor, r->tensor[last]);
    if (enter(r, PHASE_VERIFY, step) == FAULT_WRONG)
        ((unsigned char *)r->got)[1] ^= 0x40;
    double magnitude = operator_magnitude(o, (const void *const *)r->tensor);
    if (!isfinite(magnitude))
        return fail(r, step, "not all of what it reads is finite");
    if (!operator_compare_flow(o, magnitude, r->got, r->tensor[last], reason, sizeof reason).right)
        return fail(r, step, reason);
    r->hash[s->value[last]] = hash_bytes(r->got, output->bytes);
    if (output->role == PLAN_OUTPUT) {
        r->output[r->outputs++] = (struct output){step, magnitude, r->got};
        r->got = NULL;
    }
    return true;
}

static bool verify_layers(struct running *r)
{
    const struct plan *p = &r->whole->plan;
    bool ok = true;
    r->output = mem_zero((size_t)p->step_count, sizeof *r->output);
    for (int i = 0; ok && i < p->step_count; i++) {
        ok = verify_layer(r, i);
        for (int k = 0; k < OPERATION_MAX_TENSORS; k++) {
            free(r->tensor[k]);
            r->tensor[k] = NULL;
        }
        free(r->got);
        r->got = NULL;
    }
    // Outputs must be those in the network's file, where it has some: another program computed
    // them.
    for (int i = 0; ok && i < r->outputs; i++) {
        char reason[REASON_SIZE], text[TRIAL_REASON_SIZE - 20];
        const struct output *out = &r->output[i];
        const struct plan_step *s = &p->step[out->step];
        const struct operation *o = operation_of_task(r->whole, s->task);
        int index = s->value_count - 1, value = s->value[index];
        const struct plan_value *v = &p->value[value];
        const struct tolerance t = {.absolute = v->absolute, .relative = v->relative};
        if (!v->from)
            continue;
        void *expected = mem_alloc(v->bytes);
        constants_fill(&r->constants, value, o, index, expected);
        ok = operator_compare_within(o, t, out->bytes, expected, reason, sizeof reason).right;
        free(expected);
        snprintf(text, sizeof text, "not what %s has: %s", v->from->path, reason);
        ok = ok || fail(r, out->step, text);
    }
    return ok;
}

// --- all at once ---

// Chains the kernels of a set. Too long a chain is not submitted to a GPU.
static bool chain(struct running *r)
{
    const struct plan *p = &r->whole->plan;
    char text[100];
    for (int set = 0; set < (r->whole->races ? WHOLE_SETS : 1); set++) {
        struct gpu_sequence *link = mem_zero((size_t)p->step_count, sizeof *link);
        for (int i = 0; i < p->step_count; i++) {
            link[i] = candidate_sequence(kernel_of(r, p->step[i].task, set), 0,
                                         &r->bound[i * MOST_BOUND]);
            link[i].next = i + 1 < p->step_count ? &link[i + 1] : NULL;
        }
        r->link[set] = link;
    }
    snprintf(text, sizeof text, "a run of %.3g s is too long for one submission", r->seconds);
    return gpu_get_info(r->gpu)->is_cpu || r->seconds <= LONG_RUN_S || fail(r, THE_WHOLE, text);
}

// Runs and verifies the whole. The shared memory is poisoned again, as layers may leave gaps
// between rows.
static bool run_at_once(struct running *r, int set)
{
    struct err e = {0};
    const struct plan *p = &r->whole->plan;
    enum gpu_status status = GPU_OK;
    enter(r, PHASE_RUN, THE_WHOLE);
    for (int i = 0; status == GPU_OK && i < p->value_count; i++)
        if (plan_shares(&p->value[i]))
            status = gpu_fill(r->gpu, r->value[i], CONTEXT_POISON_WORD, &e);
    if (status == GPU_OK)
        status = gpu_run(r->gpu, r->link[set], 1, PATIENCE * r->whole->place.deadline_s[r->phase],
                         NULL, &e);
    if (!accept(r, THE_WHOLE, status, &e))
        return false;
    enter(r, PHASE_VERIFY, THE_WHOLE);
    for (int i = 0; i < r->outputs; i++) {
        char reason[REASON_SIZE] = "";
        const struct output *out = &r->output[i];
        const struct plan_step *s = &p->step[out->step];
        void *again = fetch(r, s->value[s->value_count - 1], &status, &e);
        bool right = status == GPU_OK &&
                     operator_compare_flow(operation_of_task(r->whole, s->task), out->magnitude,
                                           again, out->bytes, reason, sizeof reason)
                         .right;
        free(again);
        if (!accept(r, out->step, status, &e))
            return false;
        if (!right)
            return fail(r, out->step, reason);
    }
    return true;
}

static bool take_time(struct running *r, int set, const struct gpu_timing *timing)
{
    struct samples *s = &r->result.samples[set];
    struct gpu_samples more = {0};
    struct err e = {0};
    enter(r, PHASE_TIME, THE_WHOLE);
    if (!accept(r, THE_WHOLE, gpu_time(r->gpu, r->link[set], timing, 0, &more, &e), &e))
        return false;
    for (int i = 0; i < more.count && s->count < TRIAL_MAX_SAMPLES; i++)
        s->seconds[s->count++] = more.seconds[i];
    r->result.seconds[set] = gpu_robust_seconds(gpu_get_info(r->gpu), s->seconds, s->count);
    return true;
}

// Times one set with more samples than a trial has, as it happens once a session, or both in turns,
// so that a drift of the clock or other load affects both alike.
static bool time_whole(struct running *r)
{
    struct gpu_timing timing = gpu_timing_default(gpu_get_info(r->gpu));
    int64_t start_ns = os_now_ns();
    if (!r->whole->races) {
        timing.batches = TRIAL_MAX_SAMPLES;
        timing.budget_s = 1;
        return take_time(r, 0, &timing);
    }
    timing.batches = 1;
    for (int round = 0; round < RACE_ROUNDS; round++) {
        bool is_slow = (double)(os_now_ns() - start_ns) * 1e-9 > RACE_SECONDS;
        if (round >= RACE_ROUNDS_OF_SLOW && is_slow)
            break;
        for (int set = 0; set < WHOLE_SETS; set++)
            if (!take_time(r, set, &timing))
                return false;
    }
    return true;
}

void whole_run(struct wire *wire, const struct whole *whole, int weights)
{
    struct err e = {0};
    struct running r = {
        .whole = whole, .wire = wire, .constants = {&whole->plan, whole->place.seed, NULL}};
    const struct plan_tasks tasks = {whole->task_count, operation_of_task, whole};
    bool ok = fault_parse(whole->place.fault, &wire->plan, &e);
    enter(&r, PHASE_START, THE_WHOLE);
    ok = ok && plan_fits(&whole->plan, &tasks, &e) && constants_map(&r.constants, weights, &e);
    r.gpu = ok ? context_open_device(&whole->place, &e) : NULL;
    if (!r.gpu) {
        wire_send(wire, message_failed(&e));
        return;
    }
    if (create_buffers(&r) && build_all(&r) && upload_all(&r) && verify_layers(&r) && chain(&r)) {
        r.result.verified = run_at_once(&r, 0);
        bool timed = r.result.verified && time_whole(&r);
        for (int set = 0; timed && set < (whole->races ? WHOLE_SETS : 1);
             set++) // after so many runs, too
            timed = run_at_once(&r, set);
        if (!timed) {
            memset(r.result.samples, 0, sizeof r.result.samples);
            memset(r.result.seconds, 0, sizeof r.result.seconds);
        }
    }
    wire_send(wire,
              message_text(&(struct message){MESSAGE_WHOLE_RESULT, .whole_result = &r.result}));
}
