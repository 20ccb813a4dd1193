#include "layout.h"

static enum layout_kind choose_kind(int rows, int cols, bool zoomed)
{
    if (rows < LAYOUT_ONE_ROWS || cols < LAYOUT_ONE_COLS)
        return LAYOUT_BARE;
    if (zoomed || rows < LAYOUT_TABBED_ROWS || cols < LAYOUT_TABBED_COLS)
        return LAYOUT_ONE;
    if (rows < LAYOUT_FOUR_ROWS || cols < LAYOUT_FOUR_COLS)
        return LAYOUT_TABBED;
    return LAYOUT_FOUR;
}

struct layout layout_make(int rows, int cols, enum main_pane focus, enum main_pane tab, bool zoomed)
{
    struct layout l = {.kind = choose_kind(rows, cols, zoomed)};
    switch (l.kind) {
    case LAYOUT_FOUR: {
        // The population has many columns, the detail many words; a curve can be any width.
        int top = rows * 9 / 16, left = cols * 8 / 15;
        l.pane[PANE_CURVE] = (struct rect){0, 0, top, left};
        l.pane[PANE_POPULATION] = (struct rect){0, left, top, cols - left};
        l.pane[PANE_TRIALS] = (struct rect){top, 0, rows - top, left};
        l.pane[PANE_DETAIL] = (struct rect){top, left, rows - top, cols - left};
        break;
    }
    case LAYOUT_TABBED: {
        int top = rows * 9 / 20;
        l.pane[PANE_CURVE] = (struct rect){0, 0, top, cols};
        l.pane[focus == PANE_CURVE ? tab : focus] = (struct rect){top, 0, rows - top, cols};
        break;
    }
    case LAYOUT_ONE:
    case LAYOUT_BARE: l.pane[focus] = (struct rect){0, 0, rows, cols}; break;
    }
    return l;
}

bool layout_shows(const struct layout *l, enum main_pane pane)
{
    return l->pane[pane].rows > 0 && l->pane[pane].cols > 0;
}

enum main_pane layout_pane_at(const struct layout *l, int row, int col)
{
    int pane = 0;
    for (; pane < PANE_COUNT; pane++) {
        const struct rect *r = &l->pane[pane];
        if (row >= r->row && row < r->row + r->rows && col >= r->col && col < r->col + r->cols)
            break;
    }
    return (enum main_pane)pane;
}

enum main_pane layout_next(enum layout_kind kind, enum main_pane focus, bool forward)
{
    int count = kind == LAYOUT_FOUR ? PANE_LOG : PANE_COUNT;
    return (enum main_pane)(((int)focus + (forward ? 1 : count - 1)) % count);
}
