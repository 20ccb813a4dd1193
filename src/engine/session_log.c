#include "engine/session_log.h"

#include "base/err.h"
#include "base/os.h"
#include "search/strategy.h"
#include "store/machine.h"
#include "trial/remote.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void session_event(struct session_log *l, struct event event)
{
    struct session_record record = *l->store->record;
    record.ran_seconds = session_clock_seconds(l->clock);
    if (!event.session)
        event.session = &record;
    if (record.scheduler)
        event.network = &record;
    else
        event.space = l->space;
    l->on_event(l->context, &event);
}

static void keep_message(struct session_log *l, const char *level, const char *text)
{
    struct err e;
    bool debug = str_equal(level, "debug");
    if (!l->store->record->id || (debug && l->debug > SESSION_MOST_DEBUG))
        return;
    l->debug += debug;
    if (debug && l->debug > SESSION_MOST_DEBUG)
        text = "(further debug messages of this run are not kept)";
    if (!store_add_message(l->store->db, l->store->record->id, level, text, &e))
        log_warning("message not stored: %s", e.text);
}

void session_message(struct session_log *l, const char *level, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    session_event(
        l, (struct event){.kind = EVENT_MESSAGE, .level = level, .text = text, .kept = true});
    keep_message(l, level, text);
}

void session_keep_state(struct session_log *l)
{
    const struct session_record *r = l->store->record;
    char text[512], strategy[STRATEGY_TEXT];
    if (r->message)
        snprintf(text, sizeof text, "%s: %s", state_name(r->state), r->message);
    else
        snprintf(text, sizeof text,
                 "%s: %s seed %" PRIu64 ", %" PRId64 " of %" PRId64 " trials, %d worker%s on %s",
                 state_name(r->state), strategy_text(r->strategy, false, strategy), r->seed,
                 r->trials, r->budget_trials, r->workers, r->workers == 1 ? "" : "s", r->device);
    keep_message(l, "info", text);
}

// --- workers and machines ---

void session_on_worker_log(void *log, int worker, const char *line)
{
    static const char validation[] = "tilewalk: warning: validation: ";
    static const char warning[] = "tilewalk: warning: ", pool[] = REMOTE_POOL_WARNING;
    struct session_log *l = log;
    bool is_new = false;
    const char *text = str_starts(line, warning) ? line + sizeof warning - 1 : "";
    int once = str_starts(text, "clocks: ") ? 0 : str_starts(text, "noise: ") ? 1 : -1;
    if (str_starts(line, validation)) {
        // Messages differ in the handles that they name: the part before, "[ VUID-... ]",
        // identifies one.
        uint64_t hash =
            hash_bytes(line + sizeof validation - 1, strcspn(line + sizeof validation - 1, "]"));
        is_new = l->shown_count < SESSION_MOST_VALIDATION;
        for (int i = 0; i < l->shown_count; i++)
            is_new &= l->validation[i] != hash;
        if (is_new)
            l->validation[l->shown_count++] = hash;
        l->validation_messages++;
    }
    if (is_new) {
        session_message(l, "warning", "worker %d: validation: %s", worker,
                        line + sizeof validation - 1);
    } else if (str_starts(line, pool) || (once >= 0 && !l->has_warned[once])) {
        if (once >= 0)
            l->has_warned[once] = true;
        session_message(l, "warning", "%s", text);
    } else {
        session_message(l, "debug", "worker %d: %s", worker, line);
    }
}

void session_on_machine(void *log, const struct remote_news *n)
{
    struct session_log *l = log;
    const struct session_record *record = l->store->record;
    struct err e;
    const struct machine_record r = {.name = n->machine,
                                     .place = n->place,
                                     .device = record->device,
                                     .driver = record->driver,
                                     .state = n->state,
                                     .why = n->why,
                                     .lost = n->again,
                                     .at = os_unix_time(),
                                     .fixed_s = n->fixed_s,
                                     .drift = n->drift};
    if (!store_put_machine(l->store->db, record->id, &r, &e))
        log_warning("what became of machine %s is not stored: %s", n->machine, e.text);
    if (n->fixed_s > 0)
        return; // it was up before
    if (!n->why)
        session_message(l, "info", "machine %s (%s) measures", n->machine, n->place);
    else
        session_message(l, "warning", "machine %s (%s) is %s: %s%s", n->machine, n->place, n->state,
                        n->why, n->again ? "; what it was at is asked again" : "");
}
