#include "space/limits.h"

#include "base/json.h"

#include <cJSON.h>
#include <inttypes.h>
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
static bool read_whole(const cJSON *item, size_t size, void *out)
{
    double most = size == sizeof(uint64_t) ? 0x1p64 : UINT32_MAX;
    double value = cJSON_IsNumber(item) ? item->valuedouble : -1;
    if (!(value >= 0 && value <= most))
        return false;
    uint64_t whole = value < 0x1p64 ? (uint64_t)value : UINT64_MAX;
    if ((double)whole != value)
        return false;
    if (size == sizeof(uint64_t))
        *(uint64_t *)out = whole;
    else
        *(uint32_t *)out = (uint32_t)whole;
    return true;
}

static const cJSON *member(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static const char *text_of(const cJSON *item)
{
    return cJSON_IsString(item) ? item->valuestring : "";
}

// By way of the text of an older program, whose reader knows what shapes there can be.
static bool read_matrix(const cJSON *api, const cJSON *list, struct matrix_units *out)
{
    struct str text = {0};
    const cJSON *s;
    str_add(&text, text_of(cJSON_IsString(list) ? list : api));
    cJSON_ArrayForEach(s, list)
    {
        str_add_char(&text, ' ');
        for (const char *c = "mnk"; *c; c++) {
            uint32_t size = 0; // which none has
            read_whole(member(s, (char[]){*c, '\0'}), sizeof size, &size);
            str_printf(&text, "%" PRIu32 "%s", size, *c == 'k' ? "." : "x");
        }
        str_printf(&text, "%s.%s", text_of(member(s, "a")), text_of(member(s, "c")));
    }
    bool ok =
        (cJSON_IsString(list) || cJSON_IsArray(list)) && matrix_units_parse(str_text(&text), out);
    str_finish(&text);
    return ok;
}

// Of an older program each axis is a member of its own: NAME_x, NAME_y, NAME_z.
static const cJSON *axis_of(const cJSON *object, const char *name, int axis)
{
    char old[64];
    snprintf(old, sizeof old, "%s_%c", name, "xyz"[axis]);
    const cJSON *list = member(object, name);
    return list ? cJSON_GetArrayItem(list, axis) : member(object, old);
}

static bool read_axes(const cJSON *object, const char *name, uint32_t *out)
{
    const cJSON *list = member(object, name);
    bool ok = !list || (cJSON_IsArray(list) && cJSON_GetArraySize(list) == 3);
    for (int i = 0; ok && i < 3; i++)
        ok = read_whole(axis_of(object, name, i), sizeof *out, &out[i]);
    return ok;
}

static bool read_flag(const cJSON *item, bool *out)
{
    uint32_t number = 0;
    bool ok = cJSON_IsBool(item) || read_whole(item, sizeof number, &number);
    *out = cJSON_IsTrue(item) || number;
    return ok;
}

static bool read_field(const cJSON *object, const struct limits_field *f, void *out)
{
    const cJSON *item = member(object, f->name);
    switch (f->type) {
    case LIMITS_AXES: return read_axes(object, f->name, out);
    case LIMITS_FLAG: return read_flag(item, out);
    case LIMITS_MATRIX: return read_matrix(member(object, "matrix_api"), item, out);
    case LIMITS_NUMBER:
    case LIMITS_BITS: break;
    }
    return read_whole(item, f->size, out);
}

const char *limits_read_json(const cJSON *object, struct limits *out)
{
    struct limits l = limits_vulkan_minimum;
    for (int i = 0; i < LIMITS_FIELD_COUNT; i++) {
        const struct limits_field *f = &limits_fields[i];
        if (!member(object, f->name) && !axis_of(object, f->name, 0))
            l.unknown |= UINT32_C(1) << i;
        else if (!read_field(object, f, (char *)&l + f->offset))
            return f->name;
    }
    *out = l;
    return NULL;
}

bool limits_parse(const char *json, struct limits *out)
{
    cJSON *object = cJSON_ParseWithOpts(json ? json : "", NULL, true);
    bool ok = cJSON_IsObject(object) && !limits_read_json(object, out);
    cJSON_Delete(object);
    return ok;
}
