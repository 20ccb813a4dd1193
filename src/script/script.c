#include "script/script.h"

#include "base/file.h"
#include "base/mem.h"
#include "define/decoder.h"
#include "define/program.h"
#include "script/compute.h"
#include "script/readonly.h"
#include "script/state.h"
#include "space/custom_operation.h"
#include "space/objective.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Sets a list of { m, n, k, a, c }, of matrices of a workgroup with its `invocations`.
static void set_shapes(lua_State *L, const char *name, const struct matrix_units *u)
{
    char path[64];
    snprintf(path, sizeof path, "device.%s", name);
    lua_createtable(L, u->count, 0);
    for (int i = 0; i < u->count; i++) {
        const struct matrix_shape *s = &u->shape[i];
        lua_newtable(L);
        script_set_integer(L, "m", s->m);
        script_set_integer(L, "n", s->n);
        script_set_integer(L, "k", s->k);
        script_set_integer(L, "invocations", s->invocations);
        script_set_text(L, "a", s->input);
        script_set_text(L, "c", s->sum);
        readonly_wrap(L, "a shape of device.matrix", NULL);
        lua_rawseti(L, -2, i + 1);
    }
    readonly_wrap(L, path, NULL);
    lua_setfield(L, -2, name);
}

static void set_limit(lua_State *L, const struct limits *l, const struct limits_field *f)
{
    const void *at = (const char *)l + f->offset;
    switch (f->type) {
    case LIMITS_NUMBER: {
        uint64_t number = limits_number(l, f);
        script_set_integer(L, f->name, number < INT64_MAX ? (int64_t)number : INT64_MAX);
    } break;
    case LIMITS_AXES: {
        const uint32_t *value = at;
        lua_createtable(L, 3, 0);
        for (int i = 0; i < 3; i++) {
            lua_pushinteger(L, value[i]);
            lua_rawseti(L, -2, i + 1);
        }
        char path[64];
        snprintf(path, sizeof path, "device.%s", f->name);
        readonly_wrap(L, path, NULL);
        lua_setfield(L, -2, f->name);
    } break;
    case LIMITS_FLAG:
        lua_pushboolean(L, *(const bool *)at);
        lua_setfield(L, -2, f->name);
        break;
    case LIMITS_MATRIX:
        script_set_text(L, "matrix_api", matrix_api_name(((const struct matrix_units *)at)->api));
        set_shapes(L, f->name, at);
        break;
    case LIMITS_FLEXIBLE: set_shapes(L, f->name, at); break;
    case LIMITS_ELEMENTS:
        lua_newtable(L);
        for (int e = 0; e < ELEMENT_COUNT; e++) {
            lua_pushboolean(L, (int)(*(const uint32_t *)at >> e & 1));
            lua_setfield(L, -2, element_name((enum element)e));
        }
        readonly_wrap(L, "device.types", NULL);
        lua_setfield(L, -2, f->name);
        break;
    case LIMITS_BITS: break;
    case LIMITS_FEATURES:
        lua_newtable(L);
        for (int b = 0; b < MATRIX2_COUNT; b++) {
            lua_pushboolean(L, (l->features & (unsigned)FEATURE_MATRIX2 << b) != 0);
            lua_setfield(L, -2, limits_matrix2[b]);
        }
        readonly_wrap(L, "device.matrix2", NULL);
        lua_setfield(L, -2, "matrix2");
        break;
    }
}

// Sets `elements`: of each type what GLSL and templates need to know.
static void set_elements(lua_State *L)
{
    lua_newtable(L);
    for (enum element e = 0; e < ELEMENT_COUNT; e++) {
        lua_newtable(L);
        script_set_text(L, "scalar", element_traits[e].scalar);
        script_set_text(L, "vector", element_traits[e].vector);
        const struct element_float *f = &element_floats[e];
        script_set_text(L, "fragment", f->type ? f->type : element_traits[e].scalar);
        script_set_text(L, "extension", f->type ? f->extension : "");
        script_set_text(L, "from_bits", f->type ? f->from_bits : "");
        script_set_integer(L, "bytes", element_bytes(e));
        lua_pushboolean(L, element_is_real(e));
        lua_setfield(L, -2, "is_real");
        lua_pushboolean(L, element_is_bits(e));
        lua_setfield(L, -2, "is_bits");
        struct str decoder = {0};
        decoder_write(e, &decoder);
        script_set_text(L, "decoder", str_text(&decoder));
        str_finish(&decoder);
        struct str encoder = {0};
        encoder_write(e, &encoder);
        script_set_text(L, "encoder", str_text(&encoder));
        str_finish(&encoder);
        readonly_wrap(L, "an element", NULL);
        lua_setfield(L, -2, element_name(e));
    }
    readonly_wrap(L, "elements", NULL);
    lua_setfield(L, -2, "elements");
}

// Sets the globals of all Lua files: the safe library, the language, the device. Leaves the scope
// of templates on the stack: the library and the device.
static void set_globals(lua_State *L, struct script *s)
{
    static const struct readonly_words words = {
        .unknown = "unknown name '%s'",
        .assign = "'%s' is not a local variable (write 'local')",
        .hint = script_hint,
    };
    lua_newtable(L);
    library_push(L);
    script_copy_fields(L, -1, -2);
    lua_pop(L, 1);
    lua_newtable(L);
    script_set_text(L, "type", s->device_type);
    lua_pushboolean(L, strcmp(s->device_type, "cpu") == 0);
    lua_setfield(L, -2, "is_cpu");
    lua_pushboolean(L, (s->limits->features & FEATURE_SUBGROUP_ADDS) == FEATURE_SUBGROUP_ADDS);
    lua_setfield(L, -2, "subgroup_adds");
    lua_pushboolean(L,
                    (s->limits->features & FEATURE_SUBGROUP_SHUFFLES) == FEATURE_SUBGROUP_SHUFFLES);
    lua_setfield(L, -2, "subgroup_shuffles");
    for (int i = 0; i < LIMITS_FIELD_COUNT; i++)
        set_limit(L, s->limits, &limits_fields[i]);
    readonly_wrap(L, "device", NULL);
    lua_setfield(L, -2, "device");
    set_elements(L);

    lua_newtable(L);
    script_copy_fields(L, -2, -1);
    setting_open(L);
    declare_operator_open(L);
    declare_compute_open(L);
    declare_open(L);
    declare_param_open(L);
    include_open(L);
    readonly_wrap(L, "the environment", &words);
    lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
}

// A space without a kernel: its operation is what it looks for, so that all that is known of
// operations holds for it too.
static void take_objective(lua_State *L, struct script *s)
{
    struct objective o;
    if (s->operation.kind || s->stage_count || s->program || s->defining)
        luaL_error(L,
                   "'%s': another program measures, so that there is neither an operator nor a "
                   "kernel",
                   s->objective);
    objective_parse(s->objective, &o);
    const struct workload work = {1, o.name};
    s->custom = custom_create(s->objective, OBJECTIVE_WORK, &work);
    operation_init(&s->operation, &s->custom->kind);
}

static int visit_load(lua_State *L)
{
    struct script *s = lua_touserdata(L, 1);
    char *stem = path_stem(s->texts.item[0].name);
    s->space = space_create(stem);
    free(stem);
    set_globals(L, s);
    include_run_first(L);
    if (s->objective)
        take_objective(L, s);
    if (!s->operation.kind && s->defining && s->defining->d.tensor_count)
        return luaL_error(L, "nothing of what is computed is the output (output(%s))",
                          s->defining->d.tensor[s->defining->d.tensor_count - 1].name);
    if (!s->operation.kind && !s->space_only)
        return luaL_error(L,
                          "no operator is declared (operator.matmul { ... }; or minimize \"ms\", "
                          "where another program measures)");
    if (s->program && (s->stage_count || s->nest.function != LUA_NOREF ||
                       s->resources.function != LUA_NOREF || s->scratch.function != LUA_NOREF))
        return luaL_error(L, "what is computed has its kernels, their resources and their loops "
                             "(no kernel, resources, scratch, nest beside it)");
    if (s->space->param_count == 0)
        return luaL_error(L, s->program ? "there is nothing to choose (all sizes are 1)"
                                        : "no parameter is declared (param.NAME = factors(...))");
    if (s->stage_count == 0 && !s->program && !s->space_only && !s->objective)
        return luaL_error(L, "no kernel is declared (kernel { template = ... })");
    if (s->begin_params < s->space->param_count) // then they are no points: a copy got one more
        s->space->beginning_count = 0;
    if (s->space->baseline_count && s->baseline_params < s->space->param_count)
        luaL_error(L, "parameter '%s' is declared behind a baseline, which says no value for it",
                   s->space->param[s->baseline_params].name);
    view_build(L, s);
    declare_nest_run(L, s);
    // The scope of templates also has the settings, `op` and `c`.
    for (int i = 0; i < s->setting_count; i++) {
        const char *name = s->setting[i].name;
        bool is_taken = lua_getfield(L, -1, name) != LUA_TNIL || // by the library
                        s->setting[i].is_folder;
        lua_pop(L, 1);
        if (is_taken)
            continue;
        setting_push(L, &s->setting[i]);
        lua_setfield(L, -2, name);
    }
    if (s->operation.kind && !s->objective) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, s->operation_table);
        lua_setfield(L, -2, "op");
    }
    lua_rawgeti(L, LUA_REGISTRYINDEX, s->view.front);
    lua_setfield(L, -2, "c");
    s->scope = luaL_ref(L, LUA_REGISTRYINDEX);
    return 0;
}

struct script *script_begin(const struct script_options *o)
{
    struct script *s = mem_zero(1, sizeof *s);
    arena_init(&s->arena);
    s->limits = o->limits ? o->limits : &limits_vulkan_minimum;
    s->device_type = o->device_type ? o->device_type : "none";
    if (o->limits && limits_knows(o->limits, LIMITS_spirv_minor))
        s->spirv_minor = o->limits->spirv_minor;
    s->formats = limits_knows(s->limits, LIMITS_formats) ? s->limits->formats : UINT64_MAX;
    s->resources.function = s->scratch.function = s->reference.function = s->nest.function =
        LUA_NOREF;
    s->space_only = o->space_only;
    return s;
}

bool script_load(struct script *s, const struct script_options *o, lua_CFunction visit,
                 struct err *e)
{
    for (int i = 0; i < o->set_count; i++)
        setting_add_override(s, o->set[i].name, o->set[i].value, true);
    if (!texts_open(&s->texts, o->path, o->texts, o->text_count, e))
        return false;
    guard_create(&s->guard, &s->texts, library_open, s);
    s->is_loading = true;
    bool loaded = guard_run(&s->guard, GUARD_LOAD, (struct place){0, 0}, visit, s, e);
    s->is_loading = false;
    return setting_check(s, loaded, e);
}

struct script *script_create(const struct script_options *o, struct err *e)
{
    struct script *s = script_begin(o);
    if (!script_load(s, o, visit_load, e) || !space_seal(s->space, e) || !render_reference(s, e)) {
        script_destroy(s);
        return NULL;
    }
    s->limits = NULL; // it belongs to the caller
    s->device_type = NULL;
    s->texts.pinned = NULL;
    return s;
}

void script_destroy(struct script *s)
{
    if (!s)
        return;
    for (int i = 0; i < s->stage_count; i++)
        render_finish(&s->stage[i]);
    render_finish(&s->reference);
    job_finish(&s->reference_job);
    custom_destroy(s->custom);
    program_destroy(s->program);
    if (s->defining) {
        definition_finish(&s->defining->d);
        free(s->defining->place);
    }
    free(s->defining);
    guard_destroy(&s->guard);
    space_destroy(s->space);
    nest_destroy(s->loop_nest);
    texts_finish(&s->texts);
    free(s->setting);
    free(s->override);
    arena_finish(&s->arena);
    free(s);
}

const struct space *script_space(const struct script *s)
{
    return s->space;
}

const char *script_objective(const struct script *s)
{
    return s->objective;
}

const struct program *script_program(const struct script *s)
{
    return s->program;
}

const struct operation *script_operation(const struct script *s)
{
    return &s->operation;
}

const struct job *script_reference(const struct script *s)
{
    return &s->reference_job;
}

const struct script_setting *script_settings(const struct script *s, int *count)
{
    *count = s->setting_count;
    return s->setting;
}

const struct script_text *script_texts(const struct script *s, int *count)
{
    *count = s->texts.count;
    return s->texts.item;
}
