// Stores trials as rows of the database, then tells the strategy.

#include "engine/session.h"

#include "base/build.h"
#include "base/json.h"
#include "base/os.h"
#include "engine/session_shapes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define MOST_PARENTS 64 // individuals of a population that are kept

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

static struct trial_record describe(const struct session *s, const struct open_trial *t,
                                    struct trial_text *text)
{
    static const struct samples none;
    const struct cycle *c = &s->cycle;
    const struct trial_result *r = t->result;
    const char *build = r && r->build[0] ? r->build : build_name();
    bool counts = t->cycle.outcome != OUTCOME_REJECTED || c->count_rejected;
    config_add_key(s->space, &t->cycle.config, &text->key);
    config_add_json(s->space, &t->cycle.config, &text->config);
    samples_add_json(r ? &r->samples[0] : &none, &text->samples);
    struct trial_record record = {
        .ask = t->cycle.ask,
        .told = c->told + 1,
        .asked_after = t->cycle.asked_after,
        .number = counts ? c->trials + 1 : 0,
        .generation = t->generation,
        .key = str_text(&text->key),
        .config = str_text(&text->config),
        .outcome = t->cycle.outcome,
        .reason = t->reason,
        .seconds = t->cycle.seconds,
        .samples = str_text(&text->samples),
        .elapsed_s = session_clock_seconds(&s->clock),
        .finished = os_unix_time(),
        .origin = t->origin,
        .build = str_equal(build, s->record.build) ? NULL : build,
    };
    if (!r)
        return record;
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
    return record;
}

static bool put(struct session *s, const struct open_trial *t, const struct trial_record *record,
                struct err *e)
{
    struct store *db = s->store.db;
    const struct forecast *f = &t->forecast;
    kill_point("begin");
    bool ok = store_begin(db, e);
    kill_point("put");
    ok = ok && store_put_trial(db, s->record.id, record, e);
    if (ok && f->deviation > 0 && t->cycle.outcome == OUTCOME_OK) {
        double z = fabs(forecast_z_score(f, cycle_fitness(&s->cycle, &t->cycle)));
        const struct calibration_record more = {1, z < f->half, z < f->nine_in_ten};
        ok = store_add_calibration(db, s->record.id, &more, e);
    }
    // Asynchronous strategies are told in any order, so what they knew at each ask must be stored
    // too: the asks that are open now, as trials without an outcome.
    bool is_async = strategy_is_async(s->cycle.strategy);
    for (struct cycle_trial *at = s->cycle.open; ok && is_async && at; at = at->next) {
        struct open_trial *other = (struct open_trial *)at;
        struct trial_text text = {0};
        if (other == t || at->recorded)
            continue;
        struct trial_record open = describe(s, other, &text);
        open.outcome = OUTCOME_OPEN;
        open.number = open.told = 0;
        ok = at->recorded = store_put_trial(db, s->record.id, &open, e);
        trial_text_finish(&text);
    }
    struct session_record *r = &s->record;
    if (ok && (r->noise != s->machine.noise || r->drift != s->machine.drift)) {
        r->noise = s->machine.noise;
        r->drift = s->machine.drift;
        ok = store_set_noise(db, r->id, r->noise, r->drift, e);
    }
    ok = ok && store_commit(db, e);
    kill_point("commit");
    return session_stored(&s->store, ok, e);
}

static bool tell(struct session *s, struct open_trial *t)
{
    struct session_record *r = &s->record;
    const struct cycle *c = &s->cycle;
    bool better = cycle_tell(&s->cycle, &t->cycle);
    if (better) {
        s->machine.slowdown = 1; // measured just now
        s->races.decided = false;
    }
    if (!cycle_is_replaying(c)) { // else the record is ahead: it counts what the database has
        r->trials = c->trials;
        r->rejected = c->rejected;
        r->ok = c->ok;
        r->best_ask = c->best.ask;
        r->best_seconds = c->best.seconds;
        r->best_raced = s->races.decided;
    }
    kill_point("told");
    return better;
}

void session_tell_again(struct session *s, struct open_trial *t)
{
    session_shapes_learn(s, t->cycle.ask, NULL);
    tell(s, t);
    open_trial_destroy(t);
}

bool session_store_and_tell(struct session *s, struct open_trial *t, struct err *e)
{
    static const struct statistics none;
    struct trial_text text = {0};
    struct trial_record record = describe(s, t, &text);
    bool ok = put(s, t, &record, e);
    if (ok) {
        probes_learn(s, &t->cycle.config, t->result ? &t->result->statistics[0] : &none);
        s->done_before = NULL;
        if (t->result)
            session_shapes_learn(s, t->cycle.ask, t->result);
        bool better = tell(s, t);
        ok = session_keep_population(s, e);
        session_emit(s, EVENT_TRIAL, &record, NULL);
        if (better)
            session_emit(s, EVENT_BEST, &record, NULL);
        s->drift.due_in -= t->cycle.outcome != OUTCOME_REJECTED;
        open_trial_destroy(t);
    }
    trial_text_finish(&text);
    return ok;
}

// --- the strategy's own ---

bool session_keep_population(struct session *s, struct err *e)
{
    if (cycle_is_replaying(&s->cycle)) // the database is ahead
        return true;
    struct individual parent[MOST_PARENTS];
    struct str asks = {0};
    int count = strategy_population(s->cycle.strategy, MOST_PARENTS, parent);
    for (int i = 0; i < count; i++)
        str_printf(&asks, "%s%" PRId64, i ? "," : "", parent[i].ask);
    if (!count || str_equal(str_text(&asks), s->record.population)) {
        str_finish(&asks);
        return true;
    }
    free(s->store.population);
    s->record.population = s->store.population = str_take(&asks);
    return session_stored(
        &s->store, store_set_population(s->store.db, s->record.id, s->record.population, e), e);
}

// In a resumed session the first fits are those that the database has: replaying the session made
// them again.
bool session_keep_refits(struct session *s, struct err *e)
{
    struct refit r;
    while (strategy_take_refit(s->cycle.strategy, &r)) {
        if (++s->store.refits_made <= s->store.refits_stored)
            continue;
        struct refit_record record = {
            .number = s->store.refits_made,
            .told = r.told,
            .rows = r.rows,
            .correlation = r.correlation,
            .recall = r.recall,
            .k = r.k,
            .batch = r.batch,
            .seconds = r.seconds,
            .bytes = r.bytes,
            .elapsed_s = session_clock_seconds(&s->clock),
            .at = os_unix_time(),
        };
        kill_point("refit");
        if (!session_stored(&s->store, store_put_refit(s->store.db, s->record.id, &record, e), e))
            return false;
        struct str text = {0};
        str_printf(&text, "model %sfitted to ", s->store.refits_made > 1 ? "re" : "");
        if (r.told > 0)
            str_printf(&text, "%" PRId64 " results", r.told);
        else
            str_add(&text, "results of other sessions");
        if (r.batch > 0)
            str_add(&text, ": ");
        if (r.batch > 0 && isfinite(r.correlation))
            str_printf(&text, "rank correlation %.2f, ", r.correlation);
        if (r.batch > 0 && isfinite(r.recall))
            str_printf(&text, "recall %.0f of %d, ", r.recall * r.k, r.k);
        if (r.batch > 0)
            str_printf(&text, "on the %d measured since", r.batch);
        str_printf(&text, ", %.2g s", r.seconds);
        session_message(&s->log, "info", "%s", str_text(&text));
        str_finish(&text);
    }
    return true;
}
