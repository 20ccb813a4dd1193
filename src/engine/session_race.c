// The final re-ranking, which decides the best trial of a session.
//
// A search measures one trial after the other, minutes apart, and keeps the one that was lucky; a
// race times the best few again in turns. Times of one race are compared with each other and with
// nothing else: the device may have been faster or slower in the search, or at the race before. So
//  * the winner of the session is the winner of its last race (store_best_trials), and
//  * every race has the winner of the one before in it, beside those that never raced and may be
//    faster. A trial that lost a race lost it to one that still leads, or to one that lost to it.
// Races follow each other until no trial outside of them was measured faster than the winner in its
// race. A session that gets more trials later races again; one that is resumed without them does
// not.

#include "engine/session.h"

#include "engine/session_shapes.h"

#include <stdlib.h>

#define RACERS       5   // in a race
#define MOST_RACES   8   // of a run
#define CLOSE_ENOUGH 2.0 // times the leader's time: no noise makes slower ones the best
#define LEAST_RACERS 2
#define MOST_RACERS  (RACERS + SPACE_MAX_BASELINES)
_Static_assert(MOST_RACERS <= TRIAL_MAX_RACERS, "a race is one request");
// A race of slow kernels is announced: seconds of a round from which it is, and rounds of a race.
#define ROUND_WORTH_SHOWING_S 1.0
#define LEAST_ROUNDS          4 // two that verify, two that are timed

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

// Chooses the trials of the next race. `due` is false when it would decide nothing: of a session
// that has raced, it then holds the winner alone.
static bool choose_racers(struct session *s, struct race *race, bool *due, struct err *e)
{
    int64_t id = s->record.id;
    struct store *db = s->store.db;
    struct retime_record last = {.at = 0};
    struct ranked_trials ranked = {0};  // the best ones, in the order of the ranking
    struct ranked_trials unraced = {0}; // the best of those that never raced, by measured time
    struct arena a;
    arena_init(&a);
    bool ok = store_best_trials(db, id, RACERS, &a, &ranked, e) &&
              store_best_unraced(db, id, RACERS - 1, &a, &unraced, e) &&
              (!ranked.count || store_get_race(db, id, ranked.trial[0].ask, &a, &last, e));
    ok = session_stored(&s->store, ok, e);
    const struct trial_record *best = ranked.trial, *fresh = unraced.trial;
    race->decided = ok && ranked.count && best[0].raced;
    bool is_challenged = !race->decided; // by a trial that may be faster than the last winner
    for (int i = 0; ok && race->decided && i < unraced.count; i++)
        is_challenged |=
            fresh[i].seconds < best[0].seconds ||
            (fresh[i].finished > last.at && fresh[i].seconds <= CLOSE_ENOUGH * fresh[0].seconds);
    *due = ok && ranked.count && !s->done_before && is_challenged;
    if (race->decided) {
        // The winner of the last race, the trials that may be faster and, as far as there is room,
        // those that came after the winner in that race.
        ok = ok && add_racer(s, race, &best[0], e);
        for (int i = 0; *due && ok && i < unraced.count && is_rival(fresh, i); i++)
            ok = add_racer(s, race, &fresh[i], e);
        for (int i = 1; *due && ok && i < ranked.count && race->count < RACERS; i++)
            if (best[i].raced)
                ok = add_racer(s, race, &best[i], e);
    } else {
        for (int i = 0; ok && i < ranked.count && is_rival(best, i); i++)
            ok = add_racer(s, race, &best[i], e);
    }
    arena_finish(&a);
    return ok;
}

// Returns where a baseline is among the racers, their number where it is not. A baseline that is
// another configuration on some shape is none of the trials.
static int find_racer(const struct session *s, const struct race *race, int baseline)
{
    int at = 0;
    if (session_shapes_vary(s->backend.shapes, baseline))
        return race->count;
    while (at < race->count &&
           !config_equal(&race->config[at], &s->space->baseline[baseline].config))
        at++;
    return at;
}

// Adds the baselines that the search has asked for, as the trials that they are. So the fastest of
// a race can always be its winner, and the best is never slower than a baseline.
static bool add_baseline_trials(struct session *s, struct race *race, struct err *e)
{
    struct arena a;
    struct trial_record t;
    bool ok = true;
    arena_init(&a);
    for (int i = 0; ok && i < s->space->baseline_count; i++) {
        struct str key = {0};
        if (s->baselines.of[i].outcome != OUTCOME_OK || session_shapes_vary(s->backend.shapes, i) ||
            find_racer(s, race, i) < race->count)
            continue;
        config_add_key(s->space, &s->space->baseline[i].config, &key);
        ok = store_find_trial(s->store.db, s->record.id, str_text(&key), &a, &t, e) &&
             (!t.ask || t.outcome != OUTCOME_OK || add_racer(s, race, &t, e));
        str_finish(&key);
    }
    arena_finish(&a);
    return session_stored(&s->store, ok, e);
}

static bool submit(struct session *s, const struct race *race, struct err *e)
{
    // Accesses of the best trial are checked, also where a baseline is faster.
    bool others = race->count > race->trials;
    double round_s = 0;
    struct trial_request request = {.ticket = TICKET_RACE,
                                    .race = true,
                                    .known_good = true,
                                    .accesses = others ? ACCESSES_OF_ALL : ACCESSES_OF_BEST};
    for (; request.count < race->count; request.count++) {
        round_s += race->seconds[request.count];
        request.config[request.count] = race->config[request.count];
    }
    if (!backend_submit(&s->backend, &request, e))
        return false;
    if (round_s > ROUND_WORTH_SHOWING_S)
        session_message(
            &s->log, "info",
            "final race: the best %d%s are verified and timed again in turns, some %.0f s",
            race->trials, others ? " and the baselines" : "", LEAST_ROUNDS * round_s);
    return true;
}

static void set_winner(struct session *s, const struct race *race)
{
    struct session_record *r = &s->record;
    s->cycle.best = (struct cycle_best){.ask = 0};
    if (race->count)
        s->cycle.best = (struct cycle_best){race->ask[0], race->seconds[0], race->config[0]};
    r->best_ask = s->cycle.best.ask;
    r->best_seconds = s->cycle.best.seconds;
    r->best_raced = s->races.decided = race->decided;
}

bool race_submit(struct session *s, bool *started, struct err *e)
{
    bool due = false;
    *started = false;
    if (s->backend.source->kind->deterministic)
        return true;
    struct race *race = mem_zero(1, sizeof *race);
    bool ok = choose_racers(s, race, &due, e);
    if (ok && due && s->races.run++ < MOST_RACES) {
        // All baselines that run take part, however slow: results are ratios to them, and only
        // times of one race are compared. A baseline that is a trial too is timed once.
        struct session_shapes *shapes = s->backend.shapes;
        ok = add_baseline_trials(s, race, e);
        for (int i = 0; shapes && i < TRIAL_MAX_RACERS; i++)
            shapes->race_baseline[i] = -1;
        for (int i = 0; ok && i < s->space->baseline_count; i++) {
            const struct baseline_record *b = &s->baselines.of[i];
            int at = find_racer(s, race, i);
            race->baseline_at[i] = b->outcome == OUTCOME_OK ? at : -1;
            if (b->outcome != OUTCOME_OK || at < race->count)
                continue;
            if (session_shapes_vary(shapes, i))
                shapes->race_baseline[at] = i;
            race->config[at] = s->space->baseline[i].config;
            race->seconds[at] = b->seconds;
            race->count++;
        }
        ok = *started = ok && submit(s, race, e);
    }
    if (*started) {
        s->races.open = race;
        return true;
    }
    if (ok)
        set_winner(s, race);
    free(race);
    return ok;
}

bool race_finish(struct session *s, struct trial_result *r, struct err *e)
{
    struct race *race = s->races.open;
    struct store *db = s->store.db;
    struct retime retime[MOST_RACERS];
    s->backend.in_flight--;
    session_shapes_rate_race(s, race->baseline_at, r);
    for (int i = 0; i < race->trials; i++)
        retime_init(&retime[i], race->ask[i], "race", r, i);
    // In one transaction: else the racers of a race that was cut short would rank by the race, and
    // the others by their first times.
    bool ok = store_begin(db, e) && store_begin_race(db, s->record.id, e);
    for (int i = 0; ok && i < race->trials; i++) {
        kill_point("retime");
        ok = store_put_retime(db, s->record.id, &retime[i].record, e);
    }
    for (int i = 0; ok && i < s->space->baseline_count; i++)
        ok = race->baseline_at[i] < 0 || baseline_retime(s, i, r, race->baseline_at[i], e);
    ok = session_stored(&s->store, ok && store_commit(db, e), e);
    for (int i = 0; ok && i < race->trials; i++) {
        session_emit(s, EVENT_RETIME, NULL, &retime[i].record);
        if (r->outcome[i] != OUTCOME_OK)
            session_message(&s->log, "warning", "ask %lld fell out of the final race: %s (%s)",
                            (long long)race->ask[i], outcome_name(r->outcome[i]), r->reason[i]);
    }
    for (int i = 0; i < race->trials; i++)
        retime_finish(&retime[i]);
    if (!ok)
        return false;
    free(race);
    s->races.open = NULL;
    s->phase = SESSION_RUNNING;
    return true;
}
