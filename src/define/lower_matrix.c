// The loop nest of a kernel on matrix units. The invocations of a subgroup multiply a fragment
// together; the nest counts the share of one invocation: elements `lane`, `lane + lanes`, ... of
// it. The nest of an emulated kernel is that of the kernel that it emulates, although its
// invocations do far more.
#include "define/lower.h"

#include <stddef.h>

struct sizes {                      // formulas
    int extent[4];                  // of a fragment along rows, columns and the reduction
    int subgroups[3], fragments[3]; // along rows and columns
    int share;                      // elements of a fragment that an invocation has
    int tile[2], pitch[2];          // extent of a factor's tile along its side; distance of lines
    int depth;                      // extent of the tiles along the reduction
};

// Returns the formula of a member of the chosen shape, which stands at offset `at`.
static int shape_member(struct lowering *w, size_t at)
{
    const struct program_kernel *k = w->k;
    int chosen = lower_slot(w, w->v->shape, 0), value = lower_constant(w, 0);
    for (int i = 0; i < k->shapes; i++) {
        uint16_t number = *(const uint16_t *)((const char *)&k->shape[i] + at);
        value = formulas_add(&w->nest->formulas, FORMULA_CHOOSE,
                             lower_compute(w, FORMULA_EQUAL, chosen, lower_constant(w, i)),
                             lower_constant(w, number), value);
    }
    return value;
}

static struct sizes sizes_of(struct lowering *w)
{
    struct sizes z = {.extent = {0}};
    int bytes = element_bytes(w->k->product.element);
    z.extent[ROWS] = shape_member(w, offsetof(struct matrix_shape, m));
    z.extent[COLUMNS] = shape_member(w, offsetof(struct matrix_shape, n));
    z.extent[REDUCED] = shape_member(w, offsetof(struct matrix_shape, k));
    z.share = lower_compute(w, FORMULA_DIVIDE, lower_multiply(w, z.extent[ROWS], z.extent[COLUMNS]),
                            lower_constant(w, w->p->device.lanes));
    z.depth = lower_multiply(w, lower_number(w, w->v->steps, 0), z.extent[REDUCED]);
    int pad = lower_multiply(w, lower_number(w, w->v->pad, 0), lower_constant(w, 16 / bytes));
    for (int side = ROWS; side <= COLUMNS; side++) {
        int f = side - ROWS;
        z.subgroups[side] = lower_slot(w, w->v->subgroups, side);
        z.fragments[side] = lower_slot(w, w->v->fragments, side);
        z.tile[f] = lower_multiply(w, z.subgroups[side],
                                   lower_multiply(w, z.fragments[side], z.extent[side]));
        z.pitch[f] =
            lower_compute(w, FORMULA_ADD, pad, w->k->product.along[f] ? z.depth : z.tile[f]);
    }
    return z;
}

static void set_loop(struct lowering *w, int loop, int part, enum nest_loop_kind kind, int length,
                     int step)
{
    static const char *const parts[] = {"group", "tile", "unit", "fragment", "element"};
    w->step[loop][part] = step;
    w->loop[loop][part] = lower_add_loop(
        w, mem_printf("%s_%s%d", parts[part], w->v->loops.name[loop], loop), kind, length);
}

static int ceil_divide(struct lowering *w, int loop, int by)
{
    return lower_compute(w, FORMULA_CEIL_DIVIDE,
                         lower_constant(w, (double)w->v->loops.length[loop]), by);
}

// Returns an access of the fragments that subgroups pass through shared memory.
static struct nest_access finished(struct lowering *w, const struct sizes *z, bool writes)
{
    struct nest_access x = {.buffer = w->staged[2], .read = !writes, .write = writes};
    int one = lower_constant(w, 1);
    lower_add_term(w, &x, 0, w->loop[ROWS][TILE_THREADS], z->subgroups[COLUMNS]);
    lower_add_term(w, &x, 0, w->loop[COLUMNS][TILE_THREADS], one);
    lower_add_term(w, &x, 1, w->lane, one);
    lower_add_term(w, &x, 1, w->loop[COLUMNS][TILE_INNER], w->lanes);
    return x;
}

// Adds the statement that stages a factor, whose elements are computed while they are copied.
static void add_fill(struct lowering *w, const struct sizes *z, int f)
{
    int node = w->k->product.factor[f];
    int threads =
        lower_multiply(w, w->lanes, lower_multiply(w, z->subgroups[ROWS], z->subgroups[COLUMNS]));
    int fill = lower_add_loop(
        w, mem_printf("fill%d", f), NEST_SERIAL,
        lower_compute(w, FORMULA_CEIL_DIVIDE, lower_multiply(w, z->tile[f], z->depth), threads));
    // Neighbouring invocations copy neighbours, in rounds of the workgroup.
    int row = lower_multiply(w, w->lanes, z->subgroups[COLUMNS]);
    struct nest_access first = {.buffer = w->staged[f], .write = true};
    lower_add_term(w, &first, 1, w->lane, lower_constant(w, 1));
    lower_add_term(w, &first, 1, w->loop[COLUMNS][TILE_THREADS], w->lanes);
    lower_add_term(w, &first, 1, w->loop[ROWS][TILE_THREADS], row);
    lower_add_term(w, &first, 1, fill, lower_multiply(w, row, z->subgroups[ROWS]));
    struct nest_statement *s = lower_new_statement(w, "copy", PATH_FILL, first);
    ((int *)(uintptr_t)s->loop)[s->loop_count++] = fill;
    lower_count_operations(w, node, 0, REDUCE_NONE, s);
    lower_add_fill_reads(w, s, node, NULL, 1);
}

void lower_matrix(struct lowering *w)
{
    static const char *const names[] = {"rows.shared", "columns.shared"};
    const struct sizes z = sizes_of(w);
    int bytes = element_bytes(w->k->product.element);
    int one = lower_constant(w, 1);
    for (int a = 0; a < DEFINE_MAX_AXES; a++) {
        w->constant[a] = -1;
        for (int i = 0; i < TILE_PARTS; i++)
            w->loop[a][i] = w->unrolled[a][i] = -1;
    }
    set_loop(w, BATCH, TILE_GROUPS, NEST_BLOCK_Y, ceil_divide(w, BATCH, one), one);
    for (int side = ROWS; side <= COLUMNS; side++) {
        int tile = z.tile[side - ROWS];
        set_loop(w, side, TILE_GROUPS, NEST_BLOCK_X, ceil_divide(w, side, tile), tile);
        set_loop(w, side, TILE_THREADS, NEST_THREAD_X, z.subgroups[side],
                 lower_multiply(w, z.fragments[side], z.extent[side]));
        set_loop(w, side, TILE_OUTER, NEST_UNROLLED, z.fragments[side], z.extent[side]);
    }
    w->lanes = lower_constant(w, w->p->device.lanes);
    set_loop(w, COLUMNS, TILE_INNER, NEST_VECTORIZED, z.share, w->lanes);
    w->lane = lower_add_loop(w, mem_strdup("lane"), NEST_THREAD_X, w->lanes);
    set_loop(w, REDUCED, TILE_REDUCE_OUTER, NEST_SERIAL, ceil_divide(w, REDUCED, z.depth), z.depth);
    set_loop(w, REDUCED, TILE_REDUCE_MIDDLE, NEST_UNROLLED, lower_number(w, w->v->steps, 0),
             z.extent[REDUCED]);
    w->registers =
        lower_add_buffer(w, "value", NEST_REGISTERS, 4,
                         lower_multiply(w, z.fragments[ROWS], z.fragments[COLUMNS]), z.share);
    for (int f = 0; f < 2; f++)
        w->staged[f] = lower_add_buffer(w, names[f], NEST_SHARED, bytes,
                                        w->k->product.along[f] ? z.tile[f] : z.depth, z.pitch[f]);
    w->staged[2] = lower_add_buffer(w, "finished", NEST_SHARED, 4,
                                    lower_multiply(w, z.subgroups[ROWS], z.subgroups[COLUMNS]),
                                    lower_multiply(w, z.extent[ROWS], z.extent[COLUMNS]));
    add_fill(w, &z, 0);
    add_fill(w, &z, 1);
    struct nest_statement *s =
        lower_new_statement(w, "products", PATH_REDUCE, lower_block_access(w, true, true));
    if (w->p->inlined.node[w->k->stage.body].is_real) {
        s->add = lower_multiply(w, z.extent[REDUCED], lower_constant(w, 1));
        s->multiply = z.extent[REDUCED];
    } else {
        s->integer = lower_multiply(w, z.extent[REDUCED], lower_constant(w, 2));
    }
    for (int f = 0; f < 2; f++) { // a fragment of each tile
        struct nest_access x = {.buffer = w->staged[f], .read = true};
        int lines = w->k->product.along[f] ? 0 : 1, side = ROWS + f;
        lower_add_term(w, &x, lines, w->loop[side][TILE_THREADS], w->step[side][TILE_THREADS]);
        lower_add_term(w, &x, lines, w->loop[side][TILE_OUTER], w->step[side][TILE_OUTER]);
        lower_add_term(w, &x, 1 - lines, w->loop[REDUCED][TILE_REDUCE_MIDDLE],
                       w->step[REDUCED][TILE_REDUCE_MIDDLE]);
        lower_add_access(s, x);
    }
    s = lower_new_statement(w, "hand over", PATH_STORE, finished(w, &z, true));
    lower_add_access(s, lower_block_access(w, true, false));
    s = lower_new_statement(w, "store", PATH_STORE, lower_output_access(w));
    lower_add_access(s, finished(w, &z, false));
    if (w->k->epilogue < 0)
        return;
    lower_add_reads(w, s, w->k->epilogue, 0);
    lower_count_operations(w, w->k->epilogue, 0, REDUCE_NONE, s);
}
