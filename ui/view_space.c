#include "view_space.h"

#include "base/number.h"
#include "dialog.h"

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

// Returns true when the gathered facts are about the session that is open.
static bool is_current(const struct app *app, const struct space_view *v)
{
    return v->session > 0 && v->session == app->model.open.record.id;
}

// --- life ---

static void view_space_finish(struct app *app, void *state)
{
    struct space_view *v = state;
    (void)app;
    coverage_finish(&v->coverage);
    shares_finish(&v->shares);
    neighbourhood_finish(&v->counting.moves);
    neighbourhood_finish(&v->counted.moves);
    *v = (struct space_view){.session = 0};
}

// --- work in slices ---

// Counts the neighbours of another configuration at once, and those of the same one again a second
// after the session changed.
static bool moves_tick(struct app *app, struct space_view *v)
{
    struct space_moves *s = &v->counting;
    const struct opened *o = &app->model.open;
    const struct trial *now = space_now(app);
    if (!now)
        return false;
    if (s->ask != now->ask ||
        (s->complete && s->version != o->version && app->now - s->begun >= 1)) {
        s->ask = now->ask;
        s->version = o->version;
        s->begun = app->now;
        s->complete = false;
        neighbourhood_begin(&s->moves, o->space, &now->config);
    }
    if (s->complete)
        return false;
    s->complete = !neighbourhood_step(&s->moves, o->space, o->has_limits ? &o->limits : NULL,
                                      MOVES_SLICE, model_trial_with, &app->model);
    if (!s->complete)
        return true;
    // `counting` keeps everything but the neighbours, to know when the next count is due.
    neighbourhood_finish(&v->counted.moves);
    v->counted = *s;
    s->moves = (struct neighbourhood){.count = 0};
    app->dirty = true;
    return false;
}

// Does one kind of work a slice: first the neighbours, then coverage, then shares.
static bool view_space_tick(struct app *app, void *state)
{
    struct space_view *v = state;
    const struct opened *o = &app->model.open;
    if (!o->record.id)
        return false;
    if (!is_current(app, v)) {
        view_space_finish(app, v);
        v->session = o->record.id;
    }
    if (!o->space)
        return false;
    if (moves_tick(app, v) || coverage_step(&v->coverage, &app->model))
        return true;
    bool was_done = v->shares.done;
    bool more = shares_step(&v->shares, o->space, o->has_limits ? &o->limits : NULL);
    app->dirty |= v->shares.done != was_done;
    return more;
}

// --- the space file on disk ---

// Writes "80 472 268 800", and "1.2e+40" when that would be long; `digits` is a whole number.
static const char *grouped(const char *digits, char out[32])
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

static void add_file_state(struct app *app, struct lines *l)
{
    const struct space_file *f = &app->file;
    const struct opened *o = &app->model.open;
    char text[1400], size[32], in_use[32];
    switch (f->state) {
    case SPACE_FILE_BROKEN: {
        lines_add(l, STYLE_BAD, "%s", err_format(&f->error, text, sizeof text));
        int room = l->p->rows - l->row - 1;
        for (int i = -1; f->error.line > 0 && i <= 1 && room >= 3; i++)
            if (f->error.line + i >= 1)
                lines_add(l, i == 0 ? STYLE_STRONG : STYLE_DIM, " %s%5d | %s", i == 0 ? ">" : " ",
                          f->error.line + i, f->around[SPACE_FILE_AROUND + i]);
        if (l->row < l->p->rows)
            lines_add(l, STYLE_TEXT,
                      "The last good version stays in use; session %" PRId64 " %s it.",
                      o->record.id, o->state == STATE_RUNNING ? "keeps running on" : "stays with");
        break;
    }
    case SPACE_FILE_NEW:
        lines_add(l, STYLE_GOOD, "%s", f->difference);
        if (f->legal[0])
            lines_add(l, str_equal(f->legal, "0") ? STYLE_BAD : STYLE_TEXT,
                      "%s legal configurations, exactly.", grouped(f->legal, size));
        if (o->space && str_equal(f->size, o->space->size_text))
            snprintf(in_use, sizeof in_use, "as many as");
        else
            grouped(o->space ? o->space->size_text : "0", in_use);
        lines_add(l, STYLE_TEXT,
                  "%s points, %s in session %" PRId64 "; %s starts a new session with it.",
                  grouped(f->size, size), in_use, o->record.id, app_key_of(app, ACT_USE_NEW));
        break;
    case SPACE_FILE_GONE:
        lines_add(l, STYLE_WARN, "The file is gone; session %" PRId64 " has its own copy of it.",
                  o->record.id);
        break;
    case SPACE_FILE_CLOSED:
        lines_add(l, STYLE_WARN,
                  "Its folder was not known when this workbench was started: start "
                  "it again to compare.");
        break;
    case SPACE_FILE_SAME:
        lines_add(l, STYLE_DIM, "On disk as the session has it. %s edits it.",
                  app_key_of(app, ACT_EDIT));
        break;
    case SPACE_FILE_UNREAD: break;
    }
}

static void draw_file(struct app *app, const struct pane *p)
{
    const struct space_file *f = &app->file;
    const struct space_file_basis basis = app_file_basis(app);
    const char *path = space_file_changed(f, &basis);
    char title[200], note[96], at[16], text[1400];
    text_clock(f->changed, at);
    switch (f->state) {
    case SPACE_FILE_SAME: snprintf(note, 96, "unchanged"); break;
    case SPACE_FILE_NEW: snprintf(note, 96, "changed %s, loads", at); break;
    case SPACE_FILE_BROKEN: snprintf(note, 96, "changed %s, does NOT load", at); break;
    case SPACE_FILE_GONE: snprintf(note, 96, "gone"); break;
    case SPACE_FILE_CLOSED: snprintf(note, 96, "cannot be read"); break;
    case SPACE_FILE_UNREAD: snprintf(note, 96, "not read yet"); break;
    }
    snprintf(title, sizeof title, "%s", path);
    struct lines l = {.p = p};
    if (p->rows >= 3) {
        struct pane box = pane_box(p, title, note, false);
        struct pane inside = pane_part(&box, 0, 1, box.rows, box.cols - 2);
        l.p = &inside;
        add_file_state(app, &l);
    } else if (f->state == SPACE_FILE_BROKEN) {
        pane_line(p, 0, 0, STYLE_BAD, "%s", err_format(&f->error, text, sizeof text));
    } else {
        pane_line(p, 0, 0, f->state == SPACE_FILE_SAME ? STYLE_DIM : STYLE_WARN, "%s: %s", title,
                  note);
    }
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

static void draw_list(struct app *app, struct space_view *v, const struct pane *p, bool frame)
{
    const struct space *s = app->model.open.space;
    char title[32], note[96] = "", size[32];
    snprintf(title, sizeof title, "%d parameters", s ? s->param_count : 0);
    if (s && v->shares.sum.points > 0)
        snprintf(note, 96, "%s points, %.1f %% valid", grouped(s->size_text, size),
                 100 * share_of(&v->shares, v->shares.sum.valid));
    else if (s)
        snprintf(note, 96, "%s points", grouped(s->size_text, size));
    struct pane inside = framed(p, frame, title, note, !v->on_moves);
    space_list_draw(app, v, &inside);
    v->list_col = inside.col - p->col;
    v->list_cols = inside.cols;
    v->list.first_row = inside.row - p->row;
}

static void view_space_draw(struct app *app, void *state, const struct pane *body)
{
    struct space_view *v = state;
    v->list.rows = 0;
    if (!is_current(app, v)) {
        pane_line(body, 0, 0, STYLE_STRONG, "%s",
                  app->model.open.record.id ? "Reading the space..." : "No session is open.");
        if (!app->model.open.record.id)
            pane_line(body, 1, 0, STYLE_DIM,
                      "This screen shows the parameters of a session, their moves and its rules.");
        return;
    }
    // Parameters first, then moves, then the file: the last ones are left out where there is no
    // room.
    int below = app->file.state == SPACE_FILE_NEW ? 4 : 3; // with the frame
    if (app->file.state == SPACE_FILE_BROKEN) // the error, lines around it, the version in use
        below = app->file.error.line > 0 ? 7 : 4;
    if (body->rows >= FILE_PANE_ROWS)
        below = int_min(below, body->rows / 3);
    else
        below = body->rows >= FRAMED_ROWS;
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
    if (v->has_moves) {
        char title[96], note[96];
        space_moves_title(app, v, title, note);
        struct pane inside = framed(&moves, frame, title, note, v->on_moves);
        space_moves_draw(app, v, &inside);
        if (v->on_moves)
            pane_cursor(&inside, 0, 0);
    }
    if (file.rows > 0)
        draw_file(app, &file);
}

// --- keys ---

static void select_item(struct space_view *v, int64_t item)
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

static bool view_space_act(struct app *app, void *state, enum action a)
{
    struct space_view *v = state;
    if (!is_current(app, v))
        return false;
    const struct constraint *c = constraint_at_cursor(app, v);
    switch (a) {
    case ACT_EDIT: {
        struct space_file_basis basis = app_file_basis(app);
        const char *path;
        int line = space_file_place(&app->file, &basis, space_chosen(app, v), &path);
        if (c && app->file.state != SPACE_FILE_BROKEN)
            app_edit(app, c->file, c->line);
        else
            app_edit(app, path, line);
        return true;
    }
    case ACT_RELOAD: app_file_read(app); return true;
    case ACT_OPEN:
        if (c) {
            // The line of the session's own text, whatever the file holds now.
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
            at = at ? at + strspn(at, " \t") : "";
            app_say(app, STYLE_TEXT, "%s:%d: %.*s", c->file, c->line, (int)strcspn(at, "\r\n"), at);
        }
        return true;
    default: break;
    }
    const struct space *s = app->model.open.space;
    if (!s)
        return false;
    if (a == ACT_NEXT_PANE || a == ACT_PREVIOUS_PANE) {
        // Parameters, rules, and the moves of the chosen parameter where they are drawn.
        enum { PARAMS, RULES, MOVES, PANES };
        int at = v->on_moves ? MOVES : v->section == SECTION_RULES ? RULES : PARAMS;
        do {
            at = (at + (a == ACT_NEXT_PANE ? 1 : PANES - 1)) % PANES;
        } while ((at == RULES && s->constraint_count == 0) || (at == MOVES && !v->has_moves));
        v->section = at == RULES ? SECTION_RULES : SECTION_PARAMS;
        v->on_moves = at == MOVES;
        return true;
    }
    if (v->on_moves)
        return list_scroll(&v->moves, a);
    // Rules follow the parameters.
    int first = v->section == SECTION_RULES ? s->param_count : 0;
    struct list items = {.count = s->param_count + s->constraint_count,
                         .cursor = first + v->cursor[v->section],
                         .rows = v->list.rows};
    if (!list_act(&items, a))
        return false;
    bool rule = items.cursor >= s->param_count;
    v->section = rule ? SECTION_RULES : SECTION_PARAMS;
    select_item(v, items.cursor - (rule ? s->param_count : 0));
    return true;
}

static const char *view_space_disabled(struct app *app, void *state, enum action a)
{
    struct space_view *v = state;
    if (a != ACT_EDIT && a != ACT_RELOAD && a != ACT_OPEN)
        return NULL;
    if (!app->model.open.record.id)
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

static void view_space_click(struct app *app, void *state, int row, int col)
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
    select_item(v, item);
}

const struct view view_space = {
    .name = "space",
    .title = "Space",
    .tab = "Spc",
    .size = sizeof(struct space_view),
    .finish = view_space_finish,
    .draw = view_space_draw,
    .act = view_space_act,
    .disabled = view_space_disabled,
    .tick = view_space_tick,
    .opened = view_space_finish,
    .click = view_space_click,
};
