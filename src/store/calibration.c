#include "store/row.h"

// clang-format off
#define CALIBRATION_FIELDS(F) F(results, COUNT) F(within_50, COUNT) F(within_90, COUNT)
// clang-format on
#define AS_CALIBRATION_FIELD(name, rule) FIELD(calibration_record, name, rule),
#define AS_SUM(name, rule)               ", " #name " = " #name " + excluded." #name

static const struct field fields[] = {CALIBRATION_FIELDS(AS_CALIBRATION_FIELD)};

bool store_add_calibration(struct store *s, int64_t session, const struct calibration_record *more,
                           struct err *e)
{
    static const char sql[] = "INSERT INTO calibration(session" CALIBRATION_FIELDS(AS_COLUMN) //
        ") VALUES (:session" CALIBRATION_FIELDS(
            AS_VALUE) ")"
                      " ON CONFLICT DO UPDATE SET session = session" CALIBRATION_FIELDS(AS_SUM);
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    query_bind_fields(&q, FIELDS(fields), more);
    return query_run(&q);
}

bool store_get_calibration(struct store *s, int64_t session, struct calibration_record *out,
                           struct err *e)
{
    static const char sql[] = "SELECT session" CALIBRATION_FIELDS(AS_COLUMN) //
        " FROM calibration WHERE session = ?";
    struct query q = query_start(s, sql, e);
    struct err why;
    query_bind_int(&q, session);
    *out = (struct calibration_record){0};
    if (query_next(&q) && !query_read_fields(&q, 1, FIELDS(fields), NULL, out, &why))
        query_refuse(&q, session, "the calibration of its model", &why);
    return query_end(&q);
}
