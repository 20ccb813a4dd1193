#include "base/number.h"
#include "screen.h"
#include "text.h"
#include "view_map.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_COLS  14
#define MIN_LABEL  3  // of the bars
#define MOST_LABEL 14 // of the grid's rows
#define HIGH_ROWS  24 // panes from here on have blank lines

// --- texts ---

static const char *const statistic_names[] = {"best", "mean", "count"};

// Writes a number of the statistic as it stands in cells; "" for NAN.
static const char *number_text(const struct app *app, const struct map *m, double value,
                               char out[24])
{
    out[0] = '\0';
    if (m->statistic != STATISTIC_COUNT)
        return speed_number(&app->model, value, out);
    if (!isnan(value))
        snprintf(out, 24, "%.0f", value);
    return out;
}

// Appends "tile_n[2]=128 order=n,m".
static void add_cell_name(const struct map *m, int row, int col, struct str *out)
{
    for (int i = m->grid.is_flat; i < 2; i++) {
        const struct axis *a = i == 0 ? &m->grid.y : &m->grid.x;
        factor_add_name(m->space, a->factor, out);
        str_add_char(out, '=');
        axis_add_label(a, i == 0 ? row : col, out);
        if (i == 0)
            str_add_char(out, ' ');
    }
}

// Writes the label of a place into `out`, which is emptied first; returns its columns.
static int label_text(const struct axis *a, int place, struct str *out)
{
    out->length = 0;
    axis_add_label(a, place, out);
    return text_columns(str_text(out));
}

// In ASCII the lowest shade is a dot, which is the mark of cells that were not visited.
static void draw_shade(const struct pane *p, int row, int col, int cols, int level)
{
    bool ascii = p->screen->charset == CHARSET_ASCII;
    pane_shade(p, row, col, cols, ascii && level == 0 ? 1 : level);
}

// --- the panel beside the map ---

struct sheet {
    struct app *app;
    const struct map *map;
    struct lines lines;
};

// Adds words on as many rows as they take, at most `most`.
static void add_words(struct sheet *s, enum style style, const char *text, int most)
{
    struct pane part = pane_part(s->lines.p, s->lines.row, 2, most, s->lines.p->cols - 2);
    s->lines.row += int_min(pane_wrapped(&part, 0, 0, part.cols, style, text), most);
}

static void add_cell(struct sheet *s)
{
    const struct map_cell *c = map_here(s->map);
    char text[200] = "";
    size_t length = 0;
    if (!c) {
        lines_add(&s->lines, STYLE_DIM, "no value was visited yet");
        return;
    }
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        if (i == OUTCOME_OK || i == OUTCOME_REJECTED || !c->outcome[i])
            continue;
        int n = snprintf(text + length, sizeof text - length, "%s %s %" PRId64, length ? "" : ":",
                         outcome_name((enum outcome)i), c->outcome[i]);
        length += (size_t)n < sizeof text - length ? (size_t)n : sizeof text - 1 - length;
    }
    lines_add(&s->lines, STYLE_TEXT, "trials %" PRId64 "   ok %" PRId64 "   failed %" PRId64 "%s",
              cell_trials(c), c->outcome[OUTCOME_OK], cell_trials(c) - c->outcome[OUTCOME_OK],
              text);
    if (c->outcome[OUTCOME_REJECTED])
        lines_add(&s->lines, STYLE_DIM, "rejected %" PRId64 " (cost no trial)",
                  c->outcome[OUTCOME_REJECTED]);
    switch (cell_kind(c)) {
    case CELL_MEASURED: {
        struct model *m = &s->app->model;
        const struct trial *t = model_trial(m, c->best_ask);
        struct str config = {0};
        char best[24], mean[24], worst[24], brief[SPACE_MAX_PARAMS][4];
        double per;
        bool low = s->lines.p->rows < HIGH_ROWS;
        const char *gap = s->lines.p->cols < 40 ? " " : "   ";
        speed_number(m, c->best, best);
        speed_number(m, cell_value(c, STATISTIC_MEAN), mean);
        speed_number(m, c->worst, worst);
        lines_add(&s->lines, STYLE_TEXT, "best %s%s%smean %s%sworst %s %s", best,
                  c->best_raced ? " raced" : "", gap, mean, gap, worst, model_unit(m, &per));
        if (t && t->has_config) {
            lines_add(&s->lines, STYLE_HEAD, "best configuration, trial #%" PRId64, t->number);
            short_names(s->map->space, brief);
            config_add_difference(s->map->space, &t->config, NULL, low ? brief : NULL, &config);
            add_words(s, STYLE_TEXT, str_text(&config), low ? 3 : 6);
            str_finish(&config);
        }
    } break;
    case CELL_FAILED: lines_add(&s->lines, STYLE_BAD, "all that were tried here failed"); break;
    case CELL_EXCLUDED: {
        const struct space *space = s->map->space;
        char why[200] = "";
        add_words(s, STYLE_TEXT,
                  c->impossible ? "excluded: no product of the parts has these values"
                  : c->judged >= JUDGED_ENOUGH ? "excluded: none of those drawn here is legal"
                                               : "excluded: all that were asked here were rejected",
                  3);
        for (int i = LIMIT_NONE + 1; c->judged && i < LIMIT_COUNT; i++)
            if (c->limits & 1u << i)
                snprintf(why, sizeof why, "such as by the device's limit of %s",
                         limit_name((enum limit)i));
        if (c->judged && c->constraint >= 0 && c->constraint < space->constraint_count)
            snprintf(why, sizeof why, "such as by constraint '%s'",
                     space->constraint[c->constraint].name);
        add_words(s, STYLE_DIM, why, 3);
    } break;
    case CELL_UNVISITED:
        snprintf(text, sizeof text, "not visited; none of %d drawn here is legal so far",
                 c->judged);
        add_words(s, STYLE_TEXT, c->legal ? "not visited; there are legal configurations" : text,
                  3);
        break;
    }
}

static int compare_bars(const void *a, const void *b)
{
    const struct importance_entry *x = a, *y = b;
    if (x->share != y->share)
        return x->share > y->share ? -1 : 1;
    return x->values - y->values;
}

// Draws the best speed at each value of another parameter, or the mark of why there is none.
static void add_bar(struct sheet *s, const struct projection *bar)
{
    const struct pane *p = s->lines.p;
    struct str text = {0};
    double most = 0;
    int count = bar->x.count, all = 0, col = NAME_COLS + 2, room = p->cols - col + 1;
    factor_add_name(s->map->space, bar->x.factor, &text);
    pane_text_cut(p, s->lines.row, 1, NAME_COLS, STYLE_TEXT, str_text(&text));
    for (int i = 0; i < count; i++) {
        most = fmax(most, projection_at(bar, 0, i)->best);
        all += label_text(&bar->x, i, &text) + 3;
    }
    // Labels are as wide as they need when all fit, else as wide as fits, from MIN_LABEL on.
    if (all > room)
        room = int_max(count ? room / count - 3 : 0, MIN_LABEL);
    for (int i = 0; i < count; i++) {
        const struct map_cell *c = projection_at(bar, 0, i);
        int wide = label_text(&bar->x, i, &text);
        if (wide > room) // "n,m" of an order, not "n,m,"
            wide = room - (bar->x.param->kind == PARAM_PERMUTATION && text.text[room - 1] == ',');
        if (col + wide + 2 > p->cols) {
            pane_text(p, s->lines.row, p->cols - 1, STYLE_DIM, "…");
            break;
        }
        struct pane cut = pane_part(p, s->lines.row, col, 1, wide);
        pane_text(&cut, 0, 0, STYLE_DIM, str_text(&text));
        col += wide + 1;
        double level = c->best / most;
        if (cell_kind(c) == CELL_MEASURED && most > 0)
            pane_spark(p, s->lines.row, col, level >= 1 ? STYLE_BEST : STYLE_TEXT, &level, 1);
        else if (cell_kind(c) == CELL_FAILED)
            pane_text(p, s->lines.row, col, STYLE_BAD, "x");
        else // in ASCII a dot is a level
            pane_text(p, s->lines.row, col, STYLE_DIM,
                      p->screen->charset == CHARSET_ASCII ? "?" : "·");
        col += 2;
    }
    s->lines.row++;
    str_finish(&text);
}

static void add_importance(struct sheet *s, int most)
{
    const struct importance *im = &s->map->importance;
    const struct projection *g = &s->map->grid;
    const struct pane *p = s->lines.p;
    if (most < 2)
        return;
    if (!im->used) {
        lines_add(&s->lines, STYLE_DIM, "importance: no ok trial yet");
        return;
    }
    char head[96] = "parameter importance";
    size_t name = strlen(head);
    if (p->cols > 41)
        name += (size_t)snprintf(head + name, sizeof head - name, " (marginal variance)");
    snprintf(head + name, sizeof head - name, ", %" PRId64 " ok%s", im->used,
             im->used > IMPORTANCE_SAMPLE ? " (8192 drawn)" : "");
    if (text_columns(head) >= p->cols)
        head[name] = '\0';
    lines_add(&s->lines, STYLE_HEAD, "%s", head);
    for (int i = 0; i < im->count && i < most - 1; i++) {
        const struct factor *f = &im->entry[i].factor;
        struct str text = {0};
        char share[16];
        bool is_x = f->param == g->x.factor.param && f->slot == g->x.factor.slot;
        bool is_y = !g->is_flat && f->param == g->y.factor.param && f->slot == g->y.factor.slot;
        factor_add_name(s->map->space, *f, &text);
        pane_text_cut(p, s->lines.row, 1, NAME_COLS, STYLE_TEXT, str_text(&text));
        pane_text(p, s->lines.row, NAME_COLS + 2, STYLE_KEY, is_x ? "X" : is_y ? "Y" : " ");
        pane_bar(p, s->lines.row, NAME_COLS + 4, int_max(p->cols - NAME_COLS - 10, 0), STYLE_SERIES,
                 im->entry[i].share);
        snprintf(share, sizeof share, "%.0f %%", 100 * im->entry[i].share);
        pane_text_right(p, s->lines.row++, p->cols - 1, STYLE_TEXT, share);
        str_finish(&text);
    }
}

void map_draw_panel(struct app *app, struct map *m, const struct pane *box)
{
    static const char *const next[] = {"more", "importance", "cell"};
    struct str title = {0};
    char note[40];
    snprintf(note, sizeof note, "%s: %s", app_key_of(app, ACT_NEXT_PANE), next[m->page]);
    if (m->page == PAGE_IMPORTANCE)
        str_add(&title, "Importance");
    else if (map_here(m))
        add_cell_name(m, m->row, m->col, &title);
    struct pane pane = pane_box(box, str_text(&title), note, false);
    struct sheet s = {app, m, {.p = &pane, .col = 1}};
    str_finish(&title);
    if (m->page == PAGE_IMPORTANCE) {
        add_importance(&s, pane.rows);
        if (pane.rows - s.lines.row >= 6)
            add_words(
                &s, STYLE_DIM,
                "Share of the variance of the ranks of speeds that the values of one parameter "
                "explain, alone and corrected for chance.",
                4);
        return;
    }
    bool both = m->page != PAGE_BARS, high = pane.rows >= HIGH_ROWS;
    add_cell(&s);
    s.lines.row += high;
    int left = pane.rows - s.lines.row;
    // At most `most` rows are for the other parameters, the most important first.
    int most = left - (both ? left / 2 : 0);
    const struct map_cell_scan *cell = &s.map->cell;
    struct importance_entry order[SPACE_MAX_SLOTS];
    if (cell->count > 0 && most > 1) {
        for (int i = 0; i < cell->count; i++) {
            double share = importance_of(&s.map->importance, cell->bar[i].x.factor);
            order[i] = (struct importance_entry){.share = isnan(share) ? 0 : share, .values = i};
        }
        qsort(order, (size_t)cell->count, sizeof *order, compare_bars);
        lines_add(&s.lines, STYLE_HEAD, "effect of the other parameters%s%s",
                  pane.cols > 44 ? " in this cell" : "", s.map->is_slice ? ", unsliced" : "");
        for (int i = 0; i < cell->count && i < most - 1; i++)
            add_bar(&s, &cell->bar[order[i].values]);
    }
    s.lines.row += high;
    if (both)
        add_importance(&s, pane.rows - s.lines.row);
}

// --- the grid: sizes of cells ---

struct grid {
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
    for (int i = 0; i < a->count; i++)
        most = int_max(most, label_text(a, i, &text));
    str_finish(&text);
    return most;
}

// Returns the first one shown of `count`, so that the cursor is seen.
static int scrolled(int first, int cursor, int shown, int count)
{
    first = int_min(first, cursor);
    return int_clamp(int_max(first, cursor - shown + 1), 0, count - shown);
}

static void choose_sizes(struct grid *l)
{
    struct map *m = l->map;
    int rows = projection_rows(&m->grid), cols = m->grid.x.count;
    char text[24];
    l->head = 1; // labels
    l->legend = l->pane.rows >= 14 ? 3 : l->pane.rows >= 9 ? 1 : 0;
    l->label = m->grid.is_flat ? 1 : int_clamp(widest_label(&m->grid.y) + 1, 2, MOST_LABEL);
    l->label = int_min(l->label, l->pane.cols / 3);
    // Cells are wide enough for the largest number, when all columns fit then.
    int count = int_max(cols, 1), wide = l->pane.cols - l->label - 1;
    double most = l->order->count ? l->order->most : NAN;
    int number = int_max((int)strlen(number_text(l->app, m, most, text)) + 2, 4);
    int label = widest_label(&m->grid.x) + 1;
    int roomy = int_clamp(label, number, int_max(number, 9));
    roomy = count * roomy <= wide ? roomy : number;
    int narrow = int_clamp(label, 3, 6);
    l->numbers = count * roomy <= wide;
    l->width = l->numbers               ? int_clamp(wide / count, roomy, int_max(roomy, 14))
               : count * narrow <= wide ? wide / count
                                        : narrow;
    l->cols = int_clamp(wide / l->width, 0, count);
    int high = l->pane.rows - l->head - l->legend;
    l->height = rows ? int_clamp(high / rows, 1, 4) : 1;
    l->numbers &= l->height > 1;
    if (!l->numbers)
        l->height = int_min(l->height, 2);
    l->rows = int_clamp(high / l->height, 0, rows);
    m->top = scrolled(m->top, m->row, l->rows, rows);
    m->left = scrolled(m->left, m->col, l->cols, cols);
}

// --- the grid: cells, labels, legend ---

static void draw_cell(const struct grid *l, int down, int right)
{
    const struct map *m = l->map;
    const struct map_cell *c = projection_at(&m->grid, m->top + down, m->left + right);
    const struct pane *p = &l->pane;
    double value = cell_value(c, m->statistic);
    int row = l->head + down * l->height, col = l->label + right * l->width + 1;
    int wide = l->width - 1, shades = l->height - (l->height > 1 && l->numbers);
    enum cell_kind kind = cell_kind(c);
    if (kind == CELL_UNVISITED)
        pane_glyph(p, row, col + (wide - 1) / 2, STYLE_DIM, 0xb7);
    for (int i = 0; i < shades && kind != CELL_UNVISITED; i++) {
        struct pane part = pane_part(p, row + i, col, 1, wide);
        if (kind == CELL_MEASURED)
            draw_shade(p, row + i, col, wide, map_level(m, l->order, c));
        else
            pane_fill(&part, kind == CELL_FAILED ? STYLE_BAD : STYLE_DIM,
                      kind == CELL_FAILED ? 'x' : '/');
    }
    if (l->numbers && !isnan(value)) {
        char text[24];
        number_text(l->app, m, value, text);
        bool best =
            m->statistic == STATISTIC_BEST && c->best_ask == l->app->model.open.record.best_ask;
        pane_text(p, row + shades, col + (wide - (int)strlen(text) + 1) / 2,
                  best                  ? STYLE_BEST
                  : cell_trials(c) == 1 ? STYLE_DIM
                                        : STYLE_TEXT,
                  text);
    }
    if (m->top + down != m->row || m->left + right != m->col)
        return;
    // The cursor is brackets around the cell and a mark on its number: a shade in reverse video
    // would look like another shade.
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

struct flow { // pieces one after the other, on as many rows as there are
    struct pane pane;
    int row, col;
};

// Returns the column of a piece of `cols` columns.
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

static void draw_legend(const struct grid *l)
{
    const struct map *m = l->map;
    int count[CELL_MEASURED + 1] = {0}, single = 0;
    for (int row = 0; row < projection_rows(&m->grid); row++)
        for (int col = 0; col < m->grid.x.count; col++) {
            const struct map_cell *c = projection_at(&m->grid, row, col);
            count[cell_kind(c)]++;
            single += cell_trials(c) == 1 && c->outcome[OUTCOME_OK];
        }
    struct flow f = {pane_part(&l->pane, l->pane.rows - l->legend, 0, l->legend, l->pane.cols), 0,
                     1};
    char text[4][80];
    snprintf(text[0], 80, " high %s, by %s", statistic_names[m->statistic],
             m->by_rank                        ? "rank"
             : m->statistic == STATISTIC_COUNT ? "value"
                                               : "speed");
    int col = flow_to(&f, 4 + RAMP_LEVELS + (int)strlen(text[0]));
    pane_text(&f.pane, f.row, col, STYLE_DIM, "low ");
    for (int i = 0; i < RAMP_LEVELS; i++)
        draw_shade(&f.pane, f.row, col + 4 + i, 1, i);
    pane_text(&f.pane, f.row, col + 4 + RAMP_LEVELS, STYLE_DIM, text[0]);
    snprintf(text[0], 80, "· not visited %d", count[CELL_UNVISITED]);
    snprintf(text[1], 80, "x all failed %d", count[CELL_FAILED]);
    snprintf(text[2], 80, "/ excluded %d", count[CELL_EXCLUDED]);
    snprintf(text[3], 80, "%d measured, %d by one trial (dim)", count[CELL_MEASURED], single);
    for (int i = 0; i < 4; i++) {
        col = flow_to(&f, text_columns(text[i]));
        pane_line(&f.pane, f.row, col, i == 1 && count[CELL_FAILED] ? STYLE_BAD : STYLE_DIM, "%s",
                  text[i]);
    }
}

void map_draw_grid(struct app *app, struct map *m, const struct pane *box, bool focused)
{
    struct str title = {0};
    char note[80], reading[32] = "", text[64];
    double per;
    factor_add_name(m->space, m->grid.x.factor, &title);
    str_add(&title, " across");
    if (!m->grid.is_flat) {
        str_add(&title, ", ");
        factor_add_name(m->space, m->grid.y.factor, &title);
        str_add(&title, " down");
    }
    if (!m->filled)
        snprintf(reading, sizeof reading, "reading %.0f %%  ",
                 100 * scan_share(&m->scan, &app->model));
    snprintf(note, 80, "%s%s%s %s", reading, m->is_slice ? "slice  " : "",
             statistic_names[m->statistic],
             m->statistic == STATISTIC_COUNT ? "of trials" : model_unit(&app->model, &per));
    struct map_order *order = mem_alloc(sizeof *order);
    map_order_cells(m, order);
    struct grid l = {.app = app, .map = m, .order = order};
    l.pane = pane_box(box, str_text(&title), note, focused);
    choose_sizes(&l);
    struct str label = {0};
    for (int i = 0; i < l.cols; i++) {
        int wide = label_text(&m->grid.x, m->left + i, &label), room = l.width - 1;
        int col = l.label + i * l.width + 1 + (wide < room ? (room - wide + 1) / 2 : 0);
        pane_text_cut(&l.pane, 0, col, room, STYLE_HEAD, str_text(&label));
    }
    for (int i = 0; i < l.rows && !m->grid.is_flat; i++) {
        int wide = label_text(&m->grid.y, m->top + i, &label), row = l.head + i * l.height;
        pane_text_cut(&l.pane, row, int_max(l.label - wide, 0), l.label, STYLE_HEAD,
                      str_text(&label));
    }
    str_finish(&label);
    for (int down = 0; down < l.rows; down++)
        for (int right = 0; right < l.cols; right++)
            draw_cell(&l, down, right);
    if (l.legend)
        draw_legend(&l);
    // On the lower edge: axes do not change by themselves while somebody looks at them.
    snprintf(text, sizeof text, " %s shows a more telling pair ", app_key_of(app, ACT_NEXT_PAIR));
    if (m->better_pair && box->rows >= 3 && text_columns(text) + 4 <= box->cols)
        pane_text(box, box->rows - 1, 2, STYLE_KEY, text);
    m->at.row = l.pane.row - box->row + l.head;
    m->at.col = l.pane.col - box->col + l.label;
    m->at.height = l.height;
    m->at.width = l.width;
    m->at.rows = l.rows;
    m->at.cols = l.cols;
    free(order);
    str_finish(&title);
}

// --- the list that stands for the grid on tiny screens ---

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
        const struct map_ordered *cell = &order->cell[first + i];
        struct str name = {0};
        char text[24];
        add_cell_name(m, cell->row, cell->col, &name);
        int col = pane_printf(p, i, 0, STYLE_TEXT, "%6s ", number_text(app, m, cell->value, text));
        pane_line(p, i, col, STYLE_TEXT, "%s", str_text(&name));
        if (cell->row == m->row && cell->col == m->col) {
            pane_mark(p, i, 0, p->cols);
            pane_cursor(p, i, 0);
        }
        str_finish(&name);
    }
    if (!order->count)
        pane_line(p, 0, 0, STYLE_DIM, "%s",
                  m->filled ? "no cell has a result yet" : "reading trials");
    m->at.rows = p->rows;
    free(order);
}
