// Roofs of devices: measured once, of interest to every session on them.
#include "store/row.h"

#define ROOF_FIELDS(F)                                                                             \
    F(device_id, TEXT) F(device, TEXT) F(driver, TEXT) F(figures, OBJECT) F(at, SPAN)
#define AS_ROOF_FIELD(name, rule) FIELD(roof_record, name, rule),

static const struct field fields[] = {ROOF_FIELDS(AS_ROOF_FIELD)};

bool store_put_roof(struct store *s, const struct roof_record *r, struct err *e)
{
    static const char sql[] = "INSERT OR REPLACE INTO roof(device_id, device, driver, figures, at)"
                              " VALUES (:device_id, :device, :driver, :figures, :at)";
    struct query q = query_start(s, sql, e);
    query_bind_fields(&q, FIELDS(fields), r);
    return query_run(&q);
}

bool store_get_roof(struct store *s, const char *device_id, struct arena *a,
                    struct roof_record *out, struct err *e)
{
    static const char sql[] = "SELECT 0" ROOF_FIELDS(AS_COLUMN) " FROM roof WHERE device_id = ?";
    struct err why;
    struct query q = query_start(s, sql, e);
    query_bind_text(&q, device_id);
    *out = (struct roof_record){0};
    // A damaged one is none: it is measured again.
    if (query_next(&q) && !query_read_fields(&q, 1, FIELDS(fields), a, out, &why))
        *out = (struct roof_record){0};
    return query_end(&q);
}

bool store_set_roof(struct store *s, const struct session_record *r, struct err *e)
{
    static const char sql[] =
        "UPDATE session SET roof_s = ?, roof_by = ?, dispatch_s = ?, until = ? WHERE id = ?";
    struct query q = query_start(s, sql, e);
    query_bind_real(&q, r->roof_s);
    query_bind_text(&q, r->roof_by);
    query_bind_real(&q, r->dispatch_s);
    query_bind_real(&q, r->until);
    query_bind_int(&q, r->id);
    return query_run(&q);
}
