// The loop nest of a program's kernels, each way to compute one a set of statements of its own: the
// copies that are filled, the statement that computes a block in registers (one for each choice of
// what is read from copies), the exchange of what invocations share, and the store. What an index
// is that is not affine in the axes (a quotient, a choice) is taken for the affine part under it;
// of axes that are one loop, the last one is taken for the loop.

#include "base/mem.h"
#include "define/weave.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// The loop nest of a kernel on matrix units. A subgroup multiplies a fragment together: an
// invocation's share counts, numbers `lane`, `lane + lanes`, ... of it. An emulation, where each
// invocation does far more, counts as what it emulates.

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
static void units_nest_add_fill(struct weaver *w, const struct sizes *z, int f)
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

static void units_nest_add_store(struct weaver *w, const struct sizes *z)
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
    int bytes = element_bytes(w->k->product.element);
    int steps = formulas_number(&w->nest->formulas, w->v->steps);
    z.extent[ROWS] = of_shape(w, offsetof(struct matrix_shape, m));
    z.extent[COLUMNS] = of_shape(w, offsetof(struct matrix_shape, n));
    z.extent[REDUCED] = of_shape(w, offsetof(struct matrix_shape, k));
    z.share = weave_compute(w, FORMULA_DIVIDE, weave_multiply(w, z.extent[ROWS], z.extent[COLUMNS]),
                            weave_constant(w, w->p->device.lanes));
    z.along = weave_multiply(w, steps, z.extent[REDUCED]);
    int pad = weave_multiply(w, formulas_number(&w->nest->formulas, w->v->pad),
                             weave_constant(w, 16 / bytes));
    for (int side = ROWS; side <= COLUMNS; side++) {
        int f = side - ROWS;
        z.units[side] = slot(w, w->v->subgroups, side);
        z.fragments[side] = slot(w, w->v->fragments, side);
        z.tile[f] =
            weave_multiply(w, z.units[side], weave_multiply(w, z.fragments[side], z.extent[side]));
        z.pitch[f] =
            weave_compute(w, FORMULA_ADD, pad, w->k->product.along[f] ? z.along : z.tile[f]);
    }
    add_loops(w, &z);
    add_buffers(w, &z);
    units_nest_add_fill(w, &z, 0);
    units_nest_add_fill(w, &z, 1);
    struct nest_statement *s =
        weave_new_statement(w, "products", PATH_REDUCE, weave_unit_registers(w, true, true));
    bool is_real = w->p->inlined.node[w->k->stage.body].is_real;
    int *each[] = {is_real ? &s->add : &s->integer, &s->multiply};
    *each[0] = weave_multiply(w, z.extent[REDUCED], weave_constant(w, is_real ? 1 : 2));
    if (is_real)
        *each[1] = z.extent[REDUCED];
    weave_add_access(s, tile(w, 0));
    weave_add_access(s, tile(w, 1));
    units_nest_add_store(w, &z);
}

// --- statements ---

// `copied`, a bit each: reads that are of copies; the others are computed in place, if they are
// computed at all.
static void add_operations(const struct weaver *w, int node, unsigned copied, int *of_op)
{
    const struct definition *d = &w->p->inlined;
    int *order = mem_alloc(((size_t)node + 1) * sizeof *order);
    int count = definition_computed(d, node, order);
    for (int i = 0; i < count; i++) {
        int copy = program_copy_of(w->k, order[i]);
        of_op[d->node[order[i]].op]++;
        if (copy >= 0 && !(copied >> copy & 1) && w->k->copy[copy].plain >= 0)
            add_operations(w, w->k->copy[copy].plain, 0, of_op);
    }
    free(order);
}

// `each`: of how many in one execution.
static void set_operations(struct weaver *w, const int *of_op, double each,
                           struct nest_statement *s)
{
    s->add = weave_constant(w, each * (of_op[NODE_ADD] + of_op[NODE_SUBTRACT]));
    s->multiply = weave_constant(w, each * of_op[NODE_MULTIPLY]);
    s->divide = weave_constant(
        w, each * (of_op[NODE_DIVIDE] + of_op[NODE_FLOOR_DIVIDE] + of_op[NODE_MODULO]));
    s->compare = weave_constant(w, each * (of_op[NODE_MIN] + of_op[NODE_MAX]));
    s->special = weave_constant(w, each * (of_op[NODE_EXP] + of_op[NODE_SQRT] + of_op[NODE_TANH]));
}

// Of one execution of the expression, and of the reduction around it.
void weave_count_operations(struct weaver *w, int node, unsigned copied, enum reduction r,
                            struct nest_statement *s)
{
    int of_op[NODE_OP_COUNT] = {0};
    add_operations(w, node, copied, of_op);
    of_op[NODE_ADD] += r == REDUCE_SUM;
    of_op[NODE_MULTIPLY] += r == REDUCE_PRODUCT;
    of_op[NODE_MAX] += r == REDUCE_MAX || r == REDUCE_MIN;
    set_operations(w, of_op, 1, s);
}

static int add_parts(const struct weaver *w, bool space, int index, int *path, int count)
{
    for (int a = 0; a < weave_loops(w); a++)
        if (weave_is_space(w, a) == space && w->loop[a][index] >= 0) {
            path[count++] = w->loop[a][index];
            if (w->written[a][index] >= 0)
                path[count++] = w->written[a][index];
        }
    if (space && index == (w->v->plan == PLAN_MATRIX ? TILE_THREADS : TILE_INNER) && w->lane >= 0)
        path[count++] = w->lane;
    return count;
}

// The loops around a statement, in the order of the kernel's text.
static int add_path(const struct weaver *w, enum weave_path what, int *path)
{
    int count = add_parts(w, true, TILE_GROUPS, path, 0);
    count = add_parts(w, false, TILE_ACROSS, path, count);
    count = add_parts(w, true, TILE_THREADS, path, count);
    count = add_parts(w, false, TILE_SHARED, path, count);
    if (what == PATH_HALVE)
        path[count++] = w->halving;
    if (what == PATH_REDUCE || what == PATH_FILL)
        count = add_parts(w, false, TILE_LOOP, path, count);
    if (what == PATH_FILL)
        return count;
    if (what == PATH_REDUCE)
        count = add_parts(w, false, TILE_MIDDLE, path, count);
    count = add_parts(w, true, TILE_VIRTUAL, path, count);
    count = add_parts(w, true, TILE_OUTER, path, count);
    if (what == PATH_REDUCE)
        count = add_parts(w, false, TILE_WRITTEN, path, count);
    count = add_parts(w, true, TILE_INNER, path, count);
    // The axes that are written out, of space or of the reduction.
    bool space = what != PATH_FETCH;
    for (int a = 0; a < DEFINE_MAX_AXES; a++)
        if (w->constant[a] >= 0 && (a < w->k->stage.space) == space)
            path[count++] = w->constant[a];
    return count;
}

struct nest_statement *weave_new_statement(struct weaver *w, const char *name, enum weave_path what,
                                           struct nest_access first)
{
    struct nest *n = w->nest;
    assert(n->statement_count < NEST_MAX_STATEMENTS);
    struct nest_statement *s = &n->statement[n->statement_count++];
    int *path = arena_zero(&n->arena, NEST_MAX_PATH, sizeof *path), nothing = weave_constant(w, 0);
    struct nest_access *access = arena_zero(&n->arena, NEST_MAX_ACCESSES, sizeof *access);
    access[0] = first;
    *s = (struct nest_statement){.name = arena_strdup(&n->arena, name),
                                 .loop = path,
                                 .loop_count = add_path(w, what, path),
                                 .when = w->when,
                                 .add = nothing,
                                 .multiply = nothing,
                                 .divide = nothing,
                                 .compare = nothing,
                                 .special = nothing,
                                 .integer = nothing,
                                 .access = access,
                                 .access_count = 1};
    return s;
}

void weave_add_access(struct nest_statement *s, struct nest_access x)
{
    if (s->access_count < NEST_MAX_ACCESSES)
        ((struct nest_access *)(uintptr_t)s->access)[s->access_count++] = x;
}

// What the expression reads; `copied`, a bit each: from copies. Reads of the stage's own numbers
// are of registers.
void weave_add_reads(struct weaver *w, struct nest_statement *s, int node, unsigned copied)
{
    const struct definition *d = &w->p->inlined;
    int *order = mem_alloc(((size_t)node + 1) * sizeof *order);
    int count = definition_nodes_of(d, node, order);
    for (int i = 0; i < count; i++) {
        const struct node *read = &d->node[order[i]];
        int copy = read->op == NODE_READ ? program_copy_of(w->k, order[i]) : -1;
        struct nest_access x;
        if (read->op != NODE_READ)
            continue;
        if (copy >= 0 && copied >> copy & 1) {
            weave_add_access(s, weave_copy_access(w, copy));
        } else if (copy >= 0 && w->k->copy[copy].plain >= 0) {
            weave_add_reads(w, s, w->k->copy[copy].plain, 0);
        } else if (read->tensor == w->k->stage.tensor) {
            weave_add_access(s, weave_block_access(w, true, false));
        } else {
            weave_set_read(w, &x, read);
            weave_add_access(s, x);
        }
    }
    free(order);
}

// Whether exactly these are read from copies.
static int is_choice(struct weaver *w, unsigned copied)
{
    int holds = w->when;
    for (int i = 0; i < w->k->copies && w->v->plan == PLAN_TILE; i++) {
        int one = copied >> i & 1
                      ? weave_placed(w, i)
                      : formulas_add(&w->nest->formulas, FORMULA_NOT, weave_placed(w, i), 0, 0);
        holds = weave_compute(w, FORMULA_AND, holds, one);
    }
    return holds;
}

// An element of the copy: the invocations of a workgroup take neighbours.
static void add_fill(struct weaver *w, int copy)
{
    const struct definition *d = &w->p->inlined;
    const struct program_copy *c = &w->k->copy[copy];
    struct nest_term *by_thread = weave_new_terms(w);
    int stride = w->fill_lanes[copy], terms = 0;
    by_thread[terms++] = (struct nest_term){w->fill_lane[copy], weave_constant(w, 1)};
    for (int a = w->v->loops.space - 1; a >= 0; a--) {
        if (w->loop[a][TILE_THREADS] >= 0)
            by_thread[terms++] = (struct nest_term){w->loop[a][TILE_THREADS], stride};
        stride = weave_multiply(w, stride, weave_part(w, a, TILE_THREADS));
    }
    by_thread[terms++] = (struct nest_term){w->fill[copy], stride};
    by_thread[terms++] = (struct nest_term){w->fill_written[copy], stride};
    struct nest_access first = {.buffer = w->copy[copy], .write = true};
    first.dim[0].term = by_thread;
    first.dim[0].count = terms;
    struct nest_statement *s = weave_new_statement(w, "copy", PATH_FILL, first);
    ((int *)(uintptr_t)s->loop)[s->loop_count++] = w->fill[copy];
    ((int *)(uintptr_t)s->loop)[s->loop_count++] = w->fill_written[copy];
    ((int *)(uintptr_t)s->loop)[s->loop_count++] = w->fill_lane[copy];
    s->when = weave_compute(w, FORMULA_AND, w->when, weave_placed(w, copy));
    weave_count_operations(w, c->expression, 0, REDUCE_NONE, s);
    int *order = mem_alloc(((size_t)c->expression + 1) * sizeof *order);
    int count = definition_nodes_of(d, c->expression, order);
    for (int i = 0; i < count; i++) {
        const struct node *n = &d->node[order[i]];
        if (n->op != NODE_READ)
            continue;
        struct nest_access x = {.buffer = weave_buffer_of(w, n->tensor, n->tensor < d->inputs),
                                .read = true};
        int rank = d->tensor[n->tensor].rank;
        for (int k = 0; k < rank; k++) {
            double of_place[DEFINE_AFFINE] = {0}, coefficient[DEFINE_MAX_AXES] = {0};
            struct nest_term *term = weave_new_terms(w);
            definition_affine(d, d->index[n->index + k], 1, of_place);
            for (int j = 0; j < weave_rank(w, c); j++)
                for (int a = 0; a < DEFINE_MAX_AXES; a++)
                    coefficient[a] += of_place[j] * c->coefficient[j][a];
            int all = weave_add_terms(w, coefficient, OUTER_PARTS, weave_constant(w, 1), term, 0);
            for (int j = 0; k == rank - 1 && j < terms; j++)
                term[all++] = by_thread[j];
            x.dim[k].term = term;
            x.dim[k].count = all;
        }
        weave_add_access(s, x);
    }
    free(order);
}

// Of two numbers by the kernel's reduction.
static void count_combination(struct weaver *w, struct nest_statement *s)
{
    enum reduction r = w->k->stage.reduction;
    int one = weave_constant(w, 1);
    *(r == REDUCE_SUM ? &s->add : r == REDUCE_PRODUCT ? &s->multiply : &s->compare) = one;
}

// Parts of a reduction pass through shared memory: stored, halved again and again, and fetched.
static void add_exchange(struct weaver *w)
{
    int partial = weave_add_buffer(w, "partial", NEST_SHARED, 4);
    struct nest_buffer *b = &w->nest->buffer[partial];
    b->used = w->when;
    b->dim_count = 1;
    b->dim[0] = weave_multiply(w, weave_threads(w), w->nest->buffer[w->registers].dim[0]);
    struct nest_access stored = weave_block_access(w, false, true), fetched = stored;
    stored.buffer = partial;
    fetched.buffer = partial;
    fetched.write = false;
    fetched.read = true;
    struct nest_statement *s = weave_new_statement(w, "hand in", PATH_STORE, stored);
    weave_add_access(s, weave_block_access(w, true, false));
    int steps = weave_product(w, false, TILE_SHARED);
    s = weave_new_statement(w, "halve", PATH_HALVE, stored);
    // So many halvings lead from n to 1; 2^10 is more than any workgroup has.
    int sum = weave_constant(w, 0);
    for (int i = 0; i < 10; i++)
        sum = weave_compute(w, FORMULA_ADD, sum,
                            weave_compute(w, FORMULA_LESS, weave_constant(w, 1 << i), steps));
    w->nest->loop[w->halving].length = sum;
    s->when = weave_compute(w, FORMULA_AND, w->when,
                            weave_compute(w, FORMULA_LESS, weave_constant(w, 1), steps));
    weave_add_access(s, fetched);
    weave_add_access(s, fetched);
    count_combination(w, s);
    s = weave_new_statement(w, "fetch", PATH_STORE, weave_block_access(w, false, true));
    weave_add_access(s, fetched);
}

// Of what the kernel makes, from registers.
static void add_store(struct weaver *w)
{
    struct nest_statement *store =
        weave_new_statement(w, "store", PATH_STORE, weave_output_access(w));
    if (w->k->epilogue < 0) {
        weave_add_access(store, weave_block_access(w, true, false));
        return;
    }
    weave_add_reads(w, store, w->k->epilogue, 0);
    weave_count_operations(w, w->k->epilogue, 0, REDUCE_NONE, store);
}

// Of the parts that workgroups make, one for each step of the loop over them, and number.
static struct nest_access part_access(struct weaver *w, int parts, int of_parts)
{
    struct nest_access x = {.buffer = parts};
    struct nest_term *term = weave_new_terms(w), *by_part = weave_new_terms(w);
    int count = 0;
    by_part[0] = (struct nest_term){w->loop[w->v->loops.space][of_parts], weave_constant(w, 1)};
    x.dim[0].term = by_part;
    x.dim[0].count = 1;
    for (int i = 0; i < TILE_PARTS; i++)
        if (w->loop[0][i] >= 0)
            term[count++] = (struct nest_term){w->loop[0][i], w->step[0][i]};
    x.dim[1].term = term;
    x.dim[1].count = count;
    return x;
}

// The loops of a kernel's second pass in place of the first one's (tiling_second).
static void set_second_loops(struct weaver *w, int parts)
{
    const struct tiling first = {.variant = w->v};
    struct program_variant v;
    const struct tiling t = tiling_second(&first, &v);
    int threads = weave_constant(w, t.part[0][TILE_THREADS]);
    int groups = weave_constant(w, t.part[0][TILE_GROUPS]);
    int loop = w->v->loops.space;
    for (int a = 0; a < DEFINE_MAX_AXES; a++)
        for (int i = 0; i < TILE_PARTS; i++)
            w->loop[a][i] = w->written[a][i] = -1;
    w->lane = -1;
    w->loop[0][TILE_GROUPS] = weave_add_loop(w, mem_strdup("second_group"), NEST_BLOCK_X, groups);
    w->loop[0][TILE_THREADS] =
        weave_add_loop(w, mem_strdup("second_thread"), NEST_THREAD_X, threads);
    w->loop[loop][TILE_LOOP] = weave_add_loop(w, mem_strdup("parts"), NEST_SERIAL, parts);
    w->step[0][TILE_GROUPS] = threads;
    w->step[0][TILE_THREADS] = w->step[loop][TILE_LOOP] = weave_constant(w, 1);
}

// Workgroups store their parts, and an invocation each number combines them.
static void add_second_pass(struct weaver *w)
{
    const struct tiling t = {.variant = w->v};
    int parts = weave_add_buffer(w, "parts", NEST_GLOBAL, 4);
    int count = weave_product(w, false, TILE_ACROSS);
    struct nest_buffer *b = &w->nest->buffer[parts];
    b->used = w->when;
    b->dim_count = 2;
    b->dim[0] = count;
    b->dim[1] = weave_constant(w, (double)tiling_points(&t));
    struct nest_access stored = part_access(w, parts, TILE_ACROSS);
    stored.write = true;
    struct nest_statement *s = weave_new_statement(w, "store parts", PATH_STORE, stored);
    weave_add_access(s, weave_block_access(w, true, false));
    set_second_loops(w, count);
    s = weave_new_statement(w, "combine", PATH_REDUCE, weave_block_access(w, true, true));
    struct nest_access fetched = part_access(w, parts, TILE_LOOP);
    fetched.read = true;
    weave_add_access(s, fetched);
    count_combination(w, s);
    add_store(w);
}

// What a step reads, once, and what it stores of it, of constant tensors.
static void add_written_out(struct weaver *w)
{
    const struct constants *c = &w->k->constants;
    struct nest_statement *fetch =
        weave_new_statement(w, "fetch", PATH_FETCH, weave_block_access(w, false, true));
    weave_add_reads(w, fetch, c->whole, 0);
    if (c->reads && c->plain[0] >= 0)
        weave_count_operations(w, c->plain[0], 0, REDUCE_NONE, fetch);
    struct nest_statement *store =
        weave_new_statement(w, "store", PATH_STORE, weave_output_access(w));
    int of_op[NODE_OP_COUNT] = {0};
    weave_add_access(store, weave_block_access(w, true, false));
    for (int i = 0; i < c->values; i++)
        add_operations(w, c->value[i], 0, of_op);
    set_operations(w, of_op, 1.0 / c->values, store);
}

static void weave_variant(struct weaver *w)
{
    const struct define_stage *s = &w->k->stage;
    bool reduces = s->reduction != REDUCE_NONE;
    if (w->v->plan == PLAN_MATRIX) {
        weave_units(w);
        return;
    }
    int copies = w->v->plan == PLAN_TILE ? w->k->copies : 0;
    weave_add_loops(w);
    weave_add_registers(w);
    if (w->v->plan == PLAN_CONSTANT) {
        add_written_out(w);
        return;
    }
    weave_add_copies(w);
    for (int i = 0; i < copies; i++)
        add_fill(w, i);
    for (unsigned copied = 0; copied < 1U << copies; copied++) {
        struct nest_access first =
            reduces ? weave_block_access(w, true, true) : weave_output_access(w);
        struct nest_statement *one =
            weave_new_statement(w, reduces ? "reduce" : "store", PATH_REDUCE, first);
        one->when = is_choice(w, copied);
        weave_add_reads(w, one, s->body, copied);
        weave_count_operations(w, s->body, copied, s->reduction, one);
    }
    if (!reduces)
        return;
    if (w->v->plan == PLAN_CROSS || w->v->plan == PLAN_SPLIT)
        add_exchange(w);
    if (w->v->plan == PLAN_SPLIT)
        add_second_pass(w);
    else
        add_store(w);
}

// Whether the sketch computes the kernel this way.
static int is_variant(struct weaver *w, int kernel, int variant)
{
    if (w->p->kernel[kernel].variants == 1)
        return weave_constant(w, 1);
    int chosen = formulas_slot(&w->nest->formulas, w->p->space->param[w->p->chooser].offset);
    int any = weave_constant(w, 0);
    for (int i = 0; i < w->p->sketches.count; i++)
        if (program_variant_of(w->p, i, kernel) == variant)
            any = weave_compute(w, FORMULA_OR, any,
                                weave_compute(w, FORMULA_EQUAL, chosen, weave_constant(w, i)));
    return any;
}

struct nest *program_nest(const struct program *p)
{
    struct weaver w = {.p = p, .nest = nest_create()};
    w.nest->unroll = -1;
    for (int i = 0; i < p->inlined.tensor_count; i++)
        w.buffer[i] = -1;
    for (int i = 0; i < p->kernel_count; i++)
        for (int v = 0; v < p->kernel[i].variants; v++) {
            w.k = &p->kernel[i];
            w.v = &w.k->variant[v];
            w.when = is_variant(&w, i, v);
            weave_variant(&w);
            if (w.nest->unroll < 0)
                w.nest->unroll = w.v->unroll;
        }
    nest_seal(w.nest);
    return w.nest;
}
