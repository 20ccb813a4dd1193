// Baselines: the configurations that a space declares as in use. They are measured before the
// search asks for anything, stored, and raced with the winners, so that results are ratios to them.
// The search gets no result of theirs: it asks for the same configurations without them.

#include "engine/session.h"

#include "base/os.h"
#include "engine/session_shapes.h"
#include "engine/speed.h"
#include "report/text.h"

static struct baseline_record begin(struct session *s, int i)
{
    const struct baseline *declared = &s->space->baseline[i];
    struct str config = {0};
    if (!declared->misfit)
        config_add_json(s->space, &declared->config, &config);
    struct baseline_record b = {.position = i,
                                .name = declared->name,
                                .config = arena_strdup(&s->arena, str_text(&config)),
                                .at = os_unix_time()};
    str_finish(&config);
    return b;
}

static bool keep(struct session *s, const struct baseline_record *b, struct err *e)
{
    s->baselines.of[b->position] = *b;
    kill_point("baseline");
    return session_stored(&s->store, store_put_baseline(s->store.db, s->record.id, b, e), e);
}

// Keeps candidate `i` of a result. False: it could not be stored.
static bool keep_result(struct session *s, struct baseline_record *b, const struct trial_result *r,
                        int i, struct err *e)
{
    struct retime times;
    struct str statistics = {0};
    retime_init(&times, 0, NULL, r, i);
    if (r->statistics[i].count) {
        statistics_add_json(&r->statistics[i], &statistics);
        b->statistics = arena_strdup(&s->arena, str_text(&statistics));
    }
    str_finish(&statistics);
    b->outcome = r->outcome[i];
    b->phase = b->outcome == OUTCOME_OK ? NULL : trial_phase_name(r->phase[i]);
    b->reason = arena_strdup(&s->arena, r->reason[i]);
    b->samples = arena_strdup(&s->arena, times.record.samples);
    b->parts = times.record.parts ? arena_strdup(&s->arena, times.record.parts) : NULL;
    b->at = times.record.at;
    retime_finish(&times);
    return keep(s, b, e);
}

static void show(struct session *s, const struct baseline_record *b)
{
    char speed[SPEED_TEXT_SIZE];
    if (b->outcome == OUTCOME_OK)
        session_message(&s->log, "info", "baseline '%s': %s", b->name,
                        speed_and_time(&s->record, b->seconds, speed));
    else
        session_message(&s->log, "warning", "baseline '%s' %s: %s (%s)", b->name,
                        b->outcome == OUTCOME_WRONG ? "is wrong here"
                        : b->parts                  ? "does not run on every shape"
                                                    : "does not run here",
                        outcome_name(b->outcome), b->reason);
}

// Judges a baseline: `v` has the first reason against it, `forbidden` a bit for each shape of
// several that it may not run on.
static bool judge(const struct session *s, int i, struct verdict *v, uint32_t *forbidden,
                  struct err *e)
{
    const struct baseline *declared = &s->space->baseline[i];
    const struct session_backend *k = &s->backend;
    *v = (struct verdict){.legal = !declared->misfit};
    *forbidden = 0;
    if (k->shapes)
        return session_shapes_judge_baseline(k->shapes, backend_limits(k), i, v, forbidden, e);
    if (declared->misfit)
        snprintf(v->reason, sizeof v->reason, "%s", declared->misfit);
    return declared->misfit || backend_judge(k, &declared->config, v, e);
}

// Submits a baseline, or rejects it. Where there are several shapes, one that forbids it leaves the
// others.
static bool submit(struct session *s, int i, struct err *e)
{
    const struct baseline *declared = &s->space->baseline[i];
    const struct session_backend *k = &s->backend;
    struct verdict v;
    uint32_t forbidden;
    if (!judge(s, i, &v, &forbidden, e))
        return err_prefix(e, "baseline '%s'", declared->name);
    bool runs_somewhere = k->shapes && forbidden + 1 < UINT32_C(1) << k->shapes->goal.count;
    if (!v.legal && !runs_somewhere) {
        struct baseline_record b = begin(s, i);
        b.outcome = OUTCOME_REJECTED;
        b.reason = arena_strdup(&s->arena, v.reason);
        if (!keep(s, &b, e))
            return false;
        show(s, &b);
        return true;
    }
    struct trial_request request = {.ticket = TICKET_BASELINE - i,
                                    .count = 1,
                                    .known_good = true,
                                    .accesses = ACCESSES_OF_ALL,
                                    .skipped = forbidden,
                                    .config = {declared->config}};
    bool ok = backend_submit(&s->backend, &request, e);
    s->baselines.open += ok;
    return ok;
}

bool baselines_submit(struct session *s, bool *all, struct err *e)
{
    struct measured_baselines *m = &s->baselines;
    for (int i = 0; i < s->space->baseline_count && !s->stopping; i++) {
        if (m->submitted[i])
            continue;
        *all = source_room(s->backend.source) > 0;
        if (!*all)
            return true;
        if (!s->clock.started_ns)
            session_clock_run(&s->clock, true);
        m->submitted[i] = true;
        if (!submit(s, i, e))
            return false;
    }
    *all = m->open == 0;
    return true;
}

bool baseline_finish(struct session *s, const struct trial_result *r, struct err *e)
{
    struct baseline_record b = begin(s, (int)(TICKET_BASELINE - r->ticket));
    s->baselines.open--;
    s->backend.in_flight--;
    s->busy = true;
    b.seconds = r->seconds[0];
    // It is in use on some shapes alone, and so no rival on all of them.
    struct trial_result result = *r;
    struct verdict v = {.legal = true};
    uint32_t forbidden = 0;
    if (!judge(s, b.position, &v, &forbidden, e))
        return false;
    if (forbidden && r->outcome[0] == OUTCOME_OK) {
        result.outcome[0] = OUTCOME_REJECTED;
        snprintf(result.reason[0], sizeof result.reason[0], "%s", v.reason);
    }
    if (!keep_result(s, &b, &result, 0, e))
        return false;
    show(s, &b);
    return true;
}

bool baseline_retime(struct session *s, int position, const struct trial_result *r, int i,
                     struct err *e)
{
    struct baseline_record b = s->baselines.of[position];
    b.race_seconds = r->seconds[i];
    if (!keep_result(s, &b, r, i, e))
        return false;
    if (b.outcome != OUTCOME_OK)
        show(s, &b);
    return true;
}

bool baselines_load(struct session *s, struct err *e)
{
    struct baselines stored;
    if (!store_get_baselines(s->store.db, s->record.id, &s->arena, &stored, e))
        return false;
    for (int i = 0; i < stored.count; i++) {
        int64_t at = stored.of[i].position;
        if (at >= s->space->baseline_count)
            continue;
        s->baselines.of[at] = stored.of[i];
        s->baselines.submitted[at] = true;
    }
    return true;
}
