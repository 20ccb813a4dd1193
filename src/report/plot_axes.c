// Ticks, and the axes of a plot.
#include "report/plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// --- ticks ---

// The multiples of `step` within [low, high]; false: more than `most`.
static bool fill_ticks(struct plot_ticks *t, double low, double high, double step, int most)
{
    double first = ceil(low / step - 1e-9), last = floor(high / step + 1e-9);
    t->step = step;
    t->count = 0;
    if (last - first + 1 > most)
        return false;
    for (int i = 0; i < last - first + 1; i++) {
        double value = (first + i) * step;
        if (t->count == 0 || value > t->value[t->count - 1]) // not so far from zero
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

static void find_clock(struct plot_ticks *t, double low, double high, int most)
{
    static const double steps[] = {1,   2,   5,    10,   15,   30,    60,    120,   300,
                                   600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (fill_ticks(t, low, high, steps[i], most))
            return;
    t->scale = PLOT_WHOLE;
    find_decimal(t, low / 86400, high / 86400, most);
    t->scale = PLOT_SECONDS;
    t->step *= 86400;
    for (int i = 0; i < t->count; i++)
        t->value[i] *= 86400;
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
    if (scale == PLOT_SECONDS && high - low >= most)
        find_clock(&t, low, high, most);
    else
        find_decimal(&t, low, high, most);
    return t;
}

// "1h30m", "15s", "2d"
static void clock_text(double seconds, char out[24])
{
    static const struct {
        int64_t seconds;
        char unit;
    } units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
    int64_t rest = llround(seconds);
    size_t length = 0;
    out[0] = 0;
    for (int i = 0; i < 4; i++) {
        int64_t n = rest / units[i].seconds;
        rest %= units[i].seconds;
        if (n)
            length += (size_t)snprintf(out + length, 24 - length,
                                       i > 0 && length ? "%02d%c" : "%d%c", (int)n, units[i].unit);
    }
    if (!length)
        snprintf(out, 24, "0");
}

// Significant ones that tell a tick from its neighbours.
static int digits_of(const struct plot_ticks *t, double value)
{
    if (!(t->step > 0) || value == 0)
        return 4;
    double digits = floor(log10(fabs(value)) + 1e-9) - floor(log10(t->step) + 1e-9) + 1;
    return (int)fmin(fmax(digits, 1), 9);
}

char *plot_tick_text(const struct plot_ticks *t, double value, char out[24])
{
    double whole = nearbyint(value);
    if (t->scale == PLOT_SECONDS && value >= 0 && value < 1e9 && fabs(value - whole) < 1e-6) {
        clock_text(value, out);
        return out;
    }
    int decimals = t->step > 0 && t->step < 1 ? (int)ceil(-log10(t->step) - 1e-9) : 0;
    const char *unit = t->scale == PLOT_SECONDS ? "s" : "";
    if (decimals > 6 || fabs(value) >= 1e7 || !(t->step > 0))
        snprintf(out, 24, "%.*g%s", digits_of(t, value), value, unit);
    else
        snprintf(out, 24, "%.*f%s", decimals, value, unit);
    return out;
}

// --- axes ---

struct glyphs {
    uint32_t across, up, corner, tick_x, tick_y;
};

static struct glyphs glyphs_of(enum charset c)
{
    return c == CHARSET_ASCII ? (struct glyphs){'-', '|', '+', '+', '+'}
                              : (struct glyphs){0x2500, 0x2502, 0x2514, 0x252c, 0x2524};
}

// A range that can be divided by.
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

// A label with a blank on either side; false: there is no room.
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

static int widest_text(const struct plot_ticks *t)
{
    char text[24];
    int widest = 0;
    for (int i = 0; i < t->count; i++) {
        int length = (int)strlen(plot_tick_text(t, t->value[i], text));
        widest = length > widest ? length : widest;
    }
    return widest;
}

static void draw_y_axis(struct plot *p, const struct plot_ticks *t, const struct glyphs *g)
{
    for (int row = 0; row < p->down; row++)
        plot_put(p, row, p->col - 1, PLOT_AXIS, g->up);
    for (int i = 0; i < t->count; i++) {
        char text[24];
        plot_tick_text(t, t->value[i], text);
        int row = plot_row_of(p, t->value[i]);
        if (!is_blank(p, row, 0, p->col - 1)) // a tick is there already
            continue;
        put_text(p, row, p->col - 1 - (int)strlen(text), text);
        plot_put(p, row, p->col - 1, PLOT_AXIS, g->tick_y);
    }
}

static void draw_x_axis(struct plot *p, const struct plot_axis *x, const struct glyphs *g)
{
    int row = p->rows - 2, start = p->col > 0 ? p->col - 1 : 0;
    for (int col = start; col < p->cols; col++)
        plot_put(p, row, col, PLOT_AXIS, g->across);
    if (p->col > 0)
        plot_put(p, row, start, PLOT_AXIS, g->corner);
    if (x->name && (int)strlen(x->name) + 2 <= p->cols / 2)
        put_label(p, row + 1, p->cols - 1 - (int)strlen(x->name), x->name);

    struct plot_ticks t = plot_ticks(p->left, p->right, x->scale, p->wide / 12 + 2);
    for (int i = 0; i < t.count; i++) {
        char text[24];
        plot_tick_text(&t, t.value[i], text);
        int col = plot_col_of(p, t.value[i]), begin = col - (int)strlen(text) / 2;
        if (put_label(p, row + 1, begin > 0 ? begin : 1, text))
            plot_put(p, row, col, PLOT_AXIS, g->tick_x);
    }
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
    p->down = p->rows - (has_x ? 2 : 0);

    struct plot_ticks t = plot_ticks(p->bottom, p->top, y->scale, p->down / 2 + 1);
    p->col = has_y ? widest_text(&t) + 1 : 0;
    p->wide = p->cols - p->col;
    p->room = x->room < p->wide / 4 ? x->room : p->wide / 4;
    struct glyphs g = glyphs_of(p->charset);
    if (has_y)
        draw_y_axis(p, &t, &g);
    if (has_x)
        draw_x_axis(p, x, &g);
}
