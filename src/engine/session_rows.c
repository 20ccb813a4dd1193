// What of a session's trials becomes rows of the database, before the strategy is told.
#include "base/os.h"
#include "engine/session_setup.h"
#include "engine/session_shapes.h"
#include "engine/session_step.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define MOST_BREED 64 // individuals of a population that are kept

// Texts that a trial record points to while it is stored and reported.
struct trial_text {
    struct str key, config, samples, parts, statistics, clocks;
};

static void trial_text_finish(struct trial_text *t)
{
    str_finish(&t->key);
    str_finish(&t->config);
    str_finish(&t->samples);
    str_finish(&t->parts);
    str_finish(&t->statistics);
    str_finish(&t->clocks);
}

static bool is_rejected(const struct open_trial *t)
{
    return t->cycle.outcome == OUTCOME_REJECTED;
}

char *session_origin(const struct session *s)
{
    int64_t ask[SPACE_MAX_PARAMS];
    struct str text = {0};
    if (!strategy_origin(s->cycle.strategy, ask))
        return NULL;
    for (int i = 0; i < s->space->param_count; i++)
        str_printf(&text, "%s%" PRId64, i ? "," : "", ask[i]);
    return str_take(&text);
}

static struct trial_record describe(const struct session *s, const struct open_trial *t,
                                    struct trial_text *text)
{
    static const struct samples none;
    const struct cycle *c = &s->cycle;
    const struct trial_result *r = t->result;
    config_add_key(s->space, &t->cycle.config, &text->key);
    config_add_json(s->space, &t->cycle.config, &text->config);
    samples_add_json(r ? &r->samples[0] : &none, &text->samples);
    struct trial_record record = {
        .ask = t->cycle.ask,
        .told = c->told + 1,
        .asked_after = t->cycle.asked_after,
        .number = is_rejected(t) && !c->count_rejected ? 0 : c->trials + 1,
        .generation = t->generation,
        .key = str_text(&text->key),
        .config = str_text(&text->config),
        .outcome = t->cycle.outcome,
        .reason = t->reason,
        .seconds = t->cycle.seconds,
        .samples = str_text(&text->samples),
        .elapsed_s = session_ran_seconds(s),
        .finished = os_unix_time(),
        .origin = t->origin,
    };
    if (r) {
        record.phase = trial_phase_name(r->phase[0]);
        record.reason = r->reason[0];
        record.early_stopped = r->samples[0].early_stopped;
        parts_add_json(r, 0, &text->parts);
        record.parts = r->shapes ? str_text(&text->parts) : NULL;
        record.compile_s = r->compile_s;
        record.pipeline_s = r->pipeline_s;
        record.device_s = r->device_s;
        record.worker = r->worker;
        record.machine = r->machine[0] ? r->machine : NULL;
        if (r->statistics[0].count) {
            statistics_add_json(&r->statistics[0], &text->statistics);
            record.statistics = str_text(&text->statistics);
        }
        if (r->clocks.count) {
            statistics_add_json(&r->clocks, &text->clocks);
            record.clocks = str_text(&text->clocks);
        }
    }
    return record;
}

// Asynchronous strategies are told in any order, so what they knew at each ask must be stored too:
// the asks that are open now, as trials without an outcome.
static bool put_open(struct session *s, const struct open_trial *told, struct err *e)
{
    bool ok = true;
    for (struct cycle_trial *at = s->cycle.open; ok && at; at = at->next) {
        struct open_trial *t = (struct open_trial *)at;
        struct trial_text text = {0};
        if (t == told || at->recorded)
            continue;
        struct trial_record record = describe(s, t, &text);
        record.outcome = OUTCOME_OPEN;
        record.number = record.told = 0;
        ok = at->recorded = store_put_trial(s->host.store, s->record.id, &record, e);
        trial_text_finish(&text);
    }
    return ok;
}

static bool put_calibration(struct session *s, const struct open_trial *t, struct err *e)
{
    if (t->forecast.deviation <= 0 || t->cycle.outcome != OUTCOME_OK)
        return true;
    double surprise = fabs(forecast_surprise(&t->forecast, cycle_fitness(&s->cycle, &t->cycle)));
    const struct calibration_record more = {1, surprise < t->forecast.half,
                                            surprise < t->forecast.nine_in_ten};
    return store_add_calibration(s->host.store, s->record.id, &more, e);
}

static bool put(struct session *s, const struct open_trial *t, const struct trial_record *record,
                struct err *e)
{
    struct store *store = s->host.store;
    kill_point("begin");
    bool ok = store_begin(store, e);
    kill_point("put");
    ok = ok && store_put_trial(store, s->record.id, record, e) && put_calibration(s, t, e) &&
         (!strategy_is_async(s->cycle.strategy) || put_open(s, t, e)) && store_commit(store, e);
    kill_point("commit");
    return session_stored(s, ok, e);
}

// The record counts what the database has, which is ahead while it is told again.
static void count(struct session *s)
{
    const struct cycle *c = &s->cycle;
    if (cycle_is_replaying(c))
        return;
    s->record.trials = c->trials;
    s->record.rejected = c->rejected;
    s->record.ok = c->ok;
    s->record.best_ask = c->best.ask;
    s->record.best_seconds = c->best.seconds;
    s->record.best_raced = s->races.decided;
}

static bool tell(struct session *s, struct open_trial *t)
{
    bool better = cycle_tell(&s->cycle, &t->cycle);
    if (better) {
        s->machine.slowdown = 1; // measured just now
        s->races.decided = false;
    }
    count(s);
    kill_point("told");
    return better;
}

void session_tell_again(struct session *s, struct open_trial *t)
{
    session_shapes_learn(s, t->cycle.ask, NULL);
    tell(s, t);
    open_trial_destroy(t);
}

bool session_keep_population(struct session *s, struct err *e)
{
    if (cycle_is_replaying(&s->cycle)) // the database is ahead
        return true;
    struct individual breeding[MOST_BREED];
    struct str asks = {0};
    int breed = strategy_population(s->cycle.strategy, MOST_BREED, breeding);
    for (int i = 0; i < breed; i++)
        str_printf(&asks, "%s%" PRId64, i ? "," : "", breeding[i].ask);
    if (!breed || str_equal(str_text(&asks), s->record.population)) {
        str_finish(&asks);
        return true;
    }
    free(s->population);
    s->record.population = s->population = str_take(&asks);
    return session_stored(s, store_set_population(s->host.store, s->record.id, s->population, e),
                          e);
}

bool session_put_and_tell(struct session *s, struct open_trial *t, struct err *e)
{
    struct trial_text text = {0};
    struct trial_record record = describe(s, t, &text);
    bool ok = put(s, t, &record, e);
    if (ok) {
        static const struct statistics none;
        session_learn_look(s, &t->cycle.config, t->result ? &t->result->statistics[0] : &none);
        s->done_before = NULL;
        if (t->result)
            session_shapes_learn(s, t->cycle.ask, t->result);
        bool better = tell(s, t);
        ok = session_keep_population(s, e);
        session_emit(s, EVENT_TRIAL, &record, NULL);
        if (better)
            session_emit(s, EVENT_BEST, &record, NULL);
        s->canary.due_in -= !is_rejected(t);
        open_trial_destroy(t);
    }
    trial_text_finish(&text);
    return ok;
}

void retime_init(struct retime *t, int64_t ask, const char *kind, const struct trial_result *r,
                 int i)
{
    *t = (struct retime){.record = {.ask = ask,
                                    .kind = kind,
                                    .seconds = r->seconds[i],
                                    .verified = r->outcome[i] == OUTCOME_OK,
                                    .at = os_unix_time()}};
    samples_add_json(&r->samples[i], &t->samples);
    t->record.samples = str_text(&t->samples);
    parts_add_json(r, i, &t->parts);
    t->record.parts = r->shapes ? str_text(&t->parts) : NULL;
}

void retime_finish(struct retime *t)
{
    str_finish(&t->samples);
    str_finish(&t->parts);
}
