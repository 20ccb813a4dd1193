#include "view_main.h"

#include "text.h"

#include <inttypes.h>
#include <stdio.h>

#define SPEED_COLS   9
#define TIME_COLS    9
#define SPREAD_COLS  6
#define GEN_COLS     5
#define WORD_COLS    11
#define LEAST_CONFIG 18
#define FULL_NAMES   120 // columns from which parameters have their whole names

// --- columns ---

struct columns { // where each ends, the last two where each begins; 0: outside, not seen
    int number, generation, speed, spread, time, word, config;
    bool whole;                      // names of parameters
    char brief[SPACE_MAX_PARAMS][4]; // else
};

static bool take_room(int *room, int cols)
{
    if (*room < cols + LEAST_CONFIG)
        return false;
    *room -= cols;
    return true;
}

// --- rows ---

static void draw_trial(struct app *app, struct columns *c, const struct trial *t,
                       const struct trial *best, const struct pane *p, int row)
{
    const struct model *m = &app->model;
    char text[24];
    bool is_best = best && best->ask == t->ask;
    enum style style = is_best ? STYLE_BEST : STYLE_TEXT;
    if (is_best)
        pane_text(p, row, 0, style, "*");
    snprintf(text, sizeof text, "%" PRId64, t->number);
    pane_text_right(p, row, c->number, style, text);
    snprintf(text, sizeof text, "%d", t->generation);
    pane_text_right(p, row, c->generation, STYLE_DIM, text);
    pane_text_right(p, row, c->speed, style, speed_number(m, trial_shown_speed(m, t), text));
    if (trial_shows_race(t)) {
        pane_text_right(p, row, c->spread, STYLE_DIM, "race");
    } else if (t->samples > 1) {
        snprintf(text, sizeof text, "%.1f", 50 * t->spread); // half of the range
        pane_text_right(p, row, c->spread, STYLE_DIM, text);
    }
    pane_text_right(p, row, c->time, style, time_number(m, trial_shown_seconds(t), text));
    pane_text(p, row, c->word, trial_style(m, t), trial_word(m, t));
    if (c->config && m->open.space) {
        struct str config = {0};
        bool other = best && !is_best;
        config_add_difference(m->open.space, &t->config, other ? &best->config : NULL,
                              c->whole ? NULL : c->brief, &config);
        pane_line(p, row, c->config, style, "%s", str_text(&config));
        str_finish(&config);
    }
}

// --- the window ---

// The cursor is on the trial that is shown, or nowhere. Trials come in above and are never taken
// away, so that the window stands still when it moves by as many.
static void sync(struct app *app, struct trials_pane *state)
{
    struct list *l = &state->list;
    const struct trial *shown = shown_trial(app);
    int64_t last = app->model.open.last_number;
    l->top += app->follow || l->count == 0 ? -l->top : last - l->count;
    l->count = last;
    l->cursor = shown && shown->number > 0 ? last - shown->number : -1;
}

void trials_pane_draw(struct app *app, struct trials_pane *state, const struct pane *p,
                      bool focused)
{
    struct model *m = &app->model;
    if (m->open.last_number == 0) {
        const struct opened *o = &app->model.open;
        pane_line(p, 0, 0, STYLE_DIM, "%s", no_trial_text(m));
        if (o->tally[OUTCOME_REJECTED] > 0)
            pane_printf(p, 1, 0, STYLE_DIM, "Rejected without a trial: %" PRId64 ".",
                        o->tally[OUTCOME_REJECTED]);
        return;
    }
    if (p->rows == 0)
        return;
    const struct trial *found = model_best(m);
    struct trial best = found ? *found : (struct trial){0}; // outlives a long page
    const struct trial *of_best = found ? &best : NULL;
    struct list *l = &state->list;
    sync(app, state);
    l->first_row = p->rows >= 3;
    int rows = p->rows - l->first_row;
    list_fit(l, l->count, rows);
    state->best_below = rows >= 5 && best.number > 0 && !list_shows(l, l->count - best.number);
    if (state->best_below)
        list_fit(l, l->count, rows - 1);
    // Columns that are left out first, when there is no room: generation, spread, time,
    // configuration.
    int cols = p->cols, digits = snprintf(NULL, 0, "%" PRId64, m->open.last_number);
    struct columns c = {.number = 2 + (digits < 4 ? 4 : digits)};
    int room = cols - c.number - SPEED_COLS - WORD_COLS;
    bool time = take_room(&room, TIME_COLS), spread = take_room(&room, SPREAD_COLS);
    bool generation = take_room(&room, GEN_COLS);
    int at = c.number;
    if (generation)
        c.generation = at += GEN_COLS;
    c.speed = at += SPEED_COLS;
    if (spread)
        c.spread = at += SPREAD_COLS;
    if (time)
        c.time = at += TIME_COLS;
    c.word = at + 2;
    if (room >= 6)
        c.config = at + WORD_COLS;
    c.whole = c.config && cols - c.config >= FULL_NAMES;
    if (m->open.space && !c.whole)
        short_names(m->open.space, c.brief);
    if (l->first_row) {
        double per;
        pane_text_right(p, 0, c.number, STYLE_HEAD, "#");
        pane_text_right(p, 0, c.generation, STYLE_HEAD, "gen");
        pane_text_right(p, 0, c.speed, STYLE_HEAD, model_unit(&app->model, &per));
        pane_text_right(p, 0, c.spread, STYLE_HEAD, "±%");
        pane_text_right(p, 0, c.time, STYLE_HEAD, model_time_unit(&app->model, &per));
        pane_text(p, 0, c.word, STYLE_HEAD, "outcome");
        if (c.config)
            pane_line(p, 0, c.config, STYLE_HEAD, "%s",
                      p->cols - c.config < 20 ? "difference" : "difference from best");
    }
    for (int i = 0; list_shows(l, l->top + i); i++) {
        const struct trial *t = model_trial_numbered(m, l->count - l->top - i);
        if (!t)
            continue;
        draw_trial(app, &c, t, of_best, p, l->first_row + i);
        if (l->top + i == l->cursor)
            pane_select(p, l->first_row + i, focused);
    }
    if (state->best_below)
        draw_trial(app, &c, &best, of_best, p, p->rows - 1);
}

// --- keys ---

static void select_at(struct app *app, struct trials_pane *state, int64_t place)
{
    const struct trial *t = model_trial_numbered(&app->model, state->list.count - place);
    if (!t)
        return;
    app_select(app, t->ask);
    app->follow = place == 0;
}

bool trials_pane_act(struct app *app, struct trials_pane *state, enum action a)
{
    sync(app, state);
    if (!list_act(&state->list, a))
        return false;
    select_at(app, state, state->list.cursor);
    return true;
}

void trials_pane_click(struct app *app, struct trials_pane *state, int row)
{
    struct list *l = &state->list;
    sync(app, state);
    if (list_click(l, row))
        select_at(app, state, l->cursor);
    else if (state->best_below && row == l->first_row + l->rows)
        app_select(app, app->model.open.record.best_ask);
}
