#include "prompt.h"

#include "keys.h"

#include <stdio.h>
#include <string.h>

void line_set(struct line *l, const char *text)
{
    snprintf(l->text, sizeof l->text, "%s", text);
    l->length = l->cursor = (int)strlen(l->text);
}

static bool is_tail(char c) // of a character of several bytes
{
    return (c & 0xc0) == 0x80;
}

static int before(const struct line *l, int at)
{
    at -= at > 0;
    while (at > 0 && is_tail(l->text[at]))
        at--;
    return at;
}

static int after(const struct line *l, int at)
{
    at += at < l->length;
    while (at < l->length && is_tail(l->text[at]))
        at++;
    return at;
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
    case KEY_IS_LEFT: l->cursor = before(l, l->cursor); return true;
    case KEY_IS_RIGHT: l->cursor = after(l, l->cursor); return true;
    case KEY_IS_HOME:
    case CTRL_A: l->cursor = 0; return true;
    case KEY_IS_END:
    case CTRL_E: l->cursor = l->length; return true;
    case KEY_IS_BACKSPACE:
    case CTRL_H: cut(l, before(l, l->cursor), l->cursor); return true;
    case KEY_IS_DELETE:
    case CTRL_D: cut(l, l->cursor, after(l, l->cursor)); return true;
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
    char bytes[4];
    int n = key < 0x80 ? 1 : key < 0x800 ? 2 : key < 0x10000 ? 3 : 4;
    if (l->length + n < LINE_SIZE) {
        for (int i = n - 1; i > 0; i--, key >>= 6)
            bytes[i] = (char)(0x80 | (key & 0x3f));
        bytes[0] = (char)(n == 1 ? key : key | (0xf00 >> n & 0xff));
        memmove(l->text + l->cursor + n, l->text + l->cursor, (size_t)(l->length - l->cursor) + 1);
        memcpy(l->text + l->cursor, bytes, (size_t)n);
        l->length += n;
        l->cursor += n;
    }
    return true;
}

void line_draw(const struct line *l, const struct pane *p, bool active)
{
    struct line head = *l;
    head.text[l->cursor] = '\0';
    int first = 0; // byte of the first character shown
    while (text_columns(head.text + first) >= p->cols && first < l->cursor)
        first = after(l, first);
    pane_text(p, 0, 0, STYLE_TEXT, l->text + first);
    if (active)
        pane_cursor(p, 0, text_columns(head.text + first));
}
