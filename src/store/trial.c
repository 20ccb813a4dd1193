#include "store/db.h"

#include "base/str.h"

// clang-format off
#define TRIAL_FIELDS(F) \
    F(ask) F(number) F(told) F(asked_after) F(generation) F(key) F(config) F(outcome) F(phase) F(reason) \
    F(seconds) F(samples) F(early_stopped) F(compile_s) F(pipeline_s) F(device_s) F(worker) \
    F(elapsed_s) F(finished)
#define RETIME_FIELDS(F) F(ask) F(kind) F(seconds) F(samples) F(verified) F(at)
// clang-format on
#define AS_TRIAL_FIELD(name)  FIELD(trial_record, name),
#define AS_RETIME_FIELD(name) FIELD(retime_record, name),
#define AS_TRIAL_UPDATE(name) ", " #name " = excluded." #name

static const struct field trial_fields[] = {TRIAL_FIELDS(AS_TRIAL_FIELD)};
static const struct field retime_fields[] = {RETIME_FIELDS(AS_RETIME_FIELD)};
enum {
    TRIAL_FIELD_COUNT = sizeof trial_fields / sizeof *trial_fields,
    RETIME_FIELD_COUNT = sizeof retime_fields / sizeof *retime_fields,
};

// What a trial adds to the sums of its session.
struct sums {
    int trials, rejected, ok;
    bool exists; // it is stored
};

static struct sums sums_of(const char *outcome, int64_t number)
{
    return (struct sums){
        .trials = outcome && number > 0,
        .rejected = str_equal(outcome, "rejected"),
        .ok = str_equal(outcome, "ok"),
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
    if (query_next(&q))
        *old = sums_of(query_text(&q, 0, NULL), query_int(&q, 1));
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
    query_bind_fields(&q, trial_fields, TRIAL_FIELD_COUNT, t);
    return query_run(&q);
}

// Lets the latest race of a trial, if there is one, decide its rank: who fails there has none.
static bool rank_by_race(struct store *s, int64_t session, int64_t ask, struct err *e)
{
    static const char sql[] = "UPDATE trial SET rank_seconds = CASE WHEN verified THEN race END"
                              " FROM (SELECT seconds AS race, verified FROM retime"
                              "  WHERE session = :session AND ask = :ask AND kind = 'race'"
                              "  ORDER BY id DESC LIMIT 1)"
                              " WHERE session = :session AND ask = :ask AND outcome = 'ok'";
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    query_bind_int(&q, ask);
    return query_run(&q);
}

bool store_put_trial(struct store *s, int64_t session, const struct trial_record *t, struct err *e)
{
    struct scope scope;
    struct sums old;
    if (!scope_enter(s, &scope, e))
        return false;
    bool ok = old_sums(s, session, t->ask, &old, e) &&
              add_sums(s, session, sums_of(t->outcome, t->number), old, e) &&
              put_row(s, session, t, e) && (!old.exists || rank_by_race(s, session, t->ask, e));
    return scope_leave(s, &scope, ok, e);
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
    query_bind_fields(&q, retime_fields, RETIME_FIELD_COUNT, r);
    return query_run(&q);
}

bool store_put_retime(struct store *s, int64_t session, const struct retime_record *r,
                      struct err *e)
{
    struct scope scope;
    if (!scope_enter(s, &scope, e))
        return false;
    bool ok = (put_retime_row(s, session, r, e) && rank_by_race(s, session, r->ask, e)) ||
              err_prefix(e, "re-timing of trial %lld of session %lld", (long long)r->ask,
                         (long long)session);
    return scope_leave(s, &scope, ok, e);
}

bool store_each_trial(struct store *s, int64_t session, int64_t first_ask,
                      bool (*each)(void *context, const struct trial_record *t), void *context,
                      struct err *e)
{
    static const char sql[] = "SELECT session" TRIAL_FIELDS(AS_COLUMN) //
        " FROM trial WHERE session = ? AND ask >= ? ORDER BY ask";
    struct trial_record t = {0};
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    query_bind_int(&q, first_ask);
    bool more = true;
    while (more && query_next(&q)) {
        query_read_fields(&q, 1, trial_fields, TRIAL_FIELD_COUNT, NULL, &t);
        more = each(context, &t);
    }
    return query_end(&q);
}

bool store_each_retime(struct store *s, int64_t session,
                       bool (*each)(void *context, const struct retime_record *r), void *context,
                       struct err *e)
{
    static const char sql[] =
        "SELECT session" RETIME_FIELDS(AS_COLUMN) " FROM retime WHERE session = ? ORDER BY id";
    struct retime_record r = {0};
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    bool more = true;
    while (more && query_next(&q)) {
        query_read_fields(&q, 1, retime_fields, RETIME_FIELD_COUNT, NULL, &r);
        more = each(context, &r);
    }
    return query_end(&q);
}

bool store_best_trials(struct store *s, int64_t session, int most, struct arena *a,
                       struct trial_record **out, int *count, struct err *e)
{
    static const char sql[] = "SELECT rank_seconds" TRIAL_FIELDS(AS_COLUMN) //
        " FROM trial WHERE session = ? AND rank_seconds IS NOT NULL"
        " ORDER BY rank_seconds, ask LIMIT ?";
    struct trial_record *list = NULL;
    int capacity = 0;
    *count = 0;
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    query_bind_int(&q, most > 0 ? most : 0);
    while (query_next(&q)) {
        MEM_GROW(list, *count, capacity);
        struct trial_record *t = &list[(*count)++];
        query_read_fields(&q, 1, trial_fields, TRIAL_FIELD_COUNT, a, t);
        t->seconds = query_real(&q, 0);
    }
    *out = list_to_arena(list, *count, sizeof *list, a);
    return query_end(&q);
}
