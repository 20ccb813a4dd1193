#include "trial/source.h"

#include <assert.h>
#include <math.h>

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
