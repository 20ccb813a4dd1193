// adopt: writes a first space file for a shader that exists already.
#include "base/file.h"
#include "base/json_read.h"
#include "cli/common.h"
#include "cli/confine.h"
#include "script/scaffold.h"
#include "script/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FOLDERS = 16 };

#define SETTING "shaders" // the folder of the shader, where the space file lies elsewhere

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

// --- the operator of a preset ---

// Appends a built-in operation: its sizes can be set, its choices are as the preset has them.
static void add_operation(const struct operation *o, struct str *out)
{
    struct str json = {0}, fields = {0};
    struct json root;
    struct arena a;
    arena_init(&a);
    operation_add_json(o, &json);
    json_read_tree(str_text(&json), &root);
    for (struct json_walk w = json_walk(root); json_next(&w);) {
        double number;
        const char *name = json_text(w.key, &a), *text = json_text(w.value, &a);
        if (str_equal(name, "kind"))
            continue;
        bool is_number = json_number(w.value, &number);
        bool is_whole = is_number && number == (double)(int64_t)number && number >= 1;
        if (is_whole)
            str_printf(out, "local %s = size(\"%s\", %.0f)\n", name, name, number);
        str_printf(&fields, "%s%s = ", fields.length ? ", " : "", name);
        if (is_whole)
            str_add(&fields, name);
        else if (is_number)
            str_add_real(&fields, number);
        else
            str_printf(&fields, "\"%s\"", text ? text : "");
    }
    str_printf(out, "\noperator.%s { %s }\n", o->kind->name, str_text(&fields));
    str_finish(&json);
    str_finish(&fields);
    json_free(&root);
    arena_finish(&a);
}

// Appends the beginning of a space file that defines its operator, up to its first parameter. Its
// folders are not needed here.
static void add_definition(const char *text, struct str *out)
{
    bool in_folder = false;
    for (const char *line = text; *line && !str_starts(line, "param.");) {
        size_t length = strcspn(line, "\n");
        in_folder = in_folder || str_starts(line, "folder(");
        if (!in_folder)
            str_printf(out, "%.*s\n", (int)length, line);
        in_folder = in_folder && !(length && line[length - 1] == ')');
        line += length + (line[length] == '\n');
    }
}

// Takes the names of buffers, { "NAME", ... }, between two words of a text; returns how many.
static int take_names(const char *text, const char *from, const char *to, struct arena *a,
                      const char **out, int most)
{
    const char *at = strstr(text, from), *end = at ? strstr(at, to) : NULL;
    int count = 0;
    for (; at && end && (at = strstr(at, "{ \"")) && at < end; at++) {
        const char *name = arena_printf(a, "%.*s", (int)strcspn(at + 3, "\""), at + 3);
        bool is_known = false;
        for (int i = 0; i < count; i++)
            is_known = is_known || str_equal(out[i], name);
        if (!is_known && count < most)
            out[count++] = name;
    }
    return count;
}

static void take_tensors(const struct operation *o, struct arena *a, struct scaffold_use *use)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    int count = operation_tensors(o, tensor);
    use->outputs = operation_outputs(o);
    use->inputs = count - use->outputs;
    for (int i = 0; i < count; i++)
        use->buffer[i] = arena_strdup(a, tensor[i].name);
}

// Takes the sizes and the operator of a preset, and the names of its buffers.
static bool take_operator(const char *path, struct arena *a, struct scaffold_use *use,
                          struct str *out, struct err *e)
{
    char *text;
    size_t length;
    if (!file_read(path, &text, &length, e))
        return false;
    bool defines = strstr(text, "operator.define") != NULL;
    if (defines) {
        add_definition(text, out);
        use->inputs =
            take_names(text, "inputs", "output", a, use->buffer, SCAFFOLD_MAX_BUFFERS - 1);
        use->outputs = take_names(text, "output", "reference", a, use->buffer + use->inputs, 1);
    }
    free(text);
    if (defines)
        return true;
    struct script *s =
        script_create(&(struct script_options){.path = path, .device_type = "none"}, e);
    if (!s)
        return false;
    const struct operation *o = script_operation(s);
    bool is_built_in = o->kind && operation_kind_find(o->kind->name) == o->kind;
    if (is_built_in) {
        add_operation(o, out);
        take_tensors(o, a, use);
    } else
        err_set(e,
                "--like: the operator of '%s' is a definition by compute(...), which other kernels "
                "cannot be held "
                "against (a preset with operator. can)",
                path);
    script_destroy(s);
    return is_built_in;
}

// --- the space file ---

struct adoption {
    const char *path, *file, *preset; // the shader; NULL: to the terminal; NULL: none
    const char *folder[MOST_FOLDERS];
    int folders;
};

// Returns a path as the space file names it; heap. Where the space file lies elsewhere it is below
// the folder of the shader, which --set names. NULL and `e`: it is neither.
static char *seen_from(const struct adoption *a, bool by_setting, const char *path, struct err *e)
{
    char *place = path_folder(a->file && !by_setting ? a->file : a->path);
    char *seen = path_from(place, path);
    free(place);
    if (!seen)
        err_at(e, path, 0,
               "included files have to lie in the folder of the shader or below it, or "
               "both below that of the space file (--out)");
    if (!seen || !by_setting)
        return seen;
    char *named = str_equal(seen, ".") ? mem_strdup(SETTING) : path_join(SETTING, seen);
    free(seen);
    return named;
}

// `use` says what a preset gives.
static bool write_space(const struct adoption *a, const struct scaffold *o, struct scaffold_use use,
                        struct err *e)
{
    char *seen[MOST_FOLDERS] = {NULL}, *place = path_folder(a->file ? a->file : a->path);
    char *near = path_from(place, a->path), *shader = NULL;
    use.folders = a->folders;
    use.folder = (const char *const *)seen;
    use.by_setting = !near;
    struct str lua = {0};
    free(place);
    use.shader = shader = seen_from(a, !near, a->path, e);
    bool ok = shader != NULL;
    for (int i = 0; ok && i < a->folders; i++)
        ok = (seen[i] = seen_from(a, !near, a->folder[i], e)) != NULL;
    if (ok)
        scaffold_add_space(o, &use, &lua);
    if (ok && a->file)
        ok = (!file_exists(a->file) ||
              err_at(e, a->file, 0, "it is there already (--out writes elsewhere)")) &&
             file_write(a->file, str_text(&lua), lua.length, e);
    else if (ok)
        fputs(str_text(&lua), stdout);
    if (ok && a->file)
        printf("%s: %d constants, %d push constants, %d buffers, %d macros (look for TODO)\n",
               a->file, o->constant_count, o->field_count, o->buffer_count,
               o->asked.count + o->host.count);
    if (ok && a->file && !near) {
        place = path_folder(a->path);
        printf("with it: --set " SETTING "=%s\n", place);
        free(place);
    }
    str_finish(&lua);
    free(near);
    free(shader);
    for (int i = 0; i < a->folders; i++)
        free(seen[i]);
    return ok;
}

static int run_adopt(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct sandbox s;
    struct scaffold o;
    struct str operator_text = {0};
    struct scaffold_use use = {.shader = NULL};
    struct arena names;
    struct adoption all = {.path = a->operand[0],
                           .file = arguments_text(a, "out"),
                           .preset = arguments_text(a, "like")};
    (void)self;
    all.folders = arguments_list(a, "include", all.folder, MOST_FOLDERS);
    char *preset = all.preset ? script_find(all.preset, &e) : NULL;
    if (all.preset && !preset)
        return fail_with(&e, EXIT_FAILED);
    confine_begin(&s);
    confine_read_space(&s, all.path);
    confine_read_space(&s, preset);
    for (int i = 0; i < all.folders; i++)
        sandbox_allow(&s, SANDBOX_READ, all.folder[i]);
    confine_write_beside(&s, all.file);
    confine_enter(&s);
    arena_init(&names);
    bool ok = scaffold_read(&o, all.path, all.folder, all.folders, &e);
    if (!ok)
        o = (struct scaffold){.constant_count = 0};
    ok = ok && scaffold_check(&o, all.path, &e) &&
         (!preset || take_operator(preset, &names, &use, &operator_text, &e));
    use.operator_text = preset ? str_text(&operator_text) : NULL;
    ok = ok && write_space(&all, &o, use, &e);
    arena_finish(&names);
    str_finish(&operator_text);
    scaffold_finish(&o);
    free(preset);
    return common_exit(ok, &e);
}

static const struct option options[] = {
    {"include", OPTION_TEXT, "DIR",
     "folder in which included files are looked for; may be repeated"},
    {"like", OPTION_TEXT, "PRESET", "take its sizes and its operator, with the reference"},
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
