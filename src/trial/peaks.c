#include "trial/peaks.h"

#include "base/log.h"
#include "base/minmax.h"
#include "base/str.h"
#include "kernel/kernel.h"
#include "trial/fixed.h"

#include <math.h>

#define LONG_ENOUGH_S 2e-3 // a run of so many workgroups fills the device
#define PATIENCE_S    10.0

enum {
    FEWEST_GROUPS = 8,
    MOST_GROUPS = 32768,
    DATA_BYTES = 1024,
    MATRIX_ROUNDS = 256 * 4,
    MOST_SHAPES = 6, // of one type that are tried
};

#define MOST_MEMORY        ((uint64_t)256 << 20) // past every cache
#define MOST_MEMORY_OF_CPU ((uint64_t)64 << 20)

struct peak {
    struct gpu *g;
    struct roof *roof;
    struct err *e;
};

// --- arithmetic ---

// So many workgroups that they run long enough; the work of unknown devices grows by and by.
static enum gpu_status find_groups(const struct fixed *f, struct gpu *g, uint32_t *groups,
                                   struct err *e)
{
    const uint32_t most = (uint32_t)uint64_min(MOST_GROUPS, gpu_get_info(g)->limits.group_count[0]);
    for (*groups = FEWEST_GROUPS;; *groups *= 8) {
        double seconds;
        const struct gpu_pass pass = {.pipeline = f->pipeline, .groups = {*groups, 1, 1}};
        const struct gpu_sequence all = {
            .pass = &pass, .pass_count = 1, .buffer = f->buffer, .buffer_count = f->buffers};
        enum gpu_status status = gpu_run(g, &all, 1, PATIENCE_S, &seconds, e);
        if (status != GPU_OK || seconds >= LONG_ENOUGH_S || *groups * 8 > most)
            return status;
    }
}

// `each`: what a workgroup does. Only a device that is lost is an error: what fails otherwise is
// not there.
static enum gpu_status measure(struct peak *p, enum roof_kind kind, const struct fixed_wish *wish,
                               double each)
{
    struct fixed f;
    uint32_t groups;
    double seconds;
    enum gpu_status status = fixed_make(&f, p->g, wish, p->e);
    if (status == GPU_OK)
        status = find_groups(&f, p->g, &groups, p->e);
    if (status == GPU_OK)
        status = fixed_time(&f, p->g, groups, &seconds, p->e);
    if (status == GPU_OK)
        p->roof->rate[kind] = fmax(p->roof->rate[kind], each * groups / seconds);
    else
        log_info("%s is not measured: %s", roof_name(kind), p->e->text);
    if (status != GPU_LOST && status != GPU_TIMEOUT)
        fixed_finish(&f, p->g);
    return status == GPU_LOST || status == GPU_TIMEOUT ? status : GPU_OK;
}

static enum gpu_status measure_arithmetic(struct peak *p, enum roof_kind kind)
{
    static const struct {
        const char *head, *vector, *scalar;
    } of[] = {
        [ROOF_F32] = {"", "vec4", "float"},
        [ROOF_F16] = {"#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n",
                      "f16vec4", "float16_t"},
        [ROOF_I8] = {"", "ivec4", "int"},
    };
    enum gpu_status status = GPU_OK;
    for (int chains = 2; status == GPU_OK && chains <= 4; chains *= 2) {
        struct str glsl = {0};
        str_printf(&glsl, "#version 450\n%s", of[kind].head);
        fixed_add_arithmetic(of[kind].vector, of[kind].scalar, chains, &glsl);
        const struct fixed_wish wish = {str_text(&glsl), 1, DATA_BYTES, 0};
        status = measure(p, kind, &wish, FIXED_FLOP * chains * FIXED_THREADS);
        str_finish(&glsl);
    }
    return status;
}

// --- matrix units ---

static void add_type(enum matrix_api api, const struct matrix_shape *s, char use, struct str *out)
{
    bool is_sum = use == 'c', is_float = s->input[0] == 'f';
    const char *element = is_sum ? s->sum : s->input;
    int rows = use == 'b' ? s->k : s->m, columns = use == 'a' ? s->k : s->n;
    const char *bits = str_equal(element, "f16") ? "16" : str_equal(element, "i8") ? "8" : "32";
    if (api == MATRIX_NV)
        str_printf(out, "%ccoopmatNV<%s, gl_ScopeSubgroup, %d, %d>", is_float ? 'f' : 'i', bits,
                   rows, columns);
    else
        str_printf(out, "coopmat<%s%s_t, gl_ScopeSubgroup, %d, %d, gl_MatrixUse%s>",
                   is_float ? "float" : "int", bits, rows, columns,
                   is_sum       ? "Accumulator"
                   : use == 'a' ? "A"
                                : "B");
}

// `more` is added to what is read: of sums that begin alike a compiler may compute one for all.
static void add_value(enum matrix_api api, const struct matrix_shape *s, char use, const char *name,
                      int more, struct str *out)
{
    bool is_float = s->input[0] == 'f';
    const char *element = use == 'c' ? s->sum : s->input;
    const char *bits = str_equal(element, "f16") ? "16" : str_equal(element, "i8") ? "8" : "32";
    str_add(out, "    ");
    add_type(api, s, use, out);
    str_printf(out, " %s = ", name);
    add_type(api, s, use, out);
    str_printf(out, "(%s%s_t(data[%d] + %d%s));\n", is_float ? "float" : "int", bits, use - 'a',
               more, is_float ? ".01" : ".5");
}

void peaks_add_matrix(enum matrix_api api, const struct matrix_shape *s, struct str *out)
{
    static const char *const sums[] = {"c0", "c1", "c2", "c3"};
    str_add(out, "#version 450\n"
                 "#extension GL_KHR_memory_scope_semantics : require\n"
                 "#extension GL_EXT_shader_explicit_arithmetic_types : require\n");
    str_add(out, api == MATRIX_NV ? "#extension GL_NV_cooperative_matrix : require\n"
                                    "#extension GL_NV_integer_cooperative_matrix : require\n"
                                  : "#extension GL_KHR_cooperative_matrix : require\n");
    str_printf(out,
               "layout(local_size_x = %d) in;\n"
               "layout(std430, set = 0, binding = 0) buffer Data { float data[]; };\n"
               "void main() {\n",
               FIXED_THREADS);
    add_value(api, s, 'a', "a", 1, out);
    add_value(api, s, 'b', "b", 1, out);
    for (int i = 0; i < 4; i++)
        add_value(api, s, 'c', sums[i], i, out);
    str_add(out, "    for (int i = 0; i < 256; i++) {\n");
    for (int i = 0; i < 4; i++)
        str_printf(out, "        %s = coopMatMulAdd%s(a, b, %s);\n", sums[i],
                   api == MATRIX_NV ? "NV" : "", sums[i]);
    // All elements: a compiler leaves out those parts of a matrix that nobody reads.
    str_add(out, "    }\n"
                 "    float sum = 0.0;\n"
                 "    for (int i = 0; i < c0.length(); i++)\n"
                 "        sum += float(c0[i]) + float(c1[i]) + float(c2[i]) + float(c3[i]);\n"
                 "    if (sum == 0.5) data[4] = sum;\n}\n");
}

static enum gpu_status measure_matrix(struct peak *p, enum roof_kind kind, const char *input)
{
    const struct gpu_info *i = gpu_get_info(p->g);
    bool khr = i->matrix_khr.count && kernel_knows_matrix(MATRIX_KHR);
    const struct matrix_units *u = khr ? &i->matrix_khr : &i->matrix_nv;
    uint32_t lanes = i->limits.subgroup_least ? i->limits.subgroup_least : i->limits.subgroup_size;
    enum gpu_status status = GPU_OK;
    int tried = 0;
    for (int s = 0; status == GPU_OK && s < u->count && tried < MOST_SHAPES; s++) {
        const struct matrix_shape *shape = &u->shape[s];
        struct str glsl = {0};
        if (!str_equal(shape->input, input))
            continue;
        tried++;
        peaks_add_matrix(u->api, shape, &glsl);
        const struct fixed_wish wish = {str_text(&glsl), 1, DATA_BYTES, lanes};
        double product = 2.0 * shape->m * shape->n * shape->k;
        status = measure(p, kind, &wish, product * MATRIX_ROUNDS * FIXED_THREADS / fmax(1, lanes));
        str_finish(&glsl);
    }
    return status;
}

// --- memory ---

// An invocation moves so many vectors of 16 bytes, its own or every 128th: what suits a device
// differs.
static const struct way {
    int vectors;
    bool own;
} ways[] = {{1, false}, {4, false}, {16, true}};

static uint64_t group_bytes(const struct way *way)
{
    return (uint64_t)FIXED_THREADS * (uint64_t)way->vectors * 16;
}

static uint64_t memory_bytes(const struct gpu_info *i, const struct way *way)
{
    uint64_t most = i->is_cpu ? MOST_MEMORY_OF_CPU : MOST_MEMORY;
    if (i->limits.buffer_bytes)
        most = uint64_min(most, i->limits.buffer_bytes);
    most = uint64_min(most, i->memory_bytes / 8) / group_bytes(way);
    return uint64_min(most, i->limits.group_count[0]) * group_bytes(way);
}

static void add_mover(const struct way *way, bool copies, struct str *out)
{
    int group = FIXED_THREADS * way->vectors, own = way->own ? way->vectors : 1;
    str_printf(out,
               "#version 450\n#extension GL_EXT_control_flow_attributes : require\n"
               "#define PLACE at + i * %du\n"
               "layout(local_size_x = %d) in;\n"
               "layout(std430, set = 0, binding = 0) readonly buffer From { vec4 from[]; };\n"
               "layout(std430, set = 0, binding = 1) buffer To { vec4 to[]; };\n"
               "void main() {\n"
               "    uint at = gl_WorkGroupID.x * %du + gl_LocalInvocationID.x * %du;\n"
               "    vec4 sum = vec4(0.0);\n"
               "    [[unroll]] for (uint i = 0u; i < %du; i++)\n"
               "        %s;\n",
               way->own ? 1 : FIXED_THREADS, FIXED_THREADS, group, own, way->vectors,
               copies ? "to[PLACE] = from[PLACE]" : "sum += from[PLACE]");
    str_add(out, "    if (sum.x + sum.y + sum.z + sum.w == 0.5) to[at] = sum;\n}\n");
}

static enum gpu_status measure_way(struct peak *p, const struct way *way, bool copies)
{
    const uint64_t bytes = memory_bytes(gpu_get_info(p->g), way);
    struct str glsl = {0};
    struct fixed f;
    double seconds, *best = &p->roof->rate[ROOF_BYTES];
    add_mover(way, copies, &glsl);
    const struct fixed_wish wish = {str_text(&glsl), 2, bytes, 0};
    enum gpu_status status = fixed_make(&f, p->g, &wish, p->e);
    if (status == GPU_OK)
        status = fixed_time(&f, p->g, (uint32_t)(bytes / group_bytes(way)), &seconds, p->e);
    if (status == GPU_OK)
        *best = fmax(*best, (copies ? 2 : 1) * (double)bytes / seconds);
    if (status != GPU_LOST && status != GPU_TIMEOUT)
        fixed_finish(&f, p->g);
    str_finish(&glsl);
    return status;
}

static enum gpu_status measure_memory(struct peak *p)
{
    enum gpu_status status = GPU_OK;
    for (size_t i = 0; status == GPU_OK && i < 2 * sizeof ways / sizeof *ways; i++)
        status = measure_way(p, &ways[i / 2], i % 2);
    return status;
}

static enum gpu_status measure_dispatch(struct peak *p)
{
    char glsl[] = "#version 450\nlayout(local_size_x = 128) in;\nvoid main() {}\n";
    const struct fixed_wish wish = {glsl, 1, DATA_BYTES, 0};
    struct fixed f;
    enum gpu_status status = fixed_make(&f, p->g, &wish, p->e);
    if (status == GPU_OK)
        status = fixed_time(&f, p->g, 1, &p->roof->rate[ROOF_DISPATCH], p->e);
    if (status != GPU_LOST && status != GPU_TIMEOUT)
        fixed_finish(&f, p->g);
    return status;
}

enum gpu_status peaks_measure(struct gpu *g, struct roof *out, struct err *e)
{
    const struct limits *l = &gpu_get_info(g)->limits;
    struct peak p = {g, out, e};
    *out = (struct roof){0};
    enum gpu_status status = measure_dispatch(&p);
    if (status == GPU_OK)
        status = measure_arithmetic(&p, ROOF_F32);
    if (status == GPU_OK && l->f16)
        status = measure_arithmetic(&p, ROOF_F16);
    if (status == GPU_OK && l->i8)
        status = measure_arithmetic(&p, ROOF_I8);
    if (status == GPU_OK)
        status = measure_matrix(&p, ROOF_F16_MATRIX, "f16");
    if (status == GPU_OK)
        status = measure_matrix(&p, ROOF_I8_MATRIX, "i8");
    return status == GPU_OK ? measure_memory(&p) : status;
}
