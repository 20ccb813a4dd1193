// Writes the exported header of a small product with two passes: what docs/sample/run_export.c is
// built and tested with, on machines where nothing was ever tuned.
#include "kernel/kernel.h"
#include "report/kernel_files.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

enum { N = 40, M = 24, K = 16, PARTS = 2 };

// A[N,K], B transposed; the depth is split in two, whose sums meet in the scratch buffer.
static const char multiply[] =
    "#version 450\n"
    "layout(local_size_x = 8, local_size_y = 8) in;\n"
    "layout(binding = 0) readonly buffer bufferA { float a[]; };\n"
    "layout(binding = 1) readonly buffer bufferB { float b[]; };\n"
    "layout(binding = 3) writeonly buffer bufferS { float part[]; };\n"
    "void main()\n"
    "{\n"
    "    uint j = gl_GlobalInvocationID.x, i = gl_GlobalInvocationID.y, z = gl_WorkGroupID.z;\n"
    "    float sum = 0.0;\n"
    "    for (uint k = 8 * z; k < 8 * z + 8; k++)\n"
    "        sum += a[i * 16 + k] * b[j * 16 + k];\n"
    "    part[(z * 40 + i) * 24 + j] = sum;\n"
    "}\n";

static const char add[] = "#version 450\n"
                          "layout(local_size_x = 64) in;\n"
                          "layout(binding = 2) writeonly buffer bufferC { float c[]; };\n"
                          "layout(binding = 3) readonly buffer bufferS { float part[]; };\n"
                          "void main()\n"
                          "{\n"
                          "    uint i = gl_GlobalInvocationID.x;\n"
                          "    if (i < 960)\n"
                          "        c[i] = part[i] + part[i + 960];\n"
                          "}\n";

static bool describe(struct operation *o, struct kernel_description *d, struct err *e)
{
    *d = (struct kernel_description){
        .name = "sample",
        .title = "matmul f32 nt 40x24x16",
        .operation = o,
        .configuration = "{}",
        .flop = 2.0 * N * M * K,
        .timing = {.seconds = 1},
        .pass_count = 2,
        .binding_count = 4,
        .pass = {{.glsl = multiply, .local_size = {8, 8, 1}, .groups = {M / 8, N / 8, PARTS}},
                 {.glsl = add, .local_size = {64, 1, 1}, .groups = {N * M / 64, 1, 1}}},
        .binding = {{"A", "read", 4 * N * K},
                    {"B", "read", 4 * K * M},
                    {"C", "write", 4 * N * M},
                    {"scratch", "read-write", 4 * PARTS * N * M}},
    };
    operation_init(o, operation_kind_find("matmul"));
    return operation_set_size(o, "N", N, e) && operation_set_size(o, "M", M, e) &&
           operation_set_size(o, "K", K, e) && operation_set_choice(o, "layout", "nt", e) &&
           operation_complete(o, e);
}

static bool compile(struct kernel_description *d, struct spirv spirv[2], struct err *e)
{
    kernel_setup();
    for (int i = 0; i < d->pass_count; i++) {
        if (!kernel_compile(d->pass[i].glsl, &spirv[i], e))
            return false;
        d->pass[i].word = spirv[i].word;
        d->pass[i].word_count = spirv[i].count;
        d->pass[i].entry = kernel_entry(&spirv[i]);
    }
    return true;
}

int main(void)
{
    char text[1400];
    struct operation operation;
    struct kernel_description d;
    struct spirv spirv[2] = {{0}};
    struct str header = {0};
    struct err e;
    bool ok = describe(&operation, &d, &e) && compile(&d, spirv, &e);
    if (ok) {
        kernel_add_header(&d, &header);
        fputs(str_text(&header), stdout);
    } else {
        fprintf(stderr, "%s\n", err_format(&e, text, sizeof text));
    }
    str_finish(&header);
    spirv_finish(&spirv[0]);
    spirv_finish(&spirv[1]);
    return !ok;
}
