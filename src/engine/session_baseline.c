// What a space says is in use: measured before anything is asked for, stored, and raced with the
// winners, so that what is found can be told as a ratio to it. The search knows nothing of it: what
// it asks for is the same without.
#include "base/os.h"
#include "engine/session_setup.h"
#include "engine/session_shapes.h"
#include "engine/session_step.h"
#include "engine/speed.h"
#include "report/text.h"

static bool keep(struct session *s, const struct baseline_record *r, struct err *e)
{
    s->baselines.of[r->position] = *r;
    kill_point("baseline");
    return session_stored(s, store_put_baseline(s->host.store, s->record.id, r, e), e);
}

// A result becomes the record's; false: it could not be stored.
static bool take(struct session *s, struct baseline_record *b, const struct trial_result *r, int i,
                 struct err *e)
{
    struct str samples = {0}, parts = {0};
    samples_add_json(&r->samples[i], &samples);
    parts_add_json(r, i, &parts);
    b->parts = r->shapes ? arena_strdup(&s->arena, str_text(&parts)) : NULL;
    str_finish(&parts);
    b->outcome = r->outcome[i];
    b->phase = b->outcome == OUTCOME_OK ? NULL : trial_phase_name(r->phase[i]);
    b->reason = arena_strdup(&s->arena, r->reason[i]);
    b->samples = arena_strdup(&s->arena, str_text(&samples));
    b->at = os_unix_time();
    str_finish(&samples);
    return keep(s, b, e);
}

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

static void say(struct session *s, const struct baseline_record *b)
{
    char speed[32], time[32];
    if (b->outcome == OUTCOME_OK)
        session_message(s, "info", "baseline '%s': %s, %s", b->name,
                        speed_text(&s->record, b->seconds, speed), text_time(b->seconds, time));
    else
        session_message(s, "warning", "baseline '%s' %s: %s (%s)", b->name,
                        b->outcome == OUTCOME_WRONG ? "is wrong here" : "does not run here",
                        outcome_name(b->outcome), b->reason);
}

static bool reject(struct session *s, int i, const char *why, struct err *e)
{
    struct baseline_record b = begin(s, i);
    b.outcome = OUTCOME_REJECTED;
    b.reason = arena_strdup(&s->arena, why);
    if (!keep(s, &b, e))
        return false;
    say(s, &b);
    return true;
}

static bool submit(struct session *s, int i, struct err *e)
{
    struct trial_request request = {
        .ticket = TICKET_BASELINE - i, .count = 1, .known_good = true, .accesses = ACCESSES_OF_ALL};
    if (!session_render(s, &s->space->baseline[i].config, &request, 0, e))
        return false;
    source_submit(s->source, &request);
    s->baselines.open++;
    s->in_flight++;
    return true;
}

static bool judge(struct session *s, int i, struct err *e)
{
    const struct baseline *b = &s->space->baseline[i];
    struct verdict v;
    if (b->misfit)
        return reject(s, i, b->misfit, e);
    if (!(s->shapes ? session_shapes_judge_baseline(s, i, &v, e)
                    : session_judge(s, &b->config, &v, e)))
        return err_prefix(e, "baseline '%s'", b->name);
    return v.legal ? submit(s, i, e) : reject(s, i, v.reason, e);
}

bool baselines_submit(struct session *s, bool *all, struct err *e)
{
    struct measured_baselines *m = &s->baselines;
    for (int i = 0; i < s->space->baseline_count && !s->stopping; i++) {
        if (m->submitted[i])
            continue;
        *all = source_room(s->source) > 0;
        if (!*all)
            return true;
        if (!s->started_ns)
            session_run_clock(s, true);
        m->submitted[i] = true;
        if (!judge(s, i, e))
            return false;
    }
    *all = m->open == 0;
    return true;
}

bool baseline_finish(struct session *s, const struct trial_result *r, struct err *e)
{
    int i = (int)(TICKET_BASELINE - r->ticket);
    struct baseline_record b = begin(s, i);
    s->baselines.open--;
    s->in_flight--;
    s->busy = true;
    b.seconds = r->seconds[0];
    if (!take(s, &b, r, 0, e))
        return false;
    say(s, &b);
    return true;
}

bool baseline_retime(struct session *s, int position, const struct trial_result *r, int i,
                     struct err *e)
{
    struct baseline_record b = s->baselines.of[position];
    b.race_seconds = r->seconds[i];
    if (!take(s, &b, r, i, e))
        return false;
    if (b.outcome != OUTCOME_OK)
        say(s, &b);
    return true;
}

bool session_load_baselines(struct session *s, struct err *e)
{
    struct baselines stored;
    if (!store_get_baselines(s->host.store, s->record.id, &s->arena, &stored, e))
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
