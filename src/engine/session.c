#include "engine/session.h"

#include "engine/speed.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

void open_trial_destroy(struct open_trial *t)
{
    free(t->result);
    free(t->origin);
    free(t);
}

bool session_is_out_of_patience(const struct session *s)
{
    const int64_t patience = s->record.patience;
    return patience > 0 && s->cycle.trials - s->cycle.trials_at_gain >= patience;
}

bool session_is_near_peak(const struct session *s)
{
    const struct session_record *r = &s->record;
    return r->until > 0 && speed_of_peak(r, s->cycle.best.seconds) >= r->until;
}

void session_emit(struct session *s, enum event_kind kind, const struct trial_record *trial,
                  const struct retime_record *retime)
{
    const struct source *source = s->backend.source;
    session_event(&s->log,
                  (struct event){.kind = kind,
                                 .trial = trial,
                                 .retime = retime,
                                 .busy_seconds = source ? source_busy_seconds(source) : 0});
    // A session that goes on keeps its state when its replay is over (session_step.c).
    if (kind == EVENT_SESSION && !s->cycle.replay && s->phase != SESSION_ENDED)
        session_keep_state(&s->log);
}

void kill_point(const char *name)
{
    static int visits;
    const char *wanted = getenv("TILEWALK_KILL");
    if (!wanted || !str_starts(wanted, name) || wanted[strlen(name)] != ':')
        return;
    if (++visits == atoi(wanted + strlen(name) + 1))
        raise(SIGKILL);
}
