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

// --- watched files ---

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

// Returns one number that changes when any of the files does.
static uint64_t stamp_of(const struct space_file *f)
{
    uint64_t stamp = 0;
    for (int i = 0; i < f->watched_count; i++)
        stamp = file_stamp(f->watched[i], stamp);
    return stamp;
}

// --- differences ---

static bool same_param(const struct param *a, const struct param *b)
{
    if (a->kind != b->kind || a->width != b->width || a->product != b->product ||
        a->count != b->count || !a->number != !b->number || !a->label != !b->label)
        return false;
    for (int i = 0; i < a->count; i++)
        if ((a->number && (a->number[i] < b->number[i] || a->number[i] > b->number[i])) ||
            (a->label && !str_equal(a->label[i], b->label[i])))
            return false;
    if (a->kind != PARAM_CUSTOM)
        return true;
    size_t starts = ((size_t)a->count + 1) * sizeof *a->edge_start;
    return memcmp(a->edge_start, b->edge_start, starts) == 0 &&
           memcmp(a->edge, b->edge, (size_t)a->edge_start[a->count] * sizeof *a->edge) == 0;
}

static const struct constraint *find_constraint(const struct space *s, const char *name)
{
    for (int i = 0; i < s->constraint_count; i++)
        if (str_equal(s->constraint[i].name, name))
            return &s->constraint[i];
    return NULL;
}

// Lists under one verb each: "added pad, swizzle; removed order".
struct listing {
    struct str *out;
    const char *last; // the verb of the list that is open
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

// Adds "pad: added 8, 16, removed 4" for a list of numbers or words. Returns false when it has the
// same values as before.
static bool list_values(struct listing *l, const struct param *was, const struct param *is)
{
    bool any = false;
    if ((is->kind != PARAM_DISCRETE && is->kind != PARAM_CATEGORICAL) || was->kind != is->kind)
        return false;
    for (int removed = 0; removed < 2; removed++) {
        const struct param *from = removed ? was : is, *in = removed ? is : was;
        bool first = true;
        for (int i = 0; i < from->count; i++) {
            bool stays = false;
            for (int k = 0; k < in->count && !stays; k++)
                stays = from->number
                            ? !(in->number[k] < from->number[i] || in->number[k] > from->number[i])
                            : str_equal(in->label[k], from->label[i]);
            if (stays)
                continue;
            if (!any)
                str_printf(l->out, "%s%s:", l->out->length > 0 ? "; " : "", is->name);
            str_printf(l->out, "%s%s ", any ? "," : "",
                       !first    ? ""
                       : removed ? " removed"
                                 : " added");
            if (from->number)
                str_add_real(l->out, from->number[i]);
            else
                str_add(l->out, from->label[i]);
            any = true;
            first = false;
            l->last = NULL;
        }
    }
    return any;
}

// Returns the text of that name. One that ships has its folder in its name, and its copy has not.
static const char *text_named(const struct script *s, const char *name)
{
    int count;
    const struct script_text *text = script_texts(s, &count);
    const char *copied = NULL;
    for (int i = 0; i < count; i++)
        if (str_equal(text[i].name, name))
            return text[i].text;
        else if (str_equal(path_name(text[i].name), path_name(name)))
            copied = text[i].text;
    return copied;
}

// --- reading ---

#define MOST_SETTINGS 32

static struct script *load(const struct space_file_basis *b, struct err *e)
{
    struct setting set[MOST_SETTINGS];
    struct script_options o = {
        .path = b->path, .set = set, .device_type = b->device_type, .limits = b->limits};
    // The sizes and choices that the session was given; others may change with the file.
    int count = 0;
    const struct script_setting *setting = b->script ? script_settings(b->script, &count) : NULL;
    for (int i = 0; i < count && o.set_count < MOST_SETTINGS; i++)
        if (!str_equal(setting[i].value, setting[i].standard))
            set[o.set_count++] = (struct setting){setting[i].name, setting[i].value};
    return script_create(&o, e);
}

// Writes the differences between the session's script, if there is one, and the file's.
static void describe_difference(struct space_file *f, const struct script *was_script,
                                const struct script *is_script)
{
    // Parameters and constraints before texts, of which there are always some.
    struct str out = {0};
    struct listing l = {.out = &out};
    if (was_script) {
        const struct space *was = script_space(was_script), *is = script_space(is_script);
        for (int i = 0; i < is->param_count; i++)
            if (!space_find(was, is->param[i].name))
                list(&l, "added", "%s", is->param[i].name);
        for (int i = 0; i < was->param_count; i++)
            if (!space_find(is, was->param[i].name))
                list(&l, "removed", "%s", was->param[i].name);
        for (int i = 0; i < is->param_count; i++) {
            const struct param *before = space_find(was, is->param[i].name);
            if (before && !same_param(before, &is->param[i]) &&
                !list_values(&l, before, &is->param[i]))
                list(&l, "changed", "%s", is->param[i].name);
        }
        for (int i = 0; i < is->constraint_count; i++)
            if (!find_constraint(was, is->constraint[i].name))
                list(&l, "added constraint", "'%s'", is->constraint[i].name);
        for (int i = 0; i < was->constraint_count; i++)
            if (!find_constraint(is, was->constraint[i].name))
                list(&l, "removed constraint", "'%s'", was->constraint[i].name);
        int count;
        const struct script_text *text = script_texts(is_script, &count);
        // A change of declarations was told already, by value.
        bool told = out.length > 0;
        for (int i = 0; i < count; i++) {
            if (str_equal(text_named(was_script, text[i].name), text[i].text))
                continue;
            if (!f->text[0])
                snprintf(f->text, sizeof f->text, "%s", text[i].path);
            if (i > 0 || !told)
                list(&l, "changed text of", "%s", text[i].name);
        }
        text = script_texts(was_script, &count);
        for (int i = 0; i < count; i++)
            if (!text_named(is_script, text[i].name))
                list(&l, "no longer reads", "%s", text[i].name);
    } else {
        str_add(&out, "the session's own texts do not load any more");
    }
    snprintf(f->difference, sizeof f->difference, "%s", str_text(&out));
    str_finish(&out);
}

// Evaluates the rules, and counts the legal points. False: a rule fails.
static bool try_rules(struct space_file *f, const struct space *s, const struct limits *l,
                      struct err *e)
{
    struct legal *legal;
    struct str count = {0};
    f->legal[0] = '\0';
    if (!attempt_rules(s, l, &legal, e))
        return false;
    legal_add_count(legal, &count);
    if (legal_is_built(legal))
        snprintf(f->legal, sizeof f->legal, "%s", str_text(&count));
    str_finish(&count);
    legal_destroy(legal);
    return true;
}

void space_file_read(struct space_file *f, const struct space_file_basis *b)
{
    struct stat st;
    struct err e;
    script_destroy(f->fresh);
    f->fresh = NULL;
    f->error = (struct err){.line = 0};
    f->text[0] = '\0';
    forget_watched(f);
    watch(f, b->path);
    watch_texts(f, b->script);
    uint64_t before = stamp_of(f); // taken before it is read
    int known = f->watched_count;
    bool there = stat(b->path, &st) == 0;
    f->changed = there ? (double)st.st_mtim.tv_sec : 0;
    f->state = there ? SPACE_FILE_BROKEN : SPACE_FILE_GONE;
    struct script *s = there ? load(b, &f->error) : NULL;
    if (s) {
        watch_texts(f, s);
        describe_difference(f, b->script, s);
        f->state = f->difference[0] ? SPACE_FILE_NEW : SPACE_FILE_SAME;
        // A new version has to work as well.
        if (f->state == SPACE_FILE_NEW &&
            (!try_rules(f, script_space(s), b->limits, &e) ||
             attempt_candidate(s, b->limits, 1, NULL, TRY_SECONDS, &e) == ATTEMPT_FAILED)) {
            f->state = SPACE_FILE_BROKEN;
            f->error = e;
            script_destroy(s);
        } else {
            snprintf(f->size, sizeof f->size, "%s", script_space(s)->size_text);
            f->fresh = s;
        }
    } else if (there && file_is_regular(b->path)) {
        // The user has no right to it, or its folder is not in the sandbox.
        FILE *file = fopen(b->path, "r");
        if (!file && errno == EACCES)
            f->state = SPACE_FILE_CLOSED;
        if (file)
            fclose(file);
    }
    if (!f->fresh) {
        char *text;
        memset(f->around, 0, sizeof f->around);
        if (f->error.line != 0 && file_read(f->error.file, &text, NULL, NULL)) {
            int first = f->error.line - SPACE_FILE_AROUND, number = 1;
            for (const char *line = text; line; number++) {
                int keep = number - first;
                if (keep >= 0 && keep <= 2 * SPACE_FILE_AROUND)
                    snprintf(f->around[keep], sizeof f->around[keep], "%.*s",
                             (int)strcspn(line, "\r\n"), line);
                line = strchr(line, '\n');
                line = line ? line + 1 : NULL;
            }
            free(text);
        }
    }
    if (!s && f->error.file[0])
        watch(f, f->error.file);
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

// --- questions about it ---

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

const char *space_file_changed(const struct space_file *f, const struct space_file_basis *b)
{
    const char *path = f->state == SPACE_FILE_BROKEN ? f->error.file
                       : f->state == SPACE_FILE_NEW  ? f->text
                                                     : "";
    return path[0] ? path : b->path;
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
