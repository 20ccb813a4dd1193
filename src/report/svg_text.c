#include "report/svg_text.h"

#include <stdbool.h>
#include <string.h>

struct word {
    const char *text;
    size_t length;
};

static struct word word_at(const char *text)
{
    return (struct word){text, strcspn(text, " \"")};
}

static bool is_same(const struct word *a, const struct word *b)
{
    return a->length > 0 && a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

// A command of a path, as cairo writes it: " L " or "\"M ".
static bool is_command(const char *p)
{
    return (p[0] == ' ' || p[0] == '"') && p[1] && strchr("MLCZ", p[1]) && p[2] == ' ';
}

static void shorten_strokes(const struct str *svg, struct str *out)
{
    struct word at[2] = {{NULL, 0}, {NULL, 0}}; // where the pen is, where that is known
    for (const char *p = str_text(svg); *p;) {
        if (!is_command(p)) {
            str_add_char(out, *p++);
            continue;
        }
        struct word to[2] = {word_at(p + 3), {NULL, 0}};
        bool goes = p[1] == 'M' || p[1] == 'L';
        if (goes)
            to[1] = word_at(to[0].text + to[0].length + 1);
        if (p[1] == 'L') {
            bool upright = is_same(&at[0], &to[0]), level = is_same(&at[1], &to[1]);
            str_add_char(out, upright ? 'V' : level ? 'H' : 'L');
            if (!upright)
                str_add_bytes(out, to[0].text, to[0].length);
            if (!upright && !level)
                str_add_char(out, ' ');
            if (upright || !level)
                str_add_bytes(out, to[1].text, to[1].length);
            p = to[1].text + to[1].length;
        } else {
            str_add_bytes(out, p + (p[0] == ' '), p[0] == ' ' ? 1 : 2);
            p += p[1] == 'Z' ? 2 : 3;
        }
        memcpy(at, to, sizeof at);
        if (!goes)
            at[0].length = at[1].length = 0;
    }
}

void svg_shorten(struct str *svg)
{
    struct str out = {0};
    size_t to = 0;
    int whole = 0, decimals = -1; // digits of the number that is being copied; -1: no point yet
    for (size_t from = 0; from < svg->length; from++) {
        char c = svg->text[from];
        bool digit = c >= '0' && c <= '9';
        if (digit && decimals >= 0 && ++decimals > (whole > 1 ? 1 : 2))
            continue;
        if (digit && decimals < 0)
            whole++;
        else if (!digit)
            decimals = c == '.' ? 0 : -1;
        if (!digit && c != '.')
            whole = 0;
        svg->text[to++] = c;
    }
    svg->text[to] = '\0';
    svg->length = to;
    shorten_strokes(svg, &out);
    str_finish(svg);
    *svg = out;
}
