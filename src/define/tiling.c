// One point's tiles, what they need of a device, and which of them are worth a try.

#include "base/number.h"
#include "define/program.h"

#include <math.h>
#include <string.h>

// Which accesses of a kernel are vectors: of neighbours along the last axis, where they are
// neighbours in memory too and begin at a multiple of their number; all others are of one number.

// Along which numbers are neighbours in the output.
static int last_axis(const struct tiling *t)
{
    return t->variant->loops.space - 1;
}

static int rank_of(const struct program *p, const struct program_copy *c)
{
    return p->inlined.tensor[p->inlined.node[c->read].tensor].rank;
}

int32_t tiling_lanes(const struct tiling *t)
{
    const struct program_loops *l = &t->variant->loops;
    int a = last_axis(t);
    bool splits =
        t->vector > 1 && l->extent[a] == l->length[a] && t->part[a][TILE_INNER] % t->vector == 0;
    return splits ? t->vector : 1;
}

int vectors_read_width(const struct definition *d, int read, int axis)
{
    double place[DEFINE_AFFINE] = {0};
    int width = PROGRAM_MOST_VECTOR;
    if (d->node[read].tensor >= d->inputs || !definition_affine_place(d, read, place) ||
        place[axis] != 1)
        return 1;
    place[axis] = 0;
    for (int a = 0; a < DEFINE_AFFINE; a++)
        while (fmod(place[a], width) != 0)
            width /= 2;
    return width;
}

bool vectors_may_be_read(const struct program *p, const struct program_kernel *k, int copy)
{
    const struct program_copy *c = &k->copy[copy];
    int rank = rank_of(p, c), axis = k->stage.space - 1;
    bool may = axis >= 0;
    for (int i = 0; i < rank && may; i++)
        may = c->coefficient[i][axis] == (i == rank - 1);
    for (int a = 0; a < DEFINE_MAX_AXES && may; a++)
        may = c->coefficient[rank - 1][a] >= 0;
    return may;
}

// Of a copy that is read: its lines begin at multiples, and so does what is read of a line.
static bool is_copy_wide(const struct program *p, const struct program_kernel *k, int copy,
                         const struct tiling *t)
{
    const struct program_copy *c = &k->copy[copy];
    const double *last = c->coefficient[rank_of(p, c) - 1];
    int32_t lanes = tiling_lanes(t);
    bool wide = vectors_may_be_read(p, k, copy) && tiling_pitch(p, c, t) % lanes == 0;
    for (int a = 0; a < k->stage.space + k->stage.reduce && wide; a++)
        wide = a == last_axis(t) || fmod(last[a], lanes) == 0 || tiling_reach(t, a) == 1;
    return wide;
}

bool tiling_is_wide(const struct program *p, const struct program_kernel *k, int read,
                    const struct tiling *t)
{
    int copy = program_copy_of(k, read), lanes = tiling_lanes(t);
    if (lanes == 1)
        return false;
    if (copy >= 0 && t->is_copied[copy])
        return is_copy_wide(p, k, copy, t);
    return vectors_read_width(&p->inlined, read, last_axis(t)) % lanes == 0;
}

bool tiling_stores_wide(const struct program *p, const struct program_kernel *k,
                        const struct tiling *t)
{
    int32_t lanes = tiling_lanes(t);
    (void)p;
    return k->is_output && lanes > 1 && t->variant->loops.length[last_axis(t)] % lanes == 0;
}

int vectors_fill_width(const struct program *p, const struct program_variant *v,
                       const struct program_copy *c)
{
    const struct define_tensor *t = &p->inlined.tensor[p->inlined.node[c->read].tensor];
    const double *last = c->coefficient[t->rank - 1];
    const struct program_loops *l = &v->loops;
    int width = PROGRAM_MOST_VECTOR;
    if (c->stage >= 0 || p->inlined.node[c->read].tensor >= p->inlined.inputs)
        return 1;
    for (int a = 0; a < l->space + l->reduce; a++)
        if (last[a] < 0 || (last[a] > 0 && l->extent[a] != l->length[a]))
            return 1;
    while (t->size[t->rank - 1] % width != 0 || fmod(last[DEFINE_MAX_AXES], width) != 0)
        width /= 2;
    return width;
}

int64_t tiling_rounds(const struct program *p, const struct program_copy *c, const struct tiling *t)
{
    int64_t count = tiling_lines(p, c, t) * tiling_line(p, c, t) / tiling_fill_lanes(p, c, t);
    return (count + tiling_threads(t) - 1) / tiling_threads(t);
}

int32_t tiling_fill_lanes(const struct program *p, const struct program_copy *c,
                          const struct tiling *t)
{
    int last = rank_of(p, c) - 1;
    bool wide = vectors_fill_width(p, t->variant, c) % t->vector == 0 &&
                tiling_extent(t, c, last) % t->vector == 0;
    for (int a = 0; a < t->variant->loops.space + t->variant->loops.reduce && wide; a++)
        wide = fmod(c->coefficient[last][a] * (double)tiling_reach(t, a), t->vector) == 0;
    return wide ? t->vector : 1;
}

// Tiles of fragments: what the parameters of a kernel on matrix units are, and what it needs.
//
// Of each loop the parts are: workgroups, subgroups (TILE_THREADS), fragments of a subgroup
// (TILE_OUTER), numbers of a fragment (TILE_INNER); of the reduction: tiles, fragments of a tile
// (TILE_MIDDLE), numbers of a fragment (TILE_WRITTEN).

enum { ROWS = PRODUCT_ROWS, COLUMNS = PRODUCT_COLUMNS, STEP_BYTES = 16 };

void units_emulate(struct matrix_units *out)
{
    static const uint16_t sizes[][3] = {{8, 8, 8}, {16, 8, 8}, {8, 16, 16}};
    static const char *const types[][2] = {{"f16", "f32"}, {"i8", "i32"}, {"f32", "f32"}};
    *out = (struct matrix_units){.api = MATRIX_KHR};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct matrix_shape s = {.m = sizes[i][0], .n = sizes[i][1], .k = sizes[i][2]};
            strcpy(s.input, types[t][0]);
            strcpy(s.sum, types[t][1]);
            matrix_units_add(out, &s);
        }
}

static const int32_t *slots(const struct program *p, int param, const struct config *c)
{
    return c->slot + p->space->param[param].offset;
}

static double number(const struct program *p, int param, const struct config *c)
{
    return p->space->param[param].number[*slots(p, param, c)];
}

static int32_t ceil_divide(int64_t a, int64_t b)
{
    return (int32_t)((a + b - 1) / b);
}

void units_set_tiles(const struct program *p, int kernel, const struct config *c, struct tiling *t)
{
    const struct program_kernel *k = &p->kernel[kernel];
    const struct program_variant *v = t->variant;
    const int64_t *length = v->loops.length;
    const int32_t *subgroups = slots(p, v->subgroups, c), *fragments = slots(p, v->fragments, c);
    t->shape = &k->shape[*slots(p, v->shape, c)];
    t->lanes = (int32_t)p->device.lanes;
    t->part[PRODUCT_BATCH][TILE_GROUPS] = (int32_t)length[PRODUCT_BATCH];
    for (int side = ROWS; side <= COLUMNS; side++) {
        int32_t *part = t->part[side]; // the parameters' first part is left out
        part[TILE_THREADS] = subgroups[side];
        part[TILE_OUTER] = fragments[side];
        part[TILE_INNER] = side == ROWS ? t->shape->m : t->shape->n;
        part[TILE_GROUPS] = ceil_divide(length[side], tiling_reach(t, side));
    }
    int32_t *part = t->part[PRODUCT_SIDES];
    part[TILE_MIDDLE] = (int32_t)number(p, v->steps, c);
    part[TILE_WRITTEN] = t->shape->k;
    part[TILE_LOOP] = ceil_divide(length[PRODUCT_SIDES], units_depth(t));
    t->pad = (int32_t)number(p, v->pad, c) * STEP_BYTES / element_bytes(k->product.element);
}

int64_t units_lines(const struct tiling *t, int factor)
{
    return tiling_reach(t, factor ? COLUMNS : ROWS);
}

int64_t units_depth(const struct tiling *t)
{
    return tiling_reach(t, PRODUCT_SIDES);
}

int64_t units_pitch(const struct program_kernel *k, const struct tiling *t, int factor)
{
    return (k->product.along[factor] ? units_depth(t) : units_lines(t, factor)) + t->pad;
}

int64_t units_subgroups(const struct tiling *t)
{
    return tiling_product(t, TILE_THREADS);
}

static int64_t fragment(const struct tiling *t)
{
    return t->shape->m * t->shape->n;
}

uint64_t units_shared_bytes(const struct program_kernel *k, const struct tiling *t)
{
    int64_t count = 0;
    for (int f = 0; f < 2; f++)
        count += units_pitch(k, t, f) * (k->product.along[f] ? units_lines(t, f) : units_depth(t));
    return (uint64_t)(count * element_bytes(k->product.element) +
                      4 * units_subgroups(t) * fragment(t));
}

// Loads and products of a tile's fragments, and stores, which are some eight lines each.
int64_t units_statements(const struct tiling *t)
{
    int64_t a = t->part[ROWS][TILE_OUTER], b = t->part[COLUMNS][TILE_OUTER];
    return t->part[PRODUCT_SIDES][TILE_MIDDLE] * (a + b + a * b) + 8 * a * b;
}

// How often a loop runs in which all invocations take one each.
static int64_t rounds(int64_t count, int64_t threads)
{
    return (count + threads - 1) / threads + 1;
}

uint64_t units_loop_trips(const struct program *p, const struct tiling *t)
{
    int64_t a = t->part[ROWS][TILE_OUTER], b = t->part[COLUMNS][TILE_OUTER];
    int64_t steps = t->part[PRODUCT_SIDES][TILE_MIDDLE], tiles = tiling_reduced(t, TILE_LOOP);
    int64_t trips = 1, stored = rounds(fragment(t), t->lanes), held = fragment(t) / t->lanes;
    for (int f = 0; f < 2; f++)
        trips += rounds(units_lines(t, f) * units_depth(t), tiling_threads(t));
    if (p->device.emulates) {
        const struct matrix_shape *s = t->shape;
        int64_t load_a = s->m * s->k + 2, load_b = s->n * s->k + 2;
        int64_t multiply = held * (s->k + 2) + 2;
        trips += steps * (1 + a * load_a + b * load_b + a * (b * multiply + 1));
        stored += 2 * held + 6;
    }
    return (uint64_t)(tiles * trips + 1 + a * b * stored);
}

bool units_are_full(const struct program *p, int kernel, const struct tiling *t)
{
    int64_t threads = tiling_threads(t);
    (void)kernel;
    return !t->shape || (threads % p->device.subgroup == 0 && fragment(t) % t->lanes == 0 &&
                         (!p->device.subgroups || units_subgroups(t) <= p->device.subgroups));
}

bool units_are_inside(const struct program *p, int kernel, const struct tiling *t)
{
    bool inside = true;
    (void)p;
    (void)kernel;
    for (int loop = ROWS; loop <= PRODUCT_SIDES && t->shape; loop++) {
        int innermost = loop == PRODUCT_SIDES ? TILE_WRITTEN : TILE_INNER;
        int64_t length = t->variant->loops.length[loop], most = t->part[loop][innermost];
        inside = inside && tiling_reach(t, loop) < length + most;
    }
    return inside;
}

#define MOST_REGISTERS         64 // of an invocation's numbers, on a GPU
#define MOST_WRITTEN           512
#define MOST_OPERATIONS        4096 // of all kernels
#define MOST_OPERATIONS_ON_CPU 8192
#define MOST_VIRTUAL           8  // TVM's max_vthread_extent
#define MOST_INNERMOST         64 // and its max_innermost_split_factor
#define SECOND_THREADS         64
#define MOST_AHEAD             16 // numbers of the next tile that an invocation holds

static int sketch_of(const struct program *p, const struct config *c)
{
    return p->chooser < 0 ? 0 : c->slot[p->space->param[p->chooser].offset];
}

static int32_t index_of(const struct program *p, int param, const struct config *c)
{
    return param < 0 ? 0 : c->slot[p->space->param[param].offset];
}

static double number_of(const struct program *p, int param, const struct config *c, double without)
{
    return param < 0 ? without : p->space->param[param].number[index_of(p, param, c)];
}

int tiling_place(enum stage_plan plan, bool is_space, int part)
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

struct tiling program_tiling(const struct program *p, int kernel, const struct config *c)
{
    const struct program_kernel *k = &p->kernel[kernel];
    struct tiling t = {.variant = &k->variant[program_variant_of(p, sketch_of(p, c), kernel)],
                       .lanes = 1};
    t.vector = (int32_t)number_of(p, t.variant->vector, c, 1);
    t.pad = (int32_t)number_of(p, t.variant->pad, c, 0);
    t.doubles = number_of(p, t.variant->buffers, c, 1) > 1;
    t.unroll = (int32_t)number_of(p, t.variant->unroll, c, 0);
    const struct program_loops *l = &t.variant->loops;
    for (int a = 0; a < DEFINE_MAX_AXES; a++)
        for (int i = 0; i < TILE_PARTS; i++) {
            const struct param *q =
                a < l->space + l->reduce && l->param[a] >= 0 ? &p->space->param[l->param[a]] : NULL;
            int place = tiling_place(t.variant->plan, a < l->space, i);
            t.part[a][i] = q && place >= 0 ? c->slot[q->offset + place] : 1;
        }
    for (int i = 0; i < k->copies && t.variant->plan == PLAN_TILE; i++)
        t.is_copied[i] = index_of(p, t.variant->copied[i], c);
    if (t.variant->plan == PLAN_MATRIX)
        units_set_tiles(p, kernel, c, &t);
    return t;
}

static int64_t product(const struct tiling *t, int first, int count, int part)
{
    int64_t n = 1;
    for (int a = first; a < first + count; a++)
        n *= t->part[a][part];
    return n;
}

int64_t tiling_product(const struct tiling *t, int part)
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
        return t->variant->reads; // steps are a loop
    return tiling_product(t, TILE_VIRTUAL) * tiling_product(t, TILE_OUTER) *
           tiling_product(t, TILE_INNER) / t->lanes;
}

int64_t tiling_threads(const struct tiling *t)
{
    return tiling_product(t, TILE_THREADS) * tiling_reduced(t, TILE_SHARED) * t->lanes;
}

int64_t tiling_reach(const struct tiling *t, int loop)
{
    const int32_t *part = t->part[loop];
    if (loop >= t->variant->loops.space)
        return (int64_t)part[TILE_MIDDLE] * part[TILE_WRITTEN];
    return (int64_t)part[TILE_VIRTUAL] * part[TILE_THREADS] * part[TILE_OUTER] * part[TILE_INNER];
}

int64_t tiling_extent(const struct tiling *t, const struct program_copy *c, int index)
{
    double extent = 1;
    for (int a = 0; a < t->variant->loops.space + t->variant->loops.reduce; a++)
        extent += fabs(c->coefficient[index][a]) * (double)(tiling_reach(t, a) - 1);
    return (int64_t)extent;
}

int64_t tiling_lines(const struct program *p, const struct program_copy *c, const struct tiling *t)
{
    int64_t lines = 1;
    for (int i = 0; i < p->inlined.tensor[p->inlined.node[c->read].tensor].rank - 1; i++)
        lines *= tiling_extent(t, c, i);
    return lines;
}

int64_t tiling_line(const struct program *p, const struct program_copy *c, const struct tiling *t)
{
    return tiling_extent(t, c, p->inlined.tensor[p->inlined.node[c->read].tensor].rank - 1);
}

int64_t tiling_pitch(const struct program *p, const struct program_copy *c, const struct tiling *t)
{
    return tiling_line(p, c, t) + (tiling_lines(p, c, t) > 1 ? t->pad : 0);
}

// From the inside out, as long as no more statements than the limit come of it; without a limit
// the innermost part is.
bool tiling_is_written(const struct tiling *t, int part)
{
    if (t->variant->unroll < 0)
        return part == TILE_WRITTEN;
    int64_t statements = tiling_registers(t) * tiling_reduced(t, TILE_WRITTEN);
    if (part == TILE_MIDDLE)
        statements *= tiling_reduced(t, TILE_MIDDLE);
    return part != TILE_LOOP && statements <= t->unroll;
}

int64_t tiling_statements(const struct tiling *t)
{
    if (t->variant->plan == PLAN_CONSTANT)
        return t->variant->values + t->variant->reads;
    if (t->variant->plan == PLAN_MATRIX)
        return units_statements(t);
    int64_t statements = tiling_registers(t);
    for (int part = TILE_MIDDLE; part <= TILE_WRITTEN; part++)
        statements *= tiling_is_written(t, part) ? tiling_reduced(t, part) : 1;
    return statements;
}

int64_t tiling_operations(const struct program_kernel *k, const struct tiling *t)
{
    int64_t each = k->operations;
    if (t->variant->plan == PLAN_CONSTANT)
        return k->written;
    if (t->variant->plan == PLAN_MATRIX) // numbers are read and stored in loops
        return tiling_statements(t) + each + k->stored;
    for (int i = 0; i < k->copies; i++)
        each += t->is_copied[i] ? 0 : k->copy[i].operations;
    return tiling_statements(t) * each + tiling_registers(t) * k->stored;
}

// In the dispatch the first of several loops is y, the others x.
void tiling_groups(const struct tiling *t, uint64_t out[3])
{
    int space = t->variant->loops.space, first = space > 1;
    out[0] = (uint64_t)product(t, first, space - first, TILE_GROUPS);
    out[1] = (uint64_t)product(t, 0, first, TILE_GROUPS);
    out[2] = (uint64_t)tiling_reduced(t, TILE_ACROSS);
}

int64_t tiling_points(const struct tiling *t)
{
    int64_t points = 1;
    for (int a = 0; a < t->variant->loops.space; a++)
        points *= t->variant->loops.length[a];
    return points;
}

struct tiling tiling_second(const struct tiling *t, struct program_variant *v)
{
    const struct program_loops *l = &t->variant->loops;
    int64_t points = tiling_points(t), threads = int64_min(points, SECOND_THREADS);
    int64_t groups = (points + threads - 1) / threads;
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
    second.part[l->space][TILE_LOOP] = (int32_t)tiling_reduced(t, TILE_ACROSS);
    return second;
}

// --- rules ---

// Compilers for GPUs spill random kernels of more (docs/definitions.md). CPUs spill to caches: what
// limits them is the device's own number.
static bool registers_fit(const struct program *p, int kernel, const struct tiling *t)
{
    (void)kernel;
    return p->device.is_cpu || tiling_registers(t) <= MOST_REGISTERS;
}

static bool is_short(const struct program *p, int kernel, const struct tiling *t)
{
    (void)p;
    (void)kernel;
    return tiling_statements(t) <= MOST_WRITTEN;
}

static bool fills_subgroup(const struct program *p, int kernel, const struct tiling *t)
{
    const struct define_stage *s = &p->kernel[kernel].stage;
    int64_t points = tiling_points(t);
    if (t->variant->plan == PLAN_CROSS || t->variant->plan == PLAN_SPLIT)
        points *= stage_points(s, s->space, s->reduce);
    return tiling_threads(t) >= int64_min(p->device.subgroup, points / 2);
}

// Else it is another sketch.
static bool is_shared(const struct program *p, int kernel, const struct tiling *t)
{
    (void)p;
    (void)kernel;
    return t->variant->plan != PLAN_CROSS || tiling_reduced(t, TILE_SHARED) > 1;
}

static bool is_split(const struct program *p, int kernel, const struct tiling *t)
{
    int64_t across = tiling_reduced(t, TILE_ACROSS);
    (void)p;
    (void)kernel;
    return t->variant->plan != PLAN_SPLIT ||
           (tiling_reduced(t, TILE_SHARED) > 1 && across > 1 && across <= SKETCH_MOST_ACROSS);
}

static bool has_few_virtual(const struct program *p, int kernel, const struct tiling *t)
{
    (void)p;
    (void)kernel;
    return t->variant->plan != PLAN_TILE || tiling_product(t, TILE_VIRTUAL) <= MOST_VIRTUAL;
}

static bool has_short_innermost(const struct program *p, int kernel, const struct tiling *t)
{
    const struct program_loops *l = &t->variant->loops;
    (void)p;
    (void)kernel;
    for (int a = 0; a < l->space + l->reduce && t->variant->plan == PLAN_TILE; a++)
        if (t->part[a][a < l->space ? TILE_INNER : TILE_WRITTEN] > MOST_INNERMOST)
            return false;
    return true;
}

static bool fills_wide(const struct program *p, int kernel, const struct tiling *t)
{
    const struct program_kernel *k = &p->kernel[kernel];
    bool any = false;
    for (int i = 0; i < k->copies; i++)
        any = any || (t->is_copied[i] && tiling_fill_lanes(p, &k->copy[i], t) > 1);
    return any;
}

// Else it is the same kernel as with narrower ones.
static bool has_vectors(const struct program *p, int kernel, const struct tiling *t)
{
    return t->vector == 1 || tiling_lanes(t) > 1 || fills_wide(p, kernel, t);
}

static bool pads_lines(const struct program *p, int kernel, const struct tiling *t)
{
    const struct program_kernel *k = &p->kernel[kernel];
    bool any = t->pad == 0;
    for (int i = 0; i < k->copies; i++)
        any = any || (t->is_copied[i] && tiling_lines(p, &k->copy[i], t) > 1);
    return any;
}

// Where two tiles are held there are some to hold, and what is fetched ahead
// fits registers.
static bool has_next_tile(const struct program *p, int kernel, const struct tiling *t)
{
    const struct program_kernel *k = &p->kernel[kernel];
    int64_t ahead = 0;
    for (int i = 0; i < k->copies && t->doubles; i++)
        if (t->is_copied[i])
            ahead += tiling_rounds(p, &k->copy[i], t) * tiling_fill_lanes(p, &k->copy[i], t);
    return !t->doubles || (ahead > 0 && ahead <= MOST_AHEAD && tiling_reduced(t, TILE_LOOP) > 1);
}

#define ANY_PLAN PLAN_SERIAL

static const struct {
    const char *name;
    enum stage_plan plan; // of kernels that it is about
    bool (*holds)(const struct program *p, int kernel, const struct tiling *t);
} rules[] = {{"registers", ANY_PLAN, registers_fit},
             {"what is written out", ANY_PLAN, is_short},
             {"whole subgroups", ANY_PLAN, fills_subgroup},
             {"shared reductions", PLAN_CROSS, is_shared},
             {"split reductions", PLAN_SPLIT, is_split},
             {"full subgroups", PLAN_MATRIX, units_are_full},
             {"fragments inside", PLAN_MATRIX, units_are_inside},
             {"virtual threads", PLAN_TILE, has_few_virtual},
             {"innermost parts", PLAN_TILE, has_short_innermost},
             {"vectors", PLAN_TILE, has_vectors},
             {"padding", PLAN_TILE, pads_lines},
             {"tiles ahead", PLAN_TILE, has_next_tile}};
enum { RULES = sizeof rules / sizeof *rules };

struct rule_context {
    const struct program *p;
    int rule;
};

static int rule_holds(void *context, const struct config *c, struct err *e)
{
    const struct rule_context *r = context;
    (void)e;
    for (int i = 0; i < r->p->kernel_count; i++) {
        struct tiling t = program_tiling(r->p, i, c);
        if (!rules[r->rule].holds(r->p, i, &t))
            return 0;
    }
    return 1;
}

// A driver's compiler translates a kernel of so many in seconds, and takes minutes for one of a few
// times as many.
static int is_short_in_all(void *context, const struct config *c, struct err *e)
{
    const struct program *p = context;
    int64_t operations = 0;
    (void)e;
    for (int i = 0; i < p->kernel_count; i++) {
        struct tiling t = program_tiling(p, i, c);
        operations += tiling_operations(&p->kernel[i], &t);
    }
    return operations <= (p->device.is_cpu ? MOST_OPERATIONS_ON_CPU : MOST_OPERATIONS);
}

static uint64_t shared_bytes(const struct program *p, int kernel, const struct tiling *t)
{
    const struct program_kernel *k = &p->kernel[kernel];
    int64_t count = 0;
    for (int i = 0; i < k->copies; i++)
        if (t->is_copied[i])
            count += (t->doubles ? 2 : 1) * tiling_lines(p, &k->copy[i], t) *
                     tiling_pitch(p, &k->copy[i], t);
    if (tiling_reduced(t, TILE_SHARED) > 1)
        count += tiling_threads(t) * tiling_registers(t);
    return t->shape ? units_shared_bytes(k, t) : 4 * (uint64_t)count;
}

// The most of what it has and what a pass needs.
static void add_needs(const struct program *p, int kernel, const struct tiling *t,
                      struct resources *out)
{
    uint64_t groups[3], trips = (uint64_t)tiling_reduced(t, TILE_LOOP);
    tiling_groups(t, groups);
    for (int k = 0; k < 3; k++)
        out->groups[k] = uint64_max(out->groups[k], groups[k]);
    out->group_size[0] = uint64_max(out->group_size[0], (uint64_t)tiling_threads(t));
    out->accumulators = uint64_max(out->accumulators, (uint64_t)tiling_registers(t));
    out->statements = uint64_max(out->statements, (uint64_t)tiling_statements(t));
    out->shared_bytes = uint64_max(out->shared_bytes, shared_bytes(p, kernel, t));
    for (int part = TILE_MIDDLE; part <= TILE_WRITTEN; part++)
        if (!tiling_is_written(t, part))
            trips *= (uint64_t)tiling_reduced(t, part);
    if (t->shape)
        trips = units_loop_trips(p, t);
    out->loop_trips = uint64_max(out->loop_trips, trips);
}

// What the largest of the passes needs, of each.
static bool get_resources(void *context, const struct config *c, struct resources *out,
                          struct err *e)
{
    const struct program *p = context;
    (void)e;
    *out = (struct resources){.group_size = {1, 1, 1}};
    for (int i = 0; i < p->kernel_count; i++) {
        struct tiling t = program_tiling(p, i, c);
        struct program_variant v;
        add_needs(p, i, &t, out);
        if (tiling_reduced(&t, TILE_ACROSS) == 1)
            continue;
        struct tiling second = tiling_second(&t, &v);
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
        *r = (struct rule_context){p, i};
        space_add_constraint(s, &(struct constraint){rules[i].name, file, line, r, rule_holds});
    }
    space_add_constraint(
        s, &(struct constraint){"what is written out in all", file, line, p, is_short_in_all});
    s->resources = get_resources;
    s->resources_context = p;
}
