// How good the model of a session's strategy was each time it was fitted.
#include "base/os.h"
#include "engine/session_step.h"

#include <inttypes.h>
#include <math.h>

static void say(struct session *s, const struct refit *r)
{
    struct str text = {0};
    str_printf(&text, "model %sfitted to ", s->refits.made > 1 ? "re" : "");
    if (r->told > 0)
        str_printf(&text, "%" PRId64 " results", r->told);
    else
        str_add(&text, "results of other sessions");
    if (r->batch > 0)
        str_add(&text, ": ");
    if (r->batch > 0 && isfinite(r->correlation))
        str_printf(&text, "rank correlation %.2f, ", r->correlation);
    if (r->batch > 0 && isfinite(r->recall))
        str_printf(&text, "recall %.0f of %d, ", r->recall * r->k, r->k);
    if (r->batch > 0)
        str_printf(&text, "on the %d measured since", r->batch);
    str_printf(&text, ", %.2g s", r->seconds);
    session_message(s, "info", "%s", str_text(&text));
    str_finish(&text);
}

static bool keep(struct session *s, const struct refit *r, struct err *e)
{
    struct refit_record record = {
        .number = s->refits.made,
        .told = r->told,
        .rows = r->rows,
        .correlation = r->correlation,
        .recall = r->recall,
        .k = r->k,
        .batch = r->batch,
        .seconds = r->seconds,
        .bytes = r->bytes,
        .elapsed_s = session_ran_seconds(s),
        .at = os_unix_time(),
    };
    kill_point("refit");
    return session_stored(s, store_put_refit(s->host.store, s->record.id, &record, e), e);
}

// In a resumed session the first ones are those that the database has: replaying the session made
// them again.
bool session_keep_refits(struct session *s, struct err *e)
{
    struct refit r;
    while (strategy_take_refit(s->cycle.strategy, &r)) {
        if (++s->refits.made <= s->refits.stored)
            continue;
        if (!keep(s, &r, e))
            return false;
        say(s, &r);
    }
    return true;
}
