// Shared memory of a workgroup in GLSL: buffers for staged tiles, and the partial results of
// invocations that share a reduction.
#include "define/writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

// A staged tile, and how many neighbours of it are read at once.
struct buffer {
    const struct staged_read *c;
    struct staged_tile tile;
    int read_lanes;
};

static struct buffer buffer_of(const struct writer *w, int i)
{
    const struct staged_read *c = &w->k->staged[i];
    bool reads_vectors = tiling_reads_vector(w->p, w->k, c->read, w->t);
    return (struct buffer){c, tiling_staged(w->p, c, w->t), reads_vectors ? tiling_lanes(w->t) : 1};
}

// Buffers that are read as vectors come first, so that there is no gap in front of one: compilers
// lay arrays out in the order of their first use. True: buffer i belongs to this turn.
static bool is_turn(const struct writer *w, int i, bool reads_vectors)
{
    return w->t->is_staged[i] && (buffer_of(w, i).read_lanes > 1) == reads_vectors;
}

void writer_declare_shared(struct writer *w)
{
    const struct definition *d = &w->p->inlined;
    for (int vectors = 1; vectors >= 0; vectors--)
        for (int i = 0; i < w->k->staged_count; i++)
            if (is_turn(w, i, vectors)) {
                const struct buffer b = buffer_of(w, i);
                str_add(w->out, "shared ");
                writer_type(w, d->node[b.c->read].is_real, b.read_lanes);
                str_printf(w->out, " copy%d[%" PRId64 "];\n", i,
                           b.tile.size * (w->t->double_buffers ? 2 : 1) / b.read_lanes);
            }
    if (tiling_reduced(w->t, TILE_REDUCE_THREADS) > 1) {
        str_add(w->out, "shared ");
        writer_type(w, d->node[w->k->stage.body].is_real, 1);
        str_printf(w->out, " partial[%" PRId64 "];\n",
                   tiling_threads(w->t) * tiling_registers(w->t));
    }
}

// --- filling ---

// Declares the least value of each index in the tile: low0_1 is that of index 1 of read 0.
static void write_lows(struct writer *w, int depth, int i)
{
    const struct definition *d = &w->p->inlined;
    const struct staged_read *c = &w->k->staged[i];
    // Axes with negative coefficients make an index fall below its value at the tile's beginning.
    struct staged_read falling = *c;
    for (int k = 0; k < c->rank; k++)
        for (int a = 0; a < DEFINE_MAX_AXES; a++)
            falling.coefficient[k][a] = fmin(c->coefficient[k][a], 0);
    const struct staged_tile falls = tiling_staged(w->p, &falling, w->t);
    w->prefix = "base_";
    for (int k = 0; k < c->rank; k++) {
        writer_indent(w, depth);
        str_printf(w->out, "const int low%d_%d = ", i, k);
        writer_node(w, d->index[d->node[c->read].index + k]);
        if (falls.extent[k] > 1)
            str_printf(w->out, " - %" PRId64, falls.extent[k] - 1);
        str_add(w->out, ";\n");
    }
    w->prefix = "_";
}

// Element e of a buffer, a number or a vector, is filled at once; or it is fetched into a variable
// of the invocation and put into the other half of the buffer later.
enum filling { FILL, FETCH, PUT };

// Writes the index of element e among the buffer's numbers, or among its vectors of `unit` numbers.
static void write_index(struct writer *w, const struct staged_tile *tile, int unit,
                        enum filling what)
{
    if (what == PUT)
        str_printf(w->out, "(1 - turn) * %" PRId64 " + ", tile->size / unit);
    str_add(w->out, "e");
    if (tile->pitch > tile->line)
        str_printf(w->out, " + e / %" PRId64 " * %" PRId64, tile->line / unit,
                   (tile->pitch - tile->line) / unit);
}

// Writes the value of element e: the variable that was fetched, or the expression at at0, at1, ...
static void write_value(struct writer *w, int i, int lanes, enum filling what)
{
    const struct staged_read *c = &w->k->staged[i];
    if (what == PUT) {
        str_printf(w->out, "ahead%d[n]", i);
        return;
    }
    w->prefix = NULL;
    w->stage = c->stage >= 0 ? &w->p->inlined.stage[c->stage] : w->stage;
    if (lanes > 1)
        writer_vector(w, c->expression, lanes);
    else
        writer_node(w, c->expression);
    w->stage = &w->k->stage;
    w->prefix = "_";
}

static void write_element(struct writer *w, int depth, int i, enum filling what)
{
    const struct buffer b = buffer_of(w, i);
    const struct staged_tile *tile = &b.tile;
    int lanes = tile->lanes;
    if (b.read_lanes < lanes && what != FETCH) { // it is filled as vectors and read one by one
        writer_indent(w, depth);
        str_add(w->out, "const ");
        writer_type(w, w->p->inlined.node[b.c->read].is_real, lanes);
        str_add(w->out, " from = ");
        write_value(w, i, lanes, what);
        str_add(w->out, ";\n");
        writer_line(w, depth, "[[unroll]] for (int l = 0; l < %d; l++)", lanes);
        writer_indent(w, depth + 1);
        str_printf(w->out, "copy%d[", i);
        if (what == PUT)
            str_printf(w->out, "(1 - turn) * %" PRId64 " + ", tile->size);
        str_printf(w->out, "e * %d", lanes);
        if (tile->pitch > tile->line)
            str_printf(w->out, " + e / %" PRId64 " * %" PRId64, tile->line / lanes,
                       tile->pitch - tile->line);
        str_add(w->out, " + l] = from[l];\n");
        return;
    }
    writer_indent(w, depth);
    str_printf(w->out, what == FETCH ? "ahead%d[n" : "copy%d[", i);
    if (b.read_lanes > lanes && what != FETCH) { // it is filled one by one and read as vectors
        str_add_char(w->out, '(');
        write_index(w, tile, 1, what);
        str_printf(w->out, ") / %d][(", b.read_lanes);
        write_index(w, tile, 1, what);
        str_printf(w->out, ") %% %d", b.read_lanes);
    } else if (what != FETCH) {
        write_index(w, tile, lanes, what);
    }
    str_add(w->out, "] = ");
    write_value(w, i, lanes, what);
    str_add(w->out, ";\n");
}

// Declares the indices of element e in the tensor: at0, at1, ... They are clamped where loops may
// run past their ends.
static void write_tensor_indices(struct writer *w, int depth, int i)
{
    const struct buffer b = buffer_of(w, i);
    const struct define_tensor *t = &w->p->inlined.tensor[b.c->tensor];
    bool guards = w->t->variant->is_guarded;
    int64_t line = b.tile.line / b.tile.lanes, stride = b.tile.lines * line;
    for (int k = 0; k < t->rank; k++) {
        bool is_last = k == t->rank - 1;
        int64_t extent = is_last ? line : b.tile.extent[k];
        stride /= extent;
        writer_indent(w, depth);
        str_printf(w->out, "const int %s%d = low%d_%d + ", guards ? "past" : "at", k, i, k);
        writer_digit(w, "e", stride, extent, is_last ? b.tile.lanes : 1);
        str_add(w->out, ";\n");
        if (guards)
            writer_line(w, depth, "const int at%d = clamp(past%d, 0, %" PRId64 ");", k, k,
                        t->size[k] - 1);
    }
}

// Writes the loops in which the invocations fill all staged tiles. They are unrolled where tiles
// have two buffers.
static void write_filling(struct writer *w, int depth, enum filling what)
{
    int64_t threads = tiling_threads(w->t);
    for (int vectors = 1; vectors >= 0; vectors--)
        for (int i = 0; i < w->k->staged_count; i++) {
            if (!is_turn(w, i, vectors))
                continue;
            if (what != PUT)
                write_lows(w, depth, i);
            const struct staged_tile tile = buffer_of(w, i).tile;
            int64_t count = tile.lines * tile.line / tile.lanes;
            int inner = depth + (w->t->double_buffers ? 2 : 1);
            if (w->t->double_buffers) {
                writer_line(w, depth, "[[unroll]] for (int n = 0; n < %" PRId64 "; n++) {",
                            tile.rounds);
                writer_line(w, depth + 1, "const int e = thread + n * %" PRId64 ";", threads);
                if (count % threads)
                    writer_line(w, depth + 1, "if (e < %" PRId64 ")", count);
                writer_line(w, depth + 1, "{");
            } else {
                writer_line(w, depth, "for (int e = thread; e < %" PRId64 "; e += %" PRId64 ") {",
                            count, threads);
            }
            if (what != PUT)
                write_tensor_indices(w, inner, i);
            write_element(w, inner, i, what);
            if (w->t->double_buffers)
                writer_line(w, depth + 1, "}");
            writer_line(w, depth, "}");
        }
}

void writer_stage(struct writer *w, int depth)
{
    bool any = false;
    for (int i = 0; i < w->k->staged_count; i++)
        any = any || w->t->is_staged[i];
    if (!any)
        return;
    if (tiling_reduced(w->t, TILE_REDUCE_OUTER) > 1)
        writer_line(w, depth, "barrier();"); // the previous tile has been read
    write_filling(w, depth, FILL);
    writer_line(w, depth, "barrier();");
}

// --- two buffers ---

void writer_stage_first(struct writer *w, int depth)
{
    int inner = writer_begin(w, depth);
    writer_reduced_bases(w, inner, "0");
    write_filling(w, inner, FILL);
    writer_end(w, inner);
    writer_line(w, depth, "barrier();");
    for (int i = 0; i < w->k->staged_count; i++) {
        if (!w->t->is_staged[i])
            continue;
        const struct buffer b = buffer_of(w, i);
        writer_indent(w, depth);
        writer_type(w, w->p->inlined.node[b.c->read].is_real, b.tile.lanes);
        str_printf(w->out, " ahead%d[%" PRId64 "];\n", i, b.tile.rounds);
    }
}

void writer_fetch_next(struct writer *w, int depth)
{
    const struct program_loops *l = &w->t->variant->loops;
    int64_t stride = tiling_reduced(w->t, TILE_REDUCE_OUTER);
    writer_indent(w, depth);
    str_add(w->out, "const int next = 1 + 0");
    for (int a = l->space; a < l->space + l->reduce; a++) {
        stride /= w->t->part[a][TILE_REDUCE_OUTER];
        if (w->t->part[a][TILE_REDUCE_OUTER] > 1)
            str_printf(w->out, " + o%d * %" PRId64, a, stride);
    }
    str_add(w->out, ";\n");
    writer_line(w, depth, "const int turn = (next - 1) %% 2;");
    for (int i = 0; i < w->k->staged_count; i++)
        if (w->t->is_staged[i])
            write_lows(w, depth, i);
    writer_line(w, depth, "if (next < %" PRId64 ")", tiling_reduced(w->t, TILE_REDUCE_OUTER));
    int inner = writer_begin(w, depth);
    writer_reduced_bases(w, inner, "next");
    write_filling(w, inner, FETCH);
    writer_end(w, inner);
}

void writer_put_next(struct writer *w, int depth)
{
    writer_line(w, depth, "if (next < %" PRId64 ")", tiling_reduced(w->t, TILE_REDUCE_OUTER));
    int inner = writer_begin(w, depth);
    write_filling(w, inner, PUT);
    writer_end(w, inner);
    writer_line(w, depth, "barrier();");
}

// --- shared reductions ---

// The invocations that share a reduction are neighbours. Of n invocations the lower half combines
// its partial results with those of the upper half, again and again, until one invocation has all.
void writer_reduce_shared(struct writer *w)
{
    int64_t threads = tiling_threads(w->t), registers = tiling_registers(w->t);
    int64_t sharing = tiling_reduced(w->t, TILE_REDUCE_THREADS);
    char mine[64], theirs[80];
    snprintf(mine, sizeof mine, "partial[i * %" PRId64 " + thread]", threads);
    snprintf(theirs, sizeof theirs, "partial[i * %" PRId64 " + thread + half_n]", threads);
    writer_line(w, 1, "[[unroll]] for (int i = 0; i < %" PRId64 "; i++)", registers);
    writer_line(w, 2, "%s = value[i];", mine);
    writer_line(w, 1, "for (int n = %" PRId64 "; n > 1; n = (n + 1) / 2) {", sharing);
    writer_line(w, 2, "const int half_n = (n + 1) / 2;");
    writer_line(w, 2, "barrier();");
    writer_line(w, 2, "if (share < n - half_n)");
    writer_line(w, 3, "[[unroll]] for (int i = 0; i < %" PRId64 "; i++)", registers);
    writer_indent(w, 4);
    str_printf(w->out, "%s = ", mine);
    writer_combine(w, mine, theirs);
    str_add(w->out, ";\n");
    writer_line(w, 1, "}");
    writer_line(w, 1, "barrier();");
    writer_line(w, 1, "[[unroll]] for (int i = 0; i < %" PRId64 "; i++)", registers);
    writer_line(w, 2, "value[i] = partial[i * %" PRId64 " + thread - share];", threads);
}
