#include "store/db.h"

bool store_put_refit(struct store *s, int64_t session, const struct refit_record *r, struct err *e)
{
    static const char sql[] =
        "INSERT INTO refit(session, number, told, rows, correlation, recall, k, batch, seconds,"
        " bytes, elapsed_s, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    query_bind_int(&q, r->number);
    query_bind_int(&q, r->told);
    query_bind_int(&q, r->rows);
    query_bind_real(&q, r->correlation);
    query_bind_real(&q, r->recall);
    query_bind_int(&q, r->k);
    query_bind_int(&q, r->batch);
    query_bind_real(&q, r->seconds);
    query_bind_real(&q, r->bytes);
    query_bind_real(&q, r->elapsed_s);
    query_bind_real(&q, r->at);
    return query_run(&q);
}

static struct refit_record read_refit(const struct query *q)
{
    return (struct refit_record){
        .number = query_int(q, 0),
        .told = query_int(q, 1),
        .rows = query_int(q, 2),
        .correlation = query_real_or_nan(q, 3),
        .recall = query_real_or_nan(q, 4),
        .k = (int)query_int(q, 5),
        .batch = (int)query_int(q, 6),
        .seconds = query_real(q, 7),
        .bytes = query_real(q, 8),
        .elapsed_s = query_real(q, 9),
        .at = query_real(q, 10),
    };
}

bool store_each_refit(struct store *s, int64_t session,
                      bool (*each)(void *context, const struct refit_record *r), void *context,
                      struct err *e)
{
    static const char sql[] = "SELECT number, told, rows, correlation, recall, k, batch, seconds,"
                              " bytes, elapsed_s, at FROM refit WHERE session = ? ORDER BY number";
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    bool more = true;
    while (more && query_next(&q)) {
        struct refit_record r = read_refit(&q);
        more = each(context, &r);
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
