#include "report/plot.h"

#include "base/mem.h"
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- ticks ---

// Sets the ticks to the multiples of `step` within [low, high]; false: there are more than `most`.
static bool fill_ticks(struct plot_ticks *t, double low, double high, double step, int most)
{
    double first = ceil(low / step - 1e-9), last = floor(high / step + 1e-9);
    t->step = step;
    t->count = 0;
    if (last - first + 1 > most)
        return false;
    for (int i = 0; i < last - first + 1; i++) {
        double value = (first + i) * step;
        if (t->count == 0 || value > t->value[t->count - 1]) // false where a step is rounded away
            t->value[t->count++] = value == 0 ? 0 : value;   // no "-0"
    }
    return true;
}

static void find_decimal(struct plot_ticks *t, double low, double high, int most)
{
    static const double steps[] = {1, 2, 5, 10, 20, 50, 100};
    double power = pow(10, floor(log10((high - low) / most)));
    for (int i = 0; i < 7 && power > 0; i++) {
        double step = steps[i] * power;
        if (t->scale == PLOT_WHOLE && step < 1)
            step = 1;
        if (fill_ticks(t, low, high, step, most))
            return;
    }
    t->count = 0;
}

struct plot_ticks plot_ticks(double low, double high, enum plot_scale scale, int most)
{
    struct plot_ticks t = {.scale = scale};
    most = most < PLOT_MOST_TICKS ? most : PLOT_MOST_TICKS;
    if (most < 1 || !isfinite(high - low) || high < low)
        return t;
    if (high == low) {
        t.value[t.count++] = low;
        return t;
    }
    if (scale != PLOT_SECONDS || high - low < most) {
        find_decimal(&t, low, high, most);
        return t;
    }
    static const double steps[] = {1,   2,   5,    10,   15,   30,    60,    120,   300,
                                   600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (fill_ticks(&t, low, high, steps[i], most))
            return t;
    t.scale = PLOT_WHOLE; // whole days
    find_decimal(&t, low / 86400, high / 86400, most);
    t.scale = PLOT_SECONDS;
    t.step *= 86400;
    for (int i = 0; i < t.count; i++)
        t.value[i] *= 86400;
    return t;
}

// Divides the range into as many equal steps as there is room for; steps are one digit, or 2.5.
static struct plot_ticks even_ticks(double low, double high, enum plot_scale scale, int most)
{
    struct plot_ticks t = {.scale = scale};
    int parts = int_clamp(most, 2, PLOT_MOST_TICKS) - 1;
    for (; parts > 1; parts--) {
        double step = (high - low) / parts, digits = step / pow(10, floor(log10(step)));
        if (fabs(digits - nearbyint(digits)) < 1e-6 || fabs(digits - 2.5) < 1e-6)
            break;
    }
    t.step = (high - low) / parts;
    for (int i = 0; i <= parts; i++)
        t.value[t.count++] = low + i * t.step;
    return t;
}

double plot_round_top(double value)
{
    static const double tops[] = {1, 2, 3, 4, 5, 6, 8, 10};
    double power = pow(10, floor(log10(value)));
    for (int i = 0; i < 8; i++)
        if (tops[i] * power >= value)
            return tops[i] * power;
    return 20 * power; // where the logarithm was rounded down
}

char *plot_tick_text(const struct plot_ticks *t, double value, char out[24])
{
    double whole = nearbyint(value);
    if (t->scale == PLOT_INVERSE) {
        snprintf(out, 24, "%.3g", 1 / value);
        out[value > 0 ? 23 : 0] = '\0'; // nothing at 0, which no cost reaches
        return out;
    }
    if (t->scale == PLOT_SECONDS && value >= 0 && value < 1e9 && fabs(value - whole) < 1e-6) {
        // "1h30m", "15s", "2d"
        static const struct {
            int64_t seconds;
            char unit;
        } units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
        int64_t rest = llround(value);
        size_t length = 0;
        out[0] = 0;
        for (int i = 0; i < 4; i++) {
            int64_t n = rest / units[i].seconds;
            rest %= units[i].seconds;
            if (n)
                length +=
                    (size_t)snprintf(out + length, 24 - length, i > 0 && length ? "%02d%c" : "%d%c",
                                     (int)n, units[i].unit);
        }
        if (!length)
            snprintf(out, 24, "0");
        return out;
    }
    int decimals = t->step > 0 && t->step < 1 ? (int)ceil(-log10(t->step) - 1e-9) : 0;
    double scaled = t->step * pow(10, decimals);
    decimals += t->step > 0 && fabs(scaled - nearbyint(scaled)) > 1e-6; // 2.5
    const char *unit = t->scale == PLOT_SECONDS ? "s" : "";
    if (decimals > 6 || fabs(value) >= 1e7 || !(t->step > 0)) {
        // Shows as many digits as tell a tick from its neighbours.
        double digits = 4;
        if (t->step > 0 && value != 0)
            digits = floor(log10(fabs(value)) + 1e-9) - floor(log10(t->step) + 1e-9) + 1;
        snprintf(out, 24, "%.*g%s", (int)fmin(fmax(digits, 1), 9), value, unit);
    } else
        snprintf(out, 24, "%.*f%s", decimals, value, unit);
    return out;
}

// --- cells ---

enum { NO_SERIES = 255, BAND = -1, DOT = -2 };

struct plot_cell {
    uint8_t line, band, dot;
    uint8_t series; // the lowest series that has a dot here
    char letter;    // drawn instead of dots
    uint8_t kind;   // kind of `glyph`: PLOT_EMPTY, PLOT_AXIS or PLOT_TEXT
    uint16_t glyph;
};

// Bits of the dots at [row][column] of a cell.
static const uint8_t braille_bits[4][2] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};
static const uint8_t block_bits[2][2] = {{1, 2}, {4, 8}};
static const uint16_t blocks[16] = {' ',    0x2598, 0x259d, 0x2580, 0x2596, 0x258c, 0x259e, 0x259b,
                                    0x2597, 0x259a, 0x2590, 0x259c, 0x2584, 0x2599, 0x259f, 0x2588};

void plot_init(struct plot *p, enum charset charset, int rows, int cols)
{
    rows = rows > 0 ? rows : 0;
    cols = cols > 0 ? cols : 0;
    *p = (struct plot){.charset = charset, .rows = rows, .cols = cols, .down = rows, .wide = cols};
    p->dots_across = charset == CHARSET_ASCII ? 1 : 2;
    p->dots_down = charset == CHARSET_ASCII ? 1 : charset == CHARSET_BLOCK ? 2 : 4;
    p->right = p->top = 1;
    p->cell = mem_zero((size_t)rows * (size_t)cols + 1, sizeof *p->cell);
    for (int i = 0; i < rows * cols; i++)
        p->cell[i].series = NO_SERIES;
}

void plot_finish(struct plot *p)
{
    free(p->cell);
    *p = (struct plot){0};
}

static struct plot_cell *cell_of(const struct plot *p, int row, int col)
{
    return p->cell + row * p->cols + col;
}

// Puts a glyph of an axis or a label; lines hide it. A glyph outside the plot is ignored.
static void plot_put(struct plot *p, int row, int col, enum plot_kind kind, uint32_t glyph)
{
    if (row < 0 || col < 0 || row >= p->rows || col >= p->cols)
        return;
    struct plot_cell *c = cell_of(p, row, col);
    c->kind = (uint8_t)kind;
    c->glyph = (uint16_t)glyph;
}

// --- dots ---

// Returns the width of the area in dots.
static int plot_dots_across(const struct plot *p)
{
    int cells = p->wide - p->room;
    return (cells > 0 ? cells : 0) * p->dots_across;
}

// Draws a level or an upright stroke from dot to dot; cuts what lies outside.
static void put_stroke(struct plot *p, int series, int x0, int y0, int x1, int y1)
{
    // A band has one dot of a period. Columns and rows count, so that upright strokes are dotted
    // too.
    static const int periods[] = {[CHARSET_BRAILLE] = 3, [CHARSET_BLOCK] = 4, [CHARSET_ASCII] = 2};
    int across = p->dots_across, down = p->dots_down;
    int wide = plot_dots_across(p), high = p->down * down;
    int right = int_min(int_max(x0, x1), wide - 1), bottom = int_min(int_max(y0, y1), high - 1);
    for (int x = int_max(int_min(x0, x1), 0); x <= right; x++)
        for (int y = int_max(int_min(y0, y1), 0); y <= bottom; y++) {
            struct plot_cell *c = p->cell + (p->row + y / down) * p->cols + p->col + x / across;
            uint8_t bit = p->charset == CHARSET_BRAILLE ? braille_bits[y % 4][x % 2]
                          : p->charset == CHARSET_BLOCK ? block_bits[y % 2][x % 2]
                                                        : 1;
            if (series == DOT) {
                c->dot |= bit;
            } else if (series == BAND) {
                if ((x + y) % periods[p->charset] == 0)
                    c->band |= bit;
            } else {
                c->line |= bit;
                if (series < c->series)
                    c->series = (uint8_t)series;
            }
        }
}

// Returns the position of `value` between `low` and `high`, 0 .. 1; -1 or 2 when it is outside.
static double share_of(double value, double low, double high)
{
    double share = (value - low) / (high - low);
    return share < -1e-9 ? -1 : share > 1 + 1e-9 ? 2 : fmin(fmax(share, 0), 1);
}

// Returns the column of dots; -1 is left of the area, its width is right of it.
static int dot_x(const struct plot *p, double x)
{
    int wide = plot_dots_across(p);
    double share = share_of(x, p->left, p->right);
    return share < 0 ? -1 : share > 1 ? wide : int_min((int)(share * wide), wide - 1);
}

// Returns the row of dots, from the top; -1 is above the area, its height is below it.
static int dot_y(const struct plot *p, double y)
{
    int high = p->down * p->dots_down;
    double share = share_of(y, p->bottom, p->top);
    return share < 0 ? high : share > 1 ? -1 : (int)((1 - share) * (high - 1) + 0.5);
}

int plot_col_of(const struct plot *p, double x)
{
    int last = plot_dots_across(p) - 1;
    return p->col + int_clamp(dot_x(p, x), 0, last) / p->dots_across;
}

// --- lines ---

struct pen {
    bool down;
    int x, y;
};

static void draw_steps(struct plot *p, int series, const struct plot_point *point, int count,
                       double until, struct pen *pen)
{
    for (int i = 0; i < count; i++) {
        if (!isfinite(point[i].x))
            continue;
        int x = dot_x(p, point[i].x);
        if (pen->down)
            put_stroke(p, series, pen->x, pen->y, x, pen->y);
        if (x >= plot_dots_across(p)) { // all that follows is outside
            pen->x = x;
            return;
        }
        bool down = isfinite(point[i].y);
        int y = down ? dot_y(p, point[i].y) : 0;
        if (down)
            put_stroke(p, series, x, pen->down ? pen->y : y, x, y);
        *pen = (struct pen){down, x, y};
    }
    if (pen->down && isfinite(until) && dot_x(p, until) > pen->x) {
        int x = dot_x(p, until);
        put_stroke(p, series, pen->x, pen->y, x, pen->y);
        pen->x = x;
    }
}

void plot_steps(struct plot *p, int series, char letter, const struct plot_point *point, int count,
                double until)
{
    if (series < 0 || series >= PLOT_MOST_SERIES)
        return;
    struct pen pen = {0};
    draw_steps(p, series, point, count, until, &pen);
    int wide = plot_dots_across(p), high = p->down * p->dots_down;
    bool inside = pen.down && wide > 0 && pen.x >= 0 && pen.y >= 0 && pen.y < high;
    p->letter[series] = letter;
    p->end[series] = (struct plot_end){
        .inside = inside,
        .row = p->row + pen.y / p->dots_down,
        .col = p->col + int_min(pen.x, wide - 1) / p->dots_across,
    };
}

void plot_band(struct plot *p, const struct plot_point *low, const struct plot_point *high,
               int count, double until)
{
    draw_steps(p, BAND, low, count, until, &(struct pen){0});
    draw_steps(p, BAND, high, count, until, &(struct pen){0});
}

void plot_line(struct plot *p, int series, struct plot_point from, struct plot_point to)
{
    if (!isfinite(from.x) || !isfinite(from.y) || !isfinite(to.x) || !isfinite(to.y))
        return;
    int x0 = dot_x(p, from.x), y0 = dot_y(p, from.y), x1 = dot_x(p, to.x), y1 = dot_y(p, to.y);
    int steps = int_max(abs(x1 - x0), abs(y1 - y0));
    for (int i = 0; i <= steps; i++) {
        double share = steps ? (double)i / steps : 0;
        int x = x0 + (int)lround(share * (x1 - x0)), y = y0 + (int)lround(share * (y1 - y0));
        put_stroke(p, series, x, y, x, y);
    }
}

void plot_dot(struct plot *p, double x, double y)
{
    if (!isfinite(x) || !isfinite(y))
        return;
    int at_x = dot_x(p, x), at_y = dot_y(p, y);
    put_stroke(p, DOT, at_x, at_y, at_x, at_y);
}

// Each letter stands behind the end of its line, and behind the letters that are there already; at
// the right edge it stands before them.
void plot_letters(struct plot *p)
{
    for (int i = 0; i < PLOT_MOST_SERIES; i++) {
        const struct plot_end *e = &p->end[i];
        if (!e->inside || !p->letter[i])
            continue;
        int last = p->col + p->wide - 1, first = int_min(e->col + 1, last), col = first;
        while (col <= last && cell_of(p, e->row, col)->letter)
            col++;
        if (col > last)
            for (col = first; col > p->col && cell_of(p, e->row, col)->letter;)
                col--;
        struct plot_cell *c = cell_of(p, e->row, col);
        c->letter = p->letter[i];
        c->series = (uint8_t)i;
    }
}

// --- reading ---

struct plot_glyph plot_at(const struct plot *p, int row, int col)
{
    if (row < 0 || col < 0 || row >= p->rows || col >= p->cols)
        return (struct plot_glyph){' ', PLOT_EMPTY};
    const struct plot_cell *c = cell_of(p, row, col);
    bool ascii = p->charset == CHARSET_ASCII;
    int series = PLOT_SERIES + c->series;
    uint8_t dots = c->line ? c->line : c->band ? c->band : c->dot;
    uint32_t dotted = p->charset == CHARSET_BRAILLE ? 0x2800u + dots : blocks[dots & 15];
    if (c->letter)
        return (struct plot_glyph){(unsigned char)c->letter, series};
    if (c->line && ascii)
        return (struct plot_glyph){p->letter[c->series] ? (unsigned char)p->letter[c->series] : '.',
                                   series};
    if (c->line)
        return (struct plot_glyph){dotted, series};
    if (c->band)
        return (struct plot_glyph){ascii ? ':' : dotted, PLOT_BAND};
    if (c->dot && !c->kind)
        return (struct plot_glyph){ascii ? '.' : dotted, PLOT_DOT};
    return (struct plot_glyph){c->kind ? c->glyph : ' ', c->kind};
}

bool plot_is_free(const struct plot *p, int row, int col, int rows, int cols)
{
    if (row < p->row || col < p->col || row + rows > p->row + p->down ||
        col + cols > p->col + p->wide)
        return false;
    for (int r = row; r < row + rows; r++)
        for (int c = col; c < col + cols; c++)
            if (plot_at(p, r, c).kind != PLOT_EMPTY && plot_at(p, r, c).kind != PLOT_DOT)
                return false;
    return true;
}

void plot_add_text(const struct plot *p, struct str *out)
{
    for (int row = 0; row < p->rows; row++) {
        int end = p->cols;
        while (end > 0 && plot_at(p, row, end - 1).glyph == ' ')
            end--;
        for (int col = 0; col < end; col++)
            str_add_glyph(out, plot_at(p, row, col).glyph);
        str_add_char(out, '\n');
    }
}

// --- axes ---

struct glyphs {
    uint32_t across, up, corner, tick_x, tick_y;
};

// Replaces a range that is empty or not finite, so that lengths can be divided by it.
static void mend_range(double *low, double *high)
{
    if (!isfinite(*low))
        *low = 0;
    if (!isfinite(*high) || *high <= *low)
        *high = *low + fmax(1, fabs(*low));
    if (!isfinite(*high - *low) || !(*high > *low)) {
        *low = 0;
        *high = 1;
    }
}

static void put_text(struct plot *p, int row, int col, const char *text)
{
    for (; *text; text++)
        plot_put(p, row, col++, PLOT_TEXT, (unsigned char)*text);
}

static bool is_blank(const struct plot *p, int row, int col, int cols)
{
    if (col < 0 || col + cols > p->cols)
        return false;
    for (int i = col; i < col + cols; i++)
        if (plot_at(p, row, i).kind != PLOT_EMPTY)
            return false;
    return true;
}

// Puts a label with a blank on either side; false: there is no room.
static bool put_label(struct plot *p, int row, int col, const char *text)
{
    int length = (int)strlen(text);
    if (!is_blank(p, row, col - 1, length + 2))
        return false;
    plot_put(p, row, col - 1, PLOT_TEXT, ' ');
    put_text(p, row, col, text);
    plot_put(p, row, col + length, PLOT_TEXT, ' ');
    return true;
}

void plot_axes(struct plot *p, const struct plot_axis *x, const struct plot_axis *y)
{
    p->left = x->low;
    p->right = x->high;
    p->bottom = y->low;
    p->top = y->high;
    mend_range(&p->left, &p->right);
    mend_range(&p->bottom, &p->top);
    bool has_x = p->rows >= PLOT_AXIS_ROWS, has_y = p->cols >= PLOT_AXIS_COLS;
    p->down = int_max(p->rows - (has_x ? 2 : 0) - x->margin, 0);

    int most = p->down / 2 + 1;
    struct plot_ticks t = y->even ? even_ticks(p->bottom, p->top, y->scale, most)
                                  : plot_ticks(p->bottom, p->top, y->scale, most);
    char text[24];
    p->col = has_y ? y->margin : 0;
    for (int i = 0; i < t.count && has_y; i++)
        p->col = int_max(p->col, (int)strlen(plot_tick_text(&t, t.value[i], text)));
    p->col += has_y;
    p->wide = p->cols - p->col;
    p->room = x->room < p->wide / 4 ? x->room : p->wide / 4;
    struct glyphs g = p->charset == CHARSET_ASCII
                          ? (struct glyphs){'-', '|', '+', '+', '+'}
                          : (struct glyphs){0x2500, 0x2502, 0x2514, 0x252c, 0x2524};
    if (has_y) {
        for (int row = 0; row < p->down + x->margin; row++)
            plot_put(p, row, p->col - 1, PLOT_AXIS, g.up);
        for (int i = 0; i < t.count; i++) {
            plot_tick_text(&t, t.value[i], text);
            int dot = int_clamp(dot_y(p, t.value[i]), 0, p->down * p->dots_down - 1);
            int row = p->row + dot / p->dots_down;
            if (!is_blank(p, row, 0, p->col - 1)) // a tick is there already
                continue;
            put_text(p, row, p->col - 1 - (int)strlen(text), text);
            plot_put(p, row, p->col - 1, PLOT_AXIS, g.tick_y);
        }
    }
    if (!has_x)
        return;
    int row = p->rows - 2, start = p->col > 0 ? p->col - 1 : 0;
    for (int col = start; col < p->cols; col++)
        plot_put(p, row, col, PLOT_AXIS, g.across);
    if (p->col > 0)
        plot_put(p, row, start, PLOT_AXIS, g.corner);
    if (x->name && (int)strlen(x->name) + 2 <= p->cols / 2)
        put_label(p, row + 1, p->cols - 1 - (int)strlen(x->name), x->name);
    t = plot_ticks(p->left, p->right, x->scale, p->wide / 12 + 2);
    for (int i = 0; i < t.count; i++) {
        plot_tick_text(&t, t.value[i], text);
        int col = plot_col_of(p, t.value[i]), begin = col - (int)strlen(text) / 2;
        if (put_label(p, row + 1, begin > 0 ? begin : 1, text))
            plot_put(p, row, col, PLOT_AXIS, g.tick_x);
    }
}

double steps_at(const struct steps *s, double x)
{
    int low = 0, high = s->count; // points before `low` are at or before x
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (s->point[middle].x <= x)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? s->point[low - 1].y : 0;
}

void steps_spread(const struct steps *curve, int count, double from, double step,
                  struct spread *out, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = (struct spread){0};
    for (int k = 0; k < count; k++) {
        int passed = 0;
        for (int i = 0; i < n; i++) {
            struct spread *s = &out[i];
            double x = from + i * step;
            while (passed < curve[k].count && curve[k].point[passed].x <= x)
                passed++;
            // Welford's update: `deviation` holds the sum of squares.
            double y = passed > 0 ? curve[k].point[passed - 1].y : 0, off = y - s->mean;
            s->mean += off / (k + 1);
            s->deviation += off * (y - s->mean);
            s->least = k == 0 ? y : fmin(s->least, y);
            s->most = k == 0 ? y : fmax(s->most, y);
        }
    }
    for (int i = 0; i < n; i++)
        out[i].deviation = count > 1 ? sqrt(out[i].deviation / (count - 1)) : 0;
}
