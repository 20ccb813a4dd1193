// Compiler statistics of configurations before they are measured. The search asks for them
// (search_problem.probe), the configurations are compiled beside the trials, and the statistics are
// stored before the search gets them. So a session that goes on has the same statistics and asks
// for the same configurations.

#include "engine/session.h"

#include "report/text.h"

#include <inttypes.h>
#include <math.h>

static void learn(struct probes *p, const struct config *c, bool fits,
                  const struct statistics *told)
{
    bool is_new;
    int index = config_set_add(&p->known, c, &is_new);
    if (!is_new)
        return;
    MEM_GROW(p->of, index, p->capacity);
    p->of[index].fits = fits;
    for (int k = 0; k < STATISTIC_KIND_COUNT; k++)
        if (!statistics_total(told, (enum statistic_kind)k, &p->of[index].number[k]))
            p->of[index].number[k] = NAN;
}

void probes_learn(struct session *s, const struct config *c, const struct statistics *told)
{
    if (s->backend.device.tells_statistics)
        learn(&s->probes, c, true, told);
}

bool session_probe(void *context, const struct config *c, int count, struct compile_probe *out)
{
    struct probes *p = &((struct session *)context)->probes;
    bool all = true;
    for (int i = 0; i < count; i++) {
        int index = config_set_find(&p->known, &c[i]);
        if (index >= 0)
            out[i] = p->of[index];
        else
            config_set_add(&p->wanted, &c[i], NULL);
        all &= index >= 0;
    }
    return all;
}

bool probes_submit(struct session *s, struct err *e)
{
    struct probes *p = &s->probes;
    while (p->submitted < p->wanted.count && source_room(s->backend.source) > 0) {
        struct config c;
        struct trial_request request = {.ticket = TICKET_PROBE - p->submitted,
                                        .count = 1,
                                        .only_compiles = true,
                                        .keeps = true};
        config_set_get(&p->wanted, p->submitted, &c);
        if (!backend_render(&s->backend, &c, &request, 0, e))
            return false;
        source_submit(s->backend.source, &request);
        p->submitted++;
        s->busy = true;
    }
    return true;
}

bool probe_finish(struct session *s, const struct trial_result *r, struct err *e)
{
    const struct statistics *told = &r->statistics[0];
    const uint32_t most_spills = s->backend.device.limits.spills;
    struct config c;
    struct str key = {0}, text = {0};
    double spills;
    // A configuration that would be left out for its spills does not fit either.
    bool fits =
        r->outcome[0] == OUTCOME_OK &&
        !(most_spills && statistics_total(told, STATISTIC_SPILLS, &spills) && spills > most_spills);
    config_set_get(&s->probes.wanted, (int)(TICKET_PROBE - r->ticket), &c);
    config_add_key(s->space, &c, &key);
    statistics_add_json(told, &text);
    struct probe_record record = {
        .key = str_text(&key), .fits = fits, .statistics = str_text(&text)};
    kill_point("look");
    bool ok = session_stored(&s->store, store_put_probe(s->store.db, s->record.id, &record, e), e);
    if (ok)
        learn(&s->probes, &c, fits, told);
    str_finish(&key);
    str_finish(&text);
    return ok;
}

// --- the database ---

struct reading {
    struct session *session;
    struct err err; // of a row that cannot be read
    bool failed;
};

static bool probe_take_row(void *context, const struct probe_record *row)
{
    struct reading *r = context;
    struct config c;
    struct statistics told;
    r->failed = !config_parse_key(r->session->space, row->key, &c, &r->err);
    if (r->failed)
        return false;
    text_parse_statistics(row->statistics, &told);
    learn(&r->session->probes, &c, row->fits, &told);
    return true;
}

bool probes_load(struct session *s, struct err *e)
{
    struct reading r = {.session = s};
    if (!store_each_probe(s->store.db, s->record.id, probe_take_row, &r, e))
        return false;
    if (r.failed && e)
        *e = r.err;
    return !r.failed || err_prefix(e, "session %" PRId64 " is damaged", s->record.id);
}
