// What the driver says of configurations before they are measured: the search asks for it
// (search_problem.look), they are compiled beside the trials, and what was said is stored before
// the search knows of it. So a session that goes on knows what it knew, and asks for the same.
#include "engine/session_setup.h"
#include "engine/session_step.h"
#include "report/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static void set_numbers(struct preview *l, const struct statistics *told)
{
    for (int k = 0; k < STATISTIC_KIND_COUNT; k++)
        if (!statistics_total(told, (enum statistic_kind)k, &l->number[k]))
            l->number[k] = NAN;
}

static void know(struct looked *l, const struct config *c, bool fits, const struct statistics *told)
{
    bool is_new;
    int index = config_set_add(&l->known, c, &is_new);
    if (!is_new)
        return;
    MEM_GROW(l->of, index, l->capacity);
    l->of[index].fits = fits;
    set_numbers(&l->of[index], told);
}

bool session_look(void *context, const struct config *c, int count, struct preview *out)
{
    struct session *s = context;
    bool all = true;
    for (int i = 0; i < count; i++) {
        int index = config_set_find(&s->looked.known, &c[i]);
        if (index >= 0)
            out[i] = s->looked.of[index];
        else
            config_set_add(&s->looked.wanted, &c[i], NULL);
        all &= index >= 0;
    }
    return all;
}

bool look_submit(struct session *s, struct err *e)
{
    struct looked *l = &s->looked;
    while (l->submitted < l->wanted.count && source_room(s->source) > 0) {
        struct config c;
        struct trial_request request = {
            .ticket = TICKET_LOOK - l->submitted, .count = 1, .only_compiles = true, .keeps = true};
        config_set_get(&l->wanted, l->submitted, &c);
        if (!session_render(s, &c, &request, 0, e))
            return false;
        source_submit(s->source, &request);
        l->submitted++;
        s->busy = true;
    }
    return true;
}

// What would be left out for its spills does not fit either.
static bool fits(const struct session *s, const struct trial_result *r)
{
    double spills;
    return r->outcome[0] == OUTCOME_OK &&
           !(s->device.limits.spills &&
             statistics_total(&r->statistics[0], STATISTIC_SPILLS, &spills) &&
             spills > s->device.limits.spills);
}

bool look_finish(struct session *s, const struct trial_result *r, struct err *e)
{
    struct config c;
    struct str key = {0}, told = {0};
    config_set_get(&s->looked.wanted, (int)(TICKET_LOOK - r->ticket), &c);
    config_add_key(s->space, &c, &key);
    statistics_add_json(&r->statistics[0], &told);
    struct look_record record = {
        .key = str_text(&key), .fits = fits(s, r), .statistics = str_text(&told)};
    kill_point("look");
    bool ok = session_stored(s, store_put_look(s->host.store, s->record.id, &record, e), e);
    if (ok)
        know(&s->looked, &c, record.fits, &r->statistics[0]);
    str_finish(&key);
    str_finish(&told);
    return ok;
}

void session_learn_look(struct session *s, const struct config *c, const struct statistics *told)
{
    if (s->device.tells_statistics)
        know(&s->looked, c, true, told);
}

// --- what is stored ---

struct reading {
    struct session *session;
    struct err err; // of a row that cannot be read
    bool failed;
};

static bool take_row(void *context, const struct look_record *row)
{
    struct reading *r = context;
    struct config c;
    struct statistics told;
    r->failed = !config_parse_key(r->session->space, row->key, &c, &r->err);
    if (r->failed)
        return false;
    told_parse(row->statistics, &told);
    know(&r->session->looked, &c, row->fits, &told);
    return true;
}

bool session_load_looks(struct session *s, struct err *e)
{
    struct reading r = {.session = s};
    if (!store_each_look(s->host.store, s->record.id, take_row, &r, e))
        return false;
    if (r.failed && e)
        *e = r.err;
    return !r.failed || err_prefix(e, "session %" PRId64 " is damaged", s->record.id);
}

void looked_finish(struct looked *l)
{
    config_set_finish(&l->known);
    config_set_finish(&l->wanted);
    free(l->of);
}
