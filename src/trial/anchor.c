#include "trial/anchor.h"

#include "base/log.h"
#include "kernel/kernel.h"

// Some milliseconds of a CPU device; of a GPU enough to fill it.
enum { GROUPS_OF_CPU = 32, GROUPS_OF_GPU = 4096, BUFFER_BYTES = 1024 };

// Factors come from the buffer, so that no compiler computes it; they keep values bounded.
static const char glsl[] = "#version 450\n"
                           "layout(local_size_x = 128) in;\n"
                           "layout(std430, set = 0, binding = 0) buffer Data { float data[]; };\n"
                           "void main() {\n"
                           "    vec4 b = vec4(data[0] - 0.9999), c = vec4(data[1] + 0.5);\n"
                           "    vec4 x = vec4(gl_LocalInvocationID.x), y = x + 1.0;\n"
                           "    for (int i = 0; i < 256; i++) {\n"
                           "        x = x * b + c; y = y * b + c;\n"
                           "        x = x * b + c; y = y * b + c;\n"
                           "    }\n"
                           "    x += y;\n"
                           "    if (x.x + x.y + x.z + x.w == 0.125) data[2] = x.x;\n"
                           "}\n";

static enum gpu_status make(struct anchor *a, struct gpu *g, struct err *e)
{
    struct spirv spirv;
    if (!kernel_compile(glsl, &spirv, e))
        return GPU_FAILED;
    const struct gpu_shader shader = {
        .word = spirv.word, .word_count = spirv.count, .bindings = 1, .local_x = 128};
    enum gpu_status status = gpu_pipeline_create(g, &shader, &a->pipeline, e);
    spirv_finish(&spirv);
    if (status == GPU_OK)
        status = gpu_buffer_create(g, BUFFER_BYTES, &a->buffer, e);
    return status == GPU_OK ? gpu_fill(g, a->buffer, 0, e) : status;
}

static enum gpu_status run(struct anchor *a, struct gpu *g, double *seconds, struct err *e)
{
    const struct gpu_info *i = gpu_get_info(g);
    const struct gpu_timing timing = gpu_timing_default(i);
    const struct gpu_pass pass = {.pipeline = a->pipeline,
                                  .groups = {i->is_cpu ? GROUPS_OF_CPU : GROUPS_OF_GPU, 1, 1}};
    const struct gpu_sequence all = {
        .pass = &pass, .pass_count = 1, .buffer = &a->buffer, .buffer_count = 1};
    struct gpu_samples samples;
    enum gpu_status status = gpu_time(g, &all, &timing, 0, &samples, e);
    if (status == GPU_OK)
        *seconds = gpu_robust_seconds(i, samples.seconds, samples.count);
    return status;
}

double anchor_time(struct anchor *a, struct gpu *g)
{
    struct err e;
    double seconds = 0;
    enum gpu_status status = a->buffer ? GPU_OK : make(a, g, &e);
    if (status == GPU_OK)
        status = run(a, g, &seconds, &e);
    if (status != GPU_OK)
        log_warning("the fixed kernel: %s", e.text);
    return seconds;
}
