// What drivers said of configurations that were compiled before one of them was chosen.
#include "store/row.h"

#define LOOK_FIELDS(F)            F(key, TEXT) F(fits, FLAG) F(statistics, MAYBE_OBJECT)
#define AS_LOOK_FIELD(name, rule) FIELD(look_record, name, rule),

static const struct field fields[] = {LOOK_FIELDS(AS_LOOK_FIELD)};

bool store_put_look(struct store *s, int64_t session, const struct look_record *r, struct err *e)
{
    static const char sql[] = "INSERT OR IGNORE INTO look(session" LOOK_FIELDS(AS_COLUMN) //
        ") VALUES (:session" LOOK_FIELDS(AS_VALUE) ")";
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    query_bind_fields(&q, FIELDS(fields), r);
    return query_run(&q);
}

bool store_each_look(struct store *s, int64_t session,
                     bool (*each)(void *context, const struct look_record *r), void *context,
                     struct err *e)
{
    static const char sql[] = "SELECT session" LOOK_FIELDS(AS_COLUMN) //
        " FROM look WHERE session = ? ORDER BY key";
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    bool more = true;
    while (more && query_next(&q)) {
        struct look_record r;
        struct err why;
        more = query_read_fields(&q, 1, FIELDS(fields), NULL, &r, &why);
        if (more)
            more = each(context, &r);
        else
            query_refuse(&q, session, "what was compiled before it was chosen", &why);
    }
    return query_end(&q);
}
