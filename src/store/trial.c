#include "store/trial_row.h"

// The ranking time, by the index trial_rank, takes the place of a trial's own.
// clang-format off
#define SELECT_TRIALS  "SELECT session" TRIAL_FIELDS(AS_COLUMN) " FROM trial WHERE session = ? "
#define SELECT_RETIMES "SELECT session" RETIME_FIELDS(AS_COLUMN) " FROM retime WHERE session = ? "
#define RANKED         " FROM trial WHERE session = :session AND rank_seconds IS NOT NULL "
#define SELECT_RANKED  "SELECT rank_seconds" TRIAL_FIELDS(AS_COLUMN) RANKED
#define BY_RANK        " ORDER BY rank_seconds, ask "
// clang-format on

static void read_trial(const struct query *q, struct arena *a, struct trial_record *t)
{
    *t = (struct trial_record){0};
    query_read_fields(q, 1, trial_fields, TRIAL_FIELD_COUNT, a, t);
}

static void read_ranked(const struct query *q, struct arena *a, struct trial_record *t)
{
    read_trial(q, a, t);
    t->seconds = query_real(q, 0);
}

// Reads the rows of a query by `read`, and ends it.
static bool each_row(struct query *q,
                     void (*read)(const struct query *q, struct arena *a, struct trial_record *t),
                     bool (*each)(void *context, const struct trial_record *t), void *context)
{
    struct trial_record t;
    bool more = true;
    while (more && query_next(q)) {
        read(q, NULL, &t);
        more = each(context, &t);
    }
    return query_end(q);
}

bool store_each_trial(struct store *s, int64_t session, int64_t first_ask,
                      bool (*each)(void *context, const struct trial_record *t), void *context,
                      struct err *e)
{
    struct query q = query_start(s, SELECT_TRIALS "AND ask >= ? ORDER BY ask", e);
    query_bind_int(&q, session);
    query_bind_int(&q, first_ask);
    return each_row(&q, read_trial, each, context);
}

bool store_each_numbered(struct store *s, int64_t session, int64_t first_number,
                         bool (*each)(void *context, const struct trial_record *t), void *context,
                         struct err *e)
{
    static const char sql[] = SELECT_TRIALS "AND number >= ? AND number > 0 ORDER BY number";
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    query_bind_int(&q, first_number);
    return each_row(&q, read_trial, each, context);
}

// Where the skipped ones end is found in the index alone.
bool store_each_ranked(struct store *s, int64_t session, int64_t skip,
                       bool (*each)(void *context, const struct trial_record *t), void *context,
                       struct err *e)
{
    static const char sql[] = SELECT_RANKED //
        "AND (rank_seconds, ask) >= (SELECT rank_seconds, ask" RANKED BY_RANK
        "LIMIT 1 OFFSET :skip)" BY_RANK;
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    query_bind_int(&q, skip);
    return each_row(&q, read_ranked, each, context);
}

// The first row of a query, which ends.
static bool one_row(struct query *q, struct arena *a, struct trial_record *out, bool *found)
{
    *found = query_next(q);
    if (*found)
        read_trial(q, a, out);
    return query_end(q);
}

bool store_get_trial(struct store *s, int64_t session, int64_t ask, struct arena *a,
                     struct trial_record *out, bool *found, struct err *e)
{
    struct query q = query_start(s, SELECT_TRIALS "AND ask = ?", e);
    query_bind_int(&q, session);
    query_bind_int(&q, ask);
    return one_row(&q, a, out, found);
}

// No search asks for a configuration twice. Left to itself, SQLite takes all trials of the session
// for few.
bool store_find_trial(struct store *s, int64_t session, const char *key, struct arena *a,
                      struct trial_record *out, bool *found, struct err *e)
{
    static const char sql[] = "SELECT session" TRIAL_FIELDS(AS_COLUMN) //
        " FROM trial INDEXED BY trial_key WHERE session = ? AND key = ?";
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    query_bind_text(&q, key);
    return one_row(&q, a, out, found);
}

bool store_each_best(struct store *s, int64_t session, int64_t after_number,
                     bool (*each)(void *context, const struct best_step *step), void *context,
                     struct err *e)
{
    static const char sql[] = "SELECT ask, number, seconds, elapsed_s, finished FROM best_step"
                              " WHERE session = ? AND number > ? ORDER BY number";
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    query_bind_int(&q, after_number);
    bool more = true;
    while (more && query_next(&q)) {
        struct best_step step = {
            .ask = query_int(&q, 0),
            .number = query_int(&q, 1),
            .seconds = query_real(&q, 2),
            .elapsed_s = query_real(&q, 3),
            .finished = query_real(&q, 4),
        };
        more = each(context, &step);
    }
    return query_end(&q);
}

bool store_get_tally(struct store *s, int64_t session, int64_t count[OUTCOME_COUNT], int64_t *early,
                     struct err *e)
{
    static const char sql[] = "SELECT outcome, count, early FROM tally WHERE session = ?";
    int64_t all_early = 0;
    for (int i = 0; i < OUTCOME_COUNT; i++)
        count[i] = 0;
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    while (query_next(&q)) {
        enum outcome o;
        if (outcome_parse(query_text(&q, 0, NULL), &o))
            count[o] = query_int(&q, 1);
        all_early += query_int(&q, 2);
    }
    if (early)
        *early = all_early;
    return query_end(&q);
}

static void read_retime(const struct query *q, struct arena *a, struct retime_record *r)
{
    *r = (struct retime_record){0};
    query_read_fields(q, 1, retime_fields, RETIME_FIELD_COUNT, a, r);
}

bool store_get_race(struct store *s, int64_t session, int64_t ask, struct arena *a,
                    struct retime_record *out, bool *found, struct err *e)
{
    static const char sql[] =
        SELECT_RETIMES "AND ask = ? AND kind = 'race' ORDER BY id DESC LIMIT 1";
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    query_bind_int(&q, ask);
    *found = query_next(&q);
    if (*found)
        read_retime(&q, a, out);
    return query_end(&q);
}

bool store_each_retime(struct store *s, int64_t session,
                       bool (*each)(void *context, const struct retime_record *r), void *context,
                       struct err *e)
{
    struct retime_record r;
    struct query q = query_start(s, SELECT_RETIMES "ORDER BY id", e);
    query_bind_int(&q, session);
    bool more = true;
    while (more && query_next(&q)) {
        read_retime(&q, NULL, &r);
        more = each(context, &r);
    }
    return query_end(&q);
}

bool store_newest_retime(struct store *s, int64_t *number, struct err *e)
{
    struct query q = query_start(s, "SELECT max(id) FROM retime", e);
    *number = query_next(&q) ? query_int(&q, 0) : 0;
    return query_end(&q);
}

bool store_best_trials(struct store *s, int64_t session, int most, struct arena *a,
                       struct trial_record **out, int *count, struct err *e)
{
    struct trial_record *list = NULL;
    int capacity = 0;
    *count = 0;
    struct query q = query_start(s, SELECT_RANKED BY_RANK "LIMIT ?", e);
    query_bind_int(&q, session);
    query_bind_int(&q, most > 0 ? most : 0);
    while (query_next(&q)) {
        MEM_GROW(list, *count, capacity);
        read_ranked(&q, a, &list[(*count)++]);
    }
    *out = list_to_arena(list, *count, sizeof *list, a);
    return query_end(&q);
}
