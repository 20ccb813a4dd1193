#include "view_trials.h"

#include "base/minmax.h"
#include "engine/speed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void open_prompt(struct app *app, struct trials_view *v)
{
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
    case ACT_FILTER: open_prompt(app, v); return true;
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
