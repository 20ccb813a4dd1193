// The states of a session: running, paused, locked out of the database, ended; and why it ended.

#include "engine/session.h"

#include "engine/session_shapes.h"
#include "engine/speed.h"
#include "report/text.h"
#include "search/archive.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LOCKED       "the database is locked by another program: paused until it is free"
#define MOST_REASONS 5    // of rejections, in a message
#define DRAWS        1000 // of configurations, to find out why nothing is possible

void session_lock_begins(struct session *s, double locked_s)
{
    struct session_record *r = &s->record;
    if (s->store.lock.on || s->phase == SESSION_ENDED || s->phase == SESSION_PAUSED)
        return;
    s->store.lock.on = true;
    s->store.lock.was_running = s->clock.started_ns != 0;
    session_clock_run(&s->clock, false);
    if (s->store.lock.was_running) // it was for nothing that it ran
        r->ran_seconds = fmax(0, r->ran_seconds - locked_s);
    r->state = STATE_PAUSED;
    r->message = LOCKED;
    session_emit(s, EVENT_STATE, NULL, NULL);
    session_event(&s->log,
                  (struct event){.kind = EVENT_MESSAGE, .level = "warning", .text = LOCKED});
}

void session_lock_ends(struct session *s)
{
    if (!s->store.lock.on || s->phase == SESSION_ENDED)
        return;
    s->store.lock.on = false;
    s->store.lock.over = true;
    session_clock_run(&s->clock, s->store.lock.was_running);
    s->record.state = STATE_RUNNING;
    s->record.message = NULL;
    session_emit(s, EVENT_STATE, NULL, NULL);
}

static bool enter(struct session *s, enum session_phase phase, enum session_state state,
                  const char *message, struct err *e)
{
    struct session_record *r = &s->record;
    session_clock_run(&s->clock, phase == SESSION_RUNNING && !cycle_is_replaying(&s->cycle));
    s->phase = phase;
    r->state = state;
    r->message = message ? arena_strdup(&s->arena, message) : NULL;
    kill_point("state");
    // A session that was done and was resumed in vain leaves no trace.
    bool in_vain = phase == SESSION_ENDED && s->done_before && state == STATE_DONE && r->message &&
                   str_equal(r->message, s->done_before);
    if (!in_vain)
        session_keep_state(&s->log);
    return session_keep_population(s, e) && session_store_state(&s->store, state, r->message, e);
}

bool session_set_paused(struct session *s, bool paused, struct err *e)
{
    if (paused)
        s->pausing = false;
    if (!(paused ? enter(s, SESSION_PAUSED, STATE_PAUSED, "paused by the user", e)
                 : enter(s, SESSION_RUNNING, STATE_RUNNING, NULL, e)))
        return false;
    session_emit(s, EVENT_STATE, NULL, NULL);
    return true;
}

bool session_end(struct session *s, enum session_state state, const char *message, struct err *e)
{
    struct str busy = {0}, throttled = {0};
    if (s->log.validation_messages)
        session_message(&s->log, "warning",
                        "the validation layer had %" PRId64 " messages, %d of them different",
                        s->log.validation_messages, s->log.shown_count);
    busy_add_text(&s->machine, &busy, &throttled);
    if (busy.length)
        session_message(&s->log, "warning", "%s", str_text(&busy));
    if (throttled.length)
        session_message(&s->log, "warning", "%s", str_text(&throttled));
    str_finish(&busy);
    str_finish(&throttled);
    if (!enter(s, SESSION_ENDED, state, message, e))
        return false;
    store_unlock_session(s->store.db, s->record.id);
    return true;
}

// --- why it ended ---

void rejections_add(struct rejections *r, const struct space *space, const struct verdict *v)
{
    const int constraints = space->constraint_count;
    if (!r->by)
        r->by = mem_zero((size_t)(constraints + LIMIT_COUNT + 1), sizeof *r->by);
    r->all++;
    if (!v)
        r->by[constraints + LIMIT_COUNT]++;
    else if (v->constraint >= 0)
        r->by[v->constraint]++;
    for (int l = 0; v && v->constraint < 0 && l < LIMIT_COUNT; l++)
        r->by[constraints + l] += v->limits >> l & 1;
}

// Adds the reasons that removed most, largest first. Only once: their counts are used up.
static void add_rejections(struct rejections *r, const struct space *space, struct str *out)
{
    const int constraints = space->constraint_count;
    for (int reasons = 0; r->by && reasons < MOST_REASONS; reasons++) {
        int top = 0;
        for (int i = 1; i < constraints + LIMIT_COUNT + 1; i++)
            top = r->by[i] > r->by[top] ? i : top;
        if (!r->by[top])
            return;
        str_add(out, reasons ? ", " : ": ");
        if (top < constraints)
            str_printf(out, "'%s'", space->constraint[top].name);
        else if (top < constraints + LIMIT_COUNT)
            str_add(out, limit_name((enum limit)(top - constraints)));
        else
            str_printf(out, "what the compiled shader needs%s%s%s", r->need[0] ? " (" : "", r->need,
                       r->need[0] ? ")" : "");
        str_printf(out, " removes %.3g %%", 100.0 * (double)r->by[top] / (double)r->all);
        r->by[top] = 0;
    }
}

// Adds what is certain of a sparse space that is counted.
static void add_counted(struct session *s, struct str *why)
{
    int count = legal_rules(s->legal), needed_count = 0;
    bool *needed = mem_zero((size_t)count + 1, sizeof *needed);
    if (!legal_is_empty(s->legal)) {
        str_add(why, "all ");
        legal_add_count(s->legal, why);
        str_add(why, " legal configurations were proposed");
    } else {
        legal_conflict(s->legal, needed);
        str_add(why, "no configuration is possible: ");
        for (int i = 0; i < count; i++)
            if (needed[i])
                str_printf(why, "%s'%s'", needed_count++ ? ", " : "", legal_rule(s->legal, i));
        str_add(why, needed_count > 1 ? " exclude each other" : " forbids every point");
    }
    free(needed);
}

// Explains why the strategy has nothing more to ask for. A large space is not enumerated.
static void add_exhausted(struct session *s, struct str *why)
{
    if (s->legal &&
        (legal_is_empty(s->legal) ||
         (legal_is_built(s->legal) && (uint64_t)s->cycle.told >= legal_count(s->legal)))) {
        add_counted(s, why);
        return;
    }
    bool none = s->cycle.rejected == s->cycle.told;
    bool all = s->space->size <= ARCHIVE_ENUMERABLE || (uint64_t)s->cycle.told == s->space->size;
    if (all)
        str_add(why, none ? "no configuration is possible" : "the space is exhausted");
    else
        str_printf(why, "no %s configuration was found among %s points",
                   none ? "possible" : "further", s->space->size_text);
    if (none && !s->rejections.all) {
        // A strategy that keeps to what is legal has been told nothing of what is not.
        struct rng r;
        struct config c;
        struct verdict v;
        struct err ignored;
        rng_seed(&r, s->record.seed);
        for (int i = 0; i < DRAWS; i++) {
            space_sample(s->space, &r, &c);
            if (backend_judge(&s->backend, &c, &v, &ignored) && !v.legal)
                rejections_add(&s->rejections, s->space, &v);
        }
    }
    if (none)
        add_rejections(&s->rejections, s->space, why);
    if (none && !all)
        str_printf(why, " of %" PRId64 " looked at", s->rejections.all);
    if (!all && !s->legal && !str_starts(s->record.strategy, "grid"))
        str_add(why, " (--strategy grid looks at more of them)");
}

static void add_trials_done(const struct session_record *r, struct str *why)
{
    if (r->trials > r->budget_trials)
        str_printf(why, "%" PRId64 " trials are done, the budget was %" PRId64, r->trials,
                   r->budget_trials);
    else if (r->trials == 1)
        str_add(why, "its one trial is done");
    else
        str_printf(why, "all %" PRId64 " trials are done", r->budget_trials);
}

bool session_finish(struct session *s, struct err *e)
{
    const struct session_shapes *shapes = s->backend.shapes;
    const struct session_record *r = &s->record;
    struct str why = {0};
    char share[32];
    if (shapes && shapes->candidates)
        session_message(&s->log, "info",
                        "shapes: %" PRId64 " measurements of %" PRId64
                        " configurations said which is the best, all on all shapes are %" PRId64,
                        shapes->runs, shapes->candidates, shapes->candidates * shapes->goal.count);
    s->record.ended_by = s->stopping ? "user" : "seconds";
    if (s->stopping)
        return session_end(s, STATE_STOPPED, "stopped by the user", e);
    if (s->cycle.rejected_in_row >= CYCLE_MOST_REJECTED) {
        s->record.ended_by = "rejected";
        str_printf(&why, "%d configurations in a row were rejected", CYCLE_MOST_REJECTED);
        add_rejections(&s->rejections, s->space, &why);
    } else if (s->cycle.exhausted) {
        s->record.ended_by = "exhausted";
        add_exhausted(s, &why);
    } else if (session_is_near_peak(s)) {
        s->record.ended_by = "roof";
        str_printf(&why, "%s of the roof is reached",
                   text_share(speed_of_peak(r, s->cycle.best.seconds), share));
    } else if (session_is_out_of_patience(s) && r->trials < r->budget_trials) {
        s->record.ended_by = "patience";
        str_printf(&why, "%" PRId64 " trials in a row gained nothing (--patience %" PRId64 ")",
                   s->cycle.trials - s->cycle.trials_at_gain, r->patience);
    } else if (r->trials >= r->budget_trials) {
        s->record.ended_by = "trials";
        add_trials_done(r, &why);
    } else {
        str_printf(&why, r->budget_seconds == 1 ? "%g second is over" : "%g seconds are over",
                   r->budget_seconds);
    }
    bool ok = session_end(s, STATE_DONE, str_text(&why), e);
    str_finish(&why);
    return ok;
}
