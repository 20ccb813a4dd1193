#include "store/machine.h"

#include "base/str.h"
#include "store/row.h"

#include <stdlib.h>

#define MINUTE 60.0
#define MACHINE_FIELDS(F)                                                                          \
    F(name, TEXT)                                                                                  \
    F(place, TEXT)                                                                                 \
    F(device, TEXT)                                                                                \
    F(driver, TEXT)                                                                                \
    F(state, TEXT)                                                                                 \
    F(why, MAYBE_TEXT) F(lost, COUNT) F(at, SPAN) F(fixed_s, SPAN) F(drift, MAYBE_REAL)
#define AS_MACHINE_FIELD(name, rule) FIELD(machine_record, name, rule),

static const struct field fields[] = {MACHINE_FIELDS(AS_MACHINE_FIELD)};

bool store_put_machine(struct store *s, int64_t session, const struct machine_record *r,
                       struct err *e)
{
    // clang-format off
    static const char sql[] =
        "INSERT INTO machine(session" MACHINE_FIELDS(AS_COLUMN) ")"
        " VALUES (:session" MACHINE_FIELDS(AS_VALUE) ") ON CONFLICT DO UPDATE SET"
        " at = iif(state = excluded.state, at, excluded.at), state = excluded.state,"
        " why = ifnull(excluded.why, why), lost = lost + excluded.lost,"
        " drift = iif(excluded.fixed_s > 0, excluded.drift, drift),"
        " fixed_s = iif(excluded.fixed_s > 0, excluded.fixed_s, fixed_s)";
    // clang-format on
    return query_put_record(s, sql, session, FIELDS(fields), r, e);
}

bool store_forget_machine(struct store *s, const char *name, struct err *e)
{
    struct query q = query_start(s, "DELETE FROM machine WHERE name = ?1", e);
    query_bind_text(&q, name);
    return query_run(&q);
}

bool store_list_machines(struct store *s, int64_t session, double unix_now, struct arena *a,
                         struct machines *out, struct err *e)
{
#define TRIALS_OF_IT                                                                               \
    "(SELECT count(*) FROM trial"                                                                  \
    "  WHERE trial.session = machine.session AND trial.machine = machine.name"
    static const char sql[] =
        "SELECT session, " TRIALS_OF_IT "), " TRIALS_OF_IT
        "  AND finished > max(?2, at))" MACHINE_FIELDS(
            AS_COLUMN) " FROM machine WHERE ?1 IN (0, session) ORDER BY at DESC, name";
    struct query q = query_start(s, sql, e);
    struct machine_record *list = NULL;
    int capacity = 0;
    struct err why;
    query_bind_int(&q, session);
    query_bind_real(&q, unix_now - MINUTE);
    out->count = 0;
    while (query_next(&q)) {
        MEM_GROW(list, out->count, capacity);
        struct machine_record *r = &list[out->count];
        *r = (struct machine_record){.session = query_int(&q, 0), .trials = query_int(&q, 1)};
        if (query_read_fields(&q, 3, FIELDS(fields), a, r, &why)) {
            double up = unix_now - r->at;
            r->rate = up > 0 ? (double)query_int(&q, 2) / (up < MINUTE ? up : MINUTE) : 0;
            out->count++;
        } else {
            query_refuse(&q, r->session, "a machine", &why);
        }
    }
    out->of = list_to_arena(list, out->count, sizeof *list, a);
    return query_end(&q);
}

#define WORKER_FIELDS(F)            F(worker, COUNT) F(phase, TEXT) F(ask, COUNT) F(since, SPAN)
#define AS_WORKER_FIELD(name, rule) FIELD(worker_record, name, rule),

static const struct field worker_fields[] = {WORKER_FIELDS(AS_WORKER_FIELD)};

bool store_put_workers(struct store *s, int64_t session, const struct worker_record *r, int count,
                       struct err *e)
{
    static const char sql[] = "INSERT INTO worker(session" WORKER_FIELDS(
        AS_COLUMN) ") VALUES (:session" WORKER_FIELDS(AS_VALUE) ")";
    struct scope scope;
    if (!scope_enter(s, &scope, e))
        return false;
    struct query q = query_start(s, "DELETE FROM worker WHERE session = ?", e);
    query_bind_int(&q, session);
    bool ok = query_run(&q);
    for (int i = 0; ok && i < count; i++)
        ok = query_put_record(s, sql, session, FIELDS(worker_fields), &r[i], e);
    return scope_leave(s, &scope, ok, e);
}

bool store_list_workers(struct store *s, int64_t session, struct arena *a, struct workers *out,
                        struct err *e)
{
    static const char sql[] =
        "SELECT session" WORKER_FIELDS(AS_COLUMN) " FROM worker WHERE session = ? ORDER BY worker";
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    struct records all =
        query_all_records(&q, session, FIELDS(worker_fields), "its workers", sizeof *out->of, a);
    *out = (struct workers){all.of, all.count};
    return query_end(&q);
}

const char *store_machine_state(struct store *s, const struct machine_record *r)
{
    bool at_work = str_equal(r->state, "up") || str_equal(r->state, "stuck");
    return at_work && !store_runner(s, r->session) ? "left" : r->state;
}
