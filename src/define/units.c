// Tiles of fragments: what the parameters of a kernel on matrix units are, and what it needs.
//
// Of each loop the parts are: workgroups, subgroups (TILE_THREADS), fragments of a subgroup
// (TILE_OUTER), numbers of a fragment (TILE_INNER); of the reduction: tiles, fragments of a tile
// (TILE_MIDDLE), numbers of a fragment (TILE_WRITTEN).
#include "define/program.h"

#include "base/minmax.h"

#include <string.h>

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
