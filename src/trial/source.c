#include "trial/source.h"

#include "base/mem.h"
#include "base/os.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct flight {
    int64_t due_ns;
    struct trial_result result;
};

void flying_init(struct flying *f, const struct source_kind *kind, int workers)
{
    *f = (struct flying){
        .base = {kind}, .workers = workers, .flight = mem_zero((size_t)workers, sizeof *f->flight)};
}

void flying_finish(struct source *s)
{
    free(((struct flying *)s)->flight);
}

void flying_add(struct source *s, const struct trial_result *result, double seconds)
{
    struct flying *f = (struct flying *)s;
    assert(f->count < f->workers);
    struct flight *flight = &f->flight[f->count++];
    *flight = (struct flight){os_now_ns() + (int64_t)(seconds * 1e9), *result};
    flight->result.worker = (int)(result->ticket % f->workers);
}

void flying_submit(struct source *s, struct trial_request *r)
{
    struct trial_result result;
    double seconds;
    s->kind->answer(s, r, &result, &seconds);
    for (int i = 0; i < r->count; i++)
        job_finish(&r->job[i]);
    flying_add(s, &result, seconds);
}

int flying_room(const struct source *s)
{
    const struct flying *f = (const struct flying *)s;
    return f->workers - f->count;
}

int flying_fds(const struct source *s, struct pollfd *out, int most)
{
    (void)s, (void)out, (void)most;
    return 0;
}

static int first_due(const struct flying *f)
{
    int first = 0;
    for (int i = 1; i < f->count; i++)
        if (f->flight[i].due_ns < f->flight[first].due_ns)
            first = i;
    return first;
}

int flying_wait_ms(const struct source *s)
{
    const struct flying *f = (const struct flying *)s;
    if (f->count == 0)
        return -1;
    int64_t left_ns = f->flight[first_due(f)].due_ns - os_now_ns();
    if (left_ns <= 0)
        return 0;
    return left_ns / 1000000 >= INT_MAX ? INT_MAX : (int)(left_ns / 1000000) + 1;
}

bool flying_step(struct source *s, struct err *e)
{
    (void)s, (void)e;
    return true;
}

bool flying_collect(struct source *s, struct trial_result *out)
{
    struct flying *f = (struct flying *)s;
    int first = first_due(f);
    if (f->count == 0 || f->flight[first].due_ns > os_now_ns())
        return false;
    *out = f->flight[first].result;
    f->count--;
    memmove(f->flight + first, f->flight + first + 1,
            (size_t)(f->count - first) * sizeof *f->flight);
    return true;
}

static void flying_destroy(struct source *s)
{
    flying_finish(s);
    free(s);
}

static const struct source_kind flying_kind = {
    .name = "flying",
    .deterministic = true,
    .room = flying_room,
    .fds = flying_fds,
    .wait_ms = flying_wait_ms,
    .step = flying_step,
    .collect = flying_collect,
    .destroy = flying_destroy,
};

struct source *flying_create(int workers)
{
    struct flying *f = mem_zero(1, sizeof *f);
    flying_init(f, &flying_kind, workers);
    return &f->base;
}

enum trial_phase flying_phase(enum outcome o)
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
    return s->kind->fds(s, out, most);
}

int source_wait_ms(const struct source *s)
{
    return s->kind->wait_ms(s);
}

bool source_step(struct source *s, struct err *e)
{
    return s->kind->step(s, e);
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

void source_destroy(struct source *s)
{
    if (s)
        s->kind->destroy(s);
}
