// The GLSL of a kernel on matrix units. A fragment is a matrix that the units multiply at once.
// Each subgroup accumulates some fragments of the result. In each iteration of the reduction the
// workgroup stages a tile of both factors in shared memory: matrices without gaps, zero past the
// factors' ends. At the end one fragment after the other is written to shared memory, from where
// the invocations store its elements by the kernel's epilogue.
//
// The macros for fragments (load_a, multiply_add, ...) call one of the two extensions, or emulate
// it in plain GLSL. The kernels are the same but for these macros, so that a test of the emulation
// on any device tests the indices of all.
#include "define/writer.h"

#include <inttypes.h>

enum { ROWS = PRODUCT_ROWS, COLUMNS = PRODUCT_COLUMNS };

static enum matrix_api api_of(const struct writer *w)
{
    return w->p->device.emulates ? MATRIX_NONE : w->p->device.matrix.api;
}

static const char *sum_type(const struct writer *w)
{
    return w->p->inlined.node[w->k->stage.body].is_real ? "float" : "int";
}

// Returns the type of the elements of the factors' fragments. The tiles from which these are loaded
// hold the bits of a type that GLSL does not have everywhere.
static const char *factor_type(const struct writer *w)
{
    enum element e = w->k->product.element;
    return element_floats[e].type ? element_floats[e].type : writer_element(e, false);
}

void writer_matrix_extensions(struct writer *w)
{
    const char *of_factors = element_floats[w->k->product.element].extension;
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
    if (of_factors)
        str_printf(w->out, "#extension %s : require\n", of_factors);
}

// --- macros ---
//
// A tile is row-major in shared memory where its lines run along the reduction (the rows' factor),
// or where they do not (the columns' factor).

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

// Writes the macros of an extension.
static void write_native_macros(struct writer *w)
{
    const struct matrix_shape *s = w->t->shape;
    bool is_khr = api_of(w) == MATRIX_KHR;
    const char *end = is_khr ? "" : "NV";
    const char *const order[] = {is_khr ? "gl_CooperativeMatrixLayoutColumnMajor" : "true",
                                 is_khr ? "gl_CooperativeMatrixLayoutRowMajor" : "false"};
    write_type(w, 'A', s->m, s->k, factor_type(w));
    write_type(w, 'B', s->k, s->n, factor_type(w));
    write_type(w, 'C', s->m, s->n, str_equal(s->sum, "u32") ? "uint" : sum_type(w));
    for (int f = 0; f < 2; f++)
        str_printf(w->out,
                   "#define load_%c(to, at) coopMatLoad%s(to, tile_%c, uint(at), %" PRId64
                   "u, %s)\n",
                   'a' + f, end, 'a' + f, matrix_tile_pitch(w->k, w->t, f),
                   order[w->k->product.along[f] == (f == 0)]);
    str_printf(w->out,
               "#define zero_c(to) to = FRAGMENT_C(0)\n"
               "#define multiply_add(c, a, b) c = coopMatMulAdd%s(a, b, c)\n"
               "#define store_c(from, at) coopMatStore%s(from, finished, uint(at), %uu, %s)\n"
               "#define written_out [[unroll]]\n",
               end, end, (unsigned)s->n, order[1]);
}

// Writes macros in plain GLSL. Each invocation holds the factors' fragments and its share of the
// accumulators: elements `lane`, `lane + lanes`, ... Nothing is unrolled, and no function has an
// array as a parameter: compilers copy arrays element by element, which takes them minutes.
static void write_emulated_macros(struct writer *w)
{
    const struct matrix_shape *s = w->t->shape;
    const char *type = sum_type(w), *from_bits = element_name(w->k->product.element);
    bool is_bits = element_is_bits(w->k->product.element);
    int lanes = w->t->lanes, held = s->m * s->n / lanes;
    str_printf(w->out,
               is_bits ? "#define number_of(x) float_of_%s(uint(x))\n"
                       : "#define number_of(x) %s(x)\n",
               is_bits ? from_bits : type);
    str_printf(w->out,
               "#define FRAGMENT_A %s[%d]\n#define FRAGMENT_B %s[%d]\n#define FRAGMENT_C %s[%d]\n"
               "#define written_out [[dont_unroll]]\n"
               "#define each_own written_out for (int e = 0; e < %d; e++)\n"
               "#define own (lane + e * %d)\n",
               type, s->m * s->k, type, s->n * s->k, type, held, held, lanes);
    for (int f = 0; f < 2; f++) {
        int columns = f ? s->n : s->k, count = f ? s->n * s->k : s->m * s->k;
        bool by_rows = w->k->product.along[f] == (f == 0);
        str_printf(w->out,
                   "#define load_%c(to, at) written_out for (int e = 0; e < %d; e++) "
                   "to[e] = number_of(tile_%c[at + e %s %d * %" PRId64 " + e %s %d])\n",
                   'a' + f, count, 'a' + f, by_rows ? "/" : "%", columns,
                   matrix_tile_pitch(w->k, w->t, f), by_rows ? "%" : "/", columns);
    }
    str_printf(w->out,
               "#define zero_c(to) each_own to[e] = %s(0)\n"
               "#define multiply_add(c, a, b) each_own written_out for (int k = 0; k < %d; k++) "
               "c[e] += a[own / %d * %d + k] * b[k * %d + own %% %d]\n"
               "#define store_c(from, at) each_own finished[at + own] = from[e]\n",
               type, s->k, s->n, s->k, s->n, s->n);
}

void writer_matrix_macros(struct writer *w)
{
    const struct tiling *t = w->t;
    for (int f = 0; f < 2; f++) {
        int64_t lines = tiling_span(t, w->k->product.along[f] ? ROWS + f : PRODUCT_SIDES);
        str_printf(w->out, "shared %s tile_%c[%" PRId64 "];\n",
                   writer_element(w->k->product.element, false), 'a' + f,
                   matrix_tile_pitch(w->k, t, f) * lines);
    }
    str_printf(w->out, "shared %s finished[%" PRId64 "];\n", sum_type(w),
               tiling_space(t, TILE_THREADS) * t->shape->m * t->shape->n);
    (w->p->device.emulates ? write_emulated_macros : write_native_macros)(w);
}

// --- main ---

// Writes the loop that fills the tile of a factor. Neighbouring invocations copy neighbours in
// memory.
static void write_fill(struct writer *w, int depth, int factor)
{
    const struct product *p = &w->k->product;
    const struct program_loops *l = &w->t->variant->loops;
    int side = ROWS + factor;
    int64_t lines = tiling_span(w->t, side), along = tiling_span(w->t, PRODUCT_SIDES);
    int64_t row = p->along[factor] ? along : lines;
    char name = (char)('a' + factor);
    const char *element = writer_element(p->element, false);
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
    w->as_bits = element_is_bits(p->element);
    writer_node(w, p->factor[factor]);
    w->as_bits = false;
    str_add(w->out, ");\n");
    writer_line(w, depth + 1, "}");
    writer_line(w, depth + 1, "tile_%c[e / %" PRId64 " * %" PRId64 " + e %% %" PRId64 "] = from;",
                name, row, matrix_tile_pitch(w->k, w->t, factor), row);
    writer_line(w, depth, "}");
}

// Writes the loads of the fragments of one factor.
static void write_loads(struct writer *w, int depth, int factor)
{
    const struct tiling *t = w->t;
    int side = factor ? COLUMNS : ROWS;
    int32_t count = t->part[side][TILE_OUTER], extent = t->part[side][TILE_INNER];
    int64_t pitch = matrix_tile_pitch(w->k, t, factor);
    bool along = w->k->product.along[factor];
    char name = (char)('a' + factor);
    writer_line(w, depth, "FRAGMENT_%c %c[%" PRId32 "];", 'A' + factor, name, count);
    writer_line(w, depth, "written_out for (int i = 0; i < %" PRId32 "; i++)", count);
    writer_line(w, depth + 1,
                "load_%c(%c[i], (corner_%c + i * %" PRId32 ") * %" PRId64 " + step * %" PRId64 ");",
                name, name, name, extent, along ? pitch : 1,
                along ? t->shape->k : t->shape->k * pitch);
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
    writer_line(w, 2, "barrier();"); // before the next fragment replaces it
    writer_line(w, 1, "}");
}

void writer_matrix_main(struct writer *w)
{
    const struct tiling *t = w->t;
    int32_t groups = t->part[COLUMNS][TILE_GROUPS], units = t->part[COLUMNS][TILE_THREADS];
    bool emulates = w->p->device.emulates;
    writer_line(w, 1, "const int thread = int(gl_LocalInvocationID.x);");
    writer_line(w, 1, "const int batch = int(gl_WorkGroupID.y);");
    writer_line(w, 1, "const int first_a = int(gl_WorkGroupID.x) / %" PRId32 " * %" PRId64 ";",
                groups, tiling_span(t, ROWS));
    writer_line(w, 1, "const int first_b = int(gl_WorkGroupID.x) %% %" PRId32 " * %" PRId64 ";",
                groups, tiling_span(t, COLUMNS));
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

    int32_t rows = t->part[ROWS][TILE_OUTER], columns = t->part[COLUMNS][TILE_OUTER];
    int64_t tiles = tiling_reduced(t, TILE_REDUCE_OUTER), depth = tiling_span(t, PRODUCT_SIDES);
    writer_line(w, 1, "FRAGMENT_C sums[%" PRId32 "];", rows * columns);
    writer_line(w, 1, "written_out for (int i = 0; i < %" PRId32 "; i++)", rows * columns);
    writer_line(w, 2, "zero_c(sums[i]);");
    writer_line(w, 1, "for (int first = 0; first < %" PRId64 "; first += %" PRId64 ") {",
                tiles * depth, depth);
    write_fill(w, 2, 0);
    write_fill(w, 2, 1);
    writer_line(w, 2, "barrier();");
    writer_line(w, 2, "written_out for (int step = 0; step < %" PRId32 "; step++) {",
                t->part[PRODUCT_SIDES][TILE_REDUCE_MIDDLE]);
    write_loads(w, 3, 0);
    write_loads(w, 3, 1);
    writer_line(w, 3, "written_out for (int i = 0; i < %" PRId32 "; i++)", rows);
    writer_line(w, 4, "written_out for (int j = 0; j < %" PRId32 "; j++)", columns);
    writer_line(w, 5, "multiply_add(sums[i * %" PRId32 " + j], a[i], b[j]);", columns);
    writer_line(w, 2, "}");
    writer_line(w, 2, "barrier();"); // before the next tile replaces it
    writer_line(w, 1, "}");
    write_store(w);
}
