// A network is run: rounds are given and told; at the end the best of each task race.

#include "engine/network_run.h"

#include "base/os.h"
#include "engine/session_setup.h"
#include "engine/session_step.h"
#include "engine/stored.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// The sessions of a network's tasks: begun, taken up again, put to sleep and woken.

#define MOST_AWAKE 4 // tasks whose workers wait for their next round

// What a task's session says is told as the network's; how that session fares is not.
static void hear(void *context, const struct event *event)
{
    if (event->kind != EVENT_SESSION && event->kind != EVENT_STATE && event->kind != EVENT_END)
        network_emit(context, *event);
}

static struct session_host host_of_tasks(struct network_run *n)
{
    return (struct session_host){n->host.store, hear, n};
}

static bool start_task(struct network_run *n, struct network_member *m, struct err *e)
{
    struct session_host host = host_of_tasks(n);
    struct session_options o = n->each;
    o.space = m->record.preset;
    o.set = stored_settings(m->record.settings, &n->arena, &o.set_count);
    o.network = n->record.id;
    o.task = m->record.name;
    o.has_seed = true;
    o.seed = n->record.seed + (uint64_t)m->record.position;
    o.trials = m->granted;
    // The sessions of this network that a task's model may learn from.
    struct str list = {0};
    for (int i = 0; i < n->count; i++)
        if (n->member[i].record.session)
            str_printf(&list, "%s%" PRId64, list.length ? "," : "", n->member[i].record.session);
    const char *kept = list.length ? arena_strdup(&n->arena, str_text(&list)) : NULL;
    str_finish(&list);
    o.earlier = kept;
    m->session = session_start(&host, &o, e);
    if (!m->session)
        return err_prefix(e, "%s", m->record.name);
    m->record.session = m->session->record.id;
    return store_set_task(n->host.store, n->record.id, m->record.position, m->record.session, e);
}

// A task that began just before the process died is known by its session alone.
static bool find_begun(struct network_run *n, struct network_member *m, struct err *e)
{
    struct arena a;
    struct session_record *list;
    int count;
    arena_init(&a);
    bool ok = store_list_sessions(n->host.store, &a, &list, &count, e);
    for (int i = 0; ok && i < count; i++)
        if (list[i].network == n->record.id && str_equal(list[i].task, m->record.name))
            m->record.session = list[i].id;
    arena_finish(&a);
    return ok && (!m->record.session || store_set_task(n->host.store, n->record.id,
                                                       m->record.position, m->record.session, e));
}

static bool resume_task(struct network_run *n, struct network_member *m, struct err *e)
{
    struct session_host host = host_of_tasks(n);
    struct session_options more = n->each;
    more.trials = m->granted;
    m->session = session_resume(&host, m->record.session, &more, e);
    return m->session != NULL || err_prefix(e, "%s", m->record.name);
}

// The workers of the one that has waited longest go.
static void put_to_sleep(struct network_run *n, const struct network_member *but)
{
    struct network_member *oldest = NULL;
    int awake = 0;
    for (int i = 0; i < n->count; i++) {
        struct network_member *m = &n->member[i];
        if (m == but || !m->session || !m->session->source)
            continue;
        awake++;
        if (!oldest || m->woken < oldest->woken)
            oldest = m;
    }
    if (awake < MOST_AWAKE)
        return;
    source_destroy(oldest->session->source);
    oldest->session->source = NULL;
}

bool network_open_task(struct network_run *n, struct network_member *m, struct err *e)
{
    put_to_sleep(n, m);
    m->woken = n->round.number;
    if (!m->session && !m->record.session && !find_begun(n, m, e))
        return false;
    if (!m->session)
        return m->record.session ? resume_task(n, m, e) : start_task(n, m, e);
    return m->session->source || session_ended(m->session) ||
           session_place_make_source(m->session, &n->place, n->each.validate, n->each.fault, e);
}

// A budget is shared out in some 8 rounds a task, within what makes sense: fewer trials tell
// nothing, more are given too late to others.
#define ROUNDS_OF_A_TASK 8
#define LEAST_ROUND      4
#define MOST_ROUND       64

bool network_ended(const struct network_run *n)
{
    return n->phase == SESSION_ENDED;
}

struct session *network_task_now(const struct network_run *n)
{
    return n->current ? n->current->session : NULL;
}

double network_ran_seconds(const struct network_run *n)
{
    double now = n->started_ns ? (double)(os_now_ns() - n->started_ns) / 1e9 : 0;
    return n->record.ran_seconds + now;
}

void network_run_clock(struct network_run *n, bool running)
{
    n->record.ran_seconds = network_ran_seconds(n);
    n->started_ns = running ? os_now_ns() : 0;
}

static int64_t spent(const struct network_run *n)
{
    int64_t sum = 0;
    for (int i = 0; i < n->count; i++)
        sum += n->member[i].spent;
    return sum;
}

// The network's counts are its tasks' together.
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

double network_seconds(const struct network_run *n)
{
    double sum = 0;
    for (int i = 0; i < n->count; i++) {
        if (n->member[i].seconds <= 0)
            return 0;
        sum += (double)n->member[i].record.uses * n->member[i].seconds;
    }
    return sum;
}

// --- what it says ---

void network_emit(struct network_run *n, struct event event)
{
    struct session_record record = n->record;
    record.ran_seconds = network_ran_seconds(n);
    event.session = event.session ? event.session : &record;
    event.network = &record;
    n->host.on_event(n->host.context, &event);
}

void network_message(struct network_run *n, const char *level, const char *format, ...)
{
    char text[512];
    struct err ignored; // what is told now is only missing in the log
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    network_emit(n,
                 (struct event){.kind = EVENT_MESSAGE, .level = level, .text = text, .kept = true});
    store_add_message(n->host.store, n->record.id, level, text, &ignored);
}

// --- what is stored ---

bool network_stored(struct network_run *n, bool ok, struct err *e)
{
    ok = ok && store_in_place(n->host.store, e);
    n->store_failed |= !ok;
    return ok || err_prefix(e, "session %" PRId64 " stopped, nothing stored is lost", n->record.id);
}

static bool enter(struct network_run *n, enum session_phase phase, enum session_state state,
                  const char *message, struct err *e)
{
    if (phase != SESSION_RUNNING)
        network_whole_drop(n);
    network_run_clock(n, phase == SESSION_RUNNING);
    n->phase = phase;
    n->record.state = state;
    n->record.message = message ? arena_strdup(&n->arena, message) : NULL;
    kill_point("state");
    return network_stored(n,
                          store_set_state(n->host.store, n->record.id, state, n->record.message,
                                          n->record.ran_seconds, e),
                          e);
}

static bool end(struct network_run *n, enum session_state state, const char *message, struct err *e)
{
    if (!enter(n, SESSION_ENDED, state, message, e))
        return false;
    store_unlock_session(n->host.store, n->record.id);
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
    else if (r->budget_seconds > 0 && network_ran_seconds(n) >= r->budget_seconds)
        snprintf(text, sizeof text, "%g seconds are over", r->budget_seconds);
    else
        snprintf(text, sizeof text, "no task has anything left to try");
    return end(n, STATE_DONE, text, e);
}

// --- rounds ---

static int64_t round_size(const struct network_run *n)
{
    int64_t tasks = 0;
    for (int i = 0; i < n->count; i++)
        tasks += n->member[i].record.known_s <= 0;
    int64_t size = n->record.budget_trials / (ROUNDS_OF_A_TASK * (tasks ? tasks : 1));
    return size < LEAST_ROUND ? LEAST_ROUND : size > MOST_ROUND ? MOST_ROUND : size;
}

static double seconds_left(const struct network_run *n)
{
    double budget = n->record.budget_seconds;
    return budget > 0 ? budget - network_ran_seconds(n) : 1;
}

static bool put_round(struct network_run *n, struct err *e)
{
    kill_point("round");
    return network_stored(n, store_put_round(n->host.store, n->record.id, &n->round, e), e);
}

// The task of the round that is given goes on with it. Of its running time it may have all that the
// network has left.
static bool open_round(struct network_run *n, struct err *e)
{
    struct network_member *m = &n->member[n->round.task - 1];
    if (!network_open_task(n, m, e))
        return false;
    double left = n->record.budget_seconds > 0 ? seconds_left(n) : 0;
    n->current = m;
    return session_grant(m->session, m->granted,
                         left > 0 ? session_ran_seconds(m->session) + left : 0, e);
}

// Whose round is next; -1: nobody's.
static int next_task(struct network_run *n, bool *pinned)
{
    const struct network_member *m = n->pinned ? &n->member[n->pinned - 1] : NULL;
    *pinned = m && !m->over;
    return *pinned ? (int)n->pinned - 1 : schedule_next(n->schedule);
}

static bool begin_round(struct network_run *n, struct err *e)
{
    bool pinned = false;
    if (n->round.number && !n->round.told) // cut short in an earlier run
        return open_round(n, e);
    int64_t left = n->record.budget_trials - spent(n), size = round_size(n);
    int task = left > 0 && seconds_left(n) > 0 ? next_task(n, &pinned) : -1;
    n->closing = task < 0;
    if (n->closing)
        return true;
    n->round = (struct round_record){.number = n->round.number + 1,
                                     .task = task + 1,
                                     .trials = size < left ? size : left,
                                     .pinned = pinned,
                                     .at = os_unix_time()};
    n->member[task].granted += n->round.trials;
    return put_round(n, e) && open_round(n, e);
}

// What the task has now, whatever its next round brings.
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
    r->latency = network_seconds(n);
    r->all_trials = n->record.trials;
    r->elapsed_s = network_ran_seconds(n);
    r->at = os_unix_time();
    if (!put_round(n, e))
        return false;
    network_tell(n, m, r->seconds, r->more);
    network_emit(n, (struct event){.kind = EVENT_ROUND, .round = r, .task = &m->record});
    return true;
}

// --- the end ---

static bool is_open(const struct network_member *m)
{
    return m->record.session && m->record.known_s <= 0 &&
           !(m->session && session_ended(m->session));
}

static bool end_task(struct network_run *n, struct err *e)
{
    struct network_member *m = n->current;
    take(n, m);
    session_release(m->session);
    n->current = NULL;
    return !n->stopping || finish(n, e);
}

// Nobody has a round.
static bool step_alone(struct network_run *n, struct err *e)
{
    if (n->whole.run)
        return network_whole_step(n, e);
    if (n->closing) {
        // Each task races for itself, one after the other.
        for (int i = 0; i < n->count; i++) {
            struct network_member *m = &n->member[i];
            if (!is_open(m))
                continue;
            if (!network_open_task(n, m, e))
                return false;
            if (session_ended(m->session)) // it had ended before
                continue;
            session_close(m->session);
            n->current = m;
            return true;
        }
        return network_whole_begin(n, true, e) && (n->whole.run || finish(n, e));
    }
    return network_whole_begin(n, false, e) && (n->whole.run || begin_round(n, e));
}

bool network_step(struct network_run *n, struct err *e)
{
    struct session *s = network_task_now(n);
    if (!s)
        return n->phase != SESSION_RUNNING || step_alone(n, e);
    if (!session_step(s, e)) {
        n->store_failed |= s->hold.failed;
        return err_prefix(e, "%s", n->current->record.name);
    }
    count(n);
    if (session_ended(s))
        return end_task(n, e);
    return s->grant.is_spent ? end_round(n, e) : true;
}

// --- what others wish ---

// Every round goes to this task, while its search has something left; 0: they go where the schedule
// says again.
static void pin(struct network_run *n, const char *position)
{
    int64_t task;
    if (!str_to_int(position, 0, n->count, &task) ||
        (task && n->member[task - 1].record.known_s > 0))
        return;
    n->pinned = task;
    if (task)
        network_message(n, "info", "%s is pinned: it gets every round",
                        n->member[task - 1].record.name);
    else
        network_message(n, "info", "no task is pinned: the scheduler gives the rounds");
}

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

// "POSITION WEIGHT"
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
    network_message(n, "info", "%s weighs %g times its uses, from the next round on",
                    n->member[task - 1].record.name, weight);
    return network_stored(n, store_put_weight(n->host.store, n->record.id, task, weight, e), e);
}

bool network_command(struct network_run *n, const char *verb, const char *argument, struct err *e)
{
    struct session *s = network_task_now(n);
    bool pauses = str_equal(verb, "pause") && n->phase == SESSION_RUNNING;
    if (network_ended(n))
        return true;
    if (str_equal(verb, "budget")) {
        int64_t trials;
        if (!str_to_int(argument, 1, INT64_MAX / 2, &trials))
            return true;
        n->record.budget_trials = trials;
        return network_stored(
            n, store_set_budget(n->host.store, n->record.id, trials, n->record.budget_seconds, e),
            e);
    }
    if (str_equal(verb, "pin")) {
        pin(n, argument);
        return true;
    }
    if (str_equal(verb, "weigh"))
        return weigh(n, argument, e);
    if (str_equal(verb, "stop"))
        n->stopping = true;
    if (s && !session_command(s, verb, argument, e))
        return false;
    if (n->stopping)
        return !s ? finish(n, e) : !session_ended(s) || end_task(n, e);
    if (!pauses && !(str_equal(verb, "resume") && n->phase == SESSION_PAUSED))
        return true;
    if (!enter(n, pauses ? SESSION_PAUSED : SESSION_RUNNING, pauses ? STATE_PAUSED : STATE_RUNNING,
               pauses ? "paused by the user" : NULL, e))
        return false;
    network_emit(n, (struct event){.kind = EVENT_STATE});
    return true;
}

bool network_interrupt(struct network_run *n, struct err *e)
{
    for (int i = 0; i < n->count; i++)
        if (n->member[i].session && !session_interrupt(n->member[i].session, e))
            return false;
    return network_ended(n) || end(n, STATE_PAUSED, "interrupted", e);
}
