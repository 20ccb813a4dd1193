#include "widget.h"

#include "base/number.h"
#include "keys.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void table_fit(struct table *t, const struct pane *rows, const struct table_column *column,
               int count, int from)
{
    int room = rows->cols - 1 - from;
    int of_rank[TABLE_MOST] = {0};
    *t = (struct table){.pane = *rows, .column = column, .count = count};
    for (int i = 0; i < count; i++)
        of_rank[column[i].rank] = i;
    for (int rank = 0; rank < count; rank++) {
        int i = of_rank[rank], least = int_max(column[i].least, text_columns(column[i].head));
        if (rank == 0)
            least = int_clamp(least, 0, room);
        if (least > room)
            continue;
        t->slot[i].width = least;
        room -= least + TABLE_GAP;
    }
    room += TABLE_GAP; // none after the last one
    for (int rank = 0; rank < count; rank++) {
        struct table_slot *s = &t->slot[of_rank[rank]];
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

void cell_put(const struct pane *cell, bool right, enum style style, const char *text)
{
    if (right && text_columns(text) <= cell->cols)
        pane_text_right(cell, 0, cell->cols, style, text);
    else
        pane_text_cut(cell, 0, 0, cell->cols, style, text);
}

void table_put(const struct table *t, int row, int column, enum style style, const char *text)
{
    const struct table_slot *s = &t->slot[column];
    struct pane cell = pane_part(&t->pane, row, s->at, 1, s->width);
    cell_put(&cell, t->column[column].right, style, text);
}

void table_printf(const struct table *t, int row, int column, enum style style, const char *format,
                  ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    table_put(t, row, column, style, text);
}

void table_put_heads(const struct table *t, const struct pane *p, int row)
{
    struct table heads = *t;
    heads.pane = *p;
    for (int i = 0; i < t->count; i++)
        table_put(&heads, row, i, STYLE_HEAD, t->column[i].head);
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

enum { BEYOND = 1 << 30 }; // rows: more than there are

int64_t list_step(const struct list *l, enum action a)
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
    case ACT_FIRST: return -BEYOND;
    case ACT_LAST: return BEYOND;
    default: return 0;
    }
}

bool list_act(struct list *l, enum action a)
{
    int64_t by = list_step(l, a), to = l->cursor + by;
    if (l->cursor < 0 && a != ACT_FIRST && a != ACT_LAST)
        to = l->top;
    if (by && l->count > 0)
        l->cursor = int64_clamp(to, 0, l->count - 1);
    return by;
}

bool list_scroll(struct list *l, enum action a)
{
    int64_t by = list_step(l, a);
    l->cursor = -1;
    l->top = int64_clamp(l->top + by, 0, l->count - l->rows);
    return by;
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

// --- one row of pieces of text ---

void pieces_add(struct pieces *p, int importance, enum style style, const char *format, ...)
{
    if (p->count == (int)(sizeof p->piece / sizeof *p->piece))
        return;
    struct piece *piece = &p->piece[p->count++];
    va_list args;
    va_start(args, format);
    vsnprintf(piece->text, sizeof piece->text, format, args);
    va_end(args);
    piece->style = style;
    piece->importance = importance;
    p->count -= !piece->text[0];
}

static int piece_width(const struct piece *p)
{
    int width = text_columns(p->text);
    return p->most && p->most < width ? p->most : width;
}

enum { LEAST_WIDTH = 16 }; // columns of a piece that shrinks

void pieces_draw(struct pieces *p, const struct pane *pane, int row, int gap)
{
    for (;;) {
        int width = 1, least = 0; // the least important piece, the last one of equals
        for (int i = 0; i < p->count; i++) {
            width += piece_width(&p->piece[i]) + (i ? gap : 0);
            if (p->piece[i].importance >= p->piece[least].importance)
                least = i;
        }
        if (width <= pane->cols || p->count <= 1)
            break;
        struct piece *shrinks = p->shrinks ? &p->piece[p->shrinks - 1] : NULL;
        int now = shrinks ? piece_width(shrinks) : 0;
        if (now > LEAST_WIDTH && p->piece[least].importance <= shrinks->importance) {
            shrinks->most = int_max(now - (width - pane->cols), LEAST_WIDTH);
            continue;
        }
        p->count--;
        memmove(&p->piece[least], &p->piece[least + 1],
                (size_t)(p->count - least) * sizeof *p->piece);
        if (p->shrinks > least)
            p->shrinks = p->shrinks == least + 1 ? 0 : p->shrinks - 1;
    }
    int col = pane->cols > 30;
    for (int i = 0; i < p->count; i++) {
        int room = pane->cols - col, width = piece_width(&p->piece[i]);
        col = gap + pane_text_cut(pane, row, col, int_min(width, room), p->piece[i].style,
                                  p->piece[i].text);
    }
}

// --- a line that is typed ---

void line_set(struct line *l, const char *text)
{
    snprintf(l->text, sizeof l->text, "%s", text);
    l->length = l->cursor = (int)strlen(l->text);
}

// Returns the byte where the next character begins (`by` 1), or the one before (-1).
static int glyph_at(const struct line *l, int at, int by)
{
    do
        at += by;
    while (at > 0 && at < l->length && (l->text[at] & 0xc0) == 0x80);
    return int_clamp(at, 0, l->length);
}

static void cut(struct line *l, int from, int to)
{
    memmove(l->text + from, l->text + to, (size_t)(l->length - to) + 1);
    l->length -= to - from;
    l->cursor = from;
}

enum { CTRL_A = 1, CTRL_D = 4, CTRL_E = 5, CTRL_H = 8, CTRL_K = 11, CTRL_U = 21, CTRL_W = 23 };

bool line_key(struct line *l, int32_t key)
{
    switch (key) {
    case KEY_IS_LEFT: l->cursor = glyph_at(l, l->cursor, -1); return true;
    case KEY_IS_RIGHT: l->cursor = glyph_at(l, l->cursor, 1); return true;
    case KEY_IS_HOME:
    case CTRL_A: l->cursor = 0; return true;
    case KEY_IS_END:
    case CTRL_E: l->cursor = l->length; return true;
    case KEY_IS_BACKSPACE:
    case CTRL_H: cut(l, glyph_at(l, l->cursor, -1), l->cursor); return true;
    case KEY_IS_DELETE:
    case CTRL_D: cut(l, l->cursor, glyph_at(l, l->cursor, 1)); return true;
    case CTRL_K: cut(l, l->cursor, l->length); return true;
    case CTRL_U: cut(l, 0, l->cursor); return true;
    case CTRL_W: {
        int at = l->cursor;
        while (at > 0 && l->text[at - 1] == ' ')
            at--;
        while (at > 0 && l->text[at - 1] != ' ')
            at--;
        cut(l, at, l->cursor);
        return true;
    }
    default: break;
    }
    if (key < ' ' || key >= KEY_IS_UP || key == 127)
        return false;
    struct str glyph = {0};
    str_add_glyph(&glyph, (uint32_t)key);
    int n = (int)glyph.length;
    if (l->length + n < LINE_SIZE) {
        memmove(l->text + l->cursor + n, l->text + l->cursor, (size_t)(l->length - l->cursor) + 1);
        memcpy(l->text + l->cursor, glyph.text, glyph.length);
        l->length += n;
        l->cursor += n;
    }
    str_finish(&glyph);
    return true;
}

void line_draw(const struct line *l, const struct pane *p, bool active)
{
    struct line head = *l;
    head.text[l->cursor] = '\0';
    int first = 0; // byte of the first character shown
    while (text_columns(head.text + first) >= p->cols && first < l->cursor)
        first = glyph_at(l, first, 1);
    pane_text(p, 0, 0, STYLE_TEXT, l->text + first);
    if (active)
        pane_cursor(p, 0, text_columns(head.text + first));
}
