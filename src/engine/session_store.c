#include "engine/session_store.h"

#include "base/os.h"

#include <inttypes.h>

double session_clock_seconds(const struct session_clock *c)
{
    double now = c->started_ns ? (double)(os_now_ns() - c->started_ns) / 1e9 : 0;
    return c->record->ran_seconds + now;
}

void session_clock_run(struct session_clock *c, bool running)
{
    c->record->ran_seconds = session_clock_seconds(c);
    c->started_ns = running ? os_now_ns() : 0;
}

int64_t session_clock_trials(const struct session_clock *c)
{
    double seconds = c->record->budget_seconds;
    return seconds > 0 && session_clock_seconds(c) >= seconds ? 0 : c->record->budget_trials;
}

bool session_stored(struct session_store *s, bool ok, struct err *e)
{
    ok = ok && store_in_place(s->db, e);
    s->failed |= !ok;
    return ok ||
           err_prefix(e, "session %" PRId64 " stopped, nothing stored is lost", s->record->id);
}

bool session_store_state(struct session_store *s, enum session_state state, const char *message,
                         struct err *e)
{
    struct session_record *r = s->record;
    r->state = state;
    r->message = message;
    return session_stored(s, store_set_state(s->db, r->id, state, message, r->ran_seconds, e), e);
}

bool session_store_budget(struct session_store *s, const char *text, struct err *e)
{
    struct session_record *r = s->record;
    int64_t trials;
    if (!str_to_int(text, 1, INT64_MAX / 2, &trials))
        return true;
    r->budget_trials = trials;
    return session_stored(s, store_set_budget(s->db, r->id, trials, r->budget_seconds, e), e);
}

// --- times of a candidate ---

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

void retime_init(struct retime *t, int64_t ask, const char *kind, const struct trial_result *r,
                 int i)
{
    *t = (struct retime){.record = {.ask = ask,
                                    .kind = kind,
                                    .seconds = r->seconds[i],
                                    .verified = r->outcome[i] == OUTCOME_OK,
                                    .at = os_unix_time()}};
    samples_add_json(&r->samples[i], &t->samples);
    t->record.samples = str_text(&t->samples);
    parts_add_json(r, i, &t->parts);
    t->record.parts = r->shapes ? str_text(&t->parts) : NULL;
}

void retime_finish(struct retime *t)
{
    str_finish(&t->samples);
    str_finish(&t->parts);
}
