#include "list.h"

#include "base/number.h"

#include <inttypes.h>
#include <stdio.h>

// Returns the column of a rank.
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
            least = int_clamp(least, 0, room);
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

void list_point(struct list *l, int64_t item, int64_t place)
{
    if (item && item == l->item && l->cursor >= 0 && place >= 0)
        l->top += place - l->cursor;
    l->item = item;
    l->cursor = place;
}

void list_fit(struct list *l, int64_t count, int rows)
{
    l->count = count;
    l->rows = int_max(rows, 0);
    if (l->cursor >= count)
        l->cursor = int64_max(count - 1, 0);
    if (l->cursor >= 0 && !l->is_loose)
        l->top = int64_clamp(l->top, l->cursor - l->rows + 1, l->cursor);
    l->top = int64_clamp(l->top, 0, l->count - l->rows);
}

// Returns by how many rows an action moves: more than there are for the ends, 0 for no move.
static int64_t step(const struct list *l, enum action a)
{
    switch (a) {
    case ACT_NEXT_MATCH: // a filtered list holds nothing but matches
    case ACT_DOWN: return 1;
    case ACT_PREVIOUS_MATCH:
    case ACT_UP: return -1;
    case ACT_PAGE_DOWN: return int_max(l->rows - 1, 1);
    case ACT_PAGE_UP: return -int_max(l->rows - 1, 1);
    case ACT_HALF_DOWN: return int_max(l->rows / 2, 1);
    case ACT_HALF_UP: return -int_max(l->rows / 2, 1);
    case ACT_FIRST: return -l->count;
    case ACT_LAST: return l->count;
    default: return 0;
    }
}

static bool moves(enum action a)
{
    const struct list any = {.count = 1};
    return step(&any, a) != 0;
}

bool list_act(struct list *l, enum action a)
{
    bool is_end = a == ACT_FIRST || a == ACT_LAST;
    if (!moves(a))
        return false;
    int64_t to = l->cursor >= 0 || is_end ? l->cursor + step(l, a) : l->top;
    if (l->count > 0)
        l->cursor = int64_clamp(to, 0, l->count - 1);
    return true;
}

bool list_scroll(struct list *l, enum action a)
{
    l->cursor = -1;
    l->top = int64_clamp(l->top + step(l, a), 0, l->count - l->rows);
    return moves(a);
}

bool list_shows(const struct list *l, int64_t place)
{
    return place >= l->top && place < int64_min(l->top + l->rows, l->count);
}

bool list_click(struct list *l, int row)
{
    int64_t place = l->top + row - l->first_row;
    if (!list_shows(l, place))
        return false;
    l->cursor = place;
    return true;
}

void list_note(const struct list *l, const char *what, char note[64])
{
    note[0] = '\0';
    if (l->count > l->rows)
        snprintf(note, 64, "%s %" PRId64 "-%" PRId64 " of %" PRId64, what, l->top + 1,
                 int64_min(l->top + l->rows, l->count), l->count);
}
