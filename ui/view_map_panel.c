// Beside the map: the cell under the cursor, how the other parameters move the speed in it, and
// how much each parameter matters.
#include "trial_text.h"
#include "view_map.h"
#include "wrap.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_COLS 14
#define MIN_LABEL 3

struct sheet { // rows from the top
    struct app *app;
    const struct map *map;
    struct pane pane;
    int row;
};

static void say(struct sheet *s, enum style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void say(struct sheet *s, enum style style, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pane_text_cut(&s->pane, s->row++, 1, s->pane.cols - 1, style, text);
}

// Words on as many rows as they take, at most `most`.
static void say_words(struct sheet *s, enum style style, const char *text, int most)
{
    struct pane part = pane_part(&s->pane, s->row, 2, most, s->pane.cols - 2);
    int rows = pane_wrapped(&part, 0, 0, part.cols, style, text);
    s->row += rows < most ? rows : most;
}

// --- the cell ---

static void say_counts(struct sheet *s, const struct place *c)
{
    char failed[200] = "";
    size_t length = 0;
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        if (i == OUTCOME_OK || i == OUTCOME_REJECTED || !c->outcome[i])
            continue;
        int n = snprintf(failed + length, sizeof failed - length, "%s %s %" PRId64,
                         length ? "" : ":", outcome_name((enum outcome)i), c->outcome[i]);
        length += (size_t)n < sizeof failed - length ? (size_t)n : sizeof failed - 1 - length;
    }
    say(s, STYLE_TEXT, "trials %" PRId64 "   ok %" PRId64 "   failed %" PRId64 "%s",
        place_trials(c), c->outcome[OUTCOME_OK], place_failed(c), failed);
    if (c->outcome[OUTCOME_REJECTED])
        say(s, STYLE_DIM, "rejected %" PRId64 " (cost no trial)", c->outcome[OUTCOME_REJECTED]);
}

static void say_best(struct sheet *s, const struct place *c)
{
    struct model *m = &s->app->model;
    const struct trial *t = model_trial(m, c->best_ask);
    struct str config = {0};
    char best[24], mean[24], worst[24], brief[SPACE_MAX_PARAMS][4];
    double per;
    bool low = s->pane.rows < 24;
    const char *gap = s->pane.cols < 40 ? " " : "   ";
    speed_number(m, c->best, best);
    speed_number(m, place_value(c, STATISTIC_MEAN), mean);
    speed_number(m, c->worst, worst);
    say(s, STYLE_TEXT, "best %s%s%smean %s%sworst %s %s", best, c->best_raced ? " raced" : "", gap,
        mean, gap, worst, model_unit(m, &per));
    if (!t || !t->has_config)
        return;
    say(s, STYLE_HEAD, "best configuration, trial #%" PRId64, t->number);
    short_names(s->map->space, brief);
    config_add_difference(s->map->space, &t->config, NULL, low ? brief : NULL, &config);
    say_words(s, STYLE_TEXT, str_text(&config), low ? 3 : 6);
    str_finish(&config);
}

static void say_excluded(struct sheet *s, const struct place *c)
{
    const struct space *space = s->map->space;
    char why[200] = "";
    if (c->impossible)
        say_words(s, STYLE_TEXT, "excluded: no product of the parts has these values", 3);
    else if (c->judged >= JUDGED_ENOUGH)
        say_words(s, STYLE_TEXT, "excluded: none of those drawn here is legal", 3);
    else
        say_words(s, STYLE_TEXT, "excluded: all that were asked here were rejected", 3);
    for (int i = LIMIT_NONE + 1; c->judged && i < LIMIT_COUNT; i++)
        if (c->limits & 1u << i)
            snprintf(why, sizeof why, "such as by the device's limit of %s",
                     limit_name((enum limit)i));
    if (c->judged && c->constraint >= 0 && c->constraint < space->constraint_count)
        snprintf(why, sizeof why, "such as by constraint '%s'",
                 space->constraint[c->constraint].name);
    say_words(s, STYLE_DIM, why, 3);
}

static void say_empty(struct sheet *s, const struct place *c)
{
    char text[80];
    snprintf(text, sizeof text, "not visited; none of %d drawn here is legal so far", c->judged);
    say_words(s, STYLE_TEXT, c->legal ? "not visited; there are legal configurations" : text, 3);
}

static void say_cell(struct sheet *s)
{
    const struct place *c = map_here(s->map);
    if (!c) {
        say(s, STYLE_DIM, "no value was visited yet");
        return;
    }
    say_counts(s, c);
    switch (place_kind(c)) {
    case PLACE_MEASURED: say_best(s, c); break;
    case PLACE_FAILED: say(s, STYLE_BAD, "all that were tried here failed"); break;
    case PLACE_EXCLUDED: say_excluded(s, c); break;
    case PLACE_UNVISITED: say_empty(s, c); break;
    }
}

// --- bars of the cell ---

static int compare_bars(const void *a, const void *b)
{
    const struct importance_entry *x = a, *y = b;
    if (x->share != y->share)
        return x->share > y->share ? -1 : 1;
    return x->values - y->values;
}

// The height of the best at one value, or the mark of why there is none.
static void draw_bar_level(const struct pane *p, int row, int col, const struct place *c,
                           double most)
{
    bool ascii = p->screen->charset == CHARSET_ASCII; // a dot is a level there
    double level = c->best / most;
    if (place_kind(c) == PLACE_MEASURED && most > 0)
        pane_spark(p, row, col, level >= 1 ? STYLE_BEST : STYLE_TEXT, &level, 1);
    else if (place_kind(c) == PLACE_FAILED)
        pane_text(p, row, col, STYLE_BAD, "x");
    else
        pane_text(p, row, col, STYLE_DIM, ascii ? "?" : "·");
}

// Labels as wide as they are when all fit, else as wide as fits, from MIN_LABEL on.
static int label_room(const struct projection *bar, int room)
{
    int count = projection_cols(bar), all = 0;
    struct str label = {0};
    for (int i = 0; i < count; i++) {
        label.length = 0;
        axis_add_label(&bar->x, i, &label);
        all += text_columns(str_text(&label)) + 3;
    }
    str_finish(&label);
    int each = count ? room / count - 3 : 0;
    return all <= room ? room : each < MIN_LABEL ? MIN_LABEL : each;
}

static void draw_bar_values(struct sheet *s, const struct projection *bar, double most)
{
    const struct pane *p = &s->pane;
    struct str label = {0};
    int col = NAME_COLS + 2, room = label_room(bar, p->cols - col + 1);
    for (int i = 0; i < projection_cols(bar); i++) {
        label.length = 0;
        axis_add_label(&bar->x, i, &label);
        int wide = text_columns(str_text(&label));
        if (wide > room) // "n,m" of an order, not "n,m,"
            wide = room - (bar->x.param->kind == PARAM_PERMUTATION && label.text[room - 1] == ',');
        if (col + wide + 2 > p->cols) {
            pane_text(p, s->row, p->cols - 1, STYLE_DIM, "…");
            break;
        }
        struct pane cut = pane_part(p, s->row, col, 1, wide);
        pane_text(&cut, 0, 0, STYLE_DIM, str_text(&label));
        draw_bar_level(p, s->row, col + wide + 1, projection_at(bar, 0, i), most);
        col += wide + 3;
    }
    str_finish(&label);
}

static void draw_bar(struct sheet *s, const struct projection *bar)
{
    struct str name = {0};
    double most = 0;
    for (int i = 0; i < projection_cols(bar); i++)
        most = fmax(most, projection_at(bar, 0, i)->best);
    factor_add_name(s->map->space, bar->x.factor, &name);
    pane_text_cut(&s->pane, s->row, 1, NAME_COLS, STYLE_TEXT, str_text(&name));
    draw_bar_values(s, bar, most);
    s->row++;
    str_finish(&name);
}

static void say_bars(struct sheet *s, int most)
{
    const struct map_cell_scan *cell = &s->map->cell;
    struct importance_entry order[SPACE_MAX_SLOTS];
    int shown = cell->count < most - 1 ? cell->count : most - 1;
    if (shown < 1)
        return;
    for (int i = 0; i < cell->count; i++) {
        double share = importance_of(&s->map->importance, cell->bar[i].x.factor);
        order[i] = (struct importance_entry){.share = isnan(share) ? 0 : share, .values = i};
    }
    qsort(order, (size_t)cell->count, sizeof *order, compare_bars);
    say(s, STYLE_HEAD, "best as others move in this cell%s", s->map->is_slice ? ", unsliced" : "");
    for (int i = 0; i < shown; i++)
        draw_bar(s, &cell->bar[order[i].values]);
}

// --- importance ---

static void draw_importance(struct sheet *s, const struct importance_entry *e)
{
    const struct map *m = s->map;
    struct str name = {0};
    char axis = ' ';
    if (e->factor.param == m->grid.x.factor.param && e->factor.slot == m->grid.x.factor.slot)
        axis = 'X';
    else if (!m->grid.is_flat && e->factor.param == m->grid.y.factor.param &&
             e->factor.slot == m->grid.y.factor.slot)
        axis = 'Y';
    factor_add_name(m->space, e->factor, &name);
    int bar = s->pane.cols - NAME_COLS - 10;
    pane_text_cut(&s->pane, s->row, 1, NAME_COLS, STYLE_TEXT, str_text(&name));
    pane_glyph(&s->pane, s->row, NAME_COLS + 2, STYLE_KEY, (uint32_t)axis);
    pane_bar(&s->pane, s->row, NAME_COLS + 4, bar > 0 ? bar : 0, STYLE_SERIES, e->share);
    char text[16];
    snprintf(text, sizeof text, "%.0f %%", 100 * e->share);
    pane_text_right(&s->pane, s->row++, s->pane.cols - 1, STYLE_TEXT, text);
    str_finish(&name);
}

static void say_importance(struct sheet *s, int most)
{
    const struct importance *im = &s->map->importance;
    if (most < 2)
        return;
    if (!im->used) {
        say(s, STYLE_DIM, "importance: no ok trial yet");
        return;
    }
    char of[40] = "";
    if (s->pane.cols >= 46)
        snprintf(of, sizeof of, ", %" PRId64 " ok%s", im->used,
                 im->used > IMPORTANCE_SAMPLE ? " (8192 drawn)" : "");
    say(s, STYLE_HEAD, "share of the speed's variance%s", of);
    for (int i = 0; i < im->count && i < most - 1; i++)
        draw_importance(s, &im->entry[i]);
}

static void explain_importance(struct sheet *s)
{
    if (s->pane.rows - s->row >= 6)
        say_words(s, STYLE_DIM,
                  "Share of the variance of the ranks of speeds that the values of one parameter "
                  "explain, alone and corrected for chance.",
                  4);
}

// --- the panel ---

void map_draw_panel(struct app *app, struct map *m, const struct pane *box)
{
    static const char *const next[] = {"more", "importance", "cell"};
    struct str title = {0};
    char note[40];
    snprintf(note, sizeof note, "%s: %s", app_key_of(app, ACT_NEXT_PANE), next[m->page]);
    if (m->page == PAGE_IMPORTANCE)
        str_add(&title, "Importance");
    else if (map_here(m))
        map_add_cell_name(m, m->row, m->col, &title);
    struct sheet s = {app, m, pane_box(box, str_text(&title), note, false), 0};
    str_finish(&title);
    if (m->page == PAGE_IMPORTANCE) {
        say_importance(&s, s.pane.rows);
        explain_importance(&s);
        return;
    }
    say_cell(&s);
    s.row += s.pane.rows >= 24;
    int left = s.pane.rows - s.row, importance = m->page == PAGE_BARS ? 0 : left / 2;
    say_bars(&s, left - importance);
    s.row += s.pane.rows >= 24;
    say_importance(&s, m->page == PAGE_BARS ? 0 : s.pane.rows - s.row);
}
