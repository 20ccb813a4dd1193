#include "report/kernel_table.h"

#include "base/file.h"
#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TITLE, SPACE, DEVICE, TYPE, DRIVER, IDENTITY, TEXTS };
static const char *const text_names[TEXTS] = {"title",       "space",  "device",
                                              "device_type", "driver", "device_identity"};

void kernel_table_init(struct kernel_table *t)
{
    *t = (struct kernel_table){0};
    arena_init(&t->arena);
}

void kernel_table_finish(struct kernel_table *t)
{
    for (int i = 0; i < t->texts; i++)
        free(t->text[i]);
    free(t->text);
    free(t->entry);
    arena_finish(&t->arena);
}

static bool read_entry(struct kernel_table *t, const char *path, struct json v,
                       struct kernel_entry *out, struct err *e)
{
    struct json text[TEXTS], timing = json_member(v, "timing");
    const char *value[TEXTS];
    json_members(v, TEXTS, text_names, text);
    for (int i = 0; i < TEXTS; i++)
        value[i] = json_text(text[i], &t->arena);
    *out = (struct kernel_entry){
        .root = v,
        .length = json_length(v),
        .problem = json_member(v, "problem"),
        .configuration = json_member(v, "configuration"),
        .title = value[TITLE],
        .space = value[SPACE],
        .place = {value[DEVICE], value[TYPE], value[DRIVER], value[IDENTITY]},
    };
    bool timed = json_number(json_member(timing, "ms"), &out->ms) && out->ms > 0 &&
                 json_number(json_member(timing, "tflops"), &out->tflops) && out->tflops > 0;
    bool whole = json_type(out->problem) == JSON_OBJECT && value[TITLE] && value[IDENTITY] &&
                 value[SPACE] && json_type(out->configuration) == JSON_OBJECT;
    return (timed && whole) ||
           err_at(e, path, v.line,
                  "an entry needs title, space, problem, configuration, device_identity and timing "
                  "with ms and tflops");
}

// Parses one JSON value; takes `text` (heap).
static bool take_text(struct kernel_table *t, const char *path, char *text, size_t length,
                      struct json *root, struct err *e)
{
    struct json_source source = {.path = path, .text = text, .length = length};
    MEM_GROW(t->text, t->texts, t->text_capacity);
    t->text[t->texts++] = text;
    return json_check(&source, root, e);
}

bool kernel_table_read(struct kernel_table *t, const char *path, struct err *e)
{
    struct json root, list;
    char *text;
    size_t length;
    if (!file_read(path, &text, &length, e) || !take_text(t, path, text, length, &root, e))
        return false;
    list = json_member(root, "entries");
    if (!json_is(json_member(root, "format"), KERNEL_TABLE_FORMAT) || json_type(list) != JSON_LIST)
        return err_at(e, path, 1,
                      "not what export --as table writes (it has no \"format\": "
                      "\"" KERNEL_TABLE_FORMAT "\")");
    double version = 0;
    if (!json_number(json_member(root, "version"), &version) || version != 1)
        return err_at(e, path, 1, "version %g of the format is not known (only 1 is)", version);
    for (struct json_walk w = json_walk(list); json_next(&w);) {
        struct kernel_entry entry;
        if (!read_entry(t, path, w.value, &entry, e))
            return false;
        MEM_GROW(t->entry, t->count, t->capacity);
        t->entry[t->count++] = entry;
    }
    return true;
}

static bool same_text(struct json a, struct json b)
{
    size_t length = json_length(a);
    return length == json_length(b) && memcmp(a.at, b.at, length) == 0;
}

bool kernel_table_add(struct kernel_table *t, const char *entry, enum kernel_change *change,
                      struct err *e)
{
    struct json root;
    struct kernel_entry new;
    if (!take_text(t, "the new entry", mem_strdup(entry), strlen(entry), &root, e) ||
        !read_entry(t, "the new entry", root, &new, e))
        return false;
    int i = 0;
    while (i < t->count && !(str_equal(t->entry[i].place.identity, new.place.identity) &&
                             same_text(t->entry[i].problem, new.problem)))
        i++;
    if (i == t->count) {
        *change = KERNEL_ADDED;
        MEM_GROW(t->entry, t->count, t->capacity);
        t->entry[t->count++] = new;
    } else {
        *change = new.ms < t->entry[i].ms ? KERNEL_REPLACED : KERNEL_KEPT;
        if (*change == KERNEL_REPLACED)
            t->entry[i] = new;
    }
    return true;
}

void kernel_table_add_text(const struct kernel_table *t, struct str *out)
{
    struct json_writer w = json_begin(out);
    w.is_spaced = true;
    json_add_text(&w, "format", KERNEL_TABLE_FORMAT);
    json_add_int(&w, "version", 1);
    json_begin_list(&w, "entries");
    for (int i = 0; i < t->count; i++) {
        json_begin_line(&w, 0);
        json_add_name(&w, NULL);
        str_add_bytes(out, t->entry[i].root.at, t->entry[i].length);
    }
    json_begin_line(&w, 0);
    json_end_all(&w);
    str_add_char(out, '\n');
}

// --- the nearest entry ---

// Returns true when `a` and `b` differ in sizes at most, and no size is 0 in only one of them (a
// kernel without padding is another kernel). Then sets the distance between the sizes.
static bool are_alike(struct arena *scratch, const struct operation_kind *kind, struct json a,
                      struct json b, double *distance)
{
    double sum = 0, x, y;
    int others = 0; // members of `b` without one in `a`
    for (struct json_walk w = json_walk(b); json_next(&w);)
        others++;
    for (struct json_walk w = json_walk(a); json_next(&w); others--) {
        struct json other = json_member(b, json_text(w.key, scratch));
        if (!other.at)
            return false;
        struct json name = w.key;
        int i = 0;
        while (kind->sizes[i].name && !json_is(name, kind->sizes[i].name))
            i++;
        if (!kind->sizes[i].name) {
            if (!same_text(w.value, other))
                return false;
        } else if (same_text(w.value, other)) {
            continue;
        } else if (json_number(w.value, &x) && json_number(other, &y) && x > 0 && y > 0) {
            sum += pow(log2(y / x), 2);
        } else {
            return false;
        }
    }
    *distance = sqrt(sum);
    return others == 0;
}

static bool same_known(const char *a, const char *b)
{
    return a && str_equal(a, b);
}

static enum kernel_kinship kinship(const struct kernel_place *a, const struct kernel_place *b)
{
    if (!b || same_known(a->identity, b->identity))
        return KERNEL_SAME_DEVICE;
    if (same_known(a->device, b->device))
        return KERNEL_OTHER_DRIVER;
    size_t length = a->driver ? strcspn(a->driver, ",") : 0;
    if (length && b->driver && strcspn(b->driver, ",") == length &&
        strncmp(a->driver, b->driver, length) == 0)
        return KERNEL_SAME_VENDOR;
    return same_known(a->device_type, b->device_type) ? KERNEL_SAME_TYPE : KERNEL_OTHER_DEVICE;
}

void kernel_table_nearest(const struct kernel_table *t, const struct operation *wanted,
                          const struct kernel_place *place, struct kernel_near *out)
{
    struct str text = {0};
    struct arena scratch;
    arena_init(&scratch);
    operation_add_json(wanted, &text);
    struct json problem = {str_text(&text), 1};
    *out = (struct kernel_near){0};
    for (int i = 0; i < t->count; i++) {
        const struct kernel_entry *x = &t->entry[i];
        struct kernel_near near = {.entry = x, .kinship = kinship(&x->place, place)};
        if (!are_alike(&scratch, wanted->kind, problem, x->problem, &near.distance))
            continue;
        if (!out->entry || near.kinship < out->kinship ||
            (near.kinship == out->kinship &&
             (near.distance < out->distance ||
              (!(near.distance > out->distance) && x->tflops > out->entry->tflops))))
            *out = near;
    }
    arena_finish(&scratch);
    str_finish(&text);
}

const char *kernel_kinship_text(enum kernel_kinship k)
{
    static const char *const text[] = {"this device and driver", "this device with another driver",
                                       "another device of this vendor",
                                       "another device of this type", "a device of another kind"};
    return text[k];
}
