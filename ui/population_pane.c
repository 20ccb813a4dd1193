#include "population_pane.h"

#include "app.h"
#include "base/minmax.h"
#include "trial_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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
    struct heat_column column[SPACE_MAX_SLOTS];
    int columns;
    int generation; // the newest trial's; -1: nobody is new
    int stride;     // columns of the screen for each
    int head_rows, body_rows;
    bool legend;
    int shown_rows, shown_columns;
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

static void load(struct model *m, struct heat *h)
{
    h->columns = heat_columns(m->open.space, h->column);
    h->generation = -1;
    const struct trial *newest = model_trial_numbered(m, m->open.last_number);
    if (newest && m->open.is_population)
        h->generation = newest->generation;
    h->rows = load_rows(m, h->row);
}

// The widest columns with which all fit; heads of three letters need four columns, on two lines
// half of that. When even the narrowest do not fit, those that do are shown.
static void fit(struct heat *h, const struct pane *p)
{
    int room = p->cols - LEFT_COLS - SPEED_COLS;
    h->stride = room >= 4 * h->columns ? 4 : room >= 3 * h->columns ? 3 : 2;
    h->shown_columns = int_clamp(room / h->stride, 0, h->columns);
    h->head_rows = p->rows < 3 ? 0 : h->stride < 4 && h->shown_columns > 1 && p->rows >= 5 ? 2 : 1;
    h->legend = p->rows >= 8;
    h->body_rows = p->rows - h->head_rows - h->legend;
    h->shown_rows = int_clamp(h->body_rows, 0, h->rows);
    h->end = int_clamp(LEFT_COLS + h->shown_columns * h->stride + SPEED_COLS, 0, p->cols);
}

static void place_cursor(struct population_pane *state, const struct heat *h)
{
    list_fit(&state->rows, h->rows, h->shown_rows);
    list_fit(&state->columns, h->columns, h->shown_columns);
    state->rows.first_row = h->head_rows;
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

static void draw_heads(const struct population_pane *state, const struct heat *h, const char *unit,
                       const struct pane *p)
{
    if (h->head_rows == 0)
        return;
    pane_text(p, h->head_rows - 1, 1, STYLE_HEAD, "rk");
    pane_text_right(p, h->head_rows - 1, h->end, STYLE_HEAD, unit);
    for (int i = 0; i < h->shown_columns; i++) {
        bool odd = (h->shown_columns - i) % 2 == 1; // the last, beside the unit, goes above it
        if (h->head_rows == 1 && h->stride < 4 && !odd)
            continue; // no room: every other one
        int row = h->head_rows == 2 && odd ? 0 : h->head_rows - 1;
        pane_text(p, row, LEFT_COLS + i * h->stride, STYLE_HEAD,
                  h->column[state->columns.top + i].head);
    }
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
    for (int i = 0; i < h->shown_columns; i++) {
        const struct heat_column *c = &h->column[state->columns.top + i];
        const struct param *param = &s->param[c->param];
        double share = state->by_speed
                           ? mean_standing(s, h, c, &r->config)
                           : param_position(param, r->config.slot + param->offset, c->slot);
        pane_shade(p, at, LEFT_COLS + i * h->stride, h->stride - 1, level_of(share));
    }
    if (r->rank.raced)
        pane_text(p, at, h->end - SPEED_COLS, STYLE_DIM, "r");
    char number[24];
    pane_text_right(p, at, h->end, style, speed_number(&app->model, r->speed, number));
}

// What is under the cursor: "registers[3] = 4".
static void draw_spelled_out(struct app *app, const struct population_pane *state,
                             const struct heat *h, const struct pane *p)
{
    const struct heat_column *c = &h->column[state->columns.cursor];
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
    if (raced && col + 10 <= p->cols)
        col = pane_text(p, row, col + 3, STYLE_DIM, "r raced");
    if (h->generation >= 0 && col + 26 <= p->cols)
        pane_printf(p, row, col + 3, STYLE_DIM, "+ %d of generation %d", fresh, h->generation);
}

static void draw_heat(struct app *app, struct population_pane *state, const struct heat *h,
                      const struct pane *p, bool focused)
{
    double per;
    draw_heads(state, h, model_unit(&app->model, &per), p);
    const struct trial *shown = shown_trial(app);
    int64_t shown_ask = shown ? shown->ask : 0;
    for (int i = 0; i < h->shown_rows; i++) {
        int place = (int)state->rows.top + i, at = h->head_rows + i;
        draw_row(app, state, h, place, p, at);
        bool here = focused ? place == state->rows.cursor : h->row[place].ask == shown_ask;
        if (here)
            pane_text(p, at, 0, STYLE_STRONG, ">");
        if (here && focused) {
            int col = LEFT_COLS + (int)(state->columns.cursor - state->columns.top) * h->stride;
            pane_mark(p, at, 0, LEFT_COLS - 1);
            pane_mark(p, at, h->end - SPEED_COLS + 1, SPEED_COLS - 1);
            pane_cursor(p, at, h->shown_columns > 0 ? col : 0);
        }
    }
    if (focused && h->legend && h->columns > 0)
        draw_spelled_out(app, state, h, p);
    else if (h->legend)
        draw_legend(state, h, p);
}

void population_pane_draw(struct app *app, struct population_pane *state, const struct pane *p,
                          bool focused)
{
    struct model *m = &app->model;
    if (!m->open.space) {
        pane_text_cut(p, 0, 0, p->cols, STYLE_WARN, m->open.trouble.text);
        return;
    }
    struct heat h = {.rows = 0};
    load(m, &h);
    if (h.rows == 0) {
        pane_text_cut(p, 0, 0, p->cols, STYLE_DIM, "No trial has been measured yet.");
        return;
    }
    fit(&h, p);
    place_cursor(state, &h);
    draw_heat(app, state, &h, p, focused);
}

void population_pane_title(struct app *app, const struct population_pane *state, char title[64],
                           char note[64])
{
    const struct opened *o = &app->model.open;
    if (o->population_count == 0)
        snprintf(title, 64, "Best trials");
    else
        snprintf(title, 64, o->is_population ? "Population of %d" : "Best %d trials",
                 o->population_count);
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
