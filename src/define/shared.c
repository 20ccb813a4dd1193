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

static void declare_copy(struct writer *w, int copy)
{
    const struct program_copy *c = &w->k->copy[copy];
    bool real = w->p->inlined.node[c->read].is_real;
    int64_t count = tiling_lines(w->p, c, w->t) * tiling_pitch(w->p, c, w->t);
    int chunk = chunk_of(w, copy);
    if (chunk > 1)
        str_printf(w->out, "shared %s%d copy%d[%" PRId64 "];\n", writer_vector(real), chunk, copy,
                   count / chunk);
    else
        str_printf(w->out, "shared %s copy%d[%" PRId64 "];\n", type_of(real), copy, count);
}

// Vectors first, so that there is no gap in front of one.
void writer_shared(struct writer *w)
{
    const struct definition *d = &w->p->inlined;
    for (int wide = 1; wide >= 0; wide--)
        for (int i = 0; i < w->k->copies; i++)
            if (w->t->is_copied[i] && (chunk_of(w, i) > 1) == wide)
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

// Where number e, or vector e, lies among the copy's numbers, or vectors of so many.
static void write_copy_place(struct writer *w, const struct program_copy *c, int unit)
{
    int64_t pitch = tiling_pitch(w->p, c, w->t), line = tiling_line(w->p, c, w->t);
    str_add(w->out, "e");
    if (pitch > line)
        str_printf(w->out, " + e / %" PRId64 " * %" PRId64, line / unit, (pitch - line) / unit);
}

// Neighbours that are copied at once into what is read one by one.
static void write_apart(struct writer *w, int depth, int copy, int lanes)
{
    const struct program_copy *c = &w->k->copy[copy];
    int64_t pitch = tiling_pitch(w->p, c, w->t), line = tiling_line(w->p, c, w->t);
    bool real = w->p->inlined.node[c->read].is_real;
    writer_indent(w, depth);
    str_printf(w->out, "const %s%d from = ", writer_vector(real), lanes);
    write_copied(w, c, lanes);
    str_add(w->out, ";\n");
    writer_line(w, depth, "[[unroll]] for (int l = 0; l < %d; l++)", lanes);
    writer_indent(w, depth + 1);
    str_printf(w->out, "copy%d[e * %d", copy, lanes);
    if (pitch > line)
        str_printf(w->out, " + e / %" PRId64 " * %" PRId64, line / lanes, pitch - line);
    str_add(w->out, " + l] = from[l];\n");
}

static void write_element(struct writer *w, int depth, int copy, int lanes)
{
    const struct program_copy *c = &w->k->copy[copy];
    int chunk = chunk_of(w, copy);
    if (chunk < lanes) {
        write_apart(w, depth, copy, lanes);
        return;
    }
    writer_indent(w, depth);
    str_printf(w->out, "copy%d[", copy);
    if (chunk > lanes) {
        str_add_char(w->out, '(');
        write_copy_place(w, c, 1);
        str_printf(w->out, ") / %d][(", chunk);
        write_copy_place(w, c, 1);
        str_printf(w->out, ") %% %d", chunk);
    } else {
        write_copy_place(w, c, lanes);
    }
    str_add(w->out, "] = ");
    write_copied(w, c, lanes);
    str_add(w->out, ";\n");
}

static void write_copy(struct writer *w, int depth, int copy)
{
    const struct program_copy *c = &w->k->copy[copy];
    const struct definition *d = &w->p->inlined;
    const struct define_tensor *t = &d->tensor[d->node[c->read].tensor];
    bool guards = w->t->variant->is_guarded; // loops run past their ends, and so do indices
    int lanes = tiling_fill_lanes(w->p, c, w->t);
    int64_t line = tiling_line(w->p, c, w->t) / lanes, count = tiling_lines(w->p, c, w->t) * line;
    int64_t stride = count;
    writer_line(w, depth, "for (int e = thread; e < %" PRId64 "; e += %" PRId64 ") {", count,
                tiling_threads(w->t));
    for (int i = 0; i < t->rank; i++) {
        bool is_last = i == t->rank - 1;
        int64_t extent = is_last ? line : tiling_extent(w->t, c, i);
        stride /= extent;
        writer_indent(w, depth + 1);
        str_printf(w->out, "const int %s%d = low%d_%d + ", guards ? "past" : "at", i, copy, i);
        writer_digit(w, "e", stride, extent, is_last ? lanes : 1);
        str_add(w->out, ";\n");
        if (guards)
            writer_line(w, depth + 1, "const int at%d = clamp(past%d, 0, %" PRId64 ");", i, i,
                        t->size[i] - 1);
    }
    write_element(w, depth + 1, copy, lanes);
    writer_line(w, depth, "}");
}

void writer_fill(struct writer *w, int depth)
{
    bool any = false;
    for (int i = 0; i < w->k->copies; i++)
        any = any || w->t->is_copied[i];
    if (any && tiling_reduced(w->t, TILE_LOOP) > 1)
        writer_line(w, depth, "barrier();"); // the step before has read
    for (int i = 0; i < w->k->copies; i++) {
        if (!w->t->is_copied[i])
            continue;
        write_lows(w, depth, i);
        write_copy(w, depth, i);
    }
    if (any)
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
    str_printf(w->out, lanes > 1 ? "copy%d[(0" : "copy%d[0", copy);
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
