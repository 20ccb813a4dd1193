#include "view_trials.h"

#include "base/number.h"
#include "engine/speed.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define GUTTER       2 // marks of cursor and best
#define GAP          2
#define LEAST_REASON 12
#define GOOD_REASON  60 // columns that scrolling gives it

// --- life ---

static void view_trials_init(void *state)
{
    struct trials_view *v = state;
    *v = (struct trials_view){
        .sort = COLUMN_NUMBER, .descending = true, .reveal = -1, .list.cursor = -1};
}

static void view_trials_finish(struct app *app, void *state)
{
    struct trials_view *v = state;
    (void)app;
    rows_finish(&v->rows);
    filter_destroy(v->filter);
}

static void view_trials_opened(struct app *app, void *state)
{
    struct trials_view *v = state;
    if (v->session != app->model.open.record.id)
        v->text[0] = '\0'; // it is of the session that it was typed for
    v->space = NULL;       // it may be another one at the same address
}

// --- rows that are wanted ---

static void restart(struct app *app, struct trials_view *v)
{
    struct rows_order order = {v->columns.column[v->sort], v->descending, v->filter,
                               v->rejected || (v->filter && filter_asks_rejected(v->filter))};
    rows_start(&v->rows, &app->model, &order);
    v->races = scan_races(&app->model);
    v->list.top = 0;
    v->list.item = 0;
    app->dirty = true;
}

// Returns false when the text is no filter; then `filter_error` names the reason and nothing
// changed.
static bool set_filter(struct app *app, struct trials_view *v, const char *text)
{
    struct err e = {0};
    const struct opened *o = &app->model.open;
    const struct filter_amounts amounts = {.flop = 1e12 * speed_tflops(&o->record, 1),
                                           .ms = speed_ms(&o->record, 1),
                                           .rate = speed_rate(&o->record, 1),
                                           .is_inverse = speed_is_inverse(&o->record)};
    struct filter *f = filter_compile(text, o->space, &amounts, &e);
    v->filter_error[0] = '\0';
    if (!f) {
        snprintf(v->filter_error, sizeof v->filter_error, "%s", e.text);
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
    v->picks = v->filter != NULL;
    filter_destroy(old);
    return true;
}

// Takes note of another session or space, before anything else is done with the state.
static void sync(struct app *app, struct trials_view *v)
{
    const struct opened *o = &app->model.open;
    if (v->session == o->record.id && v->space == o->space) {
        if (v->rows.kind == ROWS_LISTED && v->races != scan_races(&app->model))
            restart(app, v);
        return;
    }
    char text[LINE_SIZE];
    snprintf(text, sizeof text, "%s", v->text);
    filter_destroy(v->filter); // it was compiled for the space that is gone
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
        app_say(app, STYLE_WARN, "the filter means nothing here: %s", v->filter_error);
    v->filter_error[0] = '\0';
}

void view_trials_filter(struct app *app, const char *text)
{
    struct trials_view *v = app->state[VIEW_TRIALS];
    sync(app, v);
    app_show(app, VIEW_TRIALS);
    if (!set_filter(app, v, text))
        app_say(app, STYLE_BAD, "%s", v->filter_error);
    v->filter_error[0] = '\0';
}

// Returns the trial under the cursor (0: none) and its place (-1: it is not among the rows).
static int64_t cursor_of(struct app *app, struct trials_view *v, int64_t *place)
{
    const struct trial *t = shown_trial(app);
    int64_t ask = t ? t->ask : 0;
    *place = ask ? rows_find(&v->rows, &app->model, ask, int64_max(v->list.cursor, 0)) : -1;
    return ask;
}

// --- the prompt of the filter ---

static bool trials_filter_typed(struct app *app, void *context, enum prompt_event event,
                                const char *text)
{
    struct trials_view *v = context;
    app->dirty = true;
    if (event != PROMPT_CHANGED)
        sync(app, v);
    bool ok = set_filter(app, v, text);
    if (event == PROMPT_CHANGED) {
        v->picks = false; // it is not done
        return ok;
    }
    if (event == PROMPT_CANCELLED)
        v->filter_error[0] = '\0';
    else if (!ok) {
        app_say(app, STYLE_BAD, "%s", v->filter_error);
        return false;
    }
    v->typing = false;
    return true;
}

// Returns the field of the speeds that the columns show.
static const char *speed_field(const struct app *app)
{
    double per;
    const char *unit = model_unit(&app->model, &per);
    return str_equal(unit, "TFLOPS") ? "tflops" : str_equal(unit, "GFLOPS") ? "gflops" : "rate";
}

// Offers one of the fields of speeds, which are the first.
static const char *view_trials_filter_word(struct app *app, int n)
{
    enum { SPEEDS = 3 };
    const struct space *s = app->model.open.space;
    int params = s ? s->param_count : 0;
    return n < params    ? s->param[n].name
           : n == params ? speed_field(app)
                         : filter_fields[n - params - 1 + SPEEDS];
}

// --- keys ---

static void select_row(struct app *app, struct trials_view *v, int64_t place)
{
    const struct trial *t = rows_at(&v->rows, &app->model, place);
    if (!t)
        return;
    int64_t number = t->number;
    app_select(app, t->ask);
    app->follow = v->rows.kind == ROWS_NUMBERED && number == app->model.open.last_number;
}

// Once all rows are known that match, selects the first where the selected trial is none of them:
// other screens would show one that is hidden here.
static bool view_trials_tick(struct app *app, void *state)
{
    struct trials_view *v = state;
    int64_t place;
    sync(app, v);
    bool more = rows_step(&v->rows, &app->model);
    if (more || !v->picks)
        return more;
    v->picks = false;
    cursor_of(app, v, &place);
    if (v->filter && place < 0)
        select_row(app, v, 0);
    return false;
}

static bool view_trials_act(struct app *app, void *state, enum action a)
{
    struct trials_view *v = state;
    sync(app, v);
    // The cursor moves from where it is, or from the window when it is not among the rows.
    struct list list = v->list; // what was drawn stays known until it is drawn again
    list.count = rows_count(&v->rows, &app->model);
    cursor_of(app, v, &list.cursor);
    if (app->follow && v->rows.kind != ROWS_NUMBERED && !list_shows(&list, list.cursor))
        list.cursor = -1;
    if (list_act(&list, a)) {
        select_row(app, v, list.cursor);
        return true;
    }
    switch (a) {
    case ACT_FILTER: {
        struct prompt p = {.lead = "/",
                           .context = v,
                           .typed = trials_filter_typed,
                           .candidate = view_trials_filter_word};
        v->typing = true;
        app_prompt(app, &p, v->text);
        return true;
    }
    case ACT_OPEN: app_show(app, VIEW_MAIN); return true;
    case ACT_BACK: return v->filter && set_filter(app, v, "");
    case ACT_LEFT: v->skip -= v->skip > 0; return true;
    case ACT_RIGHT: v->skip++; return true; // drawing stops at the end
    case ACT_SORT_NEXT:
    case ACT_SORT_PREVIOUS: {
        int count = v->columns.count;
        v->sort = v->reveal = (v->sort + (a == ACT_SORT_NEXT ? 1 : count - 1)) % count;
        enum column_kind kind = v->columns.column[v->sort].kind;
        v->descending = kind == COLUMN_NUMBER || kind == COLUMN_SPEED ||
                        kind == COLUMN_GENERATION || kind == COLUMN_ASK;
        break;
    }
    case ACT_SORT_INVERT: v->descending = !v->descending; break;
    case ACT_REJECTED: v->rejected = !v->rejected; break;
    default: return false;
    }
    restart(app, v);
    return true;
}

static const char *view_trials_disabled(struct app *app, void *state, enum action a)
{
    struct trials_view *v = state;
    bool needs_session = a == ACT_FILTER || a == ACT_SORT_NEXT || a == ACT_SORT_PREVIOUS ||
                         a == ACT_SORT_INVERT || a == ACT_REJECTED || a == ACT_OPEN;
    if (needs_session && !app->model.open.record.id)
        return "no session is open";
    if (a == ACT_OPEN) { // the selected trial need not be one of the rows
        int64_t place;
        sync(app, v);
        cursor_of(app, v, &place);
        return place >= 0 ? NULL : "no trial is selected here";
    }
    if ((a == ACT_NEXT_MATCH || a == ACT_PREVIOUS_MATCH) && !v->filter)
        return "there is no filter";
    return NULL;
}

static void view_trials_click(struct app *app, void *state, int row, int col)
{
    struct trials_view *v = state;
    (void)col;
    sync(app, v);
    struct list list = v->list;
    if (list_click(&list, row))
        select_row(app, v, list.cursor);
}

// --- drawing: columns side by side ---

struct slot { // a column where it stands
    const struct column *column;
    int index, at, width;
};

struct slots {
    struct slot slot[MOST_COLUMNS];
    int count;
    int fixed;        // columns that stay at the left
    bool left, right; // there are more columns on that side
};

// Puts columns side by side, leaving out `skip` after the fixed ones. Returns the index of the one
// that found no place.
static int place_columns(struct app *app, const struct trials_view *v, int cols, int skip,
                         struct slots *s)
{
    int at = GUTTER, fixed = cols >= 60 ? FIXED_COLUMNS : cols >= 30 ? 2 : 1;
    *s = (struct slots){.left = skip > 0, .fixed = fixed};
    for (int i = 0; i < v->columns.count; i++) {
        if (i == fixed)
            i += skip;
        const struct column *c = &v->columns.column[i];
        int width = c->width, room = cols - 1 - at;
        int head = text_columns(column_head(c, &app->model)) + (i == v->sort ? 2 : 0);
        if (c->kind == COLUMN_NUMBER || c->kind == COLUMN_ASK)
            width = int_max(width, snprintf(NULL, 0, "%" PRId64, model_asks_ended(&app->model)));
        width = int_max(width, head);
        if (c->kind == COLUMN_REASON && room >= LEAST_REASON)
            width = room;
        bool needed = s->count == 0 || i == fixed + skip;
        if (width > room && !(needed && room > 0)) {
            s->right = true;
            return i;
        }
        width = int_min(width, room);
        s->slot[s->count++] = (struct slot){c, i, at, width};
        at += width + GAP;
    }
    return v->columns.count;
}

// --- drawing: cells, rows, the status line ---

static void draw_rows(struct app *app, struct trials_view *v, const struct slots *s,
                      const struct pane *p)
{
    const struct opened *o = &app->model.open;
    int64_t place, ask = cursor_of(app, v, &place);
    int drawn = 0;
    // The followed trial may be at any place unless rows are by number: no window goes after it.
    v->list.is_loose = app->follow && v->rows.kind != ROWS_NUMBERED;
    list_point(&v->list, app->follow ? 0 : ask, place);
    list_fit(&v->list, rows_count(&v->rows, &app->model), p->rows);
    for (int i = 0; i < p->rows; i++) {
        const struct trial *t = rows_at(&v->rows, &app->model, v->list.top + i);
        if (!t)
            continue;
        struct str text = {0};
        for (int j = 0; j < s->count; j++) {
            const struct column *c = s->slot[j].column;
            enum style style = trial_style(&app->model, t);
            if (c->kind == COLUMN_SPREAD || c->kind == COLUMN_GENERATION || c->kind == COLUMN_ASK)
                style = STYLE_DIM;
            else if (c->kind != COLUMN_OUTCOME && style != STYLE_BEST && style != STYLE_DIM)
                style = STYLE_TEXT;
            text.length = 0;
            str_add(&text, "");
            column_add_text(c, &app->model, t, &text);
            struct pane cell = pane_part(p, i, s->slot[j].at, 1, s->slot[j].width);
            cell_put(&cell, c->right, style, str_text(&text));
        }
        str_finish(&text);
        if (t->ask == o->record.best_ask)
            pane_text(p, i, 0, STYLE_BEST, "*");
        if (v->list.top + i == place)
            pane_select(p, i, true);
        drawn++;
    }
    const char *why = !o->record.id                        ? "No session is open."
                      : v->rows.more                       ? "Reading..."
                      : model_asks_ended(&app->model) == 0 ? no_trial_text(&app->model)
                      : v->filter                          ? "No trial matches."
                      : v->rows.kind == ROWS_RANKED        ? "No trial has a speed yet."
                                                           : "No trial yet.";
    if (drawn == 0)
        pane_line(p, 0, GUTTER, STYLE_DIM, "%s", why);
}

static const char *const order_words[][2] = {
    // ascending, descending
    [COLUMN_NUMBER] = {"oldest first", "newest first"},
    [COLUMN_SPEED] = {"slowest first", "fastest first"},
    [COLUMN_OUTCOME] = {"in order", "backwards"},
    [COLUMN_SPREAD] = {"rising", "falling"},
    [COLUMN_TIME] = {"fastest first", "slowest first"},
    [COLUMN_GENERATION] = {"rising", "falling"},
    [COLUMN_ASK] = {"oldest first", "newest first"},
    [COLUMN_PARAM] = {"rising", "falling"},
    [COLUMN_REASON] = {"in order", "backwards"},
};

static void draw_status(struct app *app, const struct trials_view *v, const struct pane *p)
{
    struct pieces row = {0};
    const struct opened *o = &app->model.open;
    if (!o->record.id)
        return;
    int64_t count = rows_count(&v->rows, &app->model);
    int64_t all = v->rows.order.rejected ? model_asks_ended(&app->model) : o->last_number;
    const char *what = v->rows.order.rejected ? "trials and rejected ones" : "trials";
    if (v->filter)
        pieces_add(&row, 0, STYLE_STRONG, "%" PRId64 " of %" PRId64 " %s match", count, all, what);
    else if (v->rows.kind == ROWS_RANKED)
        pieces_add(&row, 0, STYLE_STRONG, "%" PRId64 " of %" PRId64 " trials have a speed", count,
                   all);
    else
        pieces_add(&row, 0, STYLE_STRONG, "%" PRId64 " %s", count, what);
    if (v->rows.more)
        pieces_add(&row, 1, STYLE_WARN, "reading %d %%",
                   (int)(100 * scan_share(&v->rows.scan, &app->model)));
    const struct column *by = &v->columns.column[v->sort];
    pieces_add(&row, 3, STYLE_TEXT, "sort: %s %s %s", column_head(by, &app->model),
               v->descending ? "▼" : "▲", order_words[by->kind][v->descending]);
    if (v->filter_error[0])
        pieces_add(&row, 1, STYLE_BAD, "filter: %s", v->filter_error);
    else if (v->typing && !v->filter)
        pieces_add(&row, 1, STYLE_DIM, "such as: %s>30 not early or failed", speed_field(app));
    else
        pieces_add(&row, 2, STYLE_TEXT, "filter: %s", v->filter ? v->text : "none");
    pieces_draw(&row, p, 0, 3);
}

static void view_trials_draw(struct app *app, void *state, const struct pane *body)
{
    struct trials_view *v = state;
    struct table_panes panes = table_panes(body);
    char note[64];
    sync(app, v);
    // The columns scroll no further than is needed to see the last column well, and far enough to
    // see the column that must be seen.
    int cols = panes.rows.cols;
    struct slots s;
    int count = v->columns.count, last = 0;
    while (place_columns(app, v, cols, last, &s) < count ||
           (s.count > 0 && s.slot[s.count - 1].width < GOOD_REASON)) {
        if (last >= count - 1 - s.fixed)
            break;
        last++;
    }
    int fixed = s.fixed;
    if (v->reveal >= fixed && v->reveal < fixed + v->skip)
        v->skip = v->reveal - fixed;
    v->skip = int_min(v->skip, last);
    while (place_columns(app, v, cols, v->skip, &s) <= v->reveal && fixed + v->skip < v->reveal)
        v->skip++;
    v->reveal = -1;
    v->list.first_row = panes.first_row;
    draw_rows(app, v, &s, &panes.rows);
    for (int i = 0; i < s.count; i++) {
        char text[80];
        const struct slot *slot = &s.slot[i];
        bool sorted = slot->index == v->sort;
        snprintf(text, sizeof text, "%s%s", column_head(slot->column, &app->model),
                 !sorted         ? ""
                 : v->descending ? " ▼"
                                 : " ▲");
        struct pane cell = pane_part(&panes.heads, 0, slot->at, 1, slot->width);
        cell_put(&cell, slot->column->right, sorted ? STYLE_FOCUS : STYLE_HEAD, text);
        if (s.left && slot->index == s.fixed + v->skip)
            pane_text(&panes.heads, 0, slot->at - GAP, STYLE_KEY, "<");
    }
    if (s.right)
        pane_text(&panes.heads, 0, panes.heads.cols - 1, STYLE_KEY, ">");
    draw_status(app, v, &panes.status);
    list_note(&v->list, "rows", note);
    if (panes.framed)
        pane_box(body, "Trials", note, true);
}

const struct view view_trials = {
    .name = "trials",
    .title = "Trials",
    .tab = "Tri",
    .size = sizeof(struct trials_view),
    .init = view_trials_init,
    .finish = view_trials_finish,
    .draw = view_trials_draw,
    .act = view_trials_act,
    .disabled = view_trials_disabled,
    .tick = view_trials_tick,
    .opened = view_trials_opened,
    .click = view_trials_click,
};
