#include "trial/pool.h"

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/os.h"
#include "trial/fault.h"
#include "trial/operator.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MS_NS       ((int64_t)1000000)
#define PAUSE_NS    (200 * MS_NS) // before the next start, times the starts that failed
#define RECOVERY_NS (500 * MS_NS) // after a device was lost or hung

enum {
    MEDIAN_OF = 8, // fewest observations with a limit on compiling
    MEDIAN_TIMES = 10,
    MOST_FAILED_STARTS = 3,
    MOST_SPAWNS_OF_WARMER = 10
};

void compile_limit_add(struct compile_limit *l, double seconds)
{
    l->seen[l->count++ % COMPILE_LIMIT_KEPT] = seconds;
}

double compile_limit_median(const struct compile_limit *l)
{
    double sorted[COMPILE_LIMIT_KEPT];
    int count = int_min(l->count, COMPILE_LIMIT_KEPT);
    if (count < MEDIAN_OF)
        return 0;
    memcpy(sorted, l->seen, (size_t)count * sizeof *sorted);
    return median_of(sorted, count);
}

double compile_limit_s(const struct compile_limit *l, double most_s)
{
    double median = compile_limit_median(l);
    return median > 0 ? fmin(most_s, fmax(l->least_s, MEDIAN_TIMES * median)) : most_s;
}

// --- phases ---

static void watch(const struct pool *p, const struct slot *s, enum trial_phase phase, int64_t at_ns)
{
    if (p->watcher)
        p->watcher(p->watcher_context, s->index, phase, at_ns);
}

// Returns the limit for a phase that compiles, else NULL.
static struct compile_limit *compile_limit_of(struct pool *p, enum trial_phase phase)
{
    return phase == PHASE_COMPILE    ? &p->compile_limit[0]
           : phase == PHASE_PIPELINE ? &p->compile_limit[1]
                                     : NULL;
}

// A kernel that was measured before, or is in use somewhere, has the fixed limit on compiling.
static void enter_phase(struct pool *p, struct slot *s, enum trial_phase phase, int64_t now_ns)
{
    const struct compile_limit *l = compile_limit_of(p, phase);
    s->phase = phase;
    s->limit_s = p->options.deadline_s[phase];
    if (l && s->work && !s->work->request.known_good)
        s->limit_s = compile_limit_s(l, s->limit_s);
    deadline_set(&s->deadline, s->child.pid, s->limit_s, now_ns);
}

static void leave_phase(struct pool *p, struct slot *s, int64_t at_ns)
{
    struct compile_limit *l = compile_limit_of(p, s->phase);
    if (l && !s->has_kept)
        compile_limit_add(l, (double)(at_ns - s->entered_ns) * 1e-9);
    s->entered_ns = at_ns;
}

static void become_idle(struct slot *s)
{
    s->state = SLOT_IDLE;
    s->phase = PHASE_NONE;
    s->deadline.at_ns = 0;
}

// --- requests ---

// Moves a request to `done`, or to the requests that are to be sent again.
static void finish_work(struct pool *p, struct work *w)
{
    if (work_is_done(w))
        work_list_append(&p->done, w);
    else
        work_list_insert(w->request.only_compiles ? &p->compiling : &p->waiting, w);
}

static void send_trial(struct pool *p, struct slot *s, struct work *w, int64_t now_ns)
{
    bool is_trial = w->request.count == 1 && !w->request.only_compiles;
    const struct kept *kept = is_trial ? kept_find(&p->kept, &w->request.job[0]) : NULL;
    w->result.worker = s->index;
    if (!slot_send(s, work_message(w, kept))) {
        work_settle_rest(w, OUTCOME_COMPILE, PHASE_COMPILE, "its text is too long to be sent");
        finish_work(p, w);
        return;
    }
    device_lock_compile(&p->lock, s->index);
    s->state = SLOT_BUSY;
    s->work = w;
    s->has_kept = kept != NULL;
    s->candidate = 0;
    s->last_line[0] = '\0';
    enter_phase(p, s, PHASE_NONE, now_ns);
}

// --- failures ---

// Notes that a worker could not start. A worker that fails again and again is given up where others
// are up, as the device may have memory for fewer workers than were asked for. Where the inputs
// cannot be prepared, no worker could: then the pool is broken.
static void fail_start(struct pool *p, struct slot *s, const char *why, int64_t now_ns)
{
    // A GPU that was reset fails for all workers at once, and for a while: then each of them may
    // fail so often.
    bool was_reset = p->prepared && !p->options.is_cpu, others_are_up = false;
    p->failed_starts++;
    s->start_ns = now_ns + PAUSE_NS * p->failed_starts;
    log_warning("worker %d cannot start: %s", s->index, why);
    if (p->failed_starts < MOST_FAILED_STARTS * (was_reset ? p->options.workers : 1))
        return;
    for (int i = 0; i < p->slots; i++)
        others_are_up |=
            &p->slot[i] != s && p->slot[i].state != SLOT_EMPTY && p->slot[i].state != SLOT_ENDING;
    if (s->phase != PHASE_PREPARE && others_are_up) {
        log_warning("worker %d is given up, the others go on", s->index);
        s->start_ns = SLOT_NEVER;
        p->failed_starts = 0;
        return;
    }
    char limits[OS_LIMITS_SIZE]; // libraries die of them without a word
    const char *low = strstr(why, "ulimit") ? "" : os_low_limits(limits);
    p->is_broken = true;
    err_set(&p->broken, "no worker can be started: %s%s%s", why, *low ? "; " : "", low);
}

// Settles the candidate that the worker was busy with, or counts a failed start. A trial that had
// not begun is sent once more. False: the worker had nothing to do.
static bool fail_task(struct pool *p, struct slot *s, enum outcome o, const char *reason,
                      int64_t now_ns)
{
    struct work *w = s->work;
    s->work = NULL;
    if (!w && s->phase != PHASE_START && s->phase != PHASE_PREPARE)
        return false;
    if (!w) {
        if (o == OUTCOME_TIMEOUT && s->phase == PHASE_PREPARE)
            p->failed_starts = MOST_FAILED_STARTS; // the next worker would take as long
        fail_start(p, s, reason, now_ns);
        return true;
    }
    if (s->phase != PHASE_NONE)
        work_settle(w, s->candidate, o, s->phase, reason);
    else if (w->attempt++ > 0)
        work_settle_rest(w, o, PHASE_NONE, reason);
    finish_work(p, w);
    return true;
}

// Kills a worker for a reason that is known here.
static void give_up(struct pool *p, struct slot *s, enum outcome o, const char *reason,
                    int64_t now_ns)
{
    fail_task(p, s, o, reason, now_ns);
    device_lock_release(&p->lock, s->index);
    watch(p, s, PHASE_NONE, now_ns);
    s->phase = PHASE_NONE;
    slot_kill(s, now_ns);
}

// --- messages of a worker. The functions return false for one that may not come now: garbage ---

static bool take_result(struct pool *p, struct slot *s, struct message *m, int64_t now_ns)
{
    struct work *w = s->work;
    bool ends_the_worker = false;
    if (s->state != SLOT_BUSY || !work_merge(w, m))
        return false;
    if (w->request.only_compiles && w->result.outcome[0] == OUTCOME_OK)
        leave_phase(p, s, m->at_ns);
    if (w->request.keeps && m->kept.size)
        kept_add(&p->kept, &w->request.job[0], &m->kept, m->result.pipeline_s);
    watch(p, s, PHASE_NONE, m->at_ns);
    device_lock_release(&p->lock, s->index);
    s->work = NULL;
    become_idle(s);
    finish_work(p, w);
    for (int i = 0; i < m->result.count; i++)
        ends_the_worker |= m->settled[i] && (m->result.outcome[i] == OUTCOME_LOST ||
                                             m->result.outcome[i] == OUTCOME_TIMEOUT);
    if (ends_the_worker) {
        s->start_ns = now_ns + RECOVERY_NS;
        slot_kill(s, now_ns);
    }
    return true;
}

static bool take_message(struct pool *p, struct slot *s, struct message *m, int64_t now_ns)
{
    switch (m->type) {
    case MESSAGE_READY:
        if (s->state == SLOT_WARMING && s->phase == PHASE_WAIT) {
            device_lock_release(&p->lock, s->index);
            watch(p, s, PHASE_NONE, now_ns);
        } else if (s->state != SLOT_STARTING) {
            return false;
        }
        become_idle(s);
        if (p->prepared)
            p->failed_starts = 0;
        return true;
    case MESSAGE_PREPARED:
        if (s->state != SLOT_PREPARING)
            return false;
        become_idle(s);
        p->prepared = true;
        p->failed_starts = 0;
        return true;
    case MESSAGE_PHASE: {
        enum lock_state lock = s->work ? p->lock.state[s->index] : LOCK_NONE;
        bool ok = false;
        switch (m->phase) {
        case PHASE_START: ok = s->state == SLOT_STARTING; break;
        case PHASE_PREPARE: ok = s->state == SLOT_PREPARING; break;
        case PHASE_COMPILE:
        case PHASE_PIPELINE:
        case PHASE_WAIT: ok = lock == LOCK_COMPILING && m->candidate < s->work->pick_count; break;
        case PHASE_RUN:
        case PHASE_VERIFY:
        case PHASE_TIME: ok = lock == LOCK_DEVICE && m->candidate < s->work->pick_count; break;
        default: break;
        }
        if (!ok)
            return false;
        watch(p, s, m->phase, m->at_ns);
        leave_phase(p, s, m->at_ns);
        enter_phase(p, s, m->phase, now_ns);
        s->candidate = m->candidate;
        if (m->phase == PHASE_WAIT) {
            s->deadline.at_ns = 0; // the others decide how long; it begins when the device is given
            device_lock_wait(&p->lock, s->index);
        }
        return true;
    }
    case MESSAGE_RESULT: return take_result(p, s, m, now_ns);
    case MESSAGE_FAILED: give_up(p, s, OUTCOME_CRASH, m->failure.text, now_ns); return true;
    default: return false;
    }
}

static void read_messages(struct pool *p, struct slot *s, int64_t now_ns)
{
    link_fill(&s->link);
    for (;;) {
        char *text = NULL;
        struct message m;
        enum link_status status = link_next(&s->link, &text);
        bool ok = status != LINK_GARBAGE;
        if (status == LINK_FRAME && (ok = message_parse(text, &m, NULL))) {
            ok = take_message(p, s, &m, now_ns);
            message_finish(&m);
        }
        free(text);
        if (s->state == SLOT_ENDING)
            return;
        if (!ok)
            give_up(p, s, OUTCOME_CRASH, "garbage from worker", now_ns);
        else if (status == LINK_CLOSED) {
            // The worker has died or is about to, and only its exit status has the reason.
            device_lock_release(&p->lock, s->index);
            watch(p, s, PHASE_NONE, now_ns);
            slot_let_end(s, now_ns);
        }
        if (status != LINK_FRAME || !ok)
            return;
    }
}

// --- starting and distributing ---

static struct slot *find_slot(const struct pool *p, enum slot_state state)
{
    for (int i = 0; i < p->slots; i++)
        if (p->slot[i].state == state)
            return &p->slot[i];
    return NULL;
}

// Says if there is work for which the slot's worker is started.
static bool is_needed(const struct pool *p, const struct slot *s)
{
    if (s->index >= p->first_warmer) // a warmer that dies again and again is given up
        return find_slot(p, SLOT_BUSY) && s->spawns < MOST_SPAWNS_OF_WARMER;
    return s->index < p->options.workers || p->compiling.count > 0;
}

static void start(struct pool *p, struct slot *s, int64_t now_ns)
{
    struct err e = {0};
    if (!slot_start(s, p->program, p->shared_fd, &e)) {
        fail_start(p, s, e.text, now_ns);
        return;
    }
    p->starts++;
    enter_phase(p, s, PHASE_START, now_ns);
    bool warms = s->index >= p->first_warmer, measures = s->index < p->options.workers;
    int place = warms ? s->index - p->first_warmer : s->index;
    struct hello h = {.device = p->cards.index[place % p->cards.count],
                      .validate = p->options.validate,
                      .cold = p->options.cold,
                      .warms = warms,
                      .only_compiles = p->options.only_compiles || (!measures && !warms),
                      .operation = p->operation,
                      .limits = p->limits,
                      .trips_undeclared = p->options.trips_undeclared,
                      .objective = p->options.objective,
                      .seed = p->options.seed,
                      .start = p->starts};
    if (p->options.reference)
        h.reference = *p->options.reference; // borrowed
    memcpy(h.deadline_s, p->options.deadline_s, sizeof h.deadline_s);
    snprintf(h.fault, sizeof h.fault, "%s", p->fault);
    snprintf(h.device_id, sizeof h.device_id, "%s", p->device_id);
    slot_send(s, message_hello(&h));
}

static void step_worker(struct pool *p, struct slot *s, int64_t now_ns)
{
    if (s->state == SLOT_EMPTY) {
        if (now_ns >= s->start_ns && is_needed(p, s) &&
            !device_lock_on_card(&p->lock, s->index, LOCK_DEVICE))
            start(p, s, now_ns);
        return;
    }
    slot_read_log(s, p->options.log, p->options.log_context);
    if (s->state != SLOT_ENDING)
        read_messages(p, s, now_ns);
    char how[64], reason[320];
    // Messages are read before the deadline is checked, as this process may have been stopped for a
    // while.
    if (s->state != SLOT_ENDING && deadline_is_over(&s->deadline, s->child.pid, now_ns)) {
        const char *phase = trial_phase_name(s->phase);
        struct compile_limit *l = compile_limit_of(p, s->phase);
        if (s->limit_s < p->options.deadline_s[s->phase])
            snprintf(reason, sizeof reason,
                     "not compiled after %.3g s (phase %s; the limit follows what compiled before: "
                     "median %.3g s)",
                     s->limit_s, phase, compile_limit_median(l));
        else
            snprintf(reason, sizeof reason, "no end of phase %s after %g s", phase, s->limit_s);
        if (l)
            compile_limit_add(l, s->limit_s);
        if (s->work) {
            struct trial_result *r = &s->work->result;
            *(s->phase == PHASE_COMPILE    ? &r->compile_s
              : s->phase == PHASE_PIPELINE ? &r->pipeline_s
                                           : &r->device_s) += s->limit_s;
        }
        s->start_ns = now_ns + RECOVERY_NS;
        give_up(p, s, OUTCOME_TIMEOUT, reason, now_ns);
    }
    if (s->state != SLOT_ENDING) {
        link_flush(&s->link);
    } else if (slot_reap(s, now_ns, how, sizeof how)) {
        slot_read_log(s, p->options.log, p->options.log_context);
        bool has_line = s->last_line[0] != '\0';
        snprintf(reason, sizeof reason, "the worker %s%s%s%s", how, has_line ? " (" : "",
                 s->last_line, has_line ? ")" : "");
        if (!fail_task(p, s, OUTCOME_CRASH, reason, now_ns) && !s->killed)
            s->start_ns = now_ns + PAUSE_NS; // it ended without a reason, and may do so again
        slot_clear(s);
    } else if (slot_is_stuck(s, now_ns)) {
        p->is_broken = true;
        err_set(&p->broken, "worker %d cannot be killed: its driver hangs in the kernel", s->index);
    }
}

// Finds a worker for a request. One that measures also compiles, if no compiler is idle.
static struct slot *find_idle(const struct pool *p, bool to_measure)
{
    int count = to_measure ? p->options.workers : p->first_warmer;
    for (int i = 0; i < count; i++) {
        struct slot *s = &p->slot[to_measure ? i : count - 1 - i];
        if (s->state == SLOT_IDLE)
            return s;
    }
    return NULL;
}

static bool any_starts(const struct pool *p, int64_t now_ns)
{
    for (int i = 0; i < p->slots; i++)
        if (p->slot[i].state == SLOT_EMPTY && is_needed(p, &p->slot[i]) &&
            now_ns >= p->slot[i].start_ns)
            return true;
    return find_slot(p, SLOT_STARTING) != NULL;
}

// Lets a warmer rest as soon as a worker needs its card, or no trial is left that needs the card
// warm. With `to_start` it lets idle warmers run, where no worker needs the card.
static void step_warmers(struct pool *p, bool to_start, int64_t now_ns)
{
    for (int i = p->first_warmer; i < p->slots; i++) {
        struct slot *s = &p->slot[i];
        bool is_useful = find_slot(p, SLOT_BUSY) && !any_starts(p, now_ns);
        if (!to_start && s->state == SLOT_WARMING && s->phase == PHASE_NONE &&
            (!is_useful || device_lock_on_card(&p->lock, i, LOCK_WAITING))) {
            enter_phase(p, s, PHASE_WAIT, now_ns);
            slot_send(s, message_plain(MESSAGE_REST));
        }
        if (to_start && s->state == SLOT_IDLE && is_useful && device_lock_warm(&p->lock, i)) {
            watch(p, s, PHASE_TIME, now_ns);
            s->state = SLOT_WARMING;
            slot_send(s, message_plain(MESSAGE_GO));
        }
    }
}

// Gives the device and the requests to workers. Those that wait for the device come before those
// that would compile: see device_lock.h.
static void distribute(struct pool *p, int64_t now_ns)
{
    struct slot *idle = find_idle(p, true);
    if (!p->prepared) {
        if (idle && !find_slot(p, SLOT_PREPARING)) {
            idle->state = SLOT_PREPARING;
            enter_phase(p, idle, PHASE_PREPARE, now_ns);
            slot_send(idle, message_plain(MESSAGE_PREPARE));
        }
        return;
    }
    for (int granted; !any_starts(p, now_ns) && (granted = device_lock_grant(&p->lock)) >= 0;) {
        enter_phase(p, &p->slot[granted], PHASE_WAIT, now_ns);
        slot_send(&p->slot[granted], message_plain(MESSAGE_GO));
    }
    while (p->waiting.count > 0 && device_lock_may_compile(&p->lock) &&
           (idle = find_idle(p, true)) != NULL)
        send_trial(p, idle, work_list_take_first(&p->waiting), now_ns);
    while (p->compiling.count > 0 && device_lock_may_compile(&p->lock) &&
           (idle = find_idle(p, false)) != NULL)
        send_trial(p, idle, work_list_take_first(&p->compiling), now_ns);
}

// --- the source ---

static int pool_room(const struct source *source)
{
    const struct pool *p = (const struct pool *)source;
    int taken = p->waiting.count + (p->options.only_compiles ? p->compiling.count : 0);
    for (int i = 0; i < p->options.workers; i++)
        taken += p->slot[i].work != NULL;
    return p->options.workers - taken;
}

static void pool_submit(struct source *source, struct trial_request *r)
{
    struct pool *p = (struct pool *)source;
    work_list_append(r->only_compiles ? &p->compiling : &p->waiting, work_create(r, ++p->trials));
    p->has_new_work = true;
}

static int pool_fds(const struct source *source, struct pollfd *out, int most)
{
    const struct pool *p = (const struct pool *)source;
    int n = 0;
    for (int i = 0; i < p->slots && n + SLOT_FDS <= most; i++)
        n += slot_fds(&p->slot[i], out + n);
    return n;
}

static int pool_wait_ms(const struct source *source)
{
    const struct pool *p = (const struct pool *)source;
    int64_t now_ns = os_now_ns(), wake_ns = INT64_MAX;
    if (p->has_new_work)
        return 0;
    for (int i = 0; i < p->slots; i++)
        if (p->slot[i].state != SLOT_EMPTY ||
            (is_needed(p, &p->slot[i]) && !device_lock_on_card(&p->lock, i, LOCK_DEVICE)))
            wake_ns = int64_min(wake_ns, slot_wake_ns(&p->slot[i], now_ns));
    if (wake_ns == INT64_MAX)
        return -1;
    return wake_ns <= now_ns ? 0 : (int)int64_min((wake_ns - now_ns) / MS_NS + 1, INT_MAX);
}

static bool pool_step(struct source *source, struct err *e)
{
    struct pool *p = (struct pool *)source;
    p->has_new_work = false;
    for (int i = 0; i < p->slots && !p->is_broken; i++)
        step_worker(p, &p->slot[i], os_now_ns());
    if (!p->is_broken) {
        step_warmers(p, false, os_now_ns());
        distribute(p, os_now_ns());
        step_warmers(p, true, os_now_ns());
    }
    int64_t now_ns = os_now_ns();
    bool is_busy =
        find_slot(p, SLOT_STARTING) || find_slot(p, SLOT_PREPARING) || find_slot(p, SLOT_BUSY);
    if (is_busy && !p->busy_since_ns)
        p->busy_since_ns = now_ns;
    if (!is_busy && p->busy_since_ns) {
        p->busy_ns += now_ns - p->busy_since_ns;
        p->busy_since_ns = 0;
    }
    if (p->is_broken && e)
        *e = p->broken;
    return !p->is_broken;
}

static bool pool_collect(struct source *source, struct trial_result *out)
{
    struct work *w = work_list_take_first(&((struct pool *)source)->done);
    if (w)
        *out = w->result;
    work_destroy(w);
    return w != NULL;
}

static double pool_busy_seconds(const struct source *source)
{
    const struct pool *p = (const struct pool *)source;
    int64_t ns = p->busy_ns + (p->busy_since_ns ? os_now_ns() - p->busy_since_ns : 0);
    return (double)ns * 1e-9;
}

static int pool_workers(const struct source *source, struct worker_now *out, int most)
{
    const struct pool *p = (const struct pool *)source;
    int count = 0;
    for (int i = 0; i < p->first_warmer && count < most; i++) {
        const struct slot *s = &p->slot[i];
        if (s->state == SLOT_EMPTY || s->state == SLOT_ENDING)
            continue;
        out[count++] = (struct worker_now){.worker = i,
                                           .phase = s->phase,
                                           .ticket = s->work ? s->work->request.ticket : 0,
                                           .since_ns = s->entered_ns};
    }
    return count;
}

static void pool_destroy(struct source *source)
{
    struct pool *p = (struct pool *)source;
    for (int i = 0; i < p->slots; i++) {
        work_destroy(p->slot[i].work);
        slot_finish(&p->slot[i]);
    }
    work_list_finish(&p->waiting);
    work_list_finish(&p->compiling);
    work_list_finish(&p->done);
    kept_finish(&p->kept);
    device_lock_finish(&p->lock);
    close(p->shared_fd);
    free(p->slot);
    free(p->program);
    free(p->fault);
    free(p->device_id);
    free(p);
}

static const struct source_kind pool_kind = {
    .name = "pool",
    .needs_jobs = true,
    .deterministic = false,
    .room = pool_room,
    .submit = pool_submit,
    .fds = pool_fds,
    .wait_ms = pool_wait_ms,
    .step = pool_step,
    .collect = pool_collect,
    .busy_seconds = pool_busy_seconds,
    .workers = pool_workers,
    .destroy = pool_destroy,
};

// Lavapipe's JIT takes up to ten seconds for a large unrolled kernel, and the machine may be
// shared.
double pool_default_deadline(enum trial_phase p, bool is_cpu)
{
    switch (p) {
    case PHASE_NONE: return 20; // from sending a trial to its first announcement
    case PHASE_START: return 60;
    case PHASE_PREPARE: return 600; // of a reference kernel; else operator_reference_seconds
    case PHASE_COMPILE: return 30;
    case PHASE_PIPELINE: return 60;
    case PHASE_WAIT: return 20; // from being given the device to using it
    case PHASE_RUN: return is_cpu ? 60 : 30;
    case PHASE_VERIFY: return 60;
    case PHASE_TIME: return is_cpu ? 120 : 60;
    case PHASE_COUNT: break;
    }
    return 60;
}

struct source *pool_create(const struct pool_options *o, struct err *e)
{
    struct fault_plan plan;
    size_t size;
    if (!fault_parse(o->fault, &plan, e))
        return NULL;
    if (o->fault && strlen(o->fault) >= sizeof((struct hello *)0)->fault) {
        err_set(e, "the list of faults is too long");
        return NULL;
    }
    if (!operator_fits(o->operation, o->limits, e) || !shared_size(o->operation, &size, e))
        return NULL;
    int shared_fd = os_memfd("tilewalk-operator", size, e);
    if (shared_fd < 0)
        return NULL;
    struct pool *p = mem_zero(1, sizeof *p);
    p->base.kind = &pool_kind;
    p->options = *o;
    p->operation = *o->operation;
    p->limits = *o->limits;
    p->options.operation = &p->operation;
    p->options.limits = &p->limits;
    p->options.program = p->program = o->program ? mem_strdup(o->program) : path_program();
    p->options.fault = p->fault = mem_strdup(o->fault ? o->fault : "");
    p->options.device_id = p->device_id = mem_strdup(o->device_id ? o->device_id : "");
    for (int i = 0; i < PHASE_COUNT; i++)
        if (o->deadline_s[i] <= 0)
            p->options.deadline_s[i] = pool_default_deadline((enum trial_phase)i, o->is_cpu);
    if (o->deadline_s[PHASE_PREPARE] <= 0 && !(o->reference && o->reference->pass_count > 0))
        p->options.deadline_s[PHASE_PREPARE] = operator_reference_seconds(o->operation);
    for (int i = 0; i < 2; i++)
        p->compile_limit[i].least_s =
            o->compile_least_s > 0 ? o->compile_least_s : COMPILE_LIMIT_LEAST_S;
    p->shared_fd = shared_fd;
    p->has_new_work = true;
    p->prepared = o->only_compiles; // there is nothing to prepare
    p->first_warmer = o->workers + o->compilers;
    p->cards = o->cards ? *o->cards : (struct gpu_cards){.index = {o->device}, .count = 1};
    p->options.cards = &p->cards;
    p->slots = p->first_warmer + (o->keeps_busy ? p->cards.count : 0);
    p->slot = mem_zero((size_t)p->slots, sizeof *p->slot);
    for (int i = 0; i < p->slots; i++)
        slot_init(&p->slot[i], i);
    device_lock_init(&p->lock,
                     &(struct device_lock_options){.workers = p->slots,
                                                   .is_cpu = o->is_cpu,
                                                   .cores = os_cores(),
                                                   .cards = p->cards.count,
                                                   .warmers = p->slots - p->first_warmer});
    return &p->base;
}
