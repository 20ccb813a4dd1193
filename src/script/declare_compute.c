// tensor, compute, output: a definition, from which the space and the kernels are derived.
//
//     local A, B = tensor("A", { N, K }, "f32"), tensor("B", { K, M })
//     local C = compute("C", { N, M }, function(i, j)
//       return sum({ { "k", K } }, function(k) return A(i, k) * B(k, j) end)
//     end)
//     output(C)
//
// The function is run with symbols and returns an expression. Each reduction in it becomes a stage
// of its own over the axes that it depends on, unless the reduction is the whole expression. A
// comparison of symbols is true in one run and false in another one; the expression selects between
// the results.
#include "base/str.h"
#include "define/bounds.h"
#include "define/program.h"
#include "script/check.h"
#include "script/compute.h"
#include "script/script.h"
#include "script/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- tensors ---

static int push_tensor(lua_State *L, int tensor)
{
    int *x = lua_newuserdatauv(L, sizeof *x, 0);
    *x = tensor;
    luaL_setmetatable(L, COMPUTE_TENSOR);
    return 1;
}

static int read_tensor(lua_State *L) // A(i, j)
{
    const int *tensor = luaL_checkudata(L, 1, COMPUTE_TENSOR);
    struct defining *f = compute_running(L, "what is read of a tensor");
    const struct define_tensor *t = &f->d.tensor[*tensor];
    int index[DEFINE_MAX_RANK], count = lua_gettop(L) - 1;
    if (count != t->rank)
        return luaL_error(L, "%s has %d indices, not %d", t->name, t->rank, count);
    for (int i = 0; i < count; i++) {
        const char *what = lua_pushfstring(L, "index %d of %s", i + 1, t->name);
        index[i] = compute_node(L, i + 2, what);
        if ((index[i] >= 0 && f->d.node[index[i]].is_real))
            luaL_error(L, "%s is not whole ('//' divides without a rest)", what);
        lua_pop(L, 1);
    }
    int node = definition_read(&f->d, *tensor, index, count);
    if (!f->place)
        f->place = mem_zero(DEFINE_MAX_NODES, sizeof *f->place);
    if (node >= 0 && f->place[node].line == 0)
        f->place[node] = guard_caller(L);
    return compute_push(L, node);
}

// Reads the shape at `index`: 1 to 6 sizes, at most 2^31-1 numbers.
static void read_shape(lua_State *L, int index, const char *what, struct define_tensor *t)
{
    double count = 1;
    t->rank = check_list(L, index, what);
    if (t->rank < 1 || t->rank > DEFINE_MAX_RANK)
        luaL_error(L, "%s has %d sizes, not 1 to %d", what, t->rank, DEFINE_MAX_RANK);
    for (int i = 0; i < t->rank; i++) {
        lua_geti(L, index, i + 1);
        t->size[i] = check_whole(L, -1, what, 1, INT32_MAX);
        count *= (double)t->size[i];
        lua_pop(L, 1);
    }
    if (count > (double)INT32_MAX)
        luaL_error(L, "%s has more than 2^31-1 numbers", what);
}

static const char *new_name(lua_State *L, const struct definition *d, const char *what)
{
    const char *name = check_identifier(L, 1, what);
    if (strlen(name) > COMPUTE_MOST_NAME)
        luaL_error(L, "%s: a name has at most %d letters", what, COMPUTE_MOST_NAME);
    for (int i = 0; i < d->tensor_count; i++)
        if (strcmp(d->tensor[i].name, name) == 0)
            luaL_error(L, "%s '%s' is declared twice", what, name);
    return name;
}

static int declare_tensor(lua_State *L) // tensor(name, shape, type)
{
    script_loading(L, "tensor");
    struct defining *f = compute_state(L);
    lua_settop(L, 3);
    struct define_tensor t = {.name = new_name(L, &f->d, "tensor")};
    const char *what = lua_pushfstring(L, "tensor %s", t.name);
    if (f->d.stage_count || f->name)
        luaL_error(L, "%s: inputs are declared before what is computed", what);
    if (f->d.inputs == DEFINE_MAX_INPUTS)
        luaL_error(L, "%s: more than %d inputs", what, DEFINE_MAX_INPUTS);
    read_shape(L, 2, what, &t);
    t.element = lua_isnil(L, 3) ? ELEMENT_F32 : check_element(L, 3, what, define_reads);
    f->d.inputs++;
    return push_tensor(L, definition_add_tensor(&f->d, &t));
}

// --- compute ---

// True: the node only reads the last stage at its own point. Then that stage is the tensor.
static bool is_last_stage(const struct defining *f, int node, const struct define_tensor *t)
{
    const struct node *n = &f->d.node[node];
    if (n->op != NODE_READ || f->d.stage_count == f->first_stage ||
        n->tensor != f->d.tensor_count - 1)
        return false;
    const struct define_stage *s = &f->d.stage[f->d.stage_count - 1];
    if (s->space != t->rank)
        return false;
    for (int i = 0; i < t->rank; i++) {
        const struct node *index = &f->d.node[f->d.index[n->index + i]];
        if (index->op != NODE_AXIS || index->axis != i)
            return false;
    }
    return true;
}

static int declare_compute(lua_State *L) // compute(name, shape, function(i, j) ... end)
{
    script_loading(L, "compute");
    struct defining *f = compute_state(L);
    struct define_tensor t = {.rank = 0};
    bool all[DEFINE_MAX_AXES];
    memset(all, 1, sizeof all);
    lua_settop(L, 3);
    if (f->name)
        luaL_error(L, "compute(...) stands within another one");
    t.name = new_name(L, &f->d, "compute");
    const char *what = lua_pushfstring(L, "compute %s", t.name);
    read_shape(L, 2, what, &t);
    check_type(L, 3, what, LUA_TFUNCTION);
    f->name = t.name;
    f->serial++;
    f->reductions = 0;
    f->first_stage = f->d.stage_count;
    // The axes have the names of the function's parameters.
    f->axes = t.rank;
    for (int i = 0; i < t.rank; i++) {
        char usual[] = {'i', (char)('0' + i), 0};
        lua_pushvalue(L, 3);
        const char *name = lua_getlocal(L, NULL, i + 1); // pops the function
        bool fits = name && strlen(name) <= COMPUTE_MOST_NAME && *name != '(';
        f->axis[i] = arena_strdup(&f->d.arena, fits ? name : usual);
        f->extent[i] = t.size[i];
    }
    int node = compute_expression(L, f, 3, 0, t.rank), tensor = f->d.tensor_count - 1;
    if (is_last_stage(f, node, &t))
        f->d.tensor[tensor].name = arena_strdup(&f->d.arena, t.name);
    else
        tensor = compute_add_stage(L, f, t.name, all,
                                   &(struct define_stage){.reduction = REDUCE_NONE, .body = node});
    f->name = NULL;
    f->axes = 0;
    return push_tensor(L, tensor);
}

// --- output ---

// True: kernels compute all numbers exactly. They are sums, products and choices of whole numbers
// of at most that size (2^24 as floats, halves: 2048), also on the way, where the inputs are whole
// numbers in these ranges.
static bool is_exact(const struct definition *d, const struct range *inputs, double largest)
{
    struct range known[DEFINE_MAX_TENSORS], range[DEFINE_MAX_NODES];
    memcpy(known, inputs, (size_t)d->inputs * sizeof *known);
    for (int i = 0; i < d->stage_count; i++) {
        const struct define_stage *s = &d->stage[i];
        double most = d->tensor[s->tensor].element == ELEMENT_F16 ? 2048 : largest;
        int node[DEFINE_MAX_NODES], count = definition_list(d, s->body, NODES_ALL, node);
        bool exact = s->reduction != REDUCE_PRODUCT;
        bounds_ranges(d, s, s->body, known, range);
        for (int k = 0; k < count; k++) {
            const struct node *n = &d->node[node[k]];
            const struct range *of = &range[node[k]];
            exact =
                exact && fmax(-of->low, of->high) <= (n->is_real ? fmin(largest, 0x1p24) : largest);
            exact = exact && n->op != NODE_DIVIDE && n->op != NODE_EXP && n->op != NODE_SQRT &&
                    n->op != NODE_TANH && (n->op != NODE_NUMBER || n->number == floor(n->number));
        }
        struct range r = range[s->body];
        double terms =
            s->reduction == REDUCE_SUM ? (double)stage_points(s, s->space, s->reduce) : 1;
        known[s->tensor] = (struct range){r.low * terms, r.high * terms};
        if (!exact || !(fmax(-r.low, r.high) * terms <= most))
            return false;
    }
    return true;
}

// Returns the range of an input's random numbers: `wide` bytes have all values of their type.
static struct range random_range(enum element e, bool wide)
{
    wide = wide && element_bytes(e) == 1;
    return (struct range){wide ? element_least(e) : fmax(-1, element_least(e)),
                          wide ? element_most(e) : 1};
}

// Random bytes are wide, so that confused signs show, in definitions of whole numbers alone where
// no result leaves 32 bits. Elsewhere their sums would be rounded.
static bool has_wide_bytes(const struct definition *d)
{
    struct range inputs[DEFINE_MAX_INPUTS];
    bool is_whole = true;
    for (int i = 0; i < d->stage_count; i++)
        is_whole = is_whole && !d->node[d->stage[i].body].is_real;
    for (int i = 0; i < d->inputs; i++)
        inputs[i] = random_range(d->tensor[i].element, true);
    return is_whole && is_exact(d, inputs, INT32_MAX);
}

static void define_operation(lua_State *L, struct script *s, const struct definition *d)
{
    struct err e;
    struct operation o;
    struct str text = {0};
    double flop = definition_flop(d), bytes = definition_bytes(d);
    struct workload moved = {bytes, WORK_BYTES};
    struct range small[DEFINE_MAX_INPUTS];
    bool wide = has_wide_bytes(d);
    for (int i = 0; i < d->inputs; i++)
        small[i] = (struct range){-DEFINE_LARGEST, DEFINE_LARGEST};
    char *name = mem_printf("%s%s", s->space->name, operation_kind_find(s->space->name) ? "_" : "");
    for (char *c = name; *c; c++)
        *c = *c == '-' || *c == '.' || *c == ' ' ? '_' : *c;
    s->custom = custom_create(name, fmax(flop, 1), flop < 4 * bytes ? &moved : NULL);
    free(name);
    declare_operator_take_settings(L, s);
    for (int i = 0; i < d->tensor_count; i++) {
        if (i >= d->inputs && i != d->tensor_count - 1)
            continue;
        // More than four sizes count as four.
        struct tensor t = {.name = d->tensor[i].name, .element = d->tensor[i].element};
        int merged = d->tensor[i].rank > TENSOR_MAX_RANK ? d->tensor[i].rank - TENSOR_MAX_RANK : 0;
        t.rank = d->tensor[i].rank - merged;
        t.size[0] = 1;
        for (int j = 0; j < d->tensor[i].rank; j++) {
            int to = j < merged ? 0 : j - merged;
            t.size[to] = j <= merged ? t.size[0] * d->tensor[i].size[j] : d->tensor[i].size[j];
        }
        struct range r = random_range(t.element, wide);
        check_done(L, custom_add_tensor(s->custom, &t, &(struct custom_filling){r.low, r.high}, &e),
                   &e);
    }
    // The rounding of a sum depends on its order, the more so the more terms it has.
    double terms = 1;
    for (int i = 0; i < d->stage_count; i++)
        terms =
            fmax(terms, (double)stage_points(&d->stage[i], d->stage[i].space, d->stage[i].reduce));
    bool halves = s->custom->buffer[s->custom->tensor_count - 1].element == ELEMENT_F16;
    s->custom->relative = s->custom->absolute = halves ? 2e-3 : 1e-5 * fmax(1, sqrt(terms) / 4);
    s->custom->exact = is_exact(d, small, 0x1p24);
    if (s->custom->buffer[s->custom->tensor_count - 1].element >= ELEMENT_I8)
        s->custom->relative = s->custom->absolute = 0;
    definition_write(d, &text);
    s->custom->definition = arena_strdup(&s->custom->arena, str_text(&text));
    str_finish(&text);
    operation_init(&o, &s->custom->kind);
    declare_operator_set_settings(L, s, &o);
    declare_operator_end(L, s, &o);
}

static bool asks_for_device(const char *units)
{
    return str_equal(units, "khr") || str_equal(units, "nv");
}

// Takes the matrix units that kernels may use: a file may have a choice "units" of words of
// lua/units.lua, where "device" is an old one for "auto".
static void take_units(lua_State *L, struct script *s, struct program_device *device)
{
    const struct script_setting *units = script_find_setting(s, "units");
    const char *word = units ? units->value : "auto";
    const char *api = matrix_api_name(s->limits->matrix.api);
    device->emulates = str_equal(word, "emulated");
    if (device->emulates)
        matrix_emulate(&device->matrix);
    else if (!str_equal(word, "none"))
        device->matrix = s->limits->matrix;
    if (asks_for_device(word) && !str_equal(word, api))
        luaL_error(L, "units=%s: the device has no matrix units that kernels reach through that",
                   word);
}

// Refuses units that are asked for where no product can use them.
static void check_units(lua_State *L, const struct script *s)
{
    const struct script_setting *units = script_find_setting(s, "units");
    bool fits = !units || !asks_for_device(units->value);
    for (int i = 0; i < s->program->kernel_count; i++)
        fits = fits || s->program->kernel[i].shapes > 0;
    if (!fits)
        luaL_error(L,
                   "units=%s: the device has no matrix units for a product here, or there is "
                   "none with 8 rows, columns and terms (tilewalk devices lists their types; "
                   "--set units=emulated runs the same kernels anywhere, slowly)",
                   units->value);
}

static int declare_output(lua_State *L) // output(C)
{
    struct script *s = declare_operator_begin(L);
    struct defining *f = compute_state(L);
    const int *output = luaL_testudata(L, 1, COMPUTE_TENSOR);
    struct err e;
    if (!output || *output < f->d.inputs)
        return luaL_error(L, "output: expected a tensor that is computed");
    if (f->name)
        return luaL_error(L, "output(...) stands outside of compute(...)");
    for (int i = 0; i < f->d.tensor_count; i++)
        if (!f->read[i] && i != *output)
            luaL_error(L, "%s is %s and read by nothing", f->d.tensor[i].name,
                       i < f->d.inputs ? "declared" : "computed");
    struct place place = guard_caller(L);
    const struct limits *l = s->limits;
    uint32_t subgroup = l->subgroup_size ? l->subgroup_size : 1;
    bool asks = l->subgroup_least && l->subgroup_least < l->subgroup_most;
    struct program_device device = {.subgroup = subgroup,
                                    .invocations = l->invocations,
                                    .is_cpu = strcmp(s->device_type, "cpu") == 0,
                                    .lanes = asks ? l->subgroup_least : subgroup,
                                    .subgroups = asks ? l->group_subgroups : 0};
    take_units(L, s, &device);
    s->program = program_create(&f->d, device, &e);
    check_done(L, s->program, &e);
    check_units(L, s);
    define_operation(L, s, &f->d);
    check_done(L, program_add_params(s->program, s->space, &e), &e);
    s->loop_nest = program_nest(s->program);
    s->space->nest = s->loop_nest;
    program_set_rules(s->program, s->space, s->texts.item[place.text].path, place.line);
    return 0;
}

void declare_compute_open(lua_State *L)
{
    static const luaL_Reg functions[] = {{"tensor", declare_tensor},
                                         {"compute", declare_compute},
                                         {"output", declare_output},
                                         {NULL, NULL}};
    luaL_newmetatable(L, COMPUTE_TENSOR);
    lua_pushcfunction(L, read_tensor);
    lua_setfield(L, -2, "__call");
    lua_pop(L, 1);
    luaL_setfuncs(L, functions, 0);
    compute_open(L);
}
