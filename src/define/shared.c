// What the invocations of a workgroup share: copies of what tiles read, and parts of reductions.

#include "define/writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

// A kernel on matrix units. Subgroups hold fragments of the sums; for each step of the reduction
// the workgroup copies what they read of both factors to shared memory, as two matrices without
// gaps, zeros past their ends, and at the end a fragment after the other passes through shared
// memory to where its numbers are stored, with what becomes of them.
//
// The words that the text uses for fragments (load_a, multiply_add, ...) are those of one of the
// two extensions, or of an emulation in plain GLSL, which does the same in the same places: what a
// kernel gets right with one it gets right with the others.

enum { ROWS = PRODUCT_ROWS, COLUMNS = PRODUCT_COLUMNS };

static enum matrix_api api_of(const struct writer *w)
{
    return w->p->device.emulates ? MATRIX_NONE : w->p->device.matrix.api;
}

static const char *sum_type(const struct writer *w)
{
    return w->p->inlined.node[w->k->stage.body].is_real ? "float" : "int";
}

void writer_unit_extensions(struct writer *w)
{
    static const char *const names[MATRIX_API_COUNT] = {
        [MATRIX_NV] = "#extension GL_NV_cooperative_matrix : require\n"
                      "#extension GL_NV_integer_cooperative_matrix : require\n",
        [MATRIX_KHR] = "#extension GL_KHR_cooperative_matrix : require\n"};
    enum matrix_api api = api_of(w);
    if (api == MATRIX_NONE)
        return;
    str_add(w->out, "#extension GL_KHR_memory_scope_semantics : require\n"
                    "#extension GL_KHR_shader_subgroup_basic : require\n");
    str_add(w->out, names[api]);
}

// --- words ---

// Which layout in shared memory a fragment has: the rows' factor lies by rows where its neighbours
// are along the reduction, the columns' where they are not.
static bool is_by_rows(const struct writer *w, int factor)
{
    return w->k->product.along[factor] == (factor == 0);
}

static void write_type(struct writer *w, char name, int rows, int columns, const char *element)
{
    static const char *const uses[] = {"gl_MatrixUseA", "gl_MatrixUseB", "gl_MatrixUseAccumulator"};
    bool is_real = str_starts(element, "float");
    int bits = str_equal(element, "float16_t") ? 16 : str_equal(element, "int8_t") ? 8 : 32;
    if (api_of(w) == MATRIX_KHR)
        str_printf(w->out, "#define FRAGMENT_%c coopmat<%s, gl_ScopeSubgroup, %d, %d, %s>\n", name,
                   element, rows, columns, uses[name - 'A']);
    else
        str_printf(w->out, "#define FRAGMENT_%c %ccoopmatNV<%d, gl_ScopeSubgroup, %d, %d>\n", name,
                   is_real ? 'f' : 'i', bits, rows, columns);
}

// Of an extension.
static void write_native_words(struct writer *w)
{
    const struct matrix_shape *s = w->t->shape;
    bool is_khr = api_of(w) == MATRIX_KHR;
    const char *end = is_khr ? "" : "NV", *element = writer_scalar(w->k->product.element);
    const char *const order[] = {is_khr ? "gl_CooperativeMatrixLayoutColumnMajor" : "true",
                                 is_khr ? "gl_CooperativeMatrixLayoutRowMajor" : "false"};
    write_type(w, 'A', s->m, s->k, element);
    write_type(w, 'B', s->k, s->n, element);
    write_type(w, 'C', s->m, s->n, sum_type(w));
    for (int f = 0; f < 2; f++)
        str_printf(w->out,
                   "#define load_%c(to, at) coopMatLoad%s(to, tile_%c, uint(at), %" PRId64
                   "u, %s)\n",
                   'a' + f, end, 'a' + f, units_pitch(w->k, w->t, f), order[is_by_rows(w, f)]);
    str_printf(w->out,
               "#define zero_c(to) to = FRAGMENT_C(0)\n"
               "#define multiply_add(c, a, b) c = coopMatMulAdd%s(a, b, c)\n"
               "#define store_c(from, at) coopMatStore%s(from, finished, uint(at), %uu, %s)\n"
               "#define written_out [[unroll]]\n",
               end, end, (unsigned)s->n, order[1]);
}

// Each invocation has all of the factors' fragments, and its share of the sums: numbers `lane`,
// `lane + lanes`, ... Nothing is unrolled, and nothing a function of arrays, which compilers copy
// element by element: they take minutes over that.
static void write_emulated_load(struct writer *w, int factor)
{
    const struct matrix_shape *s = w->t->shape;
    int columns = factor ? s->n : s->k, count = factor ? s->n * s->k : s->m * s->k;
    int64_t pitch = units_pitch(w->k, w->t, factor);
    bool by_rows = is_by_rows(w, factor);
    str_printf(w->out,
               "#define load_%c(to, at) written_out for (int e = 0; e < %d; e++) "
               "to[e] = %s(tile_%c[at + e %s %d * %" PRId64 " + e %s %d])\n",
               'a' + factor, count, sum_type(w), 'a' + factor, by_rows ? "/" : "%", columns, pitch,
               by_rows ? "%" : "/", columns);
}

static void write_emulated_words(struct writer *w)
{
    const struct matrix_shape *s = w->t->shape;
    const char *type = sum_type(w);
    int lanes = w->t->lanes, held = s->m * s->n / lanes;
    str_printf(w->out,
               "#define FRAGMENT_A %s[%d]\n#define FRAGMENT_B %s[%d]\n#define FRAGMENT_C %s[%d]\n"
               "#define written_out [[dont_unroll]]\n"
               "#define each_own written_out for (int e = 0; e < %d; e++)\n"
               "#define own (lane + e * %d)\n",
               type, s->m * s->k, type, s->n * s->k, type, held, held, lanes);
    write_emulated_load(w, 0);
    write_emulated_load(w, 1);
    str_printf(w->out,
               "#define zero_c(to) each_own to[e] = %s(0)\n"
               "#define multiply_add(c, a, b) each_own written_out for (int k = 0; k < %d; k++) "
               "c[e] += a[own / %d * %d + k] * b[k * %d + own %% %d]\n"
               "#define store_c(from, at) each_own finished[at + own] = from[e]\n",
               type, s->k, s->n, s->k, s->n, s->n);
}

void writer_unit_words(struct writer *w)
{
    const struct tiling *t = w->t;
    for (int f = 0; f < 2; f++) {
        int64_t lines = w->k->product.along[f] ? units_lines(t, f) : units_depth(t);
        str_printf(w->out, "shared %s tile_%c[%" PRId64 "];\n",
                   writer_scalar(w->k->product.element), 'a' + f, units_pitch(w->k, t, f) * lines);
    }
    str_printf(w->out, "shared %s finished[%" PRId64 "];\n", sum_type(w),
               units_subgroups(t) * t->shape->m * t->shape->n);
    (w->p->device.emulates ? write_emulated_words : write_native_words)(w);
}

// --- main ---

// A factor's tile. Invocations that are neighbours take neighbours in memory.
static void write_fill(struct writer *w, int depth, int factor)
{
    const struct product *p = &w->k->product;
    const struct program_loops *l = &w->t->variant->loops;
    int64_t lines = units_lines(w->t, factor), along = units_depth(w->t);
    int64_t row = p->along[factor] ? along : lines;
    int side = factor ? COLUMNS : ROWS;
    char name = (char)('a' + factor);
    const char *element = writer_scalar(p->element);
    writer_line(w, depth, "for (int e = thread; e < %" PRId64 "; e += %" PRId64 ") {",
                lines * along, tiling_threads(w->t));
    writer_line(w, depth + 1, "const int line = first_%c + e %c %" PRId64 ";", name,
                p->along[factor] ? '/' : '%', row);
    writer_line(w, depth + 1, "const int part = first + e %c %" PRId64 ";",
                p->along[factor] ? '%' : '/', row);
    writer_line(w, depth + 1, "%s from = %s(0);", element, element);
    writer_line(w, depth + 1, "if (line < %" PRId64 " && part < %" PRId64 ") {", l->length[side],
                l->length[PRODUCT_SIDES]);
    writer_digits(w, depth + 2, "batch", p->axes[PRODUCT_BATCH]);
    writer_digits(w, depth + 2, "line", p->axes[side]);
    writer_digits(w, depth + 2, "part", p->reduced);
    writer_indent(w, depth + 2);
    str_printf(w->out, "from = %s(", element);
    writer_node(w, p->factor[factor]);
    str_add(w->out, ");\n");
    writer_line(w, depth + 1, "}");
    writer_line(w, depth + 1, "tile_%c[e / %" PRId64 " * %" PRId64 " + e %% %" PRId64 "] = from;",
                name, row, units_pitch(w->k, w->t, factor), row);
    writer_line(w, depth, "}");
}

// The fragments of a step.
static void write_loads(struct writer *w, int depth, int factor)
{
    const struct tiling *t = w->t;
    int side = factor ? COLUMNS : ROWS;
    int32_t count = t->part[side][TILE_OUTER], extent = t->part[side][TILE_INNER];
    int64_t pitch = units_pitch(w->k, t, factor);
    bool along = w->k->product.along[factor];
    char name = (char)('a' + factor);
    writer_line(w, depth, "FRAGMENT_%c %c[%" PRId32 "];", 'A' + factor, name, count);
    writer_line(w, depth, "written_out for (int i = 0; i < %" PRId32 "; i++)", count);
    writer_line(w, depth + 1,
                "load_%c(%c[i], (corner_%c + i * %" PRId32 ") * %" PRId64 " + step * %" PRId64 ");",
                name, name, name, extent, along ? pitch : 1,
                along ? t->shape->k : t->shape->k * pitch);
}

static void write_products(struct writer *w)
{
    const struct tiling *t = w->t;
    int32_t rows = t->part[ROWS][TILE_OUTER], columns = t->part[COLUMNS][TILE_OUTER];
    int64_t tiles = tiling_reduced(t, TILE_LOOP), depth = units_depth(t);
    writer_line(w, 1, "FRAGMENT_C sums[%" PRId32 "];", rows * columns);
    writer_line(w, 1, "written_out for (int i = 0; i < %" PRId32 "; i++)", rows * columns);
    writer_line(w, 2, "zero_c(sums[i]);");
    writer_line(w, 1, "for (int first = 0; first < %" PRId64 "; first += %" PRId64 ") {",
                tiles * depth, depth);
    write_fill(w, 2, 0);
    write_fill(w, 2, 1);
    writer_line(w, 2, "barrier();");
    writer_line(w, 2, "written_out for (int step = 0; step < %" PRId32 "; step++) {",
                t->part[PRODUCT_SIDES][TILE_MIDDLE]);
    write_loads(w, 3, 0);
    write_loads(w, 3, 1);
    writer_line(w, 3, "written_out for (int i = 0; i < %" PRId32 "; i++)", rows);
    writer_line(w, 4, "written_out for (int j = 0; j < %" PRId32 "; j++)", columns);
    writer_line(w, 5, "multiply_add(sums[i * %" PRId32 " + j], a[i], b[j]);", columns);
    writer_line(w, 2, "}");
    writer_line(w, 2, "barrier();"); // the next tile may be copied
    writer_line(w, 1, "}");
}

static void write_store(struct writer *w)
{
    const struct tiling *t = w->t;
    const struct program_loops *l = &t->variant->loops;
    int m = t->shape->m, n = t->shape->n;
    int32_t rows = t->part[ROWS][TILE_OUTER], columns = t->part[COLUMNS][TILE_OUTER];
    writer_line(w, 1, "written_out for (int i = 0; i < %" PRId32 "; i++)", rows);
    writer_line(w, 1, "written_out for (int j = 0; j < %" PRId32 "; j++) {", columns);
    writer_line(w, 2, "store_c(sums[i * %" PRId32 " + j], unit * %d);", columns, m * n);
    writer_line(w, 2, "barrier();");
    writer_line(w, 2, "for (int e = lane; e < %d; e += %" PRId32 ") {", m * n, t->lanes);
    writer_line(w, 3, "const int row = first_a + corner_a + i * %d + e / %d;", m, n);
    writer_line(w, 3, "const int column = first_b + corner_b + j * %d + e %% %d;", n, n);
    writer_line(w, 3, "if (row < %" PRId64 " && column < %" PRId64 ") {", l->length[ROWS],
                l->length[COLUMNS]);
    writer_digits(w, 4, "batch", w->k->product.axes[PRODUCT_BATCH]);
    writer_digits(w, 4, "row", w->k->product.axes[ROWS]);
    writer_digits(w, 4, "column", w->k->product.axes[COLUMNS]);
    writer_line(w, 4, "const %s number = finished[unit * %d + e];", sum_type(w), m * n);
    writer_store(w, 4);
    writer_line(w, 3, "}");
    writer_line(w, 2, "}");
    writer_line(w, 2, "barrier();"); // the next fragment may be stored
    writer_line(w, 1, "}");
}

void writer_units(struct writer *w)
{
    const struct tiling *t = w->t;
    int32_t groups = t->part[COLUMNS][TILE_GROUPS], units = t->part[COLUMNS][TILE_THREADS];
    bool emulates = w->p->device.emulates;
    writer_line(w, 1, "const int thread = int(gl_LocalInvocationID.x);");
    writer_line(w, 1, "const int batch = int(gl_WorkGroupID.y);");
    writer_line(w, 1, "const int first_a = int(gl_WorkGroupID.x) / %" PRId32 " * %" PRId64 ";",
                groups, units_lines(t, 0));
    writer_line(w, 1, "const int first_b = int(gl_WorkGroupID.x) %% %" PRId32 " * %" PRId64 ";",
                groups, units_lines(t, 1));
    if (emulates) {
        writer_line(w, 1, "const int unit = thread / %" PRId32 ";", t->lanes);
        writer_line(w, 1, "const int lane = thread %% %" PRId32 ";", t->lanes);
    } else {
        writer_line(w, 1, "const int unit = int(gl_SubgroupID);");
        writer_line(w, 1, "const int lane = int(gl_SubgroupInvocationID);");
    }
    writer_line(w, 1, "const int corner_a = unit / %" PRId32 " * %" PRId32 ";", units,
                t->part[ROWS][TILE_OUTER] * t->part[ROWS][TILE_INNER]);
    writer_line(w, 1, "const int corner_b = unit %% %" PRId32 " * %" PRId32 ";", units,
                t->part[COLUMNS][TILE_OUTER] * t->part[COLUMNS][TILE_INNER]);
    write_products(w);
    write_store(w);
}

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
            if (is_turn(w, i, wide)) {
                bool real = w->p->inlined.node[w->k->copy[i].read].is_real;
                int64_t count = tile_of(w, i) * (w->t->doubles ? 2 : 1);
                int chunk = chunk_of(w, i);
                if (chunk > 1)
                    str_printf(w->out, "shared %s%d copy%d[%" PRId64 "];\n", writer_vector(real),
                               chunk, i, count / chunk);
                else
                    str_printf(w->out, "shared %s copy%d[%" PRId64 "];\n", type_of(real), i, count);
            }
    if (tiling_reduced(w->t, TILE_SHARED) > 1)
        str_printf(w->out, "shared %s partial[%" PRId64 "];\n",
                   type_of(d->node[w->k->stage.body].is_real),
                   tiling_threads(w->t) * tiling_registers(w->t));
}

// --- copies ---

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
        // How far below its value at the beginning of all axes an index goes: by those that it
        // falls with.
        struct program_copy falling = *c;
        for (int a = 0; a < DEFINE_MAX_AXES; a++)
            falling.coefficient[i][a] = fmin(c->coefficient[i][a], 0);
        int64_t falls = tiling_extent(w->t, &falling, i) - 1;
        if (falls)
            str_printf(w->out, " - %" PRId64, falls);
        str_add(w->out, ";\n");
    }
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
    else {
        // A number of the tensor at at0, at1, ..., or what is computed there; or neighbours from
        // there on.
        w->prefix = NULL;
        w->stage =
            w->k->copy[copy].stage >= 0 ? &w->p->inlined.stage[w->k->copy[copy].stage] : w->stage;
        if (lanes > 1)
            writer_wide(w, w->k->copy[copy].expression, lanes);
        else
            writer_node(w, w->k->copy[copy].expression);
        w->stage = &w->k->stage;
        w->prefix = "_";
    }
}

static void write_element(struct writer *w, int depth, int copy, int lanes, enum filling what)
{
    int chunk = chunk_of(w, copy);
    if (chunk < lanes && what != FETCH) {
        // Neighbours that are copied at once into what is read one by one.
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

// All copies, from where this step of the outer loops begins.
static void write_copies(struct writer *w, int depth, enum filling what)
{
    for (int wide = 1; wide >= 0; wide--)
        for (int i = 0; i < w->k->copies; i++) {
            if (!is_turn(w, i, wide))
                continue;
            if (what != PUT)
                write_lows(w, depth, i);
            // A copy in rounds of all invocations, which are written out where two tiles
            // are held.
            const struct program_copy *c = &w->k->copy[i];
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
                writer_line(w, depth, "for (int e = thread; e < %" PRId64 "; e += %" PRId64 ") {",
                            count, threads);
            }
            int inner = depth + (w->t->doubles ? 2 : 1);
            if (what != PUT)
                write_tensor_place(w, inner, i);
            write_element(w, inner, i, lanes, what);
            if (w->t->doubles)
                writer_line(w, depth + 1, "}");
            writer_line(w, depth, "}");
        }
}

void writer_fill(struct writer *w, int depth)
{
    bool any = false;
    for (int i = 0; i < w->k->copies; i++)
        any = any || w->t->is_copied[i];
    if (!any)
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

void writer_fetch_next(struct writer *w, int depth)
{
    writer_indent(w, depth);
    str_add(w->out, "const int next = 1 + ");
    // Which step of the outer loops this is, from 0.
    const struct program_loops *l = &w->t->variant->loops;
    int64_t stride = tiling_reduced(w->t, TILE_LOOP);
    str_add_char(w->out, '0');
    for (int a = l->space; a < l->space + l->reduce; a++) {
        stride /= w->t->part[a][TILE_LOOP];
        if (w->t->part[a][TILE_LOOP] > 1)
            str_printf(w->out, " + o%d * %" PRId64, a, stride);
    }
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
