// The roof of a session's device: looked up, or measured, and what it leaves to its operation.
#include "base/log.h"
#include "base/os.h"
#include "engine/devices.h"
#include "engine/roof.h"
#include "engine/session_setup.h"
#include "trial/errand.h"

#define PATIENCE_S 120.0

bool roof_measure(struct store *store, const struct gpu_info *i, struct roof *out, struct err *e)
{
    char id[33];
    struct str figures = {0};
    gpu_identity(i, id);
    if (!errand_peaks(i->index, PATIENCE_S, out, e))
        return err_prefix(e, "the roof of '%s' is not measured", i->name);
    roof_add_json(out, &figures);
    const struct roof_record r = {id, i->name, i->driver, str_text(&figures), os_unix_time()};
    bool ok = store_put_roof(store, &r, e);
    str_finish(&figures);
    return ok;
}

bool roof_find(struct store *store, const struct gpu_info *i, struct roof *out, bool *found,
               struct err *e)
{
    char id[33];
    struct roof_record r;
    struct arena a;
    arena_init(&a);
    gpu_identity(i, id);
    bool ok = store_get_roof(store, id, &a, &r, e);
    *found = ok && roof_parse(r.figures, out);
    arena_finish(&a);
    return ok;
}

static void take(struct session *s, const struct roof *roof)
{
    struct session_record *r = &s->record;
    enum roof_kind by;
    r->roof_s = roof_seconds(roof, script_operation(s->script), &by);
    r->roof_by = r->roof_s > 0 ? roof_name(by) : NULL;
    r->dispatch_s = roof->rate[ROOF_DISPATCH];
}

bool session_take_roof(struct session *s, const struct gpu_info *i, struct err *e)
{
    struct roof roof;
    bool found;
    double until = s->record.until;
    if (!i)
        return until <= 0 ||
               err_usage(e, "--until is a share of a device's roof: there is no device");
    if (!roof_find(s->host.store, i, &roof, &found, e))
        return false;
    // On CPU devices, which share their time with all else that runs, only where it is wanted.
    if (!found && !s->device.machines && (!i->is_cpu || until > 0)) {
        found = roof_measure(s->host.store, i, &roof, e);
        if (!found && until > 0)
            return false;
        if (!found)
            log_warning("%s", e->text);
    }
    if (found)
        take(s, &roof);
    return until <= 0 || s->record.roof_s > 0 ||
           err_set(e, "--until: nothing was measured that bounds this operation");
}
