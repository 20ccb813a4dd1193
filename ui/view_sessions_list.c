#include "view_sessions.h"

#include "engine/speed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- order ---

bool session_runs(const struct session_row *row)
{
    return row->state == STATE_RUNNING;
}

static const char *text_key(const struct session_row *row, enum sessions_column by)
{
    bool real = str_equal(row->record.source, "device");
    switch (by) {
    case SESSIONS_STATE: return state_name(row->state);
    case SESSIONS_SPACE: return row->record.name;
    case SESSIONS_PROBLEM: return row->record.title;
    case SESSIONS_DEVICE: return real ? row->record.device : row->record.source;
    case SESSIONS_STRATEGY: return row->record.strategy;
    case SESSIONS_NOTE: return row->record.note ? row->record.note : "";
    default: return NULL;
    }
}

struct sort_key {
    const struct session_row *row;
    const char *unit; // of `number`; others stand apart, in the same order either way
    const char *text; // NULL: `number` counts
    double number;
    bool ascending;
};

// FLOP/s, then other units, then what has nothing valid yet.
static void key_by_best(const struct session_record *r, struct sort_key *k)
{
    const char *unit = speed_rate_word(r);
    bool any = r->best_ask && r->best_seconds > 0;
    k->number = speed_is_relative(r) ? speed_share(r) : speed_rate(r, r->best_seconds);
    k->unit = !any ? "\xff" : str_equal(unit, "TFLOPS") ? "" : unit;
}

static struct sort_key key_of(const struct sessions_view *v, const struct session_row *row)
{
    const struct session_record *r = &row->record;
    struct sort_key k = {row, "", text_key(row, v->sort), (double)r->id, v->ascending};
    const struct session_facts *f = v->sort == SESSIONS_ACTIVE ? sessions_facts(v, r->id) : NULL;
    if (v->sort == SESSIONS_SEED)
        k.number = (double)r->seed;
    else if (v->sort == SESSIONS_TRIALS)
        k.number = (double)r->trials;
    else if (v->sort == SESSIONS_BEST)
        key_by_best(r, &k);
    else if (v->sort == SESSIONS_ACTIVE)
        k.number = session_runs(row) ? INFINITY : f ? f->active : r->created;
    return k;
}

// Among equals, the newest first either way.
static int by_key(const void *a, const void *b)
{
    const struct sort_key *x = a, *y = b;
    int apart = strcmp(x->unit, y->unit);
    if (apart)
        return apart;
    int order =
        x->text ? strcmp(x->text, y->text) : (x->number > y->number) - (x->number < y->number);
    if (order)
        return x->ascending ? order : -order;
    return (x->row->record.id < y->row->record.id) - (x->row->record.id > y->row->record.id);
}

static void sort_rows(struct sessions_view *v)
{
    if (v->sort == SESSIONS_ID && !v->ascending)
        return; // as the model has them
    struct sort_key *key = mem_alloc((size_t)v->count * sizeof *key);
    for (int i = 0; i < v->count; i++)
        key[i] = key_of(v, v->row[i]);
    qsort(key, (size_t)v->count, sizeof *key, by_key);
    for (int i = 0; i < v->count; i++)
        v->row[i] = key[i].row;
    free(key);
}

const char *sessions_sort_text(const struct sessions_view *v)
{
    switch (v->sort) {
    case SESSIONS_ID: return v->ascending ? "oldest first" : "newest first";
    case SESSIONS_BEST: return v->ascending ? "slowest first" : "fastest first";
    case SESSIONS_ACTIVE: return v->ascending ? "longest ago first" : "latest first";
    case SESSIONS_SEED:
    case SESSIONS_TRIALS: return v->ascending ? "rising" : "falling";
    default: return v->ascending ? "in order" : "backwards";
    }
}

// --- the list ---

static int find_row(const struct sessions_view *v, int64_t id)
{
    for (int i = 0; i < v->count; i++)
        if (v->row[i]->record.id == id)
            return i;
    return -1;
}

// On its session; when that is gone, on the row where it was.
static void find_cursor(struct app *app, struct sessions_view *v)
{
    int at = find_row(v, v->cursor), was = (int)v->list.cursor;
    if (at < 0 && was < 0)
        at = find_row(v, app->model.open.record.id);
    if (at < 0)
        at = was < 0 ? 0 : was < v->count ? was : v->count - 1;
    v->cursor = v->count ? v->row[at]->record.id : 0;
    v->list.count = v->count;
    if (v->count) // the picture stands still, unless its top is the top of all
        list_point(&v->list, v->list.top > 0 ? v->cursor : 0, at);
}

void sessions_sync(struct app *app, struct sessions_view *v)
{
    const struct model *m = &app->model;
    double per_flops;
    v->count = 0;
    sessions_unit(m, &per_flops);
    for (int i = 0; i < m->session_count; i++) {
        const struct session_row *row = &m->session[i];
        if (row->record.network || !session_filter_accepts(v->wanted, row, per_flops))
            continue; // tasks are on their network's screen
        MEM_GROW(v->row, v->count, v->capacity);
        v->row[v->count++] = row;
    }
    sort_rows(v);
    find_cursor(app, v);
}

// --- what is read of sessions ---

#define READ_AT_ONCE 16 // sessions of one slice

static struct session_facts *find_facts(const struct sessions_view *v, int64_t id)
{
    for (int i = 0; i < v->facts_count; i++)
        if (v->facts[i].id == id)
            return &v->facts[i];
    return NULL;
}

const struct session_facts *sessions_facts(const struct sessions_view *v, int64_t id)
{
    return find_facts(v, id);
}

struct steps_read {
    const struct session_record *record;
    struct session_facts *facts;
};

// The columns from this step's trial on, until a better one comes.
static bool add_step(void *context, const struct best_step *step)
{
    struct steps_read *s = context;
    double speed = step->seconds > 0 ? 1 / step->seconds : 0;
    for (int i = SPARK_COLS - 1; i >= 0; i--) {
        double until = (double)s->record->trials * (i + 1) / SPARK_COLS;
        if (until < (double)step->number && i < SPARK_COLS - 1)
            break;
        s->facts->spark[i] = speed;
    }
    return true;
}

static bool keep_time(void *context, const struct trial_record *t)
{
    struct session_facts *f = context;
    f->active = t->finished;
    f->ran = t->elapsed_s;
    return false;
}

static void read_facts(struct store *store, const struct session_record *r, struct session_facts *f)
{
    struct steps_read steps = {r, f};
    f->id = r->id;
    f->told = r->trials + r->rejected;
    f->active = r->created + (f->told ? r->ran_seconds : 0);
    f->ran = 0;
    for (int i = 0; i < SPARK_COLS; i++)
        f->spark[i] = NAN;
    store_each_best(store, r->id, 0, add_step, &steps, NULL);
    double best = f->spark[SPARK_COLS - 1];
    for (int i = 0; i < SPARK_COLS; i++)
        f->spark[i] /= best;
    if (r->trials)
        store_each_numbered(store, r->id, r->trials, keep_time, f, NULL);
}

// True when there was something to read.
static bool refresh_facts(struct app *app, struct sessions_view *v, const struct session_record *r)
{
    struct session_facts *known = find_facts(v, r->id);
    if (known && known->told == r->trials + r->rejected)
        return false;
    if (!known) {
        MEM_GROW(v->facts, v->facts_count, v->facts_capacity);
        known = &v->facts[v->facts_count++];
    }
    read_facts(app->model.store, r, known);
    app->dirty = true;
    return true;
}

// A window above and one below what is shown, for keys that page; all when they are sorted by it.
bool sessions_read(struct app *app, struct sessions_view *v)
{
    int height = v->list.rows > 0 ? v->list.rows : 50, top = (int)v->list.top, read = 0;
    bool all = v->sort == SESSIONS_ACTIVE;
    int from = all || top < height ? 0 : top - height;
    int end = all || top + 2 * height > v->count ? v->count : top + 2 * height;
    for (int i = from; app->model.store && i < end && read < READ_AT_ONCE; i++)
        read += refresh_facts(app, v, &v->row[i]->record);
    return read == READ_AT_ONCE;
}

double sessions_ran(struct app *app, const struct sessions_view *v, const struct session_row *row)
{
    const struct session_record *r = &row->record;
    const struct session_facts *f = sessions_facts(v, r->id);
    if (r->id == app->model.open.record.id)
        return model_ran_seconds(&app->model, app->unix_now);
    if (!f || f->ran <= r->ran_seconds)
        return r->ran_seconds;
    return f->ran + (session_runs(row) ? fmax(0, app->unix_now - f->active) : 0);
}
