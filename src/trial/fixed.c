#include "trial/fixed.h"

#include "base/log.h"
#include "kernel/kernel.h"

// Some milliseconds of a CPU device; of a GPU enough to fill it.
#define BURN_S         0.002 // that somebody may have to wait for the device
#define BURN_TIMEOUT_S 10.0
enum { MOST_BURNS = 100 };
enum { ANCHOR_OF_CPU = 32, ANCHOR_OF_GPU = 4096, ANCHOR_CHAINS = 2, ANCHOR_BYTES = 1024 };

void fixed_finish(struct fixed *f, struct gpu *g)
{
    for (int i = 0; i < f->buffers; i++)
        gpu_buffer_destroy(g, f->buffer[i]);
    if (f->pipeline)
        gpu_pipeline_destroy(g, f->pipeline);
    *f = (struct fixed){0};
}

enum gpu_status fixed_make(struct fixed *f, struct gpu *g, const struct fixed_wish *w,
                           struct err *e)
{
    struct spirv spirv;
    *f = (struct fixed){0};
    if (!kernel_compile(w->glsl, &spirv, e))
        return GPU_FAILED;
    const struct gpu_shader shader = {.word = spirv.word,
                                      .word_count = spirv.count,
                                      .bindings = w->buffers,
                                      .subgroup = w->subgroup,
                                      .local_x = FIXED_THREADS};
    enum gpu_status status = gpu_pipeline_create(g, &shader, &f->pipeline, e);
    spirv_finish(&spirv);
    while (status == GPU_OK && f->buffers < w->buffers) {
        status = gpu_buffer_create(g, w->bytes, &f->buffer[f->buffers], e);
        if (status == GPU_OK)
            status = gpu_fill(g, f->buffer[f->buffers++], 0, e);
    }
    return status;
}

enum gpu_status fixed_time(const struct fixed *f, struct gpu *g, uint32_t groups, double *seconds,
                           struct err *e)
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

// The factors come from the buffer, so that no compiler computes anything itself; of floats they
// keep the values bounded, and changing.
void fixed_add_arithmetic(const char *vector, const char *scalar, int chains, struct str *out)
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

static enum gpu_status make_anchor(struct fixed *a, struct gpu *g, struct err *e)
{
    struct str glsl = {0};
    str_add(&glsl, "#version 450\n");
    fixed_add_arithmetic("vec4", "float", ANCHOR_CHAINS, &glsl);
    const struct fixed_wish wish = {str_text(&glsl), 1, ANCHOR_BYTES, 0};
    enum gpu_status status = fixed_make(a, g, &wish, e);
    str_finish(&glsl);
    return status;
}

static uint32_t anchor_groups(const struct gpu *g)
{
    return gpu_get_info(g)->is_cpu ? ANCHOR_OF_CPU : ANCHOR_OF_GPU;
}

double anchor_time(struct fixed *a, struct gpu *g)
{
    struct err e;
    double seconds = 0;
    enum gpu_status status = a->buffers ? GPU_OK : make_anchor(a, g, &e);
    if (status == GPU_OK)
        status = fixed_time(a, g, anchor_groups(g), &seconds, &e);
    if (status != GPU_OK)
        log_warning("the fixed kernel: %s", e.text);
    return seconds;
}

bool anchor_burn(struct fixed *a, struct gpu *g, struct err *e)
{
    double seconds = 0, spent = 0;
    enum gpu_status status = a->buffers ? GPU_OK : make_anchor(a, g, e);
    const struct gpu_pass pass = {.pipeline = a->pipeline, .groups = {anchor_groups(g), 1, 1}};
    const struct gpu_sequence all = {
        .pass = &pass, .pass_count = 1, .buffer = a->buffer, .buffer_count = a->buffers};
    for (int i = 0; i < MOST_BURNS && status == GPU_OK && spent < BURN_S; i++) {
        status = gpu_run(g, &all, 1 + i, BURN_TIMEOUT_S, &seconds, e);
        spent += seconds;
    }
    return status == GPU_OK;
}
