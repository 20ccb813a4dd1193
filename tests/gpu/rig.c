#include "rig.h"

#include "base/mem.h"
#include "kernel/kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct gpu *rig_open(bool validate)
{
    struct gpu_info *list;
    int count;
    struct err e = {.text = "no Vulkan device"};
    gpu_prepare_environment();
    kernel_setup();
    struct gpu *g = NULL;
    if (gpu_list(&list, &count, &e) && count > 0)
        g = gpu_open(0, validate, &e);
    free(list);
    if (!g)
        printf("skipped: %s\n", e.text);
    return g;
}

struct gpu_pipeline *rig_pipeline(struct gpu *g, const char *body)
{
    char *glsl = mem_printf("#version 450\nlayout(local_size_x = 32) in;\n"
                            "layout(std430, binding = 0) buffer A { uint a[]; };\n"
                            "layout(std430, binding = 1) buffer B { uint b[]; };\n"
                            "layout(std430, binding = 2) buffer C { uint c[]; };\n"
                            "void main() { uint i = gl_GlobalInvocationID.x;\n%s\n}\n",
                            body);
    struct spirv s;
    struct err e;
    struct gpu_pipeline *p = NULL;
    if (!kernel_compile(glsl, &s, &e) ||
        gpu_pipeline_create(g, &(struct gpu_shader){s.word, s.count, .bindings = 3}, &p, &e) !=
            GPU_OK)
        fail_msg("%s\n%s", e.text, glsl);
    spirv_finish(&s);
    free(glsl);
    return p;
}

struct gpu_buffer *rig_buffer(struct gpu *g, uint64_t words, uint32_t fill)
{
    struct err e;
    struct gpu_buffer *b;
    if (gpu_buffer_create(g, words * 4, &b, &e) != GPU_OK || gpu_fill(g, b, fill, &e) != GPU_OK)
        fail_msg("%s", e.text);
    return b;
}

void rig_read(struct gpu *g, struct gpu_buffer *b, uint32_t *out, uint64_t words)
{
    struct err e;
    if (gpu_read(g, b, 0, out, words * 4, &e) != GPU_OK)
        fail_msg("%s", e.text);
}
