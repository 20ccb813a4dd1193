#include "space/limits.h"

#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

// --- writing ---

// Matrix units are two members: which, and a list of shapes.
static void add_matrix(struct json_writer *w, const struct matrix_units *u)
{
    json_add_text(w, "matrix_api", matrix_api_name(u->api));
    json_begin_list(w, "matrix");
    for (int i = 0; i < u->count; i++) {
        const struct matrix_shape *s = &u->shape[i];
        json_begin_object(w, NULL);
        json_add_int(w, "m", s->m);
        json_add_int(w, "n", s->n);
        json_add_int(w, "k", s->k);
        json_add_text(w, "a", s->input);
        json_add_text(w, "c", s->sum);
        json_end(w);
    }
    json_end(w);
}

static void add_field(struct json_writer *w, const struct limits *l, const struct limits_field *f)
{
    const void *at = (const char *)l + f->offset;
    switch (f->type) {
    case LIMITS_MATRIX: add_matrix(w, at); break;
    case LIMITS_AXES: json_add_axes(w, f->name, at); break;
    case LIMITS_FLAG: json_add_flag(w, f->name, *(const bool *)at); break;
    case LIMITS_NUMBER:
    case LIMITS_BITS: json_add_count(w, f->name, limits_number(l, f)); break;
    }
}

void limits_add_json(struct str *out, const struct limits *l)
{
    struct json_writer w = json_begin(out);
    for (int i = 0; i < LIMITS_FIELD_COUNT; i++)
        if (limits_knows(l, i))
            add_field(&w, l, &limits_fields[i]);
    json_end(&w);
}

// --- reading ---

// Nothing is written where it is not a whole number that fits.
static bool read_whole(struct json v, size_t size, void *out)
{
    double value, most = size == sizeof(uint64_t) ? 0x1p64 : UINT32_MAX;
    if (!json_number(v, &value) || value < 0 || value > most || value != floor(value))
        return false;
    uint64_t whole = value < 0x1p64 ? (uint64_t)value : UINT64_MAX;
    if (size == sizeof(uint64_t))
        *(uint64_t *)out = whole;
    else
        *(uint32_t *)out = (uint32_t)whole;
    return true;
}

// By way of the text of an older program, whose reader knows what shapes there can be.
static bool read_matrix(struct json api, struct json list, struct matrix_units *out)
{
    struct str text = {0};
    struct arena a;
    bool is_text = json_type(list) == JSON_TEXT;
    const char *word;
    arena_init(&a);
    if ((word = json_text(is_text ? list : api, &a)))
        str_add(&text, word);
    for (struct json_walk w = json_walk(list); json_next(&w);) {
        str_add_char(&text, ' ');
        for (const char *c = "mnk"; *c; c++) {
            uint32_t size = 0; // which none has
            read_whole(json_member(w.value, (char[]){*c, '\0'}), sizeof size, &size);
            str_printf(&text, "%" PRIu32 "%s", size, *c == 'k' ? "." : "x");
        }
        const char *input = json_text(json_member(w.value, "a"), &a);
        const char *sum = json_text(json_member(w.value, "c"), &a);
        str_printf(&text, "%s.%s", input ? input : "", sum ? sum : "");
    }
    bool ok = (is_text || json_type(list) == JSON_LIST) && matrix_units_parse(str_text(&text), out);
    str_finish(&text);
    arena_finish(&a);
    return ok;
}

// Of an older program each axis is a member of its own: NAME_x, NAME_y, NAME_z.
static struct json old_axis(struct json object, const char *name, int axis)
{
    char old[64];
    snprintf(old, sizeof old, "%s_%c", name, "xyz"[axis]);
    return json_member(object, old);
}

static bool read_axes(struct json object, const char *name, uint32_t *out)
{
    struct json list = json_member(object, name);
    struct json_walk w = json_walk(list);
    bool ok = !list.at || json_type(list) == JSON_LIST;
    for (int i = 0; ok && i < 3; i++) {
        ok = !list.at || json_next(&w);
        ok = ok && read_whole(list.at ? w.value : old_axis(object, name, i), sizeof *out, &out[i]);
    }
    return ok && !json_next(&w);
}

static bool read_flag(struct json v, bool *out)
{
    uint32_t number = 0;
    if (json_flag(v, out))
        return true;
    bool ok = read_whole(v, sizeof number, &number);
    *out = number;
    return ok;
}

static bool read_field(struct json object, const struct limits_field *f, void *out)
{
    struct json v = json_member(object, f->name);
    switch (f->type) {
    case LIMITS_AXES: return read_axes(object, f->name, out);
    case LIMITS_FLAG: return read_flag(v, out);
    case LIMITS_MATRIX: return read_matrix(json_member(object, "matrix_api"), v, out);
    case LIMITS_NUMBER:
    case LIMITS_BITS: break;
    }
    return read_whole(v, f->size, out);
}

const char *limits_read_json(struct json object, struct limits *out)
{
    struct limits l = limits_vulkan_minimum;
    for (int i = 0; i < LIMITS_FIELD_COUNT; i++) {
        const struct limits_field *f = &limits_fields[i];
        if (!json_member(object, f->name).at && !old_axis(object, f->name, 0).at)
            l.unknown |= UINT32_C(1) << i;
        else if (!read_field(object, f, (char *)&l + f->offset))
            return f->name;
    }
    *out = l;
    return NULL;
}

bool limits_parse(const char *json, struct limits *out)
{
    struct json root;
    json_parse(json, &root);
    return json_type(root) == JSON_OBJECT && !limits_read_json(root, out);
}
