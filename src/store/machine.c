// Machines that measure for sessions, and what became of them.
#include "store/row.h"

#include <stdlib.h>
#include <string.h>

#define MACHINE_FIELDS(F)                                                                          \
    F(name, TEXT)                                                                                  \
    F(place, TEXT)                                                                                 \
    F(device, TEXT) F(driver, TEXT) F(state, TEXT) F(why, MAYBE_TEXT) F(lost, COUNT) F(at, SPAN)
#define AS_MACHINE_FIELD(name, rule) FIELD(machine_record, name, rule),

static const struct field fields[] = {MACHINE_FIELDS(AS_MACHINE_FIELD)};

bool store_put_machine(struct store *s, int64_t session, const struct machine_record *r,
                       struct err *e)
{
    static const char sql[] = "INSERT OR REPLACE INTO machine(session" MACHINE_FIELDS(
        AS_COLUMN) ") VALUES (:session" MACHINE_FIELDS(AS_VALUE) ")";
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    query_bind_fields(&q, FIELDS(fields), r);
    return query_run(&q);
}

bool store_forget_machine(struct store *s, const char *name, struct err *e)
{
    struct query q = query_start(s, "DELETE FROM machine WHERE name = ?1", e);
    query_bind_text(&q, name);
    return query_run(&q);
}

bool store_list_machines(struct store *s, int64_t session, struct arena *a,
                         struct machine_record **out, int *count, struct err *e)
{
    static const char sql[] =
        "SELECT session, (SELECT count(*) FROM trial"
        "  WHERE trial.session = machine.session AND trial.machine = machine.name)" MACHINE_FIELDS(
            AS_COLUMN) " FROM machine WHERE ?1 IN (0, session) ORDER BY at DESC, name";
    struct query q = query_start(s, sql, e);
    struct machine_record *list = NULL;
    int capacity = 0;
    struct err why;
    query_bind_int(&q, session);
    *count = 0;
    while (query_next(&q)) {
        MEM_GROW(list, *count, capacity);
        struct machine_record *r = &list[*count];
        *r = (struct machine_record){.session = query_int(&q, 0), .trials = query_int(&q, 1)};
        if (query_read_fields(&q, 2, FIELDS(fields), a, r, &why))
            ++*count;
        else
            query_refuse(&q, r->session, "a machine", &why);
    }
    *out = arena_zero(a, (size_t)*count + 1, sizeof **out);
    if (*count)
        memcpy(*out, list, (size_t)*count * sizeof *list);
    free(list);
    return query_end(&q);
}
