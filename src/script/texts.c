#include "script/texts.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "kernel/job.h"

#include <stdlib.h>
#include <string.h>

enum { NONE = -1, UNREADABLE = TEXTS_UNREADABLE }; // instead of an index

static int add(struct texts *t, char *name, char *path, char *text)
{
    MEM_GROW(t->item, t->count, t->capacity);
    t->item[t->count] = (struct script_text){.name = name, .path = path, .text = text};
    return t->count++;
}

// A text is small and has no NUL, which would cut it where it is stored.
char *texts_from_bytes(const char *path, char *text, size_t length, struct err *e)
{
    char *spirv = NULL;
    bool is_spirv = length >= 4 && memcmp(text, "\x03\x02\x23\x07", 4) == 0;
    const char *mark = file_byte_order_mark(text, length);
    if (length > TEXTS_MAX_BYTES) {
        err_set(e, "%s: larger than %d KiB", path, TEXTS_MAX_BYTES >> 10);
    } else if (mark) {
        err_set(e, "%s: %s", path, mark);
    } else if (is_spirv && length % 4) {
        err_set(e, "%s: SPIR-V that is cut off (it has no whole words)", path);
    } else if (is_spirv) {
        struct str out = {0};
        str_add(&out, JOB_SPIRV);
        for (size_t i = 0; i < length; i += 4)
            str_printf(&out, "%02x%02x%02x%02x%c", (uint8_t)text[i + 3], (uint8_t)text[i + 2],
                       (uint8_t)text[i + 1], (uint8_t)text[i], i % 32 == 28 ? '\n' : ' ');
        spirv = str_take(&out);
    } else if (strlen(text) != length) {
        err_set(e, "%s: not a text file (it holds a zero byte)", path);
    } else {
        return text;
    }
    free(text);
    return spirv;
}

// Reads a file below the space file's folder, a named folder or a shipped folder. Links of the
// shipped folders belong to the installation and may lead anywhere.
static char *read_named(const struct texts *t, const char *path, bool is_shipped, struct err *e)
{
    char *lua = path_shipped("lua"), *presets = path_shipped("presets"),
         *shaders = path_shipped("shaders"), *text;
    const char *folders[5 + TEXTS_MAX_NAMED] = {t->folder};
    int count = 1;
    for (int i = 0; i < t->named_count; i++)
        folders[count++] = t->named[i].path;
    const char *const shipped[] = {lua, presets, shaders};
    for (int i = 0; i < 3; i++)
        if (shipped[i])
            folders[count++] = shipped[i];
    size_t length;
    bool done =
        file_read_below(path, is_shipped ? NULL : folders, TEXTS_MAX_BYTES, &text, &length, e);
    free(lua);
    free(presets);
    free(shaders);
    if (done)
        return texts_from_bytes(path, text, length, e);
    err_prefix(e, "%s", path);
    return NULL;
}

bool texts_is_contained(const char *name)
{
    if (!*name || *name == '/')
        return false;
    for (const char *p = name; *p; p += strcspn(p, "/"), p += strspn(p, "/"))
        if (strcspn(p, "/") == 2 && p[0] == '.' && p[1] == '.')
            return false;
    return true;
}

static int load_pinned(struct texts *t, const char *name)
{
    for (int i = 0; i < t->pinned_count; i++) {
        const struct script_text *p = &t->pinned[i];
        if (strcmp(p->name, name) == 0)
            return add(t, mem_strdup(p->name), mem_strdup(p->path), mem_strdup(p->text));
    }
    return NONE;
}

// Returns the text of that name, which is read when it is new.
static int load(struct texts *t, const char *name, bool is_shipped, struct err *e)
{
    for (int i = 0; i < t->count; i++)
        if (strcmp(t->item[i].name, name) == 0)
            return i;
    if (t->pinned)
        return load_pinned(t, name);
    char *path = is_shipped ? path_shipped(name) : NULL;
    for (int i = 0; i < t->named_count && !is_shipped && !path; i++) {
        size_t length = strlen(t->named[i].name);
        if (strncmp(name, t->named[i].name, length) == 0 && name[length] == '/')
            path = path_join(t->named[i].path, name + length + 1);
    }
    if (!is_shipped && !path)
        path = path_join(t->folder, name);
    if (!path || !file_exists(path)) {
        free(path);
        return NONE;
    }
    char *text = NULL;
    if (t->count == TEXTS_MOST)
        err_set(e, "more than %d files", TEXTS_MOST);
    else
        text = read_named(t, path, is_shipped, e);
    if (text)
        return add(t, mem_strdup(name), path, text);
    free(path);
    return UNREADABLE;
}

static bool is_open(const struct texts_request *r, int text)
{
    for (int i = 0; i < r->open_count; i++)
        if (r->open[i] == text)
            return true;
    return false;
}

int texts_read(struct texts *t, const struct texts_request *r, struct err *e)
{
    if (!texts_is_contained(r->name)) {
        err_set(e, "a file is named relative to the space file's folder, without '..'");
        return NONE;
    }
    int own = load(t, r->name, false, e);
    if (own == UNREADABLE || (own >= 0 && !is_open(r, own)))
        return own;
    if (!r->shipped_folder) {
        err_set(e, "no such file in %s", t->folder ? t->folder : "the stored texts");
        return NONE;
    }
    char *shipped_name = path_join(r->shipped_folder, r->name);
    int shipped = load(t, shipped_name, true, e);
    free(shipped_name);
    if (shipped == UNREADABLE || (shipped >= 0 && !is_open(r, shipped)))
        return shipped;
    if (own >= 0 || shipped >= 0) {
        int text = own >= 0 ? own : shipped;
        struct str cycle = {0};
        int first = 0;
        while (r->open[first] != text)
            first++;
        for (int i = first; i < r->open_count; i++)
            str_printf(&cycle, "%s -> ", t->item[r->open[i]].name);
        err_set(e, "files include each other: %s%s", str_text(&cycle), t->item[text].name);
        str_finish(&cycle);
    } else if (t->pinned)
        err_set(e, "no such file among the stored texts");
    else
        err_set(e, "no such file in %s, nor in the shipped %s/", t->folder, r->shipped_folder);
    return NONE;
}

bool texts_open(struct texts *t, const char *path, const struct script_text *pinned, int count,
                struct err *e)
{
    *t = (struct texts){.pinned = pinned, .pinned_count = count};
    if (pinned) {
        if (count < 1)
            return err_set(e, "no stored texts");
        load_pinned(t, pinned[0].name);
        return true;
    }
    t->folder = path_folder(path);
    char *text;
    size_t length;
    if (!file_read(path, &text, &length, e) || !(text = texts_from_bytes(path, text, length, e)))
        return false;
    add(t, mem_strdup(path_name(path)), mem_strdup(path), text);
    return true;
}

void texts_finish(struct texts *t)
{
    for (int i = 0; i < t->count; i++) {
        free((void *)(uintptr_t)t->item[i].name);
        free((void *)(uintptr_t)t->item[i].path);
        free((void *)(uintptr_t)t->item[i].text);
    }
    free(t->item);
    free(t->folder);
    *t = (struct texts){0};
}
