#include "store/row.h"

// clang-format off
#define REFIT_FIELDS(F) \
    F(number, ORDINAL) F(told, COUNT) F(rows, COUNT) F(correlation, MAYBE_REAL) \
    F(recall, MAYBE_REAL) F(k, COUNT) F(batch, COUNT) F(seconds, SPAN) F(bytes, AMOUNT) \
    F(elapsed_s, SPAN) F(at, SPAN)
// clang-format on
#define AS_REFIT_FIELD(name, rule) FIELD(refit_record, name, rule),

static const struct field fields[] = {REFIT_FIELDS(AS_REFIT_FIELD)};

bool store_put_refit(struct store *s, int64_t session, const struct refit_record *r, struct err *e)
{
    static const char sql[] = "INSERT INTO refit(session" REFIT_FIELDS(AS_COLUMN) //
        ") VALUES (:session" REFIT_FIELDS(AS_VALUE) ")";
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    query_bind_fields(&q, FIELDS(fields), r);
    return query_run(&q);
}

bool store_each_refit(struct store *s, int64_t session,
                      bool (*each)(void *context, const struct refit_record *r), void *context,
                      struct err *e)
{
    static const char sql[] = "SELECT session" REFIT_FIELDS(AS_COLUMN) //
        " FROM refit WHERE session = ? ORDER BY number";
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    bool more = true;
    while (more && query_next(&q)) {
        struct refit_record r;
        struct err why;
        more = query_read_fields(&q, 1, FIELDS(fields), NULL, &r, &why);
        if (more)
            more = each(context, &r);
        else
            query_refuse(&q, session, "a fit of its model", &why);
    }
    return query_end(&q);
}

bool store_count_refits(struct store *s, int64_t session, int64_t *count, struct err *e)
{
    struct query q = query_start(s, "SELECT count(*) FROM refit WHERE session = ?", e);
    query_bind_int(&q, session);
    *count = query_next(&q) ? query_int(&q, 0) : 0;
    return query_end(&q);
}
