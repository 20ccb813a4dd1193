// adopt: a first space file for a shader that others wrote.
#include "base/file.h"
#include "cli/common.h"
#include "cli/confine.h"
#include "script/outline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FOLDERS = 16 };

// Where `path` lies seen from `folder`; NULL when it is not below it. Both are resolved. Heap.
static char *seen_from(const char *folder, const char *path)
{
    char *real = realpath(path, NULL), *base = realpath(folder, NULL), *seen = NULL;
    size_t length = base ? strlen(base) : 0;
    if (length == 1)
        length = 0; // "/"
    if (real && base && strncmp(real, base, length) == 0 && real[length] == '/')
        seen = mem_strdup(real + length + 1);
    else if (real && str_equal(real, base))
        seen = mem_strdup(".");
    free(real);
    free(base);
    return seen;
}

struct adoption {
    const char *path, *file; // the shader, the space file or NULL
    const char *folder[MOST_FOLDERS];
    int folders;
    char *shader, *seen[MOST_FOLDERS]; // from the space file's folder
};

// The space file names files from its own folder on.
static bool name_files(struct adoption *a, struct err *e)
{
    char *place = path_folder(a->file ? a->file : a->path);
    a->shader = seen_from(place, a->path);
    bool ok = a->shader ||
              err_at(e, a->file, 0,
                     "the space file has to lie in the folder of the shader or above it (it names "
                     "files from there)");
    for (int i = 0; ok && i < a->folders; i++) {
        a->seen[i] = seen_from(place, a->folder[i]);
        ok = a->seen[i] || err_at(e, a->folder[i], 0,
                                  "the space file has to lie in the folder of what is included or "
                                  "above it (--out)");
    }
    free(place);
    return ok;
}

static bool write_space(const struct adoption *a, const struct outline *o, struct err *e)
{
    struct str lua = {0};
    outline_add_space(o, a->shader, (const char *const *)a->seen, a->folders, &lua);
    bool ok = true;
    if (a->file)
        ok = (!file_exists(a->file) ||
              err_at(e, a->file, 0, "it is there already (--out writes elsewhere)")) &&
             file_write(a->file, str_text(&lua), lua.length, e);
    else
        fputs(str_text(&lua), stdout);
    str_finish(&lua);
    if (ok && a->file)
        printf("%s: %d constants, %d push constants, %d buffers, %d macros (look for TODO)\n",
               a->file, o->constant_count, o->field_count, o->buffer_count,
               o->asked.count + o->host.count);
    return ok;
}

static void confine(const struct adoption *a)
{
    struct sandbox s;
    confine_begin(&s);
    confine_read_space(&s, a->path);
    for (int i = 0; i < a->folders; i++)
        sandbox_allow(&s, SANDBOX_READ, a->folder[i]);
    confine_write_beside(&s, a->file);
    confine_enter(&s);
}

static bool adopt(struct adoption *a, struct err *e)
{
    struct outline o;
    if (!outline_read(&o, a->path, a->folder, a->folders, e))
        return false;
    bool ok = name_files(a, e) && write_space(a, &o, e);
    outline_finish(&o);
    free(a->shader);
    for (int i = 0; i < a->folders; i++)
        free(a->seen[i]);
    return ok;
}

static int run_adopt(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct adoption n = {.path = a->operand[0], .file = arguments_text(a, "out")};
    (void)self;
    n.folders = arguments_list(a, "include", n.folder, MOST_FOLDERS);
    confine(&n);
    return adopt(&n, &e) ? EXIT_OK : fail_with(&e, EXIT_FAILED);
}

static const struct option options[] = {
    {"include", OPTION_TEXT, "DIR", "where files that it includes are looked for; may be repeated"},
    {"out", OPTION_TEXT, "FILE.lua", "the space file to write (default: to the terminal)"},
    OPTION_SANDBOX,
    OPTION_HELP,
    OPTION_END,
};

const struct command cmd_adopt = {
    .name = "adopt",
    .operands = "FILE.comp",
    .help = "write a first space file for a shader that exists already: its constants, macros, "
            "buffers and push constants",
    .least = 1,
    .most = 1,
    .options = options,
    .run = run_adopt,
};
