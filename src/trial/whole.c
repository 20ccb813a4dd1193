#include "trial/whole.h"

#include "base/mem.h"
#include "base/os.h"
#include "trial/candidate.h"
#include "trial/constants.h"
#include "trial/operator.h"
#include "trial/rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RACE_ROUNDS = 7, RACE_ROUNDS_OF_SLOW = 2, THE_WHOLE = -1 };
#define RACE_SECONDS 10.0

#define PATIENCE 0.9 // of a deadline: to report a timeout is cheaper than to be killed

// Drivers of GPUs begin to doubt that a submission will end after 2 seconds and more.
#define LONG_RUN_S 1.0

struct output { // what the network gave, layer by layer
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
    void *got;                             // what it gave
    uint64_t *hash;                        // of what each value was when it was written
    struct output *output;
    int outputs;
    double seconds; // of all layers, one after the other
    enum trial_phase phase;
    struct whole_result result;
};

enum { MOST_BOUND = OPERATION_MAX_TENSORS + 1 };

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

// `index` of a task or step; THE_WHOLE, which is announced as one past the last step.
static enum fault_kind enter(struct running *r, enum trial_phase phase, int index)
{
    int candidate = index == THE_WHOLE ? r->whole->plan.step_count : index;
    r->phase = phase;
    return wire_enter(r->wire, phase, candidate, WHOLE_FAULTS + 1 + index);
}

static double patience(const struct running *r)
{
    return PATIENCE * r->whole->place.deadline_s[r->phase];
}

static const struct plan *plan_of(const struct running *r)
{
    return &r->whole->plan;
}

static const struct operation *operation_of(const struct running *r, int step)
{
    return &r->whole->task[plan_of(r)->step[step].task].operation;
}

static int sets(const struct running *r)
{
    return r->whole->races ? WHOLE_SETS : 1;
}

// --- what is there ---

static const struct operation *operation_of_task(const void *context, int task)
{
    const struct whole *w = context;
    return &w->task[task].operation;
}

static bool check(const struct whole *w, struct err *e)
{
    const struct plan_tasks tasks = {w->task_count, operation_of_task, w};
    return plan_fits(&w->plan, &tasks, e);
}

static enum gpu_status create_values(struct running *r, struct err *e)
{
    const struct plan *p = plan_of(r);
    enum gpu_status status = GPU_OK;
    if (p->shared)
        status = gpu_memory_create(r->gpu, p->shared, &r->shared, e);
    for (int i = 0; status == GPU_OK && i < p->value_count; i++) {
        const struct plan_value *v = &p->value[i];
        status = plan_shares(v)
                     ? gpu_buffer_place(r->gpu, r->shared, v->offset, v->bytes, &r->value[i], e)
                     : gpu_buffer_create(r->gpu, v->bytes, &r->value[i], e);
        if (status != GPU_OK)
            err_prefix(e, "%s", v->name);
    }
    return status;
}

// --- kernels ---

static struct candidate *kernel_of(const struct running *r, int task, int set)
{
    bool is_same = !r->whole->task[task].job[set].pass_count;
    return &r->kernel[task * WHOLE_SETS + (is_same ? 0 : set)];
}

static bool build(struct running *r, int task, int set)
{
    const struct whole_task *t = &r->whole->task[task];
    const struct job *job = &t->job[set];
    struct candidate *c = &r->kernel[task * WHOLE_SETS + set];
    struct failure why = {0};
    struct err e = {0};
    if (set && !job->pass_count)
        return true;
    enter(r, PHASE_COMPILE, task);
    if (!candidate_compile(
            c, job, &r->whole->place.limits,
            operation_tensors(&t->operation, (struct tensor[OPERATION_MAX_TENSORS]){0}) +
                (job->scratch_bytes > 0),
            &why))
        return fail(r, THE_WHOLE, why.reason);
    enter(r, PHASE_PIPELINE, task);
    return accept(r, THE_WHOLE, candidate_link(c, r->gpu, &e), &e);
}

static bool build_all(struct running *r)
{
    r->kernel = mem_zero((size_t)r->whole->task_count * WHOLE_SETS, sizeof *r->kernel);
    for (int set = 0; set < sets(r); set++)
        for (int i = 0; i < r->whole->task_count; i++)
            if (!build(r, i, set))
                return false;
    return true;
}

static void chain(struct running *r, int set)
{
    const struct plan *p = plan_of(r);
    struct gpu_sequence *link = mem_zero((size_t)p->step_count, sizeof *link);
    for (int i = 0; i < p->step_count; i++) {
        link[i] = candidate_sequence(kernel_of(r, p->step[i].task, set), &r->bound[i * MOST_BOUND]);
        link[i].next = i + 1 < p->step_count ? &link[i + 1] : NULL;
    }
    r->link[set] = link;
}

// --- what flows in ---

static enum gpu_status upload(struct running *r, int value, const struct operation *o, int index,
                              struct err *e)
{
    uint64_t bytes = plan_of(r)->value[value].bytes;
    void *data = mem_alloc(bytes);
    constants_fill(&r->constants, value, o, index, data);
    enum gpu_status status = gpu_write(r->gpu, r->value[value], 0, data, bytes, e);
    r->hash[value] = hash_bytes(data, bytes);
    free(data);
    return status;
}

static bool upload_all(struct running *r)
{
    const struct plan *p = plan_of(r);
    bool *done = mem_zero((size_t)p->value_count, sizeof *done);
    struct err e = {0};
    r->hash = mem_zero((size_t)p->value_count, sizeof *r->hash);
    enum gpu_status status = GPU_OK;
    for (int i = 0; status == GPU_OK && i < p->step_count; i++) {
        const struct plan_step *s = &p->step[i];
        enter(r, PHASE_PREPARE, i);
        for (int k = 0; status == GPU_OK && k < s->value_count - 1; k++) {
            int v = s->value[k];
            if (!plan_shares(&p->value[v]) && !done[v])
                status = upload(r, v, operation_of(r, i), k, &e);
            done[v] = true;
        }
    }
    free(done);
    return accept(r, THE_WHOLE, status, &e);
}

// --- one layer after the other ---

static void *fetch(struct running *r, int value, enum gpu_status *status, struct err *e)
{
    uint64_t bytes = plan_of(r)->value[value].bytes;
    void *data = mem_alloc(bytes);
    if (*status == GPU_OK)
        *status = gpu_read(r->gpu, r->value[value], 0, data, bytes, e);
    return data;
}

// What lies where the output goes is poison first: what is left unwritten, and what is written
// between its rows, is seen.
static enum gpu_status run_layer(struct running *r, int step, struct err *e)
{
    const struct plan_step *s = &plan_of(r)->step[step];
    const struct gpu_pace pace = {.submit_s = gpu_timing_default(gpu_get_info(r->gpu)).submit_s,
                                  .timeout_s = patience(r)};
    struct gpu_parts parts = {0};
    int made = s->value[s->value_count - 1];
    enum gpu_status status = gpu_fill(r->gpu, r->value[made], RIG_POISON_WORD, e);
    for (int k = 0; k < s->value_count - 1; k++)
        r->tensor[k] = fetch(r, s->value[k], &status, e);
    if (status == GPU_OK)
        status = candidate_run(kernel_of(r, s->task, 0), r->gpu, &r->bound[step * MOST_BOUND],
                               &pace, &parts, e);
    r->got = fetch(r, made, &status, e);
    r->seconds += parts.seconds;
    return status;
}

// Else the layer and its reference would both compute with what lies there now.
static bool inputs_are_intact(struct running *r, int step)
{
    char text[TRIAL_REASON_SIZE - 100];
    const struct plan_step *s = &plan_of(r)->step[step];
    for (int k = 0; k < s->value_count - 1; k++) {
        const struct plan_value *v = &plan_of(r)->value[s->value[k]];
        if (hash_bytes(r->tensor[k], v->bytes) == r->hash[s->value[k]])
            continue;
        snprintf(text, sizeof text, "'%s' was overwritten before it was read", v->name);
        return fail(r, step, text);
    }
    return true;
}

static bool scribble(struct running *r, int step, struct err *e)
{
    uint32_t word = 0x40404040;
    int value = plan_of(r)->step[step].value[0];
    return gpu_write(r->gpu, r->value[value], 0, &word, sizeof word, e) == GPU_OK;
}

static bool verify_layer(struct running *r, int step)
{
    char reason[TRIAL_REASON_SIZE - 100];
    struct err e = {0};
    const struct plan_step *s = &plan_of(r)->step[step];
    const struct plan_value *made = &plan_of(r)->value[s->value[s->value_count - 1]];
    const struct operation *o = operation_of(r, step);
    if (enter(r, PHASE_RUN, step) == FAULT_WRONG && !scribble(r, step, &e))
        return fail(r, step, e.text);
    if (!accept(r, step, run_layer(r, step, &e), &e) || !inputs_are_intact(r, step))
        return false;
    enter(r, PHASE_PREPARE, step); // which may take long
    void **reference = &r->tensor[s->value_count - 1];
    *reference = mem_alloc(made->bytes);
    operator_reference(o, (const void *const *)r->tensor, *reference);
    if (enter(r, PHASE_VERIFY, step) == FAULT_WRONG)
        ((unsigned char *)r->got)[1] ^= 0x40;
    double magnitude = operator_magnitude(o, (const void *const *)r->tensor);
    if (!isfinite(magnitude))
        return fail(r, step, "not all of what it reads is finite");
    if (!operator_compare_flow(o, magnitude, r->got, *reference, reason, sizeof reason).right)
        return fail(r, step, reason);
    r->hash[s->value[s->value_count - 1]] = hash_bytes(r->got, made->bytes);
    if (made->role == PLAN_OUTPUT) {
        r->output[r->outputs++] = (struct output){step, magnitude, r->got};
        r->got = NULL;
    }
    return true;
}

// What the network's file says of an output, which other programs gave.
static bool compare_expected(struct running *r, const struct output *out)
{
    char reason[TRIAL_REASON_SIZE - 100], text[TRIAL_REASON_SIZE - 20];
    const struct plan_step *s = &plan_of(r)->step[out->step];
    int index = s->value_count - 1, value = s->value[index];
    const struct plan_value *v = &plan_of(r)->value[value];
    const struct tolerance t = {.absolute = v->absolute, .relative = v->relative};
    if (!v->from)
        return true;
    void *expected = mem_alloc(v->bytes);
    constants_fill(&r->constants, value, operation_of(r, out->step), index, expected);
    bool right = operator_compare_within(operation_of(r, out->step), t, out->bytes, expected,
                                         reason, sizeof reason)
                     .right;
    free(expected);
    snprintf(text, sizeof text, "not what %s has: %s", v->from->path, reason);
    return right || fail(r, out->step, text);
}

static bool verify_layers(struct running *r)
{
    const struct plan *p = plan_of(r);
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
    for (int i = 0; ok && i < r->outputs; i++)
        ok = compare_expected(r, &r->output[i]);
    return ok;
}

// --- all at once ---

static bool compare_output(struct running *r, const struct output *out)
{
    char reason[TRIAL_REASON_SIZE - 100];
    struct err e = {0};
    enum gpu_status status = GPU_OK;
    const struct plan_step *s = &plan_of(r)->step[out->step];
    void *again = fetch(r, s->value[s->value_count - 1], &status, &e);
    bool right =
        status == GPU_OK && operator_compare_flow(operation_of(r, out->step), out->magnitude, again,
                                                  out->bytes, reason, sizeof reason)
                                .right;
    free(again);
    if (!accept(r, out->step, status, &e))
        return false;
    return right || fail(r, out->step, reason);
}

static bool run_at_once(struct running *r, int set)
{
    struct err e = {0};
    enter(r, PHASE_RUN, THE_WHOLE);
    // Gaps between rows are what the shared memory held: they are poison again where a layer has
    // any.
    const struct plan *p = plan_of(r);
    enum gpu_status status = GPU_OK;
    for (int i = 0; status == GPU_OK && i < p->value_count; i++)
        if (plan_shares(&p->value[i]))
            status = gpu_fill(r->gpu, r->value[i], RIG_POISON_WORD, &e);
    if (status == GPU_OK)
        status = gpu_run(r->gpu, r->link[set], 1, patience(r), NULL, &e);
    if (!accept(r, THE_WHOLE, status, &e))
        return false;
    enter(r, PHASE_VERIFY, THE_WHOLE);
    for (int i = 0; i < r->outputs; i++)
        if (!compare_output(r, &r->output[i]))
            return false;
    return true;
}

// --- time ---

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

// In turns, so that a drift of the clock or of the neighbours meets both alike.
static bool race(struct running *r)
{
    struct gpu_timing timing = gpu_timing_default(gpu_get_info(r->gpu));
    int64_t start_ns = os_now_ns();
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

// Once a session, so that there is time for more samples than a trial has.
static bool time_whole(struct running *r)
{
    struct gpu_timing timing = gpu_timing_default(gpu_get_info(r->gpu));
    timing.batches = TRIAL_MAX_SAMPLES;
    timing.budget_s = 1;
    return r->whole->races ? race(r) : take_time(r, 0, &timing);
}

static void run(struct running *r)
{
    char text[100];
    struct err e = {0};
    const struct plan *p = plan_of(r);
    uint64_t scratch = 0;
    for (int i = 0; i < r->whole->task_count; i++)
        for (int k = 0; k < WHOLE_SETS; k++)
            if (r->whole->task[i].job[k].scratch_bytes > scratch)
                scratch = r->whole->task[i].job[k].scratch_bytes;
    r->value = mem_zero((size_t)p->value_count + 1, sizeof(struct gpu_buffer *));
    enum gpu_status status = create_values(r, &e);
    if (status == GPU_OK && scratch)
        status = gpu_buffer_create(r->gpu, scratch, &r->value[p->value_count], &e);
    r->bound = mem_zero((size_t)p->step_count * MOST_BOUND, sizeof(struct gpu_buffer *));
    for (int i = 0; i < p->step_count; i++) {
        struct gpu_buffer **bound = &r->bound[i * MOST_BOUND];
        for (int k = 0; k < p->step[i].value_count; k++)
            bound[k] = r->value[p->step[i].value[k]];
        bound[p->step[i].value_count] = r->value[p->value_count];
    }
    if (!accept(r, THE_WHOLE, status, &e) || !build_all(r) || !upload_all(r) || !verify_layers(r))
        return;
    for (int set = 0; set < sets(r); set++)
        chain(r, set);
    if (!gpu_get_info(r->gpu)->is_cpu && r->seconds > LONG_RUN_S) {
        snprintf(text, sizeof text, "a run of %.3g s is too long for one submission", r->seconds);
        fail(r, THE_WHOLE, text);
        return;
    }
    r->result.verified = run_at_once(r, 0);
    bool timed = r->result.verified && time_whole(r);
    for (int set = 0; timed && set < sets(r); set++) // after so many runs, too
        timed = run_at_once(r, set);
    if (!timed) {
        memset(r->result.samples, 0, sizeof r->result.samples);
        memset(r->result.seconds, 0, sizeof r->result.seconds);
    }
}

void whole_run(struct wire *wire, const struct whole *whole, int weights)
{
    struct err e = {0};
    struct running r = {
        .whole = whole, .wire = wire, .constants = {&whole->plan, whole->place.seed, NULL}};
    bool ok = fault_parse(whole->place.fault, &wire->plan, &e);
    enter(&r, PHASE_START, THE_WHOLE);
    ok = ok && check(whole, &e) && constants_map(&r.constants, weights, &e);
    r.gpu = ok ? rig_open_device(&whole->place, &e) : NULL;
    if (!r.gpu) {
        wire_send(wire, message_failed(&e));
        return;
    }
    run(&r);
    wire_send(wire, message_whole_result(&r.result));
}
