#include "view_sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PANEL_ROWS       13 // with its frame
#define LOW_PANEL_ROWS   8
#define LOWEST_LIST_ROWS 7

// --- life ---

static void *create(struct app *app)
{
    struct sessions_view *v = mem_zero(1, sizeof *v);
    (void)app;
    v->sort = SESSIONS_ID;
    v->list.cursor = -1;
    arena_init(&v->panel.arena);
    return v;
}

static void destroy(void *state)
{
    struct sessions_view *v = state;
    sessions_finish_panel(&v->panel);
    session_filter_destroy(v->wanted);
    free(v->facts);
    free(v->row);
    free(v);
}

static void opened(struct app *app, void *state)
{
    struct sessions_view *v = state;
    v->cursor = app->model.open.record.id;
}

static bool tick(struct app *app, void *state)
{
    struct sessions_view *v = state;
    sessions_sync(app, v);
    app->dirty |= sessions_read_panel(app, v);
    return sessions_read(app, v);
}

// Asked many times a frame: the list was made for that frame already, but for the very first time.
int64_t view_sessions_at_cursor(struct app *app)
{
    struct sessions_view *v = app->state[VIEW_SESSIONS];
    if (v->list.cursor < 0)
        sessions_sync(app, v);
    return v->cursor;
}

// --- moving ---

static bool act_on_rows(struct sessions_view *v, enum action a)
{
    if (v->comparing && v->compared_alone)
        return list_scroll(&v->comparison, a);
    if (!list_act(&v->list, a))
        return false;
    if (v->count)
        v->cursor = v->row[v->list.cursor]->record.id;
    return true;
}

// --- sorting ---

static bool is_sortable(int column)
{
    return column != SESSIONS_CURVE;
}

static void sort_by_next(struct app *app, struct sessions_view *v, int step)
{
    int column = v->sort;
    do {
        column = (column + step + SESSIONS_COLUMNS) % SESSIONS_COLUMNS;
    } while (!is_sortable(column));
    v->sort = (enum sessions_column)column;
    v->ascending = (column >= SESSIONS_STATE && column <= SESSIONS_SEED) || column == SESSIONS_NOTE;
    sessions_sync(app, v);
}

static bool act_on_order(struct app *app, struct sessions_view *v, enum action a)
{
    switch (a) {
    case ACT_SORT_NEXT: sort_by_next(app, v, 1); return true;
    case ACT_SORT_PREVIOUS: sort_by_next(app, v, -1); return true;
    case ACT_SORT_INVERT: v->ascending = !v->ascending; return true;
    default: return false;
    }
}

// --- the filter ---

// False: the text is no filter, `complaint` says why, and the last good one stays.
static bool set_filter(struct app *app, struct sessions_view *v, const char *text)
{
    struct err e;
    app->dirty = true;
    v->complaint[0] = '\0';
    struct session_filter *wanted = session_filter_compile(text, &app->model, &e);
    if (!wanted) {
        snprintf(v->complaint, sizeof v->complaint, "%s", e.text);
        return false;
    }
    session_filter_destroy(v->wanted);
    v->wanted = wanted;
    snprintf(v->filter, sizeof v->filter, "%s", text + strspn(text, " "));
    sessions_sync(app, v);
    return true;
}

static void typed(struct app *app, void *context, const char *text)
{
    set_filter(app, context, text);
}

static bool entered(struct app *app, void *context, const char *text)
{
    struct sessions_view *v = context;
    if (!set_filter(app, v, text))
        return false; // the status line says why
    v->typing = false;
    return true;
}

static void cancelled(struct app *app, void *context)
{
    struct sessions_view *v = context;
    v->typing = false;
    v->cursor = v->cursor_before;
    if (!set_filter(app, v, v->before)) // what it was about is gone
        set_filter(app, v, "");
}

static const char *candidate(struct app *app, int n)
{
    static const char *const words[] = {
        "state:running", "state:paused", "state:done", "state:stopped", "state:failed", "space:",
        "problem:",      "device:",      "source:",    "strategy:",     "note:",        "id=",
        "seed=",         "trials<",      "budget<",    "best>"};
    (void)app;
    return n < (int)(sizeof words / sizeof *words) ? words[n] : NULL;
}

static void open_prompt(struct app *app, struct sessions_view *v)
{
    struct prompt p = {.lead = "/",
                       .context = v,
                       .done = entered,
                       .changed = typed,
                       .cancelled = cancelled,
                       .candidate = candidate};
    line_set(&p.line, v->filter);
    snprintf(v->before, sizeof v->before, "%s", v->filter);
    v->cursor_before = v->cursor;
    v->typing = true;
    app_prompt(app, &p);
}

// --- what is done with sessions ---

static void toggle_mark(struct app *app, struct sessions_view *v)
{
    if (!model_toggle_mark(&app->model, v->cursor))
        app_say(app, STYLE_WARN, "%d sessions are marked already", MODEL_MOST_MARKS);
}

static void compare(struct sessions_view *v, bool on)
{
    v->comparing = on;
    v->comparison.top = 0;
}

static bool go_back(struct app *app, struct sessions_view *v)
{
    bool undone = v->comparing || v->filter[0];
    if (v->comparing)
        compare(v, false);
    else if (undone)
        set_filter(app, v, "");
    return undone;
}

static bool act(struct app *app, void *state, enum action a)
{
    struct sessions_view *v = state;
    sessions_sync(app, v);
    if (act_on_rows(v, a) || act_on_order(app, v, a))
        return true;
    switch (a) {
    case ACT_OPEN: app_open_session(app, v->cursor); return true;
    case ACT_BACK: return go_back(app, v);
    case ACT_FILTER: open_prompt(app, v); return true;
    case ACT_MARK: toggle_mark(app, v); return true;
    case ACT_COMPARE: compare(v, !v->comparing); return true;
    case ACT_COPY: app_copy(app, v->panel.best_config); return true;
    default: return false;
    }
}

static const char *disabled(struct app *app, void *state, enum action a)
{
    struct sessions_view *v = state;
    bool on_one = a == ACT_OPEN || a == ACT_COPY ||
                  (actions[a].group == GROUP_SESSION && a != ACT_NEW && a != ACT_COMPARE);
    if (on_one && !view_sessions_at_cursor(app))
        return "no session is under the cursor";
    switch (a) {
    case ACT_COMPARE:
        return app->model.mark_count < 2 && !v->comparing ? "mark two sessions or more first"
                                                          : NULL;
    case ACT_COPY:
        return v->panel.id == v->cursor && v->panel.best_config ? NULL : "it has no best one yet";
    case ACT_FILTER:
    case ACT_SORT_NEXT:
    case ACT_SORT_PREVIOUS:
    case ACT_SORT_INVERT: return app->model.session_count ? NULL : "there are no sessions";
    case ACT_NEXT_PANE:
    case ACT_PREVIOUS_PANE: return "this screen has one list only";
    default: return NULL;
    }
}

static void click(struct app *app, void *state, int row, int col)
{
    struct sessions_view *v = state;
    (void)col;
    sessions_sync(app, v);
    if (list_click(&v->list, row))
        v->cursor = v->row[v->list.cursor]->record.id;
}

// --- the screen ---

static void draw_welcome(struct app *app, const struct pane *body)
{
    const struct model *m = &app->model;
    struct pane p = pane_box(body, "Sessions", NULL, true);
    int width = p.cols - 2, row = p.rows > 8;
    if (m->trouble.text[0]) {
        pane_text_cut(&p, row, 1, width, STYLE_BAD, "The database cannot be read:");
        put_wrapped(&p, row + 1, 1, STYLE_TEXT, m->trouble.text);
        return;
    }
    char text[512], *command = app_command_line(app, (const char *const[]){"tune", "gemm", NULL});
    snprintf(text, sizeof text,
             "Press %s to start one here, or type this in a shell:", app_key_of(app, ACT_NEW));
    pane_text_cut(&p, row, 1, width, STYLE_STRONG, "No sessions yet.");
    pane_text_cut(&p, row + 1, 1, width, STYLE_TEXT, text);
    pane_text_cut(&p, row + 2, 3, width - 2, STYLE_KEY, command);
    free(command);
    row = put_wrapped(&p, row + 4, 1, STYLE_DIM,
                      "A session tunes one problem on one device. All that it measures is kept, "
                      "and it can be taken up again at any time.");
    snprintf(text, sizeof text, "Sessions are kept in %s", m->path);
    put_wrapped(&p, row + 1, 1, STYLE_DIM, text);
}

// Rows of what lies under the list.
static int lower_rows(struct app *app, struct sessions_view *v, int rows)
{
    int compared = v->comparing ? sessions_compare_rows(app) : 0;
    v->compared_alone = compared && rows - compared < LOWEST_LIST_ROWS;
    if (compared)
        return v->compared_alone ? rows : compared;
    return rows >= 24 ? PANEL_ROWS : rows >= 16 ? LOW_PANEL_ROWS : rows >= 9 ? 2 : 0;
}

static void draw(struct app *app, void *state, const struct pane *body)
{
    struct sessions_view *v = state;
    sessions_sync(app, v);
    v->list.rows = 0; // for clicks where it is not drawn
    if (app->model.session_count == 0) {
        draw_welcome(app, body);
        return;
    }
    int low = lower_rows(app, v, body->rows);
    struct pane above = pane_part(body, 0, 0, body->rows - low, body->cols);
    struct pane below = pane_part(body, body->rows - low, 0, low, body->cols);
    if (above.rows > 0)
        sessions_draw_list(app, v, &above);
    if (v->comparing)
        sessions_draw_comparison(app, v, &below);
    else
        sessions_draw_panel(app, v, &below);
}

const struct view view_sessions = {
    .name = "sessions",
    .title = "Sessions",
    .tab = "Ses",
    .create = create,
    .destroy = destroy,
    .draw = draw,
    .act = act,
    .disabled = disabled,
    .tick = tick,
    .opened = opened,
    .click = click,
};
