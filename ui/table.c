#include "table.h"

#include "base/minmax.h"

static int ranked(const struct table *t, int rank)
{
    for (int i = 0; i < t->count; i++)
        if (t->column[i].rank == rank)
            return i;
    return -1;
}

void table_fit(struct table *t, const struct table_column *column, int count, int from, int cols)
{
    int room = cols - from;
    *t = (struct table){.column = column, .count = count};
    for (int rank = 0; rank < count; rank++) {
        int i = ranked(t, rank), least = int_max(column[i].least, text_columns(column[i].head));
        if (rank == 0)
            least = int_max(0, int_min(least, room));
        if (least > room)
            continue;
        t->slot[i].width = least;
        room -= least + TABLE_GAP;
    }
    room += TABLE_GAP; // none after the last one
    for (int rank = 0; rank < count; rank++) {
        struct table_slot *s = &t->slot[ranked(t, rank)];
        int more = int_min(room, column[s - t->slot].most - s->width);
        if (s->width == 0 || more <= 0)
            continue;
        s->width += more;
        room -= more;
    }
    for (int i = 0; i < count; i++) {
        t->slot[i].at = from;
        from += t->slot[i].width ? t->slot[i].width + TABLE_GAP : 0;
    }
}

void table_put(const struct table *t, const struct pane *p, int row, int column, enum style style,
               const char *text)
{
    const struct table_slot *s = &t->slot[column];
    if (t->column[column].right && text_columns(text) <= s->width)
        pane_text_right(p, row, s->at + s->width, style, text);
    else
        pane_text_cut(p, row, s->at, s->width, style, text);
}

void table_put_heads(const struct table *t, const struct pane *p, int row)
{
    for (int i = 0; i < t->count; i++)
        table_put(t, p, row, i, STYLE_HEAD, t->column[i].head);
}

struct table_panes table_panes(const struct pane *whole)
{
    bool framed = whole->rows >= 8 && whole->cols >= 30;
    struct pane inside =
        pane_part(whole, framed, framed, whole->rows - 2 * framed, whole->cols - 2 * framed);
    bool heads = inside.rows >= 3, status = inside.rows >= 2;
    return (struct table_panes){
        .framed = framed,
        .heads = pane_part(&inside, 0, 0, heads, inside.cols),
        .rows = pane_part(&inside, heads, 0, inside.rows - heads - status, inside.cols),
        .status = pane_part(&inside, inside.rows - 1, 0, status, inside.cols),
        .first_row = framed + heads,
    };
}
