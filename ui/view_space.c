// The space screen: parameters, moves, constraints, the space file.
#include "view_space.h"
#include "dialog.h"
#include "trial_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOVES_SLICE    30 // neighbours that are looked at: 2 ms
#define FRAMED_ROWS    6
#define FRAMED_COLS    34
#define BESIDE_COLS    56 // list and moves side by side
#define BELOW_EACH     12 // rows from which moves lie under the list where there is no room beside
#define FILE_PANE_ROWS 14 // rows from which the file has a pane of its own

static bool is_open(const struct app *app)
{
    return app->model.open.record.id > 0;
}

// What was gathered is about the session that is open.
static bool is_current(const struct app *app, const struct space_view *v)
{
    return is_open(app) && v->session == app->model.open.record.id;
}

const struct trial *space_now(struct app *app)
{
    struct model *m = &app->model;
    const struct trial *t = NULL;
    if (!m->open.space)
        return NULL;
    if (!app->follow && app->selected > 0)
        t = model_trial(m, app->selected);
    if (!t || !t->has_config)
        t = model_best(m);
    if (!t || !t->has_config)
        t = model_trial_numbered(m, m->open.last_number);
    return t && t->has_config ? t : NULL;
}

const struct param *space_chosen(const struct app *app, const struct space_view *v)
{
    const struct space *s = app->model.open.space;
    return s ? &s->param[v->cursor[SECTION_PARAMS]] : NULL;
}

const char *space_grouped(const char *digits, char out[32])
{
    size_t count = strlen(digits), n = 0;
    if (count > 18) {
        snprintf(out, 32, "%.1e", strtod(digits, NULL));
        return out;
    }
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0)
            out[n++] = ' ';
        out[n++] = digits[i];
    }
    out[n] = '\0';
    return out;
}

const char *space_trial_name(const struct trial *t, char out[32])
{
    if (t->number > 0)
        snprintf(out, 32, "#%" PRId64, t->number);
    else
        snprintf(out, 32, "ask %" PRId64, t->ask);
    return out;
}

// --- life ---

static void *create(struct app *app)
{
    (void)app;
    return mem_zero(1, sizeof(struct space_view));
}

static void forget(struct space_view *v)
{
    coverage_finish(&v->coverage);
    shares_finish(&v->shares);
    fates_finish(&v->counting.moves);
    fates_finish(&v->counted.moves);
    *v = (struct space_view){.session = 0};
}

static void destroy(void *state)
{
    forget(state);
    free(state);
}

static void opened(struct app *app, void *state)
{
    (void)app;
    forget(state);
}

static void begin(struct app *app, struct space_view *v)
{
    forget(v);
    v->session = app->model.open.record.id;
    if (!app->model.open.space)
        return;
    coverage_begin(&v->coverage, &app->model);
    shares_begin(&v->shares, app->model.open.space);
}

// --- work in slices ---

static const struct trial *find(void *context, const struct config *c)
{
    return model_trial_with(context, c);
}

// Those of another trial at once; the same ones again a second after the session changed.
static bool is_due(const struct app *app, const struct space_moves *s, int64_t ask)
{
    if (s->ask != ask)
        return true;
    return s->complete && s->version != app->model.open.version && app->now - s->begun >= 1;
}

static bool moves_tick(struct app *app, struct space_view *v)
{
    struct space_moves *s = &v->counting;
    const struct opened *o = &app->model.open;
    const struct trial *now = space_now(app);
    if (!now)
        return false;
    if (is_due(app, s, now->ask)) {
        s->ask = now->ask;
        s->version = o->version;
        s->begun = app->now;
        s->complete = false;
        fates_begin(&s->moves, o->space, &now->config);
    }
    if (s->complete)
        return false;
    s->complete = !fates_step(&s->moves, o->space, o->has_limits ? &o->limits : NULL, MOVES_SLICE,
                              find, &app->model);
    if (!s->complete)
        return true;
    fates_finish(&v->counted.moves); // what was counted stays to know when the next count is due
    v->counted = *s;
    s->moves = (struct fates){.count = 0};
    app->dirty = true;
    return false;
}

// One kind of work a slice, the one that answers most first.
static bool tick(struct app *app, void *state)
{
    struct space_view *v = state;
    if (!is_open(app))
        return false;
    if (!is_current(app, v))
        begin(app, v);
    const struct opened *o = &app->model.open;
    if (!o->space)
        return false;
    if (moves_tick(app, v) || coverage_step(&v->coverage, &app->model))
        return true;
    bool was_done = v->shares.done;
    bool more = shares_step(&v->shares, o->space, o->has_limits ? &o->limits : NULL);
    app->dirty |= v->shares.done != was_done;
    return more;
}

// --- drawing ---

static struct pane framed(const struct pane *p, bool frame, const char *title, const char *note,
                          bool focused)
{
    if (!frame)
        return *p;
    struct pane box = pane_box(p, title, note, focused);
    return pane_part(&box, 0, 1, box.rows, box.cols - 2);
}

static void params_note(const struct app *app, const struct space_view *v, char note[96])
{
    const struct space *s = app->model.open.space;
    double share = share_of(&v->shares, v->shares.sum.valid);
    char size[32];
    note[0] = '\0';
    if (s && v->shares.sum.points > 0)
        snprintf(note, 96, "%s points, %.1f %% valid", space_grouped(s->size_text, size),
                 100 * share);
    else if (s)
        snprintf(note, 96, "%s points", space_grouped(s->size_text, size));
}

static void draw_list(struct app *app, struct space_view *v, const struct pane *p, bool frame)
{
    char title[32], note[96];
    const struct space *s = app->model.open.space;
    snprintf(title, sizeof title, "%d parameters", s ? s->param_count : 0);
    params_note(app, v, note);
    struct pane inside = framed(p, frame, title, note, !v->on_moves);
    space_list_draw(app, v, &inside);
    v->list_col = inside.col - p->col;
    v->list_cols = inside.cols;
    v->list.first_row = inside.row - p->row;
}

static void draw_moves(struct app *app, struct space_view *v, const struct pane *p, bool frame)
{
    char title[96], note[96];
    space_moves_title(app, v, title, note);
    struct pane inside = framed(p, frame, title, note, v->on_moves);
    space_moves_draw(app, v, &inside);
    if (v->on_moves)
        pane_cursor(&inside, 0, 0);
}

// Parameters first, then moves, then the file: what there is no room for is left out from the end.
static void draw_panes(struct app *app, struct space_view *v, const struct pane *body)
{
    int below = 0;
    if (body->rows >= FILE_PANE_ROWS)
        below = space_below_rows(app, body->rows / 3);
    else if (body->rows >= FRAMED_ROWS)
        below = 1;
    int rows = body->rows - below;
    bool frame = rows >= FRAMED_ROWS && body->cols >= FRAMED_COLS;
    struct pane list = pane_part(body, 0, 0, rows, body->cols);
    struct pane moves = pane_part(body, 0, 0, 0, 0);
    struct pane file = pane_part(body, rows, 0, below, body->cols);
    if (body->cols >= BESIDE_COLS) {
        int cols = body->cols >= 100 ? body->cols * 11 / 20 : body->cols * 19 / 40;
        list = pane_part(body, 0, 0, rows, cols);
        moves = pane_part(body, 0, cols, rows, body->cols - cols);
    } else if (rows >= 2 * BELOW_EACH) {
        list = pane_part(body, 0, 0, rows / 2, body->cols);
        moves = pane_part(body, rows / 2, 0, rows - rows / 2, body->cols);
    }
    v->has_moves = moves.rows > 0;
    v->on_moves &= v->has_moves;
    draw_list(app, v, &list, frame);
    if (v->has_moves)
        draw_moves(app, v, &moves, frame);
    if (file.rows > 0)
        space_below_draw(app, &file);
}

static void draw(struct app *app, void *state, const struct pane *body)
{
    struct space_view *v = state;
    v->list.rows = 0;
    if (is_current(app, v)) {
        draw_panes(app, v, body);
        return;
    }
    pane_text_cut(body, 0, 0, body->cols, STYLE_STRONG,
                  is_open(app) ? "Reading the space..." : "No session is open.");
    if (!is_open(app))
        pane_text_cut(body, 1, 0, body->cols, STYLE_DIM,
                      "This screen shows the parameters of a session, their moves and its rules.");
}

// --- keys ---

static int items_of(const struct app *app, enum space_section section)
{
    return section == SECTION_PARAMS ? app->model.open.space->param_count : space_rule_count(app);
}

static void move_to(struct space_view *v, int64_t item)
{
    v->cursor[v->section] = (int)item;
    if (v->section == SECTION_PARAMS)
        v->moves.top = 0;
}

static const struct constraint *constraint_at_cursor(const struct app *app,
                                                     const struct space_view *v)
{
    const struct space *s = app->model.open.space;
    int i = v->cursor[SECTION_RULES];
    return s && v->section == SECTION_RULES && i < s->constraint_count ? &s->constraint[i] : NULL;
}

static void edit(struct app *app, struct space_view *v)
{
    struct space_file_basis basis = app_file_basis(app);
    const struct constraint *c = constraint_at_cursor(app, v);
    const char *path;
    int line = space_file_place(&app->file, &basis, space_chosen(app, v), &path);
    if (c && app->file.state != SPACE_FILE_BROKEN)
        app_edit(app, c->file, c->line);
    else
        app_edit(app, path, line);
}

// The line of the session's own text, whatever the file says now.
static void show_constraint(struct app *app, const struct constraint *c)
{
    int count;
    const struct script_text *text = script_texts(app->model.open.script, &count);
    const char *at = NULL;
    for (int i = 0; i < count; i++)
        if (str_equal(text[i].path, c->file))
            at = text[i].text;
    for (int line = 1; at && line < c->line; line++) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    while (at && (*at == ' ' || *at == '\t'))
        at++;
    app_say(app, STYLE_TEXT, "%s:%d: %.*s", c->file, c->line, at ? (int)strcspn(at, "\r\n") : 0,
            at ? at : "");
}

// Parameters, rules, and the moves of the chosen parameter where they are drawn.
static void change_pane(struct app *app, struct space_view *v, bool forward)
{
    enum { PARAMS, RULES, MOVES, PANES };
    int at = v->on_moves ? MOVES : v->section == SECTION_RULES ? RULES : PARAMS;
    do {
        at = (at + (forward ? 1 : PANES - 1)) % PANES;
    } while ((at == RULES && items_of(app, SECTION_RULES) == 0) || (at == MOVES && !v->has_moves));
    v->section = at == RULES ? SECTION_RULES : SECTION_PARAMS;
    v->on_moves = at == MOVES;
}

static bool move(struct app *app, struct space_view *v, enum action a)
{
    if (a == ACT_NEXT_PANE || a == ACT_PREVIOUS_PANE) {
        change_pane(app, v, a == ACT_NEXT_PANE);
        return true;
    }
    if (v->on_moves)
        return list_scroll(&v->moves, a);
    struct list items = {
        .count = items_of(app, v->section), .cursor = v->cursor[v->section], .rows = v->list.rows};
    if (!list_act(&items, a))
        return false;
    move_to(v, items.cursor);
    return true;
}

static bool act(struct app *app, void *state, enum action a)
{
    struct space_view *v = state;
    if (!is_current(app, v))
        return false;
    switch (a) {
    case ACT_EDIT: edit(app, v); return true;
    case ACT_RELOAD: app_file_read(app); return true;
    case ACT_OPEN:
        if (constraint_at_cursor(app, v))
            show_constraint(app, constraint_at_cursor(app, v));
        return true;
    default: return app->model.open.space && move(app, v, a);
    }
}

static const char *disabled(struct app *app, void *state, enum action a)
{
    struct space_view *v = state;
    if (a != ACT_EDIT && a != ACT_RELOAD && a != ACT_OPEN)
        return NULL;
    if (!is_open(app))
        return "no session is open";
    if (!is_current(app, v))
        return "the space was not read yet";
    if (app->model.open.recording)
        return "the space is that of a recording";
    if (a == ACT_EDIT && app->file.state == SPACE_FILE_GONE)
        return "the file is gone";
    if (a == ACT_OPEN && !constraint_at_cursor(app, v))
        return "no constraint is chosen";
    return NULL;
}

static void click(struct app *app, void *state, int row, int col)
{
    struct space_view *v = state;
    enum space_section section;
    int item;
    bool inside = col >= v->list_col && col < v->list_col + v->list_cols;
    if (!is_current(app, v) || !inside || !list_click(&v->list, row) ||
        !space_list_at(app, (int)v->list.cursor, &section, &item))
        return;
    v->section = section;
    v->on_moves = false;
    move_to(v, item);
}

const struct view view_space = {
    .name = "space",
    .title = "Space",
    .tab = "Spc",
    .create = create,
    .destroy = destroy,
    .draw = draw,
    .act = act,
    .disabled = disabled,
    .tick = tick,
    .opened = opened,
    .click = click,
};
