#include "view_main.h"

#include "curve_pane.h"
#include "report/text.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- where the panes go ---

static void lay_out_four(struct layout *l, int rows, int cols, bool carpet)
{
    if (carpet) {
        int left = cols * 3 / 5, right = cols - left, low = rows / 5;
        int top = (rows - low) * 2 / 5;
        l->pane[PANE_CURVE] = (struct rect){0, 0, rows, left};
        l->pane[PANE_TRIALS] = (struct rect){0, left, top, right};
        l->pane[PANE_DETAIL] = (struct rect){top, left, rows - top - low, right};
        l->pane[PANE_WORKERS] = (struct rect){rows - low, left, low, right};
        return;
    }
    // The population has many columns and the detail many words; a curve can be any width.
    int top = rows * 9 / 16, left = cols * 2 / 5;
    l->pane[PANE_CURVE] = (struct rect){0, 0, top, left};
    l->pane[PANE_POPULATION] = (struct rect){0, left, top, cols - left};
    l->pane[PANE_TRIALS] = (struct rect){top, 0, rows - top, left};
    l->pane[PANE_DETAIL] = (struct rect){top, left, rows - top, cols - left};
}

struct layout layout_make(int rows, int cols, const struct layout_choice *choice)
{
    struct layout l = {.kind = LAYOUT_FOUR};
    enum main_pane focus = choice->focus;
    if (rows < LAYOUT_ONE_ROWS || cols < LAYOUT_ONE_COLS)
        l.kind = LAYOUT_BARE;
    else if (choice->zoomed || rows < LAYOUT_TABBED_ROWS || cols < LAYOUT_TABBED_COLS)
        l.kind = LAYOUT_ONE;
    else if (rows < LAYOUT_FOUR_ROWS || cols < LAYOUT_FOUR_COLS)
        l.kind = choice->carpet && focus == PANE_CURVE ? LAYOUT_ONE : LAYOUT_TABBED;
    switch (l.kind) {
    case LAYOUT_FOUR: lay_out_four(&l, rows, cols, choice->carpet); break;
    case LAYOUT_TABBED: {
        int top = rows * 9 / 20;
        l.pane[PANE_CURVE] = (struct rect){0, 0, top, cols};
        l.pane[focus == PANE_CURVE ? choice->tab : focus] = (struct rect){top, 0, rows - top, cols};
        break;
    }
    case LAYOUT_ONE:
    case LAYOUT_BARE: l.pane[focus] = (struct rect){0, 0, rows, cols}; break;
    }
    return l;
}

bool layout_shows(const struct layout *l, enum main_pane pane)
{
    return l->pane[pane].rows > 0 && l->pane[pane].cols > 0;
}

enum main_pane layout_pane_at(const struct layout *l, int row, int col)
{
    int pane = 0;
    for (; pane < PANE_COUNT; pane++) {
        const struct rect *r = &l->pane[pane];
        if (row >= r->row && row < r->row + r->rows && col >= r->col && col < r->col + r->cols)
            break;
    }
    return (enum main_pane)pane;
}

enum main_pane layout_next(const struct layout *l, enum main_pane focus, bool forward)
{
    int next = (int)focus;
    do
        next = (next + (forward ? 1 : PANE_COUNT - 1)) % PANE_COUNT;
    while (l->kind == LAYOUT_FOUR && !layout_shows(l, (enum main_pane)next));
    return (enum main_pane)next;
}

// --- the view ---

struct main_view {
    enum main_pane focus, tab; // `tab`: the last pane but the curve that had the focus
    bool zoomed;
    bool swapped;   // the carpet where the population is usual, and the other way round
    int rows, cols; // of the body, as drawn last
    struct layout layout;
    struct curve_pane curve;
    struct population_pane population;
    struct trials_pane trials;
    struct detail_pane detail;
};

static const char *const pane_names[PANE_COUNT] = {"Curve",  "Detail",  "Population",
                                                   "Trials", "Workers", "Log"};

static void view_main_init(void *state)
{
    struct main_view *v = state;
    v->focus = v->tab = PANE_TRIALS;
}

static void lay_out(struct main_view *v)
{
    bool large = v->rows >= LAYOUT_FOUR_ROWS && v->cols >= LAYOUT_FOUR_COLS;
    struct layout_choice choice = {v->focus, v->tab, v->zoomed, large != v->swapped};
    v->layout = layout_make(v->rows, v->cols, &choice);
    // Some panes have no place among four.
    if (v->layout.kind == LAYOUT_FOUR && !layout_shows(&v->layout, v->focus))
        v->focus = v->tab = PANE_TRIALS;
    v->curve.has_carpet = choice.carpet;
}

static void set_focus(struct main_view *v, enum main_pane pane)
{
    v->focus = pane;
    if (pane != PANE_CURVE)
        v->tab = pane;
    lay_out(v);
}

// --- panes ---

// Names the panes that are hidden behind this one in the note.
static void add_tabs(const struct main_view *v, const char *title, int cols, char note[64])
{
    if (v->layout.kind == LAYOUT_FOUR)
        return;
    if (v->zoomed) {
        snprintf(note, 64, "zoomed");
        return;
    }
    const char *gap = "";
    note[0] = '\0';
    for (int i = v->layout.kind == LAYOUT_TABBED ? PANE_DETAIL : PANE_CURVE; i < PANE_COUNT; i++) {
        size_t n = strlen(note);
        snprintf(note + n, 64 - n, "%s%s", gap, pane_names[i]);
        gap = " | ";
    }
    if (text_columns(title) + text_columns(note) + 8 > cols)
        snprintf(note, 64, "%d of %d", (int)v->focus + 1, PANE_COUNT);
}

static void draw_log(struct app *app, const struct pane *p)
{
    // The newest messages first, without debug messages: these have a screen. The age stands
    // before each.
    const struct opened *o = &app->model.open;
    int row = 0;
    for (int i = o->message_count - 1; i >= 0 && row < p->rows; i--) {
        const struct message *m = &o->message[i];
        double age = app->unix_now - m->at;
        char text[32];
        if (str_equal(m->level, "debug"))
            continue;
        pane_text_right(p, row, 8, STYLE_DIM, text_duration(age > 0 ? age : 0, text));
        pane_text(p, row, 10,
                  str_equal(m->level, "error")     ? STYLE_BAD
                  : str_equal(m->level, "warning") ? STYLE_WARN
                                                   : STYLE_DIM,
                  m->level);
        pane_line(p, row++, 18, STYLE_TEXT, "%s", m->text);
    }
    if (row == 0)
        pane_line(p, 0, 0, STYLE_DIM, "Nothing was said yet.");
}

// The population shows the moment that the carpet shows. Moments move when trials come.
static void look_at_moment(const struct app *app, struct main_view *v)
{
    curve_pane_follow(app, &v->curve);
    v->population.moment = v->curve.number ? carpet_at(&v->curve.carpet, v->curve.number) : NULL;
}

static void draw_pane(struct app *app, struct main_view *v, enum main_pane pane,
                      const struct pane *body)
{
    const struct rect *r = &v->layout.pane[pane];
    struct pane p = pane_part(body, r->row, r->col, r->rows, r->cols);
    bool focused = pane == v->focus;
    look_at_moment(app, v);
    if (pane == PANE_CURVE) {
        curve_pane_draw(app, &v->curve, &p, focused);
        return;
    }
    if (v->layout.kind != LAYOUT_BARE) {
        char title[64], note[64];
        switch (pane) {
        case PANE_POPULATION: population_pane_title(app, &v->population, title, note); break;
        case PANE_DETAIL: detail_pane_title(app, &v->detail, title, note); break;
        default:
            snprintf(title, 64, "%s", pane_names[pane]);
            snprintf(note, 64, "%s",
                     pane == PANE_WORKERS                 ? ""
                     : pane == PANE_TRIALS && app->follow ? "newest first, following"
                                                          : "newest first");
        }
        add_tabs(v, title, p.cols, note);
        p = pane_box(&p, title, note[0] ? note : NULL, focused);
        if (pane == PANE_DETAIL || pane == PANE_LOG ||
            pane == PANE_WORKERS) // words do not touch the frame
            p = pane_part(&p, 0, 1, p.rows, p.cols - 2);
    }
    switch (pane) {
    case PANE_POPULATION: population_pane_draw(app, &v->population, &p, focused); break;
    case PANE_TRIALS: trials_pane_draw(app, &v->trials, &p, focused); break;
    case PANE_DETAIL: detail_pane_draw(app, &v->detail, &p, focused); break;
    case PANE_WORKERS: workers_pane_draw(app, &v->curve.dots, &p); break;
    default: draw_log(app, &p);
    }
}

static void view_main_draw(struct app *app, void *state, const struct pane *body)
{
    struct main_view *v = state;
    v->rows = body->rows;
    v->cols = body->cols;
    if (!app->model.open.record.id) {
        static const struct {
            enum action action;
            const char *what;
        } ways[] = {
            {ACT_VIEW + VIEW_SESSIONS, "choose one of the sessions"},
            {ACT_NEW, "start a new session"},
            {ACT_HELP, "all keys"},
            {ACT_QUIT, "leave"},
        };
        int row = body->rows > 12 ? body->rows / 4 : 0;
        int col = body->cols > 44 ? (body->cols - 40) / 2 : 0;
        struct pane part = pane_part(body, row, col, body->rows, body->cols);
        pane_line(&part, 0, 0, STYLE_STRONG, "No session is open.");
        const char *trouble =
            app->model.trouble.text[0] ? app->model.trouble.text : app->model.open.trouble.text;
        pane_line(&part, 1, 0, STYLE_WARN, "%s", trouble);
        row = body->rows > 8 ? 3 : trouble[0] ? 2 : 1;
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            if (ways[i].action == ACT_VIEW + VIEW_SESSIONS && app->model.session_count == 0)
                continue;
            char names[64];
            keymap_names(&app->keymap, ways[i].action, names);
            pane_text(&part, row, 0, STYLE_KEY, names);
            pane_line(&part, row++, 8, STYLE_TEXT, "%s", ways[i].what);
        }
        return;
    }
    lay_out(v);
    for (int i = 0; i < PANE_COUNT; i++)
        if (layout_shows(&v->layout, (enum main_pane)i))
            draw_pane(app, v, (enum main_pane)i, body);
}

// --- keys ---

static bool pane_act(struct app *app, struct main_view *v, enum main_pane pane, enum action a)
{
    look_at_moment(app, v);
    switch (pane) {
    case PANE_CURVE: return curve_pane_act(app, &v->curve, a);
    case PANE_POPULATION: return population_pane_act(app, &v->population, a);
    case PANE_TRIALS: return trials_pane_act(app, &v->trials, a);
    case PANE_DETAIL: return detail_pane_act(&v->detail, a);
    default: return false;
    }
}

// Shows the carpet instead of the population, or the other way round; where there is room for one
// pane, it gets the focus.
static void swap_carpet(struct main_view *v)
{
    v->swapped = !v->swapped;
    lay_out(v);
    if (v->layout.kind != LAYOUT_FOUR)
        set_focus(v, v->curve.has_carpet ? PANE_CURVE : PANE_POPULATION);
}

// Ends the zoom, else the look at an earlier moment.
static bool go_back(struct app *app, struct main_view *v)
{
    bool back = v->zoomed || v->curve.number;
    if (!v->zoomed && v->curve.number)
        app->follow = true;
    v->curve.number = v->zoomed ? v->curve.number : 0;
    v->zoomed = false;
    return back;
}

static bool view_main_act(struct app *app, void *state, enum action a)
{
    struct main_view *v = state;
    if (!app->model.open.record.id)
        return false;
    switch (a) {
    case ACT_NEXT_PANE:
    case ACT_PREVIOUS_PANE:
        set_focus(v, layout_next(&v->layout, v->focus, a == ACT_NEXT_PANE));
        return true;
    case ACT_ZOOM: v->zoomed = !v->zoomed; return true;
    case ACT_CARPET: swap_carpet(v); return true;
    case ACT_BACK: return go_back(app, v);
    case ACT_OPEN:
        pane_act(app, v, v->focus, a); // the population selects
        if (v->focus != PANE_DETAIL)
            set_focus(v, PANE_DETAIL);
        return true;
    case ACT_COPY: app_copy_config(app, shown_trial(app)); return true;
    default: {
        // The focused pane comes first. Colours are the population's wherever the focus is. Moving
        // is the trials' where nothing else moves, so that one can go through them while reading
        // the detail.
        if (pane_act(app, v, v->focus, a))
            return true;
        if (a == ACT_COLOUR)
            return pane_act(app, v, PANE_POPULATION, a);
        if (a == ACT_EARLIER || a == ACT_LATER)
            return pane_act(app, v, PANE_CURVE, a);
        return pane_act(app, v, PANE_CURVE, a) || pane_act(app, v, PANE_TRIALS, a);
    }
    }
}

static const char *view_main_disabled(struct app *app, void *state, enum action a)
{
    (void)state;
    bool of_session = actions[a].group == GROUP_SHOW || a == ACT_NEXT_PANE ||
                      a == ACT_PREVIOUS_PANE || a == ACT_OPEN || a == ACT_COPY;
    if (!of_session)
        return NULL;
    if (!app->model.open.record.id)
        return "no session is open";
    if ((a == ACT_OPEN || a == ACT_COPY) && !shown_trial(app))
        return "no trial has ended yet";
    if (a == ACT_COPY && !app->model.open.space)
        return "the space of this session cannot be read";
    return NULL;
}

static bool view_main_tick(struct app *app, void *state)
{
    struct main_view *v = state;
    if (!app->model.open.record.id)
        return false;
    // The others show what the curve reads, too.
    if (curve_pane_tick(app, &v->curve))
        return true;
    if (layout_shows(&v->layout, PANE_POPULATION) &&
        population_pane_tick(app, &v->population, &v->curve.dots))
        return true;
    return layout_shows(&v->layout, PANE_DETAIL) && detail_pane_tick(app, &v->detail);
}

static void view_main_finish(struct app *app, void *state)
{
    struct main_view *v = state;
    (void)app;
    curve_pane_finish(&v->curve);
    population_pane_finish(&v->population);
}

static void view_main_opened(struct app *app, void *state)
{
    (void)app;
    struct main_view *v = state;
    bool by_speed = v->population.by_speed;
    population_pane_finish(&v->population);
    v->curve.number = 0;
    v->population = (struct population_pane){.by_speed = by_speed};
    v->trials = (struct trials_pane){.best_below = false};
    v->detail = (struct detail_pane){.ask = 0};
}

static void view_main_click(struct app *app, void *state, int row, int col)
{
    struct main_view *v = state;
    enum main_pane pane = layout_pane_at(&v->layout, row, col);
    if (!app->model.open.record.id || pane == PANE_COUNT)
        return;
    set_focus(v, pane);
    look_at_moment(app, v);
    int at = row - v->layout.pane[pane].row - (v->layout.kind != LAYOUT_BARE);
    if (pane == PANE_TRIALS)
        trials_pane_click(app, &v->trials, at);
    else if (pane == PANE_POPULATION)
        population_pane_click(app, &v->population, at);
}

const struct view view_main = {
    .name = "main",
    .title = "Main",
    .tab = "Main",
    .size = sizeof(struct main_view),
    .init = view_main_init,
    .finish = view_main_finish,
    .draw = view_main_draw,
    .act = view_main_act,
    .disabled = view_main_disabled,
    .tick = view_main_tick,
    .opened = view_main_opened,
    .click = view_main_click,
};
