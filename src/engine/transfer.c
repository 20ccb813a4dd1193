#include "engine/transfer.h"

#include "engine/stored.h"
#include "store/store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// --- one session ---

struct reader {
    const struct space *space;
    double flop;
    int64_t told; // those told later do not count
    struct config *config;
    double *fitness;
    int64_t *order; // when each was told
    int count, capacity;
    int64_t answers,
        last; // of all that count, rejected ones too: how many, and the latest one told
    bool failed;
    struct err err;
};

static void make_room(struct reader *r)
{
    if (r->count < r->capacity)
        return;
    r->capacity = r->capacity ? 2 * r->capacity : 256;
    r->config = mem_resize(r->config, (size_t)r->capacity, sizeof *r->config);
    r->fitness = mem_resize(r->fitness, (size_t)r->capacity, sizeof *r->fitness);
    r->order = mem_resize(r->order, (size_t)r->capacity, sizeof *r->order);
}

static bool take(void *context, const struct trial_record *t)
{
    struct reader *r = context;
    if (t->outcome == OUTCOME_OPEN || t->told > r->told)
        return true;
    r->last = t->told > r->last ? t->told : r->last;
    r->answers++;
    if (t->outcome == OUTCOME_REJECTED)
        return true;
    make_room(r);
    r->failed = !config_parse_key(r->space, t->key, &r->config[r->count], &r->err);
    r->fitness[r->count] = t->outcome == OUTCOME_OK ? r->flop / t->seconds / 1e12 : 0;
    r->order[r->count++] = t->told;
    return !r->failed;
}

// In the order told, which is that of the asks unless the strategy was asynchronous.
static void keep(struct reader *r, struct arena *a, struct search_history *out)
{
    struct config *config = arena_zero(a, (size_t)r->count + 1, sizeof *config);
    double *fitness = arena_zero(a, (size_t)r->count + 1, sizeof *fitness);
    int *at = mem_zero((size_t)r->last + 1, sizeof *at);
    for (int i = 0; i < r->count; i++)
        at[r->order[i]] = i + 1;
    out->count = 0;
    for (int64_t told = 0; told <= r->last; told++)
        if (at[told]) {
            config[out->count] = r->config[at[told] - 1];
            fitness[out->count++] = r->fitness[at[told] - 1];
        }
    out->config = config;
    out->fitness = fitness;
    free(at);
}

static bool read_results(struct store *store, struct transfer_source *from, double flop,
                         struct arena *a, struct search_history *out, struct err *e)
{
    struct reader r = {.space = out->space, .flop = flop, .told = from->told};
    bool ok = store_each_trial(store, from->session, 1, take, &r, e);
    if (ok && r.failed && e)
        *e = r.err;
    ok = ok && !r.failed;
    if (ok && r.last != r.answers)
        ok =
            err_set(e, "session %" PRId64 " is damaged: the order of its trials is", from->session);
    if (ok)
        keep(&r, a, out);
    from->told = r.last;
    free(r.config);
    free(r.fitness);
    free(r.order);
    return ok;
}

static void release(struct transfer_source *s)
{
    script_destroy(s->script);
    recording_destroy(s->recording);
    s->script = NULL;
    s->recording = NULL;
}

#define ALL_TOLD INT64_MAX // of a session that has to be there

// Adds a session to `t`, which has room for it.
static bool add(struct store *store, int64_t session, int64_t told, struct arena *a,
                struct transfer *t, struct err *e)
{
    struct session_record r;
    bool (*get)(struct store * s, int64_t id, struct arena * a, struct session_record * out,
                struct err * e) = told == ALL_TOLD ? store_get_session : store_get_history;
    struct transfer_source *from = &t->source[t->count];
    struct search_history *history = &t->history[t->count];
    *from = (struct transfer_source){.session = session, .told = told};
    *history = (struct search_history){.name = arena_printf(a, "session %" PRId64, session)};
    if (!get(store, session, a, &r, e))
        return false;
    history->space = stored_space(store, &r, a, &from->script, &from->recording, e);
    if (!history->space || !read_results(store, from, r.flop, a, history, e)) {
        release(from);
        return err_prefix(e, "the results of session %" PRId64, session);
    }
    t->count++;
    return true;
}

static void make(struct arena *a, int most, struct transfer *out)
{
    *out = (struct transfer){.source = arena_zero(a, (size_t)most + 1, sizeof *out->source),
                             .history = arena_zero(a, (size_t)most + 1, sizeof *out->history)};
}

// --- whose ---

struct choice { // sessions, each once
    struct chosen {
        int64_t id;
        bool named; // by the user: it must be there
    } * item;
    int count, capacity;
};

static void choose(struct choice *c, int64_t id, bool named)
{
    for (int i = 0; i < c->count; i++)
        if (c->item[i].id == id) {
            c->item[i].named |= named;
            return;
        }
    MEM_GROW(c->item, c->count, c->capacity);
    c->item[c->count++] = (struct chosen){id, named};
}

static bool choose_listed(struct choice *c, const char *list, bool named, struct err *e)
{
    char *rest = NULL, *text = mem_strdup(list ? list : "");
    bool ok = true;
    for (char *word = strtok_r(text, ",", &rest); ok && word; word = strtok_r(NULL, ",", &rest)) {
        int64_t id;
        ok = str_to_int(word, 1, INT64_MAX, &id);
        if (ok)
            choose(c, id, named);
        else
            err_usage(e, "--transfer: '%s' is not the number of a session (nor auto, nor none)",
                      word);
    }
    free(text);
    if (ok && named && c->count == 0)
        return err_usage(e, "--transfer: no session is named (auto and none are words too)");
    return ok;
}

static bool is_of_one_kind(const struct session_record *a, const struct session_record *b,
                           bool any_device)
{
    size_t kind = strcspn(a->title, " ");
    return (any_device || stored_on_one_device(a, b)) && a->cold == b->cold &&
           str_equal(a->source, b->source) && kind == strcspn(b->title, " ") &&
           strncmp(a->title, b->title, kind) == 0;
}

static bool has_same_parameters(const struct space *a, const struct space *b)
{
    bool same = a->param_count == b->param_count;
    for (int i = 0; same && i < a->param_count; i++)
        same = str_equal(a->param[i].name, b->param[i].name);
    return same;
}

// By what is stored beside the space; the space itself is looked at when it is read.
static bool choose_alike(struct store *store, const struct transfer_wish *wish, struct arena *a,
                         struct choice *c, struct err *e)
{
    struct session_record *list;
    int count;
    if (!store_list_sessions(store, a, &list, &count, e))
        return false;
    for (int i = 0; i < count; i++)
        if (list[i].ok > 0 && is_of_one_kind(&list[i], wish->record, wish->any_device))
            choose(c, list[i].id, false);
    return true;
}

static int compare_newest(const void *a, const void *b)
{
    const struct chosen *x = a, *y = b;
    return (x->id < y->id) - (x->id > y->id);
}

static bool has_valid(const struct search_history *h)
{
    for (int i = 0; i < h->count; i++)
        if (h->fitness[i] > 0)
            return true;
    return false;
}

static void drop_last(struct transfer *t)
{
    release(&t->source[--t->count]);
}

// Oldest first, whatever the order that they were found in.
static void turn(struct transfer *t)
{
    for (int i = 0, k = t->count - 1; i < k; i++, k--) {
        struct transfer_source source = t->source[i];
        struct search_history history = t->history[i];
        t->source[i] = t->source[k];
        t->history[i] = t->history[k];
        t->source[k] = source;
        t->history[k] = history;
    }
}

static bool is_useful(const struct transfer_wish *wish, bool alike, const struct search_history *h)
{
    return has_valid(h) && (!alike || has_same_parameters(h->space, wish->space));
}

// Reads the chosen ones, the newest first, until there are enough.
static bool read_chosen(struct store *store, const struct transfer_wish *wish, struct choice *c,
                        bool alike, struct arena *a, struct transfer *out, struct err *e)
{
    if (c->count > 0)
        qsort(c->item, (size_t)c->count, sizeof *c->item, compare_newest);
    for (int i = 0; i < c->count && out->count < TRANSFER_MOST; i++) {
        const struct chosen *item = &c->item[i];
        struct err ignored; // of what nobody asked for by its name
        if (!add(store, item->id, ALL_TOLD, a, out, item->named ? e : &ignored)) {
            if (item->named)
                return false;
        } else if (!is_useful(wish, alike, &out->history[out->count - 1])) {
            drop_last(out);
            if (item->named)
                return err_set(e, "session %" PRId64 " has no valid result to learn from",
                               item->id);
        }
    }
    turn(out);
    return true;
}

bool transfer_check(struct store *store, const char *wanted, struct arena *a, struct err *e)
{
    struct choice c = {0};
    struct session_record r;
    bool is_list = wanted && !str_equal(wanted, "auto") && !str_equal(wanted, "none");
    bool ok = !is_list || choose_listed(&c, wanted, true, e);
    for (int i = 0; ok && i < c.count; i++)
        ok = store_get_session(store, c.item[i].id, a, &r, e);
    free(c.item);
    return ok;
}

bool transfer_choose(struct store *store, const struct transfer_wish *wish, struct arena *a,
                     struct transfer *out, struct err *e)
{
    struct choice c = {0};
    bool alike = str_equal(wish->wanted, "auto"), ok = true;
    make(a, TRANSFER_MOST, out);
    if (str_equal(wish->wanted, "none"))
        return true;
    if (alike)
        ok = choose_alike(store, wish, a, &c, e);
    else
        ok = choose_listed(&c, wish->earlier, false, e) &&
             (!wish->wanted || choose_listed(&c, wish->wanted, true, e));
    ok = ok && read_chosen(store, wish, &c, alike, a, out, e);
    free(c.item);
    if (!ok)
        transfer_finish(out);
    return ok;
}

// --- what a session stores ---

void transfer_add_text(const struct transfer *t, struct str *out)
{
    for (int i = 0; i < t->count; i++)
        history_add(out, &(struct history_part){t->source[i].session, t->source[i].told});
}

bool transfer_parse(struct store *store, const char *text, struct arena *a, struct transfer *out,
                    struct err *e)
{
    struct history_part part;
    const char *at = text;
    bool ok = true;
    make(a, TRANSFER_MOST, out);
    while (ok && out->count < TRANSFER_MOST && history_next(&at, &part))
        ok = add(store, part.session, part.told, a, out, e);
    if (ok && at && *at)
        ok = err_set(e, "what the session learns from is damaged: '%s'", text);
    if (!ok)
        transfer_finish(out);
    return ok;
}

int64_t transfer_results(const struct transfer *t)
{
    int64_t results = 0;
    for (int i = 0; i < t->count; i++)
        results += t->history[i].count;
    return results;
}

void transfer_finish(struct transfer *t)
{
    while (t->count > 0)
        drop_last(t);
}
