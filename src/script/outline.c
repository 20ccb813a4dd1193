// Lines first: comments go, files that are included come in, conditions are followed. What is left
// is one text of code, in which a byte says where what does not hold begins and ends.
#include "script/outline.h"

#include "base/file.h"
#include "script/outline_code.h"
#include "script/outline_condition.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_FILES = 64,
    MOST_DEPTH = 16,
    MOST_BYTES = 1 << 20,
    MOST_CONDITIONS = 64,
    MOST_NAMES = 2000
};

struct condition {
    const char *text;
    bool holds, held, around; // now; this branch or one before; all around it
};

struct reading {
    struct outline *o;
    const char *const *folder;
    int folders, depth;
    struct condition condition[MOST_CONDITIONS];
    int conditions;
    struct outline_text code;
};

int outline_find(const struct outline_names *n, const char *text)
{
    for (int i = 0; i < n->count; i++)
        if (str_equal(n->item[i].text, text))
            return i;
    return -1;
}

void outline_add(struct outline *o, struct outline_names *n, const char *text, const char *note)
{
    if (n->count == MOST_NAMES || outline_find(n, text) >= 0)
        return;
    MEM_GROW(n->item, n->count, n->capacity);
    n->item[n->count++] = (struct outline_name){arena_strdup(&o->arena, text),
                                                note ? arena_strdup(&o->arena, note) : NULL};
}

// Without comments and with lines joined that a backslash joins; as many lines remain.
static char *plain_text(const char *text)
{
    struct str out = {0};
    bool in_comment = false;
    for (const char *at = text; *at; at++) {
        if (in_comment) {
            in_comment = !(at[0] == '*' && at[1] == '/');
            at += !in_comment;
        } else if (at[0] == '/' && at[1] == '*') {
            in_comment = true;
            str_add_char(&out, ' ');
            at++;
        } else if (at[0] == '/' && at[1] == '/') {
            at += strcspn(at, "\n") - 1;
        } else if (at[0] == '\\' && (at[1] == '\n' || (at[1] == '\r' && at[2] == '\n'))) {
            at += at[1] == '\r' ? 2 : 1;
        } else if ((unsigned char)*at >= ' ' || *at == '\n') {
            str_add_char(&out, *at);
        } else {
            str_add_char(&out, ' ');
        }
    }
    return str_take(&out);
}

static bool holds(const struct reading *r)
{
    return r->conditions == 0 || r->condition[r->conditions - 1].holds;
}

static void mark(struct reading *r, bool before)
{
    if (before == holds(r))
        return;
    outline_text_mark(&r->o->arena, &r->code,
                      holds(r) ? NULL : r->condition[r->conditions - 1].text);
}

static void open_condition(struct reading *r, const char *text, bool is_true)
{
    bool around = holds(r), before = around;
    if (r->conditions == MOST_CONDITIONS)
        return;
    r->condition[r->conditions++] =
        (struct condition){arena_strdup(&r->o->arena, text), around && is_true, is_true, around};
    mark(r, before);
}

static void next_branch(struct reading *r, const char *text, bool is_true)
{
    if (!r->conditions)
        return;
    bool before = holds(r);
    struct condition *c = &r->condition[r->conditions - 1];
    bool now = c->around && !c->held && is_true;
    if (before && !now) // what did not hold until here ends another region
        outline_text_mark(&r->o->arena, &r->code, text);
    else if (now && !before)
        outline_text_mark(&r->o->arena, &r->code, NULL);
    else if (!now)
        outline_text_mark(&r->o->arena, &r->code, text);
    c->holds = now;
    c->held = c->held || is_true;
    c->text = arena_strdup(&r->o->arena, text);
}

static void close_condition(struct reading *r)
{
    if (!r->conditions)
        return;
    bool before = holds(r);
    r->conditions--;
    mark(r, before);
}

static void define(struct reading *r, const char *at)
{
    size_t length = strspn(at, OUTLINE_WORD);
    if (!length || !holds(r))
        return;
    char *name = arena_printf(&r->o->arena, "%.*s", (int)length, at);
    const char *value = at + length + strspn(at + length, " ");
    int asked = outline_find(&r->o->asked, name);
    outline_add(r->o, &r->o->defined, name, at[length] == '(' ? "" : value);
    if (asked >= 0 && *value && !r->o->asked.item[asked].note) // #ifndef X, #define X 1
        r->o->asked.item[asked].note = arena_strdup(&r->o->arena, value);
}

static void read_file(struct reading *r, const char *path, const char *text);

static void include(struct reading *r, const char *at, const char *from)
{
    const char *end = *at == '"' ? "\"" : *at == '<' ? ">" : NULL;
    struct outline *o = r->o;
    char *here = path_folder(from), *path = NULL, *text = NULL;
    if (end && holds(r) && r->depth < MOST_DEPTH && o->files.count < MOST_FILES) {
        char *name = arena_printf(&o->arena, "%.*s", (int)strcspn(at + 1, end), at + 1);
        struct err ignored; // it is told of as missing
        size_t length;
        for (int i = -1; !text && i < r->folders; i++) {
            free(path);
            path = path_join(i < 0 ? here : r->folder[i], name);
            if (!file_is_regular(path) || !file_read(path, &text, &length, &ignored))
                text = NULL;
        }
        if (!text || length > MOST_BYTES)
            outline_add(o, &o->missing, name, NULL);
        else if (outline_find(&o->files, path) < 0)
            read_file(r, path, text);
    }
    free(text);
    free(path);
    free(here);
}

// Whether `line` is "#name": the rest behind blanks.
static const char *after(const char *line, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(line, name, length) != 0 || strchr(OUTLINE_WORD, line[length] ? line[length] : ' '))
        return NULL;
    return line + length + strspn(line + length, " ");
}

static void read_directive(struct reading *r, const char *line, const char *from)
{
    struct outline *o = r->o;
    const char *rest;
    if ((rest = after(line, "ifdef")))
        open_condition(r, rest, outline_asks(o, rest));
    else if ((rest = after(line, "ifndef")))
        open_condition(r, arena_printf(&o->arena, "not %s", rest), !outline_asks(o, rest));
    else if ((rest = after(line, "if")))
        open_condition(r, rest, outline_evaluate(o, rest));
    else if ((rest = after(line, "elif")))
        next_branch(r, rest, outline_evaluate(o, rest));
    else if (after(line, "else"))
        next_branch(r,
                    arena_printf(&o->arena, "not %s",
                                 r->conditions ? r->condition[r->conditions - 1].text : ""),
                    true);
    else if (after(line, "endif"))
        close_condition(r);
    else if ((rest = after(line, "define")))
        define(r, rest);
    else if ((rest = after(line, "include")))
        include(r, rest, from);
}

static void read_file(struct reading *r, const char *path, const char *text)
{
    int conditions = r->conditions;
    char *plain = plain_text(text);
    outline_add(r->o, &r->o->files, path, NULL);
    r->depth++;
    for (char *line = plain, *next; *line; line = next) {
        size_t length = strcspn(line, "\n"), blanks = strspn(line, " ");
        next = line + length + (line[length] == '\n');
        line[length] = '\0';
        if (line[blanks] == '#')
            read_directive(r, line + blanks + 1 + strspn(line + blanks + 1, " "), path);
        else
            str_printf(&r->code.text, "%s\n", line);
        if (next > line + length)
            line[length] = '\n';
    }
    while (r->conditions > conditions)
        close_condition(r);
    r->depth--;
    free(plain);
}

void outline_read_text(struct outline *o, const char *path, const char *text,
                       const char *const *folder, int folders)
{
    struct reading r = {.o = o, .folder = folder, .folders = folders};
    *o = (struct outline){.size_id = {-1, -1, -1}};
    arena_init(&o->arena);
    read_file(&r, path, text);
    outline_read_code(o, &r.code);
    outline_text_finish(&r.code);
}

bool outline_read(struct outline *o, const char *path, const char *const *folder, int folders,
                  struct err *e)
{
    char *text;
    size_t length;
    *o = (struct outline){.size_id = {-1, -1, -1}};
    if (!file_read(path, &text, &length, e))
        return false;
    bool ok = (length <= MOST_BYTES && strlen(text) == length) ||
              err_at(e, path, 0, "no text of GLSL (adopt reads shaders of at most %d KiB)",
                     MOST_BYTES >> 10);
    if (ok)
        outline_read_text(o, path, text, folder, folders);
    free(text);
    return ok;
}

void outline_finish(struct outline *o)
{
    struct outline_names *const names[] = {&o->files,   &o->missing, &o->asked,
                                           &o->defined, &o->host,    &o->other};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        free(names[i]->item);
    free(o->constant);
    free(o->buffer);
    free(o->field);
    arena_finish(&o->arena);
    *o = (struct outline){0};
}
