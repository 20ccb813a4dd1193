#include "view_sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PANEL_ROWS       13 // with its frame
#define LOW_PANEL_ROWS   8
#define LOWEST_LIST_ROWS 7

// --- life ---

static void view_sessions_init(void *state)
{
    struct sessions_view *v = state;
    v->sort = SESSIONS_ID;
    v->list.cursor = -1;
}

static void view_sessions_finish(struct app *app, void *state)
{
    struct sessions_view *v = state;
    (void)app;
    sessions_finish_panel(&v->panel);
    filter_destroy(v->accepted);
    free(v->facts);
    free(v->row);
}

static void view_sessions_opened(struct app *app, void *state)
{
    struct sessions_view *v = state;
    v->cursor = app->model.open.record.id;
}

static bool view_sessions_tick(struct app *app, void *state)
{
    struct sessions_view *v = state;
    sessions_sync(app, v);
    app->dirty |= sessions_read_panel(app, v);
    return sessions_read(app, v);
}

// It is called many times a frame. The list was made for that frame already, except for the first.
int64_t view_sessions_at_cursor(struct app *app)
{
    struct sessions_view *v = app->state[VIEW_SESSIONS];
    if (v->list.cursor < 0)
        sessions_sync(app, v);
    return v->cursor;
}

// --- the filter ---

// Returns false when the text is no filter; then `filter_error` is the reason, and the last good
// one stays.
static bool set_filter(struct app *app, struct sessions_view *v, const char *text)
{
    struct err e;
    app->dirty = true;
    v->filter_error[0] = '\0';
    struct filter *accepted = session_filter_compile(text, &app->model, &e);
    if (!accepted) {
        snprintf(v->filter_error, sizeof v->filter_error, "%s", e.text);
        return false;
    }
    filter_destroy(v->accepted);
    v->accepted = accepted;
    snprintf(v->filter, sizeof v->filter, "%s", text + strspn(text, " "));
    sessions_sync(app, v);
    return true;
}

// The status line shows why a text is no filter.
static bool sessions_filter_typed(struct app *app, void *context, enum prompt_event event,
                                  const char *text)
{
    struct sessions_view *v = context;
    if (event == PROMPT_CANCELLED)
        v->cursor = v->cursor_before;
    bool ok = set_filter(app, v, text);
    if (event == PROMPT_CANCELLED && !ok) // what it named is gone
        ok = set_filter(app, v, "");
    v->typing &= event == PROMPT_CHANGED || !ok;
    return ok;
}

static const char *view_sessions_filter_word(struct app *app, int n)
{
    static const char *const words[] = {
        "state:running", "state:paused", "state:done", "state:stopped", "state:failed", "space:",
        "problem:",      "device:",      "source:",    "strategy:",     "note:",        "id=",
        "seed=",         "trials<",      "budget<",    "best>"};
    (void)app;
    return n < (int)(sizeof words / sizeof *words) ? words[n] : NULL;
}

// --- keys ---

static bool view_sessions_act(struct app *app, void *state, enum action a)
{
    struct sessions_view *v = state;
    sessions_sync(app, v);
    if (v->comparing && v->compared_alone) {
        if (list_scroll(&v->comparison, a))
            return true;
    } else if (list_act(&v->list, a)) {
        if (v->count)
            v->cursor = v->row[v->list.cursor]->record.id;
        return true;
    }
    switch (a) {
    case ACT_SORT_NEXT:
    case ACT_SORT_PREVIOUS: {
        int step = a == ACT_SORT_NEXT ? 1 : SESSIONS_COLUMNS - 1, column = v->sort;
        do {
            column = (column + step) % SESSIONS_COLUMNS;
        } while (column == SESSIONS_CURVE);
        v->sort = (enum sessions_column)column;
        v->ascending =
            (column >= SESSIONS_STATE && column <= SESSIONS_SEED) || column == SESSIONS_NOTE;
        sessions_sync(app, v);
        return true;
    }
    case ACT_SORT_INVERT: v->ascending = !v->ascending; return true;
    case ACT_OPEN: app_open_session(app, v->cursor); return true;
    case ACT_BACK:
        if (!v->comparing)
            return v->filter[0] && set_filter(app, v, "");
        v->comparing = false;
        v->comparison.top = 0;
        return true;
    case ACT_FILTER: {
        struct prompt p = {.lead = "/",
                           .context = v,
                           .typed = sessions_filter_typed,
                           .candidate = view_sessions_filter_word};
        v->cursor_before = v->cursor;
        v->typing = true;
        app_prompt(app, &p, v->filter);
        return true;
    }
    case ACT_MARK:
        if (!model_toggle_mark(&app->model, v->cursor))
            app_say(app, STYLE_WARN, "%d sessions are marked already", MODEL_MOST_MARKS);
        return true;
    case ACT_COMPARE:
        v->comparing = !v->comparing;
        v->comparison.top = 0;
        return true;
    case ACT_COPY: app_copy(app, v->panel.best_config); return true;
    default: return false;
    }
}

static const char *view_sessions_disabled(struct app *app, void *state, enum action a)
{
    struct sessions_view *v = state;
    bool on_one =
        a == ACT_OPEN || a == ACT_COPY ||
        (actions[a].group == GROUP_SESSION && a != ACT_NEW && a != ACT_UNDO && a != ACT_COMPARE);
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

static void view_sessions_click(struct app *app, void *state, int row, int col)
{
    struct sessions_view *v = state;
    (void)col;
    sessions_sync(app, v);
    if (list_click(&v->list, row))
        v->cursor = v->row[v->list.cursor]->record.id;
}

// --- drawing ---

static void view_sessions_draw(struct app *app, void *state, const struct pane *body)
{
    struct sessions_view *v = state;
    sessions_sync(app, v);
    v->list.rows = 0; // for clicks where it is not drawn
    if (app->model.session_count == 0) {
        const struct model *m = &app->model;
        struct pane p = pane_box(body, "Sessions", NULL, true);
        int width = p.cols - 2, row = p.rows > 8;
        if (m->trouble.text[0]) {
            pane_text_cut(&p, row, 1, width, STYLE_BAD, "The database cannot be read:");
            pane_wrapped(&p, row + 1, 1, width - 1, STYLE_TEXT, m->trouble.text);
            return;
        }
        char text[512];
        char *command = app_command_line(app, (const char *const[]){"tune", "gemm", NULL});
        snprintf(text, sizeof text,
                 "Press %s to start one here, or type this in a shell:", app_key_of(app, ACT_NEW));
        pane_text_cut(&p, row, 1, width, STYLE_STRONG, "No sessions yet.");
        pane_text_cut(&p, row + 1, 1, width, STYLE_TEXT, text);
        pane_text_cut(&p, row + 2, 3, width - 2, STYLE_KEY, command);
        free(command);
        row =
            pane_wrapped(&p, row + 4, 1, width - 1, STYLE_DIM,
                         "A session tunes one problem on one device. All that it measures is kept, "
                         "and it can be taken up again at any time.");
        snprintf(text, sizeof text, "Sessions are kept in %s", m->path);
        pane_wrapped(&p, row + 1, 1, width - 1, STYLE_DIM, text);
        return;
    }
    int rows = body->rows, low = rows >= 24 ? PANEL_ROWS : rows >= 16 ? LOW_PANEL_ROWS : 2;
    if (rows < 9)
        low = 0;
    if (v->comparing)
        low = sessions_compare_rows(app);
    v->compared_alone = v->comparing && rows - low < LOWEST_LIST_ROWS;
    if (v->compared_alone)
        low = rows;
    struct pane above = pane_part(body, 0, 0, rows - low, body->cols);
    struct pane below = pane_part(body, rows - low, 0, low, body->cols);
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
    .size = sizeof(struct sessions_view),
    .init = view_sessions_init,
    .finish = view_sessions_finish,
    .draw = view_sessions_draw,
    .act = view_sessions_act,
    .disabled = view_sessions_disabled,
    .tick = view_sessions_tick,
    .opened = view_sessions_opened,
    .click = view_sessions_click,
};
