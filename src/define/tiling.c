// One point's tiles, what they need of a device, and which of them are worth a try.
#include "define/program.h"

#include "base/minmax.h"

#include <math.h>
#include <string.h>

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

static bool has_plan(const struct program *p, enum stage_plan plan)
{
    bool has = plan == ANY_PLAN;
    for (int i = 0; i < p->kernel_count; i++)
        for (int v = 0; v < p->kernel[i].variants; v++)
            has = has || p->kernel[i].variant[v].plan == plan;
    return has;
}

void program_set_rules(struct program *p, struct space *s, const char *file, int line)
{
    for (int i = 0; i < RULES; i++) {
        if (!has_plan(p, rules[i].plan))
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
