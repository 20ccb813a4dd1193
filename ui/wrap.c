#include "wrap.h"

#include "base/mem.h"

#include <stdlib.h>

static bool goes_on(char c)
{
    return c && c != '\n';
}

int wrap_row(const char *text, int cols, const char **next)
{
    int at = 0, blank = 0, colon = 0, used = 0; // colon: the byte behind it
    while (goes_on(text[at])) {
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
    bool inside_word = goes_on(text[at]) && text[at] != ' ';
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
