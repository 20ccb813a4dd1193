#include "define/lower.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int lower_constant(struct lowering *w, double number)
{
    return formulas_constant(&w->nest->formulas, number);
}

int lower_compute(struct lowering *w, enum formula_op op, int a, int b)
{
    return formulas_add(&w->nest->formulas, op, a, b, 0);
}

int lower_multiply(struct lowering *w, int a, int b)
{
    return lower_compute(w, FORMULA_MULTIPLY, a, b);
}

static int choose(struct lowering *w, int condition, int a, int b)
{
    return formulas_add(&w->nest->formulas, FORMULA_CHOOSE, condition, a, b);
}

int lower_slot(struct lowering *w, int param, int place)
{
    return formulas_slot(&w->nest->formulas, w->p->space->param[param].offset + place);
}

int lower_number(struct lowering *w, int param, double otherwise)
{
    return param < 0 ? lower_constant(w, otherwise) : formulas_number(&w->nest->formulas, param);
}

int lower_length(struct lowering *w, int loop, int part)
{
    int param = w->v->loops.param[loop], place = tiling_factor(w->v->plan, loop < w->space, part);
    return param < 0 || place < 0 ? lower_constant(w, 1) : lower_slot(w, param, place);
}

int lower_product(struct lowering *w, bool space, int part)
{
    int product = lower_constant(w, 1);
    for (int a = 0; a < w->loops; a++)
        if ((a < w->space) == space)
            product = lower_multiply(w, product, lower_length(w, a, part));
    return product;
}

int lower_threads(struct lowering *w)
{
    return lower_multiply(w, lower_product(w, true, TILE_THREADS),
                          lower_product(w, false, TILE_REDUCE_THREADS));
}

// The formula of tiling_registers.
static int registers(struct lowering *w)
{
    return lower_multiply(
        w, lower_product(w, true, TILE_VIRTUAL),
        lower_multiply(w, lower_product(w, true, TILE_OUTER), lower_product(w, true, TILE_INNER)));
}

static int is_multiple(struct lowering *w, int number, int width)
{
    return lower_compute(w, FORMULA_EQUAL, lower_compute(w, FORMULA_MODULO, number, width),
                         lower_constant(w, 0));
}

// --- loops ---

int lower_add_loop(struct lowering *w, char *name, enum nest_loop_kind kind, int length)
{
    struct nest *n = w->nest;
    assert(n->loop_count < NEST_MAX_LOOPS); // a space has too few slots for more
    n->loop[n->loop_count] =
        (struct nest_loop){arena_strdup(&n->arena, name), kind, length, .place = -1};
    free(name);
    return n->loop_count++;
}

static enum nest_loop_kind kind_of(const struct lowering *w, int loop, int part)
{
    static const enum nest_loop_kind of_space[] = {NEST_BLOCK_X, NEST_VIRTUAL, NEST_THREAD_X,
                                                   NEST_UNROLLED, NEST_UNROLLED};
    if (w->v->plan == PLAN_CONSTANT && part == TILE_VIRTUAL)
        return NEST_SERIAL;
    if (loop < w->space)
        return part == TILE_GROUPS && loop == 0 && w->v->loops.space > 1 ? NEST_BLOCK_Y
                                                                         : of_space[part];
    if (part == TILE_REDUCE_THREADS)
        return NEST_THREAD_X;
    if (part == TILE_REDUCE_GROUPS)
        return NEST_BLOCK_Z;
    return part == TILE_REDUCE_INNER && w->v->unroll < 0 ? NEST_UNROLLED : NEST_SERIAL;
}

static bool has_lanes(const struct lowering *w, int loop, int part)
{
    return w->lane >= 0 && loop == w->v->loops.space - 1 && part == TILE_INNER;
}

// Adds a part of a loop. A part that the configuration may unroll or not becomes two loops, of
// which one has a single iteration.
static void add_part(struct lowering *w, int a, int part, const char *what)
{
    const char *name = w->v->loops.name[a];
    int length = lower_length(w, a, part), one = lower_constant(w, 1);
    if (has_lanes(w, a, part))
        length = lower_compute(w, FORMULA_DIVIDE, length, w->lanes);
    if (a >= w->space && w->v->unroll >= 0 &&
        (part == TILE_REDUCE_MIDDLE || part == TILE_REDUCE_INNER)) {
        // The condition of tiling_is_unrolled.
        int statements =
            lower_multiply(w, registers(w), lower_product(w, false, TILE_REDUCE_INNER));
        if (part == TILE_REDUCE_MIDDLE)
            statements = lower_multiply(w, statements, lower_product(w, false, TILE_REDUCE_MIDDLE));
        int most = lower_number(w, w->v->unroll, 0);
        int unrolls = formulas_add(&w->nest->formulas, FORMULA_NOT,
                                   lower_compute(w, FORMULA_LESS, most, statements), 0, 0);
        w->unrolled[a][part] = lower_add_loop(w, mem_printf("%s_%s%d_written", what, name, a),
                                              NEST_UNROLLED, choose(w, unrolls, length, one));
        length = choose(w, unrolls, one, length);
    }
    w->loop[a][part] =
        lower_add_loop(w, mem_printf("%s_%s%d", what, name, a), kind_of(w, a, part), length);
}

void lower_add_loops(struct lowering *w)
{
    static const char *const space[] = {"group", "virtual", "thread", "outer", "inner"};
    static const char *const reduce[] = {"loop", "middle", "written", "shared", "across"};
    static const int space_inside_out[] = {TILE_INNER, TILE_OUTER, TILE_THREADS, TILE_VIRTUAL,
                                           TILE_GROUPS};
    static const int reduce_inside_out[] = {TILE_REDUCE_THREADS, TILE_REDUCE_INNER,
                                            TILE_REDUCE_MIDDLE, TILE_REDUCE_OUTER,
                                            TILE_REDUCE_GROUPS};
    const struct program_loops *l = &w->v->loops;
    int last = l->space - 1;
    w->lane = -1;
    w->lanes = lower_constant(w, 1);
    // The condition of tiling_lanes.
    if (w->v->vector >= 0 && l->param[last] >= 0 && l->extent[last] == l->length[last]) {
        int width = lower_number(w, w->v->vector, 1);
        w->lanes = choose(w, is_multiple(w, lower_length(w, last, TILE_INNER), width), width,
                          lower_constant(w, 1));
        w->lane = lower_add_loop(w, mem_strdup("lane"), NEST_VECTORIZED, w->lanes);
    }
    for (int a = 0; a < w->loops; a++) {
        int step = lower_constant(w, 1);
        for (int i = 0; i < TILE_PARTS; i++) {
            int part = a < w->space ? space_inside_out[i] : reduce_inside_out[i];
            int length = lower_length(w, a, part);
            w->step[a][part] = has_lanes(w, a, part) ? w->lanes : step;
            w->loop[a][part] = w->unrolled[a][part] = -1;
            if (!formulas_is_constant(&w->nest->formulas, length, 1))
                add_part(w, a, part, a < w->space ? space[part] : reduce[part]);
            step = lower_multiply(w, step, length);
        }
    }
    if (w->v->plan == PLAN_CROSS || w->v->plan == PLAN_SPLIT)
        w->halving = lower_add_loop(w, mem_strdup("halving"), NEST_SERIAL, lower_constant(w, 1));
    const struct define_stage *s = &w->k->stage;
    for (int a = 0; a < DEFINE_MAX_AXES; a++)
        w->constant[a] =
            w->k->unrolled.axes >> a & 1
                ? lower_add_loop(w, mem_printf("constant_%s%d", s->axis[a], a), NEST_UNROLLED,
                                 lower_constant(w, (double)s->extent[a]))
                : -1;
    int count = w->v->plan == PLAN_CONSTANT ? lower_constant(w, w->v->reads) : registers(w);
    w->registers = lower_add_buffer(w, "value", NEST_REGISTERS, 4, -1, count);
}

// --- buffers ---

int lower_add_buffer(struct lowering *w, const char *name, enum nest_memory memory, int bytes,
                     int lines, int line)
{
    struct nest *n = w->nest;
    assert(n->buffer_count < NEST_MAX_BUFFERS);
    n->buffer[n->buffer_count] = (struct nest_buffer){.name = arena_strdup(&n->arena, name),
                                                      .memory = memory,
                                                      .bytes = bytes,
                                                      .copies = lower_constant(w, 1),
                                                      .used = w->when,
                                                      .dim_count = lines < 0 ? 1 : 2,
                                                      .dim = {lines < 0 ? line : lines, line}};
    return n->buffer_count++;
}

// Returns the buffer of a tensor, which is added at its first use.
static int buffer_of(struct lowering *w, int tensor, bool is_input)
{
    const struct define_tensor *t = &w->p->inlined.tensor[tensor];
    if (w->buffer[tensor] >= 0)
        return w->buffer[tensor];
    int bytes = is_input || tensor == w->p->output ? element_bytes(t->element) : 4;
    w->buffer[tensor] = lower_add_buffer(w, t->name, NEST_GLOBAL, bytes, -1, 0);
    struct nest_buffer *b = &w->nest->buffer[w->buffer[tensor]];
    b->used = lower_constant(w, 1);
    b->dim_count = t->rank;
    for (int i = 0; i < t->rank; i++)
        b->dim[i] = lower_constant(w, (double)t->size[i]);
    return w->buffer[tensor];
}

// The formula of tiling_span.
static int span(struct lowering *w, int loop)
{
    int first = loop < w->space ? TILE_VIRTUAL : TILE_REDUCE_MIDDLE;
    int last = loop < w->space ? TILE_INNER : TILE_REDUCE_INNER, count = lower_constant(w, 1);
    for (int i = first; i <= last; i++)
        count = lower_multiply(w, count, lower_length(w, loop, i));
    return count;
}

// Formulas of struct staged_tile: an extent, how many lines, their distance.
static int extent(struct lowering *w, const struct staged_read *c, int index)
{
    int sum = lower_constant(w, 1);
    for (int a = 0; a < w->loops; a++) {
        int farther = lower_compute(w, FORMULA_SUBTRACT, span(w, a), lower_constant(w, 1));
        sum = lower_compute(
            w, FORMULA_ADD, sum,
            lower_multiply(w, lower_constant(w, fabs(c->coefficient[index][a])), farther));
    }
    return sum;
}

static int lines(struct lowering *w, const struct staged_read *c)
{
    int count = lower_constant(w, 1);
    for (int i = 0; i < c->rank - 1; i++)
        count = lower_multiply(w, count, extent(w, c, i));
    return count;
}

static int pitch(struct lowering *w, const struct staged_read *c)
{
    int pad = lower_number(w, w->v->pad, 0);
    int has_lines = lower_compute(w, FORMULA_LESS, lower_constant(w, 1), lines(w, c));
    return lower_compute(w, FORMULA_ADD, extent(w, c, c->rank - 1),
                         lower_multiply(w, pad, has_lines));
}

void lower_add_staging(struct lowering *w)
{
    const struct definition *d = &w->p->inlined;
    int one = lower_constant(w, 1);
    int buffers = lower_number(w, w->v->buffers, 1);
    for (int i = 0; i < w->k->staged_count && w->v->plan == PLAN_TILE; i++) {
        const struct staged_read *c = &w->k->staged[i];
        const char *tensor = d->tensor[c->tensor].name;
        char *name = mem_printf("%s.shared", tensor);
        int size = lower_multiply(w, lines(w, c), pitch(w, c));
        w->staged[i] = lower_add_buffer(w, name, NEST_SHARED, 4, -1, size);
        free(name);
        struct nest_buffer *b = &w->nest->buffer[w->staged[i]];
        b->copies = buffers;
        b->used = lower_compute(w, FORMULA_AND, w->when, lower_slot(w, w->v->staging[i], 0));
        // The loop that fills the tile is unrolled where the tile has two buffers.
        int is_double = lower_compute(w, FORMULA_LESS, one, buffers);
        int last = c->rank - 1, line = extent(w, c, last);
        int width = lower_number(w, w->v->vector, 1);
        // The condition of staged_tile.lanes.
        int wide = lower_compute(w, FORMULA_LESS, width,
                                 lower_constant(w, tiling_fill_width(w->p, w->v, c) + 1));
        wide = lower_compute(w, FORMULA_AND, wide, is_multiple(w, line, width));
        for (int a = 0; a < w->loops; a++) {
            int far =
                lower_multiply(w, lower_constant(w, fabs(c->coefficient[last][a])), span(w, a));
            wide = lower_compute(w, FORMULA_AND, wide, is_multiple(w, far, width));
        }
        w->fill_lanes[i] = choose(w, wide, width, one);
        w->fill_lane[i] =
            lower_add_loop(w, mem_printf("fill_lane%d", i), NEST_VECTORIZED, w->fill_lanes[i]);
        line = lower_compute(w, FORMULA_DIVIDE, line, w->fill_lanes[i]);
        int rounds = lower_compute(w, FORMULA_CEIL_DIVIDE, lower_multiply(w, lines(w, c), line),
                                   lower_threads(w));
        w->fill[i] = lower_add_loop(w, mem_printf("fill_%s%d", tensor, i), NEST_SERIAL,
                                    choose(w, is_double, one, rounds));
        w->fill_unrolled[i] = lower_add_loop(w, mem_printf("fill_%s%d_written", tensor, i),
                                             NEST_UNROLLED, choose(w, is_double, rounds, one));
    }
}

// --- accesses ---

// Returns the loop of an axis. Fused axes are one loop, which counts as the last of them: -1 for
// the others.
static int loop_of(const struct lowering *w, int axis)
{
    const struct define_stage *s = &w->k->stage;
    const struct product *p = &w->k->product;
    int end = axis < s->space ? s->space : s->space + s->reduce, loop = axis < s->space ? 0 : 1;
    unsigned axes = ~0U;
    if (w->v->plan == PLAN_TILE)
        return axis;
    if (w->v->plan == PLAN_MATRIX) {
        for (loop = BATCH; loop < REDUCED && !(p->axes[loop] >> axis & 1);)
            loop++;
        axes = loop < REDUCED ? p->axes[loop] : p->reduced;
        end = s->space + s->reduce;
    }
    for (int a = axis + 1; a < end; a++)
        if (s->extent[a] > 1 && w->constant[a] < 0 && axes >> a & 1)
            return -1;
    return loop;
}

// Appends the loops' terms of an affine index, times the formula `scale`; returns the new count.
// The parts that count are all, or those within a workgroup and an iteration of the outer reduction
// loops, or the others.
enum lower_parts { ALL_PARTS, INNER_PARTS, OUTER_PARTS };

static int add_terms(struct lowering *w, const double *coefficient, enum lower_parts parts,
                     int scale, struct nest_term *term, int count)
{
    const struct define_stage *s = &w->k->stage;
    for (int axis = 0; axis < s->space + s->reduce; axis++) {
        bool is_constant = coefficient[axis] != 0 && w->constant[axis] >= 0;
        int a = coefficient[axis] == 0 || is_constant ? -1 : loop_of(w, axis);
        if (is_constant)
            term[count++] = (struct nest_term){
                w->constant[axis], lower_multiply(w, lower_constant(w, coefficient[axis]), scale)};
        for (int i = 0; a >= 0 && i < TILE_PARTS; i++) {
            bool is_outer = i == (a < w->space ? (int)TILE_GROUPS : (int)TILE_REDUCE_OUTER);
            if (w->loop[a][i] < 0 || (parts != ALL_PARTS && is_outer != (parts == OUTER_PARTS)))
                continue;
            double by = parts == INNER_PARTS ? fabs(coefficient[axis]) : coefficient[axis];
            int factor = lower_multiply(w, lower_constant(w, by), scale);
            int step = lower_multiply(w, factor, w->step[a][i]);
            term[count++] = (struct nest_term){w->loop[a][i], step};
            if (w->unrolled[a][i] >= 0)
                term[count++] = (struct nest_term){w->unrolled[a][i], step};
            if (has_lanes(w, a, i))
                term[count++] = (struct nest_term){w->lane, factor};
        }
    }
    return count;
}

enum { MOST_TERMS = 6 * DEFINE_MAX_AXES + 8 };

static struct nest_term *new_terms(struct lowering *w)
{
    return arena_zero(&w->nest->arena, MOST_TERMS, sizeof(struct nest_term));
}

void lower_add_term(struct lowering *w, struct nest_access *x, int dim, int loop, int coefficient)
{
    if (!x->dim[dim].term)
        x->dim[dim].term = new_terms(w);
    ((struct nest_term *)(uintptr_t)x->dim[dim].term)[x->dim[dim].count++] =
        (struct nest_term){loop, coefficient};
}

static void set_dim(struct lowering *w, struct nest_access *x, int dim, const double *coefficient)
{
    struct nest_term *term = new_terms(w);
    x->dim[dim].count = add_terms(w, coefficient, ALL_PARTS, lower_constant(w, 1), term, 0);
    x->dim[dim].term = term;
}

struct nest_access lower_block_access(struct lowering *w, bool reads, bool writes)
{
    static const int parts[] = {TILE_INNER, TILE_OUTER, TILE_VIRTUAL};
    struct nest_access x = {.buffer = w->registers, .read = reads, .write = writes};
    int stride = lower_constant(w, 1);
    if (w->v->plan == PLAN_MATRIX) {
        lower_add_term(w, &x, 0, w->loop[ROWS][TILE_OUTER],
                       lower_slot(w, w->v->fragments, COLUMNS));
        lower_add_term(w, &x, 0, w->loop[COLUMNS][TILE_OUTER], stride);
        lower_add_term(w, &x, 1, w->loop[COLUMNS][TILE_INNER], stride);
        return x;
    }
    x.dim[0].term = new_terms(w);
    for (int a = w->v->loops.space - 1; a >= 0; a--)
        for (int i = 0; i < 3; i++) {
            bool lanes = has_lanes(w, a, parts[i]);
            if (lanes)
                lower_add_term(w, &x, 0, w->lane, stride);
            if (w->loop[a][parts[i]] >= 0)
                lower_add_term(w, &x, 0, w->loop[a][parts[i]],
                               lanes ? lower_multiply(w, stride, w->lanes) : stride);
            stride = lower_multiply(w, stride, lower_length(w, a, parts[i]));
        }
    return x;
}

struct nest_access lower_output_access(struct lowering *w)
{
    const struct define_stage *s = &w->k->stage;
    int tensor = w->k->is_output ? w->p->output : s->tensor;
    struct nest_access x = {.buffer = buffer_of(w, tensor, false), .write = true};
    for (int a = 0; a < s->space; a++) {
        double coefficient[DEFINE_MAX_AXES] = {0};
        coefficient[a] = 1;
        set_dim(w, &x, a, coefficient);
    }
    return x;
}

// --- statements ---

static int add_loops(const struct lowering *w, bool space, int part, int *path, int count)
{
    for (int a = 0; a < w->loops; a++)
        if ((a < w->space) == space && w->loop[a][part] >= 0) {
            path[count++] = w->loop[a][part];
            if (w->unrolled[a][part] >= 0)
                path[count++] = w->unrolled[a][part];
        }
    if (space && part == (w->v->plan == PLAN_MATRIX ? TILE_THREADS : TILE_INNER) && w->lane >= 0)
        path[count++] = w->lane;
    return count;
}

// Lists the loops around a statement, in the order of the kernel's text; returns how many.
static int set_path(const struct lowering *w, enum lower_path what, int *path)
{
    int count = add_loops(w, true, TILE_GROUPS, path, 0);
    count = add_loops(w, false, TILE_REDUCE_GROUPS, path, count);
    count = add_loops(w, true, TILE_THREADS, path, count);
    count = add_loops(w, false, TILE_REDUCE_THREADS, path, count);
    if (what == PATH_HALVE)
        path[count++] = w->halving;
    if (what == PATH_REDUCE || what == PATH_FILL)
        count = add_loops(w, false, TILE_REDUCE_OUTER, path, count);
    if (what == PATH_FILL)
        return count;
    if (what == PATH_REDUCE)
        count = add_loops(w, false, TILE_REDUCE_MIDDLE, path, count);
    count = add_loops(w, true, TILE_VIRTUAL, path, count);
    count = add_loops(w, true, TILE_OUTER, path, count);
    if (what == PATH_REDUCE)
        count = add_loops(w, false, TILE_REDUCE_INNER, path, count);
    count = add_loops(w, true, TILE_INNER, path, count);
    // Reduction axes of constant tensors are around the reads, their space axes around the stores.
    for (int a = 0; a < DEFINE_MAX_AXES; a++)
        if (w->constant[a] >= 0 && (a < w->k->stage.space) == (what != PATH_FETCH))
            path[count++] = w->constant[a];
    return count;
}

struct nest_statement *lower_new_statement(struct lowering *w, const char *name,
                                           enum lower_path what, struct nest_access first)
{
    struct nest *n = w->nest;
    assert(n->statement_count < NEST_MAX_STATEMENTS);
    struct nest_statement *s = &n->statement[n->statement_count++];
    int *path = arena_zero(&n->arena, NEST_MAX_PATH, sizeof *path), nothing = lower_constant(w, 0);
    struct nest_access *access = arena_zero(&n->arena, NEST_MAX_ACCESSES, sizeof *access);
    access[0] = first;
    *s = (struct nest_statement){.name = arena_strdup(&n->arena, name),
                                 .loop = path,
                                 .loop_count = set_path(w, what, path),
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

void lower_add_access(struct nest_statement *s, struct nest_access x)
{
    if (s->access_count < NEST_MAX_ACCESSES)
        ((struct nest_access *)(uintptr_t)s->access)[s->access_count++] = x;
}

void lower_add_reads(struct lowering *w, struct nest_statement *s, int node, unsigned staged)
{
    const struct definition *d = &w->p->inlined;
    int order[DEFINE_MAX_NODES], count = definition_list(d, node, NODES_READS, order);
    for (int i = 0; i < count; i++) {
        const struct node *read = &d->node[order[i]];
        int found = program_staged_of(w->k, order[i]);
        if (found >= 0 && staged >> found & 1) {
            // A staged tile has one index.
            const struct staged_read *c = &w->k->staged[found];
            struct nest_access x = {.buffer = w->staged[found], .read = true};
            struct nest_term *term = new_terms(w);
            int stride = lower_constant(w, 1), terms = 0, last = c->rank - 1;
            for (int k = last; k >= 0; k--) {
                terms = add_terms(w, c->coefficient[k], INNER_PARTS, stride, term, terms);
                stride = k == last ? pitch(w, c) : lower_multiply(w, stride, extent(w, c, k));
            }
            x.dim[0].term = term;
            x.dim[0].count = terms;
            lower_add_access(s, x);
        } else if (found >= 0 && w->k->staged[found].computed >= 0) {
            lower_add_reads(w, s, w->k->staged[found].computed, 0);
        } else if (read->tensor == w->k->stage.tensor) { // the epilogue reads the accumulator
            lower_add_access(s, lower_block_access(w, true, false));
        } else {
            struct nest_access x = {.buffer = buffer_of(w, read->tensor, read->tensor < d->inputs),
                                    .read = true};
            for (int k = 0; k < d->tensor[read->tensor].rank; k++) {
                double coefficient[DEFINE_AFFINE] = {0};
                definition_affine(d, d->index[read->index + k], 1, coefficient);
                set_dim(w, &x, k, coefficient);
            }
            lower_add_access(s, x);
        }
    }
}

void lower_add_fill_reads(struct lowering *w, struct nest_statement *s, int node,
                          const struct staged_read *c, int dim)
{
    const struct definition *d = &w->p->inlined;
    const struct nest_access *first = &s->access[0];
    int read[DEFINE_MAX_NODES], count = definition_list(d, node, NODES_READS, read);
    for (int i = 0; i < count; i++) {
        const struct node *n = &d->node[read[i]];
        int rank = d->tensor[n->tensor].rank;
        struct nest_access x = {.buffer = buffer_of(w, n->tensor, n->tensor < d->inputs),
                                .read = true};
        for (int k = 0; k < rank; k++) {
            double index[DEFINE_AFFINE] = {0}, through[DEFINE_AFFINE] = {0};
            struct nest_term *term = new_terms(w);
            definition_affine(d, d->index[n->index + k], 1, index);
            for (int m = 0; c && m < c->rank; m++) // the indices of the staged read
                for (int a = 0; a < DEFINE_MAX_AXES; a++)
                    through[a] += index[m] * c->coefficient[m][a];
            x.dim[k].count =
                add_terms(w, c ? through : index, OUTER_PARTS, lower_constant(w, 1), term, 0);
            for (int m = 0; k == rank - 1 && m < first->dim[dim].count; m++)
                term[x.dim[k].count++] = first->dim[dim].term[m];
            x.dim[k].term = term;
        }
        lower_add_access(s, x);
    }
}

void lower_add_operations(const struct lowering *w, int node, unsigned staged, int *of_op)
{
    const struct definition *d = &w->p->inlined;
    int order[DEFINE_MAX_NODES], count = definition_list(d, node, NODES_VALUES, order);
    for (int i = 0; i < count; i++) {
        int found = program_staged_of(w->k, order[i]);
        of_op[d->node[order[i]].op]++;
        if (found >= 0 && !(staged >> found & 1) && w->k->staged[found].computed >= 0)
            lower_add_operations(w, w->k->staged[found].computed, 0, of_op);
    }
}

void lower_set_operations(struct lowering *w, const int *of_op, double each,
                          struct nest_statement *s)
{
    s->add = lower_constant(w, each * (of_op[NODE_ADD] + of_op[NODE_SUBTRACT]));
    s->multiply = lower_constant(w, each * of_op[NODE_MULTIPLY]);
    s->divide = lower_constant(
        w, each * (of_op[NODE_DIVIDE] + of_op[NODE_FLOOR_DIVIDE] + of_op[NODE_MODULO]));
    s->compare = lower_constant(w, each * (of_op[NODE_MIN] + of_op[NODE_MAX]));
    s->special = lower_constant(w, each * (of_op[NODE_EXP] + of_op[NODE_SQRT] + of_op[NODE_TANH]));
}

void lower_count_operations(struct lowering *w, int node, unsigned staged, enum reduction r,
                            struct nest_statement *s)
{
    int of_op[NODE_OP_COUNT] = {0};
    if (node >= 0)
        lower_add_operations(w, node, staged, of_op);
    of_op[NODE_ADD] += r == REDUCE_SUM;
    of_op[NODE_MULTIPLY] += r == REDUCE_PRODUCT;
    of_op[NODE_MAX] += r == REDUCE_MAX || r == REDUCE_MIN;
    lower_set_operations(w, of_op, 1, s);
}
