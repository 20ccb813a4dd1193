#include "screen.h"

#include "base/mem.h"
#include "base/number.h"
#include "base/shown.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

int wrap_row(const char *text, int cols, const char **next)
{
    int at = 0, blank = 0, colon = 0, used = 0; // colon: the byte behind it
    while (text[at] && text[at] != '\n') {
        char glyph[5] = {text[at]};
        int n = 1;
        for (; n < 4 && (text[at + n] & 0xc0) == 0x80; n++)
            glyph[n] = text[at + n];
        used += text_columns(glyph);
        if (used > cols && at > 0)
            break;
        if (text[at] == ' ')
            blank = at;
        at += n;
        if (glyph[0] == ':')
            colon = at;
    }
    bool inside_word = text[at] && text[at] != '\n' && text[at] != ' ';
    if (inside_word && blank > 0)
        at = blank;
    else if (inside_word && colon > at / 2)
        at = colon;
    *next = text + at + (text[at] == ' ' || text[at] == '\n');
    return at;
}

int wrap_rows(const char *text, int cols)
{
    int rows = 0;
    for (; *text; rows++)
        wrap_row(text, cols, &text);
    return rows;
}

int pane_wrapped(const struct pane *p, int row, int col, int cols, enum style style,
                 const char *text)
{
    while (*text) {
        const char *line = text;
        int bytes = wrap_row(line, cols, &text);
        char *part = mem_printf("%.*s", bytes, line); // pane_printf has a bound
        pane_text(p, row++, col, style, part);
        free(part);
    }
    return row;
}

// --- the frame ---

void screen_resize(struct screen *s, int rows, int cols)
{
    s->rows = rows > 0 ? rows : 1;
    s->cols = cols > 0 ? cols : 1;
    free(s->cell);
    s->cell = mem_zero((size_t)s->rows * (size_t)s->cols, sizeof *s->cell);
    screen_clear(s);
}

void screen_clear(struct screen *s)
{
    for (int i = 0; i < s->rows * s->cols; i++)
        s->cell[i] = (struct cell){.glyph = ' ', .style = STYLE_TEXT};
    s->cursor_row = s->cursor_col = -1;
}

void screen_finish(struct screen *s)
{
    free(s->cell);
    *s = (struct screen){0};
}

void screen_add_text(const struct screen *s, struct str *out)
{
    for (int row = 0; row < s->rows; row++) {
        const struct cell *c = s->cell + row * s->cols;
        int end = s->cols;
        while (end > 0 && c[end - 1].glyph == ' ')
            end--;
        for (int col = 0; col < end; col++)
            if (c[col].glyph)
                str_add_glyph(out, c[col].glyph);
        str_add_char(out, '\n');
    }
}

// --- panes ---

struct pane screen_whole(struct screen *s)
{
    return (struct pane){s, 0, 0, s->rows, s->cols};
}

struct pane pane_part(const struct pane *p, int row, int col, int rows, int cols)
{
    int top = int_clamp(row, 0, p->rows), left = int_clamp(col, 0, p->cols);
    int bottom = int_clamp(row + rows, top, p->rows), right = int_clamp(col + cols, left, p->cols);
    return (struct pane){p->screen, p->row + top, p->col + left, bottom - top, right - left};
}

static bool inside(const struct pane *p, int row, int col)
{
    return row >= 0 && row < p->rows && col >= 0 && col < p->cols;
}

static struct cell *cell_at(const struct pane *p, int row, int col)
{
    return &p->screen->cell[(p->row + row) * p->screen->cols + p->col + col];
}

static void set_cell(const struct pane *p, int row, int col, enum style style, uint32_t glyph)
{
    if (!inside(p, row, col))
        return;
    // Half of a wide glyph alone cannot be drawn: what overwrites one half blanks the other.
    int first = (p->row + row) * p->screen->cols, at = p->col + col;
    struct cell *line = p->screen->cell + first;
    if (line[at].glyph == 0 && at > 0)
        line[at - 1].glyph = ' ';
    if (at + 1 < p->screen->cols && line[at + 1].glyph == 0)
        line[at + 1].glyph = ' ';
    *cell_at(p, row, col) = (struct cell){.glyph = glyph, .style = (uint16_t)style};
}

// --- glyphs that ASCII lacks ---

static const struct {
    uint32_t glyph;
    char ascii[4];
} stand_ins[] = {
    {0xb1, "+-"},  {0xd7, "x"},   {0xb7, "."},   {0xb0, " "},    {0xb5, "u"},    {0xb2, "^2"},
    {0x2026, "~"}, {0x2013, "-"}, {0x2014, "-"}, {0x2190, "<"},  {0x2191, "^"},  {0x2192, ">"},
    {0x2193, "v"}, {0x25b2, "^"}, {0x25bc, "v"}, {0x2264, "<="}, {0x2265, ">="}, {0x2260, "!="},
    {0x2500, "-"}, {0x2502, "|"}, {0x250c, "+"}, {0x2510, "+"},  {0x2514, "+"},  {0x2518, "+"},
    {0x251c, "+"}, {0x2524, "+"}, {0x252c, "+"}, {0x2534, "+"},  {0x253c, "+"},  {0x2591, "."},
    {0x2592, "="}, {0x2593, "%"}, {0x2588, "#"}, {0x25cf, "*"},  {0x25cb, "o"},  {0x2022, "*"},
    {0x2713, "*"},
};

int pane_glyph(const struct pane *p, int row, int col, enum style style, uint32_t glyph)
{
    if (glyph >= ' ' && glyph < 0x7f) { // most are, and need none of the rest
        set_cell(p, row, col, style, glyph);
        return 1;
    }
    if (!shown_is_plain(glyph))
        glyph = '?';
    if (glyph >= 0x80 && p->screen->charset == CHARSET_ASCII) {
        const char *ascii = "?";
        if (glyph >= 0x2581 && glyph <= 0x258f) // parts of blocks
            ascii = glyph < 0x258c ? "#" : "";
        for (size_t i = 0; i < sizeof stand_ins / sizeof *stand_ins; i++)
            if (stand_ins[i].glyph == glyph)
                ascii = stand_ins[i].ascii;
        int n = 0;
        for (; *ascii; ascii++)
            set_cell(p, row, col + n++, style, (unsigned char)*ascii);
        return n;
    }
    int width = wcwidth((wchar_t)glyph);
    if (width == 0) // it would combine with the one before it
        return 0;
    if (width == 2 && inside(p, row, col) && !inside(p, row, col + 1))
        glyph = ' ';
    set_cell(p, row, col, style, width < 0 ? '?' : glyph);
    if (width == 2)
        set_cell(p, row, col + 1, style, 0);
    if (width == 2 && inside(p, row, col) && inside(p, row, col + 1))
        *cell_at(p, row, col) = (struct cell){.glyph = glyph, .style = (uint16_t)style};
    return width < 0 ? 1 : width;
}

// --- text ---

int pane_text(const struct pane *p, int row, int col, enum style style, const char *text)
{
    while (*text)
        col += pane_glyph(p, row, col, style,
                          *text >= ' ' && *text < 0x7f ? (unsigned char)*text++
                                                       : str_next_glyph(&text));
    return col;
}

int pane_printf(const struct pane *p, int row, int col, enum style style, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return pane_text(p, row, col, style, text);
}

// Returns the columns of a text as it is drawn with this charset.
static int columns_on(enum charset charset, const char *text)
{
    struct screen nowhere = {.charset = charset};
    const struct pane empty = {.screen = &nowhere};
    return pane_text(&empty, 0, 0, STYLE_TEXT, text);
}

int text_columns(const char *text)
{
    return columns_on(CHARSET_BRAILLE, text);
}

int pane_text_cut(const struct pane *p, int row, int col, int cols, enum style style,
                  const char *text)
{
    if (cols <= 0)
        return col;
    if (columns_on(p->screen->charset, text) <= cols)
        return pane_text(p, row, col, style, text);
    struct pane room = pane_part(p, row, col, 1, cols);
    if (row < 0 || col < 0)
        return col + cols;
    pane_text(&room, 0, 0, style, text);
    if (room.cols == cols)
        pane_glyph(&room, 0, cols - 1, style, 0x2026);
    return col + cols;
}

int pane_line(const struct pane *p, int row, int col, enum style style, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return pane_text_cut(p, row, col, p->cols - col, style, text);
}

void lines_add(struct lines *l, enum style style, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pane_line(l->p, l->row++, l->col, style, "%s", text);
}

void pane_text_right(const struct pane *p, int row, int end, enum style style, const char *text)
{
    pane_text(p, row, end - columns_on(p->screen->charset, text), style, text);
}

void pane_fill(const struct pane *p, enum style style, uint32_t glyph)
{
    for (int row = 0; row < p->rows; row++)
        for (int col = 0; col < p->cols; col++)
            pane_glyph(p, row, col, style, glyph);
}

void pane_mark(const struct pane *p, int row, int col, int cols)
{
    for (int i = col; i < col + cols; i++)
        if (inside(p, row, i))
            cell_at(p, row, i)->marked = true;
}

void pane_cursor(const struct pane *p, int row, int col)
{
    if (!inside(p, row, col))
        return;
    p->screen->cursor_row = p->row + row;
    p->screen->cursor_col = p->col + col;
}

// --- frames and pictures ---

struct pane pane_box(const struct pane *p, const char *title, const char *note, bool focused)
{
    if (p->rows < 3 || p->cols < 4)
        return *p;
    enum style style = focused ? STYLE_FOCUS : STYLE_FRAME;
    int bottom = p->rows - 1, right = p->cols - 1;
    for (int col = 1; col < right; col++) {
        pane_glyph(p, 0, col, style, 0x2500);
        pane_glyph(p, bottom, col, style, 0x2500);
    }
    for (int row = 1; row < bottom; row++) {
        pane_glyph(p, row, 0, style, 0x2502);
        pane_glyph(p, row, right, style, 0x2502);
    }
    pane_glyph(p, 0, 0, style, 0x250c);
    pane_glyph(p, 0, right, style, 0x2510);
    pane_glyph(p, bottom, 0, style, 0x2514);
    pane_glyph(p, bottom, right, style, 0x2518);
    int room = p->cols - 4;
    struct pane edge = pane_part(p, 0, 2, 1, room);
    int end = 0;
    if (title && *title) {
        end = pane_text(&edge, 0, 0, STYLE_FRAME, " ");
        end = pane_text_cut(&edge, 0, end, room - 2, focused ? STYLE_FOCUS : STYLE_TITLE, title);
        end = pane_text(&edge, 0, end, STYLE_FRAME, " ");
    }
    int width = note && *note ? columns_on(p->screen->charset, note) + 2 : 0;
    if (width && end + width < room) {
        pane_text_right(&edge, 0, room, STYLE_FRAME, " ");
        pane_text_right(&edge, 0, room - 1, STYLE_DIM, note);
        pane_text(&edge, 0, room - width, STYLE_FRAME, " ");
    }
    return pane_part(p, 1, 1, p->rows - 2, p->cols - 2);
}

void pane_select(const struct pane *p, int row, bool focused)
{
    pane_text(p, row, 0, STYLE_STRONG, ">");
    if (!focused)
        return;
    pane_mark(p, row, 0, p->cols);
    pane_cursor(p, row, 0);
}

void pane_bar(const struct pane *p, int row, int col, int cols, enum style style, double share)
{
    bool ascii = p->screen->charset == CHARSET_ASCII;
    double length = (share > 0 ? share < 1 ? share : 1 : 0) * cols;
    int whole = (int)length, eighths = (int)((length - whole) * 8);
    for (int i = 0; i < whole; i++)
        pane_glyph(p, row, col + i, style, ascii ? '#' : 0x2588);
    if (eighths && !ascii)
        pane_glyph(p, row, col + whole, style, 0x2590u - (uint32_t)eighths);
    else if (whole == 0 && share > 0)
        pane_glyph(p, row, col, style, ascii ? '|' : 0x258f);
}

static uint32_t shade_glyph(const struct pane *p, int level)
{
    static const uint32_t shade[RAMP_LEVELS] = {0x2591, 0x2591, 0x2592, 0x2592,
                                                0x2593, 0x2593, 0x2588, 0x2588};
    static const char ascii[] = ".:-=+*#@";
    return p->screen->charset == CHARSET_ASCII ? (unsigned char)ascii[level] : shade[level];
}

void pane_shade(const struct pane *p, int row, int col, int cols, int level)
{
    level = int_clamp(level, 0, RAMP_LEVELS - 1);
    for (int i = 0; i < cols; i++)
        pane_glyph(p, row, col + i, (enum style)(STYLE_RAMP + level), shade_glyph(p, level));
}

enum style paint_ordered(double fraction)
{
    int level =
        fraction > 0 ? int_clamp((int)(fraction * ORDERED_LEVELS), 0, ORDERED_LEVELS - 1) : 0;
    return (enum style)(STYLE_CELL + level);
}

enum style paint_category(int i)
{
    return (enum style)(STYLE_CELL + ORDERED_LEVELS + i % MOST_CATEGORIES);
}

// The glyph has the colour of the background where there is one.
void pane_patch(const struct pane *p, int row, int col, int cols, enum style value, double strength)
{
    int hue = (int)value - STYLE_CELL;
    int place = hue < ORDERED_LEVELS ? hue * RAMP_LEVELS / ORDERED_LEVELS
                                     : (hue - ORDERED_LEVELS) * RAMP_LEVELS / MOST_CATEGORIES;
    int step =
        strength > 0 ? int_clamp((int)(strength * PATCH_STRENGTHS), 0, PATCH_STRENGTHS - 1) : 0;
    for (int i = 0; i < cols; i++)
        pane_glyph(p, row, col + i, (enum style)(STYLE_PATCH + hue * PATCH_STRENGTHS + step),
                   shade_glyph(p, place));
}

void pane_spark(const struct pane *p, int row, int col, enum style style, const double *level,
                int count)
{
    static const char ascii[] = "_.:-=+*#";
    bool plain = p->screen->charset == CHARSET_ASCII;
    for (int i = 0; i < count; i++) {
        if (!(level[i] >= 0)) // not a number
            continue;
        int n = int_clamp((int)(level[i] * 7.999), 0, 7);
        pane_glyph(p, row, col + i, style, plain ? (unsigned char)ascii[n] : 0x2581u + (uint32_t)n);
    }
}
