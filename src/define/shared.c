// What the invocations of a workgroup share: copies of what tiles read, and parts of reductions.
#include "define/writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

// Inputs of 16 and 8 bits are widened.
static const char *type_of(bool is_real)
{
    return is_real ? "float" : "int";
}

// How many neighbours of the copy are read at once.
static int chunk_of(const struct writer *w, int copy)
{
    return tiling_is_wide(w->p, w->k, w->k->copy[copy].read, w->t) ? tiling_lanes(w->t) : 1;
}

// Numbers of a tile of the copy, with what its lines are padded with.
static int64_t tile_of(const struct writer *w, int copy)
{
    const struct program_copy *c = &w->k->copy[copy];
    return tiling_lines(w->p, c, w->t) * tiling_pitch(w->p, c, w->t);
}

static void declare_copy(struct writer *w, int copy)
{
    bool real = w->p->inlined.node[w->k->copy[copy].read].is_real;
    int64_t count = tile_of(w, copy) * (w->t->doubles ? 2 : 1);
    int chunk = chunk_of(w, copy);
    if (chunk > 1)
        str_printf(w->out, "shared %s%d copy%d[%" PRId64 "];\n", writer_vector(real), chunk, copy,
                   count / chunk);
    else
        str_printf(w->out, "shared %s copy%d[%" PRId64 "];\n", type_of(real), copy, count);
}

// Vectors are declared and filled before the others, so that there is no gap in front of one:
// compilers lay arrays out in the order of their first use.
static bool is_turn(const struct writer *w, int copy, bool wide)
{
    return w->t->is_copied[copy] && (chunk_of(w, copy) > 1) == wide;
}

void writer_shared(struct writer *w)
{
    const struct definition *d = &w->p->inlined;
    for (int wide = 1; wide >= 0; wide--)
        for (int i = 0; i < w->k->copies; i++)
            if (is_turn(w, i, wide))
                declare_copy(w, i);
    if (tiling_reduced(w->t, TILE_SHARED) > 1)
        str_printf(w->out, "shared %s partial[%" PRId64 "];\n",
                   type_of(d->node[w->k->stage.body].is_real),
                   tiling_threads(w->t) * tiling_registers(w->t));
}

// --- copies ---

// How far below its value at the beginning of all axes an index goes: by those that it falls with.
static int64_t falls_by(const struct writer *w, const struct program_copy *c, int index)
{
    struct program_copy falling = *c;
    for (int a = 0; a < DEFINE_MAX_AXES; a++)
        falling.coefficient[index][a] = fmin(c->coefficient[index][a], 0);
    return tiling_extent(w->t, &falling, index) - 1;
}

// The least that each index is: low0_1 is that of the first copy's second.
static void write_lows(struct writer *w, int depth, int copy)
{
    const struct definition *d = &w->p->inlined;
    const struct program_copy *c = &w->k->copy[copy];
    const struct node *n = &d->node[c->read];
    w->prefix = "base_";
    for (int i = 0; i < d->tensor[n->tensor].rank; i++) {
        writer_indent(w, depth);
        str_printf(w->out, "const int low%d_%d = ", copy, i);
        writer_node(w, d->index[n->index + i]);
        int64_t falls = falls_by(w, c, i);
        if (falls)
            str_printf(w->out, " - %" PRId64, falls);
        str_add(w->out, ";\n");
    }
    w->prefix = "_";
}

// A number of the tensor at at0, at1, ..., or what is computed there; or neighbours from there on.
static void write_copied(struct writer *w, const struct program_copy *c, int lanes)
{
    w->prefix = NULL;
    w->stage = c->stage >= 0 ? &w->p->inlined.stage[c->stage] : w->stage;
    if (lanes > 1)
        writer_wide(w, c->expression, lanes);
    else
        writer_node(w, c->expression);
    w->stage = &w->k->stage;
    w->prefix = "_";
}

// What is done with number e, or vector e, of a copy.
enum filling { FILL, FETCH, PUT }; // both of: into a constant of the invocation, and from it

// Where it lies among the copy's numbers, or vectors of so many.
static void write_copy_place(struct writer *w, int copy, int unit, enum filling what)
{
    const struct program_copy *c = &w->k->copy[copy];
    int64_t pitch = tiling_pitch(w->p, c, w->t), line = tiling_line(w->p, c, w->t);
    if (what == PUT)
        str_printf(w->out, "(1 - turn) * %" PRId64 " + ", tile_of(w, copy) / unit);
    str_add(w->out, "e");
    if (pitch > line)
        str_printf(w->out, " + e / %" PRId64 " * %" PRId64, line / unit, (pitch - line) / unit);
}

static void write_value(struct writer *w, int copy, int lanes, enum filling what)
{
    if (what == PUT)
        str_printf(w->out, "ahead%d[n]", copy);
    else
        write_copied(w, &w->k->copy[copy], lanes);
}

// Neighbours that are copied at once into what is read one by one.
static void write_apart(struct writer *w, int depth, int copy, int lanes, enum filling what)
{
    const struct program_copy *c = &w->k->copy[copy];
    int64_t pitch = tiling_pitch(w->p, c, w->t), line = tiling_line(w->p, c, w->t);
    bool real = w->p->inlined.node[c->read].is_real;
    writer_indent(w, depth);
    str_printf(w->out, "const %s%d from = ", writer_vector(real), lanes);
    write_value(w, copy, lanes, what);
    str_add(w->out, ";\n");
    writer_line(w, depth, "[[unroll]] for (int l = 0; l < %d; l++)", lanes);
    writer_indent(w, depth + 1);
    str_printf(w->out, "copy%d[", copy);
    if (what == PUT)
        str_printf(w->out, "(1 - turn) * %" PRId64 " + ", tile_of(w, copy));
    str_printf(w->out, "e * %d", lanes);
    if (pitch > line)
        str_printf(w->out, " + e / %" PRId64 " * %" PRId64, line / lanes, pitch - line);
    str_add(w->out, " + l] = from[l];\n");
}

static void write_element(struct writer *w, int depth, int copy, int lanes, enum filling what)
{
    int chunk = chunk_of(w, copy);
    if (chunk < lanes && what != FETCH) {
        write_apart(w, depth, copy, lanes, what);
        return;
    }
    writer_indent(w, depth);
    str_printf(w->out, what == FETCH ? "ahead%d[n" : "copy%d[", copy);
    if (chunk > lanes && what != FETCH) {
        str_add_char(w->out, '(');
        write_copy_place(w, copy, 1, what);
        str_printf(w->out, ") / %d][(", chunk);
        write_copy_place(w, copy, 1, what);
        str_printf(w->out, ") %% %d", chunk);
    } else if (what != FETCH) {
        write_copy_place(w, copy, lanes, what);
    }
    str_add(w->out, "] = ");
    write_value(w, copy, lanes, what);
    str_add(w->out, ";\n");
}

// Where number e, or vector e, lies in the tensor.
static void write_tensor_place(struct writer *w, int depth, int copy)
{
    const struct program_copy *c = &w->k->copy[copy];
    const struct definition *d = &w->p->inlined;
    const struct define_tensor *t = &d->tensor[d->node[c->read].tensor];
    bool guards = w->t->variant->is_guarded; // loops run past their ends, and so do indices
    int lanes = tiling_fill_lanes(w->p, c, w->t);
    int64_t line = tiling_line(w->p, c, w->t) / lanes;
    int64_t stride = tiling_lines(w->p, c, w->t) * line;
    for (int i = 0; i < t->rank; i++) {
        bool is_last = i == t->rank - 1;
        int64_t extent = is_last ? line : tiling_extent(w->t, c, i);
        stride /= extent;
        writer_indent(w, depth);
        str_printf(w->out, "const int %s%d = low%d_%d + ", guards ? "past" : "at", i, copy, i);
        writer_digit(w, "e", stride, extent, is_last ? lanes : 1);
        str_add(w->out, ";\n");
        if (guards)
            writer_line(w, depth, "const int at%d = clamp(past%d, 0, %" PRId64 ");", i, i,
                        t->size[i] - 1);
    }
}

// A copy in rounds of all invocations, which are written out where two tiles
// are held.
static void write_copy(struct writer *w, int depth, int copy, enum filling what)
{
    const struct program_copy *c = &w->k->copy[copy];
    int lanes = tiling_fill_lanes(w->p, c, w->t);
    int64_t count = tiling_lines(w->p, c, w->t) * tiling_line(w->p, c, w->t) / lanes;
    int64_t threads = tiling_threads(w->t);
    if (w->t->doubles) {
        writer_line(w, depth, "[[unroll]] for (int n = 0; n < %" PRId64 "; n++) {",
                    tiling_rounds(w->p, c, w->t));
        writer_line(w, depth + 1, "const int e = thread + n * %" PRId64 ";", threads);
        if (count % threads)
            writer_line(w, depth + 1, "if (e < %" PRId64 ")", count);
        writer_line(w, depth + 1, "{");
    } else {
        writer_line(w, depth, "for (int e = thread; e < %" PRId64 "; e += %" PRId64 ") {", count,
                    threads);
    }
    int inner = depth + (w->t->doubles ? 2 : 1);
    if (what != PUT)
        write_tensor_place(w, inner, copy);
    write_element(w, inner, copy, lanes, what);
    if (w->t->doubles)
        writer_line(w, depth + 1, "}");
    writer_line(w, depth, "}");
}

// All copies, from where this step of the outer loops begins.
static void write_copies(struct writer *w, int depth, enum filling what)
{
    for (int wide = 1; wide >= 0; wide--)
        for (int i = 0; i < w->k->copies; i++) {
            if (!is_turn(w, i, wide))
                continue;
            if (what != PUT)
                write_lows(w, depth, i);
            write_copy(w, depth, i, what);
        }
}

static bool has_copies(const struct writer *w)
{
    bool any = false;
    for (int i = 0; i < w->k->copies; i++)
        any = any || w->t->is_copied[i];
    return any;
}

void writer_fill(struct writer *w, int depth)
{
    if (!has_copies(w))
        return;
    if (tiling_reduced(w->t, TILE_LOOP) > 1)
        writer_line(w, depth, "barrier();"); // the step before has read
    write_copies(w, depth, FILL);
    writer_line(w, depth, "barrier();");
}

// --- two tiles in turns ---

void writer_first_tile(struct writer *w, int depth)
{
    int inner = writer_begin(w, depth);
    writer_reduced_bases(w, inner, "0");
    write_copies(w, inner, FILL);
    writer_end(w, inner);
    writer_line(w, depth, "barrier();");
    for (int i = 0; i < w->k->copies; i++) {
        const struct program_copy *c = &w->k->copy[i];
        int lanes = tiling_fill_lanes(w->p, c, w->t);
        bool real = w->p->inlined.node[c->read].is_real;
        if (!w->t->is_copied[i])
            continue;
        writer_indent(w, depth);
        if (lanes > 1)
            str_printf(w->out, "%s%d", writer_vector(real), lanes);
        else
            str_add(w->out, type_of(real));
        str_printf(w->out, " ahead%d[%" PRId64 "];\n", i, tiling_rounds(w->p, c, w->t));
    }
}

// Which step of the outer loops this is, from 0.
static void write_step(struct writer *w)
{
    const struct program_loops *l = &w->t->variant->loops;
    int64_t stride = tiling_reduced(w->t, TILE_LOOP);
    str_add_char(w->out, '0');
    for (int a = l->space; a < l->space + l->reduce; a++) {
        stride /= w->t->part[a][TILE_LOOP];
        if (w->t->part[a][TILE_LOOP] > 1)
            str_printf(w->out, " + o%d * %" PRId64, a, stride);
    }
}

void writer_fetch_next(struct writer *w, int depth)
{
    writer_indent(w, depth);
    str_add(w->out, "const int next = 1 + ");
    write_step(w);
    str_add(w->out, ";\n");
    writer_line(w, depth, "const int turn = (next - 1) %% 2;");
    for (int i = 0; i < w->k->copies; i++)
        if (w->t->is_copied[i])
            write_lows(w, depth, i);
    writer_line(w, depth, "if (next < %" PRId64 ")", tiling_reduced(w->t, TILE_LOOP));
    int inner = writer_begin(w, depth);
    writer_reduced_bases(w, inner, "next");
    write_copies(w, inner, FETCH);
    writer_end(w, inner);
}

void writer_put_next(struct writer *w, int depth)
{
    writer_line(w, depth, "if (next < %" PRId64 ")", tiling_reduced(w->t, TILE_LOOP));
    int inner = writer_begin(w, depth);
    write_copies(w, inner, PUT);
    writer_end(w, inner);
    writer_line(w, depth, "barrier();");
}

void writer_copy_element(struct writer *w, int copy, int lanes)
{
    const struct program_copy *c = &w->k->copy[copy];
    const struct definition *d = &w->p->inlined;
    const struct node *n = &d->node[c->read];
    int rank = d->tensor[n->tensor].rank;
    int64_t stride = tiling_lines(w->p, c, w->t) * tiling_pitch(w->p, c, w->t);
    w->prefix = w->t->variant->is_guarded ? "raw_" : "_";
    str_printf(w->out, lanes > 1 ? "copy%d[(" : "copy%d[", copy);
    if (w->t->doubles)
        str_printf(w->out, "turn * %" PRId64, stride);
    else
        str_add_char(w->out, '0');
    for (int i = 0; i < rank; i++) {
        int64_t extent = tiling_extent(w->t, c, i);
        stride /= i == rank - 1 ? stride : extent;
        if (extent == 1)
            continue;
        str_add(w->out, " + (");
        writer_node(w, d->index[n->index + i]);
        str_printf(w->out, " - low%d_%d)", copy, i);
        if (stride > 1)
            str_printf(w->out, " * %" PRId64, stride);
    }
    if (lanes > 1)
        str_printf(w->out, ") / %d", lanes);
    str_add_char(w->out, ']');
    w->prefix = "_";
}

// --- parts of reductions ---

// Of n invocations the upper half hands its numbers to the lower one, until one has all. Those that
// share are neighbours.
void writer_exchange(struct writer *w)
{
    int64_t threads = tiling_threads(w->t), registers = tiling_registers(w->t);
    int64_t sharing = tiling_reduced(w->t, TILE_SHARED);
    writer_line(w, 1, "[[unroll]] for (int i = 0; i < %" PRId64 "; i++)", registers);
    writer_line(w, 2, "partial[i * %" PRId64 " + thread] = value[i];", threads);
    writer_line(w, 1, "for (int n = %" PRId64 "; n > 1; n = (n + 1) / 2) {", sharing);
    writer_line(w, 2, "const int half_n = (n + 1) / 2;");
    writer_line(w, 2, "barrier();");
    writer_line(w, 2, "if (share < n - half_n)");
    writer_line(w, 3, "[[unroll]] for (int i = 0; i < %" PRId64 "; i++)", registers);
    char mine[64], theirs[80];
    snprintf(mine, sizeof mine, "partial[i * %" PRId64 " + thread]", threads);
    snprintf(theirs, sizeof theirs, "partial[i * %" PRId64 " + thread + half_n]", threads);
    writer_indent(w, 4);
    str_printf(w->out, "%s = ", mine);
    writer_combine(w, mine, theirs);
    str_add(w->out, ";\n");
    writer_line(w, 1, "}");
    writer_line(w, 1, "barrier();");
    writer_line(w, 1, "[[unroll]] for (int i = 0; i < %" PRId64 "; i++)", registers);
    writer_line(w, 2, "value[i] = partial[i * %" PRId64 " + thread - share];", threads);
}
