// What became of the configurations that a space declares as in use.
#include "store/row.h"

#include "base/mem.h"

// clang-format off
#define BASELINE_FIELDS(F) \
    F(position, COUNT) F(name, TEXT) F(config, MAYBE_OBJECT) F(outcome, OUTCOME) \
    F(phase, MAYBE_TEXT) F(reason, MAYBE_TEXT) F(seconds, SPAN) F(race_seconds, SPAN) \
    F(samples, MAYBE_LIST) F(at, SPAN) F(parts, MAYBE_LIST)
// clang-format on
#define AS_BASELINE_FIELD(name, rule) FIELD(baseline_record, name, rule),
#define MOST_ROWS                     64 // a space declares far fewer

static const struct field fields[] = {BASELINE_FIELDS(AS_BASELINE_FIELD)};

bool store_put_baseline(struct store *s, int64_t session, const struct baseline_record *r,
                        struct err *e)
{
    static const char sql[] = "INSERT OR REPLACE INTO baseline(session" BASELINE_FIELDS(
        AS_COLUMN) ") VALUES (:session" BASELINE_FIELDS(AS_VALUE) ")";
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    query_bind_fields(&q, FIELDS(fields), r);
    return query_run(&q);
}

bool store_get_baselines(struct store *s, int64_t session, struct arena *a, struct baselines *out,
                         struct err *e)
{
    static const char sql[] = "SELECT session" BASELINE_FIELDS(AS_COLUMN) //
        " FROM baseline WHERE session = ? ORDER BY position";
    struct query q = query_start(s, sql, e);
    struct err why;
    query_bind_int(&q, session);
    *out = (struct baselines){.of = arena_zero(a, MOST_ROWS, sizeof *out->of)};
    while (out->count < MOST_ROWS && query_next(&q))
        if (!query_read_fields(&q, 1, FIELDS(fields), a, &out->of[out->count++], &why))
            query_refuse(&q, session, "a baseline", &why);
    return query_end(&q);
}

double baseline_seconds(const struct baseline_record *b)
{
    return b->outcome != OUTCOME_OK ? 0 : b->race_seconds > 0 ? b->race_seconds : b->seconds;
}

const struct baseline_record *baselines_fastest(const struct baselines *b)
{
    const struct baseline_record *fastest = NULL;
    for (int i = 0; i < b->count; i++)
        if (baseline_seconds(&b->of[i]) > 0 &&
            (!fastest || baseline_seconds(&b->of[i]) < baseline_seconds(fastest)))
            fastest = &b->of[i];
    return fastest;
}
