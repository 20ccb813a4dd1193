#include "trial/peaks.h"

#include "base/err.h"
#include "base/number.h"
#include "base/str.h"
#include "kernel/kernel.h"

#include <math.h>

#define ANCHOR_S         0.002 // another worker may wait for the device meanwhile
#define ANCHOR_TIMEOUT_S 10.0
#define FIXED_FLOP       (256.0 * 4 * 4 * 2) // of a chain and invocation
enum {
    FIXED_THREADS = 128, // of a workgroup
    MOST_ANCHOR_RUNS = 100,
    ANCHOR_OF_CPU = 32,   // workgroups: some milliseconds
    ANCHOR_OF_GPU = 4096, // enough to fill it
    ANCHOR_CHAINS = 2,
    ANCHOR_BYTES = 1024
};

// Buffers have `bytes` each, filled with zeros. `subgroup`: as gpu_shader's.
struct fixed_options {
    const char *glsl; // workgroups of FIXED_THREADS
    int buffers;
    uint64_t bytes;
    uint32_t subgroup;
};

static void fixed_finish(struct fixed *f, struct gpu *g)
{
    for (int i = 0; i < f->buffers; i++)
        gpu_buffer_destroy(g, f->buffer[i]);
    if (f->pipeline)
        gpu_pipeline_destroy(g, f->pipeline);
    *f = (struct fixed){0};
}

// Also after a failure fixed_finish frees the kernel, unless it is to live as long as the device.
static enum gpu_status fixed_create(struct fixed *f, struct gpu *g, const struct fixed_options *o,
                                    struct err *e)
{
    struct spirv spirv;
    *f = (struct fixed){0};
    if (!kernel_compile(o->glsl, &spirv, e))
        return GPU_FAILED;
    const struct gpu_shader shader = {.word = spirv.word,
                                      .word_count = spirv.count,
                                      .bindings = o->buffers,
                                      .subgroup = o->subgroup,
                                      .local_x = FIXED_THREADS};
    enum gpu_status status = gpu_pipeline_create(g, &shader, &f->pipeline, e);
    spirv_finish(&spirv);
    while (status == GPU_OK && f->buffers < o->buffers) {
        status = gpu_buffer_create(g, o->bytes, &f->buffer[f->buffers], e);
        if (status == GPU_OK)
            status = gpu_fill(g, f->buffer[f->buffers++], 0, e);
    }
    return status;
}

// Times so many workgroups as other kernels are timed.
static enum gpu_status fixed_time(const struct fixed *f, struct gpu *g, uint32_t groups,
                                  double *seconds, struct err *e)
{
    const struct gpu_info *i = gpu_get_info(g);
    const struct gpu_timing timing = gpu_timing_default(i);
    const struct gpu_pass pass = {.pipeline = f->pipeline, .groups = {groups, 1, 1}};
    const struct gpu_sequence all = {
        .pass = &pass, .pass_count = 1, .buffer = f->buffer, .buffer_count = f->buffers};
    struct gpu_samples samples;
    enum gpu_status status = gpu_time(g, &all, &timing, 0, &samples, e);
    if (status == GPU_OK)
        *seconds = gpu_robust_seconds(i, samples.seconds, samples.count);
    return status;
}

// Adds the text of a kernel that multiplies and adds in `chains` vectors of four, FIXED_FLOP a
// chain and invocation; `vector` and `scalar` are its types, "vec4" and "float". The factors come
// from the buffer, so that no compiler computes anything itself; floating-point values stay bounded
// and keep changing.
static void fixed_add_arithmetic(const char *vector, const char *scalar, int chains,
                                 struct str *out)
{
    str_printf(out,
               "layout(local_size_x = %d) in;\n"
               "layout(std430, set = 0, binding = 0) buffer Data { float data[]; };\n"
               "void main() {\n"
               "    %s b = %s(%s(data[0] - 0.9999)), c = %s(%s(data[1] + 1.5));\n",
               FIXED_THREADS, vector, vector, scalar, vector, scalar);
    for (int i = 0; i < chains; i++)
        str_printf(out, "    %s x%d = %s(%s(gl_LocalInvocationID.x)) + %s(%s(%d));\n", vector, i,
                   vector, scalar, vector, scalar, i);
    str_add(out, "    for (int i = 0; i < 256; i++) {\n");
    for (int i = 0; i < 4 * chains; i++)
        str_printf(out, "        x%d = x%d * b + c;\n", i % chains, i % chains);
    str_add(out, "    }\n");
    for (int i = 1; i < chains; i++)
        str_printf(out, "    x0 += x%d;\n", i);
    str_printf(out, "    if (x0.x + x0.y + x0.z + x0.w == %s(77)) data[2] = float(x0.x);\n}\n",
               scalar);
}

// Creates the anchor when it is first used. `*groups`: the workgroups that it has on that device.
static enum gpu_status create_anchor(struct fixed *a, struct gpu *g, uint32_t *groups,
                                     struct err *e)
{
    struct str glsl = {0};
    *groups = gpu_get_info(g)->is_cpu ? ANCHOR_OF_CPU : ANCHOR_OF_GPU;
    if (a->buffers)
        return GPU_OK;
    str_add(&glsl, "#version 450\n");
    fixed_add_arithmetic("vec4", "float", ANCHOR_CHAINS, &glsl);
    const struct fixed_options options = {str_text(&glsl), 1, ANCHOR_BYTES, 0};
    enum gpu_status status = fixed_create(a, g, &options, e);
    str_finish(&glsl);
    return status;
}

double anchor_time(struct fixed *a, struct gpu *g)
{
    struct err e;
    double seconds = 0;
    uint32_t groups;
    enum gpu_status status = create_anchor(a, g, &groups, &e);
    if (status == GPU_OK)
        status = fixed_time(a, g, groups, &seconds, &e);
    if (status != GPU_OK)
        log_warning("the fixed kernel: %s", e.text);
    return seconds;
}

bool anchor_run(struct fixed *a, struct gpu *g, struct err *e)
{
    double seconds = 0, spent = 0;
    uint32_t groups;
    enum gpu_status status = create_anchor(a, g, &groups, e);
    const struct gpu_pass pass = {.pipeline = a->pipeline, .groups = {groups, 1, 1}};
    const struct gpu_sequence all = {
        .pass = &pass, .pass_count = 1, .buffer = a->buffer, .buffer_count = a->buffers};
    for (int i = 0; i < MOST_ANCHOR_RUNS && status == GPU_OK && spent < ANCHOR_S; i++) {
        status = gpu_run(g, &all, 1 + i, ANCHOR_TIMEOUT_S, &seconds, e);
        spent += seconds;
    }
    return status == GPU_OK;
}

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

// --- peaks ---

struct peak {
    struct gpu *g;
    struct roofline *roofline;
    struct err *e;
};

static bool is_lost(enum gpu_status status)
{
    return status == GPU_LOST || status == GPU_TIMEOUT;
}

// Measures a fixed kernel. The number of workgroups grows step by step until they run long enough.
// `each`: the work of a workgroup. Only a lost device is an error: after another failure this peak
// stays unknown.
static enum gpu_status measure(struct peak *p, enum roofline_kind kind,
                               const struct fixed_options *options, double each)
{
    const struct gpu_info *i = gpu_get_info(p->g);
    const uint32_t most = (uint32_t)uint64_min(MOST_GROUPS, i->limits.group_count[0]);
    struct fixed f;
    uint32_t groups;
    double seconds;
    enum gpu_status status = fixed_create(&f, p->g, options, p->e);
    bool is_enough = status != GPU_OK;
    for (groups = FEWEST_GROUPS; !is_enough;) {
        const struct gpu_pass pass = {.pipeline = f.pipeline, .groups = {groups, 1, 1}};
        const struct gpu_sequence all = {
            .pass = &pass, .pass_count = 1, .buffer = f.buffer, .buffer_count = f.buffers};
        status = gpu_run(p->g, &all, 1, PATIENCE_S, &seconds, p->e);
        is_enough = status != GPU_OK || seconds >= LONG_ENOUGH_S || groups * 8 > most;
        groups *= is_enough ? 1 : 8;
    }
    if (status == GPU_OK)
        status = fixed_time(&f, p->g, groups, &seconds, p->e);
    if (status == GPU_OK)
        p->roofline->rate[kind] = fmax(p->roofline->rate[kind], each * groups / seconds);
    if (!is_lost(status))
        fixed_finish(&f, p->g);
    return is_lost(status) ? status : GPU_OK;
}

static enum gpu_status measure_arithmetic(struct peak *p, enum roofline_kind kind)
{
    static const struct {
        const char *head, *vector, *scalar;
    } of[] = {
        [ROOFLINE_F32] = {"", "vec4", "float"},
        [ROOFLINE_F16] = {"#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n",
                          "f16vec4", "float16_t"},
        [ROOFLINE_I8] = {"", "ivec4", "int"},
    };
    enum gpu_status status = GPU_OK;
    for (int chains = 2; status == GPU_OK && chains <= 4; chains *= 2) {
        struct str glsl = {0};
        str_printf(&glsl, "#version 450\n%s", of[kind].head);
        fixed_add_arithmetic(of[kind].vector, of[kind].scalar, chains, &glsl);
        const struct fixed_options options = {str_text(&glsl), 1, DATA_BYTES, 0};
        status = measure(p, kind, &options, FIXED_FLOP * chains * FIXED_THREADS);
        str_finish(&glsl);
    }
    return status;
}

// --- what is known of kinds ---

void peaks_of_kind(const struct gpu_info *i, struct roofline *out)
{
    // In the order of enum roofline_kind. A thread of a CPU at 5 GHz has two units of 512 bits, and
    // its own cache; the fastest integrated and discrete devices are of 2025.
    static const struct roofline thread = {{3.2e11, 6.4e11, 1.3e12, 6.4e11, 1.3e12, 6.4e11, 1.3e12,
                                            2e11, 5e-7}},
                                 integrated = {{4e13, 8e13, 4e13, 2e14, 4e14, 2e14, 4e14, 2e12,
                                                2e-7}},
                                 discrete = {{1.5e14, 3e14, 1.5e14, 2.5e15, 5e15, 2.5e15, 5e15,
                                              2e13, 2e-7}};
    *out = i->is_cpu ? thread : str_equal(i->type, "integrated") ? integrated : discrete;
    for (int k = 0; i->is_cpu && k < ROOFLINE_DISPATCH; k++)
        out->rate[k] *= fmax(1, i->threads);
}

// --- matrix units ---

static enum element element_of(const struct matrix_shape *s, char use)
{
    return element_named(use == 'c' ? s->sum : s->input);
}

static const char *word_of(enum element e)
{
    return element_floats[e].type ? element_floats[e].type : element_traits[e].scalar;
}

static void add_type(enum matrix_api api, const struct matrix_shape *s, char use, struct str *out)
{
    enum element e = element_of(s, use);
    int rows = use == 'b' ? s->k : s->m, columns = use == 'a' ? s->k : s->n;
    if (api == MATRIX_NV)
        str_printf(out, "%ccoopmatNV<%d, gl_ScopeSubgroup, %d, %d>", element_is_real(e) ? 'f' : 'i',
                   8 * element_bytes(e), rows, columns);
    else
        str_printf(out, "coopmat<%s, gl_ScopeSubgroup, %d, %d, gl_MatrixUse%s>", word_of(e), rows,
                   columns,
                   use == 'c'   ? "Accumulator"
                   : use == 'a' ? "A"
                                : "B");
}

// Adds a variable. `more` is added to the value that is read, so that no two sums begin alike: a
// compiler might compute equal ones once. The elements of A and B are read one by one for the same
// reason: where a driver emulates matrices, sums of equal elements are equal, and one would be
// computed for all.
static void add_value(enum matrix_api api, const struct matrix_shape *s, char use, const char *name,
                      int more, struct str *out)
{
    enum element e = element_of(s, use);
    const char *part = element_is_real(e) ? ".01" : ".5";
    str_add(out, "    ");
    add_type(api, s, use, out);
    str_printf(out, " %s = ", name);
    add_type(api, s, use, out);
    str_printf(out, "(%s(data[%d] + %d%s));\n", word_of(e), use - 'a', more, part);
    if (use != 'c')
        str_printf(out,
                   "    [[unroll]] for (int i = 0; i < %s.length(); i++)\n"
                   "        %s[i] = %s(data[(i * 8 + int(gl_LocalInvocationID.x)) %% %d] + "
                   "%d%s);\n",
                   name, name, word_of(e), DATA_BYTES / 4, more, part);
}

void peaks_add_matrix(enum matrix_api api, const struct matrix_shape *s, struct str *out)
{
    static const char *const sums[] = {"c0", "c1", "c2", "c3"};
    str_add(out, "#version 450\n"
                 "#extension GL_KHR_memory_scope_semantics : require\n"
                 "#extension GL_EXT_control_flow_attributes : require\n"
                 "#extension GL_EXT_shader_explicit_arithmetic_types : require\n");
    str_add(out, api == MATRIX_NV ? "#extension GL_NV_cooperative_matrix : require\n"
                                    "#extension GL_NV_integer_cooperative_matrix : require\n"
                                  : "#extension GL_KHR_cooperative_matrix : require\n");
    if (element_floats[element_of(s, 'a')].extension)
        str_printf(out, "#extension %s : require\n", element_floats[element_of(s, 'a')].extension);
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
    // All elements are read, because a compiler leaves out parts of a matrix that are never read.
    str_add(out, "    }\n"
                 "    float sum = 0.0;\n"
                 "    for (int i = 0; i < c0.length(); i++)\n"
                 "        sum += float(c0[i]) + float(c1[i]) + float(c2[i]) + float(c3[i]);\n"
                 "    if (sum == 0.5) data[4] = sum;\n}\n");
}

static enum gpu_status measure_matrix(struct peak *p, enum roofline_kind kind, enum element input)
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
        if (element_of(shape, 'a') != input || !kernel_knows_float(input))
            continue;
        tried++;
        peaks_add_matrix(u->api, shape, &glsl);
        const struct fixed_options options = {str_text(&glsl), 1, DATA_BYTES, lanes};
        double product = 2.0 * shape->m * shape->n * shape->k;
        status =
            measure(p, kind, &options, product * MATRIX_ROUNDS * FIXED_THREADS / fmax(1, lanes));
        str_finish(&glsl);
    }
    return status;
}

// --- memory ---

// The access patterns that are tried, as devices differ in which one is fastest: the number of
// vectors of 16 bytes that an invocation moves, and whether they lie side by side or every 128th.
static const struct way {
    int vectors;
    bool own;
} ways[] = {{1, false}, {4, false}, {16, true}};

static enum gpu_status measure_way(struct peak *p, const struct way *way, bool copies)
{
    const struct gpu_info *i = gpu_get_info(p->g);
    uint64_t group_bytes = (uint64_t)FIXED_THREADS * (uint64_t)way->vectors * 16;
    uint64_t most = i->is_cpu ? MOST_MEMORY_OF_CPU : MOST_MEMORY;
    if (i->limits.buffer_bytes)
        most = uint64_min(most, i->limits.buffer_bytes);
    uint64_t groups =
        uint64_min(uint64_min(most, i->memory_bytes / 8) / group_bytes, i->limits.group_count[0]);
    uint64_t bytes = groups * group_bytes;
    struct str glsl = {0};
    struct fixed f;
    double seconds, *best = &p->roofline->rate[ROOFLINE_BYTES];
    int group = FIXED_THREADS * way->vectors, own = way->own ? way->vectors : 1;
    str_printf(&glsl,
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
    str_add(&glsl, "    if (sum.x + sum.y + sum.z + sum.w == 0.5) to[at] = sum;\n}\n");
    const struct fixed_options options = {str_text(&glsl), 2, bytes, 0};
    enum gpu_status status = fixed_create(&f, p->g, &options, p->e);
    if (status == GPU_OK)
        status = fixed_time(&f, p->g, (uint32_t)groups, &seconds, p->e);
    if (status == GPU_OK)
        *best = fmax(*best, (copies ? 2 : 1) * (double)bytes / seconds);
    if (!is_lost(status))
        fixed_finish(&f, p->g);
    str_finish(&glsl);
    return status;
}

enum gpu_status peaks_measure(struct gpu *g, struct roofline *out, struct err *e)
{
    const struct limits *l = &gpu_get_info(g)->limits;
    struct peak p = {g, out, e};
    *out = (struct roofline){0};
    char glsl[] = "#version 450\nlayout(local_size_x = 128) in;\nvoid main() {}\n";
    const struct fixed_options options = {glsl, 1, DATA_BYTES, 0};
    struct fixed f;
    enum gpu_status status = fixed_create(&f, p.g, &options, p.e);
    if (status == GPU_OK)
        status = fixed_time(&f, p.g, 1, &p.roofline->rate[ROOFLINE_DISPATCH], p.e);
    if (!is_lost(status))
        fixed_finish(&f, p.g);
    if (status == GPU_OK)
        status = measure_arithmetic(&p, ROOFLINE_F32);
    if (status == GPU_OK && l->f16)
        status = measure_arithmetic(&p, ROOFLINE_F16);
    if (status == GPU_OK && l->i8)
        status = measure_arithmetic(&p, ROOFLINE_I8);
    // A CPU device has no matrix units: its driver computes matrices by the arithmetic above.
    static const enum element inputs[] = {ELEMENT_F16, ELEMENT_I8, ELEMENT_BF16, ELEMENT_F8E4M3};
    for (int i = 0; status == GPU_OK && !gpu_get_info(g)->is_cpu && i < 4; i++)
        status = measure_matrix(&p, (enum roofline_kind)(ROOFLINE_F16_MATRIX + i), inputs[i]);
    for (size_t i = 0; status == GPU_OK && i < 2 * sizeof ways / sizeof *ways; i++)
        status = measure_way(&p, &ways[i / 2], i % 2);
    return status;
}
