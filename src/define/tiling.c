// The tiles of one configuration, the device resources that they need, and the constraints.
#include "define/program.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

// Limits of the constraints.
#define MOST_REGISTERS         64   // of an invocation on a GPU: more spill
#define MOST_STATEMENTS        512  // unrolled ones of a kernel
#define MOST_OPERATIONS        4096 // of all kernels
#define MOST_OPERATIONS_ON_CPU 8192
#define MOST_VIRTUAL           8  // TVM's max_vthread_extent
#define MOST_INNERMOST         64 // TVM's max_innermost_split_factor
#define MOST_AHEAD             16 // elements of the next tile that an invocation holds
#define SECOND_THREADS         64 // invocations of a workgroup in a second pass

enum { ROWS = PRODUCT_ROWS, COLUMNS = PRODUCT_COLUMNS, STEP_BYTES = 16 };

static const int32_t *slots(const struct program *p, int param, const struct config *c)
{
    return c->slot + p->space->param[param].offset;
}

// Returns the number that the parameter has; `otherwise` where the variant lacks the parameter.
static double number_of(const struct program *p, int param, const struct config *c,
                        double otherwise)
{
    return param < 0 ? otherwise : p->space->param[param].number[*slots(p, param, c)];
}

static int64_t ceil_divide(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

// --- sizes ---

int tiling_factor(enum stage_plan plan, bool is_space, int part)
{
    static const int8_t space[][TILE_PARTS] = {
        [PLAN_TILE] = {0, 1, 2, 3, 4},       [PLAN_SERIAL] = {0, 2, 1, -1, -1},
        [PLAN_CONSTANT] = {0, 2, 1, -1, -1}, [PLAN_CROSS] = {0, 2, 1, -1, -1},
        [PLAN_SPLIT] = {0, 2, 1, -1, -1},    [PLAN_MATRIX] = {0, -1, 1, 2, 3}};
    static const int8_t reduce[][TILE_PARTS] = {
        [PLAN_TILE] = {0, 1, 2, -1, -1},        [PLAN_SERIAL] = {0, -1, 1, -1, -1},
        [PLAN_CONSTANT] = {-1, -1, -1, -1, -1}, [PLAN_CROSS] = {0, -1, 2, 1, -1},
        [PLAN_SPLIT] = {2, -1, -1, 1, 0},       [PLAN_MATRIX] = {0, 1, 2, -1, -1}};
    return is_space ? space[plan][part] : reduce[plan][part];
}

static int64_t product(const struct tiling *t, int first, int count, int part)
{
    int64_t n = 1;
    for (int a = first; a < first + count; a++)
        n *= t->part[a][part];
    return n;
}

int64_t tiling_space(const struct tiling *t, int part)
{
    return product(t, 0, t->variant->loops.space, part);
}

int64_t tiling_reduced(const struct tiling *t, int part)
{
    return product(t, t->variant->loops.space, t->variant->loops.reduce, part);
}

int64_t tiling_registers(const struct tiling *t)
{
    if (t->variant->plan == PLAN_CONSTANT)
        return t->variant->reads; // of one iteration
    return tiling_space(t, TILE_VIRTUAL) * tiling_space(t, TILE_OUTER) *
           tiling_space(t, TILE_INNER) / t->lanes;
}

int64_t tiling_threads(const struct tiling *t)
{
    return tiling_space(t, TILE_THREADS) * tiling_reduced(t, TILE_REDUCE_THREADS) * t->lanes;
}

int64_t tiling_span(const struct tiling *t, int loop)
{
    const int32_t *part = t->part[loop];
    if (loop >= t->variant->loops.space)
        return (int64_t)part[TILE_REDUCE_MIDDLE] * part[TILE_REDUCE_INNER];
    return (int64_t)part[TILE_VIRTUAL] * part[TILE_THREADS] * part[TILE_OUTER] * part[TILE_INNER];
}

struct staged_tile tiling_staged(const struct program *p, const struct staged_read *c,
                                 const struct tiling *t)
{
    struct staged_tile tile = {.lines = 1, .lanes = t->vector};
    int loops = t->variant->loops.space + t->variant->loops.reduce, last = c->rank - 1;
    for (int i = 0; i < c->rank; i++) {
        double extent = 1;
        for (int a = 0; a < loops; a++)
            extent += fabs(c->coefficient[i][a]) * (double)(tiling_span(t, a) - 1);
        tile.extent[i] = (int64_t)extent;
        tile.lines *= i < last ? tile.extent[i] : 1;
    }
    tile.line = tile.extent[last];
    tile.pitch = tile.line + (tile.lines > 1 ? t->pad : 0);
    tile.size = tile.lines * tile.pitch;
    // Vectors fill lines whose length and beginnings are multiples of their width.
    bool is_wide = t->vector > 1 && tiling_fill_width(p, t->variant, c) % t->vector == 0 &&
                   tile.line % t->vector == 0;
    for (int a = 0; a < loops && is_wide; a++)
        is_wide = fmod(c->coefficient[last][a] * (double)tiling_span(t, a), t->vector) == 0;
    tile.lanes = is_wide ? t->vector : 1;
    tile.rounds = ceil_divide(tile.lines * tile.line / tile.lanes, tiling_threads(t));
    return tile;
}

// Parts are unrolled from the inside out, as long as there are no more statements than the limit.
// Without a limit the innermost part is unrolled.
bool tiling_is_unrolled(const struct tiling *t, int part)
{
    if (t->variant->unroll < 0)
        return part == TILE_REDUCE_INNER;
    int64_t statements = tiling_registers(t) * tiling_reduced(t, TILE_REDUCE_INNER);
    if (part == TILE_REDUCE_MIDDLE)
        statements *= tiling_reduced(t, TILE_REDUCE_MIDDLE);
    return part != TILE_REDUCE_OUTER && statements <= t->unroll;
}

// The first of several loops is y of the dispatch; the others are x.
void tiling_groups(const struct tiling *t, uint64_t out[3])
{
    int space = t->variant->loops.space, first = space > 1;
    out[0] = (uint64_t)product(t, first, space - first, TILE_GROUPS);
    out[1] = (uint64_t)product(t, 0, first, TILE_GROUPS);
    out[2] = (uint64_t)tiling_reduced(t, TILE_REDUCE_GROUPS);
}

int64_t tiling_points(const struct tiling *t)
{
    int64_t points = 1;
    for (int a = 0; a < t->variant->loops.space; a++)
        points *= t->variant->loops.length[a];
    return points;
}

struct tiling tiling_second_pass(const struct tiling *t, struct program_variant *v)
{
    const struct program_loops *l = &t->variant->loops;
    int64_t points = tiling_points(t), threads = int64_min(points, SECOND_THREADS);
    int64_t groups = ceil_divide(points, threads);
    *v = (struct program_variant){
        .plan = PLAN_SERIAL, .loops = *l, .unroll = -1, .vector = -1, .pad = -1, .buffers = -1};
    v->loops.extent[0] = groups * threads;
    v->is_guarded = v->loops.extent[0] > points;
    struct tiling second = {.variant = v, .vector = 1, .lanes = 1};
    for (int a = 0; a < DEFINE_MAX_AXES; a++)
        for (int i = 0; i < TILE_PARTS; i++)
            second.part[a][i] = 1;
    second.part[0][TILE_GROUPS] = (int32_t)groups;
    second.part[0][TILE_THREADS] = (int32_t)threads;
    second.part[l->space][TILE_REDUCE_OUTER] = (int32_t)tiling_reduced(t, TILE_REDUCE_GROUPS);
    return second;
}

// --- vectors ---
//
// An access is a vector where its elements are neighbours in memory too and begin at a multiple of
// the width. All other accesses are of one element.

int32_t tiling_lanes(const struct tiling *t)
{
    const struct program_loops *l = &t->variant->loops;
    int a = l->space - 1;
    bool splits =
        t->vector > 1 && l->extent[a] == l->length[a] && t->part[a][TILE_INNER] % t->vector == 0;
    return splits ? t->vector : 1;
}

bool tiling_reads_vector(const struct program *p, const struct program_kernel *k, int read,
                         const struct tiling *t)
{
    const struct definition *d = &p->inlined;
    int staged = program_staged_of(k, read), lanes = tiling_lanes(t);
    int axis = t->variant->loops.space - 1;
    double offset[DEFINE_AFFINE] = {0};
    if (lanes == 1)
        return false;
    if (staged >= 0 && t->is_staged[staged]) {
        // Each vector begins at a multiple of the width in a line whose pitch is one too.
        const struct staged_read *c = &k->staged[staged];
        int own = k->stage.space - 1;
        const double *last = c->coefficient[c->rank - 1];
        bool is_vector = own >= 0 && tiling_staged(p, c, t).pitch % lanes == 0;
        for (int i = 0; i < c->rank && is_vector; i++)
            is_vector = c->coefficient[i][own] == (i == c->rank - 1);
        for (int a = 0; a < DEFINE_MAX_AXES && is_vector; a++)
            is_vector = last[a] >= 0;
        for (int a = 0; a < k->stage.space + k->stage.reduce && is_vector; a++)
            is_vector = a == axis || fmod(last[a], lanes) == 0 || tiling_span(t, a) == 1;
        return is_vector;
    }
    if (d->node[read].tensor >= d->inputs || !definition_affine_offset(d, read, offset) ||
        offset[axis] != 1)
        return false;
    offset[axis] = 0;
    for (int a = 0; a < DEFINE_AFFINE; a++)
        if (fmod(offset[a], lanes) != 0)
            return false;
    return true;
}

bool tiling_stores_vector(const struct program_kernel *k, const struct tiling *t)
{
    int32_t lanes = tiling_lanes(t);
    return k->is_output && lanes > 1 &&
           t->variant->loops.length[t->variant->loops.space - 1] % lanes == 0;
}

int tiling_fill_width(const struct program *p, const struct program_variant *v,
                      const struct staged_read *c)
{
    const struct define_tensor *t = &p->inlined.tensor[c->tensor];
    const double *last = c->coefficient[t->rank - 1];
    const struct program_loops *l = &v->loops;
    int width = PROGRAM_MOST_VECTOR;
    if (c->stage >= 0 || c->tensor >= p->inlined.inputs)
        return 1;
    for (int a = 0; a < l->space + l->reduce; a++)
        if (last[a] < 0 || (last[a] > 0 && l->extent[a] != l->length[a]))
            return 1;
    while (t->size[t->rank - 1] % width != 0 || fmod(last[DEFINE_MAX_AXES], width) != 0)
        width /= 2;
    return width;
}

// --- matrix units ---
//
// The parts of rows and columns are workgroups, subgroups (TILE_THREADS), fragments of a subgroup
// (TILE_OUTER) and elements of a fragment (TILE_INNER). The parts of the reduction are tiles,
// fragments of a tile (TILE_REDUCE_MIDDLE) and elements of a fragment (TILE_REDUCE_INNER).

void matrix_emulate(struct matrix_units *out)
{
    static const uint16_t sizes[][3] = {{8, 8, 8}, {16, 8, 8}, {8, 16, 16}};
    static const enum element types[] = {ELEMENT_F16,  ELEMENT_I8,     ELEMENT_F32,   ELEMENT_U8,
                                         ELEMENT_BF16, ELEMENT_F8E4M3, ELEMENT_F8E5M2};
    *out = (struct matrix_units){.api = MATRIX_KHR};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct matrix_shape s = {.m = sizes[i][0], .n = sizes[i][1], .k = sizes[i][2]};
            strcpy(s.input, element_name(types[t]));
            strcpy(s.sum, element_is_real(types[t]) ? "f32" : "i32");
            matrix_units_add(out, &s);
        }
}

int64_t matrix_tile_pitch(const struct program_kernel *k, const struct tiling *t, int factor)
{
    return tiling_span(t, k->product.along[factor] ? PRODUCT_SIDES : ROWS + factor) + t->pad;
}

// --- tilings ---

struct tiling program_tiling(const struct program *p, int kernel, const struct config *c)
{
    const struct program_kernel *k = &p->kernel[kernel];
    int sketch = p->chooser < 0 ? 0 : *slots(p, p->chooser, c);
    struct tiling t = {.variant = &k->variant[program_variant_of(p, sketch, kernel)], .lanes = 1};
    t.vector = (int32_t)number_of(p, t.variant->vector, c, 1);
    t.pad = (int32_t)number_of(p, t.variant->pad, c, 0);
    t.double_buffers = number_of(p, t.variant->buffers, c, 1) > 1;
    t.unroll = (int32_t)number_of(p, t.variant->unroll, c, 0);
    const struct program_loops *l = &t.variant->loops;
    for (int a = 0; a < DEFINE_MAX_AXES; a++)
        for (int i = 0; i < TILE_PARTS; i++) {
            const struct param *q =
                a < l->space + l->reduce && l->param[a] >= 0 ? &p->space->param[l->param[a]] : NULL;
            int place = tiling_factor(t.variant->plan, a < l->space, i);
            t.part[a][i] = q && place >= 0 ? c->slot[q->offset + place] : 1;
        }
    for (int i = 0; i < k->staged_count && t.variant->plan == PLAN_TILE; i++)
        t.is_staged[i] = t.variant->staging[i] >= 0 && *slots(p, t.variant->staging[i], c);
    if (t.variant->plan == PLAN_MATRIX) {
        const struct program_variant *v = t.variant;
        const int64_t *length = v->loops.length;
        const int32_t *subgroups = slots(p, v->subgroups, c),
                      *fragments = slots(p, v->fragments, c);
        t.shape = &k->shape[*slots(p, v->shape, c)];
        t.lanes = (int32_t)p->device.lanes;
        t.part[PRODUCT_BATCH][TILE_GROUPS] = (int32_t)length[PRODUCT_BATCH];
        for (int side = ROWS; side <= COLUMNS; side++) {
            int32_t *part = t.part[side]; // the first factor of these parameters is unused
            part[TILE_THREADS] = subgroups[side];
            part[TILE_OUTER] = fragments[side];
            part[TILE_INNER] = side == ROWS ? t.shape->m : t.shape->n;
            part[TILE_GROUPS] = (int32_t)ceil_divide(length[side], tiling_span(&t, side));
        }
        int32_t *part = t.part[PRODUCT_SIDES];
        part[TILE_REDUCE_MIDDLE] = (int32_t)number_of(p, v->steps, c, 0);
        part[TILE_REDUCE_INNER] = t.shape->k;
        part[TILE_REDUCE_OUTER] =
            (int32_t)ceil_divide(length[PRODUCT_SIDES], tiling_span(&t, PRODUCT_SIDES));
        t.pad =
            (int32_t)number_of(p, v->pad, c, 0) * STEP_BYTES / element_bytes(k->product.element);
    }
    return t;
}

// Returns how many statements the unrolled loops have.
static int64_t statements_of(const struct tiling *t)
{
    int64_t statements = tiling_registers(t);
    if (t->variant->plan == PLAN_CONSTANT)
        return t->variant->values + t->variant->reads;
    if (t->variant->plan == PLAN_MATRIX) {
        // The loads and products of a tile's fragments, and the stores, each about eight lines
        // long.
        int64_t a = t->part[ROWS][TILE_OUTER], b = t->part[COLUMNS][TILE_OUTER];
        return t->part[PRODUCT_SIDES][TILE_REDUCE_MIDDLE] * (a + b + a * b) + 8 * a * b;
    }
    for (int part = TILE_REDUCE_MIDDLE; part <= TILE_REDUCE_INNER; part++)
        statements *= tiling_is_unrolled(t, part) ? tiling_reduced(t, part) : 1;
    return statements;
}

// --- constraints ---

enum tile_rule {
    RULE_REGISTERS,
    RULE_WRITTEN,
    RULE_SUBGROUPS,
    RULE_SHARED,
    RULE_SPLIT_ACROSS,
    RULE_FULL_SUBGROUPS,
    RULE_FRAGMENTS,
    RULE_VIRTUAL,
    RULE_INNERMOST,
    RULE_VECTORS,
    RULE_PADDING,
    RULE_AHEAD,
    RULES
};

#define ANY_PLAN PLAN_SERIAL

static const struct {
    const char *name;
    enum stage_plan plan; // of the kernels that the constraint is for
} rules[RULES] = {[RULE_REGISTERS] = {"registers", ANY_PLAN},
                  [RULE_WRITTEN] = {"what is written out", ANY_PLAN},
                  [RULE_SUBGROUPS] = {"whole subgroups", ANY_PLAN},
                  [RULE_SHARED] = {"shared reductions", PLAN_CROSS},
                  [RULE_SPLIT_ACROSS] = {"split reductions", PLAN_SPLIT},
                  [RULE_FULL_SUBGROUPS] = {"full subgroups", PLAN_MATRIX},
                  [RULE_FRAGMENTS] = {"fragments inside", PLAN_MATRIX},
                  [RULE_VIRTUAL] = {"virtual threads", PLAN_TILE},
                  [RULE_INNERMOST] = {"innermost parts", PLAN_TILE},
                  [RULE_VECTORS] = {"vectors", PLAN_TILE},
                  [RULE_PADDING] = {"padding", PLAN_TILE},
                  [RULE_AHEAD] = {"tiles ahead", PLAN_TILE}};

static bool rule_holds(enum tile_rule rule, const struct program *p, int kernel,
                       const struct tiling *t)
{
    const struct program_kernel *k = &p->kernel[kernel];
    enum stage_plan plan = t->variant->plan;
    int64_t shared = tiling_reduced(t, TILE_REDUCE_THREADS),
            across = tiling_reduced(t, TILE_REDUCE_GROUPS);
    int64_t ahead = 0; // elements that an invocation fetches ahead
    bool fills_vectors = false, has_lines = false;
    for (int i = 0; i < k->staged_count; i++) {
        if (!t->is_staged[i])
            continue;
        const struct staged_tile tile = tiling_staged(p, &k->staged[i], t);
        fills_vectors = fills_vectors || tile.lanes > 1;
        has_lines = has_lines || tile.lines > 1;
        ahead += tile.rounds * tile.lanes;
    }
    switch (rule) {
    case RULE_REGISTERS: // CPUs spill to their caches
        return p->device.is_cpu || tiling_registers(t) <= MOST_REGISTERS;
    case RULE_WRITTEN: return statements_of(t) <= MOST_STATEMENTS;
    case RULE_SUBGROUPS: {
        const struct define_stage *s = &k->stage;
        int64_t points = tiling_points(t);
        if (plan == PLAN_CROSS || plan == PLAN_SPLIT)
            points *= stage_points(s, s->space, s->reduce);
        return tiling_threads(t) >= int64_min(p->device.subgroup, points / 2);
    }
    case RULE_SHARED:
        return plan != PLAN_CROSS || shared > 1; // else the kernel is that of another sketch
    case RULE_SPLIT_ACROSS:
        return plan != PLAN_SPLIT || (shared > 1 && across > 1 && across <= SKETCH_MOST_SPLIT);
    case RULE_FULL_SUBGROUPS:
        return !t->shape ||
               (tiling_threads(t) % p->device.subgroup == 0 &&
                t->shape->m * t->shape->n % t->lanes == 0 &&
                (!p->device.subgroups || tiling_space(t, TILE_THREADS) <= p->device.subgroups));
    case RULE_FRAGMENTS: {
        // No fragment lies outside of the matrices.
        bool inside = true;
        for (int loop = ROWS; loop <= PRODUCT_SIDES && t->shape; loop++) {
            int innermost = loop == PRODUCT_SIDES ? TILE_REDUCE_INNER : TILE_INNER;
            int64_t length = t->variant->loops.length[loop], most = t->part[loop][innermost];
            inside = inside && tiling_span(t, loop) < length + most;
        }
        return inside;
    }
    case RULE_VIRTUAL: return plan != PLAN_TILE || tiling_space(t, TILE_VIRTUAL) <= MOST_VIRTUAL;
    case RULE_INNERMOST: {
        const struct program_loops *l = &t->variant->loops;
        for (int a = 0; a < l->space + l->reduce && plan == PLAN_TILE; a++)
            if (t->part[a][a < l->space ? TILE_INNER : TILE_REDUCE_INNER] > MOST_INNERMOST)
                return false;
        return true;
    }
    case RULE_VECTORS: // else the kernel equals the one with narrower vectors
        return t->vector == 1 || tiling_lanes(t) > 1 || fills_vectors;
    case RULE_PADDING: return t->pad == 0 || has_lines;
    default: // RULE_AHEAD: there are tiles to fetch, and they fit registers
        return !t->double_buffers ||
               (ahead > 0 && ahead <= MOST_AHEAD && tiling_reduced(t, TILE_REDUCE_OUTER) > 1);
    }
}

struct rule_context {
    const struct program *p;
    enum tile_rule rule;
};

static int rule_holds_for_all(void *context, const struct config *c, struct err *e)
{
    const struct rule_context *r = context;
    (void)e;
    for (int i = 0; i < r->p->kernel_count; i++) {
        struct tiling t = program_tiling(r->p, i, c);
        if (!rule_holds(r->rule, r->p, i, &t))
            return 0;
    }
    return 1;
}

// Drivers compile a kernel of MOST_OPERATIONS in seconds, and one a few times as long in minutes.
static int text_is_short(void *context, const struct config *c, struct err *e)
{
    const struct program *p = context;
    int64_t operations = 0;
    (void)e;
    for (int i = 0; i < p->kernel_count; i++) {
        const struct program_kernel *k = &p->kernel[i];
        struct tiling t = program_tiling(p, i, c);
        int64_t each = k->operations; // of a statement, with its indices and conditions
        for (int j = 0; j < k->staged_count; j++)
            each += t.is_staged[j] ? 0 : k->staged[j].operations;
        if (t.variant->plan == PLAN_CONSTANT)
            operations += k->unrolled_operations;
        else if (t.variant->plan == PLAN_MATRIX) // elements are read and stored in loops
            operations += statements_of(&t) + k->operations + k->store_operations;
        else
            operations += statements_of(&t) * each + tiling_registers(&t) * k->store_operations;
    }
    return operations <= (p->device.is_cpu ? MOST_OPERATIONS_ON_CPU : MOST_OPERATIONS);
}

// --- resources ---

static uint64_t shared_bytes(const struct program *p, int kernel, const struct tiling *t)
{
    const struct program_kernel *k = &p->kernel[kernel];
    int64_t count = 0;
    if (t->shape) {
        for (int f = 0; f < 2; f++)
            count += matrix_tile_pitch(k, t, f) *
                     tiling_span(t, k->product.along[f] ? ROWS + f : PRODUCT_SIDES);
        return (uint64_t)(count * element_bytes(k->product.element) +
                          4 * tiling_space(t, TILE_THREADS) * t->shape->m * t->shape->n);
    }
    for (int i = 0; i < k->staged_count; i++)
        if (t->is_staged[i])
            count += (t->double_buffers ? 2 : 1) * tiling_staged(p, &k->staged[i], t).size;
    if (tiling_reduced(t, TILE_REDUCE_THREADS) > 1)
        count += tiling_threads(t) * tiling_registers(t);
    return 4 * (uint64_t)count;
}

// Raises the resources to those that the pass needs.
static void add_needs(const struct program *p, int kernel, const struct tiling *t,
                      struct resources *out)
{
    uint64_t groups[3], trips = (uint64_t)tiling_reduced(t, TILE_REDUCE_OUTER);
    tiling_groups(t, groups);
    for (int k = 0; k < 3; k++)
        out->groups[k] = uint64_max(out->groups[k], groups[k]);
    out->group_size[0] = uint64_max(out->group_size[0], (uint64_t)tiling_threads(t));
    out->accumulators = uint64_max(out->accumulators, (uint64_t)tiling_registers(t));
    out->statements = uint64_max(out->statements, (uint64_t)statements_of(t));
    out->shared_bytes = uint64_max(out->shared_bytes, shared_bytes(p, kernel, t));
    for (int part = TILE_REDUCE_MIDDLE; part <= TILE_REDUCE_INNER; part++)
        if (!tiling_is_unrolled(t, part))
            trips *= (uint64_t)tiling_reduced(t, part);
    if (t->shape) {
        int64_t a = t->part[ROWS][TILE_OUTER], b = t->part[COLUMNS][TILE_OUTER];
        int64_t steps = t->part[PRODUCT_SIDES][TILE_REDUCE_MIDDLE],
                tiles = tiling_reduced(t, TILE_REDUCE_OUTER);
        // A loop in which the invocations share elements counts one iteration more.
        int64_t fragment = t->shape->m * t->shape->n, depth = tiling_span(t, PRODUCT_SIDES);
        int64_t each = 1, stored = ceil_divide(fragment, t->lanes) + 1;
        int64_t share = fragment / t->lanes;
        for (int side = ROWS; side <= COLUMNS; side++)
            each += ceil_divide(tiling_span(t, side) * depth, tiling_threads(t)) + 1;
        if (p->device.emulates) {
            const struct matrix_shape *s = t->shape;
            int64_t load_a = s->m * s->k + 2, load_b = s->n * s->k + 2;
            int64_t multiply = share * (s->k + 2) + 2;
            each += steps * (1 + a * load_a + b * load_b + a * (b * multiply + 1));
            stored += 2 * share + 6;
        }
        trips = (uint64_t)(tiles * each + 1 + a * b * stored);
    }
    out->loop_trips = uint64_max(out->loop_trips, trips);
}

// Sets each resource to the most that any pass needs.
static bool find_resources(void *context, const struct config *c, struct resources *out,
                           struct err *e)
{
    const struct program *p = context;
    (void)e;
    *out = (struct resources){.group_size = {1, 1, 1}};
    for (int i = 0; i < p->kernel_count; i++) {
        struct tiling t = program_tiling(p, i, c);
        struct program_variant v;
        add_needs(p, i, &t, out);
        if (tiling_reduced(&t, TILE_REDUCE_GROUPS) == 1)
            continue;
        struct tiling second = tiling_second_pass(&t, &v);
        add_needs(p, i, &second, out);
    }
    return true;
}

void program_set_rules(struct program *p, struct space *s, const char *file, int line)
{
    for (int i = 0; i < RULES; i++) {
        enum stage_plan plan = rules[i].plan;
        bool has = plan == ANY_PLAN;
        for (int j = 0; j < p->kernel_count; j++)
            for (int v = 0; v < p->kernel[j].variants; v++)
                has = has || p->kernel[j].variant[v].plan == plan;
        if (!has)
            continue;
        struct rule_context *r = arena_zero(&s->arena, 1, sizeof *r);
        *r = (struct rule_context){p, (enum tile_rule)i};
        space_add_constraint(
            s, &(struct constraint){rules[i].name, file, line, r, rule_holds_for_all});
    }
    space_add_constraint(
        s, &(struct constraint){"what is written out in all", file, line, p, text_is_short});
    s->resources = find_resources;
    s->resources_context = p;
}
