// The arguments of a kernel for a configuration: macros, specialization constants, push constants,
// uniform blocks and the buffers of its bindings.
#include "script/check.h"
#include "script/readonly.h"
#include "script/state.h"

#include "base/mem.h"
#include "space/tensor.h"

#include <math.h>
#include <string.h>

// Calls a function of the configuration that returns a table. False: there is no function.
static bool call(lua_State *L, struct script *s, int function, const struct config *c,
                 const char *what)
{
    if (function == LUA_NOREF)
        return false;
    rule_call(L, s, function, c);
    check_type(L, -1, what, LUA_TTABLE);
    return true;
}

// --- macros ---

void given_define(lua_State *L, struct script *s, const struct stage *stage, const struct config *c,
                  struct str *out, struct str *names)
{
    if (!call(L, s, stage->define, c, "kernel: what define returns"))
        return;
    int table = lua_gettop(L), count = order_push_keys(L, table);
    for (int i = 1; i <= count; i++) {
        if (lua_rawgeti(L, table + 1, i) != LUA_TSTRING)
            luaL_error(L, "kernel: define: macros are given by name, { NAME = value }");
        const char *name = check_string(L, -1, "kernel: define");
        // NAME or NAME(a, b).
        static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
        static const char more[] =
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
        size_t length = strspn(name, more);
        const char *rest = name + length;
        bool is_plain = length && strchr(first, *name) && !*rest;
        bool has_parameters = length && strchr(first, *name) && *rest == '(' &&
                              rest[strcspn(rest, ")\n\\/")] == ')' && !rest[strcspn(rest, ")") + 1];
        if (!is_plain && !has_parameters)
            luaL_error(L, "kernel: define: '%s' is no name of a macro", name);
        lua_getfield(L, table, name);
        guard_charge(L, 64);
        // `true` is 1; `false` leaves the macro undefined.
        bool is_undefined = lua_isboolean(L, -1) && !lua_toboolean(L, -1);
        const char *text = "1";
        if (lua_type(L, -1) == LUA_TNUMBER) {
            check_real(L, -1, name);
            lua_pushvalue(L, -1);
            text = lua_tostring(L, -1);
        } else if (lua_type(L, -1) == LUA_TSTRING) {
            text = lua_tostring(L, -1);
        } else if (!lua_isboolean(L, -1)) {
            luaL_error(L, "kernel: define: %s is a %s", name, luaL_typename(L, -1));
        }
        if (strlen(text) > CHECK_MAX_TEXT || strpbrk(text, "\n\r"))
            luaL_error(L, "kernel: define: %s is no single line of at most %d bytes", name,
                       CHECK_MAX_TEXT);
        if (!is_undefined)
            str_printf(out, "#define %s %s\n", name, text);
        str_printf(names, "\n%.*s\n", (int)length, name);
        lua_settop(L, table + 1);
    }
    lua_settop(L, table - 1);
}

// --- push constants ---

static const struct push_type {
    const char *name;
    uint8_t bytes;
    enum push_kind kind;
    int64_t low, high;
} push_types[] = {
    {"u32", 4, PUSH_UNSIGNED, 0, UINT32_MAX},
    {"i32", 4, PUSH_SIGNED, INT32_MIN, INT32_MAX},
    {"f32", 4, PUSH_FLOAT, 0, 0},
    {"u64", 8, PUSH_UNSIGNED, 0, INT64_MAX},
    {"i64", 8, PUSH_SIGNED, INT64_MIN, INT64_MAX},
    {"f64", 8, PUSH_FLOAT, 0, 0},
    {"u16", 2, PUSH_UNSIGNED, 0, UINT16_MAX},
    {"i16", 2, PUSH_SIGNED, INT16_MIN, INT16_MAX},
    {"f16", 2, PUSH_FLOAT, 0, 0},
    {"u8", 1, PUSH_UNSIGNED, 0, UINT8_MAX},
    {"i8", 1, PUSH_SIGNED, INT8_MIN, INT8_MAX},
    {NULL, 0, PUSH_WHOLE, 0, 0},
};
// The types of a plain number, true or false.
static const struct push_type plain_whole = {"u32", 4, PUSH_WHOLE, INT32_MIN, UINT32_MAX};
static const struct push_type *const plain_real = &push_types[2];

struct push { // a block that is being given
    struct job_block *block;
    const char *what; // "push", "uniform"
    uint32_t most;    // bytes
    bool taken[JOB_MAX_BLOCK];
    int field; // from 1
    uint32_t at;
};

// Puts the value on the top, as little-endian bytes.
static void put(lua_State *L, struct push *push, const struct push_type *t)
{
    const char *what = lua_pushfstring(L, "kernel: %s: field %d", push->what, push->field);
    uint64_t bits = 0;
    double real;
    float single;
    if (lua_isboolean(L, -2)) {
        bits = (uint64_t)lua_toboolean(L, -2);
    } else if (t->kind != PUSH_FLOAT) {
        bits = (uint64_t)check_whole(L, -2, what, t->low, t->high);
    } else {
        real = check_real(L, -2, what);
        single = (float)real;
        if (t->bytes == 8)
            memcpy(&bits, &real, 8);
        else if (t->bytes == 4)
            memcpy(&bits, &single, 4);
        else
            bits = half_from_float(single);
    }
    lua_pop(L, 1);
    push->at = (push->at + t->bytes - 1) / t->bytes * t->bytes;
    if (push->at + t->bytes > push->most)
        luaL_error(L, "kernel: %s: field %d ends behind byte %d", push->what, push->field,
                   (int)push->most);
    for (uint32_t i = 0; i < t->bytes; i++) {
        if (push->taken[push->at + i])
            luaL_error(L, "kernel: %s: field %d overlaps another one at byte %d", push->what,
                       push->field, (int)(push->at + i));
        push->taken[push->at + i] = true;
        push->block->byte[push->at + i] = (uint8_t)(bits >> 8 * i);
    }
    // The other values of a field lie behind its first one.
    struct push_field *f = &push->block->field[push->field - 1];
    if (!f->count)
        f->at = (uint16_t)push->at;
    f->kind = (uint8_t)t->kind;
    f->bytes = t->bytes;
    f->count++;
    push->at += t->bytes;
    uint32_t end = (push->at + 3) / 4 * 4;
    if (end > push->block->bytes)
        push->block->bytes = end;
}

// Puts { "f32", value, ..., offset = bytes, name = "of the member" } on the top.
static void put_typed(lua_State *L, struct push *push)
{
    static const char *const known[] = {"offset", "name", NULL};
    int field = lua_gettop(L), list = field + 1, fields = field + 2;
    const char *what = lua_pushfstring(L, "kernel: %s: field %d", push->what, push->field);
    lua_insert(L, field++);
    list++, fields++;
    check_parts(L, field, what);
    check_fields(L, fields, what, known);
    if (lua_getfield(L, fields, "name") != LUA_TNIL) {
        const char *name = check_identifier(L, -1, what);
        if (strlen(name) >= JOB_MAX_FIELD_NAME)
            luaL_error(L, "%s: a name of more than %d bytes", what, JOB_MAX_FIELD_NAME - 1);
        memcpy(push->block->field[push->field - 1].name, name, strlen(name) + 1);
    }
    lua_pop(L, 1);
    if (lua_getfield(L, fields, "offset") != LUA_TNIL)
        push->at = (uint32_t)check_whole(L, -1, what, 0, push->most - 1);
    lua_geti(L, list, 1);
    const struct push_type *t = push_types;
    const char *type = check_string(L, -1, what);
    while (t->name && strcmp(t->name, type) != 0)
        t++;
    if (!t->name)
        luaL_error(L, "%s has no type '%s' (u32, i32, f32, u64, i64, f64, u16, i16, f16, u8, i8)",
                   what, type);
    if (push->at % t->bytes)
        push->at += t->bytes - push->at % t->bytes;
    int count = (int)lua_rawlen(L, list);
    for (int i = 2; i <= count; i++) {
        lua_geti(L, list, i);
        put(L, push, t);
        lua_pop(L, 1);
    }
    lua_settop(L, field);
    lua_remove(L, field - 1);
}

// Fills a block with the list that a function returns.
static void fill_block(lua_State *L, struct script *s, int function, const struct config *c,
                       struct push *push)
{
    const char *what = lua_pushfstring(L, "kernel: what %s returns", push->what);
    if (!call(L, s, function, c, what))
        return;
    int table = lua_gettop(L);
    int count = check_list(L, table, lua_pushfstring(L, "kernel: %s", push->what));
    if (count > JOB_MAX_FIELDS - 1) // the last one is that of addresses
        luaL_error(L, "kernel: %s: more than %d fields", push->what, JOB_MAX_FIELDS - 1);
    push->block->field_count = count;
    lua_settop(L, table);
    for (push->field = 1; push->field <= count; push->field++) {
        int type = lua_geti(L, table, push->field);
        if (type == LUA_TTABLE)
            put_typed(L, push);
        else
            put(L, push, type == LUA_TNUMBER && !lua_isinteger(L, -1) ? plain_real : &plain_whole);
        lua_settop(L, table);
    }
}

// --- buffers ---

// Returns the job's buffer of a name.
static int find_buffer(lua_State *L, const struct script *s, const char *what, const char *name)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    int tensors = operation_tensors(&s->operation, tensor), buffer = 0;
    while (buffer < tensors && strcmp(name, tensor[buffer].name) != 0)
        buffer++;
    if (buffer == tensors && strcmp(name, "scratch") != 0)
        luaL_error(L, "kernel: %s: the operator has no buffer '%s'", what, name);
    return buffer;
}

// Puts the addresses first.
static void fill_addresses(lua_State *L, const struct script *s, const struct stage *stage,
                           struct pass *p, struct push *push)
{
    int count = stage->address_count;
    for (int i = 0; i < count; i++)
        p->address[i] = (uint8_t)find_buffer(L, s, "address", stage->address[i]);
    p->address_count = count;
    push->at = (uint32_t)count * 8;
    for (uint32_t i = 0; i < push->at; i++)
        push->taken[i] = true;
    p->push.bytes = push->at;
}

static void fill_resources(lua_State *L, struct script *s, const struct stage *stage,
                           const struct config *c, struct pass *p)
{
    for (int i = 0; i < stage->resource_count; i++) {
        uint16_t set = stage->resource[i].set, binding = stage->resource[i].binding;
        const char *name = stage->resource[i].name;
        if (name) {
            int buffer = find_buffer(L, s, set ? "sets" : "bindings", name);
            p->binding[p->binding_count++] = (struct job_binding){
                set, binding, (uint8_t)buffer, (uint8_t)stage->resource[i].element};
            continue;
        }
        struct job_uniform *u = pass_add_uniform(p);
        struct push block = {.block = &u->block, .what = "uniform", .most = JOB_MAX_BLOCK};
        u->set = set;
        u->binding = binding;
        int top = lua_gettop(L);
        fill_block(L, s, stage->resource[i].function, c, &block);
        lua_settop(L, top);
    }
    // Uniform blocks alone leave the buffers to be those of the operator in its order, of set 0.
    if (p->binding_count || !stage->resource_count)
        return;
    struct tensor tensor[OPERATION_MAX_TENSORS];
    int buffers = operation_tensors(&s->operation, tensor) + 1;
    for (int i = 0; i < buffers; i++)
        p->binding[p->binding_count++] = (struct job_binding){0, (uint16_t)i, (uint8_t)i, 0};
}

// --- images ---

// Returns a size of the table on the top; 0: it is not given.
static uint32_t image_size(lua_State *L, const char *name)
{
    uint32_t size = 0;
    if (lua_getfield(L, -1, name) != LUA_TNIL)
        size = (uint32_t)check_whole(L, -1, name, 1, UINT16_MAX);
    lua_pop(L, 1);
    return size;
}

// Reads { format = "rgba16f", width = 64, height = 64, depth = 4 } from the top.
static void read_form(lua_State *L, const struct script *s, const char *what,
                      struct image_form *out)
{
    static const char *const known[] = {"format", "width", "height", "depth", "layers", NULL};
    check_fields(L, lua_gettop(L), what, known);
    lua_getfield(L, -1, "format");
    const char *format = check_string(L, -1, what);
    enum texel_format f = texel_format_named(format);
    struct str names = {0};
    for (int i = 0; f == TEXEL_COUNT && i < TEXEL_COUNT; i++)
        str_printf(&names, "%s%s", i ? ", " : "", texel_traits[i].name);
    if (f == TEXEL_COUNT) {
        lua_pushstring(L, str_text(&names));
        str_finish(&names);
        luaL_error(L, "%s: no format '%s' (%s)", what, format, lua_tostring(L, -1));
    }
    if (!texel_format_is_there(s->formats, f))
        luaL_error(L, "%s: the device has no images or texel buffers of %s", what, format);
    lua_pop(L, 1);
    uint32_t depth = image_size(L, "depth"), layers = image_size(L, "layers");
    *out = (struct image_form){
        .format = (uint8_t)f,
        .shape = depth    ? IMAGE_3D
                 : layers ? IMAGE_2D_ARRAY
                          : IMAGE_2D,
        .width = image_size(L, "width"),
        .height = image_size(L, "height"),
        .depth = depth    ? depth
                 : layers ? layers
                          : 1,
    };
    if (!out->width && !out->height && !depth && !layers)
        *out = (struct image_form){.format = (uint8_t)f, .shape = IMAGE_TEXELS};
    else if (!out->width || !out->height || (depth && layers))
        luaL_error(L,
                   "%s: an image has a width and a height, and may have a depth or layers (a texel "
                   "buffer has none of them)",
                   what);
}

// Fills in how the pass sees buffers that are images or texel buffers.
static void fill_images(lua_State *L, struct script *s, const struct stage *stage,
                        const struct config *c, struct pass *p)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    int tensors = operation_tensors(&s->operation, tensor);
    if (!call(L, s, stage->image, c, "kernel: what image returns"))
        return;
    int table = lua_gettop(L), count = order_push_keys(L, table);
    for (int i = 1; i <= count; i++) {
        lua_rawgeti(L, table + 1, i);
        const char *name = check_identifier(L, -1, "kernel: image");
        const char *what = lua_pushfstring(L, "kernel: image: %s", name);
        struct image_form form;
        int buffer = find_buffer(L, s, "image", name);
        lua_getfield(L, table, name);
        check_type(L, -1, what, LUA_TTABLE);
        read_form(L, s, what, &form);
        uint64_t bytes = image_bytes(&form);
        uint64_t room = buffer < tensors ? tensor_bytes(&tensor[buffer]) : 0;
        if (form.shape != IMAGE_TEXELS && room && (bytes > room || room - bytes >= 4))
            luaL_error(L, "%s: its texels have %I bytes, its buffer has %I", what,
                       (lua_Integer)(bytes < INT64_MAX ? bytes : INT64_MAX), (lua_Integer)room);
        *pass_add_image(p) = (struct job_image){(uint8_t)buffer, form};
        lua_settop(L, table + 1);
    }
    lua_settop(L, table - 1);
}

void given_check_scratch(lua_State *L, const struct script *s, const struct job *j)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    int scratch = operation_tensors(&s->operation, tensor);
    for (int i = 0; i < j->pass_count; i++) {
        const struct job_image *image = pass_image_of(&j->pass[i], scratch);
        uint64_t bytes = image ? image_bytes(&image->form) : 0;
        if (j->scratch_bytes && bytes > j->scratch_bytes)
            luaL_error(L, "scratch: an image of %I bytes is more than its %I",
                       (lua_Integer)(bytes < INT64_MAX ? bytes : INT64_MAX),
                       (lua_Integer)j->scratch_bytes);
    }
}

void given_begin(lua_State *L, struct script *s, const struct stage *stage, struct job *job)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    int tensors = operation_tensors(&s->operation, tensor);
    int inputs = tensors - operation_outputs(&s->operation);
    for (int i = 0; i < stage->begin_count; i++) {
        enum job_begin how = stage->begin[i].how;
        const char *name = stage->begin[i].name, *from = stage->begin[i].from;
        const char *what = how == BEGIN_COPY ? "inout" : how == BEGIN_ZERO ? "zeroed" : "kept";
        int buffer = find_buffer(L, s, what, name), source = 0;
        if (buffer < inputs)
            luaL_error(L, "kernel: %s: %s is an input, which no kernel writes", what, name);
        if (buffer == tensors && s->stage[0].once)
            luaL_error(L, "kernel: %s: scratch has what a kernel packs once (once = true)", what);
        if (from) {
            source = find_buffer(L, s, what, from);
            if (source >= inputs)
                luaL_error(L, "kernel: inout: %s begins as %s, which is no input", name, from);
            if (buffer == tensors || tensor_bytes(&tensor[buffer]) != tensor_bytes(&tensor[source]))
                luaL_error(L, "kernel: inout: %s has not as many bytes as %s", name, from);
        }
        bool is_other = job->begin[buffer].how != BEGIN_POISON &&
                        (job->begin[buffer].how != how || job->begin[buffer].from != source);
        if (is_other)
            luaL_error(L, "kernel: %s: another kernel says otherwise how %s begins", what, name);
        job->begin[buffer].how = (uint8_t)how;
        job->begin[buffer].from = (uint8_t)source;
    }
}

// --- all arguments ---

bool given_size(lua_State *L, struct script *s, const struct stage *stage, const struct config *c,
                uint64_t out[3])
{
    if (stage->local_size == LUA_NOREF)
        return false;
    rule_call(L, s, stage->local_size, c);
    check_dimensions(L, -1, "kernel: local_size", UINT16_MAX, out);
    lua_pop(L, 1);
    return true;
}

static void fill_constants(lua_State *L, struct script *s, const struct stage *stage,
                           const struct config *c, struct pass *p)
{
    if (!call(L, s, stage->spec, c, "kernel: what spec returns"))
        return;
    int table = lua_gettop(L), count = order_push_keys(L, table);
    if (count > JOB_MAX_CONSTANTS)
        luaL_error(L, "kernel: spec: more than %d constants", JOB_MAX_CONSTANTS);
    for (int i = 1; i <= count; i++) {
        lua_rawgeti(L, table + 1, i);
        int64_t id = check_whole(L, -1, "kernel: spec: the id of a constant", 0, UINT32_MAX);
        lua_geti(L, table, id);
        bool is_bool = lua_isboolean(L, -1);
        const char *what = lua_pushfstring(L, "kernel: spec: constant %d", (int)id);
        double value = is_bool ? lua_toboolean(L, -2) : check_real(L, -2, what);
        p->constant[p->constant_count++] = (struct spec_constant){(uint32_t)id, is_bool, value};
        lua_settop(L, table + 1);
    }
    lua_settop(L, table - 1);
}

void given_fill(lua_State *L, struct script *s, const struct stage *stage, const struct config *c,
                struct pass *p)
{
    struct push push = {.block = &p->push, .what = "push", .most = JOB_MAX_PUSH};
    int top = lua_gettop(L);
    uint64_t size[3];
    fill_constants(L, s, stage, c, p);
    fill_addresses(L, s, stage, p, &push);
    fill_block(L, s, stage->push, c, &push);
    lua_settop(L, top);
    if (stage->address_count)
        p->push.field[p->push.field_count++] =
            (struct push_field){PUSH_ADDRESS, 8, 0, (uint16_t)stage->address_count, ""};
    fill_resources(L, s, stage, c, p);
    fill_images(L, s, stage, c, p);
    if (stage->entry)
        p->entry = mem_strdup(stage->entry);
    bool is_spirv = stage->is_shader && !stage->source.length;
    if (is_spirv && given_size(L, s, stage, c, size))
        for (int i = 0; i < 3; i++)
            p->local_size[i] = (uint32_t)size[i];
}
