#include "engine/session.h"

#include "base/os.h"
#include "engine/session_shapes.h"
#include "engine/speed.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

void kill_point(const char *name)
{
    static int visits;
    const char *wanted = getenv("TILEWALK_KILL");
    if (!wanted || !str_starts(wanted, name) || wanted[strlen(name)] != ':')
        return;
    if (++visits == atoi(wanted + strlen(name) + 1))
        raise(SIGKILL);
}

void samples_add_json(const struct samples *samples, struct str *out)
{
    str_add(out, "[");
    for (int i = 0; i < samples->count; i++)
        str_printf(out, "%s%.9g", i ? "," : "", samples->seconds[i]);
    str_add(out, "]");
}

void parts_add_json(const struct trial_result *r, int candidate, struct str *out)
{
    for (int i = 0; i < r->shapes; i++) {
        double seconds = r->part_s[candidate][i];
        str_add(out, i ? "," : "[");
        if (seconds > 0)
            str_printf(out, "%.17g", seconds);
        else
            str_add(out, "null");
    }
    str_add(out, r->shapes ? "]" : "");
}

void open_trial_destroy(struct open_trial *t)
{
    free(t->result);
    free(t->origin);
    free(t);
}

bool session_ended(const struct session *s)
{
    return s->phase == SESSION_ENDED;
}

double session_ran_seconds(const struct session *s)
{
    double now = s->started_ns ? (double)(os_now_ns() - s->started_ns) / 1e9 : 0;
    return s->record.ran_seconds + now;
}

void session_run_clock(struct session *s, bool running)
{
    s->record.ran_seconds = session_ran_seconds(s);
    s->started_ns = running ? os_now_ns() : 0;
}

const struct limits *session_limits(const struct session *s)
{
    return s->device.is_known ? &s->device.limits : NULL;
}

bool session_judge(const struct session *s, const struct config *c, struct verdict *v,
                   struct err *e)
{
    if (s->shapes)
        return session_shapes_judge(s, c, v, e);
    return space_judge(s->space, session_limits(s), c, v, e);
}

bool session_render(struct session *s, const struct config *c, struct trial_request *r, int index,
                    struct err *e)
{
    r->config[index] = *c;
    return !s->source->kind->needs_jobs || script_render(s->script, c, &r->job[index], e);
}

bool session_stored(struct session *s, bool ok, struct err *e)
{
    ok = ok && store_in_place(s->host.store, e);
    s->hold.failed |= !ok;
    return ok || err_prefix(e, "session %" PRId64 " stopped, nothing stored is lost", s->record.id);
}

bool session_is_near_roof(const struct session *s)
{
    const struct session_record *r = &s->record;
    return r->until > 0 && speed_of_roof(r, s->cycle.best.seconds) >= r->until;
}

bool session_set_budget(struct session *s, const char *text, struct err *e)
{
    int64_t trials;
    if (!str_to_int(text, 1, INT64_MAX / 2, &trials))
        return true;
    s->record.budget_trials = trials;
    return session_stored(
        s, store_set_budget(s->host.store, s->record.id, trials, s->record.budget_seconds, e), e);
}
