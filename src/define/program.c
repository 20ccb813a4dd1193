// Makes a program of a definition: its kernels, the ways to compute them, and the sketches' names.
#include "define/program.h"

#include "base/number.h"

#include <stdlib.h>
#include <string.h>

int program_staged_of(const struct program_kernel *k, int node)
{
    int i = k->staged_count - 1;
    while (i >= 0 && k->staged[i].read != node)
        i--;
    return i;
}

// --- kernels ---
//
// `expression` has for each tensor the expression that is inlined; -1: the tensor is read. `usual`
// has the plans of the first sketch: the sketches of a definition differ only in how reductions are
// shared and in loops that may run past their ends.

// Finds the reads of the kernel that may be staged, and the expression that is staged for each.
static void find_staged(struct program *p, struct program_kernel *k, const int *expression)
{
    struct definition *d = &p->inlined;
    int read[DEFINE_MAX_NODES], kept = 0;
    int reads = definition_list(d, k->stage.body, NODES_UNCONDITIONAL, read);
    for (int i = 0; i < reads && k->staged_count < PROGRAM_MAX_STAGED; i++) {
        const struct node *n = &d->node[read[i]];
        struct staged_read *c = &k->staged[k->staged_count];
        bool is_affine = true;
        *c = (struct staged_read){.read = read[i],
                                  .tensor = n->tensor,
                                  .rank = d->tensor[n->tensor].rank,
                                  .computed = -1,
                                  .stage = expression[n->tensor] < 0 ? -1 : n->tensor - d->inputs};
        if (!p->sketches.sketch[0].is_cached[n->tensor])
            continue;
        for (int j = 0; j < c->rank; j++)
            is_affine =
                definition_affine(d, d->index[n->index + j], 1, c->coefficient[j]) && is_affine;
        k->staged_count += is_affine;
    }
    // An inlined stage is staged only where all its reads are.
    for (int i = 0; i < k->staged_count; i++) {
        int tensor = k->staged[i].tensor, count = 0;
        for (int j = 0; j < k->staged_count; j++)
            count += k->staged[j].tensor == tensor;
        if (k->staged[i].stage < 0 || count == definition_reads_of(d, k->stage.body, tensor))
            k->staged[kept++] = k->staged[i];
    }
    k->staged_count = kept;
    for (int i = 0; i < k->staged_count; i++) {
        struct staged_read *c = &k->staged[i];
        int index[DEFINE_MAX_RANK];
        c->expression = expression[c->tensor];
        if (c->stage >= 0) {
            c->computed = definition_substitute(d, c->read, NULL, expression);
            continue;
        }
        for (int j = 0; j < c->rank; j++)
            index[j] = definition_axis(d, j);
        c->expression = definition_read(d, c->tensor, index, c->rank);
    }
}

static bool add_kernel(struct program *p, const struct define_stage *s, const int *expression,
                       struct err *e)
{
    struct definition *d = &p->inlined;
    const enum stage_plan *usual = p->sketches.sketch[0].plan;
    const char *name = d->tensor[s->tensor].name;
    int others[DEFINE_MAX_TENSORS]; // `expression` without staged reads and PLAN_ONCE
    if (p->kernel_count == PROGRAM_MAX_KERNELS)
        return err_set(e, "more than %d reductions one after the other (%s is one too many)",
                       PROGRAM_MAX_KERNELS, name);
    struct program_kernel *k = &p->kernel[p->kernel_count++];
    *k = (struct program_kernel){.stage = *s, .epilogue = -1, .is_output = s->tensor == p->output};
    if (usual[s->tensor] == PLAN_TILE)
        find_staged(p, k, expression);
    bool ok = true;
    if (product_find(d, &k->stage, &k->product)) {
        k->shapes =
            product_shapes(&k->product, d->node[s->body].is_real, &p->device.matrix, k->shape);
        int *factor = k->product.factor;
        for (int i = 0; i < 2 && k->shapes; i++)
            factor[i] = definition_substitute(d, factor[i], NULL, expression);
        ok = factor[0] >= 0 && factor[1] >= 0;
    }
    for (int i = 0; i < DEFINE_MAX_TENSORS; i++)
        others[i] = usual[i] == PLAN_ONCE ? -1 : expression[i];
    for (int i = 0; i < k->staged_count; i++) {
        const struct staged_read *c = &k->staged[i];
        others[c->tensor] = -1;
        ok = ok && c->expression >= 0 && (c->stage < 0 || c->computed >= 0);
    }
    if (ok)
        k->stage.body = definition_substitute(d, k->stage.body, NULL, others);
    if (!ok || k->stage.body < 0)
        return err_set(e, "%s: too large once what it reads is computed in it", name);
    k->scratch = p->scratch_bytes / 4;
    if (!k->is_output)
        p->scratch_bytes += 4 * (uint64_t)define_tensor_count(&d->tensor[s->tensor]);
    return true;
}

static bool make_kernels(struct program *p, struct err *e)
{
    struct definition *d = &p->inlined;
    const enum stage_plan *usual = p->sketches.sketch[0].plan;
    int expression[DEFINE_MAX_TENSORS], once[DEFINE_MAX_TENSORS];
    p->output = d->stage[d->stage_count - 1].tensor;
    for (int i = 0; i < DEFINE_MAX_TENSORS; i++)
        expression[i] = -1;
    for (int i = 0; i < d->stage_count; i++) {
        const struct define_stage *s = &d->stage[i];
        int body = definition_substitute(d, s->body, NULL, expression);
        if (body < 0)
            return err_set(e, "%s: too large once what it reads is computed in it",
                           d->tensor[s->tensor].name);
        // The output becomes the epilogue of the last kernel where it maps that kernel's results.
        struct program_kernel *k = p->kernel_count ? &p->kernel[p->kernel_count - 1] : NULL;
        bool is_map = k && s->reduction == REDUCE_NONE && s->space == k->stage.space &&
                      memcmp(s->extent, k->stage.extent, (size_t)s->space * sizeof *s->extent) == 0;
        if (i < d->stage_count - 1 && s->reduction == REDUCE_NONE) {
            expression[s->tensor] = body;
        } else if (is_map && reads_in_place(d, body, k->stage.tensor)) {
            k->epilogue = body;
            k->is_output = true;
            p->scratch_bytes = 4 * k->scratch;
        } else if (!add_kernel(p, s, expression, e)) {
            return false;
        }
    }
    for (int i = 0; i < DEFINE_MAX_TENSORS; i++)
        once[i] = usual[i] == PLAN_ONCE ? expression[i] : -1;
    for (int i = 0; i < p->kernel_count; i++) {
        struct program_kernel *k = &p->kernel[i];
        if (usual[k->stage.tensor] == PLAN_CONSTANT &&
            !constants_unroll(d, &k->stage, k->epilogue, once, &k->unrolled))
            return err_set(e, "%s: too large once its constant tensors are written out",
                           d->tensor[k->stage.tensor].name);
    }
    return true;
}

// --- variants ---

static void add_loop(struct program_variant *v, bool is_space, int64_t length, const char *name)
{
    struct program_loops *l = &v->loops;
    int i = l->space + l->reduce;
    l->length[i] = length;
    l->extent[i] = v->is_guarded ? guarded_extent(length) : length;
    l->name[i] = name;
    l->param[i] = -1;
    *(is_space ? &l->space : &l->reduce) += 1;
}

// Joins the names of the axes, a bit each, without those that are unrolled.
static const char *joined(struct program *p, const struct program_kernel *k, unsigned axes)
{
    const struct define_stage *s = &k->stage;
    struct str name = {0};
    for (int a = 0; a < s->space + s->reduce; a++)
        if (s->extent[a] > 1 && (axes & ~k->unrolled.axes) >> a & 1)
            str_printf(&name, "%s%s", name.length ? "_" : "", s->axis[a]);
    const char *kept = arena_strdup(&p->inlined.arena, name.length ? str_text(&name) : "all");
    str_finish(&name);
    return kept;
}

static void add_variant(struct program *p, struct program_kernel *k, enum stage_plan plan,
                        bool guarded)
{
    const struct define_stage *s = &k->stage;
    struct program_variant *v = &k->variant[k->variants++];
    unsigned space = (1U << s->space) - 1;
    *v = (struct program_variant){
        .plan = plan, .is_guarded = guarded, .unroll = -1, .vector = -1, .pad = -1, .buffers = -1};
    for (int i = 0; i < PROGRAM_MAX_STAGED; i++)
        v->staging[i] = -1;
    if (plan == PLAN_TILE) {
        for (int a = 0; a < s->space + s->reduce; a++)
            add_loop(v, a < s->space, s->extent[a], s->axis[a]);
    } else if (plan == PLAN_MATRIX) {
        for (int side = 0; side <= PRODUCT_SIDES; side++) {
            unsigned axes = side < PRODUCT_SIDES ? k->product.axes[side] : k->product.reduced;
            add_loop(v, side < PRODUCT_SIDES, stage_points_of(s, axes), joined(p, k, axes));
        }
    } else {
        int64_t written = plan == PLAN_CONSTANT ? k->unrolled.values : 1;
        add_loop(v, true, stage_points(s, 0, s->space) / written, joined(p, k, space));
        v->values = k->unrolled.values;
        v->reads = k->unrolled.reads;
        if (s->reduce && plan != PLAN_CONSTANT)
            add_loop(v, false, stage_points(s, s->space, s->reduce), joined(p, k, ~space));
    }
}

// --- sketches ---

// Removes sketches that compute all kernels as an earlier one does: they differ only in stages that
// became a part of another kernel.
static void remove_doubles(struct program *p)
{
    struct sketches *s = &p->sketches;
    int kept = 0;
    for (int i = 0; i < s->count; i++) {
        bool is_new = true;
        for (int j = 0; j < kept; j++) {
            bool alike = true;
            for (int k = 0; k < p->kernel_count; k++) {
                int tensor = p->kernel[k].stage.tensor;
                alike = alike &&
                        program_plan_of(p, &s->sketch[i], tensor) ==
                            program_plan_of(p, &s->sketch[j], tensor) &&
                        s->sketch[i].is_guarded[tensor] == s->sketch[j].is_guarded[tensor];
            }
            is_new = is_new && !alike;
        }
        if (is_new)
            s->sketch[kept++] = s->sketch[i];
    }
    s->count = kept;
}

// Returns "tiled" or "serial"; where kernels have another plan or are guarded, it names these:
// "cross-thread(top+sum),guarded(Y)".
static char *name_of(const struct program *p, const struct sketch *s)
{
    static const struct {
        const char *how;
        enum stage_plan plan; // PLAN_SERIAL: the kernel is guarded
    } groups[] = {{"cross-thread(", PLAN_CROSS},
                  {"split(", PLAN_SPLIT},
                  {"matrix(", PLAN_MATRIX},
                  {"guarded(", PLAN_SERIAL}};
    struct str name = {0};
    bool tiles = false;
    for (int g = 0; g < 4; g++) {
        int count = 0;
        for (int k = 0; k < p->kernel_count; k++) {
            int tensor = p->kernel[k].stage.tensor;
            tiles = tiles || p->sketches.sketch[0].plan[tensor] == PLAN_TILE;
            if (groups[g].plan == PLAN_SERIAL ? !s->is_guarded[tensor]
                                              : s->plan[tensor] != groups[g].plan)
                continue;
            str_add(&name, name.length && !count ? "," : "");
            str_printf(&name, "%s%s", count++ ? "+" : groups[g].how,
                       p->inlined.tensor[tensor].name);
        }
        str_add(&name, count ? ")" : "");
    }
    if (!name.length)
        str_add(&name, tiles ? "tiled" : "serial");
    return str_take(&name);
}

// Returns the operations of an expression in the text: each node once, and a read as many as it has
// indices.
static int operations_of(const struct definition *d, int node)
{
    int order[DEFINE_MAX_NODES], operations = 0;
    int count = definition_list(d, node, NODES_ALL, order);
    for (int i = 0; i < count; i++) {
        const struct node *n = &d->node[order[i]];
        operations +=
            n->op == NODE_READ ? d->tensor[n->tensor].rank : node_kinds[n->op].operands > 0;
    }
    return operations;
}

// --- programs ---

// Features of a space that Ansor's sketches lack. Each makes the space larger.
struct extras {
    bool guards, splits, widths, matrix;
};

static bool build(struct program *p, const char *text, struct extras with, struct err *e)
{
    static const struct matrix_units none;
    const struct sketch_device device = {p->device.subgroup, p->device.invocations, with.guards,
                                         with.splits, with.matrix ? &p->device.matrix : &none};
    if (!definition_read_text(&p->inlined, text, e))
        return false;
    sketches_derive(&p->inlined, device, &p->sketches);
    if (!make_kernels(p, e))
        return false;
    remove_doubles(p);
    for (int i = 0; i < p->kernel_count; i++) // the first variant is that of the first sketch
        for (int n = 0; n < p->sketches.count; n++) {
            const struct sketch *s = &p->sketches.sketch[n];
            int tensor = p->kernel[i].stage.tensor;
            if (program_variant_of(p, n, i) < 0)
                add_variant(p, &p->kernel[i], program_plan_of(p, s, tensor), s->is_guarded[tensor]);
        }
    // The operations in the texts of all kernels decide how long drivers compile them.
    const struct definition *d = &p->inlined;
    for (int i = 0; i < p->kernel_count; i++) {
        struct program_kernel *k = &p->kernel[i];
        const struct unrolled *c = &k->unrolled;
        k->operations = operations_of(d, k->stage.body) + (k->stage.reduction != REDUCE_NONE);
        k->store_operations = 1 + (k->epilogue < 0 ? 0 : operations_of(d, k->epilogue));
        for (int j = 0; j < k->staged_count;
             j++) { // the index of a staged element is counted as one
            struct staged_read *x = &k->staged[j];
            x->operations = operations_of(d, x->computed < 0 ? x->read : x->computed);
            k->operations -= operations_of(d, x->read) - 1;
        }
        k->operations = int_max(k->operations, 1 + k->staged_count);
        for (int j = 0; j < c->values; j++)
            k->unrolled_operations += operations_of(d, c->value[j]);
        for (int j = 0; j < c->reads; j++)
            k->unrolled_operations += c->computed[j] < 0 ? 0 : operations_of(d, c->computed[j]);
    }
    for (int i = 0; i < p->sketches.count; i++)
        p->sketch_name[i] = name_of(p, &p->sketches.sketch[i]);
    return true;
}

struct program *program_create(const struct definition *d, struct program_device device,
                               struct err *e)
{
    // The first set of features is taken with which the parameters fit a configuration.
    static const struct extras extras[] = {
        {true, true, true, true},    {true, true, true, false},   {true, true, false, false},
        {true, false, false, false}, {false, false, true, false}, {false, false, false, false}};
    enum { LAST = sizeof extras / sizeof *extras - 1 };
    struct str text = {0};
    struct program *p = NULL;
    bool ok = definition_write(d, &text);
    if (!ok)
        err_set(e, "the definition is too large (what it shares is written out)");
    for (int i = device.matrix.count ? 0 : 1; ok && !p; i++) {
        p = mem_zero(1, sizeof *p);
        p->device = device;
        p->has_widths = extras[i].widths;
        p->chooser = -1;
        ok = build(p, str_text(&text), extras[i], e);
        bool fits = ok && i == LAST;
        if (ok && !fits) {
            struct space *room = space_create("room");
            struct err ignored;
            fits = program_add_params(p, room, &ignored);
            space_destroy(room);
            p->space = NULL;
            p->chooser = -1;
        }
        if (fits)
            break;
        program_destroy(p);
        p = NULL;
    }
    str_finish(&text);
    return p;
}

void program_destroy(struct program *p)
{
    for (int i = 0; p && i < SKETCH_MOST; i++)
        free(p->sketch_name[i]);
    if (p)
        definition_finish(&p->inlined);
    free(p);
}
