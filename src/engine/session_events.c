// What a session says, to its front end and to its log in the database.
#include "base/log.h"
#include "engine/session.h"
#include "store/machine.h"
#include "trial/remote.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// What drivers mumble would fill the database: only the first of it is kept.
static void keep_message(struct session *s, const char *level, const char *text)
{
    struct err e;
    bool mumble = str_equal(level, "debug");
    if (!s->record.id || (mumble && s->mumbles.debug > SESSION_MOST_MUMBLES))
        return;
    s->mumbles.debug += mumble;
    if (mumble && s->mumbles.debug > SESSION_MOST_MUMBLES)
        text = "(further debug messages of this run are not kept)";
    if (!store_add_message(s->host.store, s->record.id, level, text, &e))
        log_warning("message not stored: %s", e.text);
}

void session_keep_state(struct session *s)
{
    const struct session_record *r = &s->record;
    char text[512], strategy[STRATEGY_TEXT];
    if (r->message)
        snprintf(text, sizeof text, "%s: %s", state_name(r->state), r->message);
    else
        snprintf(text, sizeof text,
                 "%s: %s seed %" PRIu64 ", %" PRId64 " of %" PRId64 " trials, %d workers on %s",
                 state_name(r->state), strategy_text(r->strategy, false, strategy), r->seed,
                 r->trials, r->budget_trials, r->workers, r->device);
    keep_message(s, "info", text);
}

static void tell_host(struct session *s, struct event event)
{
    struct session_record record = s->record;
    record.ran_seconds = session_ran_seconds(s);
    event.session = &record;
    event.space = s->space;
    s->host.on_event(s->host.context, &event);
}

// For the log of the session: nobody has to be told who hears of it by an event.
void session_emit(struct session *s, enum event_kind kind, const struct trial_record *trial,
                  const struct retime_record *retime)
{
    tell_host(s, (struct event){.kind = kind,
                                .trial = trial,
                                .retime = retime,
                                .busy_seconds = s->source ? source_busy_seconds(s->source) : 0});
    if (kind == EVENT_SESSION && !s->cycle.past && !session_ended(s))
        session_keep_state(s); // one that goes on: once it does (session_step.c)
}

static void emit_message(struct session *s, const char *level, const char *text, bool kept)
{
    tell_host(s, (struct event){.kind = EVENT_MESSAGE, .level = level, .text = text, .kept = kept});
}

void session_whisper(struct session *s, const char *level, const char *text)
{
    emit_message(s, level, text, false);
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

// --- the validation layer ---

// Messages differ in the handles that they name: what goes before, "[ VUID-... ]", says which it
// is.
static bool is_new_complaint(struct mumbles *m, const char *text)
{
    size_t length = strcspn(text, "]");
    uint64_t hash = hash_bytes(text, length);
    for (int i = 0; i < m->told_count; i++)
        if (m->told[i] == hash)
            return false;
    if (m->told_count == SESSION_MOST_COMPLAINTS)
        return false;
    m->told[m->told_count++] = hash;
    return true;
}

void session_hear_worker(void *context, int worker, const char *line)
{
    static const char complaint[] = "tilewalk: warning: validation: ";
    static const char clocks[] = "tilewalk: warning: clocks: ";
    struct session *s = context;
    bool complains = str_starts(line, complaint);
    s->mumbles.complaints += complains;
    if (complains && is_new_complaint(&s->mumbles, line + sizeof complaint - 1))
        session_message(s, "warning", "worker %d: validation: %s", worker,
                        line + sizeof complaint - 1);
    else if (str_starts(line, clocks) && !s->mumbles.told_clocks++)
        session_message(s, "warning", "%s", line + sizeof clocks - sizeof "clocks: ");
    else
        session_message(s, "debug", "worker %d: %s", worker, line);
}

void session_hear_machine(void *context, const struct remote_news *n)
{
    struct session *s = context;
    struct err e;
    const struct machine_record r = {.name = n->machine,
                                     .place = n->place,
                                     .device = s->record.device,
                                     .driver = s->record.driver,
                                     .state = n->state,
                                     .why = n->why,
                                     .lost = n->again,
                                     .at = os_unix_time(),
                                     .fixed_s = n->fixed_s,
                                     .drift = n->drift};
    if (!store_put_machine(s->host.store, s->record.id, &r, &e))
        log_warning("what became of machine %s is not stored: %s", n->machine, e.text);
    if (n->fixed_s > 0)
        return; // it was up before
    if (!n->why)
        session_message(s, "info", "machine %s (%s) measures", n->machine, n->place);
    else
        session_message(s, "warning", "machine %s (%s) is %s: %s%s", n->machine, n->place, n->state,
                        n->why, n->again ? "; what it was at is asked again" : "");
}

void session_say_complaints(struct session *s)
{
    if (s->mumbles.complaints)
        session_message(s, "warning",
                        "the validation layer had %" PRId64 " messages, %d of them different",
                        s->mumbles.complaints, s->mumbles.told_count);
}
