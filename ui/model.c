#include "model.h"

#include "base/file.h"
#include "base/number.h"
#include "engine/speed.h"
#include "engine/stored.h"
#include "model_inside.h"
#include "report/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SAMPLES 256

// --- a trial from its row ---

void trial_decode(const struct opened *o, const struct trial_record *r, struct trial *out)
{
    *out = (struct trial){
        .ask = r->ask,
        .number = r->number,
        .generation = r->generation,
        .early_stopped = r->early_stopped,
        .compile_s = r->compile_s,
        .pipeline_s = r->pipeline_s,
        .device_s = r->device_s,
        .elapsed_s = r->elapsed_s,
        .finished = r->finished,
        .worker = r->worker,
    };
    if (r->outcome != OUTCOME_OPEN) {
        out->outcome = r->outcome;
        out->told = r->told;
    }
    out->seconds = out->told && out->outcome == OUTCOME_OK ? r->seconds : 0;
    if (o->space && r->key)
        out->has_config = config_parse_key(o->space, r->key, &out->config, NULL);
    if (!out->has_config)
        out->config = (struct config){0};
    snprintf(out->phase, sizeof out->phase, "%s", r->phase ? r->phase : "");
    snprintf(out->reason, sizeof out->reason, "%s", r->reason ? r->reason : "");
    double sample[MOST_SAMPLES];
    int count = out->samples = str_to_reals(r->samples, sample, MOST_SAMPLES);
    if (count >= 2) {
        double median = median_of(sample, count);
        out->spread = median > 0 ? (sample[count - 1] - sample[0]) / median : 0;
    }
    struct statistics statistics;
    for (int k = 0; k < STATISTIC_KIND_COUNT; k++)
        out->statistic[k] = NAN;
    if (r->statistics) {
        text_parse_statistics(r->statistics, &statistics);
        for (int k = 0; k < STATISTIC_KIND_COUNT; k++)
            if (!statistics_total(&statistics, (enum statistic_kind)k, &out->statistic[k]))
                out->statistic[k] = NAN;
    }
    struct str clocks = {0};
    text_add_clocks(r->clocks, r->drift, &clocks);
    snprintf(out->clocks, sizeof out->clocks, "%s", str_text(&clocks));
    out->is_unsteady = r->drift > 0 || strstr(out->clocks, "held back");
    str_finish(&clocks);
    out->has_origin = r->origin != NULL;
    str_to_ints(r->origin, out->origin, SPACE_MAX_PARAMS);
}

bool trial_read_race(struct store *s, int64_t session, struct trial *t)
{
    struct retime_record race;
    struct arena a;
    if (!t->told || t->outcome != OUTCOME_OK)
        return true;
    arena_init(&a);
    bool ok = store_get_race(s, session, t->ask, &a, &race, NULL);
    t->raced = ok && race.ask;
    if (t->raced) {
        t->race_seconds = race.seconds;
        t->race_verified = race.verified;
    }
    arena_finish(&a);
    return ok;
}

// --- ranks, units, positions ---

double seconds_speed(const struct model *m, double seconds)
{
    return seconds > 0 ? m->open.record.flop / seconds : 0;
}

struct rank trial_rank(const struct trial *t)
{
    if (t->raced && !t->race_verified)
        return (struct rank){0, false};
    return (struct rank){t->raced ? t->race_seconds : t->seconds, t->raced};
}

bool rank_is_better(struct rank x, struct rank y)
{
    if (x.seconds <= 0 || y.seconds <= 0)
        return x.seconds > 0 && y.seconds <= 0;
    return x.raced != y.raced ? x.raced : x.seconds < y.seconds;
}

const char *model_unit(const struct model *m, double *per_flops)
{
    double best = seconds_speed(m, m->open.record.best_seconds);
    if (speed_is_relative(&m->open.record)) {
        *per_flops = 100 / RECORDED_ONE;
        return "%";
    }
    bool tera = best >= 1e12, mega = best > 0 && best < 1e9;
    const char *name;
    if (m->open.record.unit) {
        *per_flops = 1 / speed_unit(&m->open.record, best, &name);
        return name;
    }
    *per_flops = tera ? 1e-12 : mega ? 1e-6 : 1e-9;
    return tera ? "TFLOPS" : mega ? "MFLOPS" : "GFLOPS";
}

double param_position(const struct param *p, const int32_t *v, int slot)
{
    switch (p->kind) {
    case PARAM_FACTORIZATION:
        return p->product > 1 && v[slot] > 1 ? log(v[slot]) / log(p->product) : 0;
    case PARAM_PERMUTATION: {
        // The place of an order among all orders, which are sorted by the first item, the second...
        int count = p->width;
        double place = 0, orders = 1;
        for (int i = 0; i < count; i++) {
            int smaller = 0;
            for (int k = i + 1; k < count; k++)
                smaller += v[k] < v[i];
            place = place * (count - i) + smaller;
            orders *= count - i;
        }
        return orders > 1 ? place / (orders - 1) : 0;
    }
    default: return p->count > 1 ? (double)v[0] / (p->count - 1) : 0;
    }
}

#define LOOK_AGAIN_SECONDS 1.0
#define LIST_SECONDS       0.5  // at least between two lists
#define LIST_ROW_SECONDS   2e-3 // more for each session: long lists take long

// Returns true when `seconds` have passed, or the clock was put back.
static bool is_over(double since, double unix_now, double seconds)
{
    return unix_now - since >= seconds || unix_now < since;
}

// --- the connection ---

static void forget_sessions(struct model *m)
{
    arena_finish(&m->arena);
    m->session = NULL;
    m->session_count = 0;
    m->trials_in_all = 0;
}

static void disconnect(struct model *m, const struct err *why)
{
    m->trouble = *why;
    m->looked_at = m->polled_at;
    store_close(m->store);
    m->store = NULL;
    forget_sessions(m);
}

static bool connect_now(struct model *m)
{
    struct err e = {.text = ""};
    uint64_t file = file_identity(m->path); // a later change will be noticed
    m->looked_at = m->polled_at;
    if (file)
        m->store = store_open(m->path, STORE_READ, &e);
    if (m->store)
        m->file = file;
    m->trouble = e;
    m->sessions_due = true;
    return m->store != NULL;
}

// --- the list ---

static char mark_of(const struct model *m, int64_t id)
{
    for (int i = 0; i < m->mark_count; i++)
        if (m->mark[i].id == id)
            return m->mark[i].letter;
    return 0;
}

static bool list_sessions(struct model *m, struct err *e)
{
    struct session_record *record;
    int count;
    forget_sessions(m);
    if (!store_list_sessions(m->store, &m->arena, &record, &count, e))
        return false;
    m->session = arena_zero(&m->arena, (size_t)count, sizeof *m->session);
    m->session_count = count;
    for (int i = 0; i < count; i++) {
        struct session_row *row = &m->session[i];
        row->record = record[i];
        row->state = store_state(m->store, &row->record, &row->runner);
        row->mark = mark_of(m, row->record.id);
        m->trials_in_all +=
            row->record.scheduler ? 0 : row->record.trials; // its tasks' are counted
    }
    m->sessions_due = false;
    m->listed_at = m->polled_at;
    return true;
}

const struct session_row *model_row(const struct model *m, int64_t id)
{
    for (int i = 0; i < m->session_count; i++)
        if (m->session[i].record.id == id)
            return &m->session[i];
    return NULL;
}

// --- marks ---

static void remove_mark(struct model *m, int i)
{
    free(m->mark[i].curve.step);
    arena_finish(&m->mark[i].arena);
    m->mark_count--;
    for (; i < m->mark_count; i++)
        m->mark[i] = m->mark[i + 1];
}

static bool refresh_mark(struct mark *k, struct store *s, struct err *e)
{
    arena_finish(&k->arena);
    return store_get_session(s, k->id, &k->arena, &k->record, e) &&
           curve_extend(&k->curve, s, k->id, e);
}

bool model_toggle_mark(struct model *m, int64_t id)
{
    int i = 0;
    bool ok = true, taken[26] = {m->open.record.id && m->open.record.id != id}; // 'A': the open one
    for (int k = 0; k < m->mark_count; k++)
        taken[m->mark[k].letter - 'A'] = true;
    while (i < m->mark_count && m->mark[i].id != id)
        i++;
    if (i < m->mark_count) {
        remove_mark(m, i);
    } else {
        struct mark k = {.id = id, .letter = 'A'};
        while (taken[k.letter - 'A'])
            k.letter++;
        ok = m->mark_count < MODEL_MOST_MARKS && m->store;
        if (ok) {
            ok = refresh_mark(&k, m->store, NULL);
            m->mark[m->mark_count++] = k;
        }
        if (!ok && m->mark_count > i)
            remove_mark(m, i);
    }
    for (int k = 0; k < m->session_count; k++)
        m->session[k].mark = mark_of(m, m->session[k].record.id);
    return ok;
}

// --- the session that is open ---

void model_close(struct model *m)
{
    opened_finish(&m->open);
    cache_clear(m->cache);
}

bool model_open(struct model *m, int64_t id, struct err *e)
{
    struct opened fresh = {.version = m->open.version};
    if (!m->store && !connect_now(m))
        return m->trouble.text[0]
                   ? err_set(e, "%s", m->trouble.text)
                   : err_set(e, "there is no session %lld (nor any other yet)", (long long)id);
    if (!opened_load(&fresh, m->store, id, m->polled_at, e))
        return false;
    model_close(m);
    m->open = fresh;
    return true;
}

// Closes the session that is open, because it is gone.
static void lose(struct model *m, const struct err *why)
{
    int64_t version = m->open.version;
    model_close(m);
    m->open.trouble = *why;
    m->open.version = version + 1;
}

static bool refresh_open(struct model *m, struct err *e)
{
    struct opened *o = &m->open;
    int64_t results = o->record.trials + o->record.rejected, retime = o->retime;
    if (!o->record.id)
        return true;
    // One transaction, so that all of it is of the same moment.
    if (!store_begin(m->store, e) || !opened_refresh(o, m->store, m->polled_at, e) ||
        !store_commit(m->store, e)) {
        struct err other, why = {0};
        if (!list_sessions(m, &other)) // the database fails, not the session
            return false;
        if (model_row(m, o->record.id))
            why = *e;
        else
            err_set(&why, "session %lld was deleted", (long long)o->record.id);
        lose(m, &why);
    } else if (o->record.trials + o->record.rejected < results) { // it is being deleted
        return model_open(m, o->record.id, e);
    } else if (o->retime != retime) {
        cache_clear(m->cache);
    } else {
        cache_drop_open(m->cache);
    }
    return true;
}

// --- polling ---

static bool poll_store(struct model *m, bool *news, struct err *e)
{
    if (store_changed(m->store)) {
        *news = m->sessions_due = true;
        if (!refresh_open(m, e))
            return false;
        // Marks of sessions that are gone go too.
        for (int i = m->mark_count; i-- > 0;)
            if (!refresh_mark(&m->mark[i], m->store, NULL))
                remove_mark(m, i);
    } else if (m->open.record.id && opened_look(&m->open, m->store, m->polled_at)) {
        *news = true;
        m->open.version++;
    }
    if (m->open.record.id && opened_follow(&m->open, m->polled_at)) {
        *news = true;
        m->open.version++;
    }
    if (!is_over(m->listed_at, m->polled_at, LIST_SECONDS + LIST_ROW_SECONDS * m->session_count))
        return true;
    if (m->sessions_due) {
        *news = true;
        return list_sessions(m, e);
    }
    m->listed_at = m->polled_at;
    for (int i = 0; i < m->session_count; i++) { // a process that dies changes no row
        struct session_row *row = &m->session[i];
        pid_t before = row->runner;
        row->state = store_state(m->store, &row->record, &row->runner);
        *news |= row->runner != before;
    }
    return true;
}

static void forget_marks(struct model *m)
{
    while (m->mark_count)
        remove_mark(m, m->mark_count - 1);
}

bool model_poll(struct model *m, double unix_now)
{
    bool look = is_over(m->looked_at, unix_now, LOOK_AGAIN_SECONDS);
    struct err e, none = {.text = ""};
    uint64_t file = look ? file_identity(m->path) : m->file;
    bool news = m->file && m->file != file;
    m->polled_at = unix_now;
    if (look)
        m->looked_at = unix_now;
    if (news) { // command lines mean the file that is at the path now: forget the other one
        err_set(&e, "the database was %s", file ? "replaced" : "removed");
        lose(m, &e);
        forget_marks(m);
        disconnect(m, &none);
        m->file = 0;
        m->losses++;
    }
    if (!m->store) {
        if (!look)
            return false;
        news |= connect_now(m);
        if (!m->store)
            return news || m->trouble.text[0] != '\0';
        m->listed_at = 0; // at once
    }
    if (!poll_store(m, &news, &e)) {
        disconnect(m, &e);
        return true;
    }
    if (m->open.record.id)
        m->open.rate = opened_rate(&m->open, model_ran_seconds(m, unix_now));
    return news;
}

void model_init(struct model *m, const char *path)
{
    *m = (struct model){.path = mem_strdup(path), .cache = cache_create(), .looked_at = -1e9};
    arena_init(&m->arena);
}

void model_finish(struct model *m)
{
    model_close(m);
    forget_marks(m);
    forget_sessions(m);
    cache_destroy(m->cache);
    store_close(m->store);
    free(m->path);
    *m = (struct model){0};
}
