// Why a session has ended, by what its search came to.

#include "base/log.h"
#include "base/os.h"
#include "engine/devices.h"
#include "engine/roof.h"
#include "engine/session_setup.h"
#include "engine/session_shapes.h"
#include "engine/session_step.h"
#include "engine/speed.h"
#include "report/text.h"
#include "search/visited.h"
#include "trial/errand.h"

#include <inttypes.h>
#include <math.h>

// How good the model of a session's strategy was each time it was fitted.

// In a resumed session the first ones are those that the database has: replaying the session made
// them again.
bool session_keep_refits(struct session *s, struct err *e)
{
    struct refit r;
    while (strategy_take_refit(s->cycle.strategy, &r)) {
        if (++s->refits.made <= s->refits.stored)
            continue;
        struct refit_record record = {
            .number = s->refits.made,
            .told = r.told,
            .rows = r.rows,
            .correlation = r.correlation,
            .recall = r.recall,
            .k = r.k,
            .batch = r.batch,
            .seconds = r.seconds,
            .bytes = r.bytes,
            .elapsed_s = session_ran_seconds(s),
            .at = os_unix_time(),
        };
        kill_point("refit");
        if (!session_stored(s, store_put_refit(s->host.store, s->record.id, &record, e), e))
            return false;
        struct str text = {0};
        str_printf(&text, "model %sfitted to ", s->refits.made > 1 ? "re" : "");
        if (r.told > 0)
            str_printf(&text, "%" PRId64 " results", r.told);
        else
            str_add(&text, "results of other sessions");
        if (r.batch > 0)
            str_add(&text, ": ");
        if (r.batch > 0 && isfinite(r.correlation))
            str_printf(&text, "rank correlation %.2f, ", r.correlation);
        if (r.batch > 0 && isfinite(r.recall))
            str_printf(&text, "recall %.0f of %d, ", r.recall * r.k, r.k);
        if (r.batch > 0)
            str_printf(&text, "on the %d measured since", r.batch);
        str_printf(&text, ", %.2g s", r.seconds);
        session_message(s, "info", "%s", str_text(&text));
        str_finish(&text);
    }
    return true;
}

// The roof of a session's device: looked up, or measured, and what it leaves to its operation.

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
    if (found) {
        struct session_record *r = &s->record;
        enum roof_kind by;
        r->roof_s = roof_seconds(&roof, script_operation(s->script), &by);
        r->roof_by = r->roof_s > 0 ? roof_name(by) : NULL;
        r->dispatch_s = roof.rate[ROOF_DISPATCH];
    }
    return until <= 0 || s->record.roof_s > 0 ||
           err_set(e, "--until: nothing was measured that bounds this operation");
}

#define DRAWS 1000 // that say why nothing is possible

// A strategy that finds nothing more in a larger space has not looked at all of it.
static bool looked_at_all(const struct session *s)
{
    return s->space->size <= VISITED_ENUMERABLE || (uint64_t)s->cycle.told == s->space->size;
}

static void add_budget(const struct session *s, struct str *why)
{
    const struct session_record *r = &s->record;
    char share[32];
    if (session_is_near_roof(s))
        str_printf(why, "%s of the roof is reached",
                   text_share(speed_of_roof(r, s->cycle.best.seconds), share));
    else if (r->trials > r->budget_trials)
        str_printf(why, "%" PRId64 " trials are done, the budget was %" PRId64, r->trials,
                   r->budget_trials);
    else if (r->trials == r->budget_trials && r->trials == 1)
        str_add(why, "its one trial is done");
    else if (r->trials == r->budget_trials)
        str_printf(why, "all %" PRId64 " trials are done", r->budget_trials);
    else
        str_printf(why, r->budget_seconds == 1 ? "%g second is over" : "%g seconds are over",
                   r->budget_seconds);
}

bool session_finish(struct session *s, struct err *e)
{
    struct str why = {0};
    session_shapes_say(s);
    if (s->stopping)
        return session_end(s, STATE_STOPPED, "stopped by the user", e);
    if (s->cycle.rejected_in_row >= CYCLE_MOST_REJECTED) {
        str_printf(&why, "%d configurations in a row were rejected", CYCLE_MOST_REJECTED);
        rejections_add_text(&s->rejections, s->space, &why);
    } else if (s->cycle.exhausted) {
        const char *hint = str_starts(s->record.strategy, "grid")
                               ? ""
                               : " (--strategy grid looks at more of them)";
        bool none = s->cycle.rejected == s->cycle.told, all = looked_at_all(s);
        if (all)
            str_add(&why, none ? "no configuration is possible" : "the space is exhausted");
        else
            str_printf(&why, "no %s configuration was found among %s points",
                       none ? "possible" : "further", s->space->size_text);
        if (none) {
            if (!s->rejections.all) {
                // A strategy that keeps to what is legal has been told nothing of what is not.
                struct rng r;
                struct config c;
                struct verdict v;
                struct err ignored;
                rng_seed(&r, s->record.seed);
                for (int i = 0; i < DRAWS; i++) {
                    space_sample(s->space, &r, &c);
                    if (session_judge(s, &c, &v, &ignored) && !v.legal)
                        rejections_add(&s->rejections, s->space, &v);
                }
            }
            rejections_add_text(&s->rejections, s->space, &why);
            if (!all)
                str_printf(&why, " of %" PRId64 " looked at", s->rejections.all);
        }
        if (!all)
            str_add(&why, hint);
    } else {
        add_budget(s, &why);
    }
    bool ok = session_end(s, STATE_DONE, str_text(&why), e);
    str_finish(&why);
    return ok;
}
