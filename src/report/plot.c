#include "report/plot.h"

#include "base/mem.h"
#include "base/minmax.h"

#include <math.h>
#include <stdlib.h>

enum { NO_SERIES = 255, BAND = -1, DOT = -2 };

struct plot_cell {
    uint8_t line, band, dot;
    uint8_t series; // the lowest that has a dot here
    char letter;    // stands here instead of dots
    uint8_t kind;   // of `glyph`: PLOT_EMPTY, PLOT_AXIS, PLOT_TEXT or PLOT_FAILED
    uint16_t glyph;
};

// Bit of the dot at [row][column] of a cell.
static const uint8_t braille_bits[4][2] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};
static const uint8_t block_bits[2][2] = {{1, 2}, {4, 8}};
static const uint16_t blocks[16] = {' ',    0x2598, 0x259d, 0x2580, 0x2596, 0x258c, 0x259e, 0x259b,
                                    0x2597, 0x259a, 0x2590, 0x259c, 0x2584, 0x2599, 0x259f, 0x2588};

static int dots_across(enum charset c)
{
    return c == CHARSET_ASCII ? 1 : 2;
}

static int dots_down(enum charset c)
{
    return c == CHARSET_ASCII ? 1 : c == CHARSET_BLOCK ? 2 : 4;
}

void plot_init(struct plot *p, enum charset charset, int rows, int cols)
{
    rows = rows > 0 ? rows : 0;
    cols = cols > 0 ? cols : 0;
    *p = (struct plot){.charset = charset, .rows = rows, .cols = cols, .down = rows, .wide = cols};
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

// --- dots ---

int plot_dots_across(const struct plot *p)
{
    int cells = p->wide - p->room;
    return (cells > 0 ? cells : 0) * dots_across(p->charset);
}

static void put_dot(struct plot *p, int series, int x, int y)
{
    int across = dots_across(p->charset), down = dots_down(p->charset);
    struct plot_cell *c =
        p->cell + (p->row + y / down) * p->cols + p->col + x / across; // x, y are inside
    uint8_t bit = p->charset == CHARSET_BRAILLE ? braille_bits[y % 4][x % 2]
                  : p->charset == CHARSET_BLOCK ? block_bits[y % 2][x % 2]
                                                : 1;
    if (series == DOT) {
        c->dot |= bit;
        return;
    }
    if (series == BAND) {
        // One dot in some; counted along both ways, so that upright strokes are dotted too.
        static const int periods[] = {
            [CHARSET_BRAILLE] = 3, [CHARSET_BLOCK] = 4, [CHARSET_ASCII] = 2};
        int period = periods[p->charset];
        if ((x + y) % period == 0)
            c->band |= bit;
        return;
    }
    c->line |= bit;
    if (series < c->series)
        c->series = (uint8_t)series;
}

// From dot to dot, one of both ways level or upright; what lies outside is cut.
static void put_stroke(struct plot *p, int series, int x0, int y0, int x1, int y1)
{
    int wide = plot_dots_across(p), high = p->down * dots_down(p->charset);
    int right = int_min(int_max(x0, x1), wide - 1), bottom = int_min(int_max(y0, y1), high - 1);
    for (int x = int_max(int_min(x0, x1), 0); x <= right; x++)
        for (int y = int_max(int_min(y0, y1), 0); y <= bottom; y++)
            put_dot(p, series, x, y);
}

// Where `value` lies between `low` and `high`: 0 .. 1; a little outside for whatever is outside.
static double share_of(double value, double low, double high)
{
    double share = (value - low) / (high - low);
    return share < -1e-9 ? -1 : share > 1 + 1e-9 ? 2 : fmin(fmax(share, 0), 1);
}

// Dots: -1 is left of the area, its width right of it.
static int dot_x(const struct plot *p, double x)
{
    int wide = plot_dots_across(p);
    double share = share_of(x, p->left, p->right);
    return share < 0 ? -1 : share > 1 ? wide : int_min((int)(share * wide), wide - 1);
}

// From the top; -1 is above the area, its height below it.
static int dot_y(const struct plot *p, double y)
{
    int high = p->down * dots_down(p->charset);
    double share = share_of(y, p->bottom, p->top);
    return share < 0 ? high : share > 1 ? -1 : (int)((1 - share) * (high - 1) + 0.5);
}

static int within(int value, int end)
{
    return int_clamp(value, 0, end - 1);
}

int plot_col_of(const struct plot *p, double x)
{
    return p->col + within(dot_x(p, x), plot_dots_across(p)) / dots_across(p->charset);
}

int plot_row_of(const struct plot *p, double y)
{
    int down = dots_down(p->charset);
    return p->row + within(dot_y(p, y), p->down * down) / down;
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
        if (x >= plot_dots_across(p)) { // nobody sees what follows
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
    int wide = plot_dots_across(p), high = p->down * dots_down(p->charset);
    bool inside = pen.down && wide > 0 && pen.x >= 0 && pen.y >= 0 && pen.y < high;
    p->letter[series] = letter;
    p->end[series] = (struct plot_end){
        .inside = inside,
        .row = p->row + pen.y / dots_down(p->charset),
        .col = p->col + int_min(pen.x, wide - 1) / dots_across(p->charset),
    };
}

void plot_band(struct plot *p, const struct plot_point *low, const struct plot_point *high,
               int count, double until)
{
    draw_steps(p, BAND, low, count, until, &(struct pen){0});
    draw_steps(p, BAND, high, count, until, &(struct pen){0});
}

void plot_dot(struct plot *p, double x, double y)
{
    if (!isfinite(x) || !isfinite(y))
        return;
    int at_x = dot_x(p, x), at_y = dot_y(p, y);
    put_stroke(p, DOT, at_x, at_y, at_x, at_y);
}

void plot_failed(struct plot *p, double x)
{
    if (isfinite(x) && p->wide > 0 && p->down > 0)
        plot_put(p, p->row + p->down - 1, plot_col_of(p, x), PLOT_FAILED, 'x');
}

static struct plot_cell *cell_of(const struct plot *p, int row, int col)
{
    return p->cell + row * p->cols + col;
}

// The letter stands behind its line's end; behind the letters that stand there already, or before
// them at the right edge.
static int place_of_letter(const struct plot *p, const struct plot_end *e)
{
    int last = p->col + p->wide - 1;
    int first = int_min(e->col + 1, last);
    for (int col = first; col <= last; col++)
        if (!cell_of(p, e->row, col)->letter)
            return col;
    for (int col = first; col > p->col; col--)
        if (!cell_of(p, e->row, col)->letter)
            return col;
    return p->col;
}

void plot_letters(struct plot *p)
{
    for (int i = 0; i < PLOT_MOST_SERIES; i++) {
        const struct plot_end *e = &p->end[i];
        if (!e->inside)
            continue;
        struct plot_cell *c = cell_of(p, e->row, place_of_letter(p, e));
        c->letter = p->letter[i];
        c->series = (uint8_t)i;
    }
}

void plot_put(struct plot *p, int row, int col, enum plot_kind kind, uint32_t glyph)
{
    if (row < 0 || col < 0 || row >= p->rows || col >= p->cols)
        return;
    struct plot_cell *c = cell_of(p, row, col);
    c->kind = (uint8_t)kind;
    c->glyph = (uint16_t)glyph;
}

// --- reading ---

static uint32_t dots_glyph(enum charset charset, uint8_t dots)
{
    return charset == CHARSET_BRAILLE ? 0x2800u + dots : blocks[dots & 15];
}

struct plot_glyph plot_at(const struct plot *p, int row, int col)
{
    if (row < 0 || col < 0 || row >= p->rows || col >= p->cols)
        return (struct plot_glyph){' ', PLOT_EMPTY};
    const struct plot_cell *c = cell_of(p, row, col);
    bool ascii = p->charset == CHARSET_ASCII;
    int series = PLOT_SERIES + c->series;
    if (c->letter)
        return (struct plot_glyph){(unsigned char)c->letter, series};
    if (c->line && ascii)
        return (struct plot_glyph){(unsigned char)p->letter[c->series], series};
    if (c->line)
        return (struct plot_glyph){dots_glyph(p->charset, c->line), series};
    if (c->band)
        return (struct plot_glyph){ascii ? ':' : dots_glyph(p->charset, c->band), PLOT_BAND};
    if (c->dot && !c->kind)
        return (struct plot_glyph){ascii ? '.' : dots_glyph(p->charset, c->dot), PLOT_DOT};
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

static void add_glyph(struct str *out, uint32_t g)
{
    if (g < 0x80) {
        str_add_char(out, (char)g);
        return;
    }
    str_add_char(out, (char)(0xe0 | g >> 12)); // all others are above 0x7ff
    str_add_char(out, (char)(0x80 | (g >> 6 & 0x3f)));
    str_add_char(out, (char)(0x80 | (g & 0x3f)));
}

void plot_add_text(const struct plot *p, struct str *out)
{
    for (int row = 0; row < p->rows; row++) {
        int end = p->cols;
        while (end > 0 && plot_at(p, row, end - 1).glyph == ' ')
            end--;
        for (int col = 0; col < end; col++)
            add_glyph(out, plot_at(p, row, col).glyph);
        str_add_char(out, '\n');
    }
}
