#include "base/json.h"

#include "base/mem.h"

#include <assert.h>
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

// cJSON returns NULL where memory runs out: mem_alloc ends the program then.
static cJSON *made(cJSON *item)
{
    return item ? item : mem_alloc(SIZE_MAX);
}

// --- values as text ---

// Prints and frees `item`, spaced: with a blank behind each colon and comma that is not within a
// string. A terminal must not see the byte 127, which cJSON does not escape.
static void print(struct str *out, bool is_spaced, cJSON *item)
{
    char *json = cJSON_PrintUnformatted(made(item));
    cJSON_Delete(item);
    if (!json)
        mem_alloc(SIZE_MAX);
    bool is_string = false;
    for (const char *p = json; *p; p++) {
        if (*p == 0x7f)
            str_add(out, "\\u007f");
        else
            str_add_char(out, *p);
        if (is_string && *p == '\\')
            str_add_char(out, *++p);
        else if (*p == '"')
            is_string = !is_string;
        else if (is_spaced && !is_string && (*p == ':' || *p == ','))
            str_add_char(out, ' ');
    }
    cJSON_free(json);
}

static cJSON *string_of(const char *text)
{
    struct str valid = {0};
    str_add_valid(&valid, text);
    cJSON *item = cJSON_CreateString(str_text(&valid));
    str_finish(&valid);
    return item;
}

void json_add_string(struct str *out, const char *text)
{
    print(out, false, string_of(text));
}

// --- what is open ---

// Returns true where a line was broken.
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
    if (w->built_depth > 0)
        return;
    w->has_line = true;
    w->indent = indent;
}

// Writes the comma, the line and the name ahead of a value.
static void begin_value(struct json_writer *w, const char *name)
{
    if (w->is_lined && w->depth == 1)
        json_begin_line(w, 2);
    str_add(w->out, w->has_more ? "," : "");
    if (!break_line(w) && w->has_more && w->is_spaced)
        str_add_char(w->out, ' ');
    w->has_more = true;
    if (!name)
        return;
    json_add_string(w->out, name);
    str_add(w->out, w->is_spaced ? ": " : ":");
}

static void add_to_built(struct json_writer *w, const char *name, cJSON *item)
{
    cJSON *parent = w->built[w->built_depth - 1];
    if (cJSON_IsArray(parent)) {
        cJSON_AddItemToArray(parent, made(item));
        return;
    }
    struct str valid = {0};
    str_add_valid(&valid, name);
    cJSON_AddItemToObject(parent, str_text(&valid), made(item));
    str_finish(&valid);
}

// Takes what others have added to `out` since json_add_name as the value of that member.
static void take_raw(struct json_writer *w)
{
    if (!w->has_raw)
        return;
    w->has_raw = false;
    add_to_built(w, w->raw_name, cJSON_CreateRaw(str_text(w->out) + w->raw_from));
    str_cut(w->out, w->raw_from);
}

void json_add_name(struct json_writer *w, const char *name)
{
    take_raw(w);
    if (w->built_depth == 0) {
        begin_value(w, name);
        return;
    }
    w->has_raw = true;
    w->raw_name = name;
    w->raw_from = w->out->length;
}

// Takes `item`.
static void add(struct json_writer *w, const char *name, cJSON *item)
{
    take_raw(w);
    if (w->built_depth > 0) {
        add_to_built(w, name, item);
        return;
    }
    begin_value(w, name);
    print(w->out, w->is_spaced, item);
}

static void begin(struct json_writer *w, const char *name, bool is_list)
{
    take_raw(w);
    bool is_element = w->depth > 0 && w->open[w->depth - 1] == ']';
    assert(w->depth + w->built_depth < JSON_DEEPEST);
    if (w->built_depth > 0 || is_element) {
        cJSON *item = made(is_list ? cJSON_CreateArray() : cJSON_CreateObject());
        if (w->built_depth > 0)
            add_to_built(w, name, item);
        w->built[w->built_depth++] = item;
        return;
    }
    begin_value(w, name);
    str_add_char(w->out, is_list ? '[' : '{');
    w->has_more = false;
    w->open[w->depth++] = is_list ? ']' : '}';
}

struct json_writer json_begin(struct str *out)
{
    struct json_writer w = {.out = out};
    json_begin_object(&w, NULL);
    return w;
}

void json_begin_object(struct json_writer *w, const char *name)
{
    begin(w, name, false);
}

void json_begin_list(struct json_writer *w, const char *name)
{
    begin(w, name, true);
}

void json_end(struct json_writer *w)
{
    take_raw(w);
    if (w->built_depth > 0) {
        if (--w->built_depth == 0) {
            begin_value(w, NULL);
            print(w->out, w->is_spaced, w->built[0]);
        }
        return;
    }
    break_line(w);
    str_add_char(w->out, w->open[--w->depth]);
    w->has_more = true;
}

void json_end_all(struct json_writer *w)
{
    while (w->depth + w->built_depth > 0)
        json_end(w);
}

void json_print(struct json_writer *w)
{
    json_end_all(w);
    str_add_char(w->out, '\n');
    fwrite(str_text(w->out), 1, w->out->length, stdout);
    str_finish(w->out);
}

// --- values ---

void json_add_raw(struct json_writer *w, const char *name, const char *json)
{
    add(w, name, json && *json ? cJSON_CreateRaw(json) : cJSON_CreateNull());
}

void json_add_null(struct json_writer *w, const char *name)
{
    add(w, name, cJSON_CreateNull());
}

void json_add_flag(struct json_writer *w, const char *name, bool value)
{
    add(w, name, cJSON_CreateBool(value));
}

void json_add_text(struct json_writer *w, const char *name, const char *text)
{
    add(w, name, text ? string_of(text) : cJSON_CreateNull());
}

void json_add_text_if_any(struct json_writer *w, const char *name, const char *text)
{
    json_add_text(w, name, text && *text ? text : NULL);
}

void json_add_real(struct json_writer *w, const char *name, double value)
{
    struct str digits = {0};
    if (isfinite(value))
        str_add_real(&digits, value);
    json_add_raw(w, name, str_text(&digits));
    str_finish(&digits);
}

void json_add_int(struct json_writer *w, const char *name, int64_t value)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRId64, value);
    json_add_raw(w, name, digits);
}

void json_add_count(struct json_writer *w, const char *name, uint64_t value)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    json_add_raw(w, name, digits);
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
