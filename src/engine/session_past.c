// The stored trials of a session that goes on, as what its search has done before.
#include "engine/session_setup.h"
#include "engine/session_shapes.h"
#include "report/text.h"

#include <inttypes.h>

struct reading {
    struct session *session;
    struct past *past;
    int64_t told;
    double ran_seconds; // when the last one was told
    struct err err;     // of a row that cannot be read
    bool failed;
};

static bool read_trial(const struct reading *r, const struct trial_record *t,
                       struct past_trial *out, struct err *e)
{
    *out = (struct past_trial){
        .ask = t->ask,
        .asked_after = t->asked_after,
        .answered = t->outcome != OUTCOME_OPEN,
        .told = t->told,
        .outcome = t->outcome,
        .seconds = t->seconds,
        .took_s = t->compile_s + t->pipeline_s + t->device_s,
    };
    return config_parse_key(r->session->space, t->key, &out->config, e);
}

static bool take_row(void *context, const struct trial_record *t)
{
    struct reading *r = context;
    struct past_trial trial;
    struct statistics told;
    r->failed = !read_trial(r, t, &trial, &r->err) || !past_add(r->past, &trial, &r->err);
    if (!r->failed && trial.answered) {
        told_parse(t->statistics, &told);
        session_learn_look(r->session, &trial.config, &told);
    }
    if (!r->failed)
        session_shapes_remember(r->session, t->ask, t->parts);
    if (trial.answered && t->told > r->told) {
        r->told = t->told;
        r->ran_seconds = t->elapsed_s;
    }
    return !r->failed;
}

bool session_load_past(struct session *s, double *ran_seconds, struct err *e)
{
    int64_t id = s->record.id;
    struct reading r = {.session = s, .past = past_create()};
    s->cycle.past = r.past;
    if (!store_each_trial(s->host.store, id, 1, take_row, &r, e))
        return false;
    if (r.failed) {
        if (e)
            *e = r.err;
        return err_prefix(e, "session %" PRId64 " is damaged", id);
    }
    *ran_seconds = r.ran_seconds;
    return past_close(r.past) ||
           err_set(e, "session %" PRId64 " is damaged: the order of its trials is", id);
}
