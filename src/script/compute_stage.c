// What functions of axes give: the ways through them, their reductions, the stages that they make.
#include "script/compute.h"

#include "define/bounds.h"
#include "script/check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WAYS = 256 };

// Runs the function at `function` with `count` axes from `first` on; its answers are in f->ways.
static int run(lua_State *L, struct defining *f, int function, int first, int count)
{
    lua_pushvalue(L, function);
    for (int i = 0; i < count; i++)
        compute_push(L, definition_axis(&f->d, first + i));
    lua_call(L, count, 1);
    int node = compute_node(L, -1, "what the function returns");
    lua_pop(L, 1);
    return node;
}

// The expression of all ways that begin with the answers that are fixed.
static int explore(lua_State *L, struct defining *f, int function, int first, int count)
{
    struct ways *w = f->ways, taken;
    if (++w->runs > MOST_WAYS)
        luaL_error(L, "comparisons make more than %d ways through the function", MOST_WAYS);
    luaL_checkstack(L, LUA_MINSTACK, "comparisons");
    int fixed = w->fixed;
    w->count = 0;
    int node = run(L, f, function, first, count);
    taken = *w;
    for (int i = taken.count - 1; i >= fixed; i--) {
        memcpy(w->answer, taken.answer, sizeof w->answer);
        w->answer[i] = false;
        w->fixed = i + 1;
        int other = explore(L, f, function, first, count);
        node = definition_op(&f->d, NODE_SELECT, taken.condition[i], node, other);
    }
    return node;
}

int compute_expression(lua_State *L, struct defining *f, int function, int first, int count)
{
    struct ways w = {.outer = f->ways};
    f->ways = &w;
    int node = explore(L, f, function, first, count);
    f->ways = w.outer;
    if (node < 0)
        compute_push(L, node);
    return node;
}

// --- stages ---

// An index that can leave its tensor, where it stands in the file.
static void refuse_read(lua_State *L, const struct defining *f, const struct define_stage *s,
                        const struct misread *m)
{
    struct str text = {0};
    const struct node *n = m->read < 0 ? NULL : &f->d.node[m->read];
    if (!n) {
        luaL_error(L, "%s: too many conditions around what is read", f->name);
        return;
    }
    const struct define_tensor *t = &f->d.tensor[n->tensor];
    str_printf(&text, "%s: index %d of %s ", f->name, m->dimension + 1, t->name);
    if (m->is_certain)
        str_printf(&text, "is %.0f, not 0 to %" PRId64, m->index, t->size[m->dimension] - 1);
    else
        str_printf(&text, "cannot be shown to lie within 0 to %" PRId64, t->size[m->dimension] - 1);
    bool first = true;
    for (int i = 0; m->is_certain && i < s->space + s->reduce; i++)
        if (definition_depends(&f->d, f->d.index[n->index + m->dimension], i)) {
            str_printf(&text, "%s%s = %" PRId64, first ? " (at " : ", ", s->axis[i], m->at[i]);
            first = false;
        }
    str_add(&text, first ? "" : ")");
    lua_pushstring(L, str_text(&text));
    str_finish(&text);
    guard_raise(L, f->place[m->read], lua_tostring(L, -1));
}

static void check_bounds(lua_State *L, const struct defining *f, const struct define_stage *s)
{
    struct misread m;
    guard_charge(L, (uint64_t)f->d.node_count * 16);
    if (!bounds_check(&f->d, s, &m))
        refuse_read(L, f, s, &m);
}

static void note_reads(struct defining *f, int body)
{
    int *node = mem_alloc(((size_t)body + 1) * sizeof *node);
    int count = definition_nodes_of(&f->d, body, node);
    for (int i = 0; i < count; i++)
        if (f->d.node[node[i]].op == NODE_READ)
            f->read[f->d.node[node[i]].tensor] = true;
    free(node);
}

static enum element element_of(const struct definition *d, int body)
{
    const struct node *n = &d->node[body];
    return n->op == NODE_CAST ? n->element : n->is_real ? ELEMENT_F32 : ELEMENT_I32;
}

int compute_add_stage(lua_State *L, struct defining *f, const char *name, const bool *keep,
                      const struct define_stage *what)
{
    int reduce = what->reduce, body = what->body;
    struct define_stage open = {.space = f->axes - reduce, .reduce = reduce, .body = body}, s;
    struct define_tensor t = {.name = name, .element = element_of(&f->d, body), .rank = 1};
    int axis[DEFINE_MAX_AXES];
    memcpy(open.extent, f->extent, sizeof open.extent);
    memcpy(open.axis, f->axis, sizeof open.axis);
    check_bounds(L, f, &open);
    s = (struct define_stage){.reduction = what->reduction, .reduce = reduce};
    t.size[0] = 1;
    for (int i = 0; i < f->axes; i++) {
        axis[i] = -1;
        if (i < open.space && !keep[i])
            continue;
        int place = s.space + (i < open.space ? 0 : i - open.space);
        s.extent[place] = f->extent[i];
        s.axis[place] = f->axis[i];
        axis[i] = definition_axis(&f->d, place);
        if (i < open.space)
            t.size[s.space++] = f->extent[i];
    }
    if (s.space > DEFINE_MAX_RANK)
        luaL_error(L, "%s: more than %d axes", f->name, DEFINE_MAX_RANK);
    t.rank = s.space ? s.space : 1;
    if (f->d.stage_count == DEFINE_MAX_STAGES)
        luaL_error(L, "more than %d stages", DEFINE_MAX_STAGES);
    s.body = definition_substitute(&f->d, body, axis, NULL);
    if (s.body < 0)
        compute_push(L, s.body);
    note_reads(f, s.body);
    s.tensor = definition_add_tensor(&f->d, &t);
    definition_add_stage(&f->d, &s);
    return s.tensor;
}

static bool is_same_stage(const struct definition *d, const struct define_stage *a,
                          const struct define_stage *b)
{
    size_t axes = (size_t)(a->space + a->reduce);
    return a->reduction == b->reduction && a->space == b->space && a->reduce == b->reduce &&
           a->body == b->body && memcmp(a->extent, b->extent, axes * sizeof *a->extent) == 0 &&
           d->tensor[a->tensor].element == d->tensor[b->tensor].element;
}

// Each run of the function makes its reductions anew.
static int known_stage(struct definition *d, int first, int tensor)
{
    const struct define_stage *last = &d->stage[d->stage_count - 1];
    for (int i = first; i < d->stage_count - 1; i++)
        if (is_same_stage(d, &d->stage[i], last)) {
            d->stage_count--;
            d->tensor_count--;
            return d->stage[i].tensor;
        }
    return tensor;
}

// Opens the axes of { { "k", K }, ... } at `list`; gives how many.
static int open_axes(lua_State *L, struct defining *f, int list, const char *what)
{
    int count = check_list(L, list, what);
    if (count < 1 || count > DEFINE_MAX_REDUCE || f->axes + count > DEFINE_MAX_AXES)
        luaL_error(L, "%s: %d axes, not 1 to %d of at most %d that are open", what, count,
                   DEFINE_MAX_REDUCE, DEFINE_MAX_AXES);
    for (int i = 1; i <= count; i++) {
        lua_geti(L, list, i);
        if (check_list(L, -1, what) != 2)
            luaL_error(L, "%s: an axis is { \"name\", length }", what);
        lua_geti(L, -1, 1);
        const char *name = check_identifier(L, -1, what);
        if (strlen(name) > COMPUTE_MOST_NAME)
            luaL_error(L, "%s: the name of an axis has at most %d letters", what,
                       COMPUTE_MOST_NAME);
        f->axis[f->axes] = arena_strdup(&f->d.arena, name);
        lua_geti(L, -2, 2);
        f->extent[f->axes++] = check_whole(L, -1, what, 1, INT32_MAX);
        lua_pop(L, 3);
    }
    return count;
}

// sum({ { "k", K } }, function(k) ... end): an expression, which reads the stage that it makes.
static int reduce(lua_State *L, enum reduction kind)
{
    const char *what = reduction_name(kind);
    struct defining *f = compute_running(L, what);
    char name[2 * COMPUTE_MOST_NAME + 20];
    bool keep[DEFINE_MAX_AXES] = {false};
    int index[DEFINE_MAX_RANK], rank = 0, outer = f->axes;
    check_type(L, 2, what, LUA_TFUNCTION);
    lua_settop(L, 2);
    int count = open_axes(L, f, 1, what), body = compute_expression(L, f, 2, outer, count);
    for (int i = 0; i < outer; i++)
        keep[i] = definition_depends(&f->d, body, i);
    snprintf(name, sizeof name, "%s_%s%d", f->name, what, ++f->reductions);
    const struct define_stage made = {.reduction = kind, .reduce = count, .body = body};
    int tensor = known_stage(&f->d, f->first_stage, compute_add_stage(L, f, name, keep, &made));
    f->axes = outer;
    for (int i = 0; i < outer; i++)
        if (keep[i])
            index[rank++] = definition_axis(&f->d, i);
    if (rank == 0)
        index[rank++] = definition_number(&f->d, 0, false);
    return compute_push(L, definition_read(&f->d, tensor, index, rank));
}

static int call_sum(lua_State *L)
{
    return reduce(L, REDUCE_SUM);
}

static int call_product(lua_State *L)
{
    return reduce(L, REDUCE_PRODUCT);
}

// max({ axes }, function) or max(a, b).
static int either(lua_State *L, enum reduction kind, enum node_op op)
{
    if (lua_type(L, 1) == LUA_TTABLE)
        return reduce(L, kind);
    if (compute_are_numbers(L, 2)) {
        lua_pushvalue(L, lua_compare(L, 1, 2, LUA_OPLT) == (kind == REDUCE_MAX) ? 2 : 1);
        return 1;
    }
    return compute_two(L, op);
}

static int call_max(lua_State *L)
{
    return either(L, REDUCE_MAX, NODE_MAX);
}

static int call_min(lua_State *L)
{
    return either(L, REDUCE_MIN, NODE_MIN);
}

void compute_stage_open(lua_State *L)
{
    static const luaL_Reg functions[] = {{"sum", call_sum},
                                         {"product", call_product},
                                         {"max", call_max},
                                         {"min", call_min},
                                         {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
