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

static bool is_space(const struct lowering *w, int loop)
{
    return loop < w->v->loops.space;
}

static int loop_count(const struct lowering *w)
{
    return w->v->loops.space + w->v->loops.reduce;
}

int lower_length(struct lowering *w, int loop, int part)
{
    int param = w->v->loops.param[loop], place = tiling_factor(w->v->plan, is_space(w, loop), part);
    return param < 0 || place < 0 ? lower_constant(w, 1) : lower_slot(w, param, place);
}

int lower_product(struct lowering *w, bool space, int part)
{
    int product = lower_constant(w, 1);
    for (int a = 0; a < loop_count(w); a++)
        if (is_space(w, a) == space)
            product = lower_multiply(w, product, lower_length(w, a, part));
    return product;
}

int lower_threads(struct lowering *w)
{
    return lower_multiply(w, lower_product(w, true, TILE_THREADS),
                          lower_product(w, false, TILE_SHARED));
}

// The results of an invocation.
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
    if (is_space(w, loop))
        return part == TILE_GROUPS && loop == 0 && w->v->loops.space > 1 ? NEST_BLOCK_Y
                                                                         : of_space[part];
    if (part == TILE_SHARED)
        return NEST_THREAD_X;
    if (part == TILE_ACROSS)
        return NEST_BLOCK_Z;
    return part == TILE_WRITTEN && w->v->unroll < 0 ? NEST_UNROLLED : NEST_SERIAL;
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
    if (!is_space(w, a) && w->v->unroll >= 0 && (part == TILE_MIDDLE || part == TILE_WRITTEN)) {
        // The condition of tiling_is_written.
        int statements = lower_multiply(w, registers(w), lower_product(w, false, TILE_WRITTEN));
        if (part == TILE_MIDDLE)
            statements = lower_multiply(w, statements, lower_product(w, false, TILE_MIDDLE));
        int most = formulas_number(&w->nest->formulas, w->v->unroll);
        int written = formulas_add(&w->nest->formulas, FORMULA_NOT,
                                   lower_compute(w, FORMULA_LESS, most, statements), 0, 0);
        w->written[a][part] = lower_add_loop(w, mem_printf("%s_%s%d_written", what, name, a),
                                             NEST_UNROLLED, choose(w, written, length, one));
        length = choose(w, written, one, length);
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
    static const int reduce_inside_out[] = {TILE_SHARED, TILE_WRITTEN, TILE_MIDDLE, TILE_LOOP,
                                            TILE_ACROSS};
    const struct program_loops *l = &w->v->loops;
    int last = l->space - 1;
    w->lane = -1;
    w->lanes = lower_constant(w, 1);
    // The condition of tiling_lanes.
    if (w->v->vector >= 0 && l->param[last] >= 0 && l->extent[last] == l->length[last]) {
        int width = formulas_number(&w->nest->formulas, w->v->vector);
        w->lanes = choose(w, is_multiple(w, lower_length(w, last, TILE_INNER), width), width,
                          lower_constant(w, 1));
        w->lane = lower_add_loop(w, mem_strdup("lane"), NEST_VECTORIZED, w->lanes);
    }
    for (int a = 0; a < loop_count(w); a++) {
        int step = lower_constant(w, 1);
        for (int i = 0; i < TILE_PARTS; i++) {
            int part = is_space(w, a) ? space_inside_out[i] : reduce_inside_out[i];
            int length = lower_length(w, a, part);
            w->step[a][part] = has_lanes(w, a, part) ? w->lanes : step;
            w->loop[a][part] = w->written[a][part] = -1;
            if (!formulas_is_constant(&w->nest->formulas, length, 1))
                add_part(w, a, part, is_space(w, a) ? space[part] : reduce[part]);
            step = lower_multiply(w, step, length);
        }
    }
    if (w->v->plan == PLAN_CROSS || w->v->plan == PLAN_SPLIT)
        w->halving = lower_add_loop(w, mem_strdup("halving"), NEST_SERIAL, lower_constant(w, 1));
    const struct define_stage *s = &w->k->stage;
    for (int a = 0; a < DEFINE_MAX_AXES; a++)
        w->constant[a] =
            w->k->constants.axes >> a & 1
                ? lower_add_loop(w, mem_printf("constant_%s%d", s->axis[a], a), NEST_UNROLLED,
                                 lower_constant(w, (double)s->extent[a]))
                : -1;
    int count = w->v->plan == PLAN_CONSTANT ? lower_constant(w, w->v->reads) : registers(w);
    w->registers = lower_add_buffer(w, "value", NEST_REGISTERS, 4);
    w->nest->buffer[w->registers].used = w->when;
    w->nest->buffer[w->registers].dim_count = 1;
    w->nest->buffer[w->registers].dim[0] = count;
}

// --- buffers ---

int lower_add_buffer(struct lowering *w, const char *name, enum nest_memory memory, int bytes)
{
    struct nest *n = w->nest;
    assert(n->buffer_count < NEST_MAX_BUFFERS);
    n->buffer[n->buffer_count] = (struct nest_buffer){.name = arena_strdup(&n->arena, name),
                                                      .memory = memory,
                                                      .bytes = bytes,
                                                      .copies = lower_constant(w, 1),
                                                      .used = lower_constant(w, 1)};
    return n->buffer_count++;
}

int lower_buffer_of(struct lowering *w, int tensor, bool is_input)
{
    const struct define_tensor *t = &w->p->inlined.tensor[tensor];
    if (w->buffer[tensor] >= 0)
        return w->buffer[tensor];
    bool is_stored = is_input || tensor == w->p->output;
    int index =
        lower_add_buffer(w, t->name, NEST_GLOBAL, is_stored ? element_bytes(t->element) : 4);
    w->nest->buffer[index].dim_count = t->rank;
    for (int i = 0; i < t->rank; i++)
        w->nest->buffer[index].dim[i] = lower_constant(w, (double)t->size[i]);
    return w->buffer[tensor] = index;
}

// The formula of tiling_span.
static int span(struct lowering *w, int loop)
{
    int first = is_space(w, loop) ? TILE_VIRTUAL : TILE_MIDDLE;
    int last = is_space(w, loop) ? TILE_INNER : TILE_WRITTEN, count = lower_constant(w, 1);
    for (int i = first; i <= last; i++)
        count = lower_multiply(w, count, lower_length(w, loop, i));
    return count;
}

// The formula of tiling_extent.
static int extent(struct lowering *w, const struct staged_read *c, int index)
{
    int sum = lower_constant(w, 1);
    for (int a = 0; a < loop_count(w); a++) {
        int farther = lower_compute(w, FORMULA_SUBTRACT, span(w, a), lower_constant(w, 1));
        sum = lower_compute(
            w, FORMULA_ADD, sum,
            lower_multiply(w, lower_constant(w, fabs(c->coefficient[index][a])), farther));
    }
    return sum;
}

// The formula of tiling_lines.
static int lines(struct lowering *w, const struct staged_read *c)
{
    int count = lower_constant(w, 1);
    for (int i = 0; i < tiling_rank(w->p, c) - 1; i++)
        count = lower_multiply(w, count, extent(w, c, i));
    return count;
}

// The formula of tiling_pitch.
static int pitch(struct lowering *w, const struct staged_read *c)
{
    int pad = w->v->pad < 0 ? lower_constant(w, 0) : formulas_number(&w->nest->formulas, w->v->pad);
    int has_lines = lower_compute(w, FORMULA_LESS, lower_constant(w, 1), lines(w, c));
    return lower_compute(w, FORMULA_ADD, extent(w, c, tiling_rank(w->p, c) - 1),
                         lower_multiply(w, pad, has_lines));
}

void lower_add_staging(struct lowering *w)
{
    const struct definition *d = &w->p->inlined;
    int one = lower_constant(w, 1);
    int buffers = w->v->buffers < 0 ? one : formulas_number(&w->nest->formulas, w->v->buffers);
    for (int i = 0; i < w->k->staged_count && w->v->plan == PLAN_TILE; i++) {
        const struct staged_read *c = &w->k->staged[i];
        const char *tensor = d->tensor[d->node[c->read].tensor].name;
        char *name = mem_printf("%s.shared", tensor);
        w->staged[i] = lower_add_buffer(w, name, NEST_SHARED, 4);
        free(name);
        struct nest_buffer *b = &w->nest->buffer[w->staged[i]];
        b->dim_count = 1;
        b->dim[0] = lower_multiply(w, lines(w, c), pitch(w, c));
        b->copies = buffers;
        b->used = lower_compute(w, FORMULA_AND, w->when, lower_slot(w, w->v->staging[i], 0));
        // The loops that fill the buffer are unrolled where there are two buffers.
        int is_double = lower_compute(w, FORMULA_LESS, one, buffers);
        int last = tiling_rank(w->p, c) - 1, line = extent(w, c, last);
        int width = w->v->vector < 0 ? one : formulas_number(&w->nest->formulas, w->v->vector);
        // The condition of tiling_fill_lanes.
        int wide = lower_compute(w, FORMULA_LESS, width,
                                 lower_constant(w, tiling_fill_width(w->p, w->v, c) + 1));
        wide = lower_compute(w, FORMULA_AND, wide, is_multiple(w, line, width));
        for (int a = 0; a < loop_count(w); a++) {
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
        w->fill_written[i] = lower_add_loop(w, mem_printf("fill_%s%d_written", tensor, i),
                                            NEST_UNROLLED, choose(w, is_double, rounds, one));
    }
}

// --- accesses ---

// Returns the loop that an axis is, or the loop that it is the last axis of; -1: none.
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

int lower_add_terms(struct lowering *w, const double *coefficient, enum lower_parts parts,
                    int scale, struct nest_term *term, int count)
{
    const struct define_stage *s = &w->k->stage;
    for (int axis = 0; axis < s->space + s->reduce; axis++) {
        bool is_written_out = coefficient[axis] != 0 && w->constant[axis] >= 0;
        int a = coefficient[axis] == 0 || is_written_out ? -1 : loop_of(w, axis);
        if (is_written_out)
            term[count++] = (struct nest_term){
                w->constant[axis], lower_multiply(w, lower_constant(w, coefficient[axis]), scale)};
        for (int i = 0; a >= 0 && i < TILE_PARTS; i++) {
            bool is_outer = i == (is_space(w, a) ? (int)TILE_GROUPS : (int)TILE_LOOP);
            if (w->loop[a][i] < 0 || (parts != ALL_PARTS && is_outer != (parts == OUTER_PARTS)))
                continue;
            double by = parts == INNER_PARTS ? fabs(coefficient[axis]) : coefficient[axis];
            int factor = lower_multiply(w, lower_constant(w, by), scale);
            int step = lower_multiply(w, factor, w->step[a][i]);
            term[count++] = (struct nest_term){w->loop[a][i], step};
            if (w->written[a][i] >= 0)
                term[count++] = (struct nest_term){w->written[a][i], step};
            if (has_lanes(w, a, i))
                term[count++] = (struct nest_term){w->lane, factor};
        }
    }
    return count;
}

enum { MOST_TERMS = 6 * DEFINE_MAX_AXES + 8 };

struct nest_term *lower_new_terms(struct lowering *w)
{
    return arena_zero(&w->nest->arena, MOST_TERMS, sizeof(struct nest_term));
}

void lower_add_term(struct lowering *w, struct nest_access *x, int dim, int loop, int coefficient)
{
    if (!x->dim[dim].term)
        x->dim[dim].term = lower_new_terms(w);
    ((struct nest_term *)(uintptr_t)x->dim[dim].term)[x->dim[dim].count++] =
        (struct nest_term){loop, coefficient};
}

static void set_dim(struct lowering *w, struct nest_access *x, int dim, const double *coefficient)
{
    struct nest_term *term = lower_new_terms(w);
    x->dim[dim].count = lower_add_terms(w, coefficient, ALL_PARTS, lower_constant(w, 1), term, 0);
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
    x.dim[0].term = lower_new_terms(w);
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
    struct nest_access x = {.buffer = lower_buffer_of(w, tensor, false), .write = true};
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
    for (int a = 0; a < loop_count(w); a++)
        if (is_space(w, a) == space && w->loop[a][part] >= 0) {
            path[count++] = w->loop[a][part];
            if (w->written[a][part] >= 0)
                path[count++] = w->written[a][part];
        }
    if (space && part == (w->v->plan == PLAN_MATRIX ? TILE_THREADS : TILE_INNER) && w->lane >= 0)
        path[count++] = w->lane;
    return count;
}

// The loops around a statement, in the order of the kernel's text.
static int set_path(const struct lowering *w, enum lower_path what, int *path)
{
    int count = add_loops(w, true, TILE_GROUPS, path, 0);
    count = add_loops(w, false, TILE_ACROSS, path, count);
    count = add_loops(w, true, TILE_THREADS, path, count);
    count = add_loops(w, false, TILE_SHARED, path, count);
    if (what == PATH_HALVE)
        path[count++] = w->halving;
    if (what == PATH_REDUCE || what == PATH_FILL)
        count = add_loops(w, false, TILE_LOOP, path, count);
    if (what == PATH_FILL)
        return count;
    if (what == PATH_REDUCE)
        count = add_loops(w, false, TILE_MIDDLE, path, count);
    count = add_loops(w, true, TILE_VIRTUAL, path, count);
    count = add_loops(w, true, TILE_OUTER, path, count);
    if (what == PATH_REDUCE)
        count = add_loops(w, false, TILE_WRITTEN, path, count);
    count = add_loops(w, true, TILE_INNER, path, count);
    // The axes that are written out: of the reduction where the tensors are fetched, else of space.
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
    int *order = mem_alloc(((size_t)node + 1) * sizeof *order);
    int count = definition_nodes_of(d, node, order);
    for (int i = 0; i < count; i++) {
        const struct node *read = &d->node[order[i]];
        if (read->op != NODE_READ)
            continue;
        int found = program_staged_of(w->k, order[i]);
        if (found >= 0 && staged >> found & 1) {
            // A staging buffer has one index.
            const struct staged_read *c = &w->k->staged[found];
            struct nest_access x = {.buffer = w->staged[found], .read = true};
            struct nest_term *term = lower_new_terms(w);
            int stride = lower_constant(w, 1), terms = 0, last = tiling_rank(w->p, c) - 1;
            for (int k = last; k >= 0; k--) {
                terms = lower_add_terms(w, c->coefficient[k], INNER_PARTS, stride, term, terms);
                stride = k == last ? pitch(w, c) : lower_multiply(w, stride, extent(w, c, k));
            }
            x.dim[0].term = term;
            x.dim[0].count = terms;
            lower_add_access(s, x);
        } else if (found >= 0 && w->k->staged[found].computed >= 0) {
            lower_add_reads(w, s, w->k->staged[found].computed, 0);
        } else if (read->tensor == w->k->stage.tensor) { // the stage's own result
            lower_add_access(s, lower_block_access(w, true, false));
        } else {
            struct nest_access x = {
                .buffer = lower_buffer_of(w, read->tensor, read->tensor < d->inputs), .read = true};
            for (int k = 0; k < d->tensor[read->tensor].rank; k++) {
                double coefficient[DEFINE_AFFINE] = {0};
                definition_affine(d, d->index[read->index + k], 1, coefficient);
                set_dim(w, &x, k, coefficient);
            }
            lower_add_access(s, x);
        }
    }
    free(order);
}

void lower_add_operations(const struct lowering *w, int node, unsigned staged, int *of_op)
{
    const struct definition *d = &w->p->inlined;
    int *order = mem_alloc(((size_t)node + 1) * sizeof *order);
    int count = definition_value_nodes(d, node, order);
    for (int i = 0; i < count; i++) {
        int found = program_staged_of(w->k, order[i]);
        of_op[d->node[order[i]].op]++;
        if (found >= 0 && !(staged >> found & 1) && w->k->staged[found].computed >= 0)
            lower_add_operations(w, w->k->staged[found].computed, 0, of_op);
    }
    free(order);
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
    lower_add_operations(w, node, staged, of_op);
    of_op[NODE_ADD] += r == REDUCE_SUM;
    of_op[NODE_MULTIPLY] += r == REDUCE_PRODUCT;
    of_op[NODE_MAX] += r == REDUCE_MAX || r == REDUCE_MIN;
    lower_set_operations(w, of_op, 1, s);
}
