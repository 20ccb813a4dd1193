#include "engine/session.h"

#include "base/log.h"
#include "base/median.h"
#include "base/os.h"
#include "engine/session_shapes.h"
#include "engine/session_step.h"
#include "engine/speed.h"
#include "gpu/sensors.h"
#include "store/machine.h"
#include "trial/remote.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEADY_PERCENT   50 // by which the median of samples may exceed their minimum
#define FEWEST_SAMPLES   3
#define FEWEST_TIMINGS   4
#define FEWEST_CANARIES  2
#define BUSY_WHEN_ONE_IN 4 // timings is unsteady, or canaries slow

static bool is_throttled(const struct statistics *clocks)
{
    for (int i = 0; i < clocks->count; i++)
        if (str_starts(clocks->item[i].name, SENSORS_THROTTLE))
            return true;
    return false;
}

void busy_watch(struct busy *b, const struct trial_result *r)
{
    b->sensed += r->clocks.count > 0;
    b->throttled += is_throttled(&r->clocks);
    for (int i = 0; i < r->count; i++)
        if (r->outcome[i] == OUTCOME_OK && r->samples[i].count >= FEWEST_SAMPLES) {
            b->timings++;
            double sorted[TRIAL_MAX_SAMPLES];
            memcpy(sorted, r->samples[i].seconds, sizeof sorted);
            double median = median_of(sorted, r->samples[i].count);
            b->unsteady += (median > (1 + STEADY_PERCENT / 100.0) * sorted[0]);
        }
}

double busy_watch_canary(struct busy *b, double now_s, double before_s, bool is_best)
{
    double ratio = now_s / before_s;
    b->canaries++;
    b->slow += ratio > 1 + STEADY_PERCENT / 100.0;
    if (is_best)
        b->slowdown = ratio;
    return ratio - 1;
}

bool busy_add_text(const struct busy *b, struct str *out)
{
    if (b->canaries >= FEWEST_CANARIES && b->slow * BUSY_WHEN_ONE_IN >= b->canaries)
        str_printf(out,
                   "the machine was busy: %" PRId64 " of %" PRId64
                   " times the best so far took over %d %% longer than before; times may be too "
                   "long, and which of two close ones is faster chance (what else runs here?)",
                   b->slow, b->canaries, STEADY_PERCENT);
    else if (b->timings >= FEWEST_TIMINGS && b->unsteady * BUSY_WHEN_ONE_IN >= b->timings)
        str_printf(out,
                   "the machine was busy: %" PRId64 " of %" PRId64
                   " timings vary by more than %d %%; times may be too long, and which of two "
                   "close ones is faster chance (what else runs here?)",
                   b->unsteady, b->timings, STEADY_PERCENT);
    else
        return false;
    return true;
}

bool busy_add_throttled(const struct busy *b, struct str *out)
{
    if (b->throttled)
        str_printf(out,
                   "the device's clocks were held back in %" PRId64 " of %" PRId64
                   " timings (show --trial N says by what): times depend on how warm it was "
                   "(tilewalk doctor says how to lock clocks)",
                   b->throttled, b->sensed);
    return b->throttled > 0;
}

#define MOST_REASONS 5

static int reason_count(const struct space *space)
{
    return space->constraint_count + LIMIT_COUNT + 1;
}

void rejections_add(struct rejections *r, const struct space *space, const struct verdict *v)
{
    const int constraints = space->constraint_count;
    if (!r->by)
        r->by = mem_zero((size_t)reason_count(space), sizeof *r->by);
    r->all++;
    if (!v)
        r->by[constraints + LIMIT_COUNT]++;
    else if (v->constraint >= 0)
        r->by[v->constraint]++;
    for (int l = 0; v && v->constraint < 0 && l < LIMIT_COUNT; l++)
        r->by[constraints + l] += v->limits >> l & 1;
}

void rejections_add_text(struct rejections *r, const struct space *space, struct str *out)
{
    for (int said = 0; r->by && said < MOST_REASONS; said++) {
        int top = 0;
        for (int i = 1; i < reason_count(space); i++)
            top = r->by[i] > r->by[top] ? i : top;
        if (!r->by[top])
            return;
        str_add(out, said ? ", " : ": ");
        const int constraints = space->constraint_count;
        if (top < constraints)
            str_printf(out, "'%s'", space->constraint[top].name);
        else if (top < constraints + LIMIT_COUNT)
            str_add(out, limit_name((enum limit)(top - constraints)));
        else
            str_add(out, "what the compiled shader needs");
        str_printf(out, " removes %.3g %%", 100.0 * (double)r->by[top] / (double)r->all);
        r->by[top] = 0; // said
    }
}

void rejections_finish(struct rejections *r)
{
    free(r->by);
    *r = (struct rejections){.by = NULL};
}

// The states of a session: running, paused, held, ended; in the database, and told to users.

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

static bool enter(struct session *s, enum session_phase phase, enum session_state state,
                  const char *message, struct err *e)
{
    session_run_clock(s, phase == SESSION_RUNNING && !cycle_is_replaying(&s->cycle));
    s->phase = phase;
    s->record.state = state;
    s->record.message = message ? arena_strdup(&s->arena, message) : NULL;
    kill_point("state");
    // Taken up again in vain: that leaves no trace.
    const struct session_record *r = &s->record;
    if (!(session_ended(s) && s->done_before && r->state == STATE_DONE && r->message &&
          str_equal(r->message, s->done_before)))
        session_keep_state(s);
    return session_keep_population(s, e) &&
           session_stored(s,
                          store_set_state(s->host.store, s->record.id, state, s->record.message,
                                          s->record.ran_seconds, e),
                          e);
}

bool session_end(struct session *s, enum session_state state, const char *message, struct err *e)
{
    session_say_complaints(s);
    struct str busy = {0}, throttled = {0};
    if (busy_add_text(&s->machine, &busy))
        session_message(s, "warning", "%s", str_text(&busy));
    if (busy_add_throttled(&s->machine, &throttled))
        session_message(s, "warning", "%s", str_text(&throttled));
    str_finish(&busy);
    str_finish(&throttled);
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

// What a session says, to its front end and to its log in the database.

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

void kill_point(const char *name)
{
    static int visits;
    const char *wanted = getenv("TILEWALK_KILL");
    if (!wanted || !str_starts(wanted, name) || wanted[strlen(name)] != ':')
        return;
    if (++visits == atoi(wanted + strlen(name) + 1))
        raise(SIGKILL);
}

void samples_add_json(const struct samples *samples, struct str *out)
{
    str_add(out, "[");
    for (int i = 0; i < samples->count; i++)
        str_printf(out, "%s%.9g", i ? "," : "", samples->seconds[i]);
    str_add(out, "]");
}

void parts_add_json(const struct trial_result *r, int candidate, struct str *out)
{
    for (int i = 0; i < r->shapes; i++) {
        double seconds = r->part_s[candidate][i];
        str_add(out, i ? "," : "[");
        if (seconds > 0)
            str_printf(out, "%.17g", seconds);
        else
            str_add(out, "null");
    }
    str_add(out, r->shapes ? "]" : "");
}

void open_trial_destroy(struct open_trial *t)
{
    free(t->result);
    free(t->origin);
    free(t);
}

bool session_ended(const struct session *s)
{
    return s->phase == SESSION_ENDED;
}

double session_ran_seconds(const struct session *s)
{
    double now = s->started_ns ? (double)(os_now_ns() - s->started_ns) / 1e9 : 0;
    return s->record.ran_seconds + now;
}

void session_run_clock(struct session *s, bool running)
{
    s->record.ran_seconds = session_ran_seconds(s);
    s->started_ns = running ? os_now_ns() : 0;
}

const struct limits *session_limits(const struct session *s)
{
    return s->device.is_known ? &s->device.limits : NULL;
}

bool session_judge(const struct session *s, const struct config *c, struct verdict *v,
                   struct err *e)
{
    if (s->shapes)
        return session_shapes_judge(s, c, v, e);
    return space_judge(s->space, session_limits(s), c, v, e);
}

bool session_render(struct session *s, const struct config *c, struct trial_request *r, int index,
                    struct err *e)
{
    r->config[index] = *c;
    return !s->source->kind->needs_jobs || script_render(s->script, c, &r->job[index], e);
}

bool session_stored(struct session *s, bool ok, struct err *e)
{
    ok = ok && store_in_place(s->host.store, e);
    s->hold.failed |= !ok;
    return ok || err_prefix(e, "session %" PRId64 " stopped, nothing stored is lost", s->record.id);
}

bool session_is_near_roof(const struct session *s)
{
    const struct session_record *r = &s->record;
    return r->until > 0 && speed_of_roof(r, s->cycle.best.seconds) >= r->until;
}

bool session_set_budget(struct session *s, const char *text, struct err *e)
{
    int64_t trials;
    if (!str_to_int(text, 1, INT64_MAX / 2, &trials))
        return true;
    s->record.budget_trials = trials;
    return session_stored(
        s, store_set_budget(s->host.store, s->record.id, trials, s->record.budget_seconds, e), e);
}
