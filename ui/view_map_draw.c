// The cells of the map, and the list that stands for them on tiny screens.

#include "base/number.h"
#include "screen.h"
#include "trial_text.h"
#include "view_map.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Beside the map: the cell under the cursor, how the other parameters move the speed in it, and
// how much each parameter matters.

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
    switch (place_kind(c)) {
    case PLACE_MEASURED: {
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
        say(s, STYLE_TEXT, "best %s%s%smean %s%sworst %s %s", best, c->best_raced ? " raced" : "",
            gap, mean, gap, worst, model_unit(m, &per));
        if (t && t->has_config) {
            say(s, STYLE_HEAD, "best configuration, trial #%" PRId64, t->number);
            short_names(s->map->space, brief);
            config_add_difference(s->map->space, &t->config, NULL, low ? brief : NULL, &config);
            say_words(s, STYLE_TEXT, str_text(&config), low ? 3 : 6);
            str_finish(&config);
        }
    } break;
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

static void draw_bar(struct sheet *s, const struct projection *bar)
{
    struct str name = {0};
    double most = 0;
    for (int i = 0; i < projection_cols(bar); i++)
        most = fmax(most, projection_at(bar, 0, i)->best);
    factor_add_name(s->map->space, bar->x.factor, &name);
    pane_text_cut(&s->pane, s->row, 1, NAME_COLS, STYLE_TEXT, str_text(&name));
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
    s->row++;
    str_finish(&name);
}

// --- importance ---

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
    for (int i = 0; i < im->count && i < most - 1; i++) {
        const struct map *m = s->map;
        struct str name = {0};
        char axis = ' ';
        if (im->entry[i].factor.param == m->grid.x.factor.param &&
            im->entry[i].factor.slot == m->grid.x.factor.slot)
            axis = 'X';
        else if (!m->grid.is_flat && im->entry[i].factor.param == m->grid.y.factor.param &&
                 im->entry[i].factor.slot == m->grid.y.factor.slot)
            axis = 'Y';
        factor_add_name(m->space, im->entry[i].factor, &name);
        int bar = s->pane.cols - NAME_COLS - 10;
        pane_text_cut(&s->pane, s->row, 1, NAME_COLS, STYLE_TEXT, str_text(&name));
        pane_glyph(&s->pane, s->row, NAME_COLS + 2, STYLE_KEY, (uint32_t)axis);
        pane_bar(&s->pane, s->row, NAME_COLS + 4, bar > 0 ? bar : 0, STYLE_SERIES,
                 im->entry[i].share);
        char text[16];
        snprintf(text, sizeof text, "%.0f %%", 100 * im->entry[i].share);
        pane_text_right(&s->pane, s->row++, s->pane.cols - 1, STYLE_TEXT, text);
        str_finish(&name);
    }
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
        if (s.pane.rows - s.row >= 6)
            say_words(
                &s, STYLE_DIM,
                "Share of the variance of the ranks of speeds that the values of one parameter "
                "explain, alone and corrected for chance.",
                4);
        return;
    }
    say_cell(&s);
    s.row += s.pane.rows >= 24;
    int left = s.pane.rows - s.row, importance = m->page == PAGE_BARS ? 0 : left / 2;
    int most = left - importance;
    const struct map_cell_scan *cell = &s.map->cell;
    struct importance_entry order[SPACE_MAX_SLOTS];
    int shown = cell->count < most - 1 ? cell->count : most - 1;
    if (!(shown < 1)) {
        for (int i = 0; i < cell->count; i++) {
            double share = importance_of(&s.map->importance, cell->bar[i].x.factor);
            order[i] = (struct importance_entry){.share = isnan(share) ? 0 : share, .values = i};
        }
        qsort(order, (size_t)cell->count, sizeof *order, compare_bars);
        say(&s, STYLE_HEAD, "best as others move in this cell%s",
            s.map->is_slice ? ", unsliced" : "");
        for (int i = 0; i < shown; i++)
            draw_bar(&s, &cell->bar[order[i].values]);
    }
    s.row += s.pane.rows >= 24;
    say_importance(&s, m->page == PAGE_BARS ? 0 : s.pane.rows - s.row);
}

#define MOST_LABEL 14

// --- values ---

const char *map_statistic_name(enum statistic s)
{
    static const char *const names[] = {"best", "mean", "count"};
    return names[s];
}

static int compare_ordered(const void *a, const void *b)
{
    const struct map_ordered *x = a, *y = b;
    if (x->raced != y->raced)
        return x->raced ? -1 : 1;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return x->row != y->row ? x->row - y->row : x->col - y->col;
}

static struct map_ordered ordered(const struct map *m, const struct place *c)
{
    return (struct map_ordered){.value = place_value(c, m->statistic),
                                .raced = m->statistic == STATISTIC_BEST && c->best_raced};
}

void map_order_cells(const struct map *m, struct map_order *out)
{
    out->count = 0;
    for (int row = 0; row < projection_rows(&m->grid); row++)
        for (int col = 0; col < projection_cols(&m->grid); col++) {
            struct map_ordered cell = ordered(m, projection_at(&m->grid, row, col));
            cell.row = row;
            cell.col = col;
            if (!isnan(cell.value)) {
                out->most = out->count ? fmax(out->most, cell.value) : cell.value;
                out->least = out->count ? fmin(out->least, cell.value) : cell.value;
                out->cell[out->count++] = cell;
            }
        }
    qsort(out->cell, (size_t)out->count, sizeof *out->cell, compare_ordered);
}

// How many cells are better.
static int rank_of(const struct map_order *order, struct map_ordered cell)
{
    int low = 0, high = order->count;
    cell.row = cell.col = -1; // before its equals
    while (low < high) {
        int middle = (low + high) / 2;
        if (compare_ordered(&order->cell[middle], &cell) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int map_level(const struct map *m, const struct map_order *order, const struct place *c)
{
    struct map_ordered cell = ordered(m, c);
    double share = 1;
    if (order->count > 1 && order->most > order->least)
        share = m->by_rank ? 1 - (double)rank_of(order, cell) / (order->count - 1)
                           : (cell.value - order->least) / (order->most - order->least);
    return (int)(share * (RAMP_LEVELS - 0.01));
}

const char *map_number(struct app *app, const struct map *m, double value, char out[24])
{
    out[0] = '\0';
    if (m->statistic != STATISTIC_COUNT)
        return speed_number(&app->model, value, out);
    if (!isnan(value))
        snprintf(out, 24, "%.0f", value);
    return out;
}

static void add_axis_name(const struct map *m, const struct axis *a, int place, struct str *out)
{
    factor_add_name(m->space, a->factor, out);
    str_add_char(out, '=');
    axis_add_label(a, place, out);
}

void map_add_cell_name(const struct map *m, int row, int col, struct str *out)
{
    if (!m->grid.is_flat) {
        add_axis_name(m, &m->grid.y, row, out);
        str_add_char(out, ' ');
    }
    add_axis_name(m, &m->grid.x, col, out);
}

// --- sizes of cells ---

struct look {
    struct app *app;
    struct map *map;
    const struct map_order *order;
    struct pane pane;  // inside the frame
    int label;         // columns of the labels of rows
    int width, height; // of a cell, with the column between cells
    int rows, cols;    // that are shown
    int head, legend;  // rows above and below
    bool numbers;
};

static int widest_label(const struct axis *a)
{
    int most = 1;
    struct str text = {0};
    for (int i = 0; i < a->count; i++) {
        text.length = 0;
        axis_add_label(a, i, &text);
        int columns = text_columns(str_text(&text));
        most = columns > most ? columns : most;
    }
    str_finish(&text);
    return most;
}

static void choose_height(struct look *l, int count)
{
    int room = l->pane.rows - l->head - l->legend;
    l->height = count ? int_clamp(room / count, 1, 4) : 1;
    l->numbers &= l->height > 1;
    if (!l->numbers && l->height > 2)
        l->height = 2;
    l->rows = int_clamp(room / l->height, 0, count);
}

// The first one shown of `count`, so that the cursor is.
static int scrolled(int first, int cursor, int shown, int count)
{
    if (cursor < first)
        first = cursor;
    if (cursor >= first + shown)
        first = cursor - shown + 1;
    return int_clamp(first, 0, count - shown);
}

static void choose_sizes(struct look *l)
{
    struct map *m = l->map;
    int rows = projection_rows(&m->grid), cols = projection_cols(&m->grid);
    l->head = 1; // labels
    l->legend = l->pane.rows >= 14 ? 3 : l->pane.rows >= 9 ? 1 : 0;
    l->label = m->grid.is_flat ? 1 : int_clamp(widest_label(&m->grid.y) + 1, 2, MOST_LABEL);
    l->label = int_min(l->label, l->pane.cols / 3);
    int count = cols > 0 ? cols : 1;
    char text[24];
    double most = l->order->count ? l->order->most : NAN;
    int room = l->pane.cols - l->label - 1;
    int number = (int)strlen(map_number(l->app, l->map, most, text)) + 2;
    number = number > 4 ? number : 4;
    int label = widest_label(&l->map->grid.x) + 1;
    int roomy = int_clamp(label, number, number > 9 ? number : 9);
    roomy = count * roomy <= room ? roomy : number;
    int narrow = int_clamp(label, 3, 6);
    l->numbers = count * roomy <= room;
    l->width = l->numbers ? int_clamp(room / count, roomy, roomy > 14 ? roomy : 14) : narrow;
    if (!l->numbers && count * narrow <= room)
        l->width = room / count;
    l->cols = int_clamp(room / l->width, 0, count);
    choose_height(l, rows);
    m->top = scrolled(m->top, m->row, l->rows, rows);
    m->left = scrolled(m->left, m->col, l->cols, cols);
}

// --- cells ---

// In ASCII the lowest shade is a dot, which is the mark of cells that were not visited.
static void draw_shade(const struct pane *p, int row, int col, int cols, int level)
{
    bool ascii = p->screen->charset == CHARSET_ASCII;
    pane_shade(p, row, col, cols, ascii && level == 0 ? 1 : level);
}

static void draw_mark(const struct pane *p, int row, int col, int cols, enum place_kind kind)
{
    if (kind == PLACE_UNVISITED)
        pane_glyph(p, row, col + (cols - 1) / 2, STYLE_DIM, 0xb7);
    for (int i = 0; i < cols && kind != PLACE_UNVISITED; i++)
        pane_glyph(p, row, col + i, kind == PLACE_FAILED ? STYLE_BAD : STYLE_DIM,
                   kind == PLACE_FAILED ? 'x' : '/');
}

static enum style number_style(const struct look *l, const struct place *c)
{
    if (l->map->statistic == STATISTIC_BEST && c->best_ask == l->app->model.open.record.best_ask)
        return STYLE_BEST;
    return place_trials(c) == 1 ? STYLE_DIM : STYLE_TEXT;
}

// Brackets around the cell, and its number: a shade in reverse video would be another one.
static void draw_cursor(const struct look *l, int row, int col, int wide)
{
    const struct pane *p = &l->pane;
    int last = row + l->height - 1;
    for (int i = row; i <= last; i++) {
        pane_text(p, i, col - 1, STYLE_FOCUS, "[");
        pane_text(p, i, col + wide, STYLE_FOCUS, "]");
        pane_mark(p, i, col - 1, 1);
        pane_mark(p, i, col + wide, 1);
    }
    if (l->numbers)
        pane_mark(p, last, col, wide);
    pane_cursor(p, last, col);
}

static void draw_cell(const struct look *l, int down, int right)
{
    const struct map *m = l->map;
    const struct place *c = projection_at(&m->grid, m->top + down, m->left + right);
    const struct pane *p = &l->pane;
    double value = place_value(c, m->statistic);
    int row = l->head + down * l->height, col = l->label + right * l->width + 1;
    int wide = l->width - 1, shades = l->height - (l->height > 1 && l->numbers);
    enum place_kind kind = place_kind(c);
    for (int i = 0; i < shades; i++) {
        if (kind == PLACE_MEASURED)
            draw_shade(p, row + i, col, wide, map_level(m, l->order, c));
        else if (i == 0 || kind != PLACE_UNVISITED)
            draw_mark(p, row + i, col, wide, kind);
    }
    if (l->numbers && !isnan(value)) {
        char text[24];
        map_number(l->app, m, value, text);
        int at = col + (wide - (int)strlen(text) + 1) / 2;
        pane_text(p, row + shades, at, number_style(l, c), text);
    }
    if (m->top + down == m->row && m->left + right == m->col)
        draw_cursor(l, row, col, wide);
}

// --- labels and legend ---

static void draw_labels(const struct look *l)
{
    const struct map *m = l->map;
    struct str text = {0};
    for (int i = 0; i < l->cols; i++) {
        text.length = 0;
        axis_add_label(&m->grid.x, m->left + i, &text);
        int wide = text_columns(str_text(&text)), room = l->width - 1;
        int col = l->label + i * l->width + 1 + (wide < room ? (room - wide + 1) / 2 : 0);
        pane_text_cut(&l->pane, 0, col, room, STYLE_HEAD, str_text(&text));
    }
    for (int i = 0; i < l->rows && !m->grid.is_flat; i++) {
        text.length = 0;
        axis_add_label(&m->grid.y, m->top + i, &text);
        int wide = text_columns(str_text(&text)), row = l->head + i * l->height;
        int col = wide < l->label ? l->label - wide : 0;
        pane_text_cut(&l->pane, row, col, l->label, STYLE_HEAD, str_text(&text));
    }
    str_finish(&text);
}

struct flow { // pieces one after the other, on as many rows as there are
    struct pane pane;
    int row, col;
};

// Where a piece of `cols` columns goes.
static int flow_to(struct flow *f, int cols)
{
    if (f->col > 1 && f->col + cols > f->pane.cols) {
        f->row++;
        f->col = 1;
    }
    int col = f->col;
    f->col += cols + 3;
    return col;
}

static void flow_text(struct flow *f, enum style style, const char *text)
{
    int col = flow_to(f, text_columns(text));
    pane_text_cut(&f->pane, f->row, col, f->pane.cols - col, style, text);
}

static void flow_ramp(struct flow *f, const struct map *m)
{
    char text[48];
    snprintf(text, sizeof text, " high %s, by %s", map_statistic_name(m->statistic),
             m->by_rank                        ? "rank"
             : m->statistic == STATISTIC_COUNT ? "value"
                                               : "speed");
    int col = flow_to(f, 4 + RAMP_LEVELS + (int)strlen(text));
    pane_text(&f->pane, f->row, col, STYLE_DIM, "low ");
    for (int i = 0; i < RAMP_LEVELS; i++)
        draw_shade(&f->pane, f->row, col + 4 + i, 1, i);
    pane_text(&f->pane, f->row, col + 4 + RAMP_LEVELS, STYLE_DIM, text);
}

static void draw_legend(const struct look *l)
{
    const struct map *m = l->map;
    int count[PLACE_MEASURED + 1] = {0}, single = 0;
    for (int row = 0; row < projection_rows(&m->grid); row++)
        for (int col = 0; col < projection_cols(&m->grid); col++) {
            const struct place *c = projection_at(&m->grid, row, col);
            count[place_kind(c)]++;
            single += place_trials(c) == 1 && c->outcome[OUTCOME_OK];
        }
    struct flow f = {pane_part(&l->pane, l->pane.rows - l->legend, 0, l->legend, l->pane.cols), 0,
                     1};
    char text[80];
    flow_ramp(&f, m);
    snprintf(text, sizeof text, "· not visited %d", count[PLACE_UNVISITED]);
    flow_text(&f, STYLE_DIM, text);
    snprintf(text, sizeof text, "x all failed %d", count[PLACE_FAILED]);
    flow_text(&f, count[PLACE_FAILED] ? STYLE_BAD : STYLE_DIM, text);
    snprintf(text, sizeof text, "/ excluded %d", count[PLACE_EXCLUDED]);
    flow_text(&f, STYLE_DIM, text);
    snprintf(text, sizeof text, "%d measured, %d by one trial (dim)", count[PLACE_MEASURED],
             single);
    flow_text(&f, STYLE_DIM, text);
}

// --- all of it ---

void map_draw_grid(struct app *app, struct map *m, const struct pane *box, bool focused)
{
    struct str title = {0};
    char note[80];
    factor_add_name(m->space, m->grid.x.factor, &title);
    str_add(&title, " across");
    if (!m->grid.is_flat) {
        str_add(&title, ", ");
        factor_add_name(m->space, m->grid.y.factor, &title);
        str_add(&title, " down");
    }
    char reading[32] = "";
    double per;
    if (!m->filled)
        snprintf(reading, sizeof reading, "reading %.0f %%  ",
                 100 * scan_share(&m->scan, &app->model));
    snprintf(note, 80, "%s%s%s %s", reading, m->is_slice ? "slice  " : "",
             map_statistic_name(m->statistic),
             m->statistic == STATISTIC_COUNT ? "of trials" : model_unit(&app->model, &per));
    struct map_order *order = mem_alloc(sizeof *order);
    map_order_cells(m, order);
    struct look l = {.app = app, .map = m, .order = order};
    l.pane = pane_box(box, str_text(&title), note, focused);
    choose_sizes(&l);
    draw_labels(&l);
    for (int down = 0; down < l.rows; down++)
        for (int right = 0; right < l.cols; right++)
            draw_cell(&l, down, right);
    if (l.legend)
        draw_legend(&l);
    // On the lower edge: axes do not change by themselves under anybody's eyes.
    char text[64];
    if (m->better_pair && !(box->rows < 3)) {
        snprintf(text, sizeof text, " %s shows a more telling pair ",
                 app_key_of(app, ACT_NEXT_PAIR));
        if (text_columns(text) + 4 <= box->cols)
            pane_text(box, box->rows - 1, 2, STYLE_KEY, text);
    }
    m->at.row = l.pane.row - box->row + l.head;
    m->at.col = l.pane.col - box->col + l.label;
    m->at.height = l.height;
    m->at.width = l.width;
    m->at.rows = l.rows;
    m->at.cols = l.cols;
    free(order);
    str_finish(&title);
}

void map_draw_list(struct app *app, struct map *m, const struct pane *p)
{
    struct map_order *order = mem_alloc(sizeof *order);
    int at = 0;
    map_order_cells(m, order);
    for (int i = 0; i < order->count; i++)
        if (order->cell[i].row == m->row && order->cell[i].col == m->col)
            at = i;
    int first = scrolled(0, at, p->rows, order->count);
    for (int i = 0; i < p->rows && first + i < order->count; i++) {
        struct str name = {0};
        char text[24];
        map_add_cell_name(m, order->cell[first + i].row, order->cell[first + i].col, &name);
        map_number(app, m, order->cell[first + i].value, text);
        int col = pane_printf(p, i, 0, STYLE_TEXT, "%6s ", text);
        pane_text_cut(p, i, col, p->cols - col, STYLE_TEXT, str_text(&name));
        if (order->cell[first + i].row == m->row && order->cell[first + i].col == m->col) {
            pane_mark(p, i, 0, p->cols);
            pane_cursor(p, i, 0);
        }
        str_finish(&name);
    }
    if (!order->count)
        pane_text_cut(p, 0, 0, p->cols, STYLE_DIM,
                      m->filled ? "no cell has a result yet" : "reading trials");
    m->at.rows = p->rows;
    free(order);
}
