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

static int run_adopt(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct sandbox s;
    const char *path = a->operand[0], *file = arguments_text(a, "out");
    const char *folder[MOST_FOLDERS];
    char *seen[MOST_FOLDERS] = {NULL}; // from the space file's folder, like the shader
    int folders = arguments_list(a, "include", folder, MOST_FOLDERS);
    (void)self;
    confine_begin(&s);
    confine_read_space(&s, path);
    for (int i = 0; i < folders; i++)
        sandbox_allow(&s, SANDBOX_READ, folder[i]);
    confine_write_beside(&s, file);
    confine_enter(&s);
    struct scaffold o;
    if (!scaffold_read(&o, path, folder, folders, &e))
        return fail_with(&e, EXIT_FAILED);
    // The names of files in a space file are relative to its own folder.
    struct str lua = {0};
    char *place = path_folder(file ? file : path);
    char *shader = path_from(place, path);
    bool ok = shader ||
              err_at(&e, file, 0,
                     "the space file has to lie in the folder of the shader or above it (it names "
                     "files from there)");
    for (int i = 0; ok && i < folders; i++) {
        seen[i] = path_from(place, folder[i]);
        ok = seen[i] || err_at(&e, folder[i], 0,
                               "the space file has to lie in the folder of the included files or "
                               "above it (--out)");
    }
    free(place);
    if (ok)
        scaffold_add_space(&o, shader, (const char *const *)seen, folders, &lua);
    if (ok && file)
        ok = (!file_exists(file) ||
              err_at(&e, file, 0, "it is there already (--out writes elsewhere)")) &&
             file_write(file, str_text(&lua), lua.length, &e);
    else
        fputs(str_text(&lua), stdout);
    str_finish(&lua);
    if (ok && file)
        printf("%s: %d constants, %d push constants, %d buffers, %d macros (look for TODO)\n", file,
               o.constant_count, o.field_count, o.buffer_count, o.asked.count + o.host.count);
    scaffold_finish(&o);
    free(shader);
    for (int i = 0; i < folders; i++)
        free(seen[i]);
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
