// Who is the best of a session.
//
// A search measures one trial after the other, minutes apart, and keeps whoever was lucky; a race
// times the best few again in turns. Times of one race are compared with each other and with
// nothing else: the device may have been faster or slower in the search, or at the race before. So
//  * the winner of the session is the winner of its last race (store_best_trials), and
//  * every race has the winner of the one before in it, beside those that never raced and may be
//    faster: who lost a race lost it to a trial that still leads, or to one that lost to it there.
// There are races until nobody who never raced was measured faster than the winner raced. More
// trials later are a reason for another one, resuming a session that has nothing left to do is not.

#include "base/log.h"
#include "base/os.h"
#include "engine/session_setup.h"
#include "engine/session_shapes.h"
#include "engine/session_step.h"
#include "engine/speed.h"
#include "report/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

// Canaries: every so many trials the best one is timed again, and with it a fixed kernel, the
// anchor, so that drift of the device, and what else runs on it all the time, shows. Trials between
// two anchors that differ are marked.

#define DRIFT_WORTH_SAYING 0.10

// Due before new trials take the source's room.
bool canary_start(struct session *s, struct err *e)
{
    struct canary *c = &s->canary;
    const struct cycle_best *best = &s->cycle.best;
    if (s->shapes || s->phase != SESSION_RUNNING || c->due_in > 0 || c->open ||
        source_room(s->source) == 0)
        return true;
    c->due_in = SESSION_CANARY_EVERY;
    if (s->source->kind->deterministic || !best->ask)
        return true;
    struct trial_request request = {.ticket = TICKET_CANARY,
                                    .count = 1,
                                    .known_good = true,
                                    .anchor = true,
                                    .accesses = ACCESSES_OF_NONE};
    if (!session_render(s, &best->config, &request, 0, e))
        return false;
    c->ask = best->ask;
    c->seconds = best->seconds;
    c->open = true;
    source_submit(s->source, &request);
    return true;
}

// Other kernels may be as slow as this one just now, or as fast as it was.
static void keep_anchor(struct session *s, double seconds)
{
    struct canary *c = &s->canary;
    struct err e;
    int64_t told = s->cycle.told, since = c->anchor_told;
    double share = c->anchor_s > 0 ? seconds / c->anchor_s - 1 : 0;
    c->anchor_s = seconds;
    c->anchor_told = told;
    if (fabs(share) <= DRIFT_WORTH_SAYING || told == since)
        return;
    if (store_mark_drift(s->host.store, s->record.id, since, fabs(share), &e)) {
        int64_t marked = told - since;
        session_message(s, "warning",
                        "the device drifts: a fixed kernel runs %.0f %% %s than %" PRId64
                        " results before, which are marked",
                        100 * fabs(share), share > 0 ? "slower" : "faster", marked);
    } else
        log_warning("drift not stored: %s", e.text);
}

void canary_finish(struct session *s, const struct trial_result *r)
{
    struct canary *c = &s->canary;
    c->open = false;
    if (r->anchor_s > 0)
        keep_anchor(s, r->anchor_s);
    if (r->outcome[0] != OUTCOME_OK) {
        session_message(s, "warning",
                        "the best configuration failed when it was timed again: %s (%s)",
                        outcome_name(r->outcome[0]), r->reason[0]);
        return;
    }
    double drift =
        busy_watch_canary(&s->machine, r->seconds[0], c->seconds, c->ask == s->cycle.best.ask);
    if (fabs(drift) > DRIFT_WORTH_SAYING)
        session_message(s, "warning",
                        "the device drifts: the best configuration runs %.0f %% %s than before",
                        100 * fabs(drift), drift > 0 ? "slower" : "faster");
    // The session goes on without what cannot be stored: the ranks do not depend on it.
    struct retime t;
    struct err e;
    retime_init(&t, s->canary.ask, "canary", r, 0);
    if (store_put_retime(s->host.store, s->record.id, &t.record, &e))
        session_emit(s, EVENT_RETIME, NULL, &t.record);
    else
        log_warning("canary not stored: %s", e.text);
    retime_finish(&t);
}

// What a space says is in use: measured before anything is asked for, stored, and raced with the
// winners, so that what is found can be told as a ratio to it. The search knows nothing of it: what
// it asks for is the same without.

static bool keep(struct session *s, const struct baseline_record *r, struct err *e)
{
    s->baselines.of[r->position] = *r;
    kill_point("baseline");
    return session_stored(s, store_put_baseline(s->host.store, s->record.id, r, e), e);
}

// A result becomes the record's; false: it could not be stored.
static bool take(struct session *s, struct baseline_record *b, const struct trial_result *r, int i,
                 struct err *e)
{
    struct str samples = {0}, parts = {0};
    samples_add_json(&r->samples[i], &samples);
    parts_add_json(r, i, &parts);
    b->parts = r->shapes ? arena_strdup(&s->arena, str_text(&parts)) : NULL;
    str_finish(&parts);
    b->outcome = r->outcome[i];
    b->phase = b->outcome == OUTCOME_OK ? NULL : trial_phase_name(r->phase[i]);
    b->reason = arena_strdup(&s->arena, r->reason[i]);
    b->samples = arena_strdup(&s->arena, str_text(&samples));
    b->at = os_unix_time();
    str_finish(&samples);
    return keep(s, b, e);
}

static struct baseline_record begin(struct session *s, int i)
{
    const struct baseline *declared = &s->space->baseline[i];
    struct str config = {0};
    if (!declared->misfit)
        config_add_json(s->space, &declared->config, &config);
    struct baseline_record b = {.position = i,
                                .name = declared->name,
                                .config = arena_strdup(&s->arena, str_text(&config)),
                                .at = os_unix_time()};
    str_finish(&config);
    return b;
}

static void say(struct session *s, const struct baseline_record *b)
{
    char speed[32], time[32];
    if (b->outcome == OUTCOME_OK)
        session_message(s, "info", "baseline '%s': %s, %s", b->name,
                        speed_text(&s->record, b->seconds, speed), text_time(b->seconds, time));
    else
        session_message(s, "warning", "baseline '%s' %s: %s (%s)", b->name,
                        b->outcome == OUTCOME_WRONG ? "is wrong here" : "does not run here",
                        outcome_name(b->outcome), b->reason);
}

static bool reject(struct session *s, int i, const char *why, struct err *e)
{
    struct baseline_record b = begin(s, i);
    b.outcome = OUTCOME_REJECTED;
    b.reason = arena_strdup(&s->arena, why);
    if (!keep(s, &b, e))
        return false;
    say(s, &b);
    return true;
}

static bool submit(struct session *s, int i, struct err *e)
{
    struct trial_request request = {
        .ticket = TICKET_BASELINE - i, .count = 1, .known_good = true, .accesses = ACCESSES_OF_ALL};
    if (!session_render(s, &s->space->baseline[i].config, &request, 0, e))
        return false;
    source_submit(s->source, &request);
    s->baselines.open++;
    s->in_flight++;
    return true;
}

static bool judge(struct session *s, int i, struct err *e)
{
    const struct baseline *b = &s->space->baseline[i];
    struct verdict v;
    if (b->misfit)
        return reject(s, i, b->misfit, e);
    if (!(s->shapes ? session_shapes_judge_baseline(s, i, &v, e)
                    : session_judge(s, &b->config, &v, e)))
        return err_prefix(e, "baseline '%s'", b->name);
    return v.legal ? submit(s, i, e) : reject(s, i, v.reason, e);
}

bool baselines_submit(struct session *s, bool *all, struct err *e)
{
    struct measured_baselines *m = &s->baselines;
    for (int i = 0; i < s->space->baseline_count && !s->stopping; i++) {
        if (m->submitted[i])
            continue;
        *all = source_room(s->source) > 0;
        if (!*all)
            return true;
        if (!s->started_ns)
            session_run_clock(s, true);
        m->submitted[i] = true;
        if (!judge(s, i, e))
            return false;
    }
    *all = m->open == 0;
    return true;
}

bool baseline_finish(struct session *s, const struct trial_result *r, struct err *e)
{
    int i = (int)(TICKET_BASELINE - r->ticket);
    struct baseline_record b = begin(s, i);
    s->baselines.open--;
    s->in_flight--;
    s->busy = true;
    b.seconds = r->seconds[0];
    if (!take(s, &b, r, 0, e))
        return false;
    say(s, &b);
    return true;
}

bool baseline_retime(struct session *s, int position, const struct trial_result *r, int i,
                     struct err *e)
{
    struct baseline_record b = s->baselines.of[position];
    b.race_seconds = r->seconds[i];
    if (!take(s, &b, r, i, e))
        return false;
    if (b.outcome != OUTCOME_OK)
        say(s, &b);
    return true;
}

bool session_load_baselines(struct session *s, struct err *e)
{
    struct baselines stored;
    if (!store_get_baselines(s->host.store, s->record.id, &s->arena, &stored, e))
        return false;
    for (int i = 0; i < stored.count; i++) {
        int64_t at = stored.of[i].position;
        if (at >= s->space->baseline_count)
            continue;
        s->baselines.of[at] = stored.of[i];
        s->baselines.submitted[at] = true;
    }
    return true;
}

#define RACERS       5   // in a race
#define MOST_RACES   8   // of a run
#define CLOSE_ENOUGH 2.0 // times the leader's time: no noise makes slower ones the best
#define LEAST_RACERS 2
#define MOST_RACERS  (RACERS + SPACE_MAX_BASELINES)
_Static_assert(MOST_RACERS <= TRIAL_MAX_RACERS, "a race is one request");
// Of slow kernels: seconds that one round takes, and what a race comes to in rounds.
#define ROUND_WORTH_SAYING_S 1.0
#define LEAST_ROUNDS         4 // two that verify, two that are timed

struct race {
    int count;    // of all, the trials before the baselines
    int trials;   // of them
    bool decided; // a race was won by the first already
    int64_t ask[MOST_RACERS];
    struct config config[MOST_RACERS];
    double seconds[MOST_RACERS];          // by which they rank now
    int baseline_at[SPACE_MAX_BASELINES]; // where each baseline is among them; -1: it cannot run
};

static bool is_rival(const struct trial_record *best, int i)
{
    return i < LEAST_RACERS || best[i].seconds <= CLOSE_ENOUGH * best[0].seconds;
}

static bool add_racer(const struct session *s, struct race *race, const struct trial_record *t,
                      struct err *e)
{
    int at = race->count++;
    race->trials = race->count;
    race->ask[at] = t->ask;
    race->seconds[at] = t->seconds;
    return config_parse_key(s->space, t->key, &race->config[at], e);
}

// The trials that the next race is chosen from.
struct field_of_race {
    struct ranked_trials best;  // the best ones, in the order of the ranking
    struct ranked_trials fresh; // the best of those that never raced, by their measured times
    double raced_at;            // when the last race was, unix time
};

static bool read_field(struct session *s, struct arena *a, struct field_of_race *f, struct err *e)
{
    int64_t id = s->record.id;
    struct retime_record last = {.at = 0};
    *f = (struct field_of_race){.raced_at = 0};
    bool ok =
        store_best_trials(s->host.store, id, RACERS, a, &f->best, e) &&
        store_best_unraced(s->host.store, id, RACERS - 1, a, &f->fresh, e) &&
        (!f->best.count || store_get_race(s->host.store, id, f->best.trial[0].ask, a, &last, e));
    f->raced_at = last.at;
    return session_stored(s, ok, e);
}

// Whether a trial that never raced may be faster than the winner of the last race.
static bool is_challenged(const struct field_of_race *f)
{
    const struct trial_record *fresh = f->fresh.trial;
    for (int i = 0; i < f->fresh.count; i++)
        if (fresh[i].seconds < f->best.trial[0].seconds ||
            (fresh[i].finished > f->raced_at &&
             fresh[i].seconds <= CLOSE_ENOUGH * fresh[0].seconds))
            return true;
    return false;
}

// Adds to the race: the winner of the last one, the trials that may be faster and, as far as there
// is room, those that came after the winner in the last race.
static bool add_challengers(struct session *s, const struct field_of_race *f, struct race *race,
                            struct err *e)
{
    const struct trial_record *best = f->best.trial, *fresh = f->fresh.trial;
    bool ok = add_racer(s, race, &best[0], e);
    for (int i = 0; ok && i < f->fresh.count && is_rival(fresh, i); i++)
        ok = add_racer(s, race, &fresh[i], e);
    for (int i = 1; ok && i < f->best.count && race->count < RACERS; i++)
        if (best[i].raced)
            ok = add_racer(s, race, &best[i], e);
    return ok;
}

// Chooses the trials of the next race. `due` is false when it would decide nothing: of a session
// that has raced, it then holds the winner alone.
static bool choose_racers(struct session *s, struct race *race, bool *due, struct err *e)
{
    struct arena arena;
    struct field_of_race f;
    arena_init(&arena);
    bool ok = read_field(s, &arena, &f, e);
    const struct trial_record *best = f.best.trial;
    race->decided = ok && f.best.count && best[0].raced;
    *due = ok && f.best.count && !s->done_before && (!race->decided || is_challenged(&f));
    if (*due && race->decided)
        ok = add_challengers(s, &f, race, e);
    for (int i = 0; ok && !race->decided && i < f.best.count && is_rival(best, i); i++)
        ok = add_racer(s, race, &best[i], e);
    if (ok && race->decided && !*due)
        ok = add_racer(s, race, &best[0], e);
    arena_finish(&arena);
    return ok;
}

// Where a baseline is among the racers; their number where it is not. One that is another
// configuration on some shape is none of the trials.
static int find_racer(const struct session *s, const struct race *race, int baseline)
{
    int at = 0;
    const struct config *c = &s->space->baseline[baseline].config;
    if (session_shapes_vary(s, baseline))
        return race->count;
    while (at < race->count && !config_equal(&race->config[at], c))
        at++;
    return at;
}

// Baselines that the search has asked for race as the trials that they are: so whatever is the
// fastest of a race can be its winner, and the best is never slower than what is in use.
static bool add_baseline_trials(struct session *s, struct race *race, struct err *e)
{
    struct arena arena;
    struct trial_record t;
    bool ok = true;
    arena_init(&arena);
    for (int i = 0; ok && i < s->space->baseline_count; i++) {
        const struct config *c = &s->space->baseline[i].config;
        struct str key = {0};
        if (s->baselines.of[i].outcome != OUTCOME_OK || session_shapes_vary(s, i) ||
            find_racer(s, race, i) < race->count)
            continue;
        config_add_key(s->space, c, &key);
        ok = store_find_trial(s->host.store, s->record.id, str_text(&key), &arena, &t, e) &&
             (!t.ask || t.outcome != OUTCOME_OK || add_racer(s, race, &t, e));
        str_finish(&key);
    }
    arena_finish(&arena);
    return session_stored(s, ok, e);
}

int race_baseline(const struct session *s, int candidate)
{
    for (int i = 0; i < s->space->baseline_count; i++)
        if (s->races.open->baseline_at[i] == candidate && session_shapes_vary(s, i))
            return i;
    return -1;
}

static bool submit_race(struct session *s, const struct race *race, struct err *e)
{
    // The best is to be checked, also where a baseline is faster.
    bool others = race->count > race->trials;
    struct trial_request request = {.ticket = TICKET_RACE,
                                    .race = true,
                                    .known_good = true,
                                    .accesses = others ? ACCESSES_OF_ALL : ACCESSES_OF_BEST};
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

// Where a race takes long, tells the user how long.
static void say_long_race(struct session *s, const struct race *race)
{
    double round_s = 0;
    for (int i = 0; i < race->count; i++)
        round_s += race->seconds[i];
    if (round_s > ROUND_WORTH_SAYING_S)
        session_message(
            s, "info",
            "final race: the best %d%s are verified and timed again in turns, some %.0f s",
            race->trials, race->count > race->trials ? " and the baselines" : "",
            LEAST_ROUNDS * round_s);
}

bool race_start(struct session *s, bool *started, struct err *e)
{
    struct race *race = mem_zero(1, sizeof *race);
    bool due = false;
    *started = false;
    bool ok = s->source->kind->deterministic || choose_racers(s, race, &due, e);
    if (ok && due && s->races.run++ < MOST_RACES) {
        ok = add_baseline_trials(s, race, e);
        // All that run take part, however slow: results are told as ratios to them, and only times
        // of one race are compared. One that is a trial too is timed once.
        for (int i = 0; i < s->space->baseline_count; i++) {
            const struct baseline_record *b = &s->baselines.of[i];
            const struct config *c = &s->space->baseline[i].config;
            int at = find_racer(s, race, i);
            race->baseline_at[i] = b->outcome == OUTCOME_OK ? at : -1;
            if (b->outcome != OUTCOME_OK || at < race->count)
                continue;
            race->config[at] = *c;
            race->seconds[at] = b->seconds;
            race->count++;
        }
        ok = *started = ok && submit_race(s, race, e);
    }
    if (*started) {
        say_long_race(s, race);
        s->races.open = race;
        return true;
    }
    if (ok && !s->source->kind->deterministic) {
        struct cycle_best best = {.ask = 0};
        if (race->count)
            best = (struct cycle_best){race->ask[0], race->seconds[0], race->config[0]};
        s->cycle.best = best;
        s->races.decided = race->decided;
        s->record.best_ask = best.ask;
        s->record.best_seconds = best.seconds;
        s->record.best_raced = race->decided;
    }
    free(race);
    return ok;
}

// In one transaction: else the racers of one that was cut short would rank by the race, and the
// others by their first times.
static bool put_race(struct session *s, const struct retime *t, const struct trial_result *r,
                     struct err *e)
{
    const struct race *race = s->races.open;
    bool ok = store_begin(s->host.store, e) && store_begin_race(s->host.store, s->record.id, e);
    for (int i = 0; ok && i < race->trials; i++) {
        kill_point("retime");
        ok = store_put_retime(s->host.store, s->record.id, &t[i].record, e);
    }
    for (int i = 0; ok && i < s->space->baseline_count; i++)
        ok = race->baseline_at[i] < 0 || baseline_retime(s, i, r, race->baseline_at[i], e);
    return session_stored(s, ok && store_commit(s->host.store, e), e);
}

bool race_finish(struct session *s, struct trial_result *r, struct err *e)
{
    struct retime retime[MOST_RACERS];
    int trials = s->races.open->trials;
    s->in_flight--;
    session_shapes_rate_race(s, s->races.open->baseline_at, r);
    for (int i = 0; i < trials; i++)
        retime_init(&retime[i], s->races.open->ask[i], "race", r, i);
    bool ok = put_race(s, retime, r, e);
    if (ok) {
        for (int i = 0; i < s->races.open->trials; i++) {
            session_emit(s, EVENT_RETIME, NULL, &retime[i].record);
            if (r->outcome[i] != OUTCOME_OK)
                session_message(s, "warning", "ask %lld fell out of the final race: %s (%s)",
                                (long long)retime[i].record.ask, outcome_name(r->outcome[i]),
                                r->reason[i]);
        }
        free(s->races.open);
        s->races.open = NULL;
        s->phase = SESSION_RUNNING;
    }
    for (int i = 0; i < trials; i++)
        retime_finish(&retime[i]);
    return ok;
}
