#include "define/weave.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int weave_constant(struct weaver *w, double number)
{
    return formulas_constant(&w->nest->formulas, number);
}

int weave_compute(struct weaver *w, enum formula_op op, int a, int b)
{
    return formulas_add(&w->nest->formulas, op, a, b, 0);
}

int weave_multiply(struct weaver *w, int a, int b)
{
    return weave_compute(w, FORMULA_MULTIPLY, a, b);
}

bool weave_is_space(const struct weaver *w, int loop)
{
    return loop < w->v->loops.space;
}

int weave_loops(const struct weaver *w)
{
    return w->v->loops.space + w->v->loops.reduce;
}

// How many iterations a part of a loop has; 1 where it is not split so.
int weave_part(struct weaver *w, int loop, int index)
{
    int param = w->v->loops.param[loop];
    int place = tiling_place(w->v->plan, weave_is_space(w, loop), index);
    return param < 0 || place < 0
               ? weave_constant(w, 1)
               : formulas_slot(&w->nest->formulas, w->p->space->param[param].offset + place);
}

static enum nest_loop_kind kind_of(const struct weaver *w, int loop, int index)
{
    static const enum nest_loop_kind of_space[] = {NEST_BLOCK_X, NEST_VIRTUAL, NEST_THREAD_X,
                                                   NEST_UNROLLED, NEST_UNROLLED};
    if (w->v->plan == PLAN_CONSTANT && index == TILE_VIRTUAL)
        return NEST_SERIAL;
    if (weave_is_space(w, loop))
        return index == TILE_GROUPS && loop == 0 && w->v->loops.space > 1 ? NEST_BLOCK_Y
                                                                          : of_space[index];
    if (index == TILE_SHARED)
        return NEST_THREAD_X;
    if (index == TILE_ACROSS)
        return NEST_BLOCK_Z;
    return index == TILE_WRITTEN && w->v->unroll < 0 ? NEST_UNROLLED : NEST_SERIAL;
}

int weave_add_loop(struct weaver *w, char *name, enum nest_loop_kind kind, int length)
{
    struct nest *n = w->nest;
    assert(n->loop_count < NEST_MAX_LOOPS); // a space has too few slots for more
    n->loop[n->loop_count] =
        (struct nest_loop){arena_strdup(&n->arena, name), kind, length, .place = -1};
    free(name);
    return n->loop_count++;
}

// Of a part of all loops over space, or over the reduction.
int weave_product(struct weaver *w, bool space, int index)
{
    int of_all = weave_constant(w, 1);
    for (int a = 0; a < weave_loops(w); a++)
        if (weave_is_space(w, a) == space)
            of_all = weave_multiply(w, of_all, weave_part(w, a, index));
    return of_all;
}

// Numbers of an invocation.
static int registers(struct weaver *w)
{
    return weave_multiply(
        w, weave_product(w, true, TILE_VIRTUAL),
        weave_multiply(w, weave_product(w, true, TILE_OUTER), weave_product(w, true, TILE_INNER)));
}

// The numbers of these parameters, or what is without them.
static int width_of(struct weaver *w)
{
    return w->v->vector < 0 ? weave_constant(w, 1)
                            : formulas_number(&w->nest->formulas, w->v->vector);
}

static int pad_of(struct weaver *w)
{
    return w->v->pad < 0 ? weave_constant(w, 0) : formulas_number(&w->nest->formulas, w->v->pad);
}

// The width of vectors where `holds`, a formula, and 1 elsewhere.
static int width_where(struct weaver *w, int holds)
{
    return formulas_add(&w->nest->formulas, FORMULA_CHOOSE, holds, width_of(w),
                        weave_constant(w, 1));
}

static int is_multiple(struct weaver *w, int number)
{
    return weave_compute(w, FORMULA_EQUAL, weave_compute(w, FORMULA_MODULO, number, width_of(w)),
                         weave_constant(w, 0));
}

bool weave_has_lanes(const struct weaver *w, int loop, int index)
{
    return w->lane >= 0 && loop == w->v->loops.space - 1 && index == TILE_INNER;
}

// As tiling_lanes has them.
static void add_lanes(struct weaver *w)
{
    const struct program_loops *l = &w->v->loops;
    int a = l->space - 1;
    w->lane = -1;
    w->lanes = weave_constant(w, 1);
    if (w->v->vector < 0 || l->param[a] < 0 || l->extent[a] != l->length[a])
        return;
    w->lanes = width_where(w, is_multiple(w, weave_part(w, a, TILE_INNER)));
    w->lane = weave_add_loop(w, mem_strdup("lane"), NEST_VECTORIZED, w->lanes);
}

// What may be written out or not is two loops, of which one has a single iteration.
static void add_part(struct weaver *w, int a, int index, const char *what)
{
    struct formulas *f = &w->nest->formulas;
    const char *name = w->v->loops.name[a];
    int length = weave_part(w, a, index), one = weave_constant(w, 1);
    if (weave_has_lanes(w, a, index))
        length = weave_compute(w, FORMULA_DIVIDE, length, w->lanes);
    bool chooses = !weave_is_space(w, a) && w->v->unroll >= 0 &&
                   (index == TILE_MIDDLE || index == TILE_WRITTEN);
    if (chooses) {
        // Whether the configuration writes the part of the reduction's loops out
        // (tiling_is_written).
        int statements = weave_multiply(w, registers(w), weave_product(w, false, TILE_WRITTEN));
        if (index == TILE_MIDDLE)
            statements = weave_multiply(w, statements, weave_product(w, false, TILE_MIDDLE));
        int most = formulas_number(&w->nest->formulas, w->v->unroll);
        int written = formulas_add(&w->nest->formulas, FORMULA_NOT,
                                   weave_compute(w, FORMULA_LESS, most, statements), 0, 0);
        w->written[a][index] =
            weave_add_loop(w, mem_printf("%s_%s%d_written", what, name, a), NEST_UNROLLED,
                           formulas_add(f, FORMULA_CHOOSE, written, length, one));
        length = formulas_add(f, FORMULA_CHOOSE, written, one, length);
    }
    w->loop[a][index] =
        weave_add_loop(w, mem_printf("%s_%s%d", what, name, a), kind_of(w, a, index), length);
}

void weave_add_loops(struct weaver *w)
{
    static const char *const space[] = {"group", "virtual", "thread", "outer", "inner"};
    static const char *const reduce[] = {"loop", "middle", "written", "shared", "across"};
    // From the inside out.
    static const int of_space[] = {TILE_INNER, TILE_OUTER, TILE_THREADS, TILE_VIRTUAL, TILE_GROUPS};
    static const int of_reduce[] = {TILE_SHARED, TILE_WRITTEN, TILE_MIDDLE, TILE_LOOP, TILE_ACROSS};
    add_lanes(w);
    for (int a = 0; a < weave_loops(w); a++) {
        int step = weave_constant(w, 1);
        for (int i = 0; i < TILE_PARTS; i++) {
            int index = weave_is_space(w, a) ? of_space[i] : of_reduce[i],
                length = weave_part(w, a, index);
            const char *what = weave_is_space(w, a) ? space[index] : reduce[index];
            w->step[a][index] = weave_has_lanes(w, a, index) ? w->lanes : step;
            w->loop[a][index] = w->written[a][index] = -1;
            if (!formulas_is_constant(&w->nest->formulas, length, 1))
                add_part(w, a, index, what);
            step = weave_multiply(w, step, length);
        }
    }
    if (w->v->plan == PLAN_CROSS || w->v->plan == PLAN_SPLIT)
        w->halving = weave_add_loop(w, mem_strdup("halving"), NEST_SERIAL, weave_constant(w, 1));
    const struct define_stage *s = &w->k->stage;
    for (int a = 0; a < DEFINE_MAX_AXES; a++)
        w->constant[a] =
            w->k->constants.axes >> a & 1
                ? weave_add_loop(w, mem_printf("constant_%s%d", s->axis[a], a), NEST_UNROLLED,
                                 weave_constant(w, (double)s->extent[a]))
                : -1;
}

// --- buffers ---

int weave_add_buffer(struct weaver *w, const char *name, enum nest_memory memory, int bytes)
{
    struct nest *n = w->nest;
    assert(n->buffer_count < NEST_MAX_BUFFERS);
    n->buffer[n->buffer_count] = (struct nest_buffer){.name = arena_strdup(&n->arena, name),
                                                      .memory = memory,
                                                      .bytes = bytes,
                                                      .copies = weave_constant(w, 1),
                                                      .used = weave_constant(w, 1)};
    return n->buffer_count++;
}

int weave_buffer_of(struct weaver *w, int tensor, bool is_input)
{
    const struct define_tensor *t = &w->p->inlined.tensor[tensor];
    if (w->buffer[tensor] >= 0)
        return w->buffer[tensor];
    bool is_stored = is_input || tensor == w->p->output;
    int index =
        weave_add_buffer(w, t->name, NEST_GLOBAL, is_stored ? element_bytes(t->element) : 4);
    w->nest->buffer[index].dim_count = t->rank;
    for (int i = 0; i < t->rank; i++)
        w->nest->buffer[index].dim[i] = weave_constant(w, (double)t->size[i]);
    return w->buffer[tensor] = index;
}

void weave_add_registers(struct weaver *w)
{
    bool is_written_out = w->v->plan == PLAN_CONSTANT;
    int count = is_written_out ? weave_constant(w, w->v->reads) : registers(w);
    w->registers = weave_add_buffer(w, "value", NEST_REGISTERS, 4);
    w->nest->buffer[w->registers].used = w->when;
    w->nest->buffer[w->registers].dim_count = 1;
    w->nest->buffer[w->registers].dim[0] = count;
}

int weave_placed(struct weaver *w, int copy)
{
    return formulas_slot(&w->nest->formulas, w->p->space->param[w->v->copied[copy]].offset);
}

// How far a loop runs within a workgroup and a step of the outer loops.
static int reach(struct weaver *w, int loop)
{
    int first = weave_is_space(w, loop) ? TILE_VIRTUAL : TILE_MIDDLE;
    int last = weave_is_space(w, loop) ? TILE_INNER : TILE_WRITTEN, count = weave_constant(w, 1);
    for (int i = first; i <= last; i++)
        count = weave_multiply(w, count, weave_part(w, loop, i));
    return count;
}

int weave_rank(const struct weaver *w, const struct program_copy *c)
{
    const struct definition *d = &w->p->inlined;
    return d->tensor[d->node[c->read].tensor].rank;
}

static int extent(struct weaver *w, const struct program_copy *c, int index)
{
    int sum = weave_constant(w, 1);
    for (int a = 0; a < weave_loops(w); a++) {
        int farther = weave_compute(w, FORMULA_SUBTRACT, reach(w, a), weave_constant(w, 1));
        sum = weave_compute(
            w, FORMULA_ADD, sum,
            weave_multiply(w, weave_constant(w, fabs(c->coefficient[index][a])), farther));
    }
    return sum;
}

static int copy_lines(struct weaver *w, const struct program_copy *c)
{
    int lines = weave_constant(w, 1);
    for (int i = 0; i < weave_rank(w, c) - 1; i++)
        lines = weave_multiply(w, lines, extent(w, c, i));
    return lines;
}

// As tiling_pitch has it.
static int copy_pitch(struct weaver *w, const struct program_copy *c)
{
    int pad = weave_multiply(
        w, pad_of(w), weave_compute(w, FORMULA_LESS, weave_constant(w, 1), copy_lines(w, c)));
    return weave_compute(w, FORMULA_ADD, extent(w, c, weave_rank(w, c) - 1), pad);
}

// As tiling_fill_lanes has them.
static void add_fill_lanes(struct weaver *w, int copy)
{
    const struct program_copy *c = &w->k->copy[copy];
    int last = weave_rank(w, c) - 1, width = vectors_fill_width(w->p, w->v, c);
    int wide = weave_compute(w, FORMULA_LESS, width_of(w), weave_constant(w, width + 1));
    wide = weave_compute(w, FORMULA_AND, wide, is_multiple(w, extent(w, c, last)));
    for (int a = 0; a < weave_loops(w); a++) {
        int by = weave_constant(w, fabs(c->coefficient[last][a]));
        wide =
            weave_compute(w, FORMULA_AND, wide, is_multiple(w, weave_multiply(w, by, reach(w, a))));
    }
    w->fill_lanes[copy] = width_where(w, wide);
    w->fill_lane[copy] =
        weave_add_loop(w, mem_printf("fill_lane%d", copy), NEST_VECTORIZED, w->fill_lanes[copy]);
}

int weave_threads(struct weaver *w)
{
    return weave_multiply(w, weave_product(w, true, TILE_THREADS),
                          weave_product(w, false, TILE_SHARED));
}

// The rounds of a copy's loop, which are written out where two tiles are held
// (`doubles`).
static void add_fill(struct weaver *w, int copy, const char *tensor, int doubles)
{
    const struct program_copy *c = &w->k->copy[copy];
    struct formulas *f = &w->nest->formulas;
    int line = extent(w, c, weave_rank(w, c) - 1), one = weave_constant(w, 1);
    add_fill_lanes(w, copy);
    line = weave_compute(w, FORMULA_DIVIDE, line, w->fill_lanes[copy]);
    int rounds = weave_compute(w, FORMULA_CEIL_DIVIDE, weave_multiply(w, copy_lines(w, c), line),
                               weave_threads(w));
    w->fill[copy] = weave_add_loop(w, mem_printf("fill_%s%d", tensor, copy), NEST_SERIAL,
                                   formulas_add(f, FORMULA_CHOOSE, doubles, one, rounds));
    w->fill_written[copy] =
        weave_add_loop(w, mem_printf("fill_%s%d_written", tensor, copy), NEST_UNROLLED,
                       formulas_add(f, FORMULA_CHOOSE, doubles, rounds, one));
}

void weave_add_copies(struct weaver *w)
{
    const struct definition *d = &w->p->inlined;
    int one = weave_constant(w, 1);
    int held = w->v->buffers < 0 ? one : formulas_number(&w->nest->formulas, w->v->buffers);
    for (int i = 0; i < w->k->copies && w->v->plan == PLAN_TILE; i++) {
        const struct program_copy *c = &w->k->copy[i];
        const char *tensor = d->tensor[d->node[c->read].tensor].name;
        char *name = mem_printf("%s.shared", tensor);
        w->copy[i] = weave_add_buffer(w, name, NEST_SHARED, 4);
        free(name);
        struct nest_buffer *b = &w->nest->buffer[w->copy[i]];
        b->dim_count = 1;
        b->dim[0] = weave_multiply(w, copy_lines(w, c), copy_pitch(w, c));
        b->copies = held;
        b->used = weave_compute(w, FORMULA_AND, w->when, weave_placed(w, i));
        add_fill(w, i, tensor, weave_compute(w, FORMULA_LESS, one, held));
    }
}

// --- accesses ---

// The loop that an axis is, or is taken for; -1: none.
static int loop_of(const struct weaver *w, int axis)
{
    const struct define_stage *s = &w->k->stage;
    bool of_space = axis < s->space;
    if (w->v->plan == PLAN_TILE)
        return axis;
    if (w->v->plan == PLAN_MATRIX)
        return weave_unit_loop(w, axis);
    for (int a = axis + 1; a < (of_space ? s->space : s->space + s->reduce); a++)
        if (s->extent[a] > 1 && w->constant[a] < 0)
            return -1;
    return of_space ? 0 : 1;
}

static bool is_outer(const struct weaver *w, int loop, int index)
{
    return weave_is_space(w, loop) ? index == TILE_GROUPS : index == TILE_LOOP;
}

// Adds the loops' terms of an index, times the formula `scale`. Gives how many terms there are.
int weave_add_terms(struct weaver *w, const double *coefficient, enum weave_parts which, int scale,
                    struct nest_term *term, int count)
{
    const struct define_stage *s = &w->k->stage;
    for (int axis = 0; axis < s->space + s->reduce; axis++) {
        bool is_written_out = coefficient[axis] != 0 && w->constant[axis] >= 0;
        int a = coefficient[axis] == 0 || is_written_out ? -1 : loop_of(w, axis);
        if (is_written_out)
            term[count++] = (struct nest_term){
                w->constant[axis], weave_multiply(w, weave_constant(w, coefficient[axis]), scale)};
        for (int i = 0; a >= 0 && i < TILE_PARTS; i++) {
            if (w->loop[a][i] < 0 ||
                (which != ALL_PARTS && is_outer(w, a, i) != (which == OUTER_PARTS)))
                continue;
            double by = which == INNER_PARTS ? fabs(coefficient[axis]) : coefficient[axis];
            int factor = weave_multiply(w, weave_constant(w, by), scale);
            int step = weave_multiply(w, factor, w->step[a][i]);
            term[count++] = (struct nest_term){w->loop[a][i], step};
            if (w->written[a][i] >= 0)
                term[count++] = (struct nest_term){w->written[a][i], step};
            if (weave_has_lanes(w, a, i))
                term[count++] = (struct nest_term){w->lane, factor};
        }
    }
    return count;
}

enum { MOST_TERMS = 6 * DEFINE_MAX_AXES + 8 };

struct nest_term *weave_new_terms(struct weaver *w)
{
    return arena_zero(&w->nest->arena, MOST_TERMS, sizeof(struct nest_term));
}

static void set_dim(struct weaver *w, struct nest_access *x, int dim, const double *coefficient)
{
    struct nest_term *term = weave_new_terms(w);
    x->dim[dim].count = weave_add_terms(w, coefficient, ALL_PARTS, weave_constant(w, 1), term, 0);
    x->dim[dim].term = term;
}

void weave_set_read(struct weaver *w, struct nest_access *x, const struct node *n)
{
    const struct definition *d = &w->p->inlined;
    *x = (struct nest_access){.buffer = weave_buffer_of(w, n->tensor, n->tensor < d->inputs),
                              .read = true};
    for (int i = 0; i < d->tensor[n->tensor].rank; i++) {
        double coefficient[DEFINE_AFFINE] = {0};
        definition_affine(d, d->index[n->index + i], 1, coefficient);
        set_dim(w, x, i, coefficient);
    }
}

// Of a copy, which has one index.
struct nest_access weave_copy_access(struct weaver *w, int copy)
{
    const struct program_copy *c = &w->k->copy[copy];
    struct nest_access x = {.buffer = w->copy[copy], .read = true};
    struct nest_term *term = weave_new_terms(w);
    int stride = weave_constant(w, 1), count = 0;
    for (int i = weave_rank(w, c) - 1; i >= 0; i--) {
        count = weave_add_terms(w, c->coefficient[i], INNER_PARTS, stride, term, count);
        stride = i == weave_rank(w, c) - 1 ? copy_pitch(w, c)
                                           : weave_multiply(w, stride, extent(w, c, i));
    }
    x.dim[0].term = term;
    x.dim[0].count = count;
    return x;
}

// Of the numbers in registers.
struct nest_access weave_block_access(struct weaver *w, bool reads, bool writes)
{
    static const int parts[] = {TILE_INNER, TILE_OUTER, TILE_VIRTUAL};
    if (w->v->plan == PLAN_MATRIX)
        return weave_unit_registers(w, reads, writes);
    struct nest_access x = {.buffer = w->registers, .read = reads, .write = writes};
    struct nest_term *term = weave_new_terms(w);
    int stride = weave_constant(w, 1), count = 0;
    for (int a = w->v->loops.space - 1; a >= 0; a--)
        for (int i = 0; i < 3; i++) {
            bool lanes = weave_has_lanes(w, a, parts[i]);
            if (lanes)
                term[count++] = (struct nest_term){w->lane, stride};
            if (w->loop[a][parts[i]] >= 0)
                term[count++] = (struct nest_term){
                    w->loop[a][parts[i]], lanes ? weave_multiply(w, stride, w->lanes) : stride};
            stride = weave_multiply(w, stride, weave_part(w, a, parts[i]));
        }
    x.dim[0].term = term;
    x.dim[0].count = count;
    return x;
}

struct nest_access weave_output_access(struct weaver *w)
{
    const struct define_stage *s = &w->k->stage;
    int tensor = w->k->is_output ? w->p->output : s->tensor;
    struct nest_access x = {.buffer = weave_buffer_of(w, tensor, false), .write = true};
    for (int a = 0; a < s->space; a++) {
        double coefficient[DEFINE_MAX_AXES] = {0};
        coefficient[a] = 1;
        set_dim(w, &x, a, coefficient);
    }
    return x;
}
