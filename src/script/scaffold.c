// Writes the scaffold of a space file for a shader. It loads as it is; TODO marks what a person has
// to know, in three places at most.
#include "script/scaffold_buffers.h"
#include "script/scaffold_words.h"

#include "base/file.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARAMETERS = 24, MOST_SHOWN = 60 };

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

// Appends the name of a file without folder and suffix, as a part of a C identifier.
static void add_plain(const char *path, struct str *out)
{
    const char *slash = strrchr(path, '/');
    for (const char *at = slash ? slash + 1 : path; *at && *at != '.'; at++)
        str_add_char(out, isalnum((unsigned char)*at) ? *at : '_');
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

// True: the operator of the preset has a size of that name, which the constant takes.
static bool is_operator_size(const struct scaffold_use *use, const char *name)
{
    char text[100];
    snprintf(text, sizeof text, "local %.60s = size(", name);
    return use->operator_text && strstr(use->operator_text, text);
}

static void find_parameters(const struct scaffold *o, const struct scaffold_use *use,
                            struct parameters *p)
{
    *p = (struct parameters){.repeats = mem_zero((size_t)o->constant_count + 1, sizeof(bool)),
                             .declared = mem_zero((size_t)o->constant_count + 1, sizeof(bool))};
    find_repeated(o, p);
    for (int i = 0; i < o->constant_count && p->count < MOST_PARAMETERS; i++) {
        const struct scaffold_constant *c = &o->constant[i];
        if (is_operator_size(use, c->name))
            continue;
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

// --- the workgroup's size ---

struct sizes {
    const char *macro;     // that a person finds in the file as the size along x; NULL: none
    bool is_tuned;         // local_size_x is a parameter
    int64_t along[3];      // as written; 0: it is none that is known
    const char *parameter; // the size along x in expressions
};

// The standards of numbers that only the host knows: of a workgroup along x, along y and z, others.
enum { HOST_X = 16, HOST_YZ = 4, HOST_OTHER = 128 };

static bool is_host_number(const struct scaffold *o, const char *name)
{
    for (int i = 0; i < o->host.count; i++)
        if (str_equal(o->host.item[i].text, name))
            return str_equal(o->host.item[i].note, SCAFFOLD_ANY_NUMBER);
    return false;
}

static int64_t number_in(const struct scaffold *o, const char *text, const char **macro)
{
    char *end;
    int64_t value = text ? strtoll(text, &end, 0) : 0;
    if (text && end > text && !*end)
        return value;
    for (int i = 0; text && i < o->defined.count; i++) {
        const char *note = o->defined.item[i].note;
        if (!str_equal(o->defined.item[i].text, text) || !note)
            continue;
        value = strtoll(note, &end, 0);
        if (end > note && value > 0 && !end[strspn(end, "uU ")]) {
            *macro = o->defined.item[i].text;
            return value;
        }
    }
    return 0;
}

static void find_sizes(const struct scaffold *o, const struct parameters *p, struct sizes *z)
{
    const char *ignored;
    *z = (struct sizes){.macro = NULL};
    bool has_ids = o->size_id[0] >= 0 || o->size_id[1] >= 0 || o->size_id[2] >= 0;
    for (int i = 0; i < 3; i++) {
        z->along[i] = number_in(o, o->size[i], i ? &ignored : &z->macro);
        if (!z->along[i] && o->size[i] && is_host_number(o, o->size[i])) {
            z->along[i] = i ? HOST_YZ : HOST_X;
            z->macro = i ? z->macro : o->size[i];
        }
    }
    z->is_tuned = !has_ids && !z->macro && (z->along[0] > 0 || !o->size[0]);
    z->parameter = z->macro ? z->macro : z->is_tuned ? "local_size_x" : NULL;
    for (int i = 0; i < o->constant_count && o->size_id[0] >= 0; i++)
        if (p->declared[i] && o->constant[i].id == o->size_id[0])
            z->parameter = o->constant[i].name;
    if (o->size_id[0] >= 0 && !z->parameter)
        z->parameter = "local_size_x";
}

static void add_values(const char *name, int64_t value, struct str *out)
{
    str_add(out, "param.");
    scaffold_add_name(name, out);
    str_add(out, " = discrete { ");
    if (value > 1 && value % 2 == 0)
        str_printf(out, "%" PRId64 ", ", value / 2);
    str_printf(out, "%" PRId64 ", %" PRId64 " }", value, 2 * value);
}

static void add_parameters(const struct scaffold *o, const struct parameters *p,
                           const struct sizes *z, struct str *out)
{
    static const char axes[] = "xyz";
    int count = p->count;
    str_add(out,
            "\n-- Values worth a trial: as the shader has them, half of it and twice as much\n");
    for (int i = 0; i < o->constant_count; i++) {
        if (!p->declared[i])
            continue;
        int64_t id = o->constant[i].id;
        bool is_size = o->size_id[0] == id || o->size_id[1] == id || o->size_id[2] == id;
        add_values(o->constant[i].name, standard_of(&o->constant[i]), out);
        str_printf(out, " -- constant %" PRId64 ", %s%s\n", id, o->constant[i].type,
                   is_size ? ", the workgroup's size" : "");
    }
    for (int i = 0; i < 3; i++)
        if (o->size_id[i] >= 0 && !is_declared(p, o->size_id[i]) && ++count)
            str_printf(out, "param.local_size_%c = discrete { %s } -- constant %" PRId64 "\n",
                       axes[i], i == 0 ? "32, 64, 128" : "1, 2, 4", o->size_id[i]);
    if (z->macro || z->is_tuned) {
        add_values(z->parameter, z->along[0] ? z->along[0] : 64, out);
        str_add(out,
                z->macro ? " -- a macro, the workgroup's size\n" : " -- the workgroup's size\n");
    } else if (!count) {
        str_add(out, "param.variant = discrete { 1 } -- it has no constants: macros, perhaps\n");
    }
    str_add(out,
            "-- constraint(\"tiles divide\", function(c) return c.A % c.B == 0 end) says which "
            "belong together\n");
}

// --- macros and constants ---

static void add_macros(const struct scaffold *o, const struct sizes *z, struct str *out)
{
    if (!o->asked.count && !o->host.count && !z->macro)
        return;
    str_add(out, "  define = function(c)\n    return {");
    str_add(out, o->asked.count || o->host.count
                     ? " -- TODO what its host gives: macros here, push constants below\n"
                     : "\n");
    if (z->macro) {
        str_printf(out, "      %s = c.", z->macro);
        scaffold_add_name(z->macro, out);
        str_add(out, ",\n");
    }
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
        if (str_equal(o->host.item[i].note, SCAFFOLD_ANY_NUMBER)) {
            bool is_size = str_equal(name, o->size[1]) || str_equal(name, o->size[2]);
            if (!str_equal(name, z->macro))
                str_printf(out, "      %.60s = %d,\n", name, is_size ? HOST_YZ : HOST_OTHER);
            continue;
        }
        if (str_equal(o->host.item[i].note, SCAFFOLD_ANY_FORMAT)) {
            str_printf(out, "      %.60s = \"" SCAFFOLD_ANY_FORMAT "\",\n", name);
            continue;
        }
        if (o->host.item[i].note) {
            str_printf(out, "      -- [\"%.60s(x)\"] = \"(x)\", -- or a type\n", name);
            continue;
        }
        // Only the host defines the name: without a likely type the shader would not compile.
        char last = name[strlen(name) - 1];
        bool is_matrix = strstr(name, "mat") || strstr(name, "MAT");
        const char *four = is_matrix ? "mat4" : "vec4";
        str_printf(out,
                   scaffold_is_lua_word(name) ? "      [\"%s\"] = \"%s\",\n"
                                              : "      %.60s = \"%s\",\n",
                   name,
                   last == '4'   ? four
                   : last == '2' ? "vec2"
                                 : "float");
    }
    str_add(out, "    }\n  end,\n");
}

// The constants as a list, for the kernel and for what is exported.
static bool add_constants(const struct scaffold *o, const struct scaffold_use *use,
                          const struct parameters *p, const struct sizes *z, struct str *out)
{
    static const char axes[] = "xyz";
    bool has_any = o->constant_count || z->parameter;
    for (int i = 0; i < 3; i++)
        has_any = has_any || o->size_id[i] >= 0;
    if (!has_any)
        return false;
    str_add(out, "\nlocal function constants(c) return {\n");
    for (int i = 0; i < o->constant_count; i++) {
        const struct scaffold_constant *c = &o->constant[i];
        if (p->declared[i]) {
            str_printf(out, "  { %" PRId64 ", \"%.60s\", c.", c->id, c->name);
            scaffold_add_name(c->name, out);
            str_add(out, " },\n");
            continue;
        }
        if (is_operator_size(use, c->name) && c->id >= 0 && !c->where && !p->repeats[i]) {
            str_printf(out, "  { %" PRId64 ", \"%.60s\", %.60s },\n", c->id, c->name, c->name);
            continue;
        }
        str_printf(out, "  -- { %" PRId64 ", \"%.60s\", ", c->id, c->name);
        add_comment(c->standard, out);
        str_printf(out, " }, -- %.20s", c->type);
        add_where(c->where, out);
        str_add(out, "\n");
    }
    for (int i = 0; i < 3; i++)
        if (o->size_id[i] >= 0 && !is_declared(p, o->size_id[i]))
            str_printf(out, "  { %" PRId64 ", \"local_size_%c\", c.local_size_%c },\n",
                       o->size_id[i], axes[i], axes[i]);
    if (z->macro || z->is_tuned) {
        str_printf(out, "  { nil, \"%s\", c.", z->parameter);
        scaffold_add_name(z->parameter, out);
        str_add(out, " },\n");
    }
    str_add(out, "} end\n");
    return true;
}

// --- push constants and uniform blocks ---

// Returns the length of an array by its name, "s[2]"; 1: it is none, or a macro says it.
static int length_of(const char *name)
{
    enum { MOST = 16 };
    const char *open = strchr(name, '[');
    long length = open ? strtol(open + 1, NULL, 10) : 1;
    return length >= 1 && length <= MOST ? (int)length : 1;
}

struct place {
    int64_t behind; // the last value, in bytes; -1: nobody knows
    int64_t next;   // where the next field begins at the earliest
};

static int64_t aligned_to(int64_t at, int64_t bytes)
{
    return (at + bytes - 1) / bytes * bytes;
}

// Appends the values of a field. Vectors are aligned like two or four of their components, the
// elements of an array in a uniform block to 16 bytes (std140).
static void add_field(const struct scaffold_field *f, struct place *at, struct str *out)
{
    enum { UNIFORM_ARRAY = 16 };
    struct scaffold_type t = scaffold_type_of(f->type);
    int64_t bytes = t.bytes * (t.count == 3 ? 4 : t.count);
    bool is_spread = strchr(f->name, '[') && f->block >= 0 && bytes;
    bytes = is_spread ? aligned_to(bytes, UNIFORM_ARRAY) : bytes;
    for (int k = 0; k < length_of(f->name); k++) {
        int64_t place = f->offset >= 0             ? f->offset + k * bytes
                        : at->behind < 0 || !bytes ? -1
                                                   : aligned_to(at->next, bytes);
        bool is_moved = f->offset >= 0 || place != at->behind;
        if (t.is_plain && (!is_moved || place < 0)) {
            str_add(out, *t.name == 'f' ? "0.0, " : "0, ");
        } else {
            str_printf(out, "{ \"%s\"", t.name);
            for (int i = 0; i < t.count; i++)
                str_add(out, ", 0");
            if (is_moved && place >= 0)
                str_printf(out, ", offset = %" PRId64, place);
            str_add(out, " }, ");
        }
        at->behind = place < 0 || !bytes ? -1 : place + t.bytes * t.count;
        at->next = is_spread && place >= 0 ? place + bytes : at->behind;
    }
}

// Appends the fields of a block, up to six in a line, with their names behind them; addresses are
// given elsewhere. Returns how many there are.
static int add_fields(const struct scaffold *o, int block, struct str *out)
{
    int count = 0;
    struct place at = {0};
    for (int i = 0; i < o->field_count;) {
        const struct scaffold_field *first = &o->field[i];
        struct str names = {0}, values = {0};
        int j = i;
        for (; j < o->field_count && j < i + 6 && o->field[j].block == first->block &&
               str_equal(o->field[j].where, first->where);
             j++) {
            if (o->field[j].block != block)
                continue;
            if (scaffold_addressed_by(o, &o->field[j])) {
                at.behind = at.next = at.behind < 0 ? -1 : at.behind + 8;
                continue;
            }
            add_field(&o->field[j], &at, &values);
            str_printf(&names, " %.20s %.60s", o->field[j].type, o->field[j].name);
            count++;
        }
        if (values.length) {
            str_printf(out, "      %s%s--%s", first->where ? "-- " : "", str_text(&values),
                       str_text(&names));
            add_where(first->where, out);
            str_add(out, "\n");
        }
        str_finish(&names);
        str_finish(&values);
        i = j > i ? j : i + 1;
    }
    return count;
}

// Appends the contents of uniform blocks, before the kernel that has them.
static bool add_blocks(const struct scaffold *o, bool is_marked, struct str *out)
{
    bool has_any = false;
    for (int i = 0; i < o->block_count; i++) {
        const struct scaffold_block *b = &o->block[i];
        struct str fields = {0};
        if (scaffold_block_at(o, b->set, b->binding) != b)
            continue;
        add_fields(o, i, &fields);
        str_printf(out, "\nlocal function uniform_%.60s(c) return {%s\n%s} end\n", b->name,
                   is_marked || has_any ? "" : " -- TODO what its host gives", str_text(&fields));
        str_finish(&fields);
        has_any = true;
    }
    return has_any;
}

static void add_push(const struct scaffold *o, bool is_marked, struct str *out)
{
    struct str fields = {0};
    if (add_fields(o, -1, &fields))
        str_printf(out, "  push = function(c)\n    return {%s\n%s    }\n  end,\n",
                   is_marked ? "" : " -- TODO what its host gives", str_text(&fields));
    str_finish(&fields);
}

static void add_folders(const struct scaffold *o, const struct scaffold_use *use, struct str *out)
{
    if (use->folders) {
        str_add(out, "  include = { ");
        for (int i = 0; i < use->folders; i++) {
            str_add(out, i ? ", " : "");
            add_text(use->folder[i], out);
        }
        str_add(out, " },\n");
    }
    for (int i = 0; i < o->missing.count; i++) {
        str_add(out, "  -- #include \"");
        add_comment(o->missing.item[i].text, out);
        str_add(out, "\" is in none of its folders (--include DIR)\n");
    }
}

// --- the whole file ---

static void add_kernel(const struct scaffold *o, const struct scaffold_use *use,
                       const struct sizes *z, const struct scaffold_buffers *b, struct str *out)
{
    bool has_blocks = add_blocks(o, o->asked.count || o->host.count, out);
    str_add(out, "\nkernel {\n  shader = ");
    add_text(use->shader, out);
    str_add(out, ",\n");
    add_folders(o, use, out);
    add_macros(o, z, out);
    if (o->constant_count || o->size_id[0] >= 0 || o->size_id[1] >= 0 || o->size_id[2] >= 0)
        str_add(out, "  spec = function(c) return foreign.spec(constants(c)) end,\n");
    if (z->is_tuned)
        str_printf(out,
                   "  local_size = function(c) return { c.local_size_x, %" PRId64 ", %" PRId64
                   " } end,\n",
                   z->along[1] ? z->along[1] : 1, z->along[2] ? z->along[2] : 1);
    add_push(o, o->asked.count || o->host.count || has_blocks, out);
    scaffold_add_bindings(o, b, out);
    for (int i = 0; i < o->buffer_count; i++)
        if (o->buffer[i].where || (o->buffer[i].binding < 0 && !o->buffer[i].by_address)) {
            str_printf(out, "  -- binding %" PRId64 ": %.60s", o->buffer[i].binding,
                       o->buffer[i].name);
            add_where(o->buffer[i].where, out);
            str_add(out, "\n");
        }
    str_add(out, "  -- subgroup = function(c) return 32 end, where the shader counts on a size\n"
                 "  groups = function(c) return { ");
    if (z->parameter && !use->operator_text) {
        str_add(out, "(N + c.");
        scaffold_add_name(z->parameter, out);
        str_add(out, " - 1) // c.");
        scaffold_add_name(z->parameter, out);
        str_add(out, ", 1, 1");
    } else {
        str_add(out, "1, 1, 1");
    }
    str_add(out, " } end, -- TODO how many workgroups\n}\n");
}

void scaffold_add_space(const struct scaffold *o, const struct scaffold_use *use, struct str *out)
{
    struct scaffold_buffers b;
    struct parameters p;
    struct sizes z;
    struct str constants = {0};
    scaffold_find_buffers(o, &b);
    scaffold_name_buffers(use, &b);
    find_parameters(o, use, &p);
    find_sizes(o, &p, &z);
    bool has_constants = add_constants(o, use, &p, &z, &constants);
    str_add(out,
            "-- A first space for a shader that others wrote, as tilewalk adopt reads it. What a "
            "person has\n-- to know is marked (docs/guide/spaces.md, \"Shaders that others "
            "wrote\").\n");
    if (has_constants)
        str_add(out, "local foreign = include \"foreign.lua\"\n");
    if (use->by_setting) {
        str_add(out, "folder(\"shaders\", { file = ");
        add_text(use->shader + strlen("shaders/"), out);
        str_add(out, ", what = \"the folder of the shader\" }) -- --set shaders=DIR\n");
    }
    str_add(out, "\n");
    if (use->operator_text)
        str_add(out, use->operator_text);
    else
        scaffold_add_operator(&b, out);
    add_parameters(o, &p, &z, out);
    str_add(out, str_text(&constants));
    add_kernel(o, use, &z, &b, out);
    if (has_constants) {
        str_add(out, "\nexport(\"constants\", function(c) return foreign.header(\"");
        add_plain(use->shader, out);
        str_add(out, "\", \"found by tilewalk\", constants(c)) end)\n");
    }
    str_finish(&constants);
    parameters_finish(&p);
}

// --- what cannot be bound ---

// Returns the line of a text in which a word follows another; 0: there is none.
static int line_of(const char *text, const char *first, const char *then)
{
    int line = 1;
    for (const char *at = text; *at; line++) {
        char *whole = mem_printf("%.*s", (int)strcspn(at, "\n"), at);
        const char *found = strstr(whole, first);
        bool is_here = found && strstr(found, then);
        free(whole);
        if (is_here)
            return line;
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    return 0;
}

bool scaffold_check(const struct scaffold *o, const char *path, struct err *e)
{
    const char *file = path;
    int line = 0;
    if (!o->other.count)
        return true;
    const struct scaffold_name *one = o->other.item;
    for (int i = 0; i < o->files.count && !line; i++) {
        char *text;
        size_t length;
        file = o->files.item[i].text;
        if (!file_read(file, &text, &length, NULL))
            continue;
        line = line_of(text, one->note ? one->note : "", one->text);
        free(text);
    }
    return err_at(
        e, line ? file : path, line,
        "%s '%s' cannot be bound (storage buffers, uniform blocks, 2D and 3D images, texel "
        "buffers, samplers and addresses of buffers can)",
        one->note ? one->note : "the resource", one->text);
}
