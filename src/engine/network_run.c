// Runs a network: its rounds, and at the end the final race of each task.

#include "engine/network_run.h"

#include "base/os.h"
#include "engine/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MOST_WITH_WORKERS 4 // tasks whose workers wait for their next round
// The budget is divided into about 8 rounds a task. A shorter round than LEAST_ROUND shows nothing;
// one longer than MOST_ROUND keeps the other tasks waiting.
#define ROUNDS_OF_A_TASK 8
#define LEAST_ROUND      4
#define MOST_ROUND       64

struct session *network_task_now(const struct network_run *n)
{
    return n->current ? n->current->session : NULL;
}

// --- the sessions of tasks ---

// Events of a task's session are reported as the network's, but for its own states.
static void on_task_event(void *network, const struct event *event)
{
    struct network_run *n = network;
    if (event->kind != EVENT_SESSION && event->kind != EVENT_STATE && event->kind != EVENT_END)
        session_event(&n->log, *event);
}

static bool start_task(struct network_run *n, struct network_member *m, struct err *e)
{
    const struct session_host host = {n->store.db, on_task_event, n};
    struct session_options o = n->each;
    o.space = m->record.preset;
    o.set = stored_settings(m->record.settings, &n->arena, &o.set_count);
    o.network = n->record.id;
    o.task = m->record.name;
    o.has_seed = true;
    o.seed = n->record.seed + (uint64_t)m->record.position;
    o.trials = m->allotted;
    // The sessions of this network that a task's model may learn from.
    struct str list = {0};
    for (int i = 0; i < n->count; i++)
        if (n->member[i].record.session)
            str_printf(&list, "%s%" PRId64, list.length ? "," : "", n->member[i].record.session);
    o.earlier = list.length ? arena_strdup(&n->arena, str_text(&list)) : NULL;
    str_finish(&list);
    m->session = session_start(&host, &o, e);
    if (!m->session)
        return err_prefix(e, "%s", m->record.name);
    m->record.session = m->session->record.id;
    return store_set_task(n->store.db, n->record.id, m->record.position, m->record.session, e);
}

// Ends the workers of the task that has not been used for longest, where too many tasks have some.
static void release_idle_workers(struct network_run *n, const struct network_member *but)
{
    struct network_member *oldest = NULL;
    int awake = 0;
    for (int i = 0; i < n->count; i++) {
        struct network_member *m = &n->member[i];
        if (m == but || !m->session || !m->session->backend.source)
            continue;
        awake++;
        if (!oldest || m->last_used < oldest->last_used)
            oldest = m;
    }
    if (awake < MOST_WITH_WORKERS)
        return;
    source_destroy(oldest->session->backend.source);
    oldest->session->backend.source = NULL;
}

// Starts the session of a task, resumes it from the database, or gives it workers again.
static bool open_task(struct network_run *n, struct network_member *m, struct err *e)
{
    release_idle_workers(n, m);
    m->last_used = n->round.number;
    if (!m->session && !m->record.session) {
        // A task that began just before the process died is known by its session alone.
        struct arena a;
        struct session_record *list;
        int count;
        arena_init(&a);
        bool ok = store_list_sessions(n->store.db, &a, &list, &count, e);
        for (int i = 0; ok && i < count; i++)
            if (list[i].network == n->record.id && str_equal(list[i].task, m->record.name))
                m->record.session = list[i].id;
        arena_finish(&a);
        if (!ok)
            return false;
        if (!m->record.session)
            return start_task(n, m, e);
        if (!store_set_task(n->store.db, n->record.id, m->record.position, m->record.session, e))
            return false;
    }
    if (!m->session) {
        const struct session_host host = {n->store.db, on_task_event, n};
        struct session_options more = n->each;
        more.trials = m->allotted;
        m->session = session_resume(&host, m->record.session, &more, e);
        return m->session || err_prefix(e, "%s", m->record.name);
    }
    struct session *s = m->session;
    return s->backend.source || s->phase == SESSION_ENDED ||
           backend_make_source(&s->backend, &n->choice, &s->log, n->each.validate, n->each.fault,
                               e);
}

// --- states ---

static bool enter(struct network_run *n, enum session_phase phase, enum session_state state,
                  const char *message, struct err *e)
{
    if (phase != SESSION_RUNNING)
        network_whole_drop(&n->whole);
    session_clock_run(&n->clock, phase == SESSION_RUNNING);
    n->phase = phase;
    kill_point("state");
    return session_store_state(&n->store, state, message ? arena_strdup(&n->arena, message) : NULL,
                               e);
}

static bool end(struct network_run *n, enum session_state state, const char *message, struct err *e)
{
    if (!enter(n, SESSION_ENDED, state, message, e))
        return false;
    store_unlock_session(n->store.db, n->record.id);
    return true;
}

static bool finish(struct network_run *n, struct err *e)
{
    const struct session_record *r = &n->record;
    char text[128];
    if (n->stopping)
        return end(n, STATE_STOPPED, "stopped by the user", e);
    if (r->trials >= r->budget_trials)
        snprintf(text, sizeof text, "all %" PRId64 " trials are done", r->budget_trials);
    else if (!session_clock_trials(&n->clock))
        snprintf(text, sizeof text, "%g seconds are over", r->budget_seconds);
    else
        snprintf(text, sizeof text, "no task has anything left to try");
    return end(n, STATE_DONE, text, e);
}

// Sums the counts of the tasks to those of the network.
static void count(struct network_run *n)
{
    struct session_record *r = &n->record;
    r->trials = r->rejected = r->ok = 0;
    for (int i = 0; i < n->count; i++) {
        struct network_member *m = &n->member[i];
        const struct cycle *c = m->session ? &m->session->cycle : NULL;
        if (c && !cycle_is_replaying(c)) {
            m->spent = c->trials;
            m->rejected = c->rejected;
            m->ok = c->ok;
        }
        r->trials += m->spent;
        r->rejected += m->rejected;
        r->ok += m->ok;
    }
}

// --- rounds ---

void network_weigh(struct network_run *n, int64_t position, double weight)
{
    struct network_member *m = &n->member[position - 1];
    bool is_told = m->record.told_s > 0 && m->first_s > 0;
    m->weight = weight;
    n->uses[position - 1] =
        weight * (is_told ? m->record.told_s / m->first_s : (double)m->record.uses);
}

void network_tell(struct network_run *n, struct network_member *m, double seconds, bool more)
{
    if (m->first_s <= 0 && seconds > 0) {
        m->first_s = seconds;
        network_weigh(n, m->record.position, m->weight);
    }
    schedule_tell(n->schedule, (int)m->record.position - 1, seconds, more);
}

static bool put_round(struct network_run *n, struct err *e)
{
    kill_point("round");
    return session_stored(&n->store, store_put_round(n->store.db, n->record.id, &n->round, e), e);
}

// Gives the next round, or closes the network where nobody gets one. The task of the round may have
// all the running time that the network has left.
static bool begin_round(struct network_run *n, struct err *e)
{
    const struct session_record *r = &n->record;
    double seconds = r->budget_seconds;
    double left_s = seconds > 0 ? seconds - session_clock_seconds(&n->clock) : 0;
    if (!n->round.number || n->round.told) { // else it was cut short in an earlier run
        int64_t spent = 0, tasks = 0;
        for (int i = 0; i < n->count; i++) {
            spent += n->member[i].spent;
            tasks += n->member[i].record.known_s <= 0;
        }
        int64_t left = r->budget_trials - spent;
        int64_t size = r->budget_trials / (ROUNDS_OF_A_TASK * (tasks ? tasks : 1));
        size = size < LEAST_ROUND ? LEAST_ROUND : size > MOST_ROUND ? MOST_ROUND : size;
        bool pinned = false;
        int task = -1;
        if (left > 0 && (seconds <= 0 || left_s > 0)) {
            pinned = n->pinned && !n->member[n->pinned - 1].over;
            task = pinned ? (int)n->pinned - 1 : schedule_next(n->schedule);
        }
        n->closing = task < 0;
        if (n->closing)
            return true;
        n->round = (struct round_record){.number = n->round.number + 1,
                                         .task = task + 1,
                                         .trials = size < left ? size : left,
                                         .pinned = pinned,
                                         .at = os_unix_time()};
        n->member[task].allotted += n->round.trials;
        if (!put_round(n, e))
            return false;
    }
    struct network_member *m = &n->member[n->round.task - 1];
    if (!open_task(n, m, e))
        return false;
    left_s = seconds > 0 ? seconds - session_clock_seconds(&n->clock) : 0;
    n->current = m;
    return session_allot(m->session, m->allotted,
                         left_s > 0 ? session_clock_seconds(&m->session->clock) + left_s : 0, e);
}

// Takes the best of a task, and the counts.
static void take(struct network_run *n, struct network_member *m)
{
    const struct cycle *c = &m->session->cycle;
    m->seconds = c->best.ask ? c->best.seconds : 0;
    count(n);
}

static bool end_round(struct network_run *n, struct err *e)
{
    struct network_member *m = n->current;
    const struct cycle *c = &m->session->cycle;
    struct round_record *r = &n->round;
    take(n, m);
    n->current = NULL;
    r->told = true;
    r->seconds = m->seconds;
    r->more = !c->exhausted && c->rejected_in_row < CYCLE_MOST_REJECTED;
    m->over = !r->more;
    r->latency = network_whole_sum(n);
    r->all_trials = n->record.trials;
    r->elapsed_s = session_clock_seconds(&n->clock);
    r->at = os_unix_time();
    if (!put_round(n, e))
        return false;
    network_tell(n, m, r->seconds, r->more);
    session_event(&n->log, (struct event){.kind = EVENT_ROUND, .round = r, .task = &m->record});
    return true;
}

static bool end_task(struct network_run *n, struct err *e)
{
    take(n, n->current);
    session_release(n->current->session);
    n->current = NULL;
    return !n->stopping || finish(n, e);
}

// Takes the next step of a network in which no task has a round.
static bool step_alone(struct network_run *n, struct err *e)
{
    if (n->whole.run)
        return network_whole_step(n, e);
    // At the end each task has its final race, one after the other.
    for (int i = 0; n->closing && i < n->count; i++) {
        struct network_member *m = &n->member[i];
        if (!m->record.session || m->record.known_s > 0 ||
            (m->session && m->session->phase == SESSION_ENDED))
            continue;
        if (!open_task(n, m, e))
            return false;
        if (m->session->phase == SESSION_ENDED) // it had ended before
            continue;
        m->session->clock.is_spent = false;
        m->session->clock.is_last_round = true;
        n->current = m;
        return true;
    }
    return network_whole_begin(n, n->closing, e) &&
           (n->whole.run || (n->closing ? finish(n, e) : begin_round(n, e)));
}

bool network_step(struct network_run *n, struct err *e)
{
    struct session *s = network_task_now(n);
    if (!s)
        return n->phase != SESSION_RUNNING || step_alone(n, e);
    if (!session_step(s, e)) {
        n->store.failed |= s->store.failed;
        return err_prefix(e, "%s", n->current->record.name);
    }
    count(n);
    if (s->phase == SESSION_ENDED)
        return end_task(n, e);
    return s->clock.is_spent ? end_round(n, e) : true;
}

// --- commands ---

// Gives every round to the pinned task, while its search has something left; 0: the schedule
// chooses again.
static void pin(struct network_run *n, const char *position)
{
    int64_t task;
    if (!str_to_int(position, 0, n->count, &task) ||
        (task && n->member[task - 1].record.known_s > 0))
        return;
    n->pinned = task;
    if (task)
        session_message(&n->log, "info", "%s is pinned: it gets every round",
                        n->member[task - 1].record.name);
    else
        session_message(&n->log, "info", "no task is pinned: the scheduler gives the rounds");
}

// Takes the words of a command, "POSITION WEIGHT".
static bool weigh(struct network_run *n, const char *words, struct err *e)
{
    char position[24];
    int64_t task;
    double weight;
    size_t length = strcspn(words, " ");
    snprintf(position, sizeof position, "%.*s", (int)length, words);
    if (!words[length] || !str_to_int(position, 1, n->count, &task) ||
        !str_to_real(words + length + 1, &weight) || !(weight > 0))
        return true;
    network_weigh(n, task, weight);
    session_message(&n->log, "info", "%s weighs %g times its uses, from the next round on",
                    n->member[task - 1].record.name, weight);
    return session_stored(&n->store, store_put_weight(n->store.db, n->record.id, task, weight, e),
                          e);
}

bool network_command(struct network_run *n, const char *verb, const char *argument, struct err *e)
{
    struct session *s = network_task_now(n);
    bool pauses = str_equal(verb, "pause") && n->phase == SESSION_RUNNING;
    if (n->phase == SESSION_ENDED)
        return true;
    if (str_equal(verb, "budget"))
        return session_store_budget(&n->store, argument, e);
    if (str_equal(verb, "weigh"))
        return weigh(n, argument, e);
    if (str_equal(verb, "pin")) {
        pin(n, argument);
        return true;
    }
    if (str_equal(verb, "stop"))
        n->stopping = true;
    if (s && !session_command(s, verb, argument, e))
        return false;
    if (n->stopping)
        return !s ? finish(n, e) : s->phase != SESSION_ENDED || end_task(n, e);
    if (!pauses && !(str_equal(verb, "resume") && n->phase == SESSION_PAUSED))
        return true;
    if (!enter(n, pauses ? SESSION_PAUSED : SESSION_RUNNING, pauses ? STATE_PAUSED : STATE_RUNNING,
               pauses ? "paused by the user" : NULL, e))
        return false;
    session_event(&n->log, (struct event){.kind = EVENT_STATE});
    return true;
}

bool network_interrupt(struct network_run *n, struct err *e)
{
    for (int i = 0; i < n->count; i++) {
        struct session *s = n->member[i].session;
        if (s && s->phase != SESSION_ENDED && !session_end(s, STATE_PAUSED, "interrupted", e))
            return false;
    }
    return n->phase == SESSION_ENDED || end(n, STATE_PAUSED, "interrupted", e);
}
