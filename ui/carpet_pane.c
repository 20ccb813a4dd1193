#include "carpet_pane.h"

#include "base/number.h"
#include "text.h"

#define CURVE_ROWS  4 // the least of the curve above
#define OTHER_ROWS  3 // failures, the axis, its labels
#define LEGEND_ROWS 9 // of the curve, from which there is a legend, too
#define MOST_NAME   14
#define MOST_VALUE  10
#define LEAST_COLS  16 // of the curve
#define AGREE_COLS  3  // "7/8"

struct carpet_place carpet_place(const struct carpet *c, int rows, int cols)
{
    struct carpet_place at = {.rows = int_clamp(rows - CURVE_ROWS - OTHER_ROWS, 0, c->factors)};
    for (int i = 0; i < c->factors; i++) {
        struct str name = {0};
        factor_add_name(c->space, c->factor[i], &name);
        at.left = int_max(at.left, int_min(text_columns(str_text(&name)), MOST_NAME));
        str_finish(&name);
    }
    int value = 3;
    for (int k = 0; k < c->count; k += k + 1 < c->count ? c->count - 1 : 1)
        for (int i = 0; i < c->factors; i++) {
            struct str text = {0};
            factor_add_value(c->space, c->factor[i], &c->moment[k].value, &text);
            value = int_max(value, int_min(text_columns(str_text(&text)), MOST_VALUE));
            str_finish(&text);
        }
    at.right = 1 + value + 1 + AGREE_COLS;
    if (c->count == 0 || cols - at.left - at.right < LEAST_COLS)
        return (struct carpet_place){0};
    at.has_legend = rows - at.rows - OTHER_ROWS > LEGEND_ROWS;
    return at;
}

// Makes the difference between 8 and 7 of 8 larger than that between 3 and 2.
static double strength_of(int agree)
{
    double share = (agree - 1.0) / (CARPET_BEST - 1);
    return share * share;
}

static void draw_cells(const struct carpet *c, int factor, const struct carpet_place *at,
                       const struct pane *p, int row)
{
    for (int k = 0; k < c->count; k++) {
        const struct moment *m = &c->moment[k];
        int until = k + 1 < c->count ? at->col[k + 1] : at->end + 1;
        if (!(m->absent >> factor & 1))
            pane_patch(p, row, at->col[k], until - at->col[k],
                       factor_style(c->space, c->factor[factor], &m->value),
                       strength_of(m->agree[factor]));
    }
}

void carpet_draw(const struct carpet *c, const struct carpet_place *at, const struct pane *p)
{
    const struct moment *shown = carpet_at(c, at->number ? at->number : INT64_MAX);
    int value_end = p->cols - AGREE_COLS - 1;
    for (int row = 0; row < at->rows; row++) {
        int i = at->first + row;
        struct str text = {0};
        factor_add_name(c->space, c->factor[i], &text);
        int name = int_min(text_columns(str_text(&text)), at->left);
        pane_text_cut(p, at->row + row, at->left - name, name, STYLE_HEAD, str_text(&text));
        draw_cells(c, i, at, p, at->row + row);
        str_finish(&text);
        if (!shown)
            continue;
        bool settled = shown->agree[i] == CARPET_BEST;
        factor_add_value(c->space, c->factor[i], &shown->value, &text);
        int col = p->cols - at->right + 1;
        pane_text_cut(p, at->row + row, col, value_end - col, settled ? STYLE_STRONG : STYLE_TEXT,
                      str_text(&text));
        pane_printf(p, at->row + row, value_end + 1, settled ? STYLE_GOOD : STYLE_DIM, "%d/%d",
                    shown->agree[i], CARPET_BEST);
        str_finish(&text);
    }
    if (at->number && shown) {
        int col = at->col[shown - c->moment];
        for (int row = 0; row < at->rows; row++)
            pane_mark(p, at->row + row, col, 1);
    }
}

void carpet_draw_legend(const struct pane *p, int row, int col)
{
    col = pane_text(p, row, col, STYLE_DIM, "colour: most frequent value of the 8 best, low ");
    for (int i = 0; i < ORDERED_LEVELS; i++)
        pane_patch(p, row, col++, 1, paint_ordered((i + 0.5) / ORDERED_LEVELS), 1);
    col = pane_text(p, row, col, STYLE_DIM, " high");
    if (col + 17 <= p->cols)
        pane_text(p, row, col + 2, STYLE_DIM, "bright: 8 agree");
}
