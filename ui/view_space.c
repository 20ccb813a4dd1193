// The space screen: parameters, moves, constraints, the space file.

#include "view_space.h"

#include "dialog.h"
#include "report/text.h"
#include "trial_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIALS_SLICE 200

// --- values that were tried ---

static struct config alone(const struct param *p, const int32_t *value)
{
    struct config c = {{0}};
    memcpy(c.slot, value, (size_t)p->width * sizeof *value);
    return c;
}

static void count_value(struct value_facts *v, const struct param *p, const struct trial *t)
{
    struct config value = alone(p, t->config.slot + p->offset);
    int i = config_set_find(&v->seen, &value);
    if (i < 0 && v->seen.count == COVERAGE_MOST) {
        v->full = true;
        return;
    }
    if (i < 0) {
        if (v->seen.count == v->capacity) {
            v->capacity = v->capacity ? 2 * v->capacity : 16;
            v->trials = mem_resize(v->trials, (size_t)v->capacity, sizeof *v->trials);
            v->best = mem_resize(v->best, (size_t)v->capacity, sizeof *v->best);
        }
        i = config_set_add(&v->seen, &value, NULL);
        v->trials[i] = 0;
        v->best[i] = (struct rank){0, false};
    }
    v->trials[i]++;
    if (t->outcome == OUTCOME_OK && rank_is_better(trial_rank(t), v->best[i]))
        v->best[i] = trial_rank(t);
}

static void count_trial(void *context, const struct trial *t)
{
    struct coverage *c = context;
    if (!t->has_config || t->outcome == OUTCOME_REJECTED)
        return;
    for (int i = 0; i < c->space->param_count; i++)
        count_value(&c->of[i], &c->space->param[i], t);
}

void coverage_begin(struct coverage *c, struct model *m)
{
    coverage_finish(c);
    scan_start(&c->scan, m);
    c->races = scan_races(m);
    c->space = m->open.space;
    for (int i = 0; c->space && i < c->space->param_count; i++)
        c->of[i].seen.slots = c->space->param[i].width;
}

bool coverage_step(struct coverage *c, struct model *m)
{
    if (c->space && c->races != scan_races(m))
        coverage_begin(c, m);
    return c->space && scan_step(&c->scan, m, TRIALS_SLICE, count_trial, c);
}

void coverage_finish(struct coverage *c)
{
    for (int i = 0; i < SPACE_MAX_PARAMS; i++) {
        config_set_finish(&c->of[i].seen);
        free(c->of[i].trials);
        free(c->of[i].best);
    }
    *c = (struct coverage){.space = NULL};
}

void value_facts_get(const struct value_facts *v, int index, int32_t out[PARAM_MAX_WIDTH])
{
    struct config c;
    config_set_get(&v->seen, index, &c);
    memcpy(out, c.slot, PARAM_MAX_WIDTH * sizeof *out);
}

int value_facts_find(const struct value_facts *v, const struct param *p, const int32_t *value)
{
    struct config c = alone(p, value);
    return v->seen.count > 0 ? config_set_find(&v->seen, &c) : -1;
}

// --- what rules remove ---

void shares_begin(struct shares *s, const struct space *space)
{
    shares_finish(s);
    survey_begin(&s->sum, space, &survey_usual);
}

bool shares_step(struct shares *s, const struct space *space, const struct limits *l)
{
    if (s->done || !s->sum.by_constraint)
        return false;
    bool judged = survey_step(&s->sum, space, l, SHARES_SLICE, &s->trouble);
    if (judged)
        s->trouble.text[0] = '\0';
    s->done = !judged || s->sum.points == s->sum.wanted;
    return !s->done;
}

void shares_finish(struct shares *s)
{
    survey_finish(&s->sum);
    *s = (struct shares){.done = false};
}

double share_of(const struct shares *s, uint64_t points)
{
    return s->sum.points ? (double)points / (double)s->sum.points : 0;
}

double share_error(const struct shares *s, double share)
{
    if (s->sum.exact || s->sum.points == 0)
        return 0;
    return 1.96 * sqrt(share * (1 - share) / (double)s->sum.points);
}

static int error_lines(const struct space_file *f)
{
    return f->error.line > 0 ? 5 : 2; // the error, three lines around it, what stays in use
}

int space_below_rows(const struct app *app, int most)
{
    const struct space_file *f = &app->file;
    int wanted = 2 + (f->state == SPACE_FILE_BROKEN ? error_lines(f)
                      : f->state == SPACE_FILE_NEW  ? 2
                                                    : 1);
    return wanted < most ? wanted : most;
}

static void add_state(struct app *app, const struct space_file *f, struct space_lines *l)
{
    switch (f->state) {
    case SPACE_FILE_BROKEN: {
        char text[1400];
        space_line(l, STYLE_BAD, "%s", err_format(&f->error, text, sizeof text));
        int room = l->p->rows - l->row - 1;
        for (int i = -1; f->error.line > 0 && i <= 1 && room >= 3; i++) {
            const char *source = f->around[SPACE_FILE_AROUND + i];
            if (f->error.line + i < 1)
                continue;
            space_line(l, i == 0 ? STYLE_STRONG : STYLE_DIM, " %s%5d | %s", i == 0 ? ">" : " ",
                       f->error.line + i, source);
        }
        if (l->row < l->p->rows) {
            const struct opened *o = &app->model.open;
            space_line(l, STYLE_TEXT,
                       "The last good version stays in use; session %" PRId64 " %s it.",
                       o->record.id, o->state == STATE_RUNNING ? "keeps running on" : "stays with");
        }
    } break;
    case SPACE_FILE_NEW: {
        const struct space *space = app->model.open.space;
        char size[32], in_use[32];
        space_line(l, STYLE_GOOD, "%s", f->difference);
        space_line(l, STYLE_TEXT,
                   "%s points, in use %s; %s starts a new session with it, session %" PRId64
                   " keeps its own.",
                   space_grouped(f->size, size),
                   space ? space_grouped(space->size_text, in_use) : "none",
                   app_key_of(app, ACT_USE_NEW), app->model.open.record.id);
    } break;
    case SPACE_FILE_GONE:
        space_line(l, STYLE_WARN, "The file is gone; session %" PRId64 " has its own copy of it.",
                   app->model.open.record.id);
        break;
    case SPACE_FILE_CLOSED:
        space_line(l, STYLE_WARN,
                   "Its folder was not known when this workbench was started: start "
                   "it again to compare.");
        break;
    case SPACE_FILE_SAME:
        space_line(l, STYLE_DIM, "On disk as the session has it. %s edits it.",
                   app_key_of(app, ACT_EDIT));
        break;
    case SPACE_FILE_UNREAD: break;
    }
}

void space_below_draw(struct app *app, const struct pane *p)
{
    char title[200], note[96];
    // The words of the title's end.
    char at[16];
    text_clock(app->file.changed, at);
    switch (app->file.state) {
    case SPACE_FILE_SAME: snprintf(note, 96, "unchanged"); break;
    case SPACE_FILE_NEW: snprintf(note, 96, "changed %s, loads", at); break;
    case SPACE_FILE_BROKEN: snprintf(note, 96, "changed %s, does NOT load", at); break;
    case SPACE_FILE_GONE: snprintf(note, 96, "gone"); break;
    case SPACE_FILE_CLOSED: snprintf(note, 96, "cannot be read"); break;
    case SPACE_FILE_UNREAD: snprintf(note, 96, "not read yet"); break;
    }
    snprintf(title, sizeof title, "%s", app->model.open.record.path);
    if (p->rows >= 3) {
        struct pane box = pane_box(p, title, note, false);
        struct pane inside = pane_part(&box, 0, 1, box.rows, box.cols - 2);
        struct space_lines l = {.p = &inside};
        add_state(app, &app->file, &l);
        return;
    }
    struct space_lines l = {.p = p};
    if (app->file.state == SPACE_FILE_BROKEN) {
        char text[1400];
        space_line(&l, STYLE_BAD, "%s", err_format(&app->file.error, text, sizeof text));
    } else {
        space_line(&l, app->file.state == SPACE_FILE_SAME ? STYLE_DIM : STYLE_WARN, "%s: %s", title,
                   note);
    }
}

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
    if (!is_current(app, v)) {
        forget(v);
        v->session = app->model.open.record.id;
        if (app->model.open.space) {
            coverage_begin(&v->coverage, &app->model);
            shares_begin(&v->shares, app->model.open.space);
        }
    }
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

static void draw_moves(struct app *app, struct space_view *v, const struct pane *p, bool frame)
{
    char title[96], note[96];
    space_moves_title(app, v, title, note);
    struct pane inside = framed(p, frame, title, note, v->on_moves);
    space_moves_draw(app, v, &inside);
    if (v->on_moves)
        pane_cursor(&inside, 0, 0);
}

static void draw(struct app *app, void *state, const struct pane *body)
{
    struct space_view *v = state;
    v->list.rows = 0;
    if (is_current(app, v)) {
        // Parameters first, then moves, then the file: what there is no room for is left out from
        // the end.
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
        char title[32], note[96];
        const struct space *s = app->model.open.space;
        snprintf(title, sizeof title, "%d parameters", s ? s->param_count : 0);
        params_note(app, v, note);
        struct pane inside = framed(&list, frame, title, note, !v->on_moves);
        space_list_draw(app, v, &inside);
        v->list_col = inside.col - list.col;
        v->list_cols = inside.cols;
        v->list.first_row = inside.row - list.row;
        if (v->has_moves)
            draw_moves(app, v, &moves, frame);
        if (file.rows > 0)
            space_below_draw(app, &file);
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

static bool move(struct app *app, struct space_view *v, enum action a)
{
    if (a == ACT_NEXT_PANE || a == ACT_PREVIOUS_PANE) {
        // Parameters, rules, and the moves of the chosen parameter where they are drawn.
        bool forward = a == ACT_NEXT_PANE;
        enum { PARAMS, RULES, MOVES, PANES };
        int at = v->on_moves ? MOVES : v->section == SECTION_RULES ? RULES : PARAMS;
        do {
            at = (at + (forward ? 1 : PANES - 1)) % PANES;
        } while ((at == RULES && items_of(app, SECTION_RULES) == 0) ||
                 (at == MOVES && !v->has_moves));
        v->section = at == RULES ? SECTION_RULES : SECTION_PARAMS;
        v->on_moves = at == MOVES;
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
    case ACT_EDIT: {
        struct space_file_basis basis = app_file_basis(app);
        const struct constraint *c = constraint_at_cursor(app, v);
        const char *path;
        int line = space_file_place(&app->file, &basis, space_chosen(app, v), &path);
        if (c && app->file.state != SPACE_FILE_BROKEN)
            app_edit(app, c->file, c->line);
        else
            app_edit(app, path, line);
    }
        return true;
    case ACT_RELOAD: app_file_read(app); return true;
    case ACT_OPEN:
        if (constraint_at_cursor(app, v)) {
            // The line of the session's own text, whatever the file says now.
            const struct constraint *c = constraint_at_cursor(app, v);
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
            app_say(app, STYLE_TEXT, "%s:%d: %.*s", c->file, c->line,
                    at ? (int)strcspn(at, "\r\n") : 0, at ? at : "");
        }
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
