// Runs the cycle of a session, in steps that never wait:
//
//     collect results  ->  store and tell what may be told  ->  ask, judge, submit

#include "engine/session.h"

#include "engine/session_shapes.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_TURNS 64 // in one step, so that commands and signals are seen

// Returns how many trials it may have in all, now.
static int64_t budget(const struct session *s)
{
    bool ends = s->stopping || session_is_near_peak(s) || session_is_out_of_patience(s);
    return ends ? 0 : session_clock_trials(&s->clock);
}

// --- ask, judge, submit ---

// Judges an ask without a stored answer, and rejects it or sends it to the source.
static bool judge(struct session *s, struct open_trial *t, struct err *e)
{
    struct cycle_trial *c = &t->cycle;
    const struct warm_start *warm = &s->beginning.begun_with;
    struct verdict v;
    if (c->stored && c->outcome != OUTCOME_REJECTED)
        return true;
    if (!backend_judge(&s->backend, &c->config, &v, e))
        return false;
    if (c->stored || !v.legal)
        rejections_add(&s->rejections, s->space, v.legal ? NULL : &v);
    if (c->stored)
        return true;
    if (!s->clock.started_ns) { // the replay is over
        session_clock_run(&s->clock, true);
        if (s->cycle.replay)
            session_keep_state(&s->log);
    }
    if (!v.legal) {
        cycle_answer(&s->cycle, c, OUTCOME_REJECTED, 0);
        snprintf(t->reason, sizeof t->reason, "%s", v.reason);
        return true;
    }
    struct trial_request request = {.ticket = c->ask,
                                    .count = 1,
                                    .incumbent_s = s->cycle.best.seconds,
                                    .slowdown = s->machine.slowdown};
    for (int i = 0; i < warm->count; i++)
        request.known_good |= config_equal(&warm->config[i], &c->config);
    if (!backend_render(&s->backend, &c->config, &request, 0, e))
        return false;
    kill_point("submit");
    source_submit(s->backend.source, &request);
    s->backend.in_flight++;
    return true;
}

// Says once that all guesses are used up, and how many of them the model dropped.
static void tell_guesses(struct session *s)
{
    struct guess_report r = strategy_guesses(s->cycle.strategy);
    if (s->beginning.guesses_used || r.count == 0 || r.left > 0)
        return;
    s->beginning.guesses_used = true;
    if (!cycle_is_replaying(&s->cycle))
        session_message(&s->log, "info", "guesses: %d of %d are tried, %d dropped without a chance",
                        r.count - r.dropped, r.count, r.dropped);
}

static bool ask_one(struct session *s, enum ask *asked, struct err *e)
{
    struct strategy *strategy = s->cycle.strategy;
    struct open_trial *t = mem_zero(1, sizeof *t);
    bool ok = cycle_ask(&s->cycle, &t->cycle, asked, e);
    if (!ok || *asked != ASK_NEW) {
        free(t);
        s->fitting = ok && *asked == ASK_WAIT && strategy_wait_fd(strategy) >= 0;
        return ok && session_keep_refits(s, e);
    }
    kill_point("ask");
    t->generation = strategy_generation(strategy);
    int64_t parent[SPACE_MAX_PARAMS];
    if (strategy_origin(strategy, parent)) {
        struct str text = {0};
        for (int i = 0; i < s->space->param_count; i++)
            str_printf(&text, "%s%lld", i ? "," : "", (long long)parent[i]);
        t->origin = str_take(&text);
    }
    if (!strategy_forecast(strategy, &t->forecast))
        t->forecast = (struct forecast){0};
    tell_guesses(s);
    return session_keep_refits(s, e) && judge(s, t, e);
}

static bool ask_more(struct session *s, struct err *e)
{
    enum ask asked = ASK_NEW;
    bool begins = true;
    s->fitting = false;
    if (s->phase == SESSION_RUNNING && (!baselines_submit(s, &begins, e) || !probes_submit(s, e)))
        return false;
    if (!begins)
        return true;
    if (!session_shapes_set_references(s, e))
        return false;
    while (asked == ASK_NEW && s->phase == SESSION_RUNNING && source_room(s->backend.source) > 0 &&
           cycle_may_ask(&s->cycle, budget(s))) {
        if (!ask_one(s, &asked, e))
            return false;
        s->busy |= asked == ASK_NEW;
    }
    return s->phase != SESSION_RUNNING || probes_submit(s, e);
}

// --- collect ---

static bool take_result(struct session *s, struct trial_result *r, struct err *e)
{
    if (r->ticket == TICKET_RACE)
        return race_finish(s, r, e);
    if (r->ticket == TICKET_PAIRS || r->ticket == TICKET_SOAK)
        return confirm_finish(s, r, e);
    if (r->ticket == TICKET_DRIFT) {
        drift_check_finish(s, r);
        return true;
    }
    if (r->ticket <= TICKET_PROBE)
        return probe_finish(s, r, e);
    if (r->ticket <= TICKET_BASELINE)
        return baseline_finish(s, r, e);
    struct open_trial *t = (struct open_trial *)cycle_find(&s->cycle, r->ticket);
    assert(t);
    t->cycle.took_s = r->compile_s + r->pipeline_s + r->device_s;
    cycle_answer(&s->cycle, &t->cycle, r->outcome[0], r->seconds[0]);
    if (t->cycle.outcome == OUTCOME_REJECTED) {
        rejections_add(&s->rejections, s->space, NULL);
        snprintf(s->rejections.need, sizeof s->rejections.need, "%s", r->reason[0]);
    }
    t->result = mem_alloc(sizeof *t->result);
    *t->result = *r;
    s->backend.in_flight--;
    kill_point("collect");
    return true;
}

static bool collect(struct session *s, struct err *e)
{
    struct source *source = s->backend.source;
    struct trial_result r;
    if (!source_step(source, e))
        return false;
    while (source_collect(source, &r)) {
        s->busy = true;
        if (!source->kind->deterministic)
            busy_watch(&s->machine, &r);
        if (!take_result(s, &r, e))
            return false;
    }
    return true;
}

// --- the whole ---

// Ends a search in which nothing is open and nothing more will be asked: a final race of the best
// comes first, then its winner is compared with the baselines and soaked. A task of a network waits
// for its next round instead.
static bool end_search(struct session *s, struct err *e)
{
    bool racing = false;
    if (s->record.network && !s->clock.is_last_round && !s->stopping) {
        if (s->clock.is_spent)
            return true;
        s->clock.is_spent = true;
        session_clock_run(&s->clock, false);
        return session_store_state(&s->store, STATE_PAUSED, "waits for its next round", e);
    }
    if (!s->stopping && !race_submit(s, &racing, e))
        return false;
    if (!s->stopping && !racing && !confirm_submit(s, &racing, e))
        return false;
    if (!racing)
        return session_finish(s, e);
    s->phase = SESSION_RACING;
    return true;
}

bool session_step(struct session *s, struct err *e)
{
    s->busy = true;
    if (s->store.lock.over)
        session_message(&s->log, "info", "the database is free again: the session goes on");
    s->store.lock.over = false;
    for (int turn = 0; s->busy && turn < MOST_TURNS && s->phase != SESSION_ENDED; turn++) {
        s->busy = false;
        if (!collect(s, e))
            return false;
        for (struct cycle_trial *t; (t = cycle_next(&s->cycle)); s->busy = true) {
            if (t->stored)
                session_tell_again(s, (struct open_trial *)t);
            else if (!session_store_and_tell(s, (struct open_trial *)t, e))
                return false;
            if (!session_keep_refits(s, e))
                return false;
        }
        // The drift check comes first: it needs a place of the source.
        if (!drift_check_submit(s, e) || !ask_more(s, e))
            return false;
        if (s->pausing && s->phase == SESSION_RUNNING) // a race was under way
            return session_set_paused(s, true, e);
        if (s->phase == SESSION_RUNNING && !s->cycle.open && s->backend.in_flight == 0 &&
            !s->drift.open && cycle_is_over(&s->cycle, budget(s)))
            return end_search(s, e);
    }
    return true;
}

bool session_allot(struct session *s, int64_t trials, double seconds, struct err *e)
{
    s->clock.is_spent = false;
    s->record.budget_trials = trials;
    s->record.budget_seconds = seconds;
    if (!cycle_is_replaying(&s->cycle))
        session_clock_run(&s->clock, true);
    bool ok = store_set_budget(s->store.db, s->record.id, trials, seconds, e);
    return session_stored(&s->store, ok, e) &&
           session_store_state(&s->store, STATE_RUNNING, NULL, e);
}

int session_wait_fd(const struct session *s)
{
    return s->fitting && s->phase == SESSION_RUNNING ? strategy_wait_fd(s->cycle.strategy) : -1;
}

bool session_command(struct session *s, const char *verb, const char *argument, struct err *e)
{
    if (s->phase == SESSION_ENDED)
        return true;
    if (str_equal(verb, "stop")) {
        s->stopping = true;
        if (s->phase != SESSION_RUNNING || cycle_is_replaying(&s->cycle))
            return session_finish(s, e);
    } else if (str_equal(verb, "pause") && s->phase == SESSION_RUNNING) {
        return session_set_paused(s, true, e);
    } else if (str_equal(verb, "pause") && s->phase == SESSION_RACING) {
        s->pausing = true;
    } else if (str_equal(verb, "resume") && s->phase == SESSION_PAUSED) {
        return session_set_paused(s, false, e);
    } else if (str_equal(verb, "budget")) {
        return session_store_budget(&s->store, argument, e);
    }
    return true;
}
