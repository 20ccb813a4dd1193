// Shaders that others wrote: `kernel { shader = }` and `kernel { spirv = }`.
//
// Includes are expanded when the file is loaded, so that the compiler gets one text. A missing file
// is no error within #if: it becomes an #error, which the compiler may skip.
#include "base/file.h"
#include "script/check.h"
#include "script/state.h"

#include <stdlib.h>
#include <string.h>

#define SHADER_MAX_BYTES (4 << 20)
#define SHADER_MAX_DEPTH 16
#define WORD_LETTERS     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"

struct expansion {
    struct script *script;
    struct stage *stage;
    int sources, depth;
    int conditions; // #if that are open
};

// Returns the rest of "#  name rest", or NULL.
static const char *directive(const char *line, const char *name)
{
    line += strspn(line, " \t");
    if (*line != '#')
        return NULL;
    line += 1 + strspn(line + 1, " \t");
    size_t length = strlen(name);
    return strncmp(line, name, length) == 0 ? line + length : NULL;
}

static const char *next_line(const char *line)
{
    const char *end = line + strcspn(line, "\n");
    return *end ? end + 1 : end;
}

// --- finding ---

static int read_text(lua_State *L, struct script *s, const char *name)
{
    struct texts_request request = {.name = name};
    struct err e;
    guard_charge(L, LOOK_STEPS);
    int text = texts_read(&s->texts, &request, &e);
    return text == TEXTS_UNREADABLE ? luaL_error(L, "%s: %s", name, e.text) : text;
}

// --- expanding ---

static void add(lua_State *L, struct expansion *x, const char *text, size_t length)
{
    struct str *out = &x->stage->source;
    if (out->length + length > SHADER_MAX_BYTES)
        luaL_error(L, "kernel: the shader is larger than %d MiB with what it includes",
                   SHADER_MAX_BYTES >> 20);
    guard_charge(L, length / 16 + 1);
    str_add_bytes(out, text, length);
}

static void add_place(lua_State *L, struct expansion *x, int line, int source, int text)
{
    const char *path = x->script->texts.item[text].path;
    const char *place = lua_pushfstring(L, "#line %d %d // %s\n", line, source, path);
    add(L, x, place, strlen(place));
    lua_pop(L, 1);
}

static void add_file(lua_State *L, struct expansion *x, int text, const char *from, int line);

static void add_included(lua_State *L, struct expansion *x, int text, int source, int line)
{
    const char *name = lua_tostring(L, -1);
    int found = -1;
    if (x->depth < SHADER_MAX_DEPTH && texts_is_contained(name)) {
        // It is below the folder of the file that includes it, or below one that the kernel names.
        char *folder = path_folder(x->script->texts.item[text].name);
        lua_pushstring(L, folder);
        free(folder);
        for (int i = -1; found < 0 && i < x->stage->folder_count; i++) {
            const char *in = i < 0 ? lua_tostring(L, -1) : x->stage->folder[i];
            bool is_here = strcmp(in, ".") == 0;
            const char *path = is_here ? name : lua_pushfstring(L, "%s/%s", in, name);
            found = read_text(L, x->script, path);
            lua_pop(L, is_here ? 0 : 1);
        }
        lua_pop(L, 1);
    }
    if (found < 0) {
        struct place place = (struct place){text, line};
        const char *what = !texts_is_contained(name) ? "is named relative to a folder, without '..'"
                           : x->depth == SHADER_MAX_DEPTH
                               ? "includes files too deep"
                               : "is in no folder that the kernel names (include = { ... })";
        if (x->conditions == 0)
            guard_raise(L, place, lua_pushfstring(L, "#include \"%s\": it %s", name, what));
        const char *error = lua_pushfstring(L, "#error \"%s\" %s\n", name, what);
        add(L, x, error, strlen(error));
        lua_pop(L, 1);
        return;
    }
    x->depth++;
    add_file(L, x, found, x->script->texts.item[found].text, 1);
    x->depth--;
    add_place(L, x, line + 1, source, text);
}

// Adds the text of a file from a line on, with its includes.
static void add_file(lua_State *L, struct expansion *x, int text, const char *from, int line)
{
    luaL_checkstack(L, 10, "files that include files");
    int source = ++x->sources, conditions = x->conditions;
    add_place(L, x, line, source, text);
    for (const char *at = from, *next; *at; at = next, line++) {
        next = next_line(at);
        if (directive(at, "if"))
            x->conditions++;
        if (directive(at, "endif"))
            x->conditions--;
        const char *name = directive(at, "include"), *end = NULL;
        if (name) {
            name += strspn(name, " \t");
            end = *name == '"' ? "\"\r\n" : *name == '<' ? ">\r\n" : NULL;
        }
        if (end) { // else it is a macro, which the compiler will refuse
            lua_pushlstring(L, name + 1, strcspn(name + 1, end));
            add_included(L, x, text, source, line);
            lua_pop(L, 1);
            continue;
        }
        add(L, x, at, (size_t)(next - at));
        if (next[-1] != '\n')
            add(L, x, "\n", 1);
    }
    x->conditions = conditions;
}

// --- rendering ---

// Returns whether the line defines or undefines one of the macros, whose names have a newline
// before and behind each.
static bool defines(const char *line, const char *macros)
{
    const char *name = directive(line, "define");
    name = name ? name : directive(line, "undef");
    if (!name || !*macros || (*name != ' ' && *name != '\t'))
        return false;
    name += strspn(name, " \t");
    size_t length = strspn(name, WORD_LETTERS);
    for (const char *at = macros; (at = strchr(at, '\n')); at++)
        if (length && strncmp(at + 1, name, length) == 0 && at[1 + length] == '\n')
            return true;
    return false;
}

// Returns which of x, y and z the word at `at` sizes, as "local_size_x = " or "local_size_x_id = ":
// 0 to 2. `value` gets the place behind the "=". -1: it is another word.
static int sized_axis(const char *begin, const char *at, const char **value)
{
    static const char word[] = "local_size_";
    bool is_begun = at > begin && strchr(WORD_LETTERS, at[-1]);
    const char *rest = at + strlen(word);
    if (is_begun || strncmp(at, word, strlen(word)) != 0 || *rest < 'x' || *rest > 'z')
        return -1;
    int axis = *rest++ - 'x';
    rest += strncmp(rest, "_id", 3) == 0 ? 3 : 0;
    rest += strspn(rest, " \t");
    *value = rest + 1;
    return *rest == '=' ? axis : -1;
}

// Returns the end of an expression within layout(...).
static const char *value_end(const char *at)
{
    int depth = 0;
    for (; *at && *at != '\n' && (depth > 0 || (*at != ',' && *at != ')')); at++)
        depth += (*at == '(') - (*at == ')');
    return at;
}

// Appends a line with other sizes; those that the shader names nowhere follow its first one.
static void add_sized(const char *line, size_t length, const uint64_t *size, bool *named,
                      struct str *out)
{
    static const char *const axes[] = {"x", "y", "z"};
    const char *value;
    for (const char *at = line; at < line + length;) {
        int axis = sized_axis(line, at, &value);
        if (axis < 0) {
            str_add_char(out, *at++);
            continue;
        }
        str_printf(out, "local_size_%s = %u", axes[axis], (unsigned)size[axis]);
        for (int i = 0; i < 3; i++)
            if (!named[i] && size[i] > 1) {
                str_printf(out, ", local_size_%s = %u", axes[i], (unsigned)size[i]);
                named[i] = true;
            }
        at = value_end(value);
    }
}

void shader_add(lua_State *L, const struct stage *stage, const char *macros, const uint64_t *size,
                struct str *out)
{
    const char *text = stage->source.text, *value;
    bool named[3] = {false}, is_gone = false;
    if (stage->preamble)
        str_printf(out, "%s\n", stage->preamble);
    for (const char *at = text; size && (at = strstr(at, "local_size_")); at++) {
        int axis = sized_axis(text, at, &value);
        if (axis >= 0)
            named[axis] = true;
    }
    if (size && !named[0] && !named[1] && !named[2])
        str_printf(out, "layout(local_size_x = %u, local_size_y = %u, local_size_z = %u) in;\n",
                   (unsigned)size[0], (unsigned)size[1], (unsigned)size[2]);
    guard_charge(L, stage->source.length / 16);
    for (const char *line = text, *next; *line; line = next) {
        next = next_line(line);
        size_t length = (size_t)(next - line);
        // A definition that goes leaves its lines empty, so that the others keep their numbers.
        is_gone = is_gone || defines(line, macros);
        if (is_gone)
            str_add(out, "\n");
        else if (size && memchr(line, '_', length))
            add_sized(line, length, size, named, out);
        else
            str_add_bytes(out, line, length);
        size_t end = length - (length && line[length - 1] == '\n');
        end -= end && line[end - 1] == '\r';
        is_gone = is_gone && end && line[end - 1] == '\\';
    }
}

// --- declaring ---

void shader_declare(lua_State *L, struct script *s, struct stage *stage, bool is_spirv)
{
    const char *what = is_spirv ? "kernel: spirv" : "kernel: shader";
    lua_getfield(L, 1, is_spirv ? "spirv" : "shader");
    stage->is_shader = true;
    const char *name = check_string(L, -1, what);
    stage->text = texts_is_contained(name) ? read_text(L, s, name) : -1;
    if (stage->text < 0)
        luaL_error(L, "%s \"%s\": no such file below the space file's folder", what, name);
    const char *text = s->texts.item[stage->text].text;
    if (is_spirv != (strncmp(text, JOB_SPIRV, strlen(JOB_SPIRV)) == 0))
        luaL_error(L,
                   is_spirv ? "%s: the file is no SPIR-V (it does not begin with 0x07230203)"
                            : "%s: the file is SPIR-V (spirv = takes it)",
                   what);
    if (is_spirv)
        return;
    what = "kernel: include";
    if (lua_getfield(L, 1, "include") != LUA_TNIL) {
        int list = lua_gettop(L), count = check_list(L, list, what);
        if (count > STAGE_MAX_FOLDERS)
            luaL_error(L, "%s: more than %d folders", what, STAGE_MAX_FOLDERS);
        for (int i = 0; i < count; i++) {
            lua_geti(L, list, i + 1);
            const char *folder = check_string(L, -1, what);
            if (!texts_is_contained(folder))
                luaL_error(
                    L, "%s \"%s\": a folder is named relative to the space file's, without '..'",
                    what, folder);
            stage->folder[stage->folder_count++] = script_keep_text(L, folder);
        }
    }
    if (lua_getfield(L, 1, "preamble") != LUA_TNIL)
        stage->preamble = script_keep_text(L, check_string(L, -1, "kernel: preamble"));
    // The text up to its #version stays in front of the kernel's macros.
    const char *head = text;
    int lines = 1;
    for (const char *at = text; *at && head == text; at = next_line(at), lines++)
        if (directive(at, "version")) {
            head = next_line(at);
            stage->head_lines = lines;
        }
    stage->head_bytes = (size_t)(head - text);
    struct expansion x = {.script = s, .stage = stage};
    add_file(L, &x, stage->text, head, stage->head_lines + 1);
}
