#include "trial/measure.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/os.h"
#include "base/rng.h"
#include "kernel/checked.h"
#include "space/objective.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RACE_ROUNDS = 7, RACE_ROUNDS_OF_SLOW = 2 };
#define SOAK_FRESH   8    // runs of a soak on the same inputs
#define RACE_SECONDS 10.0 // after which slow kernels have raced enough
// Seconds after which no more pairs are timed; before there are enough for an interval, and else.
#define FIRST_PAIRS_SECONDS 60.0
#define PAIRS_SECONDS       10.0

// Drivers of GPUs may end a submission after 2 seconds and more.
#define LONG_RUN_S 1.0

#define POWER_S 0.5 // of repeated runs, over which the mean power is taken

// The share of a deadline after which a worker reports a timeout itself: that costs less than to be
// killed at the deadline.
#define PATIENCE 0.9

// The cost of checking every access, in times of the kernel's own.
#define CHECKED_BUILD 5.0
#define CHECKED_RUN   30.0

// Runs to find the buffer that a wrong kernel reads before it writes it, at most.
#define READING_RUNS 5.0

// Effects of injected faults: spilled registers, how many times longer a run takes.
#define SPILLED 1000.0
#define SLOWED  100.0

struct trial {
    struct context *context;
    struct wire *wire;
    const struct message *message;
    struct candidate candidate[TRIAL_MAX_RACERS];
    bool alive[TRIAL_MAX_RACERS];     // no failure so far
    bool settled[TRIAL_MAX_RACERS];   // its outcome is final
    double build_s[TRIAL_MAX_RACERS]; // time of the driver's compiler
    double group_s[TRIAL_MAX_RACERS]; // device time of one workgroup; 0: not known
    double first_s[TRIAL_MAX_RACERS]; // of the first full run
    int64_t first_ns;                 // when the last one of these began
    bool is_long[TRIAL_MAX_RACERS];   // on a GPU too long to be one submission
    enum corruption corruption;       // injected
    bool slowed;                      // injected: the next full run
    bool keeps;                       // the next run finds what the one before has left
    bool spilled;                     // injected: the next pipeline
    bool hastened;                    // injected: the next samples
    bool goes_on;                     // the next run finds in kept buffers what the last one left
    enum trial_phase phase;           // the current one
    bool leaving;                     // the device is lost or hangs
    struct gpu_kept kept;             // the driver's binary, where the request keeps it
    struct trial_result result;
};

static double since(int64_t start_ns)
{
    return (double)(os_now_ns() - start_ns) * 1e-9;
}

// Returns false, for callers that end there.
static bool settle(struct trial *t, int i, enum outcome outcome, const char *reason)
{
    t->alive[i] = false;
    t->settled[i] = true;
    if (outcome == OUTCOME_WRONG)
        packed_forget(&t->context->packed, t->context->gpu);
    t->result.outcome[i] = outcome;
    if (outcome != OUTCOME_OK) {
        t->result.phase[i] = t->phase;
        snprintf(t->result.reason[i], sizeof t->result.reason[i], "%s", reason);
    }
    return false;
}

// Returns true for GPU_OK. Else it gives the candidate the outcome of that status, and ends the
// trial where the device cannot be used any more.
static bool accept(struct trial *t, int i, enum gpu_status status, const struct err *e)
{
    char reason[TRIAL_REASON_SIZE];
    switch (status) {
    case GPU_OK: return true;
    case GPU_FAILED: return settle(t, i, OUTCOME_DRIVER, e->text);
    case GPU_OUT_OF_MEMORY:
        snprintf(reason, sizeof reason, "out of memory: %.280s", e->text);
        return settle(t, i, OUTCOME_DRIVER, reason);
    case GPU_TIMEOUT: t->leaving = true; return settle(t, i, OUTCOME_TIMEOUT, e->text);
    case GPU_LOST: t->leaving = true; return settle(t, i, OUTCOME_LOST, e->text);
    }
    return false;
}

// Announces a phase. False: an injected fault lost the device.
static bool enter(struct trial *t, enum trial_phase phase, int i)
{
    t->phase = phase;
    enum fault_kind fault = wire_enter(t->wire, phase, i, t->message->number);
    if (fault == FAULT_WRONG)
        t->corruption = phase == PHASE_VERIFY ? CORRUPT_LAST
                        : phase == PHASE_RUN  ? CORRUPT_GUARD
                                              : CORRUPT_FIRST;
    t->slowed = fault == FAULT_SLOW;
    t->hastened = fault == FAULT_WRONG && phase == PHASE_TIME;
    t->spilled = fault == FAULT_SPILL;
    return fault != FAULT_LOST ||
           accept(t, i, GPU_LOST, &(struct err){.text = "the device was lost (injected)"});
}

static double patience(const struct trial *t)
{
    return PATIENCE * t->context->hello.deadline_s[t->phase];
}

static struct gpu_pace pace_of(const struct trial *t, int i)
{
    return (struct gpu_pace){.group_s = t->group_s[i],
                             .submit_s = gpu_timing_default(gpu_get_info(t->context->gpu)).submit_s,
                             .timeout_s = patience(t)};
}

// The first run finds inputs, as a kernel that uses one as an index may access anything without.
static enum gpu_status run_one_group(struct trial *t, int i, struct err *e)
{
    struct context *x = t->context;
    struct gpu_pass pass[JOB_MAX_PASSES];
    struct gpu_sequence s = candidate_sequence(&t->candidate[i], 0, x->buffer);
    enum gpu_status status = x->has_inputs ? GPU_OK : context_load(x, INPUT_EXACT, e);
    memcpy(pass, t->candidate[i].pass, sizeof pass);
    for (int p = 0; p < s.pass_count; p++)
        pass[p].groups[0] = pass[p].groups[1] = pass[p].groups[2] = 1;
    s.pass = pass;
    return status == GPU_OK ? gpu_run(x->gpu, &s, 1, patience(t), &t->group_s[i], e) : status;
}

static enum gpu_status run_all(struct trial *t, int i, double *seconds, struct err *e)
{
    struct context *x = t->context;
    struct gpu_parts parts = {0};
    const struct gpu_pace pace = pace_of(t, i);
    enum gpu_status status = context_pack(x, &t->candidate[i], patience(t), e);
    if (status == GPU_OK && !t->goes_on)
        status = candidate_zero_kept(&t->candidate[i], x->gpu, x->buffer, e);
    if (status == GPU_OK)
        status = candidate_run_packed(&t->candidate[i], x->gpu, x->buffer, &pace, &parts, e);
    *seconds = parts.seconds;
    t->is_long[i] = !gpu_get_info(x->gpu)->is_cpu && parts.is_split && parts.seconds > LONG_RUN_S;
    return status;
}

// --- building ---

static bool compile(struct trial *t, int i)
{
    struct failure why = {0};
    const struct job *job = &t->message->request.job[i];
    if (!enter(t, PHASE_COMPILE, i))
        return false;
    int64_t start = os_now_ns();
    const struct job_roles roles = operator_roles(&t->context->layout);
    bool ok = candidate_compile(&t->candidate[i], job, &t->context->hello.limits, &roles, &why);
    t->result.compile_s += since(start);
    return ok || settle(t, i, why.outcome, why.reason);
}

// Runs the driver's compiler, and on CPU devices one workgroup: lavapipe compiles only when
// something is dispatched, and that must not happen while this worker alone holds the device. On a
// GPU another worker may be timing just now, and a dispatch would take turns with its kernel.
// Rejects a candidate that spills more registers than the limit.
static bool build(struct trial *t, int i)
{
    struct context *x = t->context;
    struct err e = {0};
    if (!enter(t, PHASE_PIPELINE, i))
        return false;
    int64_t start = os_now_ns();
    const struct message *m = t->message;
    const struct trial_request *r = &m->request;
    bool runs = !r->only_compiles, keeps = r->keeps || m->kept.size;
    enum gpu_status status =
        runs ? context_set_scratch(x, t->message->request.job[i].scratch_bytes, &e) : GPU_OK;
    if (keeps)
        gpu_keep(x->gpu, &m->kept);
    if (status == GPU_OK)
        status = candidate_link(&t->candidate[i], x->gpu, &e);
    if (keeps)
        gpu_end_keeping(x->gpu, r->keeps ? &t->kept : NULL);
    for (int p = 0; status == GPU_OK && p < t->candidate[i].pass_count; p++)
        statistics_merge(&t->result.statistics[i],
                         gpu_pipeline_statistics(t->candidate[i].pass[p].pipeline));
    if (status == GPU_OK && t->spilled)
        statistics_take(&t->result.statistics[i], "Spilled VGPRs", SPILLED);
    if (status == GPU_OK && runs && gpu_get_info(x->gpu)->is_cpu)
        status = run_one_group(t, i, &e);
    if (status == GPU_TIMEOUT)
        err_set(&e, "the driver's compiler, or one workgroup, is not done after %g s", patience(t));
    t->build_s[i] = since(start) + m->kept_s;
    t->result.pipeline_s += t->build_s[i];
    if (!accept(t, i, status, &e))
        return false;
    char reason[TRIAL_REASON_SIZE];
    uint32_t most = x->hello.limits.spills;
    double spills;
    if (!most || r->only_compiles || r->known_good ||
        !statistics_total(&t->result.statistics[i], STATISTIC_SPILLS, &spills) || spills <= most)
        return true;
    snprintf(reason, sizeof reason, "spills %.0f > %" PRIu32, spills, most);
    return settle(t, i, OUTCOME_REJECTED, reason);
}

// --- verifying ---

// Runs with poison, or another word in the place of it in one buffer, and fetches the outputs.
static enum gpu_status run_on(struct trial *t, int i, int buffer, struct err *e)
{
    struct context *x = t->context;
    double seconds;
    enum gpu_status status =
        buffer < 0 ? context_load(x, x->loaded, e) : context_load_other(x, buffer, e);
    if (status == GPU_OK)
        status = run_all(t, i, &seconds, e);
    return status == GPU_OK ? context_fetch(x, e) : status;
}

// Tells by other words in the place of poison that a result depends on what a buffer holds before
// the run: `found` gets the first one's name. It is one that a pass reads, and the job does not say
// how it begins. Results of the same poison have to be the same: else nothing is known.
static enum gpu_status read_before_write(struct trial *t, int i, const char **found, struct err *e)
{
    struct context *x = t->context;
    const struct candidate *c = &t->candidate[i];
    size_t bytes = operator_output_offset(&x->layout, x->layout.count);
    uint32_t asked = 0;
    for (int k = x->layout.inputs; k < c->bindings; k++)
        if ((c->reads >> k & 1) && c->job->begin[k].how == BEGIN_POISON &&
            !(k == x->layout.count && c->packing))
            asked |= UINT32_C(1) << k;
    if (!asked || READING_RUNS * t->first_s[i] > patience(t))
        return GPU_OK;
    unsigned char *before = mem_alloc(bytes);
    enum gpu_status status = run_on(t, i, -1, e);
    memcpy(before, x->fetched, bytes);
    for (int k = x->layout.inputs; status == GPU_OK && !*found && k < c->bindings; k++) {
        if (!(asked >> k & 1))
            continue;
        status = run_on(t, i, k, e);
        if (status != GPU_OK || !context_depends(x, before))
            continue;
        status = run_on(t, i, -1, e);
        if (status == GPU_OK && memcmp(before, x->fetched, bytes) == 0)
            *found = context_buffer_name(x, k);
        break;
    }
    free(before);
    return status;
}

// Runs a candidate that keeps buffers a second time: they have to be left as the next run needs
// them.
static bool verify_again(struct trial *t, int i, enum input_set set)
{
    struct context *x = t->context;
    const struct candidate *c = &t->candidate[i];
    struct err e = {0};
    char reason[TRIAL_REASON_SIZE], text[TRIAL_REASON_SIZE];
    double seconds;
    enum gpu_status status = GPU_OK;
    for (int k = x->layout.inputs; k < x->layout.count && status == GPU_OK; k++)
        if (!(c->kept >> k & 1))
            status = gpu_fill_content(x->gpu, x->buffer[k], CONTEXT_POISON_WORD, &e);
    t->goes_on = true;
    if (status == GPU_OK)
        status = run_all(t, i, &seconds, &e);
    t->goes_on = false;
    if (status == GPU_OK)
        status = context_fetch(x, &e);
    if (!accept(t, i, status, &e))
        return false;
    if (context_verify(x, set, reason, sizeof reason))
        return true;
    snprintf(text, sizeof text, "its second run, on the buffers that it keeps: %.250s", reason);
    return settle(t, i, OUTCOME_WRONG, text);
}

// A kernel that reads the number of workgroups may do all the work in one of them: it cannot be run
// in parts.
static bool verify(struct trial *t, int i, enum input_set set)
{
    struct context *x = t->context;
    const struct hello *h = &x->hello;
    struct err e = {0};
    char reason[TRIAL_REASON_SIZE], text[TRIAL_REASON_SIZE];
    const char *found = NULL;
    if (!enter(t, PHASE_RUN, i))
        return false;
    enum gpu_status status = context_set_scratch(x, t->message->request.job[i].scratch_bytes, &e);
    if (status == GPU_OK && t->group_s[i] <= 0 && !t->candidate[i].uses_group_count)
        status = run_one_group(t, i, &e);
    if (status == GPU_OK)
        status = (t->keeps ? context_load_inputs : context_load)(x, set, &e);
    t->first_ns = os_now_ns();
    if (status == GPU_OK)
        status = run_all(t, i, &t->first_s[i], &e);
    if (t->slowed)
        t->first_s[i] *= SLOWED;
    if (!accept(t, i, status, &e) || !enter(t, PHASE_VERIFY, i) ||
        !accept(t, i, context_fetch(x, &e), &e))
        return false;
    context_corrupt(x, t->corruption);
    t->corruption = CORRUPT_NOTHING;
    if (context_verify(x, set, reason, sizeof reason))
        return !t->candidate[i].kept || verify_again(t, i, set);
    if (context_guards_hold(x, text, sizeof text) &&
        !accept(t, i, read_before_write(t, i, &found, &e), &e))
        return false;
    if (found) {
        snprintf(text, sizeof text,
                 "it reads %s before writing it: declare it inout or zeroed (%.180s)", found,
                 reason);
        return settle(t, i, OUTCOME_WRONG, text);
    }
    if (!h->limits.loop_trips || !h->trips_undeclared || !t->candidate[i].has_loops)
        return settle(t, i, OUTCOME_WRONG, reason);
    snprintf(text, sizeof text,
             "%.180s (perhaps this driver's silent limit of %" PRIu64
             " loop iterations an invocation: declare loop_trips)",
             reason, h->limits.loop_trips);
    return settle(t, i, OUTCOME_WRONG, text);
}

// Runs a candidate on the exact inputs with every access checked (kernel/checked.h); `roll`: with
// its loops rolled up. `report` gets the first access outside an array.
static enum gpu_status run_checked(struct trial *t, int i, bool roll, uint32_t *report,
                                   struct err *e)
{
    struct context *x = t->context;
    const struct candidate *c = &t->candidate[i];
    const struct gpu_pace pace = pace_of(t, i);
    struct candidate checked = {0};
    struct gpu_buffer *buffer[OPERATOR_MAX_BUFFERS + 2];
    uint64_t bytes[OPERATOR_MAX_BUFFERS + 1];
    struct gpu_parts parts;
    for (int k = 0; k < x->layout.count; k++)
        bytes[k] = x->layout.buffer[k].bytes;
    bytes[x->layout.count] = x->scratch_bytes;
    memcpy(buffer, x->buffer, sizeof x->buffer);
    buffer[c->bindings] = x->report;
    bool ok = candidate_check_accesses(c, bytes, roll, &checked, e);
    enum gpu_status status = ok ? candidate_link(&checked, x->gpu, e) : GPU_FAILED;
    if (status == GPU_OK)
        status = context_load(x, INPUT_EXACT, e);
    if (status == GPU_OK)
        status = gpu_fill(x->gpu, x->report, 0, e);
    if (status == GPU_OK)
        status = candidate_zero_kept(c, x->gpu, x->buffer, e);
    if (status == GPU_OK)
        status = candidate_run(&checked, x->gpu, buffer, &pace, &parts, e);
    if (status == GPU_OK)
        status = gpu_read(x->gpu, x->report, 0, report, sizeof *report, e);
    if (status != GPU_TIMEOUT && status != GPU_LOST)
        candidate_finish(&checked, x->gpu);
    return status;
}

// Checks that a candidate accesses nothing outside its arrays. The effect of such an access does
// not matter: it is undefined, and on another driver the kernel's result, or the device, may be
// lost.
//
// A driver that limits loop iterations does so sooner where loops are rolled up, which may make
// indices that the kernel never has: only an access that is found without rolling counts. A
// candidate is not checked where that takes too long, or needs more than the device has. False: it
// has been settled.
static bool check_accesses(struct trial *t, int i)
{
    char reason[TRIAL_REASON_SIZE];
    struct context *x = t->context;
    const struct limits *l = &x->hello.limits;
    const struct candidate *c = &t->candidate[i];
    uint32_t report = 0;
    struct err e = {0};
    if (!enter(t, PHASE_VERIFY, i))
        return t->alive[i];
    if ((l->buffers && (uint32_t)c->bindings + 1 > l->buffers) ||
        !(CHECKED_BUILD * t->build_s[i] + CHECKED_RUN * t->first_s[i] < patience(t)))
        return true;
    enum gpu_status status = context_set_scratch(x, t->message->request.job[i].scratch_bytes, &e);
    if (status == GPU_OK)
        status = run_checked(t, i, true, &report, &e);
    if (status == GPU_OK && report && l->loop_trips && c->has_loops)
        status = run_checked(t, i, false, &report, &e);
    if (status == GPU_FAILED || status == GPU_OUT_OF_MEMORY) {
        log_warning("accesses are not checked: %s", e.text);
        return true;
    }
    int where = kernel_outside_access(report);
    if (!accept(t, i, status, &e) || where == ACCESS_INSIDE)
        return status == GPU_OK;
    snprintf(reason, sizeof reason, "with every access checked: it reads or writes outside %s%s",
             where == ACCESS_SHARED  ? "a shared array"
             : where == ACCESS_LOCAL ? "a local array"
                                     : "buffer ",
             where >= 0 ? context_buffer_name(x, where) : "");
    return settle(t, i, OUTCOME_WRONG, reason);
}

// --- timing ---

static void add_samples(struct samples *s, const struct gpu_samples *more)
{
    for (int k = 0; k < more->count && s->count < TRIAL_MAX_SAMPLES; k++)
        s->seconds[s->count++] = more->seconds[k];
    s->early_stopped |= more->early_stopped;
}

// Times one full run, in several submissions.
static bool time_in_parts(struct trial *t, int i)
{
    struct gpu_samples sample = {.count = 1};
    struct err e = {0};
    if (!enter(t, PHASE_TIME, i))
        return false;
    enum gpu_status status = run_all(t, i, &sample.seconds[0], &e);
    context_read_clocks(t->context, &t->result.clocks);
    if (status == GPU_OK)
        add_samples(&t->result.samples[i], &sample);
    return accept(t, i, status, &e);
}

static bool is_by_time(const struct trial *t)
{
    return t->context->hello.objective <= 1 + OBJECTIVE_TIME;
}

// The incumbent's time; 0 where its cost is none.
static double incumbent_time(const struct trial *t)
{
    return is_by_time(t) ? t->message->request.incumbent_s : 0;
}

static enum gpu_status run_repeatedly(struct trial *t, int i, const struct gpu_timing *timing,
                                      struct gpu_samples *samples, struct err *e)
{
    struct context *x = t->context;
    const struct candidate *c = &t->candidate[i];
    struct gpu_sequence timed = candidate_sequence(c, c->packing, x->buffer);
    enum gpu_status status = context_pack(x, c, patience(t), e);
    copies_use(&x->copies, &timed);
    for (int k = 0; status == GPU_OK && k < int_max(1, timed.copies); k++)
        status = candidate_zero_kept(c, x->gpu, timed.buffer + (ptrdiff_t)k * timed.stride, e);
    if (status == GPU_OK)
        status = gpu_time(x->gpu, &timed, timing, incumbent_time(t), samples, e);
    return status;
}

static bool take_time(struct trial *t, int i, const struct gpu_timing *timing)
{
    struct context *x = t->context;
    struct gpu_samples samples = {0};
    struct err e = {0};
    if (t->is_long[i])
        return time_in_parts(t, i);
    if (!enter(t, PHASE_TIME, i) || !accept(t, i, context_raise_clocks(x, &e), &e))
        return false;
    enum gpu_status status = run_repeatedly(t, i, timing, &samples, &e);
    context_read_clocks(x, &t->result.clocks);
    t->result.wall_s = samples.wall_s;
    for (int k = 0; t->hastened && k < samples.count; k++)
        samples.seconds[k] *= 1e-9;
    add_samples(&t->result.samples[i], &samples);
    return accept(t, i, status, &e);
}

static double seconds_of(const struct trial *t, int i)
{
    const struct samples *s = &t->result.samples[i];
    return gpu_robust_seconds(gpu_get_info(t->context->gpu), s->seconds, s->count);
}

// Takes the mean power while a candidate runs again and again: by the device's counter of energy,
// else by what it tells of its power in between.
static bool take_power(struct trial *t, int i, double *watts)
{
    struct sensors *sensors = t->context->sensors;
    struct gpu_timing timing = gpu_timing_default(gpu_get_info(t->context->gpu));
    struct statistics now;
    struct err e = {0};
    timing.batches = 1;
    timing.hopeless = 0;
    double joules = sensors_joules(sensors), sum = 0, read, seconds;
    int64_t start = os_now_ns();
    int reads = 0;
    do {
        struct gpu_samples samples = {0};
        enum gpu_status status = t->is_long[i] ? run_all(t, i, &seconds, &e)
                                               : run_repeatedly(t, i, &timing, &samples, &e);
        if (!accept(t, i, status, &e))
            return false;
        sensors_read(sensors, &now);
        if (statistics_find(&now, "watts", &read)) {
            sum += read;
            reads++;
        }
    } while (since(start) < POWER_S);
    double used = sensors_joules(sensors) - joules;
    *watts = used > 0 ? used / since(start) : reads ? sum / reads : 0;
    return *watts > 0 ||
           settle(t, i, OUTCOME_DRIVER, "the device does not tell its power any more");
}

// Makes the times of a candidate costs of the objective. False: it has been settled.
static bool take_cost(struct trial *t, int i)
{
    int objective = t->context->hello.objective;
    struct samples *s = &t->result.samples[i];
    double watts, seconds = seconds_of(t, i);
    t->result.seconds[i] = seconds;
    if (!objective)
        return true;
    if (!enter(t, PHASE_TIME, i) || !take_power(t, i, &watts))
        return false;
    if (t->result.count == 1) {
        statistics_take(&t->result.clocks, STATISTIC_JOULES, watts * seconds);
        statistics_take(&t->result.clocks, STATISTIC_SECONDS, seconds);
    }
    for (int k = -1; !is_by_time(t) && k < s->count; k++) {
        double *cost = k < 0 ? &t->result.seconds[i] : &s->seconds[k];
        *cost *= objective == 1 + OBJECTIVE_EDP ? watts * *cost : watts;
    }
    return true;
}

// Times a candidate alone. A slow kernel runs a second time, a while after the first: if it was
// only slow because something else used the machine, it is timed as others are.
static void time_single(struct trial *t)
{
    const struct gpu_info *info = gpu_get_info(t->context->gpu);
    const struct trial_request *r = &t->message->request;
    struct samples *s = &t->result.samples[0];
    struct gpu_timing timing = gpu_timing_default(info);
    // The incumbent would be slower now, too, if the device has become slower since.
    timing.hopeless *= fmax(1, r->slowdown);
    // The first full run is as good as any other on a CPU device (nothing compiles any more, no
    // clock has to rise), if it is long enough to be measured at all, and on a GPU when it was
    // long.
    bool counts = (info->is_cpu || t->is_long[0]) && t->first_s[0] >= timing.batch_s;
    double incumbent_s = incumbent_time(t);
    bool is_slow =
        timing.hopeless > 0 && incumbent_s > 0 && t->first_s[0] > timing.hopeless * incumbent_s;
    if (counts && is_slow) {
        double left_s = timing.apart_s - since(t->first_ns);
        if (left_s > 0)
            nanosleep(&(struct timespec){.tv_nsec = (long)(left_s * 1e9)}, NULL);
        double apart_s = since(t->first_ns);
        add_samples(s, &(struct gpu_samples){.seconds = {t->first_s[0]}, .count = 1});
        if (!time_in_parts(t, 0))
            return;
        s->early_stopped = gpu_is_hopeless(&timing, s->seconds, s->count, apart_s, incumbent_s);
    }
    if ((!s->early_stopped && !take_time(t, 0, &timing)) || !take_cost(t, 0))
        return;
    // The accesses of a kernel that is the best so far are checked, because others are derived from
    // it and it may be exported.
    bool is_best =
        !s->early_stopped && (r->incumbent_s <= 0 || t->result.seconds[0] < r->incumbent_s);
    if ((r->accesses == ACCESSES_OF_ALL || (r->accesses == ACCESSES_OF_BEST && is_best)) &&
        !check_accesses(t, 0))
        return;
    settle(t, 0, OUTCOME_OK, "");
}

// Times one round: each candidate once that is alive and takes part, in an order drawn at random,
// so that what one leaves behind (caches, clocks) is no advantage of another.
static void time_round(struct trial *t, const bool *takes_part, struct rng *rng)
{
    struct gpu_timing timing = gpu_timing_default(gpu_get_info(t->context->gpu));
    int order[TRIAL_MAX_RACERS], count = 0;
    timing.batches = 1;
    timing.hopeless = 0;
    for (int i = 0; i < t->result.count; i++) {
        if (!t->alive[i] || !takes_part[i])
            continue;
        int at = (int)rng_below(rng, (uint64_t)++count);
        order[count - 1] = order[at];
        order[at] = i;
    }
    for (int i = 0; i < count && !t->leaving; i++)
        take_time(t, order[i], &timing);
}

// Times the first candidate with the others until its ratio to each is clear of 1.
static void time_pairs(struct trial *t, struct rng *rng)
{
    bool takes_part[TRIAL_MAX_RACERS];
    int64_t start = os_now_ns();
    for (int i = 0; i < t->result.count; i++)
        takes_part[i] = true;
    for (int pairs = 1, open = 1; pairs <= PAIRED_MOST && open && t->alive[0]; pairs++) {
        bool has_interval = pairs > paired_first_look();
        if (t->leaving || since(start) > (has_interval ? PAIRS_SECONDS : FIRST_PAIRS_SECONDS))
            break;
        time_round(t, takes_part, rng);
        open = 0;
        for (int i = 1; i < t->result.count; i++) {
            takes_part[i] &= t->alive[i];
            if (takes_part[i] && paired_is_look(pairs)) {
                struct paired p =
                    paired_ratio(t->result.samples[0].seconds, t->result.samples[i].seconds, pairs);
                takes_part[i] = paired_verdict(&p) == PAIRED_LEVEL;
            }
            open += takes_part[i];
        }
    }
}

// Times the candidates of the final re-ranking in rounds, so that a drift of the clock or other
// load affects all of them alike. Then the accesses of the winner are checked, or those of all.
static void time_race(struct trial *t)
{
    bool takes_part[TRIAL_MAX_RACERS];
    int64_t start = os_now_ns();
    struct rng rng;
    rng_seed(&rng, t->context->hello.seed + (uint64_t)t->message->number);
    for (int i = 0; i < t->result.count; i++)
        takes_part[i] = true;
    if (t->message->request.pairs)
        time_pairs(t, &rng);
    else
        for (int round = 0; round < RACE_ROUNDS; round++) {
            if (round >= RACE_ROUNDS_OF_SLOW && since(start) > RACE_SECONDS)
                break;
            time_round(t, takes_part, &rng);
        }
    enum accesses accesses = t->message->request.accesses;
    if (accesses == ACCESSES_OF_ALL)
        for (int i = 0; i < t->result.count && !t->leaving; i++)
            t->alive[i] = t->alive[i] && check_accesses(t, i);
    else
        for (int best = 0; accesses == ACCESSES_OF_BEST && best >= 0 &&
                           !t->leaving;) { // the fastest one that is still right
            best = -1;
            for (int i = 0; i < t->result.count; i++)
                if (t->alive[i] && (best < 0 || seconds_of(t, i) < seconds_of(t, best)))
                    best = i;
            if (best >= 0 && check_accesses(t, best))
                break;
        }
    for (int i = 0; i < t->result.count && !t->leaving; i++)
        if (t->alive[i] && take_cost(t, i))
            settle(t, i, OUTCOME_OK, "");
}

// --- soaking ---

// Verifies a candidate again and again, on the two sets of inputs in turns, and on new ones where
// these are cheap: a kernel that is wrong now and then (a race between its invocations, memory that
// it reads before it writes) passes two runs easily. Memory is poisoned before two of four runs;
// the others find what the run before, on other inputs, has left in scratch and in the output: a
// kernel may keep no results there.
static void soak(struct trial *t)
{
    struct context *x = t->context;
    const struct trial_request *r = &t->message->request;
    int64_t start = os_now_ns();
    double fresh_s = 0;
    bool ok = true;
    while (ok && !t->leaving && t->result.soaked < r->soak &&
           (r->soak_s <= 0 || since(start) < r->soak_s)) {
        if (t->result.soaked % SOAK_FRESH == 0 && 2 * fresh_s <= since(start)) {
            int64_t before = os_now_ns();
            context_refresh(x, x->hello.seed + (uint64_t)(1 + t->result.soaked));
            fresh_s += since(before);
        }
        t->keeps = t->result.soaked % 4 > 1;
        ok = verify(t, 0, t->result.soaked % 2 ? INPUT_RANDOM : INPUT_EXACT);
        t->result.soaked += ok;
    }
    t->keeps = false;
    if (!ok)
        return;
    add_samples(&t->result.samples[0],
                &(struct gpu_samples){.seconds = {t->first_s[0]}, .count = 1});
    t->result.seconds[0] = seconds_of(t, 0);
    settle(t, 0, OUTCOME_OK, "");
}

// --- the trial ---

static int first_alive(const struct trial *t)
{
    for (int i = 0; i < t->result.count && !t->leaving; i++)
        if (t->alive[i])
            return i;
    return -1;
}

bool measure_trial(struct context *context, struct wire *wire, const struct message *trial)
{
    struct trial t = {.context = context,
                      .wire = wire,
                      .message = trial,
                      .result = {.count = trial->request.count}};
    bool only_compiles = trial->request.only_compiles;
    for (int i = 0; i < t.result.count && !t.leaving; i++)
        t.alive[i] = compile(&t, i) && build(&t, i);
    int first = first_alive(&t);
    for (int i = 0; only_compiles && i < t.result.count; i++)
        if (t.alive[i])
            settle(&t, i, OUTCOME_OK, "");
    if (!only_compiles && first >= 0 && enter(&t, PHASE_WAIT, first)) {
        wire_expect(wire, MESSAGE_GO);
        int64_t start = os_now_ns(); // from here on this worker holds the device
        bool race = trial->request.race;
        struct err e = {0};
        for (int i = 0; i < t.result.count && !t.leaving; i++)
            if (t.alive[i])
                t.alive[i] = verify(&t, i, INPUT_EXACT) && (!race || verify(&t, i, INPUT_RANDOM));
        first = first_alive(&t);
        if (first >= 0 && trial->request.soak)
            soak(&t);
        else if (first >= 0) {
            context_read_clocks(context, &(struct statistics){0});
            if (accept(&t, first, context_load_to_time(context, race, &e), &e))
                (race ? time_race : time_single)(&t);
        }
        if (!t.leaving && trial->request.anchor && enter(&t, PHASE_TIME, 0))
            t.result.anchor_s =
                anchor_time(&context->anchor, context->gpu) * (t.slowed ? SLOWED : 1);
        t.result.device_s = since(start);
    }
    wire_send(wire, message_result(&t.result, only_compiles, t.settled, &t.kept, os_now_ns()));
    gpu_kept_finish(&t.kept);
    for (int i = 0; i < t.result.count && !t.leaving; i++)
        candidate_finish(&t.candidate[i], context->gpu);
    return !t.leaving;
}
