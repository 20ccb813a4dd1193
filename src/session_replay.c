#include "session.h"

#include <inttypes.h>
#include <stdlib.h>

struct row {
    struct config config;
    enum outcome outcome;
    bool present;
    double seconds;
};

struct replay {
    const struct space *space;
    struct row *row; // row[ask - 1]
    int64_t count, capacity;
    struct err err; // of a row that cannot be read
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
    if (!t->outcome) // in flight when its process ended
        return true;
    make_room(r, t->ask);
    struct row *row = &r->row[t->ask - 1];
    *row = (struct row){.present = true, .seconds = t->seconds};
    if (!outcome_parse(t->outcome, &row->outcome))
        r->failed =
            !err_set(&r->err, "trial %" PRId64 ": unknown outcome '%s'", t->ask, t->outcome);
    else if (!config_parse_key(r->space, t->key, &row->config, &r->err))
        r->failed = true;
    return !r->failed;
}

struct replay *replay_load(struct store *store, const struct space *space, int64_t session,
                           struct err *e)
{
    struct replay *r = mem_zero(1, sizeof *r);
    r->space = space;
    if (store_each_trial(store, session, 1, take_row, r, e) && !r->failed)
        return r;
    if (r->failed && e)
        *e = r->err;
    replay_destroy(r);
    return NULL;
}

void replay_destroy(struct replay *r)
{
    if (!r)
        return;
    free(r->row);
    free(r);
}

int replay_answer(struct replay *r, int64_t ask, const struct config *config,
                  struct open_trial *out, struct err *e)
{
    if (ask > r->count || !r->row[ask - 1].present)
        return 0;
    const struct row *row = &r->row[ask - 1];
    if (!config_equal(&row->config, config)) {
        err_set(
            e,
            "the search proposes another configuration for ask %" PRId64 " than the database holds "
            "(made by another version of tilewalk? its results can still be shown and exported)",
            ask);
        return -1;
    }
    out->answered = out->stored = true;
    out->outcome = row->outcome;
    out->seconds = row->seconds;
    return 1;
}
