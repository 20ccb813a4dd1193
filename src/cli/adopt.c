// adopt: writes a first space file for a shader that exists already.
#include "base/file.h"
#include "cli/common.h"
#include "cli/confine.h"
#include "script/scaffold.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FOLDERS = 16 };

// Returns `path` relative to `folder`, heap; NULL when it is not below it. Both are resolved.
static char *path_from(const char *folder, const char *path)
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

static void adopt_confine(const struct adoption *a)
{
    struct sandbox s;
    confine_begin(&s);
    confine_read_space(&s, a->path);
    for (int i = 0; i < a->folders; i++)
        sandbox_allow(&s, SANDBOX_READ, a->folder[i]);
    confine_write_beside(&s, a->file);
    confine_enter(&s);
}

static int run_adopt(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct adoption n = {.path = a->operand[0], .file = arguments_text(a, "out")};
    (void)self;
    n.folders = arguments_list(a, "include", n.folder, MOST_FOLDERS);
    adopt_confine(&n);
    struct scaffold o;
    if (!scaffold_read(&o, n.path, n.folder, n.folders, &e))
        return fail_with(&e, EXIT_FAILED);
    // The names of files in a space file are relative to its own folder.
    struct str lua = {0};
    char *place = path_folder(n.file ? n.file : n.path);
    n.shader = path_from(place, n.path);
    bool ok = n.shader ||
              err_at(&e, n.file, 0,
                     "the space file has to lie in the folder of the shader or above it (it names "
                     "files from there)");
    for (int i = 0; ok && i < n.folders; i++) {
        n.seen[i] = path_from(place, n.folder[i]);
        ok = n.seen[i] || err_at(&e, n.folder[i], 0,
                                 "the space file has to lie in the folder of the included files or "
                                 "above it (--out)");
    }
    free(place);
    if (ok)
        scaffold_add_space(&o, n.shader, (const char *const *)n.seen, n.folders, &lua);
    if (ok && n.file)
        ok = (!file_exists(n.file) ||
              err_at(&e, n.file, 0, "it is there already (--out writes elsewhere)")) &&
             file_write(n.file, str_text(&lua), lua.length, &e);
    else
        fputs(str_text(&lua), stdout);
    str_finish(&lua);
    if (ok && n.file)
        printf("%s: %d constants, %d push constants, %d buffers, %d macros (look for TODO)\n",
               n.file, o.constant_count, o.field_count, o.buffer_count,
               o.asked.count + o.host.count);
    scaffold_finish(&o);
    free(n.shader);
    for (int i = 0; i < n.folders; i++)
        free(n.seen[i]);
    return common_exit(ok, &e);
}

static const struct option options[] = {
    {"include", OPTION_TEXT, "DIR",
     "folder in which included files are looked for; may be repeated"},
    {"out", OPTION_TEXT, "FILE.lua", "the space file to write (default: to the terminal)"},
    OPTION_SANDBOX,
    OPTION_END,
};

const struct command cmd_adopt = {
    .name = "adopt",
    .operands = "FILE.comp",
    .help =
        "write a first space file for an existing shader: its constants, macros, buffers and push "
        "constants",
    .least = 1,
    .most = 1,
    .options = options,
    .run = run_adopt,
};
