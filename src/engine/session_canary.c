// Canaries: every so many trials the best one is timed again, and with it a fixed kernel, the
// anchor, so that drift of the device, and what else runs on it all the time, shows. Trials between
// two anchors that differ are marked.
#include "base/log.h"
#include "engine/session_step.h"

#include <inttypes.h>
#include <math.h>

#define DRIFT_WORTH_SAYING 0.10

// Due before new trials take the source's room.
bool canary_start(struct session *s, struct err *e)
{
    struct canary *c = &s->canary;
    const struct cycle_best *best = &s->cycle.best;
    if (s->shapes || s->phase != SESSION_RUNNING || c->due_in > 0 || c->open ||
        source_room(s->source) == 0)
        return true;
    c->due_in = SESSION_CANARY_EVERY;
    if (s->source->kind->deterministic || !best->ask)
        return true;
    struct trial_request request = {.ticket = TICKET_CANARY,
                                    .count = 1,
                                    .known_good = true,
                                    .anchor = true,
                                    .accesses = ACCESSES_OF_NONE};
    if (!session_render(s, &best->config, &request, 0, e))
        return false;
    c->ask = best->ask;
    c->seconds = best->seconds;
    c->open = true;
    source_submit(s->source, &request);
    return true;
}

// The session goes on without what cannot be stored: the ranks do not depend on it.
static void keep_canary(struct session *s, const struct trial_result *r)
{
    struct retime t;
    struct err e;
    retime_init(&t, s->canary.ask, "canary", r, 0);
    if (store_put_retime(s->host.store, s->record.id, &t.record, &e))
        session_emit(s, EVENT_RETIME, NULL, &t.record);
    else
        log_warning("canary not stored: %s", e.text);
    retime_finish(&t);
}

static void say_drift(struct session *s, double share, int64_t marked)
{
    session_message(s, "warning",
                    "the device drifts: a fixed kernel runs %.0f %% %s than %" PRId64
                    " results before, which are marked",
                    100 * fabs(share), share > 0 ? "slower" : "faster", marked);
}

// Other kernels may be as slow as this one just now, or as fast as it was.
static void keep_anchor(struct session *s, double seconds)
{
    struct canary *c = &s->canary;
    struct err e;
    int64_t told = s->cycle.told, since = c->anchor_told;
    double share = c->anchor_s > 0 ? seconds / c->anchor_s - 1 : 0;
    c->anchor_s = seconds;
    c->anchor_told = told;
    if (fabs(share) <= DRIFT_WORTH_SAYING || told == since)
        return;
    if (store_mark_drift(s->host.store, s->record.id, since, fabs(share), &e))
        say_drift(s, share, told - since);
    else
        log_warning("drift not stored: %s", e.text);
}

void canary_finish(struct session *s, const struct trial_result *r)
{
    struct canary *c = &s->canary;
    c->open = false;
    if (r->anchor_s > 0)
        keep_anchor(s, r->anchor_s);
    if (r->outcome[0] != OUTCOME_OK) {
        session_message(s, "warning",
                        "the best configuration failed when it was timed again: %s (%s)",
                        outcome_name(r->outcome[0]), r->reason[0]);
        return;
    }
    double drift =
        busy_watch_canary(&s->machine, r->seconds[0], c->seconds, c->ask == s->cycle.best.ask);
    if (fabs(drift) > DRIFT_WORTH_SAYING)
        session_message(s, "warning",
                        "the device drifts: the best configuration runs %.0f %% %s than before",
                        100 * fabs(drift), drift > 0 ? "slower" : "faster");
    keep_canary(s, r);
}
