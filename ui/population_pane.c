#include "view_main.h"

#include "base/number.h"
#include "landscape.h"
#include "report/text.h"
#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_NAME_ROWS 5
#define MOST_VALUE     10 // columns of a value
#define LEFT_COLS      6  // mark, rank, whether it is new, a gap; "agree"
#define SPEED_COLS     7  // with a gap
#define WEIGH_AGAIN                                                                                \
    1.1 // importances are computed again when there are so many times as many trials

// --- the columns ---

// A parameter has a column, and a factorization one for each part, side by side under its name.
// Names are written whole, taking turns on as many rows as it takes; where even that is too narrow,
// they are the short names of lists (text.h).

struct heat_column {
    struct factor factor;
    int value_cols[2];       // of its widest value, in brief and written out
    int at, width;           // in columns of the screen
    int name_row, name_cols; // of its parameter's name; name_cols 0: another column has it
};

struct heat_columns {
    const struct space *space;
    char brief[SPACE_MAX_PARAMS][4]; // names
    struct heat_column column[SPACE_MAX_SLOTS];
    int count;
    bool whole; // values are written out
    int shown, end;
    int name_rows;
};

static void add_value(const struct heat_columns *c, int i, bool whole, const struct config *config,
                      struct str *out)
{
    (whole ? factor_add_value : factor_add_brief)(c->space, c->column[i].factor, config, out);
}

static int name_columns(const struct heat_columns *c, int i)
{
    return text_columns(c->space->param[c->column[i].factor.param].name);
}

// Puts columns side by side from `first` on; returns how many fit. Parts of a factorization touch,
// with a blank before each value.
static int place(struct heat_columns *c, int first, int room)
{
    int at = 0, i = first;
    for (; i < c->count; i++) {
        struct heat_column *k = &c->column[i];
        k->width = k->value_cols[c->whole] + (k->factor.slot >= 0);
        at += i > first && k->factor.slot <= 0; // a parameter begins
        k->at = at;
        at += k->width;
        if (at > room)
            break;
        c->end = at;
    }
    return i - first;
}

// Chooses widths and the columns that are seen, from l->top on.
static void columns_fit(struct heat_columns *c, struct list *l, int room)
{
    c->whole = true;
    c->whole = place(c, 0, room) == c->count;
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
        if (k->factor.slot > 0 && i > first)
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
    int below; // rows: agreement and importance, calibration, convergence, the legend
    int shown_rows;
    int end; // where speeds end
};

// Loads the rows, best first by rank; the strategy's own order is by results before races.
static int load_rows(struct model *m, const struct moment *moment,
                     struct row row[MODEL_MOST_POPULATION])
{
    int rows = 0, count = moment ? moment->count : m->open.population_count;
    const int64_t *ask = moment ? moment->ask : m->open.population;
    for (int i = 0; i < count; i++) {
        const struct trial *t = model_trial(m, ask[i]);
        if (!t)
            continue;
        struct row r = {t->ask, t->generation, trial_shown_speed(m, t), trial_rank(t), t->config};
        if (moment) { // races came later
            r.rank = (struct rank){t->seconds, false};
            r.speed = seconds_speed(m, t->seconds);
        }
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
    return factor_equal(s, c->factor, a, b);
}

// Returns how many rows have the most frequent value of a column.
static int count_agreeing(const struct heat *h, const struct heat_column *c)
{
    int most = 0;
    for (int i = 0; i < h->rows; i++) {
        int agree = 0;
        for (int k = 0; k < h->rows; k++)
            agree += same_value(h->columns.space, c, &h->row[i].config, &h->row[k].config);
        most = int_max(most, agree);
    }
    return most;
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
    const struct param *param = &app->model.open.space->param[c->factor.param];
    const int32_t *v = h->row[state->rows.cursor].config.slot + param->offset;
    struct str text = {0};
    str_add(&text, param->name);
    if (param->kind == PARAM_FACTORIZATION) {
        str_printf(&text, "[%d] = %" PRId32 " of ", c->factor.slot + 1, v[c->factor.slot]);
        value_add_text(param, v, &text);
    } else {
        str_add(&text, " = ");
        value_add_text(param, v, &text);
    }
    if (h->row[state->rows.cursor].rank.raced)
        str_add(&text, "   raced: timed again");
    double share = state->importance ? importance_of(state->importance, c->factor) : NAN;
    if (share >= 0)
        str_printf(&text, "   importance %.0f %%", 100 * share);
    pane_line(p, p->rows - 1, 1, STYLE_STRONG, "%s", str_text(&text));
    str_finish(&text);
}

// Draws the rows `agree` and `importance` below those of the individuals; returns how many columns
// have settled.
static int draw_agreement(const struct population_pane *state, const struct heat *h,
                          const struct pane *p, int row)
{
    int settled = 0, first = (int)state->columns.top;
    double most = 0;
    for (int i = 0; state->importance && i < state->importance->count; i++)
        most = fmax(most, state->importance->entry[i].share);
    if (h->below >= 2) {
        pane_text(p, row, 0, STYLE_DIM, "agree");
        pane_text(p, row + 1, 0, STYLE_DIM, "imp.");
    }
    for (int i = 0; i < h->columns.count; i++) {
        const struct heat_column *c = &h->columns.column[i];
        int agree = count_agreeing(h, c), col = LEFT_COLS + c->at + c->width - 1;
        double level = (double)agree / h->rows;
        settled += agree == h->rows;
        if (h->below < 2 || i < first || i >= first + h->columns.shown)
            continue;
        if (agree == h->rows)
            pane_glyph(p, row, col, STYLE_GOOD, 0x2713);
        else
            pane_spark(p, row, col, STYLE_DIM, &level, 1);
        level = state->importance && most > 0 ? importance_of(state->importance, c->factor) / most
                                              : NAN;
        pane_spark(p, row + 1, col, STYLE_SERIES, &level, 1);
    }
    return settled;
}

static void draw_legend(const struct population_pane *state, const struct heat *h,
                        const struct pane *p)
{
    int row = p->rows - 1;
    int col = 1 + pane_text(p, row, 1, STYLE_DIM, state->by_speed ? "slow" : "low");
    for (int level = 0; level < ORDERED_LEVELS; level++)
        pane_patch(p, row, col++, 1, paint_ordered((level + 0.5) / ORDERED_LEVELS), 1);
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
        col =
            pane_printf(p, row, col + 3, STYLE_DIM, "+ %d of generation %d", fresh, h->generation);
    if (col + 13 <= p->cols)
        pane_text(p, row, col + 3, STYLE_DIM, "✓ settled");
}

static void draw_below(struct app *app, const struct population_pane *state, const struct heat *h,
                       const struct pane *p, bool focused)
{
    const struct calibration_record *c = &app->model.open.calibration;
    int settled = draw_agreement(state, h, p, h->head_rows + h->shown_rows);
    if (h->below >= 4)
        pane_line(p, p->rows - 2, 1, STYLE_DIM, "%d of %d parameters converged", settled,
                  h->columns.count);
    if (h->below == 5) {
        double percent = 100.0 / (double)c->results;
        pane_line(p, p->rows - 3, 1, STYLE_DIM,
                  "calibration: 50 %% interval covers %.0f %%, 90 %% covers %.0f %%",
                  percent * (double)c->within_50, percent * (double)c->within_90);
    }
    if (focused && h->below >= 3 && h->columns.count > 0)
        draw_spelled_out(app, state, h, p);
    else if (h->below >= 3)
        draw_legend(state, h, p);
}

static void draw_heads(struct app *app, const struct population_pane *state, const struct heat *h,
                       const struct pane *p, bool focused)
{
    double per;
    const char *unit = model_unit(&app->model, &per);
    const struct heat_columns *columns = &h->columns;
    int last = h->head_rows - 1, first = (int)state->columns.top, past = first + columns->shown;
    pane_text(p, last, 1, STYLE_HEAD, "rk");
    pane_text_right(p, last, h->end, STYLE_HEAD, unit);
    for (int i = first; i < past; i++)
        for (int row = columns->column[i].name_row + 1; columns->column[i].name_cols && row <= last;
             row++)
            pane_glyph(p, row, LEFT_COLS + columns->column[i].at, STYLE_DIM, 0x2502);
    for (int i = first; i < past; i++) {
        const struct heat_column *c = &columns->column[i];
        int param = c->factor.param;
        bool here = focused && param == columns->column[state->columns.cursor].factor.param;
        bool whole = c->name_cols >= name_columns(columns, i);
        pane_text_cut(p, c->name_row, LEFT_COLS + c->at, c->name_cols,
                      here ? STYLE_FOCUS : STYLE_HEAD,
                      whole ? columns->space->param[param].name : columns->brief[param]);
        if (here)
            pane_mark(p, c->name_row, LEFT_COLS + c->at, c->name_cols);
    }
    // More columns are beyond the edges.
    if (first > 0)
        pane_printf(p, last, LEFT_COLS - 2, STYLE_WARN, "<");
    if (past < columns->count)
        pane_printf(p, last, LEFT_COLS + columns->end, STYLE_WARN, ">");
}

static void draw_cells(const struct population_pane *state, const struct heat *h, int place,
                       const struct pane *p, int at)
{
    const struct config *config = &h->row[place].config;
    int first = (int)state->columns.top;
    for (int j = first; j < first + h->columns.shown; j++) {
        const struct heat_column *c = &h->columns.column[j];
        enum style style = state->by_speed
                               ? paint_ordered(mean_standing(h->columns.space, h, c, config))
                               : factor_style(h->columns.space, c->factor, config);
        struct str text = {0};
        add_value(&h->columns, j, h->columns.whole, config, &text);
        int col = LEFT_COLS + c->at, width = int_min(text_columns(str_text(&text)), c->width);
        struct pane cell = pane_part(p, at, col, 1, c->width);
        if (space_is_live(h->columns.space, config, c->factor.param))
            pane_fill(&cell, style, ' ');
        else
            style = STYLE_DIM;
        pane_text_cut(p, at, col + c->width - width, width, style, str_text(&text));
        str_finish(&text);
    }
}

static void draw_heat(struct app *app, struct population_pane *state, const struct heat *h,
                      const struct pane *p, bool focused)
{
    const struct trial *shown = shown_trial(app);
    int64_t shown_ask = shown ? shown->ask : 0;
    if (h->head_rows != 0)
        draw_heads(app, state, h, p, focused);
    for (int i = 0; i < h->shown_rows; i++) {
        int place = (int)state->rows.top + i, at = h->head_rows + i;
        const struct row *r = &h->row[place];
        bool best = r->ask == app->model.open.record.best_ask;
        enum style style = best ? STYLE_BEST : STYLE_TEXT;
        char number[24];
        pane_printf(p, at, 1, style, "%2d", place + 1);
        if (r->generation == h->generation)
            pane_text(p, at, 3, STYLE_GOOD, "+");
        draw_cells(state, h, place, p, at);
        if (r->rank.raced)
            pane_text(p, at, h->end - SPEED_COLS, STYLE_TEXT, "r");
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

static void load_columns(struct heat *h, const struct space *s)
{
    h->columns.space = s;
    short_names(s, h->columns.brief);
    for (int i = 0; i < s->param_count; i++) {
        bool splits = s->param[i].kind == PARAM_FACTORIZATION;
        for (int slot = 0; slot < (splits ? s->param[i].width : 1); slot++)
            h->columns.column[h->columns.count++].factor = (struct factor){i, splits ? slot : -1};
    }
    for (int i = 0; i < h->rows; i++)
        for (int j = 0; j < h->columns.count; j++)
            for (int whole = 0; whole < 2; whole++) {
                struct str text = {0};
                int *most = &h->columns.column[j].value_cols[whole];
                add_value(&h->columns, j, whole, &h->row[i].config, &text);
                *most = int_max(*most, int_min(text_columns(str_text(&text)), MOST_VALUE));
                str_finish(&text);
            }
}

void population_pane_draw(struct app *app, struct population_pane *state, const struct pane *p,
                          bool focused)
{
    struct model *m = &app->model;
    if (!m->open.space) {
        pane_line(p, 0, 0, STYLE_WARN, "%s", m->open.trouble.text);
        return;
    }
    struct heat h = {.generation = -1};
    const struct trial *newest = model_trial_numbered(m, m->open.last_number);
    if (state->moment)
        h.generation = state->moment->generation;
    else if (newest && m->open.is_population)
        h.generation = newest->generation;
    h.rows = load_rows(m, state->moment, h.row);
    if (h.rows == 0) {
        pane_line(p, 0, 0, STYLE_DIM, "No trial has been measured yet.");
        return;
    }
    load_columns(&h, m->open.space);
    // Names get the rows that the individuals leave, one at least.
    int room = int_max(p->cols - LEFT_COLS - SPEED_COLS, 0);
    h.below = p->rows >= 14  ? 4 + (m->open.calibration.results > 0)
              : p->rows >= 9 ? 3
              : p->rows >= 7 ? 2
                             : 0;
    columns_fit(&h.columns, &state->columns, room);
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
    if (state->moment)
        snprintf(title, 64, "Best %d after trial %" PRId64, state->moment->count,
                 state->moment->number);
    else if (count == 0)
        snprintf(title, 64, "Best trials");
    else if (o->is_population)
        snprintf(title, 64, "Population of %d%s", count, order);
    else
        snprintf(title, 64, "Best %d trials%s", count, order);
    if (state->moment)
        snprintf(note, 64, "generation %d", state->moment->generation);
    else if (state->columns.rows > 0 && state->columns.rows < state->columns.count)
        list_note(&state->columns, "columns", note);
    else
        snprintf(note, 64, "colour: %s", state->by_speed ? "speed of value" : "value, low to high");
}

static void select_row(struct app *app, const struct population_pane *state)
{
    struct row row[MODEL_MOST_POPULATION];
    if (state->rows.cursor < load_rows(&app->model, state->moment, row))
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

// --- importance ---

void population_pane_finish(struct population_pane *state)
{
    if (state->importance)
        importance_finish(state->importance);
    free(state->importance);
    state->importance = NULL;
}

bool population_pane_tick(struct app *app, struct population_pane *state,
                          const struct curve_dots *dots)
{
    const struct opened *o = &app->model.open;
    bool other = state->weighed_session != o->record.id || dots->count < state->weighed;
    if (!o->space || dots->session != o->record.id)
        return false;
    if (other || dots->count > WEIGH_AGAIN * state->weighed) {
        population_pane_finish(state);
        state->importance = mem_zero(1, sizeof *state->importance);
        importance_init(state->importance, o->space);
        state->weighed_session = o->record.id;
        state->weighed = dots->count;
        for (int i = 0; i < dots->count; i++)
            if (dots->dot[i].has_config && dots->dot[i].seconds > 0)
                importance_add(state->importance, &dots->dot[i].config,
                               seconds_speed(&app->model, dots->dot[i].seconds));
    }
    if (!state->importance)
        return false;
    int64_t used = state->importance->used;
    bool more = importance_step(state->importance);
    app->dirty |= state->importance->used != used;
    return more;
}
