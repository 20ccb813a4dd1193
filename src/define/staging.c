// Shared memory of a workgroup: staging buffers for what tiles read, and the partial results of
// invocations that share a reduction.
#include "define/writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

// Returns how many neighbours of a staging buffer are read at once.
static int read_lanes(const struct writer *w, int i)
{
    return tiling_is_wide(w->p, w->k, w->k->staged[i].read, w->t) ? tiling_lanes(w->t) : 1;
}

// Returns the numbers of one staged tile, with the padding of its lines.
static int64_t tile_size(const struct writer *w, int i)
{
    const struct staged_read *c = &w->k->staged[i];
    return tiling_lines(w->p, c, w->t) * tiling_pitch(w->p, c, w->t);
}

// Buffers of vectors are declared and filled before the others, so that there is no gap in front of
// one: compilers lay arrays out in the order of their first use.
static bool is_turn(const struct writer *w, int i, bool wide)
{
    return w->t->is_staged[i] && (read_lanes(w, i) > 1) == wide;
}

void writer_declare_shared(struct writer *w)
{
    const struct definition *d = &w->p->inlined;
    for (int wide = 1; wide >= 0; wide--)
        for (int i = 0; i < w->k->staged_count; i++)
            if (is_turn(w, i, wide)) {
                int lanes = read_lanes(w, i);
                str_add(w->out, "shared ");
                writer_type(w, d->node[w->k->staged[i].read].is_real, lanes);
                str_printf(w->out, " copy%d[%" PRId64 "];\n", i,
                           tile_size(w, i) * (w->t->double_buffers ? 2 : 1) / lanes);
            }
    if (tiling_reduced(w->t, TILE_SHARED) > 1) {
        str_add(w->out, "shared ");
        writer_type(w, d->node[w->k->stage.body].is_real, 1);
        str_printf(w->out, " partial[%" PRId64 "];\n",
                   tiling_threads(w->t) * tiling_registers(w->t));
    }
}

// --- filling ---

// Declares the least value of each index of a staged read: low0_1 is the second one of read 0.
static void write_lows(struct writer *w, int depth, int i)
{
    const struct definition *d = &w->p->inlined;
    const struct staged_read *c = &w->k->staged[i];
    const struct node *n = &d->node[c->read];
    w->prefix = "base_";
    for (int k = 0; k < d->tensor[n->tensor].rank; k++) {
        writer_indent(w, depth);
        str_printf(w->out, "const int low%d_%d = ", i, k);
        writer_node(w, d->index[n->index + k]);
        // Axes with a negative coefficient make the index fall below its value at their beginning.
        struct staged_read falling = *c;
        for (int a = 0; a < DEFINE_MAX_AXES; a++)
            falling.coefficient[k][a] = fmin(c->coefficient[k][a], 0);
        int64_t falls = tiling_extent(w->t, &falling, k) - 1;
        if (falls)
            str_printf(w->out, " - %" PRId64, falls);
        str_add(w->out, ";\n");
    }
    w->prefix = "_";
}

// Element e of a staging buffer, a number or a vector, is filled at once, or fetched into a
// variable of the invocation and put into the other buffer later.
enum filling { FILL, FETCH, PUT };

// Writes the index of element e among the buffer's numbers, or among its vectors of `unit` numbers.
static void write_index(struct writer *w, int i, int unit, enum filling what)
{
    const struct staged_read *c = &w->k->staged[i];
    int64_t pitch = tiling_pitch(w->p, c, w->t), line = tiling_line(w->p, c, w->t);
    if (what == PUT)
        str_printf(w->out, "(1 - turn) * %" PRId64 " + ", tile_size(w, i) / unit);
    str_add(w->out, "e");
    if (pitch > line)
        str_printf(w->out, " + e / %" PRId64 " * %" PRId64, line / unit, (pitch - line) / unit);
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
        writer_wide(w, c->expression, lanes);
    else
        writer_node(w, c->expression);
    w->stage = &w->k->stage;
    w->prefix = "_";
}

static void write_element(struct writer *w, int depth, int i, int lanes, enum filling what)
{
    int read = read_lanes(w, i);
    if (read < lanes && what != FETCH) { // filled as vectors, read one by one
        const struct staged_read *c = &w->k->staged[i];
        int64_t pitch = tiling_pitch(w->p, c, w->t), line = tiling_line(w->p, c, w->t);
        writer_indent(w, depth);
        str_add(w->out, "const ");
        writer_type(w, w->p->inlined.node[c->read].is_real, lanes);
        str_add(w->out, " from = ");
        write_value(w, i, lanes, what);
        str_add(w->out, ";\n");
        writer_line(w, depth, "[[unroll]] for (int l = 0; l < %d; l++)", lanes);
        writer_indent(w, depth + 1);
        str_printf(w->out, "copy%d[", i);
        if (what == PUT)
            str_printf(w->out, "(1 - turn) * %" PRId64 " + ", tile_size(w, i));
        str_printf(w->out, "e * %d", lanes);
        if (pitch > line)
            str_printf(w->out, " + e / %" PRId64 " * %" PRId64, line / lanes, pitch - line);
        str_add(w->out, " + l] = from[l];\n");
        return;
    }
    writer_indent(w, depth);
    str_printf(w->out, what == FETCH ? "ahead%d[n" : "copy%d[", i);
    if (read > lanes && what != FETCH) { // filled one by one, read as vectors
        str_add_char(w->out, '(');
        write_index(w, i, 1, what);
        str_printf(w->out, ") / %d][(", read);
        write_index(w, i, 1, what);
        str_printf(w->out, ") %% %d", read);
    } else if (what != FETCH) {
        write_index(w, i, lanes, what);
    }
    str_add(w->out, "] = ");
    write_value(w, i, lanes, what);
    str_add(w->out, ";\n");
}

// Declares the indices in the tensor of element e: at0, at1, ... Where loops run past their ends
// the indices are clamped.
static void write_tensor_indices(struct writer *w, int depth, int i, int lanes)
{
    const struct staged_read *c = &w->k->staged[i];
    const struct define_tensor *t = &w->p->inlined.tensor[w->p->inlined.node[c->read].tensor];
    bool guards = w->t->variant->is_guarded;
    int64_t line = tiling_line(w->p, c, w->t) / lanes, stride = tiling_lines(w->p, c, w->t) * line;
    for (int k = 0; k < t->rank; k++) {
        bool is_last = k == t->rank - 1;
        int64_t extent = is_last ? line : tiling_extent(w->t, c, k);
        stride /= extent;
        writer_indent(w, depth);
        str_printf(w->out, "const int %s%d = low%d_%d + ", guards ? "past" : "at", k, i, k);
        writer_digit(w, "e", stride, extent, is_last ? lanes : 1);
        str_add(w->out, ";\n");
        if (guards)
            writer_line(w, depth, "const int at%d = clamp(past%d, 0, %" PRId64 ");", k, k,
                        t->size[k] - 1);
    }
}

// Writes the loops that fill all staging buffers, in rounds of all invocations. They are unrolled
// where there are two buffers.
static void write_filling(struct writer *w, int depth, enum filling what)
{
    int64_t threads = tiling_threads(w->t);
    for (int wide = 1; wide >= 0; wide--)
        for (int i = 0; i < w->k->staged_count; i++) {
            const struct staged_read *c = &w->k->staged[i];
            if (!is_turn(w, i, wide))
                continue;
            if (what != PUT)
                write_lows(w, depth, i);
            int lanes = tiling_fill_lanes(w->p, c, w->t);
            int64_t count = tiling_lines(w->p, c, w->t) * tiling_line(w->p, c, w->t) / lanes;
            int inner = depth + (w->t->double_buffers ? 2 : 1);
            if (w->t->double_buffers) {
                writer_line(w, depth, "[[unroll]] for (int n = 0; n < %" PRId64 "; n++) {",
                            tiling_fill_rounds(w->p, c, w->t));
                writer_line(w, depth + 1, "const int e = thread + n * %" PRId64 ";", threads);
                if (count % threads)
                    writer_line(w, depth + 1, "if (e < %" PRId64 ")", count);
                writer_line(w, depth + 1, "{");
            } else {
                writer_line(w, depth, "for (int e = thread; e < %" PRId64 "; e += %" PRId64 ") {",
                            count, threads);
            }
            if (what != PUT)
                write_tensor_indices(w, inner, i, lanes);
            write_element(w, inner, i, lanes, what);
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
    if (tiling_reduced(w->t, TILE_LOOP) > 1)
        writer_line(w, depth, "barrier();"); // the previous step has read its tile
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
        const struct staged_read *c = &w->k->staged[i];
        if (!w->t->is_staged[i])
            continue;
        writer_indent(w, depth);
        writer_type(w, w->p->inlined.node[c->read].is_real, tiling_fill_lanes(w->p, c, w->t));
        str_printf(w->out, " ahead%d[%" PRId64 "];\n", i, tiling_fill_rounds(w->p, c, w->t));
    }
}

void writer_fetch_next(struct writer *w, int depth)
{
    const struct program_loops *l = &w->t->variant->loops;
    int64_t stride = tiling_reduced(w->t, TILE_LOOP);
    writer_indent(w, depth);
    str_add(w->out, "const int next = 1 + 0");
    for (int a = l->space; a < l->space + l->reduce; a++) {
        stride /= w->t->part[a][TILE_LOOP];
        if (w->t->part[a][TILE_LOOP] > 1)
            str_printf(w->out, " + o%d * %" PRId64, a, stride);
    }
    str_add(w->out, ";\n");
    writer_line(w, depth, "const int turn = (next - 1) %% 2;");
    for (int i = 0; i < w->k->staged_count; i++)
        if (w->t->is_staged[i])
            write_lows(w, depth, i);
    writer_line(w, depth, "if (next < %" PRId64 ")", tiling_reduced(w->t, TILE_LOOP));
    int inner = writer_begin(w, depth);
    writer_reduced_bases(w, inner, "next");
    write_filling(w, inner, FETCH);
    writer_end(w, inner);
}

void writer_put_next(struct writer *w, int depth)
{
    writer_line(w, depth, "if (next < %" PRId64 ")", tiling_reduced(w->t, TILE_LOOP));
    int inner = writer_begin(w, depth);
    write_filling(w, inner, PUT);
    writer_end(w, inner);
    writer_line(w, depth, "barrier();");
}

// --- shared reductions ---

// The invocations that share a reduction are neighbours. Of n invocations the lower half combines
// its results with those of the upper half, until one invocation has all.
void writer_reduce_shared(struct writer *w)
{
    int64_t threads = tiling_threads(w->t), registers = tiling_registers(w->t);
    int64_t sharing = tiling_reduced(w->t, TILE_SHARED);
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
