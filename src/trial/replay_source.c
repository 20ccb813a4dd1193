#include "trial/replay_source.h"

#include "base/mem.h"
#include "base/os.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct flight {
    int64_t due_ns;
    struct trial_result result;
};

struct replay_source {
    struct source base; // first: a source is a struct replay_source
    const struct recording *recording;
    double speed;
    int workers, flying;
    struct flight *flight; // [workers], in the order submitted
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

static enum trial_phase failing_phase(enum outcome o)
{
    switch (o) {
    case OUTCOME_OK:
    case OUTCOME_REJECTED: return PHASE_NONE;
    case OUTCOME_COMPILE: return PHASE_COMPILE;
    case OUTCOME_DRIVER: return PHASE_PIPELINE;
    case OUTCOME_WRONG: return PHASE_VERIFY;
    default: return PHASE_RUN;
    }
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
    out->phase[i] = failing_phase(entry->outcome);
    snprintf(out->reason[i], sizeof out->reason[i], "the recording says %s",
             outcome_name(entry->outcome));
}

static int replay_room(const struct source *source)
{
    const struct replay_source *s = (const struct replay_source *)source;
    return s->workers - s->flying;
}

static void replay_submit(struct source *source, struct trial_request *r)
{
    struct replay_source *s = (struct replay_source *)source;
    struct flight *f = &s->flight[s->flying++];
    double seconds = 0;
    f->result = (struct trial_result){
        .ticket = r->ticket, .count = r->count, .worker = (int)(r->ticket % s->workers)};
    for (int i = 0; i < r->count; i++) {
        const struct record_entry *entry = recording_find(s->recording, &r->config[i]);
        assert(entry);
        answer(entry, &f->result, i);
        seconds += s->speed > 0 ? replay_source_cost(entry) / s->speed : 0;
        job_finish(&r->job[i]);
    }
    f->due_ns = os_now_ns() + (int64_t)(fmin(seconds, 1e9) * 1e9);
}

static int replay_fds(const struct source *source, struct pollfd *out, int most)
{
    (void)source, (void)out, (void)most;
    return 0;
}

static int first_due(const struct replay_source *s)
{
    int first = 0;
    for (int i = 1; i < s->flying; i++)
        if (s->flight[i].due_ns < s->flight[first].due_ns)
            first = i;
    return first;
}

static int replay_wait_ms(const struct source *source)
{
    const struct replay_source *s = (const struct replay_source *)source;
    if (s->flying == 0)
        return -1;
    int64_t left_ns = s->flight[first_due(s)].due_ns - os_now_ns();
    if (left_ns <= 0)
        return 0;
    return left_ns / 1000000 >= INT_MAX ? INT_MAX : (int)(left_ns / 1000000) + 1;
}

static bool replay_step(struct source *source, struct err *e)
{
    (void)source, (void)e;
    return true;
}

static bool replay_collect(struct source *source, struct trial_result *out)
{
    struct replay_source *s = (struct replay_source *)source;
    if (s->flying == 0)
        return false;
    int first = first_due(s);
    if (s->speed > 0 && s->flight[first].due_ns > os_now_ns())
        return false;
    *out = s->flight[first].result;
    s->flying--;
    memmove(s->flight + first, s->flight + first + 1,
            (size_t)(s->flying - first) * sizeof *s->flight);
    return true;
}

static void replay_destroy(struct source *source)
{
    struct replay_source *s = (struct replay_source *)source;
    free(s->flight);
    free(s);
}

static const struct source_kind replay_kind = {
    .name = "replay",
    .needs_jobs = false,
    .deterministic = true,
    .room = replay_room,
    .submit = replay_submit,
    .fds = replay_fds,
    .wait_ms = replay_wait_ms,
    .step = replay_step,
    .collect = replay_collect,
    .destroy = replay_destroy,
};

struct source *replay_source_create(const struct recording *r, double speed, int workers)
{
    struct replay_source *s = mem_zero(1, sizeof *s);
    s->base.kind = &replay_kind;
    s->recording = r;
    s->speed = speed;
    s->workers = workers;
    s->flight = mem_zero((size_t)workers, sizeof *s->flight);
    return &s->base;
}
