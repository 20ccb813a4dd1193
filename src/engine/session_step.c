// The cycle of a session, in steps that never wait:
//
//     collect what the source has  ->  store and tell what may be told  ->  ask, judge, submit
#include "engine/session_step.h"
#include "engine/session_shapes.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_ROUNDS 64 // in one step, so that commands and signals are seen

// --- ask ---

// How many trials it may have in all, now.
static int64_t budget(const struct session *s)
{
    const struct session_record *r = &s->record;
    bool is_late = r->budget_seconds > 0 && session_ran_seconds(s) >= r->budget_seconds;
    return s->stopping || is_late || session_is_near_roof(s) ? 0 : r->budget_trials;
}

static bool is_warm(const struct session *s, const struct config *c)
{
    const struct warm_start *w = &s->beginning.begun_with;
    for (int i = 0; i < w->count; i++)
        if (config_equal(&w->config[i], c))
            return true;
    return false;
}

static bool submit(struct session *s, const struct cycle_trial *t, struct err *e)
{
    struct trial_request request = {.ticket = t->ask,
                                    .count = 1,
                                    .known_good = is_warm(s, &t->config),
                                    .incumbent_s = s->cycle.best.seconds,
                                    .slowdown = s->machine.slowdown};
    if (!session_render(s, &t->config, &request, 0, e))
        return false;
    kill_point("submit");
    source_submit(s->source, &request);
    s->in_flight++;
    return true;
}

// An ask without an answer is judged, and rejected or sent to the source. The clock runs once the
// database has nothing more to say.
static bool judge(struct session *s, struct open_trial *t, struct err *e)
{
    struct verdict v;
    struct cycle_trial *c = &t->cycle;
    if (c->stored && c->outcome != OUTCOME_REJECTED)
        return true;
    if (!session_judge(s, &c->config, &v, e))
        return false;
    if (c->stored || !v.legal)
        rejections_add(&s->rejections, s->space, v.legal ? NULL : &v);
    if (c->stored)
        return true;
    if (!s->started_ns) {
        session_run_clock(s, true);
        if (s->cycle.past)
            session_keep_state(s);
    }
    if (v.legal)
        return submit(s, c, e);
    cycle_answer(&s->cycle, c, OUTCOME_REJECTED, 0);
    snprintf(t->reason, sizeof t->reason, "%s", v.reason);
    return true;
}

static bool ask_one(struct session *s, enum ask *asked, struct err *e)
{
    struct open_trial *t = mem_zero(1, sizeof *t);
    bool ok = cycle_ask(&s->cycle, &t->cycle, asked, e);
    if (!ok || *asked != ASK_NEW) {
        free(t);
        s->fitting = ok && *asked == ASK_WAIT && strategy_wait_fd(s->cycle.strategy) >= 0;
        return ok && session_keep_refits(s, e);
    }
    kill_point("ask");
    t->generation = strategy_generation(s->cycle.strategy);
    t->origin = session_origin(s);
    if (!strategy_forecast(s->cycle.strategy, &t->forecast))
        t->forecast = (struct forecast){0};
    return session_keep_refits(s, e) && judge(s, t, e);
}

// A race or a canary keeps one place of the source for itself.
static bool ask_more(struct session *s, struct err *e)
{
    enum ask asked = ASK_NEW;
    bool begins = true;
    s->fitting = false;
    if (s->phase == SESSION_RUNNING && (!baselines_submit(s, &begins, e) || !look_submit(s, e)))
        return false;
    if (!begins)
        return true;
    if (!session_shapes_refer(s, e))
        return false;
    while (asked == ASK_NEW && s->phase == SESSION_RUNNING && source_room(s->source) > 0 &&
           cycle_may_ask(&s->cycle, budget(s))) {
        if (!ask_one(s, &asked, e))
            return false;
        s->busy |= asked == ASK_NEW;
    }
    return s->phase != SESSION_RUNNING || look_submit(s, e);
}

// --- answer ---

static bool accept(struct session *s, struct trial_result *r, struct err *e)
{
    if (r->ticket == TICKET_RACE)
        return race_finish(s, r, e);
    if (r->ticket == TICKET_CANARY) {
        canary_finish(s, r);
        return true;
    }
    if (r->ticket <= TICKET_LOOK)
        return look_finish(s, r, e);
    if (r->ticket <= TICKET_BASELINE)
        return baseline_finish(s, r, e);
    struct cycle_trial *t = cycle_find(&s->cycle, r->ticket);
    assert(t);
    t->took_s = r->compile_s + r->pipeline_s + r->device_s;
    cycle_answer(&s->cycle, t, r->outcome[0], r->seconds[0]);
    if (t->outcome == OUTCOME_REJECTED)
        rejections_add(&s->rejections, s->space, NULL);
    struct open_trial *open = (struct open_trial *)t;
    open->result = mem_alloc(sizeof *open->result);
    *open->result = *r;
    s->in_flight--;
    kill_point("collect");
    return true;
}

static bool collect(struct session *s, struct err *e)
{
    struct trial_result r;
    if (!source_step(s->source, e))
        return false;
    while (source_collect(s->source, &r)) {
        s->busy = true;
        if (!s->source->kind->deterministic)
            busy_watch(&s->machine, &r);
        if (!accept(s, &r, e))
            return false;
    }
    return true;
}

// --- tell ---

static bool deliver(struct session *s, struct err *e)
{
    struct cycle_trial *t;
    while ((t = cycle_next(&s->cycle))) {
        if (t->stored)
            session_tell_again(s, (struct open_trial *)t);
        else if (!session_put_and_tell(s, (struct open_trial *)t, e))
            return false;
        if (!session_keep_refits(s, e))
            return false;
        s->busy = true;
    }
    return true;
}

// --- the whole ---

static bool is_through(const struct session *s)
{
    return s->phase == SESSION_RUNNING && !s->cycle.open && s->in_flight == 0 && !s->canary.open &&
           cycle_is_over(&s->cycle, budget(s));
}

static bool set_state(struct session *s, enum session_state state, const char *message,
                      struct err *e)
{
    s->record.state = state;
    s->record.message = message;
    return session_stored(
        s, store_set_state(s->host.store, s->record.id, state, message, s->record.ran_seconds, e),
        e);
}

static bool rest(struct session *s, struct err *e)
{
    s->grant.is_spent = true;
    session_run_clock(s, false);
    return set_state(s, STATE_PAUSED, "waits for its next round", e);
}

// Nothing is open any more and nothing will be asked: race the best, then end. A task of a network
// waits for its next round.
static bool conclude(struct session *s, struct err *e)
{
    bool racing = false;
    if (s->record.network && !s->grant.is_last && !s->stopping)
        return s->grant.is_spent || rest(s, e);
    if (!s->stopping && !race_start(s, &racing, e))
        return false;
    if (racing) {
        s->phase = SESSION_RACING;
        return true;
    }
    return session_finish(s, e);
}

bool session_step(struct session *s, struct err *e)
{
    s->busy = true;
    if (s->hold.over)
        session_message(s, "info", "the database is free again: the session goes on");
    s->hold.over = false;
    for (int round = 0; s->busy && round < MOST_ROUNDS && !session_ended(s); round++) {
        s->busy = false;
        if (!collect(s, e) || !deliver(s, e) || !canary_start(s, e) || !ask_more(s, e))
            return false;
        if (s->pausing && s->phase == SESSION_RUNNING) // a race was under way
            return session_pause(s, e);
        if (is_through(s))
            return conclude(s, e);
    }
    return true;
}

bool session_grant(struct session *s, int64_t trials, double seconds, struct err *e)
{
    s->grant.is_spent = false;
    s->record.budget_trials = trials;
    s->record.budget_seconds = seconds;
    if (!cycle_is_replaying(&s->cycle))
        session_run_clock(s, true);
    bool ok = store_set_budget(s->host.store, s->record.id, trials, seconds, e);
    return session_stored(s, ok, e) && set_state(s, STATE_RUNNING, NULL, e);
}

void session_close(struct session *s)
{
    s->grant.is_spent = false;
    s->grant.is_last = true;
}

int session_wait_fd(const struct session *s)
{
    return s->fitting && s->phase == SESSION_RUNNING ? strategy_wait_fd(s->cycle.strategy) : -1;
}

bool session_command(struct session *s, const char *verb, const char *argument, struct err *e)
{
    if (session_ended(s))
        return true;
    if (str_equal(verb, "stop")) {
        s->stopping = true;
        if (s->phase != SESSION_RUNNING || cycle_is_replaying(&s->cycle))
            return session_finish(s, e);
    } else if (str_equal(verb, "pause") && s->phase == SESSION_RUNNING) {
        return session_pause(s, e);
    } else if (str_equal(verb, "pause") && s->phase == SESSION_RACING) {
        s->pausing = true;
    } else if (str_equal(verb, "resume") && s->phase == SESSION_PAUSED) {
        return session_go_on(s, e);
    } else if (str_equal(verb, "budget")) {
        return session_set_budget(s, argument, e);
    }
    return true;
}
