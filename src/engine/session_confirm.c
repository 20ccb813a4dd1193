// Confirms the session's best, which is known after the last race:
//  * it is timed with every baseline, in pairs (trial/paired.h). The times of the search and of the
//    race chose it, so they would flatter it;
//  * it is soaked: verified again and again for a tenth of the session's time. A kernel that is
//    wrong in 7 of 60 runs passes the two verifications of a race in 78 of 100 cases.
// A best that fails is the best no more, and the next one takes its place.

#include "engine/session.h"

#include "engine/session_shapes.h"
#include "trial/benchmark.h"

#include <math.h>

#define SOAK_SHARE 0.1 // of the session's time

static bool is_best(const struct session *s, int i)
{
    return !session_shapes_vary(s->backend.shapes, i) &&
           config_equal(&s->cycle.best.config, &s->space->baseline[i].config);
}

static void add_paired(const struct paired *p, struct str *out)
{
    const double value[] = {p->ratio, p->low, p->high};
    str_printf(out, "[%d", p->pairs);
    for (int i = 0; i < 3; i++)
        if (isnan(value[i]))
            str_add(out, ",null");
        else
            str_printf(out, ",%.17g", value[i]);
    str_add_char(out, ']');
}

// Stores the best's ratio to baseline `i`: on all shapes, then on each of `shapes`.
static bool keep(struct session *s, int i, const struct paired *all, const struct paired *part,
                 int shapes, struct err *e)
{
    struct str list = {0};
    str_add_char(&list, '[');
    add_paired(all, &list);
    for (int k = 0; k < shapes; k++) {
        str_add_char(&list, ',');
        add_paired(&part[k], &list);
    }
    str_add_char(&list, ']');
    struct baseline_record *b = &s->baselines.of[i];
    b->paired_ask = s->cycle.best.ask;
    b->paired = arena_strdup(&s->arena, str_text(&list));
    str_finish(&list);
    return session_stored(&s->store, store_put_baseline(s->store.db, s->record.id, b, e), e);
}

static bool submit_pairs(struct session *s, bool *started, struct err *e)
{
    const struct cycle_best *best = &s->cycle.best;
    struct session_shapes *shapes = s->backend.shapes;
    struct trial_request request = {.ticket = TICKET_PAIRS,
                                    .race = true,
                                    .pairs = true,
                                    .known_good = true,
                                    .accesses = ACCESSES_OF_NONE};
    for (int i = 0; shapes && i < TRIAL_MAX_RACERS; i++)
        shapes->race_baseline[i] = -1;
    for (int i = 0; best->ask && i < s->space->baseline_count; i++) {
        const struct baseline_record *b = &s->baselines.of[i];
        if (s->backend.source->kind->deterministic || b->outcome != OUTCOME_OK ||
            b->paired_ask == best->ask)
            continue;
        if (is_best(s, i)) {
            struct paired same[TRIAL_MAX_SHAPES];
            for (int k = 0; k < TRIAL_MAX_SHAPES; k++)
                same[k] = (struct paired){.ratio = 1, .low = 1, .high = 1};
            if (!keep(s, i, &same[0], same, shapes ? shapes->goal.count : 0, e))
                return false;
            continue;
        }
        request.config[0] = best->config;
        request.count = request.count ? request.count : 1;
        if (session_shapes_vary(shapes, i))
            shapes->race_baseline[request.count] = i;
        s->baselines.pair[request.count] = i;
        request.config[request.count++] = s->space->baseline[i].config;
    }
    *started = request.count > 0;
    return !*started || backend_submit(&s->backend, &request, e);
}

static bool submit_soak(struct session *s, bool *started, struct err *e)
{
    const struct session_shapes *shapes = s->backend.shapes;
    double share_s = SOAK_SHARE * session_clock_seconds(&s->clock);
    if (!s->cycle.best.ask || s->record.soaked_ask == s->cycle.best.ask ||
        s->backend.source->kind->deterministic ||
        benchmark_is(s->record.source)) // kernels are soaked
        return true;
    struct trial_request request = {.ticket = TICKET_SOAK,
                                    .count = 1,
                                    .known_good = true,
                                    .accesses = ACCESSES_OF_NONE,
                                    .soak = TRIAL_MOST_SOAK,
                                    .soak_s = share_s / (shapes ? shapes->goal.count : 1),
                                    .config = {s->cycle.best.config}};
    *started = true;
    return backend_submit(&s->backend, &request, e);
}

bool confirm_submit(struct session *s, bool *started, struct err *e)
{
    *started = false;
    return submit_pairs(s, started, e) && (*started || submit_soak(s, started, e));
}

// The best was right in the search and in the race, and failed now: it is not the best.
static bool drop_best(struct session *s, const struct trial_result *r, struct err *e)
{
    struct retime retime;
    retime_init(&retime, s->cycle.best.ask, "race", r, 0);
    bool ok = store_put_retime(s->store.db, s->record.id, &retime.record, e);
    ok = session_stored(&s->store, ok, e);
    if (ok) {
        session_emit(s, EVENT_RETIME, NULL, &retime.record);
        session_message(&s->log, "warning", "ask %lld is not the best: %s (%s)",
                        (long long)s->cycle.best.ask, outcome_name(r->outcome[0]), r->reason[0]);
    }
    retime_finish(&retime);
    return ok;
}

bool confirm_finish(struct session *s, const struct trial_result *r, struct err *e)
{
    bool ok = true;
    s->backend.in_flight--;
    s->phase = SESSION_RUNNING;
    if (r->outcome[0] != OUTCOME_OK)
        return drop_best(s, r, e);
    if (r->ticket == TICKET_SOAK) {
        s->record.soaked = r->soaked;
        s->record.soaked_ask = s->cycle.best.ask;
        ok = store_set_soaked(s->store.db, s->record.id, r->soaked, s->cycle.best.ask, e);
        session_message(&s->log, "info", "soak: the best was right in %d more runs", r->soaked);
        return session_stored(&s->store, ok, e);
    }
    for (int k = 1; ok && k < r->count; k++) {
        int i = s->baselines.pair[k];
        const struct samples *own = &r->samples[0], *other = &r->samples[k];
        struct paired p = paired_ratio(own->seconds, other->seconds, other->count);
        if (r->outcome[k] != OUTCOME_OK)
            p = paired_unknown();
        ok = keep(s, i, &p, r->part_ratio[k], r->shapes, e);
    }
    return ok;
}
