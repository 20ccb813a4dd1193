// The loop nest of a program. Each way to compute a kernel has its own statements: one that fills
// each staged tile, one that computes a block in registers (for each choice of the reads that are
// staged), the exchange of partial results between invocations, and the store.
//
// An index that is not affine in the axes (a quotient, a select) counts as its affine part. A loop
// of fused axes counts as the last axis.
#include "define/lower.h"

#include "base/mem.h"

// Adds the statement that fills a staged tile. Neighbouring invocations copy neighbours.
static void add_fill(struct lowering *w, int i)
{
    const struct staged_read *c = &w->k->staged[i];
    int loops[] = {w->fill[i], w->fill_unrolled[i], w->fill_lane[i]}, stride = w->fill_lanes[i];
    struct nest_access first = {.buffer = w->staged[i], .write = true};
    lower_add_term(w, &first, 0, w->fill_lane[i], lower_constant(w, 1));
    for (int a = w->v->loops.space - 1; a >= 0; a--) {
        if (w->loop[a][TILE_THREADS] >= 0)
            lower_add_term(w, &first, 0, w->loop[a][TILE_THREADS], stride);
        stride = lower_multiply(w, stride, lower_length(w, a, TILE_THREADS));
    }
    lower_add_term(w, &first, 0, w->fill[i], stride);
    lower_add_term(w, &first, 0, w->fill_unrolled[i], stride);
    struct nest_statement *s = lower_new_statement(w, "copy", PATH_FILL, first);
    for (int k = 0; k < 3; k++)
        ((int *)(uintptr_t)s->loop)[s->loop_count++] = loops[k];
    s->when = lower_compute(w, FORMULA_AND, w->when, lower_slot(w, w->v->staging[i], 0));
    lower_count_operations(w, c->expression, 0, REDUCE_NONE, s);
    lower_add_fill_reads(w, s, c->expression, c, 0);
}

// Adds the exchange of partial results in shared memory: invocations store theirs, the lower half
// combines them with those of the upper half again and again, and all fetch the result.
static void add_exchange(struct lowering *w)
{
    int size = lower_multiply(w, lower_threads(w), w->nest->buffer[w->registers].dim[0]);
    int partial = lower_add_buffer(w, "partial", NEST_SHARED, 4, -1, size);
    struct nest_access stored = lower_block_access(w, false, true), fetched = stored;
    stored.buffer = partial;
    fetched.buffer = partial;
    fetched.write = false;
    fetched.read = true;
    struct nest_statement *s = lower_new_statement(w, "hand in", PATH_STORE, stored);
    lower_add_access(s, lower_block_access(w, true, false));
    int steps = lower_product(w, false, TILE_REDUCE_THREADS);
    s = lower_new_statement(w, "halve", PATH_HALVE, stored);
    // The number of halvings from n to 1; no workgroup has more than 2^10 invocations.
    int sum = lower_constant(w, 0);
    for (int i = 0; i < 10; i++)
        sum = lower_compute(w, FORMULA_ADD, sum,
                            lower_compute(w, FORMULA_LESS, lower_constant(w, 1 << i), steps));
    w->nest->loop[w->halving].length = sum;
    s->when = lower_compute(w, FORMULA_AND, w->when,
                            lower_compute(w, FORMULA_LESS, lower_constant(w, 1), steps));
    lower_add_access(s, fetched);
    lower_add_access(s, fetched);
    lower_count_operations(w, -1, 0, w->k->stage.reduction, s);
    s = lower_new_statement(w, "fetch", PATH_STORE, lower_block_access(w, false, true));
    lower_add_access(s, fetched);
}

// Adds the store of the kernel's results, which stand in registers.
static void add_store(struct lowering *w)
{
    struct nest_statement *store =
        lower_new_statement(w, "store", PATH_STORE, lower_output_access(w));
    if (w->k->epilogue < 0) {
        lower_add_access(store, lower_block_access(w, true, false));
        return;
    }
    lower_add_reads(w, store, w->k->epilogue, 0);
    lower_count_operations(w, w->k->epilogue, 0, REDUCE_NONE, store);
}

// Returns an access of the workgroups' partial results. The reduction's loop `part` is over these
// workgroups.
static struct nest_access part_access(struct lowering *w, int parts, int part)
{
    struct nest_access x = {.buffer = parts};
    lower_add_term(w, &x, 0, w->loop[w->v->loops.space][part], lower_constant(w, 1));
    for (int i = 0; i < TILE_PARTS; i++)
        if (w->loop[0][i] >= 0)
            lower_add_term(w, &x, 1, w->loop[0][i], w->step[0][i]);
    return x;
}

// Adds the second pass of a split reduction: workgroups store their partial results, and one
// invocation combines those of each number. Its loops replace those of the first pass
// (tiling_second_pass).
static void add_second_pass(struct lowering *w)
{
    const struct tiling first = {.variant = w->v};
    struct program_variant v;
    const struct tiling second = tiling_second_pass(&first, &v);
    int count = lower_product(w, false, TILE_REDUCE_GROUPS), loop = w->v->loops.space;
    int parts = lower_add_buffer(w, "parts", NEST_GLOBAL, 4, count,
                                 lower_constant(w, (double)tiling_points(&first)));
    struct nest_access stored = part_access(w, parts, TILE_REDUCE_GROUPS);
    stored.write = true;
    struct nest_statement *s = lower_new_statement(w, "store parts", PATH_STORE, stored);
    lower_add_access(s, lower_block_access(w, true, false));
    int threads = lower_constant(w, second.part[0][TILE_THREADS]);
    int groups = lower_constant(w, second.part[0][TILE_GROUPS]);
    for (int a = 0; a < DEFINE_MAX_AXES; a++)
        for (int i = 0; i < TILE_PARTS; i++)
            w->loop[a][i] = w->unrolled[a][i] = -1;
    w->lane = -1;
    w->loop[0][TILE_GROUPS] = lower_add_loop(w, mem_strdup("second_group"), NEST_BLOCK_X, groups);
    w->loop[0][TILE_THREADS] =
        lower_add_loop(w, mem_strdup("second_thread"), NEST_THREAD_X, threads);
    w->loop[loop][TILE_REDUCE_OUTER] = lower_add_loop(w, mem_strdup("parts"), NEST_SERIAL, count);
    w->step[0][TILE_GROUPS] = threads;
    w->step[0][TILE_THREADS] = w->step[loop][TILE_REDUCE_OUTER] = lower_constant(w, 1);
    s = lower_new_statement(w, "combine", PATH_REDUCE, lower_block_access(w, true, true));
    struct nest_access fetched = part_access(w, parts, TILE_REDUCE_OUTER);
    fetched.read = true;
    lower_add_access(s, fetched);
    lower_count_operations(w, -1, 0, w->k->stage.reduction, s);
    add_store(w);
}

static void lower_variant(struct lowering *w)
{
    const struct define_stage *s = &w->k->stage;
    bool reduces = s->reduction != REDUCE_NONE;
    if (w->v->plan == PLAN_MATRIX) {
        lower_matrix(w);
        return;
    }
    int staged_count = w->v->plan == PLAN_TILE ? w->k->staged_count : 0;
    lower_add_loops(w);
    if (w->v->plan == PLAN_CONSTANT) {
        // Each iteration reads its elements once and stores all values that follow from them.
        const struct unrolled *c = &w->k->unrolled;
        int of_op[NODE_OP_COUNT] = {0};
        struct nest_statement *fetch =
            lower_new_statement(w, "fetch", PATH_FETCH, lower_block_access(w, false, true));
        lower_add_reads(w, fetch, c->body, 0);
        if (c->reads && c->computed[0] >= 0)
            lower_count_operations(w, c->computed[0], 0, REDUCE_NONE, fetch);
        struct nest_statement *store =
            lower_new_statement(w, "store", PATH_STORE, lower_output_access(w));
        lower_add_access(store, lower_block_access(w, true, false));
        for (int i = 0; i < c->values; i++)
            lower_add_operations(w, c->value[i], 0, of_op);
        lower_set_operations(w, of_op, 1.0 / c->values, store);
        return;
    }
    lower_add_staging(w);
    for (int i = 0; i < staged_count; i++)
        add_fill(w, i);
    for (unsigned staged = 0; staged < 1U << staged_count; staged++) {
        struct nest_access first =
            reduces ? lower_block_access(w, true, true) : lower_output_access(w);
        struct nest_statement *one =
            lower_new_statement(w, reduces ? "reduce" : "store", PATH_REDUCE, first);
        for (int i = 0; i < staged_count; i++) {
            int holds = lower_slot(w, w->v->staging[i], 0);
            if (!(staged >> i & 1))
                holds = formulas_add(&w->nest->formulas, FORMULA_NOT, holds, 0, 0);
            one->when = lower_compute(w, FORMULA_AND, one->when, holds);
        }
        lower_add_reads(w, one, s->body, staged);
        lower_count_operations(w, s->body, staged, s->reduction, one);
    }
    if (reduces && (w->v->plan == PLAN_CROSS || w->v->plan == PLAN_SPLIT))
        add_exchange(w);
    if (reduces)
        (w->v->plan == PLAN_SPLIT ? add_second_pass : add_store)(w);
}

struct nest *program_nest(const struct program *p)
{
    struct lowering w = {.p = p, .nest = nest_create()};
    w.nest->unroll = -1;
    for (int i = 0; i < p->inlined.tensor_count; i++)
        w.buffer[i] = -1;
    for (int i = 0; i < p->kernel_count; i++)
        for (int v = 0; v < p->kernel[i].variants; v++) {
            w.k = &p->kernel[i];
            w.v = &w.k->variant[v];
            w.space = w.v->loops.space;
            w.loops = w.space + w.v->loops.reduce;
            if (w.k->variants == 1) {
                w.when = lower_constant(&w, 1);
            } else { // the sketches that compute the kernel in this way
                int chosen = lower_slot(&w, p->chooser, 0);
                w.when = lower_constant(&w, 0);
                for (int s = 0; s < p->sketches.count; s++)
                    if (program_variant_of(p, s, i) == v) {
                        int is_it = lower_compute(&w, FORMULA_EQUAL, chosen, lower_constant(&w, s));
                        w.when = lower_compute(&w, FORMULA_OR, w.when, is_it);
                    }
            }
            lower_variant(&w);
            if (w.nest->unroll < 0)
                w.nest->unroll = w.v->unroll;
        }
    nest_seal(w.nest);
    return w.nest;
}
