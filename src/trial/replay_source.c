#include "trial/replay_source.h"

#include "base/mem.h"
#include "trial/source.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct replay_source {
    struct flying flying; // first: a source is a struct replay_source
    const struct recording *recording;
    double speed;
};

double replay_source_cost(const struct record_entry *entry)
{
    double cost = isfinite(entry->compile_s) ? entry->compile_s : 0;
    if (isfinite(entry->benchmark_s))
        return cost + entry->benchmark_s;
    for (int i = 0; i < entry->run_count; i++)
        cost += entry->runs[i];
    return cost + (entry->run_count ? 0 : entry->seconds);
}

static struct samples samples_of(const struct record_entry *entry)
{
    struct samples s = {.seconds = {entry->seconds}, .count = 1};
    if (entry->run_count == 0)
        return s;
    s.count = entry->run_count < TRIAL_MAX_SAMPLES ? entry->run_count : TRIAL_MAX_SAMPLES;
    memcpy(s.seconds, entry->runs, (size_t)s.count * sizeof *entry->runs);
    return s;
}

static void answer(const struct record_entry *entry, struct trial_result *out, int i)
{
    out->outcome[i] = entry->outcome;
    out->compile_s += isfinite(entry->compile_s) ? entry->compile_s : 0;
    out->device_s += isfinite(entry->benchmark_s) ? entry->benchmark_s : 0;
    if (entry->outcome == OUTCOME_OK) {
        out->seconds[i] = entry->seconds;
        out->samples[i] = samples_of(entry);
        return;
    }
    out->phase[i] = flying_phase(entry->outcome);
    snprintf(out->reason[i], sizeof out->reason[i], "the recording says %s",
             outcome_name(entry->outcome));
}

static void replay_answer(const struct source *source, const struct trial_request *r,
                          struct trial_result *out, double *seconds)
{
    const struct replay_source *s = (const struct replay_source *)source;
    *out = (struct trial_result){.ticket = r->ticket, .count = r->count};
    *seconds = 0;
    for (int i = 0; i < r->count; i++) {
        const struct record_entry *entry = recording_find(s->recording, &r->config[i]);
        assert(entry);
        answer(entry, out, i);
        *seconds += s->speed > 0 ? replay_source_cost(entry) / s->speed : 0;
    }
    *seconds = fmin(*seconds, 1e9);
}

static void replay_destroy(struct source *source)
{
    flying_finish(source);
    free(source);
}

static const struct source_kind replay_kind = {
    .name = "replay",
    .needs_jobs = false,
    .deterministic = true,
    .room = flying_room,
    .submit = flying_submit,
    .answer = replay_answer,
    .fds = flying_fds,
    .wait_ms = flying_wait_ms,
    .step = flying_step,
    .collect = flying_collect,
    .destroy = replay_destroy,
};

struct source *replay_source_create(const struct recording *r, double speed, int workers)
{
    struct replay_source *s = mem_zero(1, sizeof *s);
    flying_init(&s->flying, &replay_kind, workers);
    s->recording = r;
    s->speed = speed;
    return &s->flying.base;
}
