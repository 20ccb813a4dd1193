// Writes the scaffold of a space file for a shader. It loads as it is; TODO marks what a person has
// to decide.
#include "script/scaffold.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARAMETERS = 24, MOST_INPUTS = 5, MOST_SHOWN = 60 };

static bool is_lua_word(const char *name)
{
    static const char *const words[] = {"and",   "break", "do",       "else",  "elseif",  "end",
                                        "false", "for",   "function", "goto",  "if",      "in",
                                        "local", "nil",   "not",      "or",    "repeat",  "return",
                                        "then",  "true",  "until",    "while", "scratch", NULL};
    for (int i = 0; words[i]; i++)
        if (str_equal(words[i], name))
            return true;
    return false;
}

// Appends a name that Lua and space files accept.
static void add_name(const char *name, struct str *out)
{
    str_printf(out, "%s%.60s", is_lua_word(name) ? "my_" : "", name);
}

static void add_comment(const char *text, struct str *out)
{
    for (int i = 0; text[i] && i < MOST_SHOWN; i++)
        str_add_char(out, isprint((unsigned char)text[i]) ? text[i] : ' ');
}

// Appends a Lua string, of a file name too.
static void add_text(const char *text, struct str *out)
{
    str_add_char(out, '"');
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            str_printf(out, "\\%c", *text);
        else if (iscntrl((unsigned char)*text))
            str_printf(out, "\\%03d", (unsigned char)*text);
        else
            str_add_char(out, *text);
    str_add_char(out, '"');
}

static void add_where(const char *where, struct str *out)
{
    if (!where)
        return;
    str_add(out, ", only #if ");
    add_comment(where, out);
}

// --- parameters ---

static int64_t standard_of(const struct scaffold_constant *c)
{
    char *end;
    int64_t value = strtoll(c->standard, &end, 0);
    return end > c->standard && value > 0 && value <= INT32_MAX ? value : 0;
}

// The constants of which parameters are made: whole numbers above 0, like most sizes of tiles.
// Those that are 0 are shapes and switches.
struct parameters {
    bool *repeats;  // for each constant: one before it has its number or its name
    bool *declared; // for each constant: it is a parameter
    int64_t id[MOST_PARAMETERS];
    int count;
};

static int by_id(const void *a, const void *b)
{
    const struct scaffold_constant *const *x = a, *const *y = b;
    if ((*x)->id != (*y)->id)
        return (*x)->id < (*y)->id ? -1 : 1;
    return (*x > *y) - (*x < *y);
}

static int by_name(const void *a, const void *b)
{
    const struct scaffold_constant *const *x = a, *const *y = b;
    int order = strcmp((*x)->name, (*y)->name);
    return order ? order : (*x > *y) - (*x < *y);
}

// Notes the constants that repeat the number or the name of one before, which no condition leaves
// out.
static void find_repeated(const struct scaffold *o, struct parameters *p)
{
    const struct scaffold_constant **sorted =
        mem_alloc((size_t)o->constant_count * sizeof *sorted + 1);
    int count = 0;
    for (int i = 0; i < o->constant_count; i++)
        if (!o->constant[i].where)
            sorted[count++] = &o->constant[i];
    qsort(sorted, (size_t)count, sizeof *sorted, by_id);
    for (int i = 1; i < count; i++)
        if (sorted[i - 1]->id == sorted[i]->id)
            p->repeats[sorted[i] - o->constant] = true;
    qsort(sorted, (size_t)count, sizeof *sorted, by_name);
    for (int i = 1; i < count; i++)
        if (str_equal(sorted[i - 1]->name, sorted[i]->name))
            p->repeats[sorted[i] - o->constant] = true;
    free(sorted);
}

static void find_parameters(const struct scaffold *o, struct parameters *p)
{
    *p = (struct parameters){.repeats = mem_zero((size_t)o->constant_count + 1, sizeof(bool)),
                             .declared = mem_zero((size_t)o->constant_count + 1, sizeof(bool))};
    find_repeated(o, p);
    for (int i = 0; i < o->constant_count && p->count < MOST_PARAMETERS; i++) {
        const struct scaffold_constant *c = &o->constant[i];
        bool is_whole = str_equal(c->type, "uint") || str_equal(c->type, "int");
        bool is_name = strlen(c->name) <= 60 && !str_starts(c->name, "local_size_") &&
                       !str_starts(c->name, "my_");
        p->declared[i] =
            c->id >= 0 && !c->where && !p->repeats[i] && is_whole && is_name && standard_of(c) > 0;
        if (p->declared[i])
            p->id[p->count++] = c->id;
    }
}

static void parameters_finish(struct parameters *p)
{
    free(p->repeats);
    free(p->declared);
}

static bool is_declared(const struct parameters *p, int64_t id)
{
    for (int i = 0; i < p->count; i++)
        if (p->id[i] == id)
            return true;
    return false;
}

// --- buffers ---

struct buffers {
    const struct scaffold_buffer *at[16]; // by binding
    int count;                            // up to the last one
    int output;                           // -1: none
    int inputs;
};

// Appends the name of a buffer. Blocks of several bindings may share a name where #if chooses one.
static void add_buffer(const struct buffers *b, int i, struct str *out)
{
    bool is_taken = false;
    for (int k = 0; k < i && b->at[i]; k++)
        is_taken = is_taken || (b->at[k] && str_equal(b->at[k]->name, b->at[i]->name));
    if (b->at[i])
        add_name(b->at[i]->name, out);
    else
        str_add(out, "UNUSED");
    if (is_taken)
        str_printf(out, "_%d", i);
}

static void add_operator(struct buffers *b, struct str *out)
{
    struct str input = {0}, output = {0};
    for (int i = 0; i < b->count; i++)
        if (b->at[i] && i != b->output) {
            add_buffer(b, i, &input);
            break;
        }
    str_add(&input, input.length ? "" : "INPUT");
    if (b->output >= 0)
        add_buffer(b, b->output, &output);
    else
        str_add(&output, "OUTPUT");
    str_add(out, "-- TODO its sizes, and what is right: an operator (operator.matmul { ... }), or "
                 "steps here\nlocal N = size(\"N\", 1024)\n\noperator.define {\n"
                 "  name = \"shader\",\n  flop = N,\n  inputs = { ");
    for (int i = 0; i < b->count; i++) {
        if (!b->at[i] || i == b->output || b->inputs == MOST_INPUTS)
            continue;
        str_add(out, b->inputs++ ? ",\n             { \"" : "{ \"");
        add_buffer(b, i, out);
        str_printf(out, "\", N }");
    }
    str_add(out, b->inputs ? "" : "{ \"INPUT\", N }");
    str_printf(
        out,
        " },\n  output = { \"%s\", N },\n  reference = { { \"copy\", \"%s\", \"%s\", rows = N, "
        "columns = 1 } },\n}\n",
        str_text(&output), str_text(&input), str_text(&output));
    str_finish(&input);
    str_finish(&output);
}

static void add_bindings(const struct buffers *b, struct str *out)
{
    bool fits = b->count > 0;
    for (int i = 0, inputs = 0; i < b->count; i++) {
        inputs += b->at[i] && i != b->output;
        fits = fits && inputs <= MOST_INPUTS && b->at[i];
    }
    str_printf(out, "  %sbindings = { ", fits ? "" : "-- TODO ");
    for (int i = 0; i < b->count; i++) {
        str_add(out, i ? ", \"" : "\"");
        add_buffer(b, i, out);
        str_add(out, "\"");
    }
    str_add(out, " }, -- of ");
    for (int i = 0; i < b->count; i++)
        str_printf(out, "%s%.40s", i ? ", " : "", b->at[i] ? b->at[i]->type : "nothing");
    str_add(out, "\n");
}

// --- macros and constants ---

static void add_macros(const struct scaffold *o, struct str *out)
{
    str_add(out, "  define = function(c)\n    return { -- TODO what its host defines\n");
    for (int i = 0; i < o->asked.count; i++) {
        // A macro that is then defined as nothing is an include guard.
        bool is_guard = false;
        for (int j = 0; j < o->defined.count; j++)
            is_guard = is_guard || (str_equal(o->defined.item[j].text, o->asked.item[i].text) &&
                                    !*o->defined.item[j].note);
        if (is_guard)
            continue;
        str_printf(out, "      -- %.60s = true,", o->asked.item[i].text);
        if (o->asked.item[i].note) {
            str_add(out, " -- else ");
            add_comment(o->asked.item[i].note, out);
        }
        str_add(out, "\n");
    }
    for (int i = 0; i < o->host.count; i++) {
        const char *name = o->host.item[i].text;
        if (o->host.item[i].note) {
            str_printf(out, "      -- [\"%.60s(x)\"] = \"(x)\", -- or a type\n", name);
            continue;
        }
        // Only the host defines the name: without a likely type the shader would not compile.
        char last = name[strlen(name) - 1];
        bool is_matrix = strstr(name, "mat") || strstr(name, "MAT");
        const char *four = is_matrix ? "mat4" : "vec4";
        str_printf(
            out, is_lua_word(name) ? "      [\"%s\"] = \"%s\",\n" : "      %.60s = \"%s\",\n", name,
            last == '4'   ? four
            : last == '2' ? "vec2"
                          : "float");
    }
    str_add(out, "    }\n  end,\n");
}

static void add_constants(const struct scaffold *o, const struct parameters *p, struct str *out)
{
    static const char axes[] = "xyz";
    str_add(out, "  spec = function(c)\n    return {\n");
    for (int i = 0; i < o->constant_count; i++) {
        const struct scaffold_constant *c = &o->constant[i];
        if (p->declared[i]) {
            str_printf(out, "      [%" PRId64 "] = c.", c->id);
            add_name(c->name, out);
            str_add(out, ",\n");
            continue;
        }
        str_printf(out, "      -- [%" PRId64 "] = ", c->id);
        add_comment(c->standard, out);
        str_printf(out, ", -- %.20s %.60s", c->type, c->name);
        add_where(c->where, out);
        str_add(out, "\n");
    }
    for (int i = 0; i < 3; i++)
        if (o->size_id[i] >= 0 && !is_declared(p, o->size_id[i]))
            str_printf(out, "      [%" PRId64 "] = c.local_size_%c,\n", o->size_id[i], axes[i]);
    str_add(out, "    }\n  end,\n");
}

static void add_push(const struct scaffold *o, struct str *out)
{
    if (!o->field_count)
        return;
    str_add(out, "  push = function(c)\n    return { -- TODO what its host gives\n");
    for (int i = 0; i < o->field_count;) {
        // A line has up to six fields, with their names behind them.
        bool is_there = !o->field[i].where;
        struct str names = {0};
        int j = i;
        str_printf(out, "      %s", is_there ? "" : "-- ");
        for (; j < o->field_count && j < i + 6 && str_equal(o->field[j].where, o->field[i].where);
             j++) {
            const char *type = o->field[j].type;
            bool is_wide = str_equal(type, "uint64_t") || str_equal(type, "int64_t");
            bool is_whole =
                str_starts(type, "uint") || str_starts(type, "int") || str_equal(type, "bool");
            const char *value = str_equal(type, "float")       ? "0.0"
                                : is_wide                      ? "{ \"u64\", 0 }"
                                : str_equal(type, "float16_t") ? "{ \"f16\", 0 }"
                                : is_whole                     ? "0"
                                                               : "{ \"f32\", 0 }";
            str_printf(out, "%s, ", value);
            str_printf(&names, " %.20s %.60s", type, o->field[j].name);
        }
        str_printf(out, "--%s", str_text(&names));
        add_where(o->field[i].where, out);
        str_add(out, "\n");
        str_finish(&names);
        i = j;
    }
    str_add(out, "    }\n  end,\n");
}

static void add_folders(const struct scaffold *o, const char *const *folder, int folders,
                        struct str *out)
{
    if (folders) {
        str_add(out, "  include = { ");
        for (int i = 0; i < folders; i++) {
            str_add(out, i ? ", " : "");
            add_text(folder[i], out);
        }
        str_add(out, " },\n");
    }
    for (int i = 0; i < o->missing.count; i++) {
        str_add(out, "  -- TODO #include \"");
        add_comment(o->missing.item[i].text, out);
        str_add(out, "\" is in none of its folders (--include DIR)\n");
    }
}

void scaffold_add_space(const struct scaffold *o, const char *shader, const char *const *folder,
                        int folders, struct str *out)
{
    struct buffers b = {.output = -1};
    for (int i = 0; i < o->buffer_count; i++) {
        const struct scaffold_buffer *one = &o->buffer[i];
        if (one->where || one->binding < 0 || one->binding >= 16 || b.at[one->binding] ||
            strlen(one->name) > 60)
            continue; // blocks of one binding are one buffer
        b.at[one->binding] = one;
        if (one->binding >= b.count)
            b.count = (int)one->binding + 1;
    }
    for (int i = 0; i < b.count; i++)
        if (b.at[i] && !b.at[i]->is_read_only)
            b.output = i;
    str_add(out,
            "-- A first space for a shader that others wrote, as tilewalk adopt reads it. TODO "
            "marks\n-- what somebody has to decide (docs/guide/spaces.md, \"Shaders that others "
            "wrote\").\n\n");
    add_operator(&b, out);
    static const char axes[] = "xyz";
    struct parameters p;
    find_parameters(o, &p);
    int count = p.count;
    str_add(out, "\n-- TODO which values are worth a trial, and which belong together\n");
    for (int i = 0; i < o->constant_count; i++) {
        if (!p.declared[i])
            continue;
        str_add(out, "param.");
        add_name(o->constant[i].name, out);
        str_add(out, " = discrete { ");
        int64_t value = standard_of(&o->constant[i]), id = o->constant[i].id;
        bool is_size = o->size_id[0] == id || o->size_id[1] == id || o->size_id[2] == id;
        if (value > 1 && value % 2 == 0)
            str_printf(out, "%" PRId64 ", ", value / 2);
        str_printf(out, "%" PRId64 ", %" PRId64, value, 2 * value);
        str_printf(out, " } -- constant %" PRId64 ", %s%s\n", id, o->constant[i].type,
                   is_size ? ", the workgroup's size" : "");
    }
    for (int i = 0; i < 3; i++)
        if (o->size_id[i] >= 0 && !is_declared(&p, o->size_id[i]) && ++count)
            str_printf(out, "param.local_size_%c = discrete { %s } -- constant %" PRId64 "\n",
                       axes[i], i == 0 ? "32, 64, 128" : "1, 2, 4", o->size_id[i]);
    if (!count)
        str_add(out,
                "param.variant = discrete { 1 } -- TODO it has no constants: macros, perhaps\n");
    str_add(out, "\n-- constraint(\"tiles divide\", function(c) return c.A % c.B == 0 end) -- TODO "
                 "rules\n");
    str_add(out, "\nkernel {\n  shader = ");
    add_text(shader, out);
    str_add(out, ",\n");
    add_folders(o, folder, folders, out);
    add_macros(o, out);
    add_constants(o, &p, out);
    parameters_finish(&p);
    add_push(o, out);
    add_bindings(&b, out);
    for (int i = 0; i < o->buffer_count; i++)
        if (o->buffer[i].where || o->buffer[i].binding < 0) {
            str_printf(out, "  -- binding %" PRId64 ": %.60s", o->buffer[i].binding,
                       o->buffer[i].name);
            add_where(o->buffer[i].where, out);
            str_add(out, "\n");
        }
    for (int i = 0; i < o->other.count; i++) {
        str_add(out, "  -- TODO cannot be bound here: ");
        add_comment(o->other.item[i].text, out);
        str_add(out, "\n");
    }
    str_add(out, "  -- subgroup = function(c) return 32 end, -- TODO where the shader counts on a "
                 "size\n  groups = function(c) return { 1, 1, 1 } end, -- TODO\n}\n");
}
