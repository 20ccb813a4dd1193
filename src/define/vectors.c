// Which accesses of a kernel are vectors: of neighbours along the last axis, where they are
// neighbours in memory too and begin at a multiple of their number; all others are of one number.
#include "define/program.h"

#include <math.h>

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
