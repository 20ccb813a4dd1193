#include "trial/measure.h"

#include "base/log.h"
#include "base/os.h"
#include "kernel/checked.h"
#include "trial/candidate.h"
#include "trial/rig.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

// Whether a candidate reads or writes outside an array: it runs once more, on the exact inputs,
// with every access checked (kernel/checked.h).
//
//     outside_look(&rig, &candidate, &pace, reason, sizeof reason, e);
//
// What a driver does with such an access does not matter: it is undefined, and on another driver
// the kernel's result, or the device, may be lost.

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

// A driver that cuts long loops cuts them sooner where they are rolled up, which may make indices
// that the kernel never has: only what is found without that counts.
static enum gpu_status outside_look(struct rig *r, const struct candidate *c,
                                    const struct gpu_pace *pace, char *reason, size_t size,
                                    struct err *e)
{
    const struct look l = {r, c, pace};
    uint32_t report = 0;
    enum gpu_status status = look(&l, true, &report, e);
    if (status == GPU_OK && report && r->hello.limits.loop_trips && c->has_loops)
        status = look(&l, false, &report, e);
    *reason = '\0';
    if (kernel_outside_access(report) != ACCESS_INSIDE) {
        int where = kernel_outside_access(report);
        const char *what = where == ACCESS_SHARED  ? "a shared array"
                           : where == ACCESS_LOCAL ? "a local array"
                                                   : "buffer ";
        snprintf(reason, size, "with every access checked: it reads or writes outside %s%s", what,
                 where >= 0 ? rig_buffer_name(r, where) : "");
    }
    return status;
}

enum { RACE_ROUNDS = 7, RACE_ROUNDS_OF_SLOW = 2 };
#define RACE_SECONDS 10.0 // after which slow kernels have raced enough

// Drivers of GPUs begin to doubt that a kernel will end after 2 seconds and more.
#define LONG_RUN_S 1.0

// A worker that reports a timeout itself is cheaper than one that is killed: it gives up a little
// before its deadline.
#define PATIENCE 0.9

// What checking every access may cost, in times of what the kernel took without.
#define CHECKED_BUILD 5.0
#define CHECKED_RUN   30.0

#define SPILLED 1000.0 // registers, by an injected fault

#define SLOWED 100.0 // how many times longer, by an injected fault

struct trial {
    struct rig *rig;
    struct wire *wire;
    const struct message *message;
    struct candidate candidate[TRIAL_MAX_RACERS];
    bool alive[TRIAL_MAX_RACERS];     // no failure so far
    bool settled[TRIAL_MAX_RACERS];   // its outcome is final
    double build_s[TRIAL_MAX_RACERS]; // what the driver's compiler took
    double group_s[TRIAL_MAX_RACERS]; // device time of one workgroup; 0: not known
    double first_s[TRIAL_MAX_RACERS]; // of the first full run
    int64_t first_ns;                 // when the last one of these began
    bool is_long[TRIAL_MAX_RACERS];   // on a GPU too long to be one submission
    enum corruption corruption;       // injected
    bool slowed;                      // injected: the next full run
    bool spilled;                     // injected: the next pipeline
    enum trial_phase phase;           // the current one
    bool leaving;                     // the device is lost or hangs
    struct gpu_kept kept;             // what the driver made, where the request keeps
    struct trial_result result;
};

static double since(int64_t start_ns)
{
    return (double)(os_now_ns() - start_ns) * 1e-9;
}

static const struct job *job_of(const struct trial *t, int i)
{
    return &t->message->request.job[i];
}

static bool settle(struct trial *t, int i, enum outcome outcome, const char *reason)
{
    t->alive[i] = false;
    t->settled[i] = true;
    if (outcome == OUTCOME_WRONG)
        packed_forget(&t->rig->packed, t->rig->gpu);
    t->result.outcome[i] = outcome;
    if (outcome != OUTCOME_OK) {
        t->result.phase[i] = t->phase;
        snprintf(t->result.reason[i], sizeof t->result.reason[i], "%s", reason);
    }
    return false;
}

// True when fine. Else the candidate gets the outcome that fits, and the trial ends when the device
// is of no more use.
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

static enum corruption corruption_in(enum trial_phase phase)
{
    return phase == PHASE_VERIFY ? CORRUPT_LAST
           : phase == PHASE_RUN  ? CORRUPT_GUARD
                                 : CORRUPT_FIRST;
}

static bool enter(struct trial *t, enum trial_phase phase, int i)
{
    t->phase = phase;
    enum fault_kind fault = wire_enter(t->wire, phase, i, t->message->number);
    if (fault == FAULT_WRONG)
        t->corruption = corruption_in(phase);
    t->slowed = fault == FAULT_SLOW;
    t->spilled = fault == FAULT_SPILL;
    return fault != FAULT_LOST ||
           accept(t, i, GPU_LOST, &(struct err){.text = "the device was lost (injected)"});
}

static double patience(const struct trial *t)
{
    return PATIENCE * t->rig->hello.deadline_s[t->phase];
}

static struct gpu_pace pace_of(const struct trial *t, int i)
{
    return (struct gpu_pace){.group_s = t->group_s[i],
                             .submit_s = gpu_timing_default(gpu_get_info(t->rig->gpu)).submit_s,
                             .timeout_s = patience(t)};
}

static enum gpu_status run_one_group(struct trial *t, int i, struct err *e)
{
    struct gpu_pass pass[JOB_MAX_PASSES];
    struct gpu_sequence s = candidate_sequence(&t->candidate[i], t->rig->buffer);
    memcpy(pass, t->candidate[i].pass, sizeof pass);
    for (int p = 0; p < s.pass_count; p++)
        pass[p].groups[0] = pass[p].groups[1] = pass[p].groups[2] = 1;
    s.pass = pass;
    return gpu_run(t->rig->gpu, &s, 1, patience(t), &t->group_s[i], e);
}

static enum gpu_status run_all(struct trial *t, int i, double *seconds, struct err *e)
{
    struct gpu_parts parts = {0};
    const struct gpu_pace pace = pace_of(t, i);
    enum gpu_status status = rig_pack(t->rig, &t->candidate[i], patience(t), e);
    if (status == GPU_OK)
        status =
            candidate_run_packed(&t->candidate[i], t->rig->gpu, t->rig->buffer, &pace, &parts, e);
    *seconds = parts.seconds;
    t->is_long[i] =
        !gpu_get_info(t->rig->gpu)->is_cpu && parts.is_split && parts.seconds > LONG_RUN_S;
    return status;
}

static bool compile(struct trial *t, int i)
{
    struct failure why = {0};
    if (!enter(t, PHASE_COMPILE, i))
        return false;
    int64_t start = os_now_ns();
    bool ok = candidate_compile(&t->candidate[i], job_of(t, i), &t->rig->hello.limits,
                                rig_bindings(t->rig, job_of(t, i)), &why);
    t->result.compile_s += since(start);
    return ok || settle(t, i, why.outcome, why.reason);
}

// False: the driver says that it spills more than is measured.
static bool keeps_registers(struct trial *t, int i)
{
    char reason[TRIAL_REASON_SIZE];
    const struct trial_request *r = &t->message->request;
    uint32_t most = t->rig->hello.limits.spills;
    double spills;
    if (!most || r->only_compiles || r->known_good ||
        !statistics_total(&t->result.statistics[i], STATISTIC_SPILLS, &spills) || spills <= most)
        return true;
    snprintf(reason, sizeof reason, "spills %.0f > %" PRIu32, spills, most);
    return settle(t, i, OUTCOME_REJECTED, reason);
}

// The driver's compiler, and on CPU devices one workgroup: lavapipe compiles only when something is
// dispatched, and that must not happen while this worker alone holds the device. On a GPU another
// worker may be timing just now, and a dispatch would take turns with what it times.
static bool build(struct trial *t, int i)
{
    struct err e = {0};
    if (!enter(t, PHASE_PIPELINE, i))
        return false;
    int64_t start = os_now_ns();
    const struct message *m = t->message;
    bool runs = !m->request.only_compiles, keeps = m->request.keeps || m->kept.size;
    enum gpu_status status = runs ? rig_scratch(t->rig, job_of(t, i)->scratch_bytes, &e) : GPU_OK;
    if (keeps)
        gpu_keep(t->rig->gpu, &m->kept);
    if (status == GPU_OK)
        status = candidate_link(&t->candidate[i], t->rig->gpu, &e);
    if (keeps)
        gpu_end_keeping(t->rig->gpu, m->request.keeps ? &t->kept : NULL);
    if (status == GPU_OK)
        t->result.statistics[i] = candidate_statistics(&t->candidate[i]);
    if (status == GPU_OK && t->spilled)
        statistics_take(&t->result.statistics[i], "Spilled VGPRs", SPILLED);
    if (status == GPU_OK && runs && gpu_get_info(t->rig->gpu)->is_cpu)
        status = run_one_group(t, i, &e);
    if (status == GPU_TIMEOUT)
        err_set(&e, "the driver's compiler, or one workgroup, is not done after %g s", patience(t));
    t->build_s[i] = since(start) + m->kept_s;
    t->result.pipeline_s += t->build_s[i];
    return accept(t, i, status, &e);
}

// Lavapipe leaves a loop after so many iterations without a word.
static bool settle_wrong(struct trial *t, int i, const char *reason)
{
    const struct hello *h = &t->rig->hello;
    char text[TRIAL_REASON_SIZE];
    if (!h->limits.loop_trips || !h->trips_undeclared || !t->candidate[i].has_loops)
        return settle(t, i, OUTCOME_WRONG, reason);
    snprintf(text, sizeof text,
             "%.180s (perhaps this driver's silent limit of %" PRIu64
             " loop iterations an invocation: declare loop_trips)",
             reason, h->limits.loop_trips);
    return settle(t, i, OUTCOME_WRONG, text);
}

// A kernel that looks at the number of workgroups may do all the work in one, and takes no parts.
static bool wants_group_time(const struct trial *t, int i)
{
    return t->group_s[i] <= 0 && !t->candidate[i].uses_group_count;
}

static bool verify(struct trial *t, int i, enum input_set set)
{
    struct err e = {0};
    char reason[TRIAL_REASON_SIZE];
    if (!enter(t, PHASE_RUN, i))
        return false;
    enum gpu_status status = rig_scratch(t->rig, job_of(t, i)->scratch_bytes, &e);
    if (status == GPU_OK && wants_group_time(t, i))
        status = run_one_group(t, i, &e);
    if (status == GPU_OK)
        status = rig_load(t->rig, set, &e);
    t->first_ns = os_now_ns();
    if (status == GPU_OK)
        status = run_all(t, i, &t->first_s[i], &e);
    if (t->slowed)
        t->first_s[i] *= SLOWED;
    if (!accept(t, i, status, &e) || !enter(t, PHASE_VERIFY, i) ||
        !accept(t, i, rig_fetch(t->rig, &e), &e))
        return false;
    rig_corrupt(t->rig, t->corruption);
    t->corruption = CORRUPT_NOTHING;
    return rig_verify(t->rig, set, reason, sizeof reason) || settle_wrong(t, i, reason);
}

static void add_samples(struct samples *s, const struct gpu_samples *more)
{
    for (int k = 0; k < more->count && s->count < TRIAL_MAX_SAMPLES; k++)
        s->seconds[s->count++] = more->seconds[k];
    s->early_stopped |= more->early_stopped;
}

static bool time_batches(struct trial *t, int i, const struct gpu_timing *timing)
{
    struct gpu_sequence timed = candidate_timed(&t->candidate[i], t->rig->buffer);
    struct gpu_samples samples = {0};
    struct err e = {0};
    if (!enter(t, PHASE_TIME, i) || !accept(t, i, rig_wake(t->rig, &e), &e))
        return false;
    enum gpu_status status = rig_pack(t->rig, &t->candidate[i], patience(t), &e);
    copies_use(&t->rig->copies, &timed);
    if (status == GPU_OK)
        status =
            gpu_time(t->rig->gpu, &timed, timing, t->message->request.incumbent_s, &samples, &e);
    rig_sense(t->rig, &t->result.clocks);
    t->result.wall_s = samples.wall_s;
    add_samples(&t->result.samples[i], &samples);
    return accept(t, i, status, &e);
}

static bool time_in_parts(struct trial *t, int i)
{
    struct gpu_samples sample = {.count = 1};
    struct err e = {0};
    if (!enter(t, PHASE_TIME, i))
        return false;
    enum gpu_status status = run_all(t, i, &sample.seconds[0], &e);
    rig_sense(t->rig, &t->result.clocks);
    if (status == GPU_OK)
        add_samples(&t->result.samples[i], &sample);
    return accept(t, i, status, &e);
}

static bool take_time(struct trial *t, int i, const struct gpu_timing *timing)
{
    return t->is_long[i] ? time_in_parts(t, i) : time_batches(t, i, timing);
}

static double seconds_of(const struct trial *t, int i)
{
    const struct samples *s = &t->result.samples[i];
    return gpu_robust_seconds(gpu_get_info(t->rig->gpu), s->seconds, s->count);
}

static void conclude(struct trial *t, int i)
{
    t->result.seconds[i] = seconds_of(t, i);
    settle(t, i, OUTCOME_OK, "");
}

// Nobody is to lose because being checked takes too long, or more than the device has.
static bool can_be_checked(const struct trial *t, int i)
{
    const struct limits *l = &t->rig->hello.limits;
    int bindings = t->candidate[i].bindings + 1;
    return (!l->buffers || (uint32_t)bindings <= l->buffers) &&
           CHECKED_BUILD * t->build_s[i] + CHECKED_RUN * t->first_s[i] < patience(t);
}

// False: it has been settled.
static bool check_accesses(struct trial *t, int i)
{
    char reason[TRIAL_REASON_SIZE];
    struct err e = {0};
    if (!enter(t, PHASE_VERIFY, i) || !can_be_checked(t, i))
        return t->alive[i];
    const struct gpu_pace pace = pace_of(t, i);
    enum gpu_status status = rig_scratch(t->rig, job_of(t, i)->scratch_bytes, &e);
    if (status == GPU_OK)
        status = outside_look(t->rig, &t->candidate[i], &pace, reason, sizeof reason, &e);
    if (status == GPU_FAILED || status == GPU_OUT_OF_MEMORY) {
        log_warning("accesses are not checked: %s", e.text);
        return true;
    }
    return accept(t, i, status, &e) && (!*reason || settle(t, i, OUTCOME_WRONG, reason));
}

// A second run a while after the first says whether the kernel is hopeless or something else had
// the machine: then it is timed as others are. False: it has been settled.
static bool look_again(struct trial *t, const struct gpu_timing *timing)
{
    struct samples *s = &t->result.samples[0];
    int64_t start_ns = t->first_ns;
    double seconds = timing->apart_s;
    double left_s = seconds - since(start_ns);
    if (left_s > 0)
        nanosleep(&(struct timespec){.tv_nsec = (long)(left_s * 1e9)}, NULL);
    double apart_s = since(t->first_ns);
    add_samples(s, &(struct gpu_samples){.seconds = {t->first_s[0]}, .count = 1});
    if (!time_in_parts(t, 0))
        return false;
    s->early_stopped =
        gpu_is_hopeless(timing, s->seconds, s->count, apart_s, t->message->request.incumbent_s);
    return true;
}

static void time_single(struct trial *t)
{
    struct gpu_timing timing = gpu_timing_default(gpu_get_info(t->rig->gpu));
    // Where everything is slower than when the best was measured, good ones are as well.
    timing.hopeless *= fmax(1, t->message->request.slowdown);
    // The first full run is as good as any other on a CPU device (nothing compiles any more, no
    // clock has to rise), if it is long enough to be measured at all, and on a GPU when it was
    // long.
    double incumbent_s = t->message->request.incumbent_s;
    if (((gpu_get_info(t->rig->gpu)->is_cpu || t->is_long[0]) && timing.hopeless > 0 &&
         incumbent_s > 0 && t->first_s[0] >= timing.batch_s &&
         t->first_s[0] > timing.hopeless * incumbent_s) &&
        !look_again(t, &timing))
        return;
    if (!t->result.samples[0].early_stopped && !take_time(t, 0, &timing))
        return;
    // A kernel that is the best so far will be bred from, and perhaps exported.
    const struct trial_request *r = &t->message->request;
    bool is_best = !t->result.samples[0].early_stopped &&
                   (r->incumbent_s <= 0 || seconds_of(t, 0) < r->incumbent_s);
    if ((r->accesses == ACCESSES_OF_ALL || (r->accesses == ACCESSES_OF_BEST && is_best)) &&
        !check_accesses(t, 0))
        return;
    conclude(t, 0);
}

static int fastest_alive(const struct trial *t)
{
    int best = -1;
    for (int i = 0; i < t->result.count && !t->leaving; i++)
        if (t->alive[i] && (best < 0 || seconds_of(t, i) < seconds_of(t, best)))
            best = i;
    return best;
}

// Whoever wins has been checked.
static void check_racers(struct trial *t)
{
    int i;
    if (t->message->request.accesses == ACCESSES_OF_ALL)
        for (i = 0; i < t->result.count && !t->leaving; i++)
            t->alive[i] = t->alive[i] && check_accesses(t, i);
    else
        while ((i = fastest_alive(t)) >= 0 && !check_accesses(t, i))
            continue;
}

// Rounds, so that a drift of the clock or of the neighbours meets all candidates alike.
static void time_race(struct trial *t)
{
    struct gpu_timing timing = gpu_timing_default(gpu_get_info(t->rig->gpu));
    int64_t start = os_now_ns();
    timing.batches = 1;
    timing.hopeless = 0;
    for (int round = 0; round < RACE_ROUNDS; round++) {
        if (round >= RACE_ROUNDS_OF_SLOW && since(start) > RACE_SECONDS)
            break;
        for (int i = 0; i < t->result.count && !t->leaving; i++)
            if (t->alive[i])
                take_time(t, i, &timing);
    }
    check_racers(t);
    for (int i = 0; i < t->result.count && !t->leaving; i++)
        if (t->alive[i])
            conclude(t, i);
}

static int first_alive(const struct trial *t)
{
    for (int i = 0; i < t->result.count && !t->leaving; i++)
        if (t->alive[i])
            return i;
    return -1;
}

// False: nobody needs the device, or it is gone already.
static bool wait_for_device(struct trial *t)
{
    int i = first_alive(t);
    if (i < 0 || !enter(t, PHASE_WAIT, i))
        return false;
    wire_expect(t->wire, MESSAGE_GO);
    return true;
}

bool measure_trial(struct rig *rig, struct wire *wire, const struct message *trial)
{
    struct trial t = {
        .rig = rig, .wire = wire, .message = trial, .result = {.count = trial->request.count}};
    bool only_compiles = trial->request.only_compiles;
    for (int i = 0; i < t.result.count && !t.leaving; i++)
        t.alive[i] = compile(&t, i) && build(&t, i) && keeps_registers(&t, i);
    if (only_compiles) {
        for (int i = 0; i < t.result.count; i++)
            if (t.alive[i])
                settle(&t, i, OUTCOME_OK, "");
    } else if (wait_for_device(&t)) {
        int64_t start = os_now_ns();
        bool race = t.message->request.race;
        for (int i = 0; i < t.result.count && !t.leaving; i++)
            if (t.alive[i])
                t.alive[i] = verify(&t, i, INPUT_EXACT) && (!race || verify(&t, i, INPUT_RANDOM));
        int i = first_alive(&t);
        if (!(i < 0)) {
            rig_sense(t.rig, &(struct statistics){0});
            struct err e = {0};
            if (accept(&t, i, rig_load_to_time(t.rig, race, &e), &e))
                (race ? time_race : time_single)(&t);
        }
        if (!t.leaving && t.message->request.anchor && enter(&t, PHASE_TIME, 0))
            t.result.anchor_s = anchor_time(&t.rig->anchor, t.rig->gpu) * (t.slowed ? SLOWED : 1);
        t.result.device_s = since(start);
    }
    wire_send(wire, message_result(&t.result, only_compiles, t.settled, &t.kept, os_now_ns()));
    gpu_kept_finish(&t.kept);
    for (int i = 0; i < t.result.count && !t.leaving; i++)
        candidate_finish(&t.candidate[i], rig->gpu);
    return !t.leaving;
}
