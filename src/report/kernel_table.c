#include "report/kernel_table.h"

#include "base/file.h"
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

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
    struct json timing = json_member(v, "timing");
    double tflops;
    *out = (struct kernel_entry){
        .root = v,
        .length = json_length(v),
        .problem = json_member(v, "problem"),
        .identity = json_text(json_member(v, "device_identity"), &t->arena),
    };
    bool timed = json_number(json_member(timing, "ms"), &out->ms) && out->ms > 0 &&
                 json_number(json_member(timing, "tflops"), &tflops) && tflops > 0;
    bool whole = json_type(out->problem) == JSON_OBJECT && out->identity &&
                 json_type(json_member(v, "title")) == JSON_TEXT &&
                 json_type(json_member(v, "space")) == JSON_TEXT &&
                 json_type(json_member(v, "configuration")) == JSON_OBJECT;
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
    while (i < t->count && !(str_equal(t->entry[i].identity, new.identity) &&
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
