// Templates: GLSL with embedded Lua, translated line by line into a Lua chunk.
//
//     template_parse(&t, path, source, e)    text and expressions; `source` must outlive it
//     template_add_lua(&t, &lua)             the chunk; its line n is line n of the template
//     template_finish(&t)
//
//     line of the template          line of the chunk
//     % for i = 1, n do              for i = 1, n do
//     float x${i} = ${2 * i};       _emit_(2,(i),(2 * i))
//
// The chunk has no GLSL: `_emit_`, its argument, gets the number of the line and the values, and
// finds the text in `line`. This file only handles text and does not call Lua.
#ifndef TILEWALK_SCRIPT_TEMPLATE_H
#define TILEWALK_SCRIPT_TEMPLATE_H

#include "base/err.h"
#include "base/str.h"

#define TEMPLATE_MAX_EXPRESSIONS 100 // of one line

struct template_piece {
    const char *text; // points into the source
    size_t length;
    bool is_expression;
};

struct template_line {
    bool is_code;
    int first, count; // pieces; a line of code is one piece
    int expressions;
};

struct glsl_template {
    struct template_piece *piece;
    int pieces, piece_capacity;
    struct template_line *line;
    int lines, line_capacity;
};

bool template_parse(struct glsl_template *t, const char *path, const char *source, struct err *e);
void template_add_lua(const struct glsl_template *t, struct str *out);
void template_finish(struct glsl_template *t);

#endif
