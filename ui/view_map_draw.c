#include "base/number.h"
#include "screen.h"
#include "text.h"
#include "view_map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LABEL  14 // of the grid's rows
#define FLAT_ROWS   5  // of the cells of one parameter
#define LEGEND_COLS 68 // from here on two rows hold it

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

void map_add_cell_name(const struct map *m, int row, int col, struct str *out)
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

int map_label(const struct axis *a, int place, struct str *out)
{
    out->length = 0;
    axis_add_label(a, place, out);
    return text_columns(str_text(out));
}

// Draws cells of a value. In ASCII the lowest shade is a dot, which is the mark of cells that were
// not visited.
static void draw_value(const struct pane *p, int row, int col, int cols, double share)
{
    bool ascii = p->screen->charset == CHARSET_ASCII;
    pane_patch(p, row, col, cols, paint_ordered(ascii ? fmax(share, 1.0 / RAMP_LEVELS) : share), 1);
}

// --- the grid: sizes of cells ---

struct grid {
    struct app *app;
    struct map *map;
    const struct map_order *order;
    struct pane pane; // inside the frame
    int label;        // columns of the labels of rows
    int width;        // of a cell, with the column between cells
    int rows, cols;   // that are shown
    int high;         // rows of all cells together
    int head, legend; // rows above and below
    bool numbers;
};

static int widest_label(const struct axis *a)
{
    int most = 1;
    struct str text = {0};
    for (int i = 0; i < a->count; i++)
        most = int_max(most, map_label(a, i, &text));
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
    int lines = l->pane.cols >= LEGEND_COLS ? 2 : 3;
    l->legend = l->pane.rows >= 14 ? lines : l->pane.rows >= 9 ? 1 : 0;
    l->label = m->grid.is_flat ? 1 : int_clamp(widest_label(&m->grid.y) + 1, 2, MOST_LABEL);
    l->label = int_min(l->label, l->pane.cols / 3);
    // Cells are wide enough for the largest number with its mark, or without it, or rounded, when
    // all columns fit then.
    int count = int_max(cols, 1), wide = l->pane.cols - l->label - 1;
    double most = l->order->count ? l->order->most : NAN;
    int digits = (int)strlen(number_text(l->app, m, most, text));
    int whole = (int)strcspn(text, "."), label = widest_label(&m->grid.x) + 1;
    int number = int_max(digits + 2, 4);
    int roomy = int_clamp(label, number, int_max(number, 9));
    if (count * roomy > wide)
        roomy = number;
    if (count * roomy > wide)
        roomy = int_max(digits + 1, 4);
    if (count * roomy > wide && whole > 1)
        roomy = int_max(whole + 1, 4);
    int narrow = int_clamp(label, 3, 6);
    l->numbers = count * roomy <= wide;
    l->width = l->numbers               ? int_clamp(wide / count, roomy, int_max(roomy, 14))
               : count * narrow <= wide ? wide / count
                                        : narrow;
    l->cols = int_clamp(wide / l->width, 0, count);
    l->high = int_max(l->pane.rows - l->head - l->legend, 0);
    if (m->grid.is_flat)
        l->high = int_min(l->high, FLAT_ROWS);
    l->rows = int_min(rows, l->high);
    m->top = scrolled(m->top, m->row, l->rows, rows);
    m->left = scrolled(m->left, m->col, l->cols, cols);
}

// --- the grid: cells, labels, legend ---

// Returns the first row of a row of cells, which share all rows that there are.
static int cell_row(const struct grid *l, int down)
{
    return l->head + down * l->high / l->rows;
}

// Says if a trial of the Pareto front lies in that cell of the grid.
static bool is_on_front(const struct map *m, const struct map_cell *c)
{
    int row, col;
    for (int i = 0; i < m->front.count; i++)
        if (projection_find(&m->grid, &m->front.place[i].config, m->front.place[i].statistic, &row,
                            &col) &&
            projection_at(&m->grid, row, col) == c)
            return true;
    return false;
}

// Draws the number of a cell on its background: "*43.69" is the best of all, "^21.02" on the front
// of time and energy, "~18.23" of one trial.
static void draw_number(const struct grid *l, const struct map_cell *c, int row, int col, bool here)
{
    const struct map *m = l->map;
    char number[24], text[32];
    double share = map_share(m, l->order, c);
    int wide = l->width - 1;
    bool best = m->statistic == STATISTIC_BEST && c->best_ask == l->app->model.open.record.best_ask;
    number_text(l->app, m, cell_value(c, m->statistic), number);
    bool single = cell_trials(c) == 1 && m->statistic != STATISTIC_COUNT;
    const char *mark = best ? "*" : is_on_front(m, c) ? "^" : single ? "~" : "";
    // The mark says more than the last decimals do, but less than the only one of small numbers.
    double value = strtod(number, NULL);
    for (int d = 2; d >= (value < 10) && (int)(strlen(number) + strlen(mark)) > wide; d--)
        snprintf(number, sizeof number, "%.*f", d, value);
    if ((int)(strlen(number) + strlen(mark)) > wide)
        mark = "";
    int length = snprintf(text, sizeof text, "%s%s", mark, number);
    // Blanks beside it, where shades would run into the digits.
    int at = int_max(wide - length + 1, 0) / 2, before = at > 0, behind = at + length < wide;
    struct pane cell = pane_part(&l->pane, row, col, 1, wide);
    pane_printf(&cell, 0, at - before, paint_ordered(share), "%s%s%s", before ? " " : "", text,
                behind ? " " : "");
    if (here)
        pane_mark(&cell, 0, at, length);
}

static void draw_cell(const struct grid *l, int down, int right)
{
    const struct map *m = l->map;
    const struct map_cell *c = projection_at(&m->grid, m->top + down, m->left + right);
    const struct pane *p = &l->pane;
    int row = cell_row(l, down), end = cell_row(l, down + 1), middle = (row + end - 1) / 2;
    int col = l->label + right * l->width + 1, wide = l->width - 1;
    enum cell_kind kind = cell_kind(c);
    bool here = m->top + down == m->row && m->left + right == m->col;
    bool has_value = !isnan(cell_value(c, m->statistic));
    if (kind == CELL_UNVISITED)
        pane_glyph(p, middle, col + (wide - 1) / 2, STYLE_DIM, 0xb7);
    for (int i = row; i < end && kind == CELL_MEASURED; i++)
        draw_value(p, i, col, wide, map_share(m, l->order, c));
    struct pane part = pane_part(p, middle, col, 1, wide);
    if (kind == CELL_FAILED || kind == CELL_EXCLUDED)
        pane_fill(&part, kind == CELL_FAILED ? STYLE_BAD : STYLE_DIM,
                  kind == CELL_FAILED ? 'x' : '/');
    if (l->numbers && has_value)
        draw_number(l, c, middle, col, here);
    if (!here)
        return;
    // The cursor is brackets around the cell and a mark on its number: a shade in reverse video
    // would look like another shade.
    for (int i = row; i < end; i++) {
        pane_text(p, i, col - 1, STYLE_FOCUS, "[");
        pane_text(p, i, col + wide, STYLE_FOCUS, "]");
        pane_mark(p, i, col - 1, 1);
        pane_mark(p, i, col + wide, 1);
    }
    pane_cursor(p, middle, col);
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
    char text[5][80];
    snprintf(text[0], 80, " high %s, by %s", statistic_names[m->statistic],
             m->by_rank                        ? "rank"
             : m->statistic == STATISTIC_COUNT ? "value"
                                               : "speed");
    int col = flow_to(&f, 4 + RAMP_LEVELS + (int)strlen(text[0]));
    pane_text(&f.pane, f.row, col, STYLE_DIM, "low ");
    for (int i = 0; i < RAMP_LEVELS; i++)
        draw_value(&f.pane, f.row, col + 4 + i, 1, i / (RAMP_LEVELS - 1.0));
    pane_text(&f.pane, f.row, col + 4 + RAMP_LEVELS, STYLE_DIM, text[0]);
    snprintf(text[0], 80, "· not visited %d", count[CELL_UNVISITED]);
    snprintf(text[1], 80, "x all failed %d", count[CELL_FAILED]);
    snprintf(text[2], 80, "/ excluded %d", count[CELL_EXCLUDED]);
    snprintf(text[3], 80, "%d measured, %d once (~)", count[CELL_MEASURED], single);
    snprintf(text[4], 80, "%d on the front of time and energy (^)", m->front.count);
    for (int i = 0; i < 4 + (m->front.count > 0); i++) {
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
        int wide = map_label(&m->grid.x, m->left + i, &label), room = l.width - 1;
        int col = l.label + i * l.width + 1 + (wide < room ? (room - wide + 1) / 2 : 0);
        pane_text_cut(&l.pane, 0, col, room, STYLE_HEAD, str_text(&label));
    }
    for (int i = 0; i < l.rows && !m->grid.is_flat; i++) {
        int wide = map_label(&m->grid.y, m->top + i, &label);
        int row = (cell_row(&l, i) + cell_row(&l, i + 1) - 1) / 2;
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
    if (m->better_pair)
        snprintf(text, sizeof text, " %s shows a more telling pair ",
                 app_key_of(app, ACT_NEXT_PAIR));
    else
        snprintf(text, sizeof text, " %s: the best tenth as lines ", app_key_of(app, ACT_PARALLEL));
    if (m->factors > 1 && box->rows >= 3 && text_columns(text) + 4 <= box->cols)
        pane_text(box, box->rows - 1, 2, m->better_pair ? STYLE_KEY : STYLE_DIM, text);
    m->at.row = l.pane.row - box->row + l.head;
    m->at.col = l.pane.col - box->col + l.label;
    m->at.high = l.high;
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
        map_add_cell_name(m, cell->row, cell->col, &name);
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
