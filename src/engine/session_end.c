// Why a session has ended, by what its search came to.
#include "engine/session_shapes.h"
#include "engine/session_step.h"
#include "engine/speed.h"
#include "report/text.h"
#include "search/visited.h"

#include <inttypes.h>

#define DRAWS 1000 // that say why nothing is possible

// A strategy that keeps to what is legal has been told nothing of what is not.
static void tally_draws(struct session *s)
{
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

// A strategy that finds nothing more in a larger space has not looked at all of it.
static bool looked_at_all(const struct session *s)
{
    return s->space->size <= VISITED_ENUMERABLE || (uint64_t)s->cycle.told == s->space->size;
}

static void add_exhausted(struct session *s, struct str *why)
{
    const char *hint =
        str_starts(s->record.strategy, "grid") ? "" : " (--strategy grid looks at more of them)";
    bool none = s->cycle.rejected == s->cycle.told, all = looked_at_all(s);
    if (all)
        str_add(why, none ? "no configuration is possible" : "the space is exhausted");
    else
        str_printf(why, "no %s configuration was found among %s points",
                   none ? "possible" : "further", s->space->size_text);
    if (none) {
        if (!s->rejections.all)
            tally_draws(s);
        rejections_add_text(&s->rejections, s->space, why);
        if (!all)
            str_printf(why, " of %" PRId64 " looked at", s->rejections.all);
    }
    if (!all)
        str_add(why, hint);
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
        add_exhausted(s, &why);
    } else {
        add_budget(s, &why);
    }
    bool ok = session_end(s, STATE_DONE, str_text(&why), e);
    str_finish(&why);
    return ok;
}
