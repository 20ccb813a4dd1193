#include "base/str.h"
#include "store/row.h"

#include <inttypes.h>

#define AS_TRIAL_FIELD(name, rule)  FIELD(trial_record, name, rule),
#define AS_RETIME_FIELD(name, rule) FIELD(retime_record, name, rule),
#define AS_TRIAL_UPDATE(name, rule) ", " #name " = excluded." #name

const struct field trial_fields[] = {TRIAL_FIELDS(AS_TRIAL_FIELD)};
const struct field retime_fields[] = {RETIME_FIELDS(AS_RETIME_FIELD)};

// --- writing ---

// The part of its session's sums that comes from one trial.
struct sums {
    int trials, rejected, ok;
    bool exists; // the trial is stored
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

static bool run_on_trial(struct store *s, const char *sql, int64_t session, int64_t ask,
                         struct err *e)
{
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    query_bind_int(&q, ask);
    return query_run(&q);
}

// Ranks a trial by its time in its latest race, if that race decides its rank; a trial whose result
// was wrong there has no rank.
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

// --- the best-so-far curve: ok trials that were faster than all with smaller numbers ---

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

// Updates the best-so-far curve. When a trial of the curve changes, which no search does, the curve
// is made anew from all trials.
static bool update_curve(struct store *s, int64_t session, const struct trial_record *t,
                         bool existed, struct err *e)
{
    static const char take[] = "DELETE FROM best_step WHERE session = :session AND ask = :ask";
    static const char clear[] = "DELETE FROM best_step WHERE session = ?";
    static const char draw[] =
        "INSERT INTO best_step(session, number, ask, seconds, elapsed_s, finished)"
        " SELECT session, number, ask, seconds, elapsed_s, finished FROM"
        " (SELECT session, number, ask, seconds, elapsed_s, finished, min(seconds) OVER"
        "  (ORDER BY number ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before"
        "  FROM trial WHERE session = ? AND number > 0 AND outcome = 'ok')"
        " WHERE before IS NULL OR seconds < before";
    if (existed && !run_on_trial(s, take, session, t->ask, e))
        return false;
    if (!existed || sqlite3_changes(s->db) == 0)
        return add_to_curve(s, session, t, e);
    struct query q = query_start(s, clear, e);
    query_bind_int(&q, session);
    if (!query_run(&q))
        return false;
    q = query_start(s, draw, e);
    query_bind_int(&q, session);
    return query_run(&q);
}

// --- trials and races ---

// Adds the change of one trial to the sums of its session.
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
    return query_change_session(&q, session, e);
}

bool store_put_trial(struct store *s, int64_t session, const struct trial_record *t, struct err *e)
{
    // clang-format off
    static const char untally[] =
        "UPDATE tally SET count = count - 1, early = early - (t.outcome = 'ok' AND t.early_stopped)"
        " FROM trial AS t WHERE t.session = :session AND t.ask = :ask"
        " AND tally.session = t.session AND tally.outcome = t.outcome";
    static const char put[] =
        "INSERT INTO trial(session" TRIAL_FIELDS(AS_COLUMN) ", rank_seconds)"
        " VALUES (:session" TRIAL_FIELDS(AS_VALUE) ", CASE :outcome WHEN 'ok' THEN :seconds END)"
        " ON CONFLICT DO UPDATE SET"
        "  rank_seconds = excluded.rank_seconds" TRIAL_FIELDS(AS_TRIAL_UPDATE);
    static const char tally[] =
        "INSERT INTO tally(session, outcome, count, early)"
        " SELECT session, outcome, 1, outcome = 'ok' AND early_stopped FROM trial"
        " WHERE session = :session AND ask = :ask AND outcome IS NOT NULL"
        " ON CONFLICT DO UPDATE SET count = count + 1, early = early + excluded.early";
    // clang-format on
    struct scope scope;
    struct sums old = {0}; // zero unless the trial is stored already
    if (!scope_enter(s, &scope, e))
        return false;
    struct query q =
        query_start(s, "SELECT outcome, number FROM trial WHERE session = ? AND ask = ?", e);
    query_bind_int(&q, session);
    query_bind_int(&q, t->ask);
    if (query_next(&q)) {
        enum outcome outcome = OUTCOME_OPEN;
        outcome_parse(query_text(&q, 0, NULL), &outcome);
        old = sums_of(outcome, query_int(&q, 1));
    }
    bool ok = query_end(&q) && add_sums(s, session, sums_of(t->outcome, t->number), old, e) &&
              (!old.exists || run_on_trial(s, untally, session, t->ask, e)) &&
              query_put_record(s, put, session, FIELDS(trial_fields), t, e) &&
              run_on_trial(s, tally, session, t->ask, e) &&
              update_curve(s, session, t, old.exists, e) &&
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

bool store_put_retime(struct store *s, int64_t session, const struct retime_record *r,
                      struct err *e)
{
    // clang-format off
    static const char put[] =
        "INSERT INTO retime(session" RETIME_FIELDS(AS_COLUMN) ")"
        " VALUES (:session" RETIME_FIELDS(AS_VALUE) ")";
    // clang-format on
    static const char join_race[] =
        "UPDATE trial SET unraced = 0 WHERE session = :session AND ask = :ask AND outcome = 'ok'";
    struct scope scope;
    if (!scope_enter(s, &scope, e))
        return false;
    bool ok = query_put_record(s, put, session, FIELDS(retime_fields), r, e) &&
              (!str_equal(r->kind, "race") || (run_on_trial(s, join_race, session, r->ask, e) &&
                                               rank_by_race(s, session, r->ask, e)));
    if (!ok)
        err_prefix(e, "re-timing of trial %lld of session %lld", (long long)r->ask,
                   (long long)session);
    return scope_leave(s, &scope, ok, e);
}

// --- reading ---

// SELECT_RANKED has the ranking time, by the index trial_rank, in front of the trial's own.
// clang-format off
#define SELECT_TRIALS  "SELECT session" TRIAL_FIELDS(AS_COLUMN) " FROM trial WHERE session = ? "
#define RANKED         " FROM trial WHERE session = :session AND rank_seconds IS NOT NULL "
#define SELECT_RANKED \
    "SELECT rank_seconds" TRIAL_FIELDS(AS_COLUMN) ", unraced" RANKED
#define BY_RANK        " ORDER BY unraced, rank_seconds, ask "
// Joins the latest race of each trial, where that decides its rank.
#define SELECT_RACES \
    "SELECT id" RETIME_FIELDS(AS_COLUMN) " FROM retime WHERE session = :session " \
    "AND kind = 'race' AND id = (SELECT max(id) FROM retime AS later" \
    "  WHERE later.session = retime.session AND later.ask = retime.ask AND later.kind = 'race')" \
    " AND (NOT verified OR EXISTS (SELECT 1 FROM trial WHERE trial.session = retime.session" \
    "  AND trial.ask = retime.ask AND NOT unraced)) "

#define STEP_FIELDS(F) \
    F(ask, ORDINAL) F(number, ORDINAL) F(seconds, DURATION) F(elapsed_s, SPAN) F(finished, SPAN)
#define TALLY_FIELDS(F) F(outcome, TEXT) F(count, COUNT) F(early, COUNT)
// clang-format on
#define AS_STEP_FIELD(name, rule)  FIELD(best_step, name, rule),
#define AS_TALLY_FIELD(name, rule) FIELD(tally, name, rule),

struct tally {
    enum outcome outcome;
    int64_t count, early;
};

// A query that reads trials of a session. Its first column is the session, or the ranking time when
// it is ranked.
struct reading {
    int64_t session;
    bool ranked;
};

static bool read_columns(const struct query *q, const struct reading *r, struct arena *a,
                         struct trial_record *t, struct err *why)
{
    static const struct field rank[] = {
        {"rank_seconds", offsetof(struct trial_record, seconds), FIELD_REAL, RULE_DURATION}};
    *t = (struct trial_record){0};
    if (!query_read_fields(q, 1, FIELDS(trial_fields), a, t, why) ||
        (r->ranked && !query_read_fields(q, 0, FIELDS(rank), a, t, why)))
        return false;
    t->raced = r->ranked && !query_int(q, 1 + TRIAL_FIELD_COUNT);
    return t->outcome != OUTCOME_OK || t->seconds > 0 ||
           err_set(why, "its outcome is ok, and took no time");
}

// Reads the row of a query; a damaged row ends the query.
static bool read_trial(struct query *q, const struct reading *r, struct arena *a,
                       struct trial_record *t)
{
    struct err why;
    if (read_columns(q, r, a, t, &why))
        return true;
    err_prefix(&why, "its trial at ask %" PRId64, t->ask);
    query_refuse(q, r->session, "", &why);
    return false;
}

bool trials_each_damaged(struct store *s,
                         void (*each)(void *context, int64_t session, const struct err *why),
                         void *context, struct err *e)
{
    static const char sql[] = "SELECT session" TRIAL_FIELDS(AS_COLUMN) //
        " FROM trial WHERE " TRIAL_IS_DAMAGED " GROUP BY session";
    struct query q = query_start(s, sql, e);
    while (query_next(&q)) {
        struct trial_record t;
        struct err why;
        if (!read_columns(&q, &(struct reading){0}, NULL, &t, &why)) {
            err_prefix(&why, "its trial at ask %" PRId64, t.ask);
            each(context, query_int(&q, 0), &why);
        }
    }
    return query_end(&q);
}

// Reads the rows of a query, and ends it.
static bool each_row(struct query *q, const struct reading *r,
                     bool (*each)(void *context, const struct trial_record *t), void *context)
{
    struct trial_record t;
    bool more = true;
    while (more && query_next(q))
        more = read_trial(q, r, NULL, &t) && each(context, &t);
    return query_end(q);
}

bool store_each_trial(struct store *s, int64_t session, int64_t first_ask,
                      bool (*each)(void *context, const struct trial_record *t), void *context,
                      struct err *e)
{
    struct query q = query_start(s, SELECT_TRIALS "AND ask >= ? ORDER BY ask", e);
    query_bind_int(&q, session);
    query_bind_int(&q, first_ask);
    return each_row(&q, &(struct reading){.session = session}, each, context);
}

bool store_each_numbered(struct store *s, int64_t session, int64_t first_number,
                         bool (*each)(void *context, const struct trial_record *t), void *context,
                         struct err *e)
{
    static const char sql[] = SELECT_TRIALS "AND number >= ? AND number > 0 ORDER BY number";
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    query_bind_int(&q, first_number);
    return each_row(&q, &(struct reading){.session = session}, each, context);
}

bool store_each_faster(struct store *s, int64_t session, const struct faster *f,
                       bool (*each)(void *context, const struct trial_record *t), void *context,
                       struct err *e)
{
    static const char sql[] = SELECT_TRIALS
        "AND number BETWEEN ? AND ? AND number > 0 AND seconds > 0 AND seconds < ? ORDER BY number";
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    query_bind_int(&q, f->first);
    query_bind_int(&q, f->last);
    query_bind_real(&q, f->seconds);
    return each_row(&q, &(struct reading){.session = session}, each, context);
}

// The end of the skipped trials is found in the index alone.
bool store_each_ranked(struct store *s, int64_t session, int64_t skip,
                       bool (*each)(void *context, const struct trial_record *t), void *context,
                       struct err *e)
{
    static const char sql[] = SELECT_RANKED //
        "AND (unraced, rank_seconds, ask) >= (SELECT unraced, rank_seconds, ask" RANKED BY_RANK
        "LIMIT 1 OFFSET :skip)" BY_RANK;
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    query_bind_int(&q, skip);
    return each_row(&q, &(struct reading){session, true}, each, context);
}

// Reads the first row of a query, and ends it.
static bool one_row(struct query *q, int64_t session, struct arena *a, struct trial_record *out)
{
    *out = (struct trial_record){.ask = 0};
    if (query_next(q))
        read_trial(q, &(struct reading){.session = session}, a, out);
    return query_end(q);
}

bool store_get_trial(struct store *s, int64_t session, int64_t ask, struct arena *a,
                     struct trial_record *out, struct err *e)
{
    struct query q = query_start(s, SELECT_TRIALS "AND ask = ?", e);
    query_bind_int(&q, session);
    query_bind_int(&q, ask);
    return one_row(&q, session, a, out);
}

// No search proposes a configuration twice. The index is named because SQLite would otherwise scan
// all trials of the session.
bool store_find_trial(struct store *s, int64_t session, const char *key, struct arena *a,
                      struct trial_record *out, struct err *e)
{
    static const char sql[] = "SELECT session" TRIAL_FIELDS(AS_COLUMN) //
        " FROM trial INDEXED BY trial_key WHERE session = ? AND key = ?";
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    query_bind_text(&q, key);
    return one_row(&q, session, a, out);
}

bool store_each_best(struct store *s, int64_t session, int64_t after_number,
                     bool (*each)(void *context, const struct best_step *step), void *context,
                     struct err *e)
{
    static const char sql[] = "SELECT session" STEP_FIELDS(AS_COLUMN) //
        " FROM best_step WHERE session = ? AND number > ? ORDER BY number";
    static const struct field fields[] = {STEP_FIELDS(AS_STEP_FIELD)};
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    query_bind_int(&q, after_number);
    struct best_step step;
    while (query_next_record(&q, session, FIELDS(fields), "its curve", NULL, &step) &&
           each(context, &step))
        continue;
    return query_end(&q);
}

bool store_get_tally(struct store *s, int64_t session, int64_t count[OUTCOME_COUNT], int64_t *early,
                     struct err *e)
{
    static const char sql[] =
        "SELECT session" TALLY_FIELDS(AS_COLUMN) " FROM tally WHERE session = ?";
    static const struct field fields[] = {TALLY_FIELDS(AS_TALLY_FIELD)};
    int64_t all_early = 0;
    for (int i = 0; i < OUTCOME_COUNT; i++)
        count[i] = 0;
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    struct tally t;
    while (query_next_record(&q, session, FIELDS(fields), "its tally", NULL, &t)) {
        if (t.outcome != OUTCOME_OPEN)
            count[t.outcome] = t.count;
        all_early = t.early > INT64_MAX - all_early ? INT64_MAX : all_early + t.early;
    }
    if (early)
        *early = all_early;
    return query_end(&q);
}

bool store_get_steadiness(struct store *s, int64_t session, struct steadiness *out, struct err *e)
{
    static const char sql[] =
        "SELECT count(clocks), sum(clocks LIKE '%\"throttle\\_%' ESCAPE '\\'), sum(drift > 0)"
        " FROM trial WHERE session = ? AND outcome = 'ok'";
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    *out = (struct steadiness){0};
    if (query_next(&q))
        *out = (struct steadiness){query_int(&q, 0), query_int(&q, 1), query_int(&q, 2)};
    return query_end(&q);
}

static bool read_retime(struct query *q, int64_t session, struct arena *a, struct retime_record *r)
{
    struct err why;
    *r = (struct retime_record){.id = query_int(q, 0)};
    if (query_read_fields(q, 1, FIELDS(retime_fields), a, r, &why))
        return true;
    query_refuse(q, session, "one of its re-timings", &why);
    return false;
}

bool store_get_race(struct store *s, int64_t session, int64_t ask, struct arena *a,
                    struct retime_record *out, struct err *e)
{
    struct query q = query_start(s, SELECT_RACES "AND ask = :ask", e);
    query_bind_int(&q, session);
    query_bind_int(&q, ask);
    *out = (struct retime_record){.ask = 0};
    if (query_next(&q))
        read_retime(&q, session, a, out);
    return query_end(&q);
}

bool store_each_race(struct store *s, int64_t session,
                     bool (*each)(void *context, const struct retime_record *r), void *context,
                     struct err *e)
{
    struct query q = query_start(s, SELECT_RACES "ORDER BY id", e);
    struct retime_record r;
    bool more = true;
    query_bind_int(&q, session);
    while (more && query_next(&q))
        more = read_retime(&q, session, NULL, &r) && each(context, &r);
    return query_end(&q);
}

bool store_newest_retime(struct store *s, int64_t *number, struct err *e)
{
    struct query q = query_start(s, "SELECT max(id) FROM retime", e);
    *number = query_next(&q) ? query_int(&q, 0) : 0;
    return query_end(&q);
}

// Reads the first `most` rows of a query of ranked trials, and ends it.
static bool list_ranked(struct query *q, int64_t session, int most, struct arena *a,
                        struct ranked_trials *out)
{
    struct trial_record *list = NULL;
    int capacity = 0;
    out->count = 0;
    while (out->count < most && query_next(q)) {
        MEM_GROW(list, out->count, capacity);
        read_trial(q, &(struct reading){session, true}, a, &list[out->count++]);
    }
    out->trial = list_to_arena(list, out->count, sizeof *list, a);
    return query_end(q);
}

bool store_best_trials(struct store *s, int64_t session, int most, struct arena *a,
                       struct ranked_trials *out, struct err *e)
{
    struct query q = query_start(s, SELECT_RANKED BY_RANK, e);
    query_bind_int(&q, session);
    return list_ranked(&q, session, most, a, out);
}

bool store_best_unraced(struct store *s, int64_t session, int most, struct arena *a,
                        struct ranked_trials *out, struct err *e)
{
    static const char sql[] =
        SELECT_RANKED "AND unraced = 1 AND NOT EXISTS (SELECT 1 FROM retime AS r"
                      " WHERE r.session = :session AND r.ask = trial.ask AND r.kind = 'race')"
                      " ORDER BY rank_seconds, ask";
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    return list_ranked(&q, session, most, a, out);
}
