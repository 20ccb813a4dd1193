#include "engine/session.h"

#include "base/os.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void samples_add_json(const struct samples *samples, struct str *out)
{
    str_add(out, "[");
    for (int i = 0; i < samples->count; i++)
        str_printf(out, "%s%.9g", i ? "," : "", samples->seconds[i]);
    str_add(out, "]");
}

// Texts that a trial record points to while it is stored and reported.
struct trial_text {
    struct str key, config, samples, statistics;
};

static void trial_text_finish(struct trial_text *t)
{
    str_finish(&t->key);
    str_finish(&t->config);
    str_finish(&t->samples);
    str_finish(&t->statistics);
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
        .told = s->told + 1,
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
        .origin = t->origin,
    };
    if (r) {
        record.phase = trial_phase_name(r->phase[0]);
        record.reason = r->reason[0];
        record.early_stopped = r->samples[0].early_stopped;
        record.compile_s = r->compile_s;
        record.pipeline_s = r->pipeline_s;
        record.device_s = r->device_s;
        record.worker = r->worker;
        if (r->statistics[0].count) {
            statistics_add_json(&r->statistics[0], &text->statistics);
            record.statistics = str_text(&text->statistics);
        }
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
    s->slowdown = 1; // measured just now
    s->record.best_raced = false;
    s->best_config = t->config;
}

static double fitness(const struct session *s, const struct open_trial *t)
{
    return t->outcome == OUTCOME_OK ? s->record.flop / t->seconds / 1e12 : 0;
}

// Asynchronous strategies are told in any order, so what they knew at each ask must be stored too:
// the asks that are open now, as trials without an outcome.
static bool put_open(struct session *s, const struct open_trial *told, struct err *e)
{
    bool ok = true;
    for (struct open_trial *t = s->open; ok && t; t = t->next) {
        struct trial_text text = {0};
        if (t == told || t->recorded || t->stored)
            continue;
        struct trial_record record = describe(s, t, &text);
        record.outcome = NULL;
        record.number = record.told = 0;
        ok = t->recorded = store_put_trial(s->store, s->record.id, &record, e);
        trial_text_finish(&text);
    }
    return ok;
}

static bool put(struct session *s, const struct open_trial *t, const struct trial_record *record,
                struct err *e)
{
    kill_point("begin");
    bool ok = store_begin(s->store, e);
    kill_point("put");
    ok = ok && store_put_trial(s->store, s->record.id, record, e) &&
         (!strategy_is_async(s->strategy) || put_open(s, t, e)) && store_commit(s->store, e);
    kill_point("commit");
    return session_stored(s, ok, e);
}

// Counts it, tells it, and says whether it is a new best.
static bool tell(struct session *s, const struct open_trial *t)
{
    bool better = is_better(s, t);
    count(s, t);
    if (better)
        keep_best(s, t);
    strategy_tell(s->strategy, &t->config, t->outcome, fitness(s, t));
    kill_point("told");
    return better;
}

bool session_keep_population(struct session *s, struct err *e)
{
    if (!replay_is_over(s->replay, s->told)) // the database is ahead
        return true;
    struct individual breeding[SESSION_MOST_BREED];
    struct str asks = {0};
    int count = strategy_population(s->strategy, SESSION_MOST_BREED, breeding);
    for (int i = 0; i < count; i++)
        str_printf(&asks, "%s%" PRId64, i ? "," : "", breeding[i].ask);
    if (!count || str_equal(str_text(&asks), s->record.population)) {
        str_finish(&asks);
        return true;
    }
    free(s->population);
    s->record.population = s->population = str_take(&asks);
    return session_stored(s, store_set_population(s->store, s->record.id, s->population, e), e);
}

static bool put_and_tell(struct session *s, const struct open_trial *t, struct err *e)
{
    struct trial_text text = {0};
    struct trial_record record = describe(s, t, &text);
    bool ok = put(s, t, &record, e);
    if (ok) {
        bool better = tell(s, t);
        ok = session_keep_population(s, e);
        session_emit(s, EVENT_TRIAL, &record, NULL);
        if (better)
            session_emit(s, EVENT_BEST, &record, NULL);
        s->until_canary -= t->outcome != OUTCOME_REJECTED;
    }
    trial_text_finish(&text);
    return ok;
}

void open_trial_destroy(struct open_trial *t)
{
    free(t->result);
    free(t->origin);
    free(t);
}

// The next trial that may be told: the oldest ask when it is answered; for asynchronous strategies
// any answered one, in the stored order where the database has it.
static struct open_trial **deliverable(struct session *s)
{
    struct open_trial **at = &s->open;
    if (!strategy_is_async(s->strategy))
        return *at && (*at)->answered ? at : NULL;
    while (*at && !((*at)->answered && replay_may_tell(s->replay, (*at)->ask, s->asked, s->told)))
        at = &(*at)->next;
    return *at ? at : NULL;
}

static void unlink_open(struct session *s, struct open_trial **at)
{
    struct open_trial *t = *at;
    *at = t->next;
    if (s->open_end == &t->next)
        s->open_end = at;
    s->open_count--;
    s->counting -= open_trial_counts(s, t);
}

static bool deliver_one(struct session *s, struct open_trial **at, struct err *e)
{
    struct open_trial *t = *at;
    if (t->stored)
        tell(s, t);
    else if (!put_and_tell(s, t, e))
        return false;
    unlink_open(s, at);
    open_trial_destroy(t);
    return session_keep_refits(s, e);
}

bool session_deliver(struct session *s, bool *progress, struct err *e)
{
    struct open_trial **at;
    while ((at = deliverable(s))) {
        if (!deliver_one(s, at, e))
            return false;
        *progress = true;
    }
    return true;
}
