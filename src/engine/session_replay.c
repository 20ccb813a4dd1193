#include "engine/session.h"

#include <inttypes.h>
#include <stdlib.h>

#define WIDEST_GAP 65536 // between stored asks: far more than are ever open at once

struct row {
    struct config config;
    bool present, answered; // not answered: it was in flight when its process ended
    enum outcome outcome;
    double seconds, elapsed_s;
    int64_t told, asked_after;
};

struct replay {
    const struct space *space;
    struct row *row; // row[ask - 1]
    int64_t count, capacity;
    int64_t *tell; // asks in the order told
    int64_t told;
    double ran_seconds; // running time of the last one
    struct err err;     // of a row that cannot be read
    bool failed;
};

static void make_room(struct replay *r, int64_t count)
{
    if (count > r->capacity) {
        r->capacity = count > 2 * r->capacity ? count : 2 * r->capacity;
        r->row = mem_resize(r->row, (size_t)r->capacity, sizeof *r->row);
    }
    while (r->count < count)
        r->row[r->count++].present = false;
}

static bool take_row(void *context, const struct trial_record *t)
{
    struct replay *r = context;
    if (t->ask - r->count > WIDEST_GAP) {
        r->failed = !err_set(&r->err, "ask %" PRId64 " follows ask %" PRId64 ": trials are missing",
                             t->ask, r->count);
        return false;
    }
    make_room(r, t->ask);
    struct row *row = &r->row[t->ask - 1];
    *row = (struct row){
        .present = true,
        .answered = t->outcome != NULL,
        .seconds = t->seconds,
        .elapsed_s = t->elapsed_s,
        .told = t->told,
        .asked_after = t->asked_after,
    };
    r->told += row->answered;
    if (t->outcome && !outcome_parse(t->outcome, &row->outcome))
        r->failed =
            !err_set(&r->err, "trial at ask %" PRId64 ": unknown outcome '%s'", t->ask, t->outcome);
    else if (!config_parse_key(r->space, t->key, &row->config, &r->err))
        r->failed = true;
    return !r->failed;
}

// False when the database holds no complete order, which its transactions rule out.
static bool order_tells(struct replay *r)
{
    r->tell = mem_zero((size_t)r->told + 1, sizeof *r->tell);
    for (int64_t i = 0; i < r->count; i++) {
        const struct row *row = &r->row[i];
        if (!row->present || !row->answered)
            continue;
        if (row->told < 1 || row->told > r->told || r->tell[row->told - 1])
            return false;
        r->tell[row->told - 1] = i + 1;
        r->ran_seconds = row->told == r->told ? row->elapsed_s : r->ran_seconds;
    }
    return true;
}

struct replay *replay_load(struct store *store, const struct space *space, int64_t session,
                           double *ran_seconds, struct err *e)
{
    struct replay *r = mem_zero(1, sizeof *r);
    r->space = space;
    bool ok = store_each_trial(store, session, 1, take_row, r, e);
    if (ok && r->failed) {
        if (e)
            *e = r->err;
        ok = err_prefix(e, "session %" PRId64 " is damaged", session);
    }
    if (ok && !order_tells(r))
        ok = err_set(e, "session %" PRId64 " is damaged: the order of its trials is", session);
    if (!ok) {
        replay_destroy(r);
        return NULL;
    }
    *ran_seconds = r->ran_seconds;
    return r;
}

static const struct row *row_of(const struct replay *r, int64_t ask)
{
    return r && ask <= r->count && r->row[ask - 1].present ? &r->row[ask - 1] : NULL;
}

bool replay_has(const struct replay *r, int64_t ask)
{
    return row_of(r, ask) != NULL;
}

bool replay_is_over(const struct replay *r, int64_t told)
{
    return !r || told >= r->told;
}

bool replay_may_ask(const struct replay *r, int64_t ask, int64_t told)
{
    const struct row *row = row_of(r, ask);
    return !row || told >= row->asked_after;
}

bool replay_may_tell(const struct replay *r, int64_t ask, int64_t asked, int64_t told)
{
    const struct row *next_ask = row_of(r, asked + 1);
    if (next_ask && told >= next_ask->asked_after)
        return false; // that ask came first
    return replay_is_over(r, told) || r->tell[told] == ask;
}

void replay_destroy(struct replay *r)
{
    if (!r)
        return;
    free(r->row);
    free(r->tell);
    free(r);
}

int replay_answer(const struct replay *r, int64_t ask, const struct config *config,
                  struct open_trial *out, struct err *e)
{
    const struct row *row = row_of(r, ask);
    if (!row)
        return 0;
    if (!config_equal(&row->config, config)) {
        err_set(
            e,
            "the search proposes another configuration for ask %" PRId64 " than the database holds "
            "(made by another version of tilewalk? its results can still be shown and exported)",
            ask);
        return -1;
    }
    out->recorded = true;
    if (!row->answered)
        return 0;
    out->answered = out->stored = true;
    out->outcome = row->outcome;
    out->seconds = row->seconds;
    return 1;
}
