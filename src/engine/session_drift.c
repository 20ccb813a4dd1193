// Detects drift of the device, and other programs that keep the machine busy.
//
// Every so many trials the best one is timed again, and with it a fixed kernel, the anchor. Trials
// between two anchors that differ are marked.

#include "engine/session.h"

#include "base/err.h"
#include "base/number.h"
#include "gpu/gpu.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define STEADY_PERCENT      50 // by which the median of samples may exceed their minimum
#define FEWEST_SAMPLES      2
#define FEWEST_TIMINGS      4
#define FEWEST_CHECKS       2
#define BUSY_WHEN_ONE_IN    4 // timings is unsteady, or checks slow
#define DRIFT_WORTH_SHOWING 0.10

void busy_watch(struct busy *b, const struct trial_result *r)
{
    bool throttled = false;
    for (int i = 0; i < r->clocks.count; i++)
        throttled |= str_starts(r->clocks.item[i].name, SENSORS_THROTTLE);
    b->sensed += r->clocks.count > 0;
    b->throttled += throttled;
    for (int i = 0; i < r->count; i++)
        if (r->outcome[i] == OUTCOME_OK && r->samples[i].count >= FEWEST_SAMPLES) {
            double sorted[TRIAL_MAX_SAMPLES];
            memcpy(sorted, r->samples[i].seconds, sizeof sorted);
            double median = median_of(sorted, r->samples[i].count);
            b->unsteady += median > (1 + STEADY_PERCENT / 100.0) * sorted[0];
            b->spread[b->timings++ % BUSY_WINDOW] = median / sorted[0] - 1;
            int spreads = (int)(b->timings < BUSY_WINDOW ? b->timings : BUSY_WINDOW);
            b->noise = 0;
            for (int k = 0; k < spreads; k++)
                b->noise += b->spread[k] / spreads;
        }
}

double busy_watch_drift(struct busy *b, double now_s, double before_s, bool is_best)
{
    double ratio = now_s / before_s;
    b->checks++;
    b->slow += ratio > 1 + STEADY_PERCENT / 100.0;
    b->drift = ratio - 1;
    if (is_best)
        b->slowdown = ratio;
    return ratio - 1;
}

void busy_add_text(const struct busy *b, struct str *busy, struct str *throttled)
{
    if (b->checks >= FEWEST_CHECKS && b->slow * BUSY_WHEN_ONE_IN >= b->checks)
        str_printf(busy,
                   "the machine was busy: %" PRId64 " of %" PRId64
                   " times the best so far took over %d %% longer than before; times may be too "
                   "long, and which of two close ones is faster chance (what else runs here?)",
                   b->slow, b->checks, STEADY_PERCENT);
    else if (b->timings >= FEWEST_TIMINGS && b->unsteady * BUSY_WHEN_ONE_IN >= b->timings)
        str_printf(busy,
                   "the machine was busy: %" PRId64 " of %" PRId64
                   " timings vary by more than %d %%; times may be too long, and which of two "
                   "close ones is faster chance (what else runs here?)",
                   b->unsteady, b->timings, STEADY_PERCENT);
    if (b->throttled)
        str_printf(throttled,
                   "the device's clocks were held back in %" PRId64 " of %" PRId64
                   " timings (show --trial N says by what): times depend on how warm it was "
                   "(tilewalk doctor says how to lock clocks)",
                   b->throttled, b->sensed);
}

bool drift_check_submit(struct session *s, struct err *e)
{
    struct drift_check *d = &s->drift;
    struct source *source = s->backend.source;
    const struct cycle_best *best = &s->cycle.best;
    if (s->backend.shapes || s->phase != SESSION_RUNNING || d->due_in > 0 || d->open ||
        source_room(source) == 0)
        return true;
    d->due_in = DRIFT_CHECK_EVERY;
    if (source->kind->deterministic || !best->ask)
        return true;
    struct trial_request request = {.ticket = TICKET_DRIFT,
                                    .count = 1,
                                    .known_good = true,
                                    .anchor = true,
                                    .accesses = ACCESSES_OF_NONE};
    if (!backend_render(&s->backend, &best->config, &request, 0, e))
        return false;
    d->ask = best->ask;
    d->seconds = best->seconds;
    d->open = true;
    source_submit(source, &request);
    return true;
}

void drift_check_finish(struct session *s, const struct trial_result *r)
{
    struct drift_check *d = &s->drift;
    struct err e;
    d->open = false;
    if (r->anchor_s > 0) {
        // Other kernels may be as slow as the best just now, or as fast as it was; the anchor shows
        // which.
        int64_t results = s->cycle.told - d->anchor_told;
        double share = d->anchor_s > 0 ? r->anchor_s / d->anchor_s - 1 : 0;
        bool drifts = fabs(share) > DRIFT_WORTH_SHOWING && results > 0;
        if (drifts && store_mark_drift(s->store.db, s->record.id, d->anchor_told, fabs(share), &e))
            session_message(&s->log, "warning",
                            "the device drifts: a fixed kernel runs %.0f %% %s than %" PRId64
                            " results before, which are marked",
                            100 * fabs(share), share > 0 ? "slower" : "faster", results);
        else if (drifts)
            log_warning("drift not stored: %s", e.text);
        d->anchor_s = r->anchor_s;
        d->anchor_told = s->cycle.told;
    }
    if (r->outcome[0] != OUTCOME_OK) {
        session_message(&s->log, "warning",
                        "the best configuration failed when it was timed again: %s (%s)",
                        outcome_name(r->outcome[0]), r->reason[0]);
        return;
    }
    double drift =
        busy_watch_drift(&s->machine, r->seconds[0], d->seconds, d->ask == s->cycle.best.ask);
    if (fabs(drift) > DRIFT_WORTH_SHOWING)
        session_message(&s->log, "warning",
                        "the device drifts: the best configuration runs %.0f %% %s than before",
                        100 * fabs(drift), drift > 0 ? "slower" : "faster");
    // The session goes on without what cannot be stored: the ranks do not depend on it.
    struct retime t;
    retime_init(&t, d->ask, "canary", r, 0);
    if (store_put_retime(s->store.db, s->record.id, &t.record, &e))
        session_emit(s, EVENT_RETIME, NULL, &t.record);
    else
        log_warning("canary not stored: %s", e.text);
    retime_finish(&t);
}
