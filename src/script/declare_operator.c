// operator and operator.define: what they declare, and the operator as Lua sees it.
#include "script/check.h"
#include "script/readonly.h"
#include "script/script.h"
#include "script/state.h"

#include <float.h>
#include <math.h>
#include <string.h>

// operator.define declares an operator of the user's own:
//
//     operator.define {
//       name = "scores",
//       flop = 2 * N * M * D, -- or bytes = 4 * N, or rate = { N / 1e6, "Mrows/s" }
//       inputs = { { "Q", N, D }, { "K", M, D, type = "f32", fill = { -1, 1 } } },
//       output = { "P", N, M }, -- or outputs = { { "P", N, M }, ... }
//       reference = { { "matmul", "Q", "K", "S", N = N, M = M, K = D, layout = "nt" },
//                     { "softmax", "S", "P", rows = N, columns = M } },
//       -- or { template = "reference.comp", groups = { x, y, z } }
//       tolerance = { absolute = 1e-5, relative = 1e-5 },
//     }

// --- buffers: 1 the definition, 2 a buffer, 3 its list, 4 its fields ---

enum { BUFFER = 2, LIST, FIELDS };

// Returns a field of the table on the top; `standard` where it is absent.
static bool read_flag(lua_State *L, const char *what, const char *name, bool standard)
{
    if (lua_getfield(L, -1, name) != LUA_TNIL) {
        const char *field = lua_pushfstring(L, "%s: %s", what, name);
        check_type(L, -2, field, LUA_TBOOLEAN);
        standard = lua_toboolean(L, -2);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return standard;
}

static void read_fill(lua_State *L, const char *what, enum element type, struct custom_filling *f)
{
    static const char *const known[] = {"whole", NULL};
    f->high = element_is_real(type) ? 1 : 16;
    f->low = fmax(-f->high, element_least(type));
    if (lua_getfield(L, FIELDS, "fill") == LUA_TNIL)
        return;
    int fill = lua_gettop(L), pair = fill + 2;
    what = lua_pushfstring(L, "%s: fill", what);
    check_parts(L, fill, what);
    check_fields(L, pair + 1, what, known);
    if (lua_rawlen(L, pair) != 2)
        luaL_error(L, "%s: expected { low, high }", what);
    f->whole = read_flag(L, what, "whole", false);
    lua_geti(L, pair, 1);
    f->low = check_real(L, -1, what);
    lua_geti(L, pair, 2);
    f->high = check_real(L, -1, what);
    if (f->whole && floor(f->high) < ceil(f->low))
        luaL_error(L, "%s: no whole number lies between", what);
}

static int read_count(lua_State *L, const char *what, const char *name, int standard, int high)
{
    const char *field = lua_pushfstring(L, "%s: %s", what, name);
    lua_insert(L, -2);
    if (lua_getfield(L, -1, name) != LUA_TNIL)
        standard = (int)check_whole(L, -1, field, 0, high);
    lua_pop(L, 1);
    return standard;
}

static void read_blocks(lua_State *L, const char *what, struct block_format *f)
{
    int type = lua_getfield(L, FIELDS, "blocks");
    if (type == LUA_TNIL)
        return;
    what = lua_pushfstring(L, "%s: blocks", what);
    lua_pushvalue(L, -2);
    if (type == LUA_TTABLE) {
        // Reads { weights = 32, bits = 4, zero = 8, scale = "f16", min = false, signed = false,
        // pairs = false } on the top.
        static const char *const fields[] = {"weights", "bits",   "zero",  "scale",
                                             "min",     "signed", "pairs", NULL};
        check_fields(L, -1, what, fields);
        f->scale = ELEMENT_F16;
        if (lua_getfield(L, -1, "scale") != LUA_TNIL)
            f->scale = str_equal(check_string(L, -1, what), "f32")   ? ELEMENT_F32
                       : str_equal(check_string(L, -1, what), "f16") ? ELEMENT_F16
                                                                     : ELEMENT_COUNT;
        lua_pop(L, 1);
        f->has_min = read_flag(L, what, "min", false);
        f->is_signed = read_flag(L, what, "signed", false);
        f->pairs = read_flag(L, what, "pairs", false);
        f->weights = read_count(L, what, "weights", 32, BLOCK_MAX_WEIGHTS);
        f->bits = read_count(L, what, "bits", 4, 8);
        f->zero = read_count(L, what, "zero", 0, 255);
        if (!block_format_valid(f))
            luaL_error(
                L,
                "%s: blocks have 1 to %d weights of 8 bits, or an even number of 4 bits, with "
                "a zero that has so many bits, and an f16 or f32 scale",
                what, BLOCK_MAX_WEIGHTS);
        return;
    }
    const char *name = check_string(L, -1, what);
    const struct block_format *known = block_format_named(name);
    if (!known)
        luaL_error(L, "%s: there are no '%s' (there are " BLOCK_NAMES ", and your own as a table)",
                   what, name);
    *f = *known;
}

// Reads the buffer at 2. The stack holds the definition and the buffer.
static void read_buffer(lua_State *L, struct custom_operation *c, const char *place,
                        const char *const *known)
{
    struct tensor t = {0};
    struct custom_filling f = {.low = 0};
    struct err e;
    luaL_checkstack(L, 2 * LUA_MINSTACK, place);
    check_parts(L, BUFFER, place);
    check_fields(L, FIELDS, place, known);
    lua_geti(L, LIST, 1);
    t.name = check_identifier(L, -1, place);
    if (strcmp(t.name, "scratch") == 0)
        luaL_error(L, "%s: 'scratch' is what templates know scratch memory by", place);
    const char *what = lua_pushfstring(L, "define: buffer %s", t.name);
    t.rank = (int)lua_rawlen(L, LIST) - 1;
    if (t.rank < 1 || t.rank > TENSOR_MAX_RANK)
        luaL_error(L, "%s has %d sizes, not 1 to %d", what, t.rank, TENSOR_MAX_RANK);
    for (int i = 0; i < t.rank; i++) {
        const char *size = lua_pushfstring(L, "%s: size %d", what, i + 1);
        lua_geti(L, LIST, i + 2);
        t.size[i] = check_whole(L, -1, size, 1, INT32_MAX);
    }
    if (lua_getfield(L, FIELDS, "type") != LUA_TNIL)
        t.element = check_element(L, -1, what, NULL);
    read_fill(L, what, t.element, &f);
    read_blocks(L, what, &f.block);
    if (f.block.weights && lua_getfield(L, FIELDS, "type") != LUA_TNIL)
        luaL_error(L, "%s has blocks, which have no type", what);
    check_done(L, custom_add_tensor(c, &t, &f, &e), &e);
    lua_settop(L, 1);
}

// --- tolerance and reference ---

static double read_share(lua_State *L, int table, const char *name, double standard)
{
    const char *what = lua_pushfstring(L, "define: tolerance: %s", name);
    if (lua_getfield(L, table, name) == LUA_TNIL)
        return standard;
    double value = check_real(L, -1, what);
    if (value < 0)
        luaL_error(L, "%s is negative", what);
    return value;
}

static void read_tolerance(lua_State *L, struct custom_operation *c)
{
    static const char *const known[] = {"absolute", "relative", "nmse", "exact", NULL};
    double usual = 0;
    for (int i = custom_inputs(c); i < c->tensor_count; i++)
        usual = fmax(usual, element_traits[c->buffer[i].element].tolerance);
    c->absolute = c->relative = usual;
    lua_settop(L, 1);
    if (lua_getfield(L, 1, "tolerance") == LUA_TNIL)
        return;
    check_fields(L, 2, "define: tolerance", known);
    c->nmse = read_share(L, 2, "nmse", 0);
    bool each = lua_getfield(L, 2, "absolute") != LUA_TNIL ||
                lua_getfield(L, 2, "relative") != LUA_TNIL || !(c->nmse > 0);
    c->absolute =
        read_share(L, 2, "absolute", each ? 0 : DBL_MAX); // numbers are not judged one by one
    c->relative = read_share(L, 2, "relative", 0);
    lua_settop(L, 2);
    c->exact = read_flag(L, "define: tolerance", "exact", false);
}

// Reads { "softmax", "S", "P", rows = , columns = } at BUFFER.
static void read_step(lua_State *L, struct custom_operation *c, int number)
{
    const char *names[OPERATION_MAX_TENSORS + 1];
    struct operation o;
    struct err e;
    char what[40];
    snprintf(what, sizeof what, "define: step %d", number);
    check_parts(L, BUFFER, what);
    lua_geti(L, LIST, 1);
    const char *word = check_string(L, -1, what);
    bool dequantizes = strcmp(word, "dequantize") == 0;
    const struct operation_kind *kind = dequantizes ? NULL : operation_kind_named(word, &e);
    if (!dequantizes && !kind)
        luaL_error(L, "%s: %s", what, e.text);
    int count = (int)lua_rawlen(L, LIST) - 1;
    if (count > OPERATION_MAX_TENSORS)
        luaL_error(L, "%s: more than %d buffers", what, OPERATION_MAX_TENSORS);
    for (int i = 0; i < count; i++) {
        lua_geti(L, LIST, i + 2);
        names[i] = check_identifier(L, -1, what);
    }
    if (dequantizes) {
        static const char *const none[] = {NULL};
        check_fields(L, FIELDS, what, none);
        if (count != 2)
            luaL_error(L, "%s: dequantize has 2 buffers, %d are named", what, count);
        check_done(L, custom_add_dequantize(c, names[0], names[1], &e), &e);
        return;
    }
    // Its type is that of what it reads, unless it says another one.
    enum element e0 = custom_element(c, count > 0 ? names[0] : "");
    if (lua_getfield(L, FIELDS, "type") == LUA_TNIL && e0 < ELEMENT_COUNT) {
        lua_pushstring(L, element_name(e0));
        lua_setfield(L, FIELDS, "type");
    }
    declare_operator_read(L, FIELDS, kind, &o);
    check_done(L, custom_add_step(c, &o, names, count, &e), &e);
}

static void read_reference(lua_State *L, struct script *s)
{
    struct err e;
    lua_settop(L, 1);
    lua_getfield(L, 1, "reference");
    check_type(L, 2, "define: reference", LUA_TTABLE);
    bool is_kernel = lua_getfield(L, 2, "template") != LUA_TNIL;
    lua_settop(L, 2);
    if (is_kernel) {
        // It is rendered when everything is declared.
        static const char *const known[] = {"template", "groups", NULL};
        int table = lua_gettop(L);
        uint64_t groups[3];
        check_fields(L, table, "define: reference", known);
        lua_getfield(L, table, "groups");
        check_dimensions(L, -1, "define: reference: groups", UINT32_MAX, groups);
        for (int i = 0; i < 3; i++)
            s->reference_groups[i] = (uint32_t)groups[i];
        lua_getfield(L, table, "template");
        const char *what = "define: reference: template";
        s->reference.text = include_find(L, what, check_string(L, -1, what), "shaders");
        s->reference.place = guard_caller(L);
        render_compile(L, &s->reference);
    } else {
        int count = check_list(L, -1, "define: reference");
        for (int i = 1; i <= count; i++) {
            lua_settop(L, 1);
            lua_getfield(L, 1, "reference");
            lua_geti(L, -1, i);
            lua_replace(L, BUFFER);
            read_step(L, s->custom, i);
        }
    }
    check_done(L, is_kernel || custom_is_computed(s->custom, &e), &e);
}

// --- operator.define ---

// The sizes, numbers and choices are those that the space file has declared so far. None has a
// standard: it could change with the file, so the problem always has all of them.
void declare_operator_take_settings(lua_State *L, struct script *s)
{
    struct arena *arena = &s->custom->arena;
    struct operation_size *size = arena_zero(arena, OPERATION_MAX_SIZES + 1, sizeof *size);
    struct operation_choice *choice = arena_zero(arena, OPERATION_MAX_CHOICES + 1, sizeof *choice);
    struct operation_real *real = arena_zero(arena, OPERATION_MAX_REALS + 1, sizeof *real);
    int sizes = 0, choices = 0, reals = 0;
    for (int i = 0; i < s->setting_count; i++) {
        const struct script_setting *setting = &s->setting[i];
        if (setting->is_folder)
            continue;
        if (setting->values && choices < OPERATION_MAX_CHOICES)
            choice[choices++] =
                (struct operation_choice){setting->name, setting->values, .is_plain = true};
        else if (setting->is_whole && sizes < OPERATION_MAX_SIZES)
            size[sizes++] = (struct operation_size){setting->name, SIZE_REQUIRED, 0};
        else if (!setting->values && !setting->is_whole && reals < OPERATION_MAX_REALS)
            real[reals++] = (struct operation_real){setting->name, NAN};
        else
            luaL_error(L,
                       "define: more than %d sizes, %d numbers or %d choices are declared before "
                       "it",
                       OPERATION_MAX_SIZES, OPERATION_MAX_REALS, OPERATION_MAX_CHOICES);
    }
    s->custom->kind.sizes = size;
    s->custom->kind.choices = choice;
    s->custom->kind.reals = real;
}

void declare_operator_set_settings(lua_State *L, const struct script *s, struct operation *o)
{
    struct err e;
    for (int i = 0; i < s->setting_count; i++) {
        const struct script_setting *setting = &s->setting[i];
        const char *name = setting->name;
        if (setting->is_folder)
            continue;
        setting_push(L, setting);
        check_done(L,
                   setting->values     ? operation_set_choice(o, name, setting->value, &e)
                   : setting->is_whole ? operation_set_size(o, name, lua_tointeger(L, -1), &e)
                                       : operation_set_real(o, name, lua_tonumber(L, -1), &e),
                   &e);
        lua_pop(L, 1);
    }
}

// Returns the unit, which follows numbers in every list.
static const char *check_unit(lua_State *L, int index)
{
    enum { MOST = 12 };
    const char *unit = check_string(L, index, "define: rate");
    size_t length = strlen(unit);
    for (const char *c = unit; *c; c++)
        if (*c <= ' ' || *c > '~' || *c == '"')
            length = 0;
    if (length == 0 || length > MOST)
        luaL_error(L, "define: rate: a unit has 1 to %d ASCII characters without blanks", MOST);
    return unit;
}

// Reads a list of buffers, a field of the table at 1; returns how many.
static int read_buffers(lua_State *L, struct custom_operation *c, const char *field,
                        const char *const *known)
{
    char place[40];
    lua_settop(L, 1);
    lua_getfield(L, 1, field);
    int count = check_list(L, 2, lua_pushfstring(L, "define: %s", field));
    for (int i = 1; i <= count; i++) {
        lua_settop(L, 1);
        lua_getfield(L, 1, field);
        lua_geti(L, -1, i);
        lua_replace(L, BUFFER);
        snprintf(place, sizeof place, "define: %.*s %d", (int)strlen(field) - 1, field, i);
        read_buffer(L, c, place, known);
    }
    lua_settop(L, 1);
    return count;
}

static void read_tensors(lua_State *L, struct custom_operation *c)
{
    static const char *const of_input[] = {"type", "fill", "blocks", NULL};
    static const char *const of_output[] = {"type", NULL};
    read_buffers(L, c, "inputs", of_input);
    bool has_one = lua_getfield(L, 1, "output") != LUA_TNIL;
    bool has_several = lua_getfield(L, 1, "outputs") != LUA_TNIL;
    if (has_one && has_several)
        luaL_error(L, "define: output and outputs are two ways (choose one)");
    lua_settop(L, 1);
    if (has_several) {
        c->kind.outputs = read_buffers(L, c, "outputs", of_output);
        if (c->kind.outputs < 1)
            luaL_error(L, "define: outputs: there must be one");
    } else {
        lua_getfield(L, 1, "output");
        read_buffer(L, c, "define: output", of_output);
    }
}

static int declare_operator_define(lua_State *L) // operator.define { ... } -> op
{
    struct script *s = declare_operator_begin(L);
    static const char *const known[] = {"name",   "flop",    "bytes",     "rate",      "inputs",
                                        "output", "outputs", "reference", "tolerance", NULL};
    struct operation o;
    check_fields(L, 1, "define", known);
    lua_settop(L, 1);
    lua_getfield(L, 1, "name");
    const char *name = check_identifier(L, -1, "define: name");
    if (operation_kind_find(name))
        luaL_error(L, "define: '%s' is built in", name);
    // Without bytes or rate, which is an amount and a unit, the work is FLOP.
    struct workload work = {0, WORK_BYTES};
    bool has_bytes = lua_getfield(L, 1, "bytes") != LUA_TNIL;
    bool has_rate = lua_getfield(L, 1, "rate") != LUA_TNIL;
    if (has_bytes && has_rate)
        luaL_error(L, "define: bytes and rate are two things to be rated by (choose one)");
    if (has_bytes) {
        work.amount = check_real(L, -2, "define: bytes");
    } else if (has_rate) {
        if (check_list(L, -1, "define: rate") != 2)
            luaL_error(L, "define: rate: an amount and a unit, { N / 1e6, \"Mcells/s\" }");
        lua_geti(L, -1, 1);
        lua_geti(L, -2, 2);
        work = (struct workload){check_real(L, -2, "define: rate"), check_unit(L, -1)};
    }
    if ((has_bytes || has_rate) && work.amount <= 0)
        luaL_error(L, "define: %s: there must be some", has_bytes ? "bytes" : "rate");
    lua_getfield(L, 1, "flop");
    double flop =
        work.amount > 0 && lua_isnil(L, -1) ? work.amount : check_real(L, -1, "define: flop");
    if (flop <= 0)
        luaL_error(L, "define: flop: there must be some");
    s->custom = custom_create(name, flop, work.amount > 0 ? &work : NULL);
    declare_operator_take_settings(L, s);
    read_tensors(L, s->custom);
    read_tolerance(L, s->custom);
    read_reference(L, s);
    operation_init(&o, &s->custom->kind);
    declare_operator_set_settings(L, s, &o);
    return declare_operator_end(L, s, &o);
}

#define MOST_FIELDS (OPERATION_MAX_SIZES + OPERATION_MAX_CHOICES + OPERATION_MAX_REALS)

void declare_operator_read(lua_State *L, int fields, const struct operation_kind *kind,
                           struct operation *out)
{
    const char *known[MOST_FIELDS + 1];
    struct err e;
    int top = lua_gettop(L);
    int n = 0;
    for (int i = 0; kind->sizes[i].name; i++)
        known[n++] = kind->sizes[i].name;
    int sizes = n;
    for (int i = 0; kind->choices && kind->choices[i].name; i++)
        known[n++] = kind->choices[i].name;
    int choices = n;
    for (int i = 0; kind->reals && kind->reals[i].name; i++)
        known[n++] = kind->reals[i].name;
    known[n] = NULL;
    check_fields(L, fields, kind->name, known);
    operation_init(out, kind);
    for (int i = 0; known[i]; i++) {
        const char *name = known[i], *what = lua_pushfstring(L, "%s: %s", kind->name, name);
        if (lua_getfield(L, fields, name) == LUA_TNIL) {
            lua_settop(L, top);
            continue;
        }
        int value = lua_gettop(L);
        bool done;
        if (i < sizes) {
            int64_t size = check_whole(L, value, what, kind->sizes[i].least, INT32_MAX);
            done = operation_set_size(out, name, size, &e);
        } else if (i < choices) {
            done = operation_set_choice(out, name, check_string(L, value, what), &e);
        } else {
            check_type(L, value, what, LUA_TNUMBER);
            done = operation_set_real(out, name, lua_tonumber(L, value), &e);
        }
        check_done(L, done, &e);
        lua_settop(L, top);
    }
    check_done(L, operation_complete(out, &e), &e);
}

struct script *declare_operator_begin(lua_State *L)
{
    struct script *s = script_loading(L, "operator");
    if (s->operation.kind)
        luaL_error(L, "the operator is declared twice");
    return s;
}

int declare_operator_end(lua_State *L, struct script *s, const struct operation *o)
{
    s->operation = *o;
    const struct operation_kind *kind = o->kind;
    lua_newtable(L);
    script_set_text(L, "kind", kind->name);
    for (int i = 0; kind->sizes[i].name; i++)
        script_set_integer(L, kind->sizes[i].name, o->size[i]);
    for (int i = 0; kind->derived && kind->derived[i].name; i++)
        script_set_integer(L, kind->derived[i].name, kind->derived[i].value(o));
    for (int i = 0; kind->choices && kind->choices[i].name; i++) {
        script_set_text(L, kind->choices[i].name, kind->choices[i].values[o->choice[i]]);
    }
    for (int i = 0; kind->reals && kind->reals[i].name; i++) {
        lua_pushnumber(L, o->real[i]);
        lua_setfield(L, -2, kind->reals[i].name);
    }
    // The bindings of the buffers by their names, then that of scratch memory.
    struct tensor tensor[OPERATION_MAX_TENSORS];
    int count = operation_tensors(o, tensor);
    lua_newtable(L);
    for (int i = 0; i < count; i++)
        script_set_integer(L, tensor[i].name, i);
    script_set_integer(L, "scratch", count);
    readonly_wrap(L, "op.bindings", NULL);
    lua_setfield(L, -2, "bindings");
    readonly_wrap(L, "op", NULL);
    lua_pushvalue(L, -1);
    s->operation_table = luaL_ref(L, LUA_REGISTRYINDEX);
    return 1;
}

static int declare_operator(lua_State *L) // operator.KIND { ... } -> op; upvalue: the kind
{
    struct script *s = declare_operator_begin(L);
    struct operation o;
    declare_operator_read(L, 1, lua_touserdata(L, lua_upvalueindex(1)), &o);
    return declare_operator_end(L, s, &o);
}

void declare_operator_open(lua_State *L)
{
    static const struct readonly_words words = {.unknown = "unknown operator '%s'"};
    lua_newtable(L);
    for (int i = 0; operation_kinds[i]; i++) {
        lua_pushlightuserdata(L, (void *)(uintptr_t)operation_kinds[i]);
        lua_pushcclosure(L, declare_operator, 1);
        lua_setfield(L, -2, operation_kinds[i]->name);
    }
    lua_pushcfunction(L, declare_operator_define);
    lua_setfield(L, -2, "define");
    readonly_wrap(L, "operator", &words);
    lua_setfield(L, -2, "operator");
}
