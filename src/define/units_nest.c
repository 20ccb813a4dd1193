// The loop nest of a kernel on matrix units. A subgroup multiplies a fragment together: an
// invocation's share counts, numbers `lane`, `lane + lanes`, ... of it. An emulation, where each
// invocation does far more, counts as what it emulates.
#include "define/weave.h"

#include "base/mem.h"

#include <stddef.h>
#include <stdlib.h>

enum { BATCH = PRODUCT_BATCH, ROWS = PRODUCT_ROWS, COLUMNS = PRODUCT_COLUMNS, REDUCED };

// Formulas.
struct sizes {
    int extent[4];                // of a fragment along rows, columns and the reduction
    int units[3], fragments[3];   // along rows and columns
    int share;                    // numbers of a fragment that an invocation has
    int tile[2], pitch[2], along; // lines of a factor's tile, how far they lie apart; its depth
};

int weave_unit_loop(const struct weaver *w, int axis)
{
    const struct define_stage *s = &w->k->stage;
    const struct product *p = &w->k->product;
    int loop = BATCH;
    while (loop < REDUCED && !(p->axes[loop] >> axis & 1))
        loop++;
    for (int a = axis + 1; a < s->space + s->reduce; a++)
        if (s->extent[a] > 1 && (loop < REDUCED ? p->axes[loop] : p->reduced) >> a & 1)
            return -1;
    return loop;
}

// By the shape that is chosen; `at`: where the number stands in it.
static int of_shape(struct weaver *w, size_t at)
{
    const struct program_kernel *k = w->k;
    int chosen = formulas_slot(&w->nest->formulas, w->p->space->param[w->v->shape].offset);
    int value = weave_constant(w, 0);
    for (int i = 0; i < k->shapes; i++) {
        uint16_t number = *(const uint16_t *)((const char *)&k->shape[i] + at);
        value = formulas_add(&w->nest->formulas, FORMULA_CHOOSE,
                             weave_compute(w, FORMULA_EQUAL, chosen, weave_constant(w, i)),
                             weave_constant(w, number), value);
    }
    return value;
}

static int slot(struct weaver *w, int param, int place)
{
    return formulas_slot(&w->nest->formulas, w->p->space->param[param].offset + place);
}

static void set_sizes(struct weaver *w, struct sizes *z)
{
    int bytes = element_bytes(w->k->product.element);
    int steps = formulas_number(&w->nest->formulas, w->v->steps);
    z->extent[ROWS] = of_shape(w, offsetof(struct matrix_shape, m));
    z->extent[COLUMNS] = of_shape(w, offsetof(struct matrix_shape, n));
    z->extent[REDUCED] = of_shape(w, offsetof(struct matrix_shape, k));
    z->share =
        weave_compute(w, FORMULA_DIVIDE, weave_multiply(w, z->extent[ROWS], z->extent[COLUMNS]),
                      weave_constant(w, w->p->device.lanes));
    z->along = weave_multiply(w, steps, z->extent[REDUCED]);
    int pad = weave_multiply(w, formulas_number(&w->nest->formulas, w->v->pad),
                             weave_constant(w, 16 / bytes));
    for (int side = ROWS; side <= COLUMNS; side++) {
        int f = side - ROWS;
        z->units[side] = slot(w, w->v->subgroups, side);
        z->fragments[side] = slot(w, w->v->fragments, side);
        z->tile[f] = weave_multiply(w, z->units[side],
                                    weave_multiply(w, z->fragments[side], z->extent[side]));
        z->pitch[f] =
            weave_compute(w, FORMULA_ADD, pad, w->k->product.along[f] ? z->along : z->tile[f]);
    }
}

// --- loops and buffers ---

static void set_loop(struct weaver *w, int loop, int part, enum nest_loop_kind kind, int length,
                     int step)
{
    static const char *const parts[] = {"group", "tile", "unit", "fragment", "element"};
    w->step[loop][part] = step;
    w->loop[loop][part] = weave_add_loop(
        w, mem_printf("%s_%s%d", parts[part], w->v->loops.name[loop], loop), kind, length);
}

static int ceil_divide(struct weaver *w, int loop, int by)
{
    return weave_compute(w, FORMULA_CEIL_DIVIDE,
                         weave_constant(w, (double)w->v->loops.length[loop]), by);
}

static void add_loops(struct weaver *w, const struct sizes *z)
{
    int one = weave_constant(w, 1);
    for (int a = 0; a < DEFINE_MAX_AXES; a++) {
        w->constant[a] = -1;
        for (int i = 0; i < TILE_PARTS; i++)
            w->loop[a][i] = w->written[a][i] = -1;
    }
    set_loop(w, BATCH, TILE_GROUPS, NEST_BLOCK_Y, ceil_divide(w, BATCH, one), one);
    for (int side = ROWS; side <= COLUMNS; side++) {
        int tile = z->tile[side - ROWS];
        set_loop(w, side, TILE_GROUPS, NEST_BLOCK_X, ceil_divide(w, side, tile), tile);
        set_loop(w, side, TILE_THREADS, NEST_THREAD_X, z->units[side],
                 weave_multiply(w, z->fragments[side], z->extent[side]));
        set_loop(w, side, TILE_OUTER, NEST_UNROLLED, z->fragments[side], z->extent[side]);
    }
    w->lanes = weave_constant(w, w->p->device.lanes);
    set_loop(w, COLUMNS, TILE_INNER, NEST_VECTORIZED, z->share, w->lanes);
    w->lane = weave_add_loop(w, mem_strdup("lane"), NEST_THREAD_X, w->lanes);
    set_loop(w, REDUCED, TILE_LOOP, NEST_SERIAL, ceil_divide(w, REDUCED, z->along), z->along);
    set_loop(w, REDUCED, TILE_MIDDLE, NEST_UNROLLED,
             formulas_number(&w->nest->formulas, w->v->steps), z->extent[REDUCED]);
}

static int add_buffer(struct weaver *w, const char *name, enum nest_memory memory, int bytes,
                      int lines, int line)
{
    int index = weave_add_buffer(w, name, memory, bytes);
    struct nest_buffer *b = &w->nest->buffer[index];
    b->used = w->when;
    b->dim_count = 2;
    b->dim[0] = lines;
    b->dim[1] = line;
    return index;
}

static void add_buffers(struct weaver *w, const struct sizes *z)
{
    static const char *const names[] = {"rows.shared", "columns.shared"};
    int bytes = element_bytes(w->k->product.element);
    w->registers =
        add_buffer(w, "value", NEST_REGISTERS, 4,
                   weave_multiply(w, z->fragments[ROWS], z->fragments[COLUMNS]), z->share);
    for (int f = 0; f < 2; f++)
        w->copy[f] = add_buffer(w, names[f], NEST_SHARED, bytes,
                                w->k->product.along[f] ? z->tile[f] : z->along, z->pitch[f]);
    w->copy[2] = add_buffer(w, "finished", NEST_SHARED, 4,
                            weave_multiply(w, z->units[ROWS], z->units[COLUMNS]),
                            weave_multiply(w, z->extent[ROWS], z->extent[COLUMNS]));
}

// --- statements ---

// A term of the access's index.
static void add_term(struct weaver *w, struct nest_access *x, int dim, int loop, int coefficient)
{
    if (!x->dim[dim].term)
        x->dim[dim].term = weave_new_terms(w);
    ((struct nest_term *)(uintptr_t)x->dim[dim].term)[x->dim[dim].count++] =
        (struct nest_term){loop, coefficient};
}

struct nest_access weave_unit_registers(struct weaver *w, bool reads, bool writes)
{
    struct nest_access x = {.buffer = w->registers, .read = reads, .write = writes};
    int one = weave_constant(w, 1);
    add_term(w, &x, 0, w->loop[ROWS][TILE_OUTER], slot(w, w->v->fragments, COLUMNS));
    add_term(w, &x, 0, w->loop[COLUMNS][TILE_OUTER], one);
    add_term(w, &x, 1, w->loop[COLUMNS][TILE_INNER], one);
    return x;
}

// Of the fragment that a subgroup hands over.
static struct nest_access finished(struct weaver *w, const struct sizes *z, bool writes)
{
    struct nest_access x = {.buffer = w->copy[2], .read = !writes, .write = writes};
    int one = weave_constant(w, 1);
    add_term(w, &x, 0, w->loop[ROWS][TILE_THREADS], z->units[COLUMNS]);
    add_term(w, &x, 0, w->loop[COLUMNS][TILE_THREADS], one);
    add_term(w, &x, 1, w->lane, one);
    add_term(w, &x, 1, w->loop[COLUMNS][TILE_INNER], w->lanes);
    return x;
}

static struct nest_access tile(struct weaver *w, int f)
{
    struct nest_access x = {.buffer = w->copy[f], .read = true};
    int lines = w->k->product.along[f] ? 0 : 1, side = ROWS + f;
    add_term(w, &x, lines, w->loop[side][TILE_THREADS], w->step[side][TILE_THREADS]);
    add_term(w, &x, lines, w->loop[side][TILE_OUTER], w->step[side][TILE_OUTER]);
    add_term(w, &x, 1 - lines, w->loop[REDUCED][TILE_MIDDLE], w->step[REDUCED][TILE_MIDDLE]);
    return x;
}

// Neighbours among a workgroup's invocations, and rounds of all of them.
static void add_rounds(struct weaver *w, const struct sizes *z, struct nest_access *x, int dim,
                       int fill)
{
    int units = weave_multiply(w, w->lanes, z->units[COLUMNS]);
    add_term(w, x, dim, w->lane, weave_constant(w, 1));
    add_term(w, x, dim, w->loop[COLUMNS][TILE_THREADS], w->lanes);
    add_term(w, x, dim, w->loop[ROWS][TILE_THREADS], units);
    add_term(w, x, dim, fill, weave_multiply(w, units, z->units[ROWS]));
}

// A factor's numbers, computed as they are copied.
static void add_fill(struct weaver *w, const struct sizes *z, int f)
{
    const struct definition *d = &w->p->inlined;
    int node = w->k->product.factor[f];
    int threads = weave_multiply(w, w->lanes, weave_multiply(w, z->units[ROWS], z->units[COLUMNS]));
    int fill = weave_add_loop(
        w, mem_printf("fill%d", f), NEST_SERIAL,
        weave_compute(w, FORMULA_CEIL_DIVIDE, weave_multiply(w, z->tile[f], z->along), threads));
    struct nest_access first = {.buffer = w->copy[f], .write = true};
    add_rounds(w, z, &first, 1, fill);
    struct nest_statement *s = weave_new_statement(w, "copy", PATH_FILL, first);
    ((int *)(uintptr_t)s->loop)[s->loop_count++] = fill;
    weave_count_operations(w, node, 0, REDUCE_NONE, s);
    int *order = mem_alloc(((size_t)node + 1) * sizeof *order);
    int count = definition_nodes_of(d, node, order);
    for (int i = 0; i < count; i++) {
        const struct node *n = &d->node[order[i]];
        if (n->op != NODE_READ)
            continue;
        struct nest_access x = {.buffer = weave_buffer_of(w, n->tensor, n->tensor < d->inputs),
                                .read = true};
        int rank = d->tensor[n->tensor].rank;
        for (int k = 0; k < rank; k++) {
            double coefficient[DEFINE_AFFINE] = {0};
            struct nest_term *term = weave_new_terms(w);
            definition_affine(d, d->index[n->index + k], 1, coefficient);
            x.dim[k].count =
                weave_add_terms(w, coefficient, OUTER_PARTS, weave_constant(w, 1), term, 0);
            x.dim[k].term = term;
        }
        add_rounds(w, z, &x, rank - 1, fill);
        weave_add_access(s, x);
    }
    free(order);
}

static void add_products(struct weaver *w, const struct sizes *z)
{
    struct nest_statement *s =
        weave_new_statement(w, "products", PATH_REDUCE, weave_unit_registers(w, true, true));
    bool is_real = w->p->inlined.node[w->k->stage.body].is_real;
    int *each[] = {is_real ? &s->add : &s->integer, &s->multiply};
    *each[0] = weave_multiply(w, z->extent[REDUCED], weave_constant(w, is_real ? 1 : 2));
    if (is_real)
        *each[1] = z->extent[REDUCED];
    weave_add_access(s, tile(w, 0));
    weave_add_access(s, tile(w, 1));
}

static void add_store(struct weaver *w, const struct sizes *z)
{
    struct nest_statement *s =
        weave_new_statement(w, "hand over", PATH_STORE, finished(w, z, true));
    weave_add_access(s, weave_unit_registers(w, true, false));
    s = weave_new_statement(w, "store", PATH_STORE, weave_output_access(w));
    weave_add_access(s, finished(w, z, false));
    if (w->k->epilogue < 0)
        return;
    weave_add_reads(w, s, w->k->epilogue, 0);
    weave_count_operations(w, w->k->epilogue, 0, REDUCE_NONE, s);
}

void weave_units(struct weaver *w)
{
    struct sizes z;
    set_sizes(w, &z);
    add_loops(w, &z);
    add_buffers(w, &z);
    add_fill(w, &z, 0);
    add_fill(w, &z, 1);
    add_products(w, &z);
    add_store(w, &z);
}
