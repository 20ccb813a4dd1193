#include "engine/session.h"

#include "base/log.h"
#include "base/os.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_OPEN   4096 // asks that were not told yet, rejected ones included
#define MOST_ROUNDS 64   // in one step, so that commands and signals are seen

void kill_point(const char *name)
{
    static int visits;
    const char *wanted = getenv("TILEWALK_KILL");
    if (!wanted || !str_starts(wanted, name) || wanted[strlen(name)] != ':')
        return;
    if (++visits == atoi(wanted + strlen(name) + 1))
        raise(SIGKILL);
}

double session_ran_seconds(const struct session *s)
{
    double now = s->started_ns ? (double)(os_now_ns() - s->started_ns) / 1e9 : 0;
    return s->record.ran_seconds + now;
}

// What drivers mumble would fill the database: only the first of it is kept.
static void keep_message(struct session *s, const char *level, const char *text)
{
    struct err e;
    bool mumble = str_equal(level, "debug");
    if (!s->record.id || (mumble && s->mumbles > SESSION_MOST_MUMBLES))
        return;
    s->mumbles += mumble;
    if (mumble && s->mumbles > SESSION_MOST_MUMBLES)
        text = "(further debug messages of this run are not kept)";
    if (!store_add_message(s->store, s->record.id, level, text, &e))
        log_warning("message not stored: %s", e.text);
}

// As users see it: what is being told again has been counted.
struct session_record session_shown(const struct session *s)
{
    struct session_record r = s->record;
    r.ran_seconds = session_ran_seconds(s);
    if (!replay_is_over(s->replay, s->told)) {
        r.trials = s->stored.trials;
        r.rejected = s->stored.rejected;
        r.ok = s->stored.ok;
        r.best_ask = s->stored.best_ask;
        r.best_seconds = s->stored.best_seconds;
        r.best_raced = s->stored.best_raced;
    }
    return r;
}

// For the log of the session: nobody has to be told who hears of it by an event.
static void keep_state(struct session *s)
{
    const struct session_record shown = session_shown(s), *r = &shown;
    char text[512], strategy[STRATEGY_TEXT];
    if (r->message)
        snprintf(text, sizeof text, "%s: %s", r->state, r->message);
    else
        snprintf(text, sizeof text,
                 "%s: %s seed %" PRIu64 ", %" PRId64 " of %" PRId64 " trials, %d workers on %s",
                 r->state, strategy_text(r->strategy, false, strategy), r->seed, r->trials,
                 r->budget_trials, r->workers, r->device);
    keep_message(s, "info", text);
}

void session_emit(struct session *s, enum event_kind kind, const struct trial_record *trial,
                  const struct retime_record *retime)
{
    struct session_record record = session_shown(s);
    struct event event = {.kind = kind,
                          .session = &record,
                          .space = s->space,
                          .trial = trial,
                          .retime = retime,
                          .busy_seconds = s->source ? source_busy_seconds(s->source) : 0};
    s->on_event(s->event_context, &event);
    if (kind == EVENT_SESSION && !s->replay && !session_ended(s))
        keep_state(s); // one that goes on: once it does (answer)
}

static void emit_message(struct session *s, const char *level, const char *text, bool kept)
{
    struct event event = {.kind = EVENT_MESSAGE,
                          .session = &s->record,
                          .space = s->space,
                          .level = level,
                          .text = text,
                          .kept = kept};
    s->on_event(s->event_context, &event);
}

void session_message(struct session *s, const char *level, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    emit_message(s, level, text, true);
    keep_message(s, level, text);
}

bool session_ended(const struct session *s)
{
    return s->phase == SESSION_ENDED;
}

bool session_adds_nothing(const struct session *s)
{
    return str_equal(s->stored.state, "done") && s->record.trials == s->stored.trials &&
           s->record.rejected == s->stored.rejected;
}

bool session_stored(struct session *s, bool ok, struct err *e)
{
    ok = ok && store_in_place(s->store, e);
    s->store_failed |= !ok;
    return ok || err_prefix(e, "session %" PRId64 " stopped, nothing stored is lost", s->record.id);
}

// The clock of the running time: started and stopped with the session, so that pauses do not count,
// nor what is told again.
static void clock_set(struct session *s, bool running)
{
    s->record.ran_seconds = session_ran_seconds(s);
    s->started_ns = running ? os_now_ns() : 0;
}

#define LOCKED "the database is locked by another program: paused until it is free"

void session_hold(struct session *s, double locked_s)
{
    if (s->held || session_ended(s) || s->phase == SESSION_PAUSED)
        return;
    s->held = true;
    s->held_clock = s->started_ns != 0;
    clock_set(s, false);
    if (s->held_clock) // it was for nothing that it ran
        s->record.ran_seconds = fmax(0, s->record.ran_seconds - locked_s);
    s->record.state = "paused";
    s->record.message = LOCKED;
    session_emit(s, EVENT_STATE, NULL, NULL);
    emit_message(s, "warning", LOCKED, false);
}

void session_let_go(struct session *s)
{
    if (!s->held || session_ended(s))
        return;
    s->held = false;
    s->was_held = true;
    clock_set(s, s->held_clock);
    s->record.state = "running";
    s->record.message = NULL;
    session_emit(s, EVENT_STATE, NULL, NULL);
}

// Taken up again in vain: that leaves no trace.
static bool ends_as_before(const struct session *s)
{
    return session_ended(s) && session_adds_nothing(s) &&
           str_equal(s->record.state, s->stored.state) && s->record.message &&
           str_equal(s->record.message, s->stored.message);
}

static bool enter(struct session *s, enum session_phase phase, const char *state,
                  const char *message, struct err *e)
{
    clock_set(s, (phase == SESSION_RUNNING || phase == SESSION_RACING) &&
                     replay_is_over(s->replay, s->told));
    s->phase = phase;
    s->record.state = state;
    s->record.message = message ? arena_strdup(&s->arena, message) : NULL;
    kill_point("state");
    if (!ends_as_before(s))
        keep_state(s);
    return session_keep_population(s, e) &&
           session_stored(s,
                          store_set_state(s->store, s->record.id, state, s->record.message,
                                          s->record.ran_seconds, e),
                          e);
}

bool session_end(struct session *s, const char *state, const char *message, struct err *e)
{
    if (s->complaints)
        session_message(s, "warning",
                        "the validation layer had %" PRId64 " messages, %d of them different",
                        s->complaints, s->complaints_told);
    session_say_busy(s);
    if (!enter(s, SESSION_ENDED, state, message, e))
        return false;
    store_unlock_session(s->store, s->record.id);
    return true;
}

bool session_interrupt(struct session *s, struct err *e)
{
    return session_ended(s) || session_end(s, "paused", "interrupted", e);
}

// --- asked ---

bool session_render(struct session *s, const struct config *c, struct trial_request *r, int index,
                    struct err *e)
{
    r->config[index] = *c;
    return !s->source->kind->needs_jobs || script_render(s->script, c, &r->job[index], e);
}

static bool submit(struct session *s, struct open_trial *t, struct err *e)
{
    struct trial_request request = {
        .ticket = t->ask, .count = 1, .incumbent_s = s->best_seconds, .slowdown = s->slowdown};
    if (!session_render(s, &t->config, &request, 0, e))
        return false;
    kill_point("submit");
    source_submit(s->source, &request);
    s->in_flight++;
    return true;
}

// Answers an ask from the database, by judgement, or sends it to the source. The clock runs once
// the database has nothing more to say.
static bool answer(struct session *s, struct open_trial *t, struct err *e)
{
    int stored = replay_answer(s->replay, t->ask, &t->config, t, e);
    if (stored < 0 || (stored && t->outcome != OUTCOME_REJECTED))
        return stored > 0;
    struct verdict v;
    if (!session_judge(s, &t->config, &v, e))
        return false;
    if (stored || !v.legal)
        session_tally(s, v.legal ? NULL : &v);
    if (stored)
        return true;
    if (!s->started_ns) {
        s->started_ns = os_now_ns();
        if (s->replay)
            keep_state(s);
    }
    if (v.legal)
        return submit(s, t, e);
    t->answered = true;
    t->outcome = OUTCOME_REJECTED;
    snprintf(t->reason, sizeof t->reason, "%s", v.reason);
    return true;
}

bool open_trial_counts(const struct session *s, const struct open_trial *t)
{
    return !t->answered || t->outcome != OUTCOME_REJECTED || s->count_rejected;
}

// What the database holds was paid for.
static bool out_of_budget(const struct session *s)
{
    const struct session_record *r = &s->record;
    if (s->exhausted || replay_has(s->replay, s->asked + 1))
        return s->exhausted;
    return s->stopping || r->trials + s->counting >= r->budget_trials ||
           (r->budget_seconds > 0 && session_ran_seconds(s) >= r->budget_seconds);
}

// Of the configuration that was asked last (heap); NULL: it was drawn.
static char *origin_text(const struct session *s)
{
    int64_t ask[SPACE_MAX_PARAMS];
    struct str text = {0};
    if (!strategy_origin(s->strategy, ask))
        return NULL;
    for (int i = 0; i < s->space->param_count; i++)
        str_printf(&text, "%s%" PRId64, i ? "," : "", ask[i]);
    return str_take(&text);
}

static bool ask_one(struct session *s, enum ask *asked, struct err *e)
{
    struct config c;
    *asked = strategy_ask(s->strategy, &c);
    if (!session_keep_refits(s, e))
        return false;
    if (*asked == ASK_EXHAUSTED)
        s->exhausted = true;
    s->fitting = *asked == ASK_WAIT && strategy_wait_fd(s->strategy) >= 0;
    if (*asked == ASK_WAIT && !s->open && !s->fitting)
        return err_set(e, "strategy '%s' waits although everything was told (a bug in it)",
                       s->record.strategy);
    if (*asked != ASK_NEW)
        return true;
    kill_point("ask");
    struct open_trial *t = mem_zero(1, sizeof *t);
    t->ask = ++s->asked;
    t->asked_after = s->told;
    t->generation = strategy_generation(s->strategy);
    t->config = c;
    t->origin = origin_text(s);
    *s->open_end = t;
    s->open_end = &t->next;
    s->open_count++;
    bool ok = answer(s, t, e);
    s->counting += open_trial_counts(s, t);
    return ok;
}

// A race or a canary keeps one place of the source for itself.
static bool may_ask(const struct session *s)
{
    return s->phase == SESSION_RUNNING && !out_of_budget(s) && s->open_count < MOST_OPEN &&
           s->rejected_in_row < ENGINE_MOST_REJECTED && source_room(s->source) > 0 &&
           (!strategy_is_async(s->strategy) || replay_may_ask(s->replay, s->asked + 1, s->told));
}

static bool ask_more(struct session *s, bool *progress, struct err *e)
{
    enum ask asked = ASK_NEW;
    s->fitting = false;
    for (int i = 0; i < MOST_OPEN && asked == ASK_NEW && may_ask(s); i++) {
        if (!ask_one(s, &asked, e))
            return false;
        *progress |= asked == ASK_NEW;
        if (s->open && s->open->answered) // tell it first: what the strategy knows must not depend
                                          // on the step size
            return true;
    }
    return true;
}

// --- collected ---

static bool accept(struct session *s, const struct trial_result *r, struct err *e)
{
    if (r->ticket == TICKET_RACE)
        return race_finish(s, r, e);
    if (r->ticket == TICKET_CANARY) {
        canary_finish(s, r);
        return true;
    }
    struct open_trial *t = s->open;
    while (t && t->ask != r->ticket)
        t = t->next;
    assert(t && !t->answered);
    t->answered = true;
    t->outcome = r->outcome[0];
    s->counting -= !open_trial_counts(s, t);
    if (t->outcome == OUTCOME_REJECTED)
        session_tally(s, NULL);
    t->seconds = r->outcome[0] == OUTCOME_OK ? r->seconds[0] : 0;
    t->result = mem_alloc(sizeof *t->result);
    *t->result = *r;
    s->in_flight--;
    kill_point("collect");
    return true;
}

static bool collect(struct session *s, bool *progress, struct err *e)
{
    struct trial_result r;
    if (!source_step(s->source, e))
        return false;
    while (source_collect(s->source, &r)) {
        *progress = true;
        session_watch_machine(s, &r);
        if (!accept(s, &r, e))
            return false;
    }
    return true;
}

// Nothing is open any more and nothing will be asked: race the best, then end.
static bool conclude(struct session *s, struct err *e)
{
    bool racing = false;
    if (!s->stopping && !race_start(s, &racing, e))
        return false;
    if (racing) {
        s->phase = SESSION_RACING;
        return true;
    }
    return session_finish(s, e);
}

static bool pause_now(struct session *s, struct err *e)
{
    s->pausing = false;
    if (!enter(s, SESSION_PAUSED, "paused", "paused by the user", e))
        return false;
    session_emit(s, EVENT_STATE, NULL, NULL);
    return true;
}

static bool is_through(const struct session *s)
{
    return s->phase == SESSION_RUNNING && !s->open && s->in_flight == 0 && !s->canary_open &&
           (out_of_budget(s) || s->rejected_in_row >= ENGINE_MOST_REJECTED);
}

bool session_step(struct session *s, struct err *e)
{
    s->busy = true;
    if (s->was_held)
        session_message(s, "info", "the database is free again: the session goes on");
    s->was_held = false;
    for (int round = 0; s->busy && round < MOST_ROUNDS && !session_ended(s); round++) {
        s->busy = false;
        if (!collect(s, &s->busy, e) || !session_deliver(s, &s->busy, e) || !canary_start(s, e) ||
            !ask_more(s, &s->busy, e))
            return false;
        if (s->pausing && s->phase == SESSION_RUNNING) // a race was under way
            return pause_now(s, e);
        if (is_through(s))
            return conclude(s, e);
    }
    return true;
}

int session_wait_fd(const struct session *s)
{
    return s->fitting && s->phase == SESSION_RUNNING ? strategy_wait_fd(s->strategy) : -1;
}

bool session_command(struct session *s, const char *verb, const char *argument, struct err *e)
{
    if (session_ended(s))
        return true;
    if (str_equal(verb, "stop")) {
        s->stopping = true;
        if (s->phase == SESSION_PAUSED || s->phase == SESSION_RACING ||
            !replay_is_over(s->replay, s->told))
            return session_finish(s, e);
    } else if (str_equal(verb, "pause") && s->phase == SESSION_RUNNING) {
        return pause_now(s, e);
    } else if (str_equal(verb, "pause") && s->phase == SESSION_RACING) {
        s->pausing = true;
    } else if (str_equal(verb, "resume") && s->phase == SESSION_PAUSED) {
        if (!enter(s, SESSION_RUNNING, "running", NULL, e))
            return false;
        session_emit(s, EVENT_STATE, NULL, NULL);
    } else if (str_equal(verb, "budget")) {
        int64_t trials;
        if (!str_to_int(argument, 1, INT64_MAX / 2, &trials))
            return true; // an older or newer program's command: not ours to fail on
        s->record.budget_trials = trials;
        return session_stored(
            s, store_set_budget(s->store, s->record.id, trials, s->record.budget_seconds, e), e);
    }
    return true;
}

void session_release(struct session *s)
{
    strategy_destroy(s->strategy); // it may be fitting a model that nobody waits for
    s->strategy = NULL;
}

void session_destroy(struct session *s)
{
    if (!s)
        return;
    while (s->open) {
        struct open_trial *t = s->open;
        s->open = t->next;
        open_trial_destroy(t);
    }
    source_destroy(s->source);
    strategy_destroy(s->strategy);
    replay_destroy(s->replay);
    script_destroy(s->script);
    recorded_finish(&s->recorded);
    transfer_finish(&s->transfer);
    if (s->record.id)
        store_unlock_session(s->store, s->record.id);
    free(s->race);
    free(s->population);
    arena_finish(&s->arena);
    free(s);
}
