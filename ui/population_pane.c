#include "population_pane.h"

#include "app.h"
#include "base/number.h"
#include "report/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define WIDEST_SHADE   2
#define MOST_NAME_ROWS 5
#define MOST_VALUE     10 // columns of a value

void heat_columns_init(struct heat_columns *c, const struct space *s)
{
    c->space = s;
    c->count = 0;
    short_names(s, c->brief);
    for (int i = 0; i < s->param_count; i++) {
        int parts = s->param[i].kind == PARAM_FACTORIZATION ? s->param[i].width : 1;
        for (int slot = 0; slot < parts; slot++)
            c->column[c->count++] = (struct heat_column){.param = i, .slot = slot};
    }
}

void heat_value_add(const struct heat_columns *c, int i, const struct config *config,
                    struct str *out)
{
    const struct param *p = &c->space->param[c->column[i].param];
    const int32_t *v = config->slot + p->offset;
    if (!space_is_live(c->space, config, c->column[i].param))
        str_add_char(out, '-'); // the configuration has no such parameter
    else if (p->kind == PARAM_FACTORIZATION)
        str_add_int(out, v[c->column[i].slot]);
    else
        value_add_text(p, v, out);
}

void heat_columns_take(struct heat_columns *c, const struct config *config)
{
    for (int i = 0; i < c->count; i++) {
        struct str text = {0};
        heat_value_add(c, i, config, &text);
        int cols = int_min(text_columns(str_text(&text)), MOST_VALUE);
        c->column[i].value_cols = int_max(c->column[i].value_cols, cols);
        str_finish(&text);
    }
}

static bool begins_group(const struct heat_columns *c, int i)
{
    return c->column[i].slot == 0;
}

static int name_columns(const struct heat_columns *c, int i)
{
    return text_columns(c->space->param[c->column[i].param].name);
}

// The columns that the parts of a factorization (or the one column) take.
static int group_width(const struct heat_columns *c, int i, int gap)
{
    int width = c->column[i].width;
    for (int k = i + 1; k < c->count && !begins_group(c, k); k++)
        width += gap + c->column[k].width;
    return width;
}

// Puts columns side by side from `first` on; returns how many fit. Where values are shown a group
// is as wide as its name.
static int place(struct heat_columns *c, int first, int room)
{
    int at = 0, inside = c->values, next = 0; // `next`: where the name of this group ends
    int i = first;
    for (; i < c->count; i++) {
        struct heat_column *k = &c->column[i];
        bool begins = begins_group(c, i);
        if (begins && i > first)
            at = int_max(at + 1, next);
        else if (i > first)
            at += inside;
        if (begins && c->values)
            next = at + int_max(group_width(c, i, inside), name_columns(c, i)) + 1;
        k->at = at;
        at += k->width;
        if (at > room)
            break;
        c->end = int_min(int_max(at, next - 1), room);
    }
    return i - first;
}

static void set_width(struct heat_columns *c, bool values, int shade)
{
    c->values = values;
    for (int i = 0; i < c->count; i++)
        c->column[i].width = values ? c->column[i].value_cols + 1 : shade;
}

void heat_columns_fit(struct heat_columns *c, struct list *l, int room, bool always)
{
    set_width(c, true, 0);
    bool fits = place(c, 0, room) == c->count;
    for (int shade = WIDEST_SHADE; !fits && !always && shade > 0; shade--) {
        set_width(c, false, shade);
        fits = place(c, 0, room) == c->count;
    }
    l->top = int64_clamp(l->top, 0, l->cursor > 0 ? l->cursor : 0);
    while (l->cursor >= l->top + place(c, (int)l->top, room) && l->top < l->cursor)
        l->top++;
    while (l->top > 0 && l->top - 1 + place(c, (int)l->top - 1, room) >= c->count)
        l->top--; // no room is left empty
    c->shown = place(c, (int)l->top, room);
    list_fit(l, c->count, c->shown);
}

// Names on `rows` rows in turns. False: one has to be cut.
static bool name_turns(struct heat_columns *c, int first, int room, int rows)
{
    int last[MOST_NAME_ROWS], turn = 0; // column that has the last name of a row
    bool whole = true;
    for (int row = 0; row < rows; row++)
        last[row] = -1;
    for (int i = first; i < first + c->shown; i++) {
        struct heat_column *k = &c->column[i];
        k->name_cols = 0;
        if (!begins_group(c, i) && i > first)
            continue;
        k->name_row = turn;
        k->name_cols = name_columns(c, i);
        struct heat_column *before = last[turn] >= 0 ? &c->column[last[turn]] : NULL;
        if (before && before->at + before->name_cols >= k->at) {
            before->name_cols = k->at - before->at - 1;
            whole = false;
        }
        int end = turn == rows - 1 ? c->end : room; // below, the head of the speeds comes next
        if (k->at + k->name_cols > end) {
            k->name_cols = end - k->at;
            whole = false;
        }
        last[turn] = i;
        turn = (turn + 1) % rows;
    }
    c->name_rows = rows;
    return whole;
}

const char *heat_name(const struct heat_columns *c, int i)
{
    int param = c->column[i].param;
    return c->column[i].name_cols < name_columns(c, i) ? c->brief[param]
                                                       : c->space->param[param].name;
}

void heat_names_fit(struct heat_columns *c, int first, int room, int most_rows)
{
    int rows = 1;
    while (!name_turns(c, first, room, rows) && rows < int_min(most_rows, MOST_NAME_ROWS))
        rows++;
}

#define LEFT_COLS  5 // mark, rank, whether it is new, a gap
#define SPEED_COLS 7 // with a gap

struct row {
    int64_t ask;
    int generation;
    double speed;
    struct rank rank;
    struct config config;
};

struct heat {
    struct row row[MODEL_MOST_POPULATION];
    int rows;
    struct heat_columns columns;
    int generation;     // the newest trial's; -1: nobody is new
    bool is_calibrated; // it is known how often results were where the model expected them
    int head_rows, body_rows;
    int below; // rows: the model's calibration, what convergence is, the legend
    int shown_rows;
    int end; // where speeds end
};

// Best first by rank; the order of a strategy is by what it was told, before races.
static int load_rows(struct model *m, struct row row[MODEL_MOST_POPULATION])
{
    int rows = 0;
    for (int i = 0; i < m->open.population_count; i++) {
        const struct trial *t = model_trial(m, m->open.population[i]);
        if (!t)
            continue;
        struct row r = {t->ask, t->generation, trial_shown_speed(m, t), trial_rank(t), t->config};
        int at = rows++;
        for (; at > 0 && rank_is_better(r.rank, row[at - 1].rank); at--)
            row[at] = row[at - 1];
        row[at] = r;
    }
    return rows;
}

static bool same_value(const struct space *s, const struct heat_column *c, const struct config *a,
                       const struct config *b)
{
    const struct param *p = &s->param[c->param];
    if (p->kind == PARAM_FACTORIZATION)
        return a->slot[p->offset + c->slot] == b->slot[p->offset + c->slot];
    return value_equal(p, a, b);
}

// 1: only the best have this value, 0: only the worst.
static double mean_standing(const struct space *s, const struct heat *h,
                            const struct heat_column *c, const struct config *config)
{
    double sum = 0;
    int count = 0;
    for (int i = 0; i < h->rows; i++)
        if (same_value(s, c, config, &h->row[i].config)) {
            sum += h->rows - 1 - i;
            count++;
        }
    return h->rows > 1 ? sum / count / (h->rows - 1) : 1;
}

static int level_of(double share)
{
    return share > 0 ? int_clamp((int)(share * RAMP_LEVELS), 0, RAMP_LEVELS - 1) : 0;
}

static bool all_alike(const struct space *s, const struct heat *h, const struct heat_column *c)
{
    for (int i = 1; i < h->rows; i++)
        if (!same_value(s, c, &h->row[0].config, &h->row[i].config))
            return false;
    return true;
}

// The name of the parameter that the cursor is on.
static bool is_at_cursor(const struct population_pane *state, const struct heat *h, int i)
{
    return h->columns.column[i].param == h->columns.column[state->columns.cursor].param;
}

// Value, where it is shown, and shade.
static void draw_cell(const struct heat *h, int i, const struct config *config, double share,
                      const struct pane *p, int row)
{
    const struct heat_column *c = &h->columns.column[i];
    int col = LEFT_COLS + c->at;
    if (!h->columns.values) {
        pane_shade(p, row, col, c->width, level_of(share));
        return;
    }
    struct str text = {0};
    heat_value_add(&h->columns, i, config, &text);
    int width = int_min(text_columns(str_text(&text)), c->value_cols);
    pane_text_cut(p, row, col + c->value_cols - width, width, STYLE_TEXT, str_text(&text));
    pane_shade(p, row, col + c->value_cols, 1, level_of(share));
    str_finish(&text);
}

static void draw_row(struct app *app, const struct population_pane *state, const struct heat *h,
                     int place, const struct pane *p, int at)
{
    const struct space *s = app->model.open.space;
    const struct row *r = &h->row[place];
    bool best = r->ask == app->model.open.record.best_ask;
    enum style style = best ? STYLE_BEST : STYLE_TEXT;
    pane_printf(p, at, 1, style, "%2d", place + 1);
    if (r->generation == h->generation)
        pane_text(p, at, 3, STYLE_GOOD, "+");
    int first = (int)state->columns.top;
    for (int i = first; i < first + h->columns.shown; i++) {
        const struct heat_column *c = &h->columns.column[i];
        const struct param *param = &s->param[c->param];
        double share = state->by_speed
                           ? mean_standing(s, h, c, &r->config)
                           : param_position(param, r->config.slot + param->offset, c->slot);
        draw_cell(h, i, &r->config, share, p, at);
    }
    if (r->rank.raced)
        pane_text(p, at, h->end - SPEED_COLS, STYLE_TEXT, "r");
    char number[24];
    pane_text_right(p, at, h->end, style, speed_number(&app->model, r->speed, number));
}

// What is under the cursor: "registers[3] = 4".
static void draw_spelled_out(struct app *app, const struct population_pane *state,
                             const struct heat *h, const struct pane *p)
{
    const struct heat_column *c = &h->columns.column[state->columns.cursor];
    const struct param *param = &app->model.open.space->param[c->param];
    const int32_t *v = h->row[state->rows.cursor].config.slot + param->offset;
    struct str text = {0};
    str_add(&text, param->name);
    if (param->kind == PARAM_FACTORIZATION) {
        str_printf(&text, "[%d] = %" PRId32 " of ", c->slot + 1, v[c->slot]);
        value_add_text(param, v, &text);
    } else {
        str_add(&text, " = ");
        value_add_text(param, v, &text);
    }
    if (h->row[state->rows.cursor].rank.raced)
        str_add(&text, "   raced: timed again");
    pane_text_cut(p, p->rows - 1, 1, p->cols - 1, STYLE_STRONG, str_text(&text));
    str_finish(&text);
}

static void draw_legend(const struct population_pane *state, const struct heat *h,
                        const struct pane *p)
{
    int row = p->rows - 1;
    int col = 1 + pane_text(p, row, 1, STYLE_DIM, state->by_speed ? "slow" : "low");
    for (int level = 0; level < RAMP_LEVELS; level++)
        pane_shade(p, row, col++, 1, level);
    col = pane_text(p, row, col + 1, STYLE_DIM, state->by_speed ? "fast" : "high");
    int fresh = 0, raced = 0;
    for (int i = 0; i < h->rows; i++) {
        fresh += h->row[i].generation == h->generation;
        raced += h->row[i].rank.raced;
    }
    static const char *const words[] = {"r raced: timed again, in turns", "r raced"};
    const char *what = words[col + 3 + text_columns(words[0]) > p->cols];
    if (raced && col + 3 + text_columns(what) <= p->cols)
        col = pane_text(p, row, col + 3, STYLE_DIM, what);
    if (h->generation >= 0 && col + 26 <= p->cols)
        pane_printf(p, row, col + 3, STYLE_DIM, "+ %d of generation %d", fresh, h->generation);
}

// What to look for, and how much of it there is.
static void draw_convergence(struct app *app, const struct heat *h, const struct pane *p)
{
    const struct space *s = app->model.open.space;
    int alike = 0;
    for (int i = 0; i < h->columns.count; i++)
        alike += all_alike(s, h, &h->columns.column[i]);
    char text[96];
    snprintf(text, sizeof text, "converged where a column is one shade: %d of %d", alike,
             h->columns.count);
    pane_text_cut(p, p->rows - 2, 1, p->cols - 1, STYLE_DIM, text);
}

static void draw_calibration(struct app *app, const struct pane *p)
{
    const struct calibration_record *c = &app->model.open.calibration;
    struct str text = {0};
    str_add(&text, "model: ");
    calibration_add_text(c->results, c->within_50, c->within_90, &text);
    pane_text_cut(p, p->rows - 3, 1, p->cols - 1, STYLE_DIM, str_text(&text));
    str_finish(&text);
}

static void draw_heat(struct app *app, struct population_pane *state, const struct heat *h,
                      const struct pane *p, bool focused)
{
    double per;
    const char *unit = model_unit(&app->model, &per);
    if (h->head_rows != 0) {
        pane_text(p, h->head_rows - 1, 1, STYLE_HEAD, "rk");
        pane_text_right(p, h->head_rows - 1, h->end, STYLE_HEAD, unit);
        int first = (int)state->columns.top;
        for (int i = first; i < first + h->columns.shown; i++)
            for (int row = h->columns.column[i].name_row + 1;
                 h->columns.column[i].name_cols && row < h->head_rows; row++)
                pane_glyph(p, row, LEFT_COLS + h->columns.column[i].at, STYLE_DIM, 0x2502);
        for (int i = first; i < first + h->columns.shown; i++) {
            const struct heat_column *c = &h->columns.column[i];
            bool here = focused && is_at_cursor(state, h, i);
            pane_text_cut(p, c->name_row, LEFT_COLS + c->at, c->name_cols,
                          here ? STYLE_FOCUS : STYLE_HEAD, heat_name(&h->columns, i));
            if (here)
                pane_mark(p, c->name_row, LEFT_COLS + c->at, c->name_cols);
        }
    }
    const struct trial *shown = shown_trial(app);
    int64_t shown_ask = shown ? shown->ask : 0;
    for (int i = 0; i < h->shown_rows; i++) {
        int place = (int)state->rows.top + i, at = h->head_rows + i;
        draw_row(app, state, h, place, p, at);
        bool here = focused ? place == state->rows.cursor : h->row[place].ask == shown_ask;
        if (here)
            pane_text(p, at, 0, STYLE_STRONG, ">");
        if (here && focused) {
            const struct heat_column *c = &h->columns.column[state->columns.cursor];
            int col = LEFT_COLS + c->at;
            pane_mark(p, at, 0, LEFT_COLS - 1);
            pane_mark(p, at, col, c->width);
            pane_mark(p, at, h->end - SPEED_COLS + 1, SPEED_COLS - 1);
            pane_cursor(p, at, h->columns.shown > 0 ? col : 0);
        }
    }
    if (h->below >= 2)
        draw_convergence(app, h, p);
    if (h->below == 3)
        draw_calibration(app, p);
    if (focused && h->below && h->columns.count > 0)
        draw_spelled_out(app, state, h, p);
    else if (h->below)
        draw_legend(state, h, p);
}

void population_pane_draw(struct app *app, struct population_pane *state, const struct pane *p,
                          bool focused, bool zoomed)
{
    struct model *m = &app->model;
    if (!m->open.space) {
        pane_text_cut(p, 0, 0, p->cols, STYLE_WARN, m->open.trouble.text);
        return;
    }
    struct heat h = {.rows = 0};
    heat_columns_init(&h.columns, m->open.space);
    h.generation = -1;
    h.is_calibrated = m->open.calibration.results > 0;
    const struct trial *newest = model_trial_numbered(m, m->open.last_number);
    if (newest && m->open.is_population)
        h.generation = newest->generation;
    h.rows = load_rows(m, h.row);
    for (int i = 0; i < h.rows; i++)
        heat_columns_take(&h.columns, &h.row[i].config);
    if (h.rows == 0) {
        pane_text_cut(p, 0, 0, p->cols, STYLE_DIM, "No trial has been measured yet.");
        return;
    }
    // Names get what rows the individuals leave, one at least.
    int room = int_max(p->cols - LEFT_COLS - SPEED_COLS, 0);
    h.below = p->rows >= 12 ? 2 + h.is_calibrated : p->rows >= 8;
    heat_columns_fit(&h.columns, &state->columns, room, zoomed);
    h.head_rows = p->rows >= 3;
    if (h.head_rows) {
        int most = int_clamp(p->rows - h.below - h.rows, 1, p->rows / 3);
        heat_names_fit(&h.columns, (int)state->columns.top, p->cols - LEFT_COLS, most);
        h.head_rows = h.columns.name_rows;
    }
    h.body_rows = p->rows - h.head_rows - h.below;
    h.shown_rows = int_clamp(h.body_rows, 0, h.rows);
    h.end = int_clamp(LEFT_COLS + h.columns.end + SPEED_COLS, 0, p->cols);
    list_fit(&state->rows, h.rows, h.shown_rows);
    state->rows.first_row = h.head_rows;
    draw_heat(app, state, &h, p, focused);
}

void population_pane_title(struct app *app, const struct population_pane *state, char title[64],
                           char note[64])
{
    const struct opened *o = &app->model.open;
    int count = o->population_count;
    const char *order = o->record.best_raced ? ", raced first" : "";
    if (count == 0)
        snprintf(title, 64, "Best trials");
    else if (o->is_population)
        snprintf(title, 64, "Population of %d%s", count, order);
    else
        snprintf(title, 64, "Best %d trials%s", count, order);
    snprintf(note, 64, "shade: %s", state->by_speed ? "speed of value" : "place in range");
}

static void select_row(struct app *app, const struct population_pane *state)
{
    struct row row[MODEL_MOST_POPULATION];
    if (state->rows.cursor < load_rows(&app->model, row))
        app_select(app, row[state->rows.cursor].ask);
}

bool population_pane_act(struct app *app, struct population_pane *state, enum action a)
{
    switch (a) {
    case ACT_LEFT: return list_act(&state->columns, ACT_UP);
    case ACT_RIGHT: return list_act(&state->columns, ACT_DOWN);
    case ACT_COLOUR: state->by_speed = !state->by_speed; return true;
    case ACT_OPEN: select_row(app, state); return true;
    default: return list_act(&state->rows, a);
    }
}

void population_pane_click(struct app *app, struct population_pane *state, int row)
{
    if (list_click(&state->rows, row))
        select_row(app, state);
}
