#include "trial/source.h"

#include "base/mem.h"
#include "base/number.h"
#include "base/os.h"
#include "record/record.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FDS = 64 };

int source_room(const struct source *s)
{
    return s->kind->room(s);
}

void source_submit(struct source *s, struct trial_request *r)
{
    assert(source_room(s) > 0);
    assert(r->count >= 1 && r->count <= TRIAL_MAX_RACERS);
    s->kind->submit(s, r);
}

int source_fds(const struct source *s, struct pollfd *out, int most)
{
    return s->kind->fds ? s->kind->fds(s, out, most) : 0;
}

int source_wait_ms(const struct source *s)
{
    return s->kind->wait_ms(s);
}

bool source_step(struct source *s, struct err *e)
{
    return !s->kind->step || s->kind->step(s, e);
}

bool source_collect(struct source *s, struct trial_result *out)
{
    return s->kind->collect(s, out);
}

bool source_wait(struct source *s, struct trial_result *out, struct err *e)
{
    struct pollfd fds[MOST_FDS];
    while (source_step(s, e)) {
        if (source_collect(s, out))
            return true;
        poll(fds, (nfds_t)source_fds(s, fds, MOST_FDS), source_wait_ms(s));
    }
    return false;
}

double source_busy_seconds(const struct source *s)
{
    return s->kind->busy_seconds ? s->kind->busy_seconds(s) : NAN;
}

int source_workers(const struct source *s, struct worker_now *out, int most)
{
    return s->kind->workers ? s->kind->workers(s, out, most) : 0;
}

void source_destroy(struct source *s)
{
    if (s)
        s->kind->destroy(s);
}

// --- delayed results ---

struct delayed_result {
    int64_t from_ns, due_ns;
    struct trial_result result;
};

void delayed_init(struct delayed *d, const struct source_kind *kind, int workers)
{
    *d = (struct delayed){
        .base = {kind}, .workers = workers, .result = mem_zero((size_t)workers, sizeof *d->result)};
}

void delayed_finish(struct source *s)
{
    free(((struct delayed *)s)->result);
}

void delayed_add(struct source *s, const struct trial_result *result, double seconds)
{
    struct delayed *d = (struct delayed *)s;
    assert(d->count < d->workers);
    struct delayed_result *r = &d->result[d->count++];
    int64_t now_ns = os_now_ns();
    *r = (struct delayed_result){now_ns, now_ns + (int64_t)(seconds * 1e9), *result};
    r->result.worker = (int)(result->ticket % d->workers);
}

void delayed_submit(struct source *s, struct trial_request *r)
{
    struct trial_result result;
    double seconds;
    s->kind->answer(s, r, &result, &seconds);
    for (int i = 0; i < r->count; i++)
        job_finish(&r->job[i]);
    delayed_add(s, &result, seconds);
}

int delayed_room(const struct source *s)
{
    const struct delayed *d = (const struct delayed *)s;
    return d->workers - d->count;
}

static int first_due(const struct delayed *d)
{
    int first = 0;
    for (int i = 1; i < d->count; i++)
        if (d->result[i].due_ns < d->result[first].due_ns)
            first = i;
    return first;
}

int delayed_wait_ms(const struct source *s)
{
    const struct delayed *d = (const struct delayed *)s;
    if (d->count == 0)
        return -1;
    int64_t left_ns = d->result[first_due(d)].due_ns - os_now_ns();
    return left_ns <= 0 ? 0 : (int)int64_min(left_ns / 1000000 + 1, INT_MAX);
}

bool delayed_collect(struct source *s, struct trial_result *out)
{
    struct delayed *d = (struct delayed *)s;
    int first = first_due(d);
    if (d->count == 0 || d->result[first].due_ns > os_now_ns())
        return false;
    *out = d->result[first].result;
    d->count--;
    memmove(d->result + first, d->result + first + 1,
            (size_t)(d->count - first) * sizeof *d->result);
    return true;
}

int delayed_workers(const struct source *s, struct worker_now *out, int most)
{
    const struct delayed *d = (const struct delayed *)s;
    int count = int_min(d->count, most);
    for (int i = 0; i < count; i++) {
        const struct delayed_result *r = &d->result[i];
        out[i] = (struct worker_now){r->result.worker, PHASE_TIME, r->result.ticket, r->from_ns};
    }
    return count;
}

static void delayed_destroy(struct source *s)
{
    delayed_finish(s);
    free(s);
}

struct source *delayed_create(int workers)
{
    static const struct source_kind kind = {
        .name = "delayed", DELAYED_KIND, .destroy = delayed_destroy};
    struct delayed *d = mem_zero(1, sizeof *d);
    delayed_init(d, &kind, workers);
    return &d->base;
}

// --- recorded spaces ---

struct replay_source {
    struct delayed delayed; // first: a source is a struct replay_source
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

static void replay_answer(const struct source *source, const struct trial_request *r,
                          struct trial_result *out, double *seconds)
{
    const struct replay_source *s = (const struct replay_source *)source;
    *out = (struct trial_result){.ticket = r->ticket, .count = r->count};
    *seconds = 0;
    for (int i = 0; i < r->count; i++) {
        const struct record_entry *entry = recording_find(s->recording, &r->config[i]);
        assert(entry);
        *seconds += s->speed > 0 ? replay_source_cost(entry) / s->speed : 0;
        out->outcome[i] = entry->outcome;
        out->compile_s += isfinite(entry->compile_s) ? entry->compile_s : 0;
        out->device_s += isfinite(entry->benchmark_s) ? entry->benchmark_s : 0;
        if (entry->outcome != OUTCOME_OK) {
            out->phase[i] = outcome_phase(entry->outcome);
            snprintf(out->reason[i], sizeof out->reason[i], "the recording says %s",
                     outcome_name(entry->outcome));
            continue;
        }
        out->seconds[i] = entry->seconds;
        out->samples[i] = (struct samples){.seconds = {entry->seconds}, .count = 1};
        if (entry->run_count > 0) {
            out->samples[i].count = int_min(entry->run_count, TRIAL_MAX_SAMPLES);
            memcpy(out->samples[i].seconds, entry->runs,
                   (size_t)out->samples[i].count * sizeof *entry->runs);
        }
    }
    *seconds = fmin(*seconds, 1e9);
}

struct source *replay_source_create(const struct recording *r, double speed, int workers)
{
    static const struct source_kind kind = {
        .name = "replay", DELAYED_KIND, .answer = replay_answer, .destroy = delayed_destroy};
    struct replay_source *s = mem_zero(1, sizeof *s);
    delayed_init(&s->delayed, &kind, workers);
    s->recording = r;
    s->speed = speed;
    return &s->delayed.base;
}

// --- phases ---

const char *trial_phase_name(enum trial_phase p)
{
    static const char *const names[PHASE_COUNT] = {
        [PHASE_NONE] = "none",       [PHASE_START] = "start",       [PHASE_PREPARE] = "prepare",
        [PHASE_COMPILE] = "compile", [PHASE_PIPELINE] = "pipeline", [PHASE_WAIT] = "wait",
        [PHASE_RUN] = "run",         [PHASE_VERIFY] = "verify",     [PHASE_TIME] = "time",
    };
    assert(p >= 0 && p < PHASE_COUNT);
    return names[p];
}

enum trial_phase outcome_phase(enum outcome o)
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
