#include "session.h"

#include "base/log.h"
#include "base/os.h"

#include <math.h>
#include <stdlib.h>

#define DRIFT_WORTH_SAYING 0.10
#define CLOSE_ENOUGH       2.0 // times the leader's time: no noise makes slower ones the best
#define LEAST_RACERS       2
// Of slow kernels: seconds that one round takes, and what a race comes to in rounds.
#define ROUND_WORTH_SAYING_S 1.0
#define LEAST_ROUNDS         4 // two that verify, two that are timed

struct race {
    int count;
    int64_t ask[SESSION_RACERS];
    struct config config[SESSION_RACERS];
    double seconds[SESSION_RACERS]; // by which they rank now
};

struct retime {
    struct retime_record record; // points to the samples
    struct str samples;
};

static void retime_init(struct retime *t, int64_t ask, const char *kind,
                        const struct trial_result *r, int i)
{
    *t = (struct retime){.record = {.ask = ask,
                                    .kind = kind,
                                    .seconds = r->seconds[i],
                                    .verified = r->outcome[i] == OUTCOME_OK,
                                    .at = os_unix_time()}};
    samples_add_json(&r->samples[i], &t->samples);
    t->record.samples = str_text(&t->samples);
}

static bool is_rival(const struct trial_record *best, int i)
{
    return i < LEAST_RACERS || best[i].seconds <= CLOSE_ENOUGH * best[0].seconds;
}

static bool choose_racers(struct session *s, struct race *race, struct err *e)
{
    struct arena arena;
    struct trial_record *best;
    int count;
    arena_init(&arena);
    bool ok = session_stored(
        s, store_best_trials(s->store, s->record.id, SESSION_RACERS, &arena, &best, &count, e), e);
    for (int i = 0; ok && i < count && is_rival(best, i); i++) {
        race->ask[i] = best[i].ask;
        race->seconds[i] = best[i].seconds;
        ok = config_parse_key(s->space, best[i].key, &race->config[i], e);
        race->count++;
    }
    arena_finish(&arena);
    return ok;
}

static void crown(struct session *s, const struct race *race)
{
    s->best_ask = s->record.best_ask = race->count ? race->ask[0] : 0;
    s->best_seconds = s->record.best_seconds = race->count ? race->seconds[0] : 0;
    s->best_config = race->config[0];
}

static bool submit_race(struct session *s, const struct race *race, struct err *e)
{
    struct trial_request request = {.ticket = TICKET_RACE, .race = true};
    while (request.count < race->count) {
        if (!session_render(s, &race->config[request.count], &request, request.count, e)) {
            for (int i = 0; i < request.count; i++)
                job_finish(&request.job[i]);
            return false;
        }
        request.count++;
    }
    source_submit(s->source, &request);
    s->in_flight++;
    return true;
}

static bool has_raced(const struct session *s, int64_t ask)
{
    for (int i = 0; i < s->raced_count; i++)
        if (s->raced[i] == ask)
            return true;
    return false;
}

// Who waits is told what for.
static void say_long_race(struct session *s, const struct race *race)
{
    double round_s = 0;
    for (int i = 0; i < race->count; i++)
        round_s += race->seconds[i];
    if (round_s > ROUND_WORTH_SAYING_S)
        session_message(
            s, "info", "final race: the best %d are verified and timed again in turns, some %.0f s",
            race->count, LEAST_ROUNDS * round_s);
}

// A trial that was lucky once may still lead after a race that it was not in: so there are races
// until whoever leads was in one.
bool race_start(struct session *s, bool *started, struct err *e)
{
    struct race *race = mem_zero(1, sizeof *race);
    *started = false;
    bool ok = s->source->kind->deterministic || choose_racers(s, race, e);
    if (ok && race->count && !has_raced(s, race->ask[0]) && s->races++ < SESSION_RACES)
        ok = *started = submit_race(s, race, e);
    if (*started) {
        say_long_race(s, race);
        s->race = race;
        return true;
    }
    if (ok && !s->source->kind->deterministic)
        crown(s, race);
    free(race);
    return ok;
}

// In one transaction: else the racers of one that was cut short would rank by the race, and the
// others by their first times.
static bool put_race(struct session *s, const struct retime *t, int count, struct err *e)
{
    bool ok = store_begin(s->store, e);
    for (int i = 0; ok && i < count; i++) {
        kill_point("retime");
        ok = store_put_retime(s->store, s->record.id, &t[i].record, e);
    }
    return session_stored(s, ok && store_commit(s->store, e), e);
}

static void tell_race(struct session *s, const struct retime *t, const struct trial_result *r)
{
    for (int i = 0; i < r->count; i++) {
        session_emit(s, EVENT_RETIME, NULL, &t[i].record);
        if (!has_raced(s, t[i].record.ask))
            s->raced[s->raced_count++] = t[i].record.ask;
        if (r->outcome[i] != OUTCOME_OK)
            session_message(s, "warning", "ask %lld fell out of the final race: %s (%s)",
                            (long long)t[i].record.ask, outcome_name(r->outcome[i]), r->reason[i]);
    }
}

bool race_finish(struct session *s, const struct trial_result *r, struct err *e)
{
    struct retime retime[SESSION_RACERS];
    s->in_flight--;
    for (int i = 0; i < r->count; i++)
        retime_init(&retime[i], s->race->ask[i], "race", r, i);
    bool ok = put_race(s, retime, r->count, e);
    if (ok) {
        tell_race(s, retime, r);
        free(s->race);
        s->race = NULL;
        s->phase = SESSION_RUNNING;
    }
    for (int i = 0; i < r->count; i++)
        str_finish(&retime[i].samples);
    return ok;
}

// Due every so many trials, before new ones take the source's room.
bool canary_start(struct session *s, struct err *e)
{
    if (s->phase != SESSION_RUNNING || s->until_canary > 0 || s->canary_open ||
        source_room(s->source) == 0)
        return true;
    s->until_canary = SESSION_CANARY_EVERY;
    if (s->source->kind->deterministic || !s->best_ask)
        return true;
    struct trial_request request = {
        .ticket = TICKET_CANARY, .count = 1, .accesses = ACCESSES_OF_NONE};
    if (!session_render(s, &s->best_config, &request, 0, e))
        return false;
    s->canary_ask = s->best_ask;
    s->canary_seconds = s->best_seconds;
    s->canary_open = true;
    source_submit(s->source, &request);
    return true;
}

// The session goes on without what cannot be stored: the ranks do not depend on it.
static void keep_canary(struct session *s, const struct trial_result *r)
{
    struct retime t;
    struct err e;
    retime_init(&t, s->canary_ask, "canary", r, 0);
    if (store_put_retime(s->store, s->record.id, &t.record, &e))
        session_emit(s, EVENT_RETIME, NULL, &t.record);
    else
        log_warning("canary not stored: %s", e.text);
    str_finish(&t.samples);
}

void canary_finish(struct session *s, const struct trial_result *r)
{
    s->canary_open = false;
    if (r->outcome[0] != OUTCOME_OK) {
        session_message(s, "warning",
                        "the best configuration failed when it was timed again: %s (%s)",
                        outcome_name(r->outcome[0]), r->reason[0]);
        return;
    }
    double drift = r->seconds[0] / s->canary_seconds - 1;
    if (fabs(drift) > DRIFT_WORTH_SAYING)
        session_message(s, "warning",
                        "the device drifts: the best configuration runs %.0f %% %s than before",
                        100 * fabs(drift), drift > 0 ? "slower" : "faster");
    keep_canary(s, r);
}
