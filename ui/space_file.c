#include "space_file.h"

#include "base/file.h"
#include "base/str.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LOOK_EVERY  1.0 // seconds
#define TRY_SECONDS 5   // nothing is drawn meanwhile

// --- what is watched ---

static void watch(struct space_file *f, const char *path)
{
    for (int i = 0; i < f->watched_count; i++)
        if (str_equal(f->watched[i], path))
            return;
    MEM_GROW(f->watched, f->watched_count, f->watched_capacity);
    f->watched[f->watched_count++] = mem_strdup(path);
}

static void watch_texts(struct space_file *f, const struct script *s)
{
    int count = 0;
    const struct script_text *text = s ? script_texts(s, &count) : NULL;
    for (int i = 0; i < count; i++)
        watch(f, text[i].path);
}

static void forget_watched(struct space_file *f)
{
    for (int i = 0; i < f->watched_count; i++)
        free(f->watched[i]);
    f->watched_count = 0;
}

// One number that changes when any of the files does.
static uint64_t stamp_of(const struct space_file *f)
{
    uint64_t stamp = 0;
    for (int i = 0; i < f->watched_count; i++)
        stamp = file_stamp(f->watched[i], stamp);
    return stamp;
}

// --- what differs ---

static bool same_numbers(const double *a, const double *b, int count)
{
    for (int i = 0; a && b && i < count; i++)
        if (a[i] < b[i] || a[i] > b[i])
            return false;
    return !a == !b;
}

static bool same_labels(const char *const *a, const char *const *b, int count)
{
    for (int i = 0; a && b && i < count; i++)
        if (!str_equal(a[i], b[i]))
            return false;
    return !a == !b;
}

static bool same_edges(const struct param *a, const struct param *b)
{
    if (a->kind != PARAM_CUSTOM)
        return true;
    size_t starts = ((size_t)a->count + 1) * sizeof *a->edge_start;
    return memcmp(a->edge_start, b->edge_start, starts) == 0 &&
           memcmp(a->edge, b->edge, (size_t)a->edge_start[a->count] * sizeof *a->edge) == 0;
}

static bool same_param(const struct param *a, const struct param *b)
{
    return a->kind == b->kind && a->width == b->width && a->product == b->product &&
           a->count == b->count && same_numbers(a->number, b->number, a->count) &&
           same_labels(a->label, b->label, a->count) && same_edges(a, b);
}

static const struct constraint *find_constraint(const struct space *s, const char *name)
{
    for (int i = 0; i < s->constraint_count; i++)
        if (str_equal(s->constraint[i].name, name))
            return &s->constraint[i];
    return NULL;
}

// "added pad, swizzle; removed order": a list under one verb.
struct listing {
    struct str *out;
    const char *verb, *last; // `last`: the verb of the list that is open
};

static void list(struct listing *l, const char *verb, const char *format, const char *name)
{
    bool opened = l->last == verb;
    str_add(l->out, opened ? ", " : l->out->length > 0 ? "; " : "");
    if (!opened)
        str_printf(l->out, "%s ", verb);
    str_printf(l->out, format, name);
    l->last = verb;
}

static void list_params(struct listing *l, const struct space *was, const struct space *is)
{
    for (int i = 0; i < is->param_count; i++)
        if (!space_find(was, is->param[i].name))
            list(l, "added", "%s", is->param[i].name);
    for (int i = 0; i < was->param_count; i++)
        if (!space_find(is, was->param[i].name))
            list(l, "removed", "%s", was->param[i].name);
    for (int i = 0; i < is->param_count; i++) {
        const struct param *before = space_find(was, is->param[i].name);
        if (before && !same_param(before, &is->param[i]))
            list(l, "changed", "%s", is->param[i].name);
    }
}

static const char *text_named(const struct script *s, const char *name)
{
    int count;
    const struct script_text *text = script_texts(s, &count);
    for (int i = 0; i < count; i++)
        if (str_equal(text[i].name, name))
            return text[i].text;
    return NULL;
}

// --- errors ---

static void keep_line(struct space_file *f, const char *text, int line, int keep)
{
    for (; line > 1 && text; line--) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    if (text && line == 1)
        snprintf(f->around[keep], sizeof f->around[keep], "%.*s", (int)strcspn(text, "\r\n"), text);
}

static void keep_around(struct space_file *f)
{
    char *text;
    memset(f->around, 0, sizeof f->around);
    if (f->error.line == 0 || !file_read(f->error.file, &text, NULL, NULL))
        return;
    for (int i = 0; i <= 2 * SPACE_FILE_AROUND; i++)
        keep_line(f, text, f->error.line + i - SPACE_FILE_AROUND, i);
    free(text);
}

// --- reading ---

#define MOST_SETTINGS 32

// The sizes and choices that the session was given; others are the file's to change.
static int settings_of(const struct script *s, struct setting set[MOST_SETTINGS])
{
    int all = 0, count = 0;
    const struct script_setting *setting = s ? script_settings(s, &all) : NULL;
    for (int i = 0; i < all && count < MOST_SETTINGS; i++)
        if (!str_equal(setting[i].value, setting[i].standard))
            set[count++] = (struct setting){setting[i].name, setting[i].value};
    return count;
}

static struct script *load(const struct space_file_basis *b, struct err *e)
{
    struct setting set[MOST_SETTINGS];
    struct script_options o = {
        .path = b->path,
        .set = set,
        .set_count = settings_of(b->script, set),
        .device_type = b->device_type,
        .limits = b->limits,
    };
    return script_create(&o, e);
}

// What is other than the session's has to work as well.
static void take(struct space_file *f, const struct space_file_basis *b, struct script *s)
{
    struct err e;
    watch_texts(f, s);
    // Parameters and constraints before texts, of which there are always some.
    struct str out = {0};
    struct listing l = {.out = &out};
    f->difference[0] = '\0';
    if (b->script) {
        list_params(&l, script_space(b->script), script_space(s));
        const struct space *was = script_space(b->script);
        const struct space *is = script_space(s);
        for (int i = 0; i < is->constraint_count; i++)
            if (!find_constraint(was, is->constraint[i].name))
                list(&l, "added constraint", "'%s'", is->constraint[i].name);
        for (int i = 0; i < was->constraint_count; i++)
            if (!find_constraint(is, was->constraint[i].name))
                list(&l, "removed constraint", "'%s'", was->constraint[i].name);
        int count;
        const struct script_text *text = script_texts(s, &count);
        for (int i = 0; i < count; i++)
            if (!str_equal(text_named(b->script, text[i].name), text[i].text))
                list(&l, "other text in", "%s", text[i].name);
        text = script_texts(b->script, &count);
        for (int i = 0; i < count; i++)
            if (!text_named(s, text[i].name))
                list(&l, "no longer reads", "%s", text[i].name);
    } else {
        str_add(&out, "the session's own texts do not load any more");
    }
    snprintf(f->difference, sizeof f->difference, "%s", str_text(&out));
    str_finish(&out);
    f->state = f->difference[0] ? SPACE_FILE_NEW : SPACE_FILE_SAME;
    if (f->state == SPACE_FILE_NEW &&
        attempt_candidate(s, b->limits, 1, NULL, TRY_SECONDS, &e) == ATTEMPT_FAILED) {
        f->state = SPACE_FILE_BROKEN;
        f->error = e;
        keep_around(f);
        script_destroy(s);
        return;
    }
    snprintf(f->size, sizeof f->size, "%s", script_space(s)->size_text);
    f->fresh = s;
}

// Of a file that did not load: the user has no right to it, or its folder is not in the sandbox.
static bool is_closed(const char *path)
{
    FILE *file = file_is_regular(path) ? fopen(path, "r") : NULL;
    bool closed = !file && errno == EACCES;
    if (file)
        fclose(file);
    return closed;
}

void space_file_read(struct space_file *f, const struct space_file_basis *b)
{
    struct stat st;
    script_destroy(f->fresh);
    f->fresh = NULL;
    f->error = (struct err){.line = 0};
    forget_watched(f);
    watch(f, b->path);
    watch_texts(f, b->script);
    uint64_t before = stamp_of(f); // of the time before it is read
    int known = f->watched_count;
    bool there = stat(b->path, &st) == 0;
    f->changed = there ? (double)st.st_mtim.tv_sec : 0;
    struct script *s = there ? load(b, &f->error) : NULL;
    if (s) {
        take(f, b, s);
    } else {
        f->state = !there               ? SPACE_FILE_GONE
                   : is_closed(b->path) ? SPACE_FILE_CLOSED
                                        : SPACE_FILE_BROKEN;
        keep_around(f);
        if (f->error.file[0])
            watch(f, f->error.file);
    }
    f->stamp = f->watched_count == known ? before : stamp_of(f);
}

bool space_file_poll(struct space_file *f, const struct space_file_basis *b, double now)
{
    if (f->state != SPACE_FILE_UNREAD && now - f->looked < LOOK_EVERY)
        return false;
    f->looked = now;
    if (f->state != SPACE_FILE_UNREAD && stamp_of(f) == f->stamp)
        return false;
    space_file_read(f, b);
    return true;
}

void space_file_finish(struct space_file *f)
{
    forget_watched(f);
    free(f->watched);
    script_destroy(f->fresh);
    *f = (struct space_file){.looked = 0};
}

// --- what can be done ---

const char *space_file_no_new(const struct space_file *f)
{
    switch (f->state) {
    case SPACE_FILE_NEW: return NULL;
    case SPACE_FILE_SAME: return "the file is as the session has it";
    case SPACE_FILE_BROKEN: return "the file does not load";
    case SPACE_FILE_GONE: return "the file is gone";
    case SPACE_FILE_CLOSED: return "the file is in a folder that this workbench may not read";
    case SPACE_FILE_UNREAD: break;
    }
    return "the file was not read yet";
}

int space_file_place(const struct space_file *f, const struct space_file_basis *b,
                     const struct param *p, const char **path)
{
    *path = b->path;
    if (f->state == SPACE_FILE_BROKEN && f->error.line > 0) {
        *path = f->error.file;
        return f->error.line;
    }
    const struct param *now = p && f->fresh ? space_find(script_space(f->fresh), p->name) : p;
    return now && now->line > 0 ? now->line : 1;
}
