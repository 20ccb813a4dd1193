#include "script/template.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static void add_piece(struct glsl_template *t, const char *text, size_t length, bool is_expression)
{
    if (length == 0 && !is_expression)
        return;
    MEM_GROW(t->piece, t->pieces, t->piece_capacity);
    t->piece[t->pieces++] =
        (struct template_piece){.text = text, .length = length, .is_expression = is_expression};
    t->line[t->lines - 1].count++;
    t->line[t->lines - 1].expressions += is_expression;
}

// Returns the brace that closes an expression which begins at `p`, or NULL. Braces nest; those in
// strings do not count.
static const char *closing_brace(const char *p, const char *end)
{
    int depth = 0;
    while (p < end) {
        if (*p == '"' || *p == '\'') {
            char quote = *p++;
            while (p < end && *p != quote)
                p += *p == '\\' && p + 1 < end ? 2 : 1;
            p = p < end ? p + 1 : end; // the string may never be closed
            continue;
        }
        if (*p == '}' && depth-- == 0)
            return p;
        depth += *p == '{';
        p++;
    }
    return NULL;
}

// Parses a line of text. `next` is where the following line begins: the text includes the line's
// end.
static bool parse_text(struct glsl_template *t, const char *path, const char *p, const char *end,
                       const char *next, struct err *e)
{
    for (const char *open = p; open + 1 < end; open++) {
        if (open[0] != '$' || open[1] != '{')
            continue;
        const char *expression = open + 2, *close = closing_brace(expression, end);
        if (!close)
            return err_at(e, path, t->lines, "'${' is not closed on its line");
        if (expression + strspn(expression, " \t\r\n") == close)
            return err_at(e, path, t->lines, "'${}' holds no expression");
        add_piece(t, p, (size_t)(open - p), false);
        add_piece(t, expression, (size_t)(close - expression), true);
        open = close;
        p = close + 1;
    }
    add_piece(t, p, (size_t)(next - p), false);
    if (t->line[t->lines - 1].expressions > TEMPLATE_MAX_EXPRESSIONS)
        return err_at(e, path, t->lines, "more than %d expressions in one line",
                      TEMPLATE_MAX_EXPRESSIONS);
    return true;
}

bool template_parse(struct glsl_template *t, const char *path, const char *source, struct err *e)
{
    *t = (struct glsl_template){0};
    for (const char *p = source; *p;) {
        const char *end = p + strcspn(p, "\n"), *next = *end ? end + 1 : end;
        const char *first = p + strspn(p, " \t");
        bool is_marked = first < end && *first == '%';
        bool is_escaped =
            is_marked && first + 1 < end && first[1] == '%'; // "%%" is a "%" of the GLSL
        MEM_GROW(t->line, t->lines, t->line_capacity);
        t->line[t->lines++] = (struct template_line){.first = t->pieces};
        t->line[t->lines - 1].is_code = is_marked && !is_escaped;
        if (is_escaped)
            add_piece(t, p, (size_t)(first - p), false);
        if (is_marked && !is_escaped) {
            add_piece(t, first + 1, (size_t)(end - first - 1), false);
        } else if (!parse_text(t, path, is_escaped ? first + 1 : p, end, next, e)) {
            template_finish(t);
            return false;
        }
        p = next;
    }
    return true;
}

void template_add_lua(const struct glsl_template *t, struct str *out)
{
    str_add(out, "local _emit_ = ... ");
    for (int i = 0; i < t->lines; i++) {
        const struct template_line *l = &t->line[i];
        const struct template_piece *piece = &t->piece[l->first];
        if (!l->is_code)
            str_printf(out, "_emit_(%d", i + 1);
        for (int k = 0; k < l->count; k++)
            if (l->is_code || piece[k].is_expression) {
                str_add(out, l->is_code ? " " : ",(");
                str_add_bytes(out, piece[k].text, piece[k].length);
                str_add(out, l->is_code ? "" : ")");
            }
        str_add(out, l->is_code ? "\n" : ")\n");
    }
}

void template_finish(struct glsl_template *t)
{
    free(t->piece);
    free(t->line);
    *t = (struct glsl_template){0};
}
