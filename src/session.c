#include "session.h"

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

void session_emit(struct session *s, enum event_kind kind, const struct trial_record *trial,
                  const struct retime_record *retime)
{
    struct event event = {
        .kind = kind, .session = &s->record, .space = s->space, .trial = trial, .retime = retime};
    s->on_event(s->event_context, &event);
}

void session_message(struct session *s, const char *level, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    struct event event = {.kind = EVENT_MESSAGE,
                          .session = &s->record,
                          .space = s->space,
                          .level = level,
                          .text = text};
    s->on_event(s->event_context, &event);
    struct err ignored;
    if (!store_add_message(s->store, s->record.id, level, text, &ignored))
        log_warning("message not stored: %s", ignored.text);
}

bool session_ended(const struct session *s)
{
    return s->phase == SESSION_ENDED;
}

// The clock of the running time: started and stopped with the session, so that pauses do not count.
static void clock_set(struct session *s, bool running)
{
    s->record.ran_seconds = session_ran_seconds(s);
    s->started_ns = running ? os_now_ns() : 0;
}

static bool enter(struct session *s, enum session_phase phase, const char *state,
                  const char *message, struct err *e)
{
    clock_set(s, phase == SESSION_RUNNING || phase == SESSION_RACING);
    s->phase = phase;
    s->record.state = state;
    s->record.message = message ? arena_strdup(&s->arena, message) : NULL;
    kill_point("state");
    return store_set_state(s->store, s->record.id, state, s->record.message, s->record.ran_seconds,
                           e);
}

static bool end(struct session *s, const char *state, const char *message, struct err *e)
{
    if (!enter(s, SESSION_ENDED, state, message, e))
        return false;
    store_unlock_session(s->store, s->record.id);
    return true;
}

bool session_interrupt(struct session *s, struct err *e)
{
    return session_ended(s) || end(s, "paused", "interrupted", e);
}

// --- told
// ---------------------------------------------------------------------------------------------------------

void samples_add_json(const struct samples *samples, struct str *out)
{
    str_add(out, "[");
    for (int i = 0; i < samples->count; i++)
        str_printf(out, "%s%.9g", i ? "," : "", samples->seconds[i]);
    str_add(out, "]");
}

// Texts that a trial record points to while it is stored and reported.
struct trial_text {
    struct str key, config, samples;
};

static void trial_text_finish(struct trial_text *t)
{
    str_finish(&t->key);
    str_finish(&t->config);
    str_finish(&t->samples);
}

static bool is_rejected(const struct open_trial *t)
{
    return t->outcome == OUTCOME_REJECTED;
}

static struct trial_record describe(const struct session *s, const struct open_trial *t,
                                    struct trial_text *text)
{
    static const struct samples none;
    const struct trial_result *r = t->result;
    config_add_key(s->space, &t->config, &text->key);
    config_add_json(s->space, &t->config, &text->config);
    samples_add_json(r ? &r->samples[0] : &none, &text->samples);
    struct trial_record record = {
        .ask = t->ask,
        .asked_after = t->asked_after,
        .number = is_rejected(t) && !s->count_rejected ? 0 : s->record.trials + 1,
        .generation = t->generation,
        .key = str_text(&text->key),
        .config = str_text(&text->config),
        .outcome = outcome_name(t->outcome),
        .reason = t->reason,
        .seconds = t->seconds,
        .samples = str_text(&text->samples),
        .elapsed_s = session_ran_seconds(s),
        .finished = os_unix_time(),
    };
    if (r) {
        record.phase = trial_phase_name(r->phase);
        record.reason = r->reason;
        record.early_stopped = r->samples[0].early_stopped;
        record.compile_s = r->compile_s;
        record.pipeline_s = r->pipeline_s;
        record.device_s = r->device_s;
        record.worker = r->worker;
    }
    return record;
}

static void count(struct session *s, const struct open_trial *t)
{
    if (!is_rejected(t) || s->count_rejected)
        s->record.trials++;
    s->record.rejected += is_rejected(t);
    s->record.ok += t->outcome == OUTCOME_OK;
    s->rejected_in_row = is_rejected(t) ? s->rejected_in_row + 1 : 0;
    s->told++;
}

static bool is_better(const struct session *s, const struct open_trial *t)
{
    return t->outcome == OUTCOME_OK && (!s->best_ask || t->seconds < s->best_seconds);
}

static void keep_best(struct session *s, const struct open_trial *t)
{
    s->best_ask = s->record.best_ask = t->ask;
    s->best_seconds = s->record.best_seconds = t->seconds;
    s->best_config = t->config;
}

static double fitness(const struct session *s, const struct open_trial *t)
{
    return t->outcome == OUTCOME_OK ? s->record.flop / t->seconds / 1e12 : 0;
}

// Stores (unless it came from there), counts, tells and reports one answered trial. It is inside a
// transaction; telling before the commit would be wrong, so this only stores. See deliver.
static bool put(struct session *s, const struct open_trial *t, struct err *e)
{
    struct trial_text text = {0};
    struct trial_record record = describe(s, t, &text);
    kill_point("put");
    bool ok = store_put_trial(s->store, s->record.id, &record, e);
    trial_text_finish(&text);
    return ok;
}

static void tell(struct session *s, struct open_trial *t)
{
    struct trial_text text = {0};
    struct trial_record record = describe(s, t, &text);
    bool better = is_better(s, t);
    count(s, t);
    if (better)
        keep_best(s, t);
    strategy_tell(s->strategy, &t->config, t->outcome, fitness(s, t));
    kill_point("told");
    if (!t->stored) {
        session_emit(s, EVENT_TRIAL, &record, NULL);
        if (better)
            session_emit(s, EVENT_BEST, &record, NULL);
        s->until_canary -= t->outcome != OUTCOME_REJECTED;
    }
    trial_text_finish(&text);
}

static void open_trial_destroy(struct open_trial *t)
{
    free(t->result);
    free(t);
}

// The next trial that may be told: the oldest ask when it is answered; any answered one for
// asynchronous strategies.
static struct open_trial **deliverable(struct session *s)
{
    struct open_trial **at = &s->open;
    while (strategy_is_async(s->strategy) && *at && !(*at)->answered)
        at = &(*at)->next;
    return *at && (*at)->answered ? at : NULL;
}

static void unlink_open(struct session *s, struct open_trial **at)
{
    struct open_trial *t = *at;
    *at = t->next;
    if (s->open_end == &t->next)
        s->open_end = at;
    s->open_count--;
}

static bool deliver_one(struct session *s, struct open_trial **at, struct err *e)
{
    struct open_trial *t = *at;
    if (!t->stored) {
        kill_point("begin");
        if (!store_begin(s->store, e) || !put(s, t, e) || !store_commit(s->store, e))
            return err_prefix(e, "session %" PRId64 " stopped, nothing stored is lost",
                              s->record.id);
        kill_point("commit");
    }
    unlink_open(s, at);
    tell(s, t);
    open_trial_destroy(t);
    return true;
}

static bool deliver(struct session *s, bool *progress, struct err *e)
{
    struct open_trial **at;
    while ((at = deliverable(s))) {
        if (!deliver_one(s, at, e))
            return false;
        *progress = true;
    }
    return true;
}

// --- asked
// --------------------------------------------------------------------------------------------------------

bool session_render(struct session *s, const struct config *c, struct trial_request *r, int index,
                    struct err *e)
{
    r->config[index] = *c;
    return !s->source->kind->needs_jobs || script_render(s->script, c, &r->job[index], e);
}

static void tally(struct session *s, const struct verdict *v)
{
    s->tallied++;
    const int slots = (int)(sizeof s->rejected_by / sizeof *s->rejected_by);
    if (v->constraint >= 0) {
        if (v->constraint < slots - LIMIT_COUNT)
            s->rejected_by[v->constraint]++;
        return;
    }
    for (int l = 0; l < LIMIT_COUNT; l++)
        s->rejected_by[slots - LIMIT_COUNT + l] += v->limits >> l & 1;
}

static bool submit(struct session *s, struct open_trial *t, struct err *e)
{
    struct trial_request request = {.ticket = t->ask, .count = 1, .incumbent_s = s->best_seconds};
    if (!session_render(s, &t->config, &request, 0, e))
        return false;
    kill_point("submit");
    source_submit(s->source, &request);
    s->in_flight++;
    return true;
}

// Answers an ask from the database, by judgement, or sends it to the source.
static bool answer(struct session *s, struct open_trial *t, struct err *e)
{
    int stored = s->replay ? replay_answer(s->replay, t->ask, &t->config, t, e) : 0;
    if (stored)
        return stored > 0;
    struct verdict v;
    if (!space_judge(s->space, s->has_limits ? &s->limits : NULL, &t->config, &v, e))
        return false;
    if (v.legal)
        return submit(s, t, e);
    tally(s, &v);
    t->answered = true;
    t->outcome = OUTCOME_REJECTED;
    snprintf(t->reason, sizeof t->reason, "%s", v.reason);
    return true;
}

static int open_trials(const struct session *s) // those that will count against the budget
{
    int n = 0;
    for (const struct open_trial *t = s->open; t; t = t->next)
        n += !t->answered || t->outcome != OUTCOME_REJECTED || s->count_rejected;
    return n;
}

static bool out_of_budget(const struct session *s)
{
    const struct session_record *r = &s->record;
    return s->exhausted || s->stopping || r->trials + open_trials(s) >= r->budget_trials ||
           (r->budget_seconds > 0 && session_ran_seconds(s) >= r->budget_seconds);
}

static bool ask_one(struct session *s, enum ask *asked, struct err *e)
{
    struct config c;
    *asked = strategy_ask(s->strategy, &c);
    if (*asked == ASK_EXHAUSTED)
        s->exhausted = true;
    if (*asked == ASK_WAIT && !s->open)
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
    *s->open_end = t;
    s->open_end = &t->next;
    s->open_count++;
    return answer(s, t, e);
}

// A race or a canary keeps one place of the source for itself.
static bool may_ask(const struct session *s)
{
    return s->phase == SESSION_RUNNING && !out_of_budget(s) && s->open_count < MOST_OPEN &&
           s->rejected_in_row < ENGINE_MOST_REJECTED && source_room(s->source) > 0;
}

static bool ask_more(struct session *s, bool *progress, struct err *e)
{
    enum ask asked = ASK_NEW;
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

// --- collected
// ----------------------------------------------------------------------------------------------------

static bool accept(struct session *s, const struct trial_result *r, struct err *e)
{
    if (r->ticket == TICKET_RACE)
        return race_finish(s, r, e);
    if (r->ticket == TICKET_CANARY)
        return canary_finish(s, r, e);
    struct open_trial *t = s->open;
    while (t && t->ask != r->ticket)
        t = t->next;
    assert(t && !t->answered);
    t->answered = true;
    t->outcome = r->outcome[0];
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
        if (!accept(s, &r, e))
            return false;
    }
    return true;
}

// --- ended
// --------------------------------------------------------------------------------------------------------

// "shared memory 71 %, invocations 29 %": what this session's rejections were for, largest first.
static const char *rejection_reasons(struct session *s, char *out, size_t size)
{
    const int slots = (int)(sizeof s->rejected_by / sizeof *s->rejected_by);
    int64_t left[64];
    struct str text = {0};
    memcpy(left, s->rejected_by, sizeof left);
    for (int round = 0; round < 5; round++) {
        int top = 0;
        for (int i = 1; i < slots; i++)
            top = left[i] > left[top] ? i : top;
        if (!left[top])
            break;
        bool is_limit = top >= slots - LIMIT_COUNT;
        const char *name = is_limit ? limit_name((enum limit)(top - (slots - LIMIT_COUNT)))
                                    : s->space->constraint[top].name;
        str_printf(&text, "%s%s%s%s removes %.3g %%", round ? ", " : "", is_limit ? "" : "'", name,
                   is_limit ? "" : "'", 100.0 * (double)left[top] / (double)s->tallied);
        left[top] = 0;
    }
    snprintf(out, size, "%s", str_text(&text));
    str_finish(&text);
    return out;
}

static bool finish(struct session *s, struct err *e)
{
    char reasons[300], message[400];
    if (s->stopping)
        return end(s, "stopped", "stopped by the user", e);
    if (s->rejected_in_row >= ENGINE_MOST_REJECTED)
        snprintf(message, sizeof message, "%d configurations in a row were rejected: %s",
                 ENGINE_MOST_REJECTED, rejection_reasons(s, reasons, sizeof reasons));
    else if (s->exhausted)
        snprintf(message, sizeof message, "the space is exhausted");
    else if (s->record.trials >= s->record.budget_trials)
        snprintf(message, sizeof message, "all %" PRId64 " trials are done",
                 s->record.budget_trials);
    else
        snprintf(message, sizeof message, "%g seconds are over", s->record.budget_seconds);
    return end(s, "done", message, e);
}

// Nothing is open any more and nothing will be asked: race the best, then end.
static bool conclude(struct session *s, struct err *e)
{
    bool racing = false;
    if (s->phase == SESSION_RUNNING && !s->stopping && !race_start(s, &racing, e))
        return false;
    if (racing) {
        s->phase = SESSION_RACING;
        return true;
    }
    return finish(s, e);
}

static bool is_through(const struct session *s)
{
    return !s->open && !s->race && s->in_flight == 0 && !s->canary_open &&
           (s->phase == SESSION_RACING ||
            (s->phase == SESSION_RUNNING &&
             (out_of_budget(s) || s->rejected_in_row >= ENGINE_MOST_REJECTED)));
}

bool session_step(struct session *s, struct err *e)
{
    s->busy = true;
    for (int round = 0; s->busy && round < MOST_ROUNDS && !session_ended(s); round++) {
        s->busy = false;
        if (!collect(s, &s->busy, e) || !deliver(s, &s->busy, e) || !ask_more(s, &s->busy, e))
            return false;
        if (s->phase == SESSION_RUNNING && s->until_canary <= 0 && !s->canary_open &&
            !canary_start(s, e))
            return false;
        if (is_through(s))
            return conclude(s, e);
    }
    return true;
}

bool session_command(struct session *s, const char *verb, const char *argument, struct err *e)
{
    if (session_ended(s))
        return true;
    if (str_equal(verb, "stop")) {
        s->stopping = true;
        if (s->phase == SESSION_PAUSED)
            return finish(s, e);
    } else if (str_equal(verb, "pause") && s->phase == SESSION_RUNNING) {
        if (!enter(s, SESSION_PAUSED, "paused", "paused by the user", e))
            return false;
        session_emit(s, EVENT_STATE, NULL, NULL);
    } else if (str_equal(verb, "resume") && s->phase == SESSION_PAUSED) {
        if (!enter(s, SESSION_RUNNING, "running", NULL, e))
            return false;
        session_emit(s, EVENT_STATE, NULL, NULL);
    } else if (str_equal(verb, "budget")) {
        int64_t trials;
        if (!str_to_int(argument, 1, INT64_MAX / 2, &trials))
            return true; // an older or newer program's command: not ours to fail on
        s->record.budget_trials = trials;
        return store_set_budget(s->store, s->record.id, trials, s->record.budget_seconds, e);
    }
    return true;
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
    if (s->record.id)
        store_unlock_session(s->store, s->record.id);
    free(s->race);
    arena_finish(&s->arena);
    free(s);
}
