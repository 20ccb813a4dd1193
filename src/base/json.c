#include "base/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

// Whether there was one to break.
static bool break_line(struct json_writer *w)
{
    if (w->has_line)
        str_printf(w->out, "\n%*s", w->indent, "");
    bool broken = w->has_line;
    w->has_line = false;
    return broken;
}

void json_begin_line(struct json_writer *w, int indent)
{
    w->has_line = true;
    w->indent = indent;
}

void json_add_name(struct json_writer *w, const char *name)
{
    str_add(w->out, w->has_more ? "," : "");
    if (!break_line(w) && w->has_more && w->is_spaced)
        str_add_char(w->out, ' ');
    w->has_more = true;
    if (!name)
        return;
    str_add_json(w->out, name);
    str_add(w->out, w->is_spaced ? ": " : ":");
}

static void begin(struct json_writer *w, const char *name, char bracket, char closing)
{
    json_add_name(w, name);
    str_add_char(w->out, bracket);
    w->has_more = false;
    assert(w->depth < JSON_DEEPEST);
    w->open[w->depth++] = closing;
}

struct json_writer json_begin(struct str *out)
{
    struct json_writer w = {.out = out};
    json_begin_object(&w, NULL);
    return w;
}

void json_begin_object(struct json_writer *w, const char *name)
{
    begin(w, name, '{', '}');
}

void json_begin_list(struct json_writer *w, const char *name)
{
    begin(w, name, '[', ']');
}

void json_end(struct json_writer *w)
{
    break_line(w);
    str_add_char(w->out, w->open[--w->depth]);
    w->has_more = true;
}

void json_end_all(struct json_writer *w)
{
    while (w->depth > 0)
        json_end(w);
}

void json_add_raw(struct json_writer *w, const char *name, const char *json)
{
    json_add_name(w, name);
    str_add(w->out, json && *json ? json : "null");
}

void json_add_null(struct json_writer *w, const char *name)
{
    json_add_raw(w, name, NULL);
}

void json_add_flag(struct json_writer *w, const char *name, bool value)
{
    json_add_raw(w, name, value ? "true" : "false");
}

void json_add_text(struct json_writer *w, const char *name, const char *text)
{
    json_add_name(w, name);
    if (text)
        str_add_json(w->out, text);
    else
        str_add(w->out, "null");
}

void json_add_text_if_any(struct json_writer *w, const char *name, const char *text)
{
    json_add_text(w, name, text && *text ? text : NULL);
}

void json_add_real(struct json_writer *w, const char *name, double value)
{
    json_add_name(w, name);
    if (isfinite(value))
        str_add_real(w->out, value);
    else
        str_add(w->out, "null");
}

void json_add_int(struct json_writer *w, const char *name, int64_t value)
{
    json_add_name(w, name);
    str_printf(w->out, "%" PRId64, value);
}

void json_add_count(struct json_writer *w, const char *name, uint64_t value)
{
    json_add_name(w, name);
    str_printf(w->out, "%" PRIu64, value);
}

void json_add_texts(struct json_writer *w, const char *name, const char *const *text)
{
    json_begin_list(w, name);
    for (; text && *text; text++)
        json_add_text(w, NULL, *text);
    json_end(w);
}

void json_add_reals(struct json_writer *w, const char *name, int64_t count, const double *value)
{
    json_begin_list(w, name);
    for (int64_t i = 0; i < count; i++)
        json_add_real(w, NULL, value[i]);
    json_end(w);
}

void json_add_axes(struct json_writer *w, const char *name, const uint32_t value[3])
{
    json_begin_list(w, name);
    for (int i = 0; i < 3; i++)
        json_add_count(w, NULL, value[i]);
    json_end(w);
}

void json_print(struct json_writer *w)
{
    json_end_all(w);
    str_add_char(w->out, '\n');
    fwrite(str_text(w->out), 1, w->out->length, stdout);
    str_finish(w->out);
}
