#include "view_trials.h"

#include "base/number.h"
#include "engine/speed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLICE       500
#define LEAST_MERGE 256
#define MOST_FRESH  8192
// Ranks are searched at these many places around the last one, and by halves when there are fewer.
#define NEAR_RANKS   32
#define MOST_HALVING 100000

void rows_start(struct rows *r, const struct model *m, const struct order *o)
{
    rows_finish(r);
    r->order = *o;
    bool all = !o->filter && !o->rejected;
    r->kind = all && o->by.kind == COLUMN_NUMBER                   ? ROWS_NUMBERED
              : all && o->by.kind == COLUMN_SPEED && o->descending ? ROWS_RANKED
                                                                   : ROWS_LISTED;
    scan_start(&r->scan, m);
    r->more = r->kind == ROWS_LISTED;
}

void rows_finish(struct rows *r)
{
    free(r->entry);
    free(r->fresh);
    words_finish(&r->words);
    *r = (struct rows){0};
}

// --- the list ---

static struct rows_entry entry_of(struct rows *r, const struct trial *t)
{
    double key = column_key(&r->order.by, t, &r->words);
    return (struct rows_entry){isnan(key) ? INFINITY : r->order.descending ? -key : key, t->ask};
}

static bool is_wanted(const struct rows *r, const struct trial *t)
{
    if (t->told == 0 || (t->number == 0 && !r->order.rejected))
        return false;
    return !r->order.filter || filter_accepts(r->order.filter, t);
}

static void take(void *context, const struct trial *t)
{
    struct rows *r = context;
    if (!is_wanted(r, t))
        return;
    MEM_GROW(r->fresh, r->fresh_count, r->fresh_capacity);
    r->fresh[r->fresh_count++] = entry_of(r, t);
}

static int compare(const void *a, const void *b)
{
    const struct rows_entry *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->ask > y->ask) - (x->ask < y->ask);
}

// How many of the first `count` entries come before `e`.
static int64_t place_of(const struct rows *r, int64_t count, const struct rows_entry *e)
{
    int64_t low = 0;
    while (low < count) {
        int64_t middle = low + (count - low) / 2;
        if (compare(&r->entry[middle], e) < 0)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

bool rows_step(struct rows *r, struct model *m)
{
    if (r->kind != ROWS_LISTED)
        return false;
    r->more = scan_step(&r->scan, m, SLICE, take, r);
    int64_t due = r->count / 8 < MOST_FRESH ? r->count / 8 : MOST_FRESH;
    if (!r->more || r->fresh_count >= (due > LEAST_MERGE ? due : LEAST_MERGE)) {
        // From the end: each new entry goes to its place, and what lies behind it moves once.
        if (r->fresh_count != 0) {
            qsort(r->fresh, (size_t)r->fresh_count, sizeof *r->fresh, compare);
            int64_t count = r->count + r->fresh_count;
            if (!(r->capacity >= count)) {
                r->capacity = count > 2 * r->capacity ? count : 2 * r->capacity;
                r->entry = mem_resize(r->entry, (size_t)r->capacity, sizeof *r->entry);
            }
            int64_t end = r->count;
            for (int64_t i = r->fresh_count - 1; i >= 0; i--) {
                int64_t place = place_of(r, end, &r->fresh[i]);
                memmove(r->entry + place + i + 1, r->entry + place,
                        (size_t)(end - place) * sizeof *r->entry);
                r->entry[place + i] = r->fresh[i];
                end = place;
            }
            r->count += r->fresh_count;
            r->fresh_count = 0;
        }
    }
    return r->more;
}

// --- places ---

int64_t rows_count(const struct rows *r, const struct model *m)
{
    switch (r->kind) {
    case ROWS_NUMBERED: return m->open.last_number;
    case ROWS_RANKED: return m->open.tally[OUTCOME_OK];
    default: return r->count;
    }
}

const struct trial *rows_at(const struct rows *r, struct model *m, int64_t place)
{
    if (place < 0 || place >= rows_count(r, m))
        return NULL;
    switch (r->kind) {
    case ROWS_NUMBERED:
        return model_trial_numbered(m,
                                    r->order.descending ? m->open.last_number - place : place + 1);
    case ROWS_RANKED: return model_trial_ranked(m, place);
    default: return model_trial(m, r->entry[place].ask);
    }
}

static bool is_ranked_at(struct model *m, int64_t ask, int64_t place)
{
    const struct trial *t = model_trial_ranked(m, place);
    return t && t->ask == ask;
}

static int64_t find_near(struct model *m, int64_t ask, int64_t near)
{
    for (int64_t by = 0; by < NEAR_RANKS; by++) {
        if (is_ranked_at(m, ask, near + by))
            return near + by;
        if (near >= by && is_ranked_at(m, ask, near - by))
            return near - by;
    }
    return -1;
}

// Trials of equal rank are in the order asked.
static int64_t find_by_halves(struct model *m, struct rank rank, int64_t ask)
{
    int64_t low = 0, high = m->open.tally[OUTCOME_OK];
    while (low < high) {
        int64_t middle = (low + high) / 2;
        const struct trial *t = model_trial_ranked(m, middle);
        struct rank other = t ? trial_rank(t) : (struct rank){0, false};
        if (rank_is_better(other, rank) || (!rank_is_better(rank, other) && t && t->ask < ask))
            low = middle + 1;
        else
            high = middle;
    }
    return is_ranked_at(m, ask, low) ? low : -1;
}

int64_t rows_find(struct rows *r, struct model *m, int64_t ask, int64_t near)
{
    const struct trial *t = model_trial(m, ask);
    if (!t)
        return -1;
    if (r->kind == ROWS_LISTED) {
        if (!is_wanted(r, t))
            return -1;
        struct rows_entry e = entry_of(r, t);
        int64_t place = place_of(r, r->count, &e);
        return place < r->count && r->entry[place].ask == t->ask ? place : -1;
    }
    if (r->kind == ROWS_NUMBERED) {
        if (t->number == 0)
            return -1;
        return r->order.descending ? m->open.last_number - t->number : t->number - 1;
    }
    struct rank rank = trial_rank(t);
    if (rank.seconds <= 0)
        return -1;
    int64_t found = find_near(m, ask, near);
    if (found >= 0 || m->open.tally[OUTCOME_OK] > MOST_HALVING)
        return found;
    return find_by_halves(m, rank, ask);
}

static const struct trials_view at_first = {
    .sort = COLUMN_NUMBER, .descending = true, .reveal = -1, .list.cursor = -1};

static void *create(struct app *app)
{
    struct trials_view *v = mem_alloc(sizeof *v);
    (void)app;
    *v = at_first;
    return v;
}

static void destroy(void *state)
{
    struct trials_view *v = state;
    rows_finish(&v->rows);
    filter_destroy(v->filter);
    free(v);
}

// --- what is shown ---

static void restart(struct app *app, struct trials_view *v)
{
    struct order order = {v->columns.column[v->sort], v->descending, v->filter,
                          v->rejected || (v->filter && filter_asks_rejected(v->filter))};
    rows_start(&v->rows, &app->model, &order);
    v->races = scan_races(&app->model);
    v->list.top = 0;
    v->list.item = 0;
    app->dirty = true;
}

// False: the text is no filter, `complaint` says why, and nothing changed.
static bool set_filter(struct app *app, struct trials_view *v, const char *text)
{
    struct err e = {0};
    const struct opened *o = &app->model.open;
    const struct filter_amounts amounts = {o->record.flop, speed_rate(&o->record, 1)};
    struct filter *f = filter_compile(text, o->space, &amounts, &e);
    v->complaint[0] = '\0';
    if (!f) {
        snprintf(v->complaint, sizeof v->complaint, "%s", e.text);
        return false;
    }
    struct filter *old = v->filter;
    v->filter = f;
    if (filter_is_empty(f)) {
        filter_destroy(f);
        v->filter = NULL;
    }
    snprintf(v->text, sizeof v->text, "%s", v->filter ? text : "");
    if (v->filter || old)
        restart(app, v);
    filter_destroy(old);
    return true;
}

void trials_sync(struct app *app, struct trials_view *v)
{
    const struct opened *o = &app->model.open;
    if (v->session == o->record.id && v->space == o->space) {
        if (v->rows.kind == ROWS_LISTED && v->races != scan_races(&app->model))
            restart(app, v);
        return;
    }
    char text[LINE_SIZE];
    snprintf(text, sizeof text, "%s", v->text);
    filter_destroy(v->filter); // what it knows of the space is gone
    v->filter = NULL;
    v->text[0] = '\0';
    v->session = o->record.id;
    v->space = o->space;
    columns_make(&v->columns, &app->model);
    if (v->sort >= v->columns.count) {
        v->sort = COLUMN_NUMBER;
        v->descending = true;
    }
    v->skip = 0;
    restart(app, v);
    if (text[0] && v->session && !set_filter(app, v, text))
        app_say(app, STYLE_WARN, "the filter means nothing here: %s", v->complaint);
    v->complaint[0] = '\0';
}

void view_trials_filter(struct app *app, const char *text)
{
    struct trials_view *v = app->state[VIEW_TRIALS];
    trials_sync(app, v);
    app_show(app, VIEW_TRIALS);
    if (!set_filter(app, v, text))
        app_say(app, STYLE_BAD, "%s", v->complaint);
    v->complaint[0] = '\0';
}

// --- the prompt ---

static void typed(struct app *app, void *context, const char *text)
{
    set_filter(app, context, text);
    app->dirty = true;
}

static void finish_typing(struct app *app, struct trials_view *v)
{
    v->typing = false;
    v->complaint[0] = '\0';
    app->dirty = true;
}

static bool entered(struct app *app, void *context, const char *text)
{
    struct trials_view *v = context;
    trials_sync(app, v);
    if (!set_filter(app, v, text)) {
        app_say(app, STYLE_BAD, "%s", v->complaint);
        return false;
    }
    finish_typing(app, v);
    return true;
}

static void cancelled(struct app *app, void *context)
{
    struct trials_view *v = context;
    trials_sync(app, v);
    set_filter(app, v, v->before);
    finish_typing(app, v);
}

static const char *candidate(struct app *app, int n)
{
    const struct space *s = app->model.open.space;
    int params = s ? s->param_count : 0;
    return n < params ? s->param[n].name : filter_fields[n - params];
}

// --- moving ---

int64_t trials_cursor(struct app *app, struct trials_view *v, int64_t *place)
{
    const struct trial *t = shown_trial(app);
    int64_t ask = t ? t->ask : 0;
    *place = ask ? rows_find(&v->rows, &app->model, ask, int64_max(v->list.cursor, 0)) : -1;
    return ask;
}

static void go(struct app *app, struct trials_view *v, int64_t place)
{
    const struct trial *t = rows_at(&v->rows, &app->model, place);
    if (!t)
        return;
    int64_t number = t->number;
    app_select(app, t->ask);
    app->follow = v->rows.kind == ROWS_NUMBERED && number == app->model.open.last_number;
}

// From where the cursor is, or from the window when it is nowhere there.
static bool act_on_rows(struct app *app, struct trials_view *v, enum action a)
{
    struct list list = v->list; // what was drawn stays known until it is drawn again
    list.count = rows_count(&v->rows, &app->model);
    trials_cursor(app, v, &list.cursor);
    if (app->follow && v->rows.kind != ROWS_NUMBERED && !list_shows(&list, list.cursor))
        list.cursor = -1;
    if (!list_act(&list, a))
        return false;
    go(app, v, list.cursor);
    return true;
}

static void sort_by(struct app *app, struct trials_view *v, int column)
{
    v->sort = (column + v->columns.count) % v->columns.count;
    enum column_kind kind = v->columns.column[v->sort].kind;
    v->descending = kind == COLUMN_NUMBER || kind == COLUMN_SPEED || kind == COLUMN_GENERATION ||
                    kind == COLUMN_ASK;
    v->reveal = v->sort;
    restart(app, v);
}

static bool act_on_columns(struct app *app, struct trials_view *v, enum action a)
{
    switch (a) {
    case ACT_LEFT: v->skip -= v->skip > 0; return true;
    case ACT_RIGHT: v->skip++; return true; // drawing knows where the end is
    case ACT_SORT_NEXT: sort_by(app, v, v->sort + 1); return true;
    case ACT_SORT_PREVIOUS: sort_by(app, v, v->sort - 1); return true;
    case ACT_SORT_INVERT: v->descending = !v->descending; break;
    case ACT_REJECTED: v->rejected = !v->rejected; break;
    default: return false;
    }
    restart(app, v);
    return true;
}

static bool act(struct app *app, void *state, enum action a)
{
    struct trials_view *v = state;
    trials_sync(app, v);
    if (act_on_rows(app, v, a) || act_on_columns(app, v, a))
        return true;
    switch (a) {
    case ACT_FILTER: {
        struct prompt p = {.lead = "/",
                           .context = v,
                           .done = entered,
                           .changed = typed,
                           .cancelled = cancelled,
                           .candidate = candidate};
        line_set(&p.line, v->text);
        snprintf(v->before, sizeof v->before, "%s", v->text);
        v->typing = true;
        app_prompt(app, &p);
    }
        return true;
    case ACT_OPEN: app_show(app, VIEW_MAIN); return true;
    case ACT_BACK:
        if (!v->filter)
            return false;
        set_filter(app, v, "");
        return true;
    default: return false;
    }
}

// What is selected may be none of those that are listed.
static bool is_on_row(struct app *app, struct trials_view *v)
{
    int64_t place;
    trials_sync(app, v);
    trials_cursor(app, v, &place);
    return place >= 0;
}

static const char *disabled(struct app *app, void *state, enum action a)
{
    struct trials_view *v = state;
    bool needs_session = a == ACT_FILTER || a == ACT_SORT_NEXT || a == ACT_SORT_PREVIOUS ||
                         a == ACT_SORT_INVERT || a == ACT_REJECTED || a == ACT_OPEN;
    if (needs_session && !app->model.open.record.id)
        return "no session is open";
    if (a == ACT_OPEN && !is_on_row(app, v))
        return "no trial is selected here";
    if ((a == ACT_NEXT_MATCH || a == ACT_PREVIOUS_MATCH) && !v->filter)
        return "there is no filter";
    return NULL;
}

static bool tick(struct app *app, void *state)
{
    struct trials_view *v = state;
    trials_sync(app, v);
    return rows_step(&v->rows, &app->model);
}

static void opened(struct app *app, void *state)
{
    struct trials_view *v = state;
    (void)app;
    v->session = -1; // the space may be another one at the same address
}

static void draw(struct app *app, void *state, const struct pane *body)
{
    trials_sync(app, state);
    trials_draw(app, state, body);
}

static void click(struct app *app, void *state, int row, int col)
{
    struct trials_view *v = state;
    (void)col;
    trials_sync(app, v);
    struct list list = v->list;
    if (list_click(&list, row))
        go(app, v, list.cursor);
}

const struct view view_trials = {
    .name = "trials",
    .title = "Trials",
    .tab = "Tri",
    .create = create,
    .destroy = destroy,
    .draw = draw,
    .act = act,
    .disabled = disabled,
    .tick = tick,
    .opened = opened,
    .click = click,
};
