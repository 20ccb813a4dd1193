#include "trial/pool.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/os.h"
#include "trial/fault.h"
#include "trial/shared.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ENOUGH = 8, TIMES = 10 };

void compile_limit_saw(struct compile_limit *l, double seconds)
{
    l->seen[l->count++ % COMPILE_LIMIT_KEPT] = seconds;
}

double compile_limit_median(const struct compile_limit *l)
{
    double sorted[COMPILE_LIMIT_KEPT];
    int count = l->count < COMPILE_LIMIT_KEPT ? l->count : COMPILE_LIMIT_KEPT;
    if (count < ENOUGH)
        return 0;
    memcpy(sorted, l->seen, (size_t)count * sizeof *sorted);
    return median_of(sorted, count);
}

double compile_limit_s(const struct compile_limit *l, double most_s)
{
    double median = compile_limit_median(l);
    return median > 0 ? fmin(most_s, fmax(l->least_s, TIMES * median)) : most_s;
}

enum { MOST_FAILED_STARTS = 3 };
#define POOL_WORKER_MS_NS ((int64_t)1000000)
// Before the next try, for each start that failed.
#define PAUSE_NS (200 * POOL_WORKER_MS_NS)
// After a device was lost or hung.
#define RECOVERY_NS (500 * POOL_WORKER_MS_NS)

static void watch(const struct pool *p, const struct slot *s, enum trial_phase phase, int64_t at_ns)
{
    if (p->watcher)
        p->watcher(p->watcher_context, s->index, phase, at_ns);
}

// NULL: no phase of compiling.
static struct compile_limit *limit_of(struct pool *p, enum trial_phase phase)
{
    return phase == PHASE_COMPILE    ? &p->compile_limit[0]
           : phase == PHASE_PIPELINE ? &p->compile_limit[1]
                                     : NULL;
}

// What was measured before, or is in use somewhere, has the fixed limit.
static double limit_s(struct pool *p, const struct slot *s, enum trial_phase phase)
{
    const struct compile_limit *l = limit_of(p, phase);
    double most_s = p->options.deadline_s[phase];
    return l && s->work && !s->work->request.known_good ? compile_limit_s(l, most_s) : most_s;
}

static void enter(struct pool *p, struct slot *s, enum trial_phase phase, int64_t now_ns)
{
    s->phase = phase;
    s->limit_s = limit_s(p, s, phase);
    deadline_set(&s->deadline, s->child.pid, s->limit_s, now_ns);
}

// It leaves the phase that it is in.
static void leave(struct pool *p, struct slot *s, int64_t at_ns)
{
    struct compile_limit *l = limit_of(p, s->phase);
    if (l && !s->has_kept)
        compile_limit_saw(l, (double)(at_ns - s->entered_ns) * 1e-9);
    s->entered_ns = at_ns;
}

// Sending

void pool_send_prepare(struct pool *p, struct slot *s, int64_t now_ns)
{
    s->state = SLOT_PREPARING;
    enter(p, s, PHASE_PREPARE, now_ns);
    slot_send(s, message_plain(MESSAGE_PREPARE));
}

void pool_finish_work(struct pool *p, struct work *w)
{
    if (work_is_done(w))
        work_list_append(&p->done, w);
    else
        work_list_insert(w->request.only_compiles ? &p->compiling : &p->waiting, w);
}

void pool_send_trial(struct pool *p, struct slot *s, struct work *w, int64_t now_ns)
{
    bool is_trial = w->request.count == 1 && !w->request.only_compiles;
    const struct kept *kept = is_trial ? kept_find(&p->kept, &w->request.job[0]) : NULL;
    w->result.worker = s->index;
    if (!slot_send(s, work_message(w, kept))) {
        work_settle_rest(w, OUTCOME_COMPILE, PHASE_COMPILE, "its text is too long to be sent");
        pool_finish_work(p, w);
        return;
    }
    token_compile(&p->token, s->index);
    s->state = SLOT_BUSY;
    s->work = w;
    s->has_kept = kept != NULL;
    s->candidate = 0;
    s->last_line[0] = '\0';
    enter(p, s, PHASE_NONE, now_ns);
}

void pool_send_go(struct pool *p, struct slot *s, int64_t now_ns)
{
    enter(p, s, PHASE_WAIT, now_ns);
    slot_send(s, message_plain(MESSAGE_GO));
}

void pool_send_warm(struct pool *p, struct slot *warmer, int64_t now_ns)
{
    token_warm(&p->token, warmer->index);
    watch(p, warmer, PHASE_TIME, now_ns);
    warmer->state = SLOT_WARMING;
    slot_send(warmer, message_plain(MESSAGE_GO));
}

void pool_send_rest(struct pool *p, struct slot *warmer, int64_t now_ns)
{
    enter(p, warmer, PHASE_WAIT, now_ns);
    slot_send(warmer, message_plain(MESSAGE_REST));
}

// Failures

static bool others_are_up(const struct pool *p, const struct slot *s)
{
    for (int i = 0; i < p->slots; i++)
        if (&p->slot[i] != s && p->slot[i].state != SLOT_EMPTY && p->slot[i].state != SLOT_ENDING)
            return true;
    return false;
}

// The device may have memory for fewer workers than were asked for: those that are up go on. But
// what one cannot prepare, none can.
static void fail_start(struct pool *p, struct slot *s, const char *why, int64_t now_ns)
{
    p->failed_starts++;
    s->start_ns = now_ns + PAUSE_NS * p->failed_starts;
    log_warning("worker %d cannot start: %s", s->index, why);
    // A GPU that was reset is lost to all workers at once, and takes a while: then each may fail
    // that often before it counts as gone.
    bool was_reset = p->prepared && !p->options.is_cpu;
    if (p->failed_starts < (MOST_FAILED_STARTS * (was_reset ? p->options.workers : 1)))
        return;
    if (s->phase != PHASE_PREPARE && others_are_up(p, s)) {
        log_warning("worker %d is given up, the others go on", s->index);
        s->start_ns = SLOT_NEVER;
        p->failed_starts = 0;
        return;
    }
    p->is_broken = true;
    err_set(&p->broken, "no worker can be started: %s", why);
}

// The candidate that the worker was busy with gets `o`. A trial that had not begun is nobody's
// fault: once more, then.
static void fail_work(struct pool *p, struct slot *s, enum outcome o, const char *reason)
{
    struct work *w = s->work;
    s->work = NULL;
    if (!w)
        return;
    if (s->phase != PHASE_NONE)
        work_settle(w, s->candidate, o, s->phase, reason);
    else if (w->attempt++ > 0)
        work_settle_rest(w, o, PHASE_NONE, reason);
    pool_finish_work(p, w);
}

static bool is_starting(const struct slot *s)
{
    return s->phase == PHASE_START || s->phase == PHASE_PREPARE;
}

// The worker is of no more use, whatever it was doing, because of something that we know.
static void give_up(struct pool *p, struct slot *s, enum outcome o, const char *reason,
                    int64_t now_ns)
{
    log_info("worker %d: %s", s->index, reason);
    if (s->work)
        fail_work(p, s, o, reason);
    else if (is_starting(s))
        fail_start(p, s, reason, now_ns);
    token_release(&p->token, s->index);
    watch(p, s, PHASE_NONE, now_ns);
    s->phase = PHASE_NONE;
    slot_kill(s, now_ns);
}

static void reap(struct pool *p, struct slot *s, int64_t now_ns)
{
    char how[64], reason[320];
    if (!slot_reap(s, now_ns, how, sizeof how)) {
        if (slot_is_stuck(s, now_ns)) {
            p->is_broken = true;
            err_set(&p->broken, "worker %d cannot be killed: its driver hangs in the kernel",
                    s->index);
        }
        return;
    }
    slot_read_log(s, p->options.log, p->options.log_context);
    bool said_something = s->last_line[0] != '\0';
    snprintf(reason, sizeof reason, "the worker %s%s%s%s", how, said_something ? " (" : "",
             s->last_line, said_something ? ")" : "");
    if (s->work)
        fail_work(p, s, OUTCOME_CRASH, reason);
    else if (is_starting(s))
        fail_start(p, s, reason, now_ns);
    else if (!s->killed) // out of the blue: perhaps it will again
        s->start_ns = now_ns + PAUSE_NS;
    slot_clear(s);
}

// What a worker says. All return false when it cannot be: then it is garbage.

static bool is_expected(const struct pool *p, const struct slot *s, const struct message *m)
{
    enum hold hold = s->work ? p->token.hold[s->index] : HOLD_NOTHING;
    switch (m->phase) {
    case PHASE_START: return s->state == SLOT_STARTING;
    case PHASE_PREPARE: return s->state == SLOT_PREPARING;
    case PHASE_COMPILE:
    case PHASE_PIPELINE:
    case PHASE_WAIT: return hold == HOLD_COMPILE && m->candidate < s->work->pick_count;
    case PHASE_RUN:
    case PHASE_VERIFY:
    case PHASE_TIME: return hold == HOLD_DEVICE && m->candidate < s->work->pick_count;
    default: return false;
    }
}

static bool ends_the_worker(const struct message *m)
{
    for (int i = 0; i < m->result.count; i++)
        if (m->settled[i] &&
            (m->result.outcome[i] == OUTCOME_LOST || m->result.outcome[i] == OUTCOME_TIMEOUT))
            return true;
    return false;
}

static bool take_result(struct pool *p, struct slot *s, struct message *m, int64_t now_ns)
{
    struct work *w = s->work;
    if (s->state != SLOT_BUSY || !work_merge(w, m))
        return false;
    if (w->request.only_compiles && w->result.outcome[0] == OUTCOME_OK)
        leave(p, s, m->at_ns);
    if (w->request.keeps && m->kept.size)
        kept_add(&p->kept, &w->request.job[0], &m->kept, m->result.pipeline_s);
    watch(p, s, PHASE_NONE, m->at_ns);
    token_release(&p->token, s->index);
    s->work = NULL;
    s->state = SLOT_IDLE;
    s->phase = PHASE_NONE;
    s->deadline.at_ns = 0;
    pool_finish_work(p, w);
    if (ends_the_worker(m)) {
        s->start_ns = now_ns + RECOVERY_NS;
        slot_kill(s, now_ns);
    }
    return true;
}

static bool take_message(struct pool *p, struct slot *s, struct message *m, int64_t now_ns)
{
    switch (m->type) {
    case MESSAGE_READY: {
        bool rests = s->state == SLOT_WARMING && s->phase == PHASE_WAIT;
        if (s->state != SLOT_STARTING && !rests)
            return false;
        if (rests) {
            token_release(&p->token, s->index);
            watch(p, s, PHASE_NONE, now_ns);
        }
        s->state = SLOT_IDLE;
        s->phase = PHASE_NONE;
        s->deadline.at_ns = 0;
        if (p->prepared)
            p->failed_starts = 0;
        return true;
    }
    case MESSAGE_PREPARED: {
        if (s->state != SLOT_PREPARING)
            return false;
        s->state = SLOT_IDLE;
        s->phase = PHASE_NONE;
        s->deadline.at_ns = 0;
        p->prepared = true;
        p->failed_starts = 0;
        return true;
    }
    case MESSAGE_PHASE: {
        if (!is_expected(p, s, m))
            return false;
        watch(p, s, m->phase, m->at_ns);
        leave(p, s, m->at_ns);
        enter(p, s, m->phase, now_ns);
        s->candidate = m->candidate;
        if (m->phase == PHASE_WAIT) {
            s->deadline.at_ns =
                0; // others decide how long; counted again from when it is given the device
            token_wait(&p->token, s->index);
        }
        return true;
    }
    case MESSAGE_RESULT: return take_result(p, s, m, now_ns);
    case MESSAGE_FAILED: give_up(p, s, OUTCOME_CRASH, m->failure.text, now_ns); return true;
    default: return false;
    }
}

static bool take_text(struct pool *p, struct slot *s, const char *text, int64_t now_ns)
{
    struct message m;
    if (!message_parse(text, &m, NULL))
        return false;
    bool ok = take_message(p, s, &m, now_ns);
    message_finish(&m);
    return ok;
}

static void hear(struct pool *p, struct slot *s, int64_t now_ns)
{
    link_fill(&s->link);
    for (;;) {
        char *text = NULL;
        enum link_status status = link_next(&s->link, &text);
        bool ok = status != LINK_GARBAGE;
        if (status == LINK_FRAME)
            ok = take_text(p, s, text, now_ns);
        free(text);
        if (s->state == SLOT_ENDING)
            return;
        if (!ok)
            give_up(p, s, OUTCOME_CRASH, "garbage from worker", now_ns);
        else if (status == LINK_CLOSED) {
            // Its socket is closed: it is dead or about to be, and only its exit status says why.
            token_release(&p->token, s->index);
            watch(p, s, PHASE_NONE, now_ns);
            slot_let_end(s, now_ns);
        }
        if (status != LINK_FRAME || !ok)
            return;
    }
}

static void start(struct pool *p, struct slot *s, int64_t now_ns)
{
    struct err e = {0};
    if (!slot_start(s, p->program, p->shared_fd, &e)) {
        fail_start(p, s, e.text, now_ns);
        return;
    }
    p->starts++;
    enter(p, s, PHASE_START, now_ns);
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
                      .seed = p->options.seed,
                      .start = p->starts};
    if (p->options.reference)
        h.reference = *p->options.reference; // borrowed
    for (int i = 0; i < PHASE_COUNT; i++)
        h.deadline_s[i] = p->options.deadline_s[i];
    snprintf(h.fault, sizeof h.fault, "%s", p->fault);
    snprintf(h.device_id, sizeof h.device_id, "%s", p->device_id);
    slot_send(s, message_hello(&h));
}

void pool_step_worker(struct pool *p, struct slot *s, int64_t now_ns)
{
    if (s->state == SLOT_EMPTY) {
        if (now_ns >= s->start_ns && pool_wants(p, s) && token_may_start(&p->token, s->index))
            start(p, s, now_ns);
        return;
    }
    slot_read_log(s, p->options.log, p->options.log_context);
    if (s->state != SLOT_ENDING)
        hear(p, s, now_ns);
    if (s->state != SLOT_ENDING) // what it said comes first: we may have been stopped for a while
    {
        char reason[160];
        struct compile_limit *l = limit_of(p, s->phase);
        if (deadline_is_over(&s->deadline, s->child.pid, now_ns)) {
            if (s->limit_s < p->options.deadline_s[s->phase])
                snprintf(
                    reason, sizeof reason,
                    "not compiled after %.3g s (phase %s; the limit follows what compiled before: "
                    "median %.3g s)",
                    s->limit_s, trial_phase_name(s->phase), compile_limit_median(l));
            else
                snprintf(reason, sizeof reason, "no end of phase %s after %g s",
                         trial_phase_name(s->phase), s->limit_s);
            if (l)
                compile_limit_saw(l, s->limit_s);
            if (s->work)
                work_spent(s->work, s->phase, s->limit_s);
            s->start_ns = now_ns + RECOVERY_NS;
            give_up(p, s, OUTCOME_TIMEOUT, reason, now_ns);
        }
    }
    if (s->state != SLOT_ENDING)
        link_flush(&s->link);
    else
        reap(p, s, now_ns);
}

#define MS_NS ((int64_t)1000000)

enum { MOST_SPAWNS_OF_WARMER = 10 };

static struct pool *pool_of(struct source *s)
{
    return (struct pool *)s;
}

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
    struct pool *p = pool_of(source);
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

static bool has_trials(const struct pool *p)
{
    for (int i = 0; i < p->first_warmer; i++)
        if (p->slot[i].state == SLOT_BUSY)
            return true;
    return false;
}

bool pool_wants(const struct pool *p, const struct slot *s)
{
    if (s->index >= p->first_warmer) // one that dies again and again does without
        return has_trials(p) && s->spawns < MOST_SPAWNS_OF_WARMER;
    return s->index < p->options.workers || p->compiling.count > 0;
}

static bool may_start(const struct pool *p, const struct slot *s)
{
    return pool_wants(p, s) && token_may_start(&p->token, s->index);
}

static int pool_wait_ms(const struct source *source)
{
    const struct pool *p = (const struct pool *)source;
    int64_t now_ns = os_now_ns(), wake_ns = INT64_MAX;
    if (p->has_new_work)
        return 0;
    for (int i = 0; i < p->slots; i++) {
        bool has_to_wait = p->slot[i].state == SLOT_EMPTY && !may_start(p, &p->slot[i]);
        int64_t ns = has_to_wait ? INT64_MAX : slot_wake_ns(&p->slot[i], now_ns);
        wake_ns = ns < wake_ns ? ns : wake_ns;
    }
    if (wake_ns == INT64_MAX)
        return -1;
    if (wake_ns <= now_ns)
        return 0;
    int64_t ms = (wake_ns - now_ns) / MS_NS + 1;
    return ms < INT_MAX ? (int)ms : INT_MAX;
}

static struct slot *find_slot(const struct pool *p, enum slot_state state)
{
    for (int i = 0; i < p->slots; i++)
        if (p->slot[i].state == state)
            return &p->slot[i];
    return NULL;
}

// Who measures compiles for others too, if no compiler is idle.
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

static bool somebody_starts(const struct pool *p, int64_t now_ns)
{
    for (int i = 0; i < p->slots; i++)
        if (p->slot[i].state == SLOT_EMPTY && pool_wants(p, &p->slot[i]) &&
            now_ns >= p->slot[i].start_ns)
            return true;
    return find_slot(p, SLOT_STARTING) != NULL;
}

static void let_warmers_warm(struct pool *p, int64_t now_ns)
{
    for (int i = p->first_warmer; i < p->slots; i++)
        if (p->slot[i].state == SLOT_IDLE && has_trials(p) && !somebody_starts(p, now_ns) &&
            token_may_warm(&p->token, i))
            pool_send_warm(p, &p->slot[i], now_ns);
}

// Who waits for the device goes before who wants to compile: see token.h.
static void hand_out(struct pool *p, int64_t now_ns)
{
    struct slot *idle = find_idle(p, true);
    if (!p->prepared) {
        if (idle && !find_slot(p, SLOT_PREPARING))
            pool_send_prepare(p, idle, now_ns);
        return;
    }
    for (int granted; !somebody_starts(p, now_ns) && (granted = token_grant(&p->token)) >= 0;)
        pool_send_go(p, &p->slot[granted], now_ns);
    while (p->waiting.count > 0 && token_may_compile(&p->token) &&
           (idle = find_idle(p, true)) != NULL)
        pool_send_trial(p, idle, work_list_take_first(&p->waiting), now_ns);
    while (p->compiling.count > 0 && token_may_compile(&p->token) &&
           (idle = find_idle(p, false)) != NULL)
        pool_send_trial(p, idle, work_list_take_first(&p->compiling), now_ns);
}

static bool is_at_work(const struct pool *p)
{
    return find_slot(p, SLOT_STARTING) || find_slot(p, SLOT_PREPARING) || find_slot(p, SLOT_BUSY);
}

static bool pool_step(struct source *source, struct err *e)
{
    struct pool *p = pool_of(source);
    p->has_new_work = false;
    for (int i = 0; i < p->slots && !p->is_broken; i++)
        pool_step_worker(p, &p->slot[i], os_now_ns());
    if (!p->is_broken) {
        // A warmer rests as soon as somebody needs its card, or nobody needs it to be warm.
        int64_t now_ns = os_now_ns();
        for (int i = p->first_warmer; i < p->slots; i++) {
            struct slot *s = &p->slot[i];
            bool rests =
                token_is_wanted(&p->token, i) || somebody_starts(p, now_ns) || !has_trials(p);
            if (s->state == SLOT_WARMING && s->phase == PHASE_NONE && rests)
                pool_send_rest(p, s, now_ns);
        }
        hand_out(p, os_now_ns());
        let_warmers_warm(p, os_now_ns());
    }
    int64_t now_ns = os_now_ns();
    bool at_work = is_at_work(p);
    if (at_work && !p->busy_since_ns)
        p->busy_since_ns = now_ns;
    if (!at_work && p->busy_since_ns) {
        p->busy_ns += now_ns - p->busy_since_ns;
        p->busy_since_ns = 0;
    }
    if (p->is_broken && e)
        *e = p->broken;
    return !p->is_broken;
}

static bool pool_collect(struct source *source, struct trial_result *out)
{
    struct work *w = work_list_take_first(&pool_of(source)->done);
    if (!w)
        return false;
    *out = w->result;
    work_destroy(w);
    return true;
}

static void pool_destroy(struct source *source)
{
    struct pool *p = pool_of(source);
    for (int i = 0; i < p->slots; i++) {
        work_destroy(p->slot[i].work);
        slot_finish(&p->slot[i]);
    }
    work_list_finish(&p->waiting);
    work_list_finish(&p->compiling);
    work_list_finish(&p->done);
    kept_finish(&p->kept);
    token_finish(&p->token);
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
    .destroy = pool_destroy,
};

// Lavapipe's JIT takes up to ten seconds for a large unrolled kernel, and the machine may be
// shared.
double pool_default_deadline(enum trial_phase p, bool is_cpu)
{
    switch (p) {
    case PHASE_NONE: return 20; // from sending a trial to its first announcement
    case PHASE_START: return 60;
    case PHASE_PREPARE: return 600;
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
    if (!fault_parse(o->fault, &plan, e))
        return NULL;
    if (o->fault && strlen(o->fault) >= sizeof((struct hello *)0)->fault) {
        err_set(e, "the list of faults is too long");
        return NULL;
    }
    size_t size;
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
    p->options.program = p->program = mem_strdup(o->program);
    p->options.fault = p->fault = mem_strdup(o->fault ? o->fault : "");
    p->options.device_id = p->device_id = mem_strdup(o->device_id ? o->device_id : "");
    for (int i = 0; i < PHASE_COUNT; i++)
        if (o->deadline_s[i] <= 0)
            p->options.deadline_s[i] = pool_default_deadline((enum trial_phase)i, o->is_cpu);
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
    token_init(&p->token, &(struct token_wish){.workers = p->slots,
                                               .is_cpu = o->is_cpu,
                                               .cores = os_cores(),
                                               .cards = p->cards.count,
                                               .warmers = p->slots - p->first_warmer});
    return &p->base;
}

double pool_busy_seconds(const struct source *s)
{
    const struct pool *p = (const struct pool *)s;
    int64_t ns = p->busy_ns + (p->busy_since_ns ? os_now_ns() - p->busy_since_ns : 0);
    return (double)ns * 1e-9;
}

int pool_respawns(const struct source *s)
{
    const struct pool *p = (const struct pool *)s;
    int respawns = 0;
    for (int i = 0; i < p->slots; i++)
        respawns += p->slot[i].spawns > 1 ? p->slot[i].spawns - 1 : 0;
    return respawns;
}
