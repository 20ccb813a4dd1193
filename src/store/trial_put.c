#include "store/trial_row.h"

#include "base/str.h"

#define AS_TRIAL_FIELD(name, rule)  FIELD(trial_record, name, rule),
#define AS_RETIME_FIELD(name, rule) FIELD(retime_record, name, rule),
#define AS_TRIAL_UPDATE(name, rule) ", " #name " = excluded." #name

const struct field trial_fields[] = {TRIAL_FIELDS(AS_TRIAL_FIELD)};
const struct field retime_fields[] = {RETIME_FIELDS(AS_RETIME_FIELD)};

// What a trial adds to the sums of its session.
struct sums {
    int trials, rejected, ok;
    bool exists; // it is stored
};

static struct sums sums_of(enum outcome outcome, int64_t number)
{
    return (struct sums){
        .trials = outcome != OUTCOME_OPEN && number > 0,
        .rejected = outcome == OUTCOME_REJECTED,
        .ok = outcome == OUTCOME_OK,
        .exists = true,
    };
}

// Of the trial as it is stored; zero when it is not yet.
static bool old_sums(struct store *s, int64_t session, int64_t ask, struct sums *old, struct err *e)
{
    struct query q =
        query_start(s, "SELECT outcome, number FROM trial WHERE session = ? AND ask = ?", e);
    query_bind_int(&q, session);
    query_bind_int(&q, ask);
    *old = (struct sums){0};
    if (query_next(&q)) {
        enum outcome outcome = OUTCOME_OPEN;
        outcome_parse(query_text(&q, 0, NULL), &outcome);
        *old = sums_of(outcome, query_int(&q, 1));
    }
    return query_end(&q);
}

static bool add_sums(struct store *s, int64_t session, struct sums now, struct sums old,
                     struct err *e)
{
    static const char sql[] =
        "UPDATE session SET trials = trials + ?, rejected = rejected + ?, ok = ok + ? WHERE id = ?";
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, now.trials - old.trials);
    query_bind_int(&q, now.rejected - old.rejected);
    query_bind_int(&q, now.ok - old.ok);
    query_bind_int(&q, session);
    return query_run(&q) && (sqlite3_changes(s->db) == 1 || session_missing(s, session, e));
}

static bool put_row(struct store *s, int64_t session, const struct trial_record *t, struct err *e)
{
    // clang-format off
    static const char sql[] =
        "INSERT INTO trial(session" TRIAL_FIELDS(AS_COLUMN) ", rank_seconds)"
        " VALUES (:session" TRIAL_FIELDS(AS_VALUE) ", CASE :outcome WHEN 'ok' THEN :seconds END)"
        " ON CONFLICT DO UPDATE SET"
        "  rank_seconds = excluded.rank_seconds" TRIAL_FIELDS(AS_TRIAL_UPDATE);
    // clang-format on
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    query_bind_fields(&q, FIELDS(trial_fields), t);
    return query_run(&q);
}

static bool run_on_trial(struct store *s, const char *sql, int64_t session, int64_t ask,
                         struct err *e)
{
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    query_bind_int(&q, ask);
    return query_run(&q);
}

// Where a race decides the rank of a trial, ranks it by its time in its latest race; a trial whose
// result was wrong there has no rank.
static bool rank_by_race(struct store *s, int64_t session, int64_t ask, struct err *e)
{
    static const char sql[] = "UPDATE trial SET rank_seconds = CASE WHEN verified THEN race END"
                              " FROM (SELECT seconds AS race, verified FROM retime"
                              "  WHERE session = :session AND ask = :ask AND kind = 'race'"
                              "  ORDER BY id DESC LIMIT 1)"
                              " WHERE session = :session AND ask = :ask AND outcome = 'ok'"
                              " AND (NOT unraced OR NOT verified)";
    return run_on_trial(s, sql, session, ask, e);
}

// Takes the trial, as it is stored now, out of the tally.
static bool untally(struct store *s, int64_t session, int64_t ask, struct err *e)
{
    static const char sql[] =
        "UPDATE tally SET count = count - 1, early = early - (t.outcome = 'ok' AND t.early_stopped)"
        " FROM trial AS t WHERE t.session = :session AND t.ask = :ask"
        " AND tally.session = t.session AND tally.outcome = t.outcome";
    return run_on_trial(s, sql, session, ask, e);
}

static bool tally(struct store *s, int64_t session, int64_t ask, struct err *e)
{
    static const char sql[] =
        "INSERT INTO tally(session, outcome, count, early)"
        " SELECT session, outcome, 1, outcome = 'ok' AND early_stopped FROM trial"
        " WHERE session = :session AND ask = :ask AND outcome IS NOT NULL"
        " ON CONFLICT DO UPDATE SET count = count + 1, early = early + excluded.early";
    return run_on_trial(s, sql, session, ask, e);
}

// --- the best-so-far curve: ok trials that took less than all of a smaller number ---

static bool take_from_curve(struct store *s, int64_t session, int64_t ask, bool *was_step,
                            struct err *e)
{
    static const char sql[] = "DELETE FROM best_step WHERE session = :session AND ask = :ask";
    bool ok = run_on_trial(s, sql, session, ask, e);
    *was_step = ok && sqlite3_changes(s->db) > 0;
    return ok;
}

static bool add_to_curve(struct store *s, int64_t session, const struct trial_record *t,
                         struct err *e)
{
    static const char add[] =
        "INSERT OR REPLACE INTO best_step(session, number, ask, seconds, elapsed_s, finished)"
        " SELECT session, number, ask, seconds, elapsed_s, finished FROM trial AS t"
        " WHERE session = :session AND ask = :ask AND outcome = 'ok' AND number > 0 AND NOT EXISTS"
        " (SELECT 1 FROM best_step AS b WHERE b.session = t.session AND b.number < t.number"
        "  AND b.seconds <= t.seconds)";
    static const char drop_beaten[] =
        "DELETE FROM best_step WHERE session = ? AND number > ? AND seconds >= ?";
    if (!run_on_trial(s, add, session, t->ask, e))
        return false;
    if (sqlite3_changes(s->db) == 0)
        return true;
    struct query q = query_start(s, drop_beaten, e);
    query_bind_int(&q, session);
    query_bind_int(&q, t->number);
    query_bind_real(&q, t->seconds);
    return query_run(&q);
}

// From all trials of the session.
static bool draw_curve(struct store *s, int64_t session, struct err *e)
{
    static const char clear[] = "DELETE FROM best_step WHERE session = ?";
    static const char draw[] =
        "INSERT INTO best_step(session, number, ask, seconds, elapsed_s, finished)"
        " SELECT session, number, ask, seconds, elapsed_s, finished FROM"
        " (SELECT session, number, ask, seconds, elapsed_s, finished, min(seconds) OVER"
        "  (ORDER BY number ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before"
        "  FROM trial WHERE session = ? AND number > 0 AND outcome = 'ok')"
        " WHERE before IS NULL OR seconds < before";
    struct query q = query_start(s, clear, e);
    query_bind_int(&q, session);
    if (!query_run(&q))
        return false;
    q = query_start(s, draw, e);
    query_bind_int(&q, session);
    return query_run(&q);
}

// Once a trial that was on the curve changes, which no search does, any other may be there instead.
static bool keep_curve(struct store *s, int64_t session, const struct trial_record *t, bool existed,
                       struct err *e)
{
    bool was_step = false;
    if (existed && !take_from_curve(s, session, t->ask, &was_step, e))
        return false;
    return was_step ? draw_curve(s, session, e) : add_to_curve(s, session, t, e);
}

bool store_put_trial(struct store *s, int64_t session, const struct trial_record *t, struct err *e)
{
    struct scope scope;
    struct sums old;
    if (!scope_enter(s, &scope, e))
        return false;
    bool ok = old_sums(s, session, t->ask, &old, e) &&
              add_sums(s, session, sums_of(t->outcome, t->number), old, e) &&
              (!old.exists || untally(s, session, t->ask, e)) && put_row(s, session, t, e) &&
              tally(s, session, t->ask, e) && keep_curve(s, session, t, old.exists, e) &&
              (!old.exists || rank_by_race(s, session, t->ask, e));
    return scope_leave(s, &scope, ok, e);
}

bool store_mark_drift(struct store *s, int64_t session, int64_t after_told, double drift,
                      struct err *e)
{
    static const char sql[] =
        "UPDATE trial SET drift = ? WHERE session = ? AND told > ? AND outcome = 'ok'";
    struct query q = query_start(s, sql, e);
    query_bind_real(&q, drift);
    query_bind_int(&q, session);
    query_bind_int(&q, after_told);
    return query_run(&q);
}

static bool put_retime_row(struct store *s, int64_t session, const struct retime_record *r,
                           struct err *e)
{
    // clang-format off
    static const char sql[] =
        "INSERT INTO retime(session" RETIME_FIELDS(AS_COLUMN) ")"
        " VALUES (:session" RETIME_FIELDS(AS_VALUE) ")";
    // clang-format on
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    query_bind_fields(&q, FIELDS(retime_fields), r);
    return query_run(&q);
}

bool store_begin_race(struct store *s, int64_t session, struct err *e)
{
    static const char sql[] =
        "UPDATE trial SET unraced = 1,"
        " rank_seconds = CASE WHEN rank_seconds IS NOT NULL THEN seconds END"
        " WHERE session = :session AND NOT unraced"
        " AND ask IN (SELECT ask FROM retime WHERE session = :session AND kind = 'race')";
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    return query_run(&q);
}

static bool join_race(struct store *s, int64_t session, const struct retime_record *r,
                      struct err *e)
{
    static const char sql[] =
        "UPDATE trial SET unraced = 0 WHERE session = :session AND ask = :ask AND outcome = 'ok'";
    return !str_equal(r->kind, "race") ||
           (run_on_trial(s, sql, session, r->ask, e) && rank_by_race(s, session, r->ask, e));
}

bool store_put_retime(struct store *s, int64_t session, const struct retime_record *r,
                      struct err *e)
{
    struct scope scope;
    if (!scope_enter(s, &scope, e))
        return false;
    bool ok = (put_retime_row(s, session, r, e) && join_race(s, session, r, e)) ||
              err_prefix(e, "re-timing of trial %lld of session %lld", (long long)r->ask,
                         (long long)session);
    return scope_leave(s, &scope, ok, e);
}
