#include "look.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

char *look_text(const struct screen *s)
{
    struct str out = {0};
    screen_add_text(s, &out);
    return str_take(&out);
}

enum { MARGIN = 2, UNTOUCHED = 'U' };

static void check_margin(const struct screen *s, int rows, int cols)
{
    for (int row = 0; row < s->rows; row++)
        for (int col = 0; col < s->cols; col++) {
            bool in = row >= MARGIN && row < MARGIN + rows && col >= MARGIN && col < MARGIN + cols;
            if (!in && s->cell[row * s->cols + col].glyph != UNTOUCHED)
                fail_msg("drawn outside at %d, %d (of %d x %d)", row - MARGIN, col - MARGIN, rows,
                         cols);
        }
}

static void draw_at(int rows, int cols, enum charset charset,
                    void (*draw)(void *context, const struct pane *p), void *context)
{
    struct screen s = {.charset = charset};
    screen_resize(&s, rows + 2 * MARGIN, cols + 2 * MARGIN);
    struct pane whole = screen_whole(&s);
    pane_fill(&whole, STYLE_TEXT, UNTOUCHED);
    struct pane p = pane_part(&whole, MARGIN, MARGIN, rows, cols);
    draw(context, &p);
    check_margin(&s, rows, cols);
    screen_finish(&s);
}

void look_all_sizes(enum charset charset, void (*draw)(void *context, const struct pane *p),
                    void *context)
{
    for (int rows = 1; rows <= 100; rows += rows < 12 ? 1 : rows < 40 ? 5 : 15)
        for (int cols = 1; cols <= 250; cols += cols < 40 ? 1 : cols < 130 ? 7 : 40)
            draw_at(rows, cols, charset, draw, context);
}
