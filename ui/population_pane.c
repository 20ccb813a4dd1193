#include "view_main.h"

#include "base/number.h"
#include "report/text.h"
#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define WIDEST_SHADE   2
#define MOST_NAME_ROWS 5
#define MOST_VALUE     10 // columns of a value
#define LEFT_COLS      5  // mark, rank, whether it is new, a gap
#define SPEED_COLS     7  // with a gap

// --- the columns ---

// A parameter has a column, and a factorization one for each part, side by side under its name. A
// cell is a colour, and before it the value where there is room for all values (or where values are
// required: then the columns scroll). Names are written whole, taking turns on as many rows as it
// takes; where even that is too narrow, they are the short names of lists (text.h).

struct heat_column {
    int param, slot;
    int value_cols;          // of its widest value
    int at, width;           // in columns of the screen
    int name_row, name_cols; // of its parameter's name; name_cols 0: another column has it
};

struct heat_columns {
    const struct space *space;
    char brief[SPACE_MAX_PARAMS][4]; // names
    struct heat_column column[SPACE_MAX_SLOTS];
    int count;
    bool values; // beside the colours
    int shown, end;
    int name_rows;
};

// Appends the text of a cell: "16", "n,m,k".
static void add_value(const struct heat_columns *c, int i, const struct config *config,
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

static int name_columns(const struct heat_columns *c, int i)
{
    return text_columns(c->space->param[c->column[i].param].name);
}

// Puts columns side by side from `first` on; returns how many fit. Where values are shown a group
// is as wide as its name.
static int place(struct heat_columns *c, int first, int room)
{
    int at = 0, inside = c->values, next = 0; // `next`: where the name of this group ends
    int i = first;
    for (; i < c->count; i++) {
        struct heat_column *k = &c->column[i];
        bool begins = k->slot == 0; // the parameter's first column
        if (begins && i > first)
            at = int_max(at + 1, next);
        else if (i > first)
            at += inside;
        if (begins && c->values) {
            int group = k->width; // of the parts of a factorization, or of the one column
            for (int part = i + 1; part < c->count && c->column[part].slot > 0; part++)
                group += inside + c->column[part].width;
            next = at + int_max(group, name_columns(c, i)) + 1;
        }
        k->at = at;
        at += k->width;
        if (at > room)
            break;
        c->end = int_min(int_max(at, next - 1), room);
    }
    return i - first;
}

// Chooses widths and the columns that are seen, from l->top on. `always`: values are shown even
// where the columns do not fit then.
static void columns_fit(struct heat_columns *c, struct list *l, int room, bool always)
{
    bool fits = false;
    for (int shade = WIDEST_SHADE + 1; !fits && shade > (always ? WIDEST_SHADE : 0); shade--) {
        c->values = shade > WIDEST_SHADE;
        for (int i = 0; i < c->count; i++)
            c->column[i].width = c->values ? c->column[i].value_cols + 1 : shade;
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

// Places names on `rows` rows in turns. Returns false when one has to be cut.
static bool name_turns(struct heat_columns *c, int first, int room, int rows)
{
    int last[MOST_NAME_ROWS], turn = 0; // column that has the last name of a row
    bool whole = true;
    for (int row = 0; row < rows; row++)
        last[row] = -1;
    for (int i = first; i < first + c->shown; i++) {
        struct heat_column *k = &c->column[i];
        k->name_cols = 0;
        if (k->slot > 0 && i > first)
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

// --- the rows ---

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
    int generation; // the newest trial's; -1: no row is new
    int head_rows;
    int below; // rows: the model's calibration, convergence, the legend
    int shown_rows;
    int end; // where speeds end
};

// Loads the rows, best first by rank; the strategy's own order is by results before races.
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

// Returns 1 when only the best have this value, and 0 when only the worst have it.
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

// Spells out the cell under the cursor: "registers[3] = 4".
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
    pane_line(p, p->rows - 1, 1, STYLE_STRONG, "%s", str_text(&text));
    str_finish(&text);
}

static void draw_below(struct app *app, const struct population_pane *state, const struct heat *h,
                       const struct pane *p, bool focused)
{
    const struct calibration_record *c = &app->model.open.calibration;
    int converged = 0;
    for (int i = 0; i < h->columns.count; i++) {
        int row = 1;
        while (row < h->rows && same_value(app->model.open.space, &h->columns.column[i],
                                           &h->row[0].config, &h->row[row].config))
            row++;
        converged += row >= h->rows;
    }
    if (h->below >= 2)
        pane_line(p, p->rows - 2, 1, STYLE_DIM, "%d of %d parameters converged", converged,
                  h->columns.count);
    if (h->below == 3) {
        double percent = 100.0 / (double)c->results;
        pane_line(p, p->rows - 3, 1, STYLE_DIM,
                  "calibration: 50 %% interval covers %.0f %%, 90 %% covers %.0f %%",
                  percent * (double)c->within_50, percent * (double)c->within_90);
    }
    if (focused && h->below && h->columns.count > 0)
        draw_spelled_out(app, state, h, p);
    else if (h->below) {
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
        const char *what = "r raced: timed again, in turns";
        if (col + 3 + text_columns(what) > p->cols)
            what = "r raced";
        if (raced && col + 3 + text_columns(what) <= p->cols)
            col = pane_text(p, row, col + 3, STYLE_DIM, what);
        if (h->generation >= 0 && col + 26 <= p->cols)
            pane_printf(p, row, col + 3, STYLE_DIM, "+ %d of generation %d", fresh, h->generation);
    }
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
            bool here = focused && c->param == h->columns.column[state->columns.cursor].param;
            bool whole = c->name_cols >= name_columns(&h->columns, i);
            pane_text_cut(
                p, c->name_row, LEFT_COLS + c->at, c->name_cols, here ? STYLE_FOCUS : STYLE_HEAD,
                whole ? h->columns.space->param[c->param].name : h->columns.brief[c->param]);
            if (here)
                pane_mark(p, c->name_row, LEFT_COLS + c->at, c->name_cols);
        }
    }
    const struct trial *shown = shown_trial(app);
    int64_t shown_ask = shown ? shown->ask : 0;
    for (int i = 0; i < h->shown_rows; i++) {
        int place = (int)state->rows.top + i, at = h->head_rows + i;
        const struct space *s = app->model.open.space;
        const struct row *r = &h->row[place];
        bool best = r->ask == app->model.open.record.best_ask;
        enum style style = best ? STYLE_BEST : STYLE_TEXT;
        pane_printf(p, at, 1, style, "%2d", place + 1);
        if (r->generation == h->generation)
            pane_text(p, at, 3, STYLE_GOOD, "+");
        int first = (int)state->columns.top;
        for (int j = first; j < first + h->columns.shown; j++) {
            const struct heat_column *c = &h->columns.column[j];
            const struct param *param = &s->param[c->param];
            double share = state->by_speed
                               ? mean_standing(s, h, c, &r->config)
                               : param_position(param, r->config.slot + param->offset, c->slot);
            int level = share > 0 ? int_clamp((int)(share * RAMP_LEVELS), 0, RAMP_LEVELS - 1) : 0;
            int col = LEFT_COLS + c->at, cols = h->columns.values ? c->value_cols : 0;
            if (h->columns.values) {
                struct str text = {0};
                add_value(&h->columns, j, &r->config, &text);
                int width = int_min(text_columns(str_text(&text)), cols);
                pane_text_cut(p, at, col + cols - width, width, STYLE_TEXT, str_text(&text));
                str_finish(&text);
            }
            pane_shade(p, at, col + cols, h->columns.values ? 1 : c->width, level);
        }
        if (r->rank.raced)
            pane_text(p, at, h->end - SPEED_COLS, STYLE_TEXT, "r");
        char number[24];
        pane_text_right(p, at, h->end, style, speed_number(&app->model, r->speed, number));
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
    draw_below(app, state, h, p, focused);
}

void population_pane_draw(struct app *app, struct population_pane *state, const struct pane *p,
                          bool focused, bool zoomed)
{
    struct model *m = &app->model;
    if (!m->open.space) {
        pane_line(p, 0, 0, STYLE_WARN, "%s", m->open.trouble.text);
        return;
    }
    struct heat h = {.rows = 0};
    const struct space *s = m->open.space;
    h.columns.space = s;
    short_names(s, h.columns.brief);
    for (int i = 0; i < s->param_count; i++) {
        int parts = s->param[i].kind == PARAM_FACTORIZATION ? s->param[i].width : 1;
        for (int slot = 0; slot < parts; slot++)
            h.columns.column[h.columns.count++] = (struct heat_column){.param = i, .slot = slot};
    }
    h.generation = -1;
    const struct trial *newest = model_trial_numbered(m, m->open.last_number);
    if (newest && m->open.is_population)
        h.generation = newest->generation;
    h.rows = load_rows(m, h.row);
    for (int i = 0; i < h.rows; i++)
        for (int j = 0; j < h.columns.count; j++) {
            struct str text = {0};
            add_value(&h.columns, j, &h.row[i].config, &text);
            int cols = int_min(text_columns(str_text(&text)), MOST_VALUE);
            h.columns.column[j].value_cols = int_max(h.columns.column[j].value_cols, cols);
            str_finish(&text);
        }
    if (h.rows == 0) {
        pane_line(p, 0, 0, STYLE_DIM, "No trial has been measured yet.");
        return;
    }
    // Names get the rows that the individuals leave, one at least.
    int room = int_max(p->cols - LEFT_COLS - SPEED_COLS, 0);
    h.below = p->rows >= 12 ? 2 + (m->open.calibration.results > 0) : p->rows >= 8;
    columns_fit(&h.columns, &state->columns, room, zoomed);
    h.head_rows = p->rows >= 3;
    if (h.head_rows) {
        int most = int_clamp(p->rows - h.below - h.rows, 1, p->rows / 3);
        int first = (int)state->columns.top, names = 1;
        while (!name_turns(&h.columns, first, p->cols - LEFT_COLS, names) &&
               names < int_min(most, MOST_NAME_ROWS))
            names++;
        h.head_rows = h.columns.name_rows;
    }
    h.shown_rows = int_clamp(p->rows - h.head_rows - h.below, 0, h.rows);
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
    snprintf(note, 64, "colour: %s", state->by_speed ? "speed of value" : "value, low to high");
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
