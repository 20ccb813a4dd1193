// The states of a session: running, paused, held, ended; in the database, and told to users.
#include "engine/session_step.h"

#include <math.h>

#define LOCKED "the database is locked by another program: paused until it is free"

void session_hold(struct session *s, double locked_s)
{
    if (s->hold.on || session_ended(s) || s->phase == SESSION_PAUSED)
        return;
    s->hold.on = true;
    s->hold.clock = s->started_ns != 0;
    session_run_clock(s, false);
    if (s->hold.clock) // it was for nothing that it ran
        s->record.ran_seconds = fmax(0, s->record.ran_seconds - locked_s);
    s->record.state = STATE_PAUSED;
    s->record.message = LOCKED;
    session_emit(s, EVENT_STATE, NULL, NULL);
    session_whisper(s, "warning", LOCKED);
}

void session_let_go(struct session *s)
{
    if (!s->hold.on || session_ended(s))
        return;
    s->hold.on = false;
    s->hold.over = true;
    session_run_clock(s, s->hold.clock);
    s->record.state = STATE_RUNNING;
    s->record.message = NULL;
    session_emit(s, EVENT_STATE, NULL, NULL);
}

// Taken up again in vain: that leaves no trace.
static bool ends_as_before(const struct session *s)
{
    const struct session_record *r = &s->record;
    return session_ended(s) && s->done_before && r->state == STATE_DONE && r->message &&
           str_equal(r->message, s->done_before);
}

static bool enter(struct session *s, enum session_phase phase, enum session_state state,
                  const char *message, struct err *e)
{
    session_run_clock(s, phase == SESSION_RUNNING && !cycle_is_replaying(&s->cycle));
    s->phase = phase;
    s->record.state = state;
    s->record.message = message ? arena_strdup(&s->arena, message) : NULL;
    kill_point("state");
    if (!ends_as_before(s))
        session_keep_state(s);
    return session_keep_population(s, e) &&
           session_stored(s,
                          store_set_state(s->host.store, s->record.id, state, s->record.message,
                                          s->record.ran_seconds, e),
                          e);
}

static void say_busy(struct session *s)
{
    struct str busy = {0}, throttled = {0};
    if (busy_add_text(&s->machine, &busy))
        session_message(s, "warning", "%s", str_text(&busy));
    if (busy_add_throttled(&s->machine, &throttled))
        session_message(s, "warning", "%s", str_text(&throttled));
    str_finish(&busy);
    str_finish(&throttled);
}

bool session_end(struct session *s, enum session_state state, const char *message, struct err *e)
{
    session_say_complaints(s);
    say_busy(s);
    if (!enter(s, SESSION_ENDED, state, message, e))
        return false;
    store_unlock_session(s->host.store, s->record.id);
    return true;
}

bool session_interrupt(struct session *s, struct err *e)
{
    return session_ended(s) || session_end(s, STATE_PAUSED, "interrupted", e);
}

bool session_pause(struct session *s, struct err *e)
{
    s->pausing = false;
    if (!enter(s, SESSION_PAUSED, STATE_PAUSED, "paused by the user", e))
        return false;
    session_emit(s, EVENT_STATE, NULL, NULL);
    return true;
}

bool session_go_on(struct session *s, struct err *e)
{
    if (!enter(s, SESSION_RUNNING, STATE_RUNNING, NULL, e))
        return false;
    session_emit(s, EVENT_STATE, NULL, NULL);
    return true;
}
