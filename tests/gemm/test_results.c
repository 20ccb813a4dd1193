// Random legal points of the presets compute the right product: all layouts, both types, ragged and
// single-element sizes, poisoned outputs with a guard behind them. Runs on the best device there
// is, skipped (77) without one.
#include "gpu/gpu.h"
#include "kernel/kernel.h"
#include "trial/operator.h"
#include "variant.h"

#include "base/mem.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a)        (sizeof(a) / sizeof((a)[0]))
#define BUFFERS         3
#define GUARD           256 // bytes
#define MOST_STATEMENTS 300 // lavapipe translates about a thousand a second
#define TIMEOUT_S       60

static struct gpu *gpu;
static const struct gpu_info *info;

// A variant's operator on the device: buffers, inputs, the right result.
struct product {
    const struct operation *operation;
    struct operator_layout layout;
    struct gpu_buffer *buffer[BUFFERS + 1]; // A, B, C with its guard, scratch
    void *reference, *result;
};

static void must(bool good, const struct err *e, const char *what)
{
    char message[1400];
    if (!good)
        fail_msg("%s: %s", what, err_format(e, message, sizeof message));
}

static void product_open(struct product *p, const struct operation *o)
{
    struct err e;
    void *input[2];
    *p = (struct product){.operation = o, .layout = operator_layout(o)};
    for (int i = 0; i < BUFFERS; i++) {
        uint64_t bytes = p->layout.buffer[i].bytes;
        p->buffer[i] = gpu_buffer_create(gpu, bytes + (i == 2 ? GUARD : 0), &e);
        must(p->buffer[i], &e, "buffer");
        if (i == 2)
            continue;
        input[i] = mem_alloc(bytes);
        operator_fill(o, INPUT_EXACT, 1, i, input[i]);
        must(gpu_write(gpu, p->buffer[i], 0, input[i], bytes, &e) == GPU_OK, &e, "write");
    }
    p->reference = mem_alloc(p->layout.buffer[2].bytes);
    p->result = mem_alloc(p->layout.buffer[2].bytes + GUARD);
    operator_reference(o, (const void *const *)input, p->reference);
    free(input[0]);
    free(input[1]);
}

static void product_close(struct product *p)
{
    for (int i = 0; i < BUFFERS; i++)
        gpu_buffer_destroy(gpu, p->buffer[i]);
    free(p->reference);
    free(p->result);
}

static void run(struct product *p, const struct job *job, const char *what)
{
    struct err e;
    struct gpu_pass pass[JOB_MAX_PASSES] = {0};
    int buffers = job->scratch_bytes ? BUFFERS + 1 : BUFFERS;
    for (int i = 0; i < job->pass_count; i++) {
        struct spirv spirv;
        must(kernel_compile(job->pass[i].glsl, &spirv, &e), &e, what);
        must(gpu_pipeline_create(gpu, spirv.word, spirv.count, buffers, false, &pass[i].pipeline,
                                 &e) == GPU_OK,
             &e, what);
        memcpy(pass[i].groups, job->pass[i].groups, sizeof pass[i].groups);
        spirv_finish(&spirv);
    }
    if (job->scratch_bytes) {
        p->buffer[BUFFERS] = gpu_buffer_create(gpu, job->scratch_bytes, &e);
        must(p->buffer[BUFFERS], &e, what);
        must(gpu_fill(gpu, p->buffer[BUFFERS], UINT32_MAX, &e) == GPU_OK, &e, what);
    }
    must(gpu_fill(gpu, p->buffer[2], UINT32_MAX, &e) == GPU_OK, &e, what);
    must(gpu_run(gpu, pass, job->pass_count, 1, p->buffer, buffers, TIMEOUT_S, NULL, &e) == GPU_OK,
         &e, what);
    for (int i = 0; i < job->pass_count; i++)
        gpu_pipeline_destroy(gpu, pass[i].pipeline);
    if (job->scratch_bytes)
        gpu_buffer_destroy(gpu, p->buffer[BUFFERS]);
}

static void verify(struct product *p, const char *what)
{
    struct err e;
    char reason[200];
    uint64_t bytes = p->layout.buffer[2].bytes;
    must(gpu_read(gpu, p->buffer[2], 0, p->result, bytes + GUARD, &e) == GPU_OK, &e, "read");
    if (!operator_compare(p->operation, INPUT_EXACT, p->result, p->reference, NULL, reason,
                          sizeof reason))
        fail_msg("%s: %s", what, reason);
    for (int i = 0; i < GUARD; i++)
        if (((unsigned char *)p->result)[bytes + (size_t)i] != 0xff)
            fail_msg("%s: writes past the end of C", what);
}

static void check_variant(const struct variant *v, struct rng *r, int points)
{
    struct script *s = variant_load(v);
    struct product p;
    product_open(&p, script_operation(s));
    for (int i = 0; i < points; i++) {
        struct config c;
        struct resources needs;
        struct job job;
        struct err e;
        struct str what = {0};
        assert_true(variant_sample(s, v->limits, r, &c, &needs));
        operation_add_text(script_operation(s), &what);
        config_add_json(script_space(s), &c, &what);
        must(script_render(s, &c, &job, &e), &e, str_text(&what));
        run(&p, &job, str_text(&what));
        verify(&p, str_text(&what));
        job_finish(&job);
        str_finish(&what);
    }
    product_close(&p);
    script_destroy(s);
}

static const char *const types[] = {"f32", "f16"};
static const char *const layouts[] = {"nn", "nt", "tn", "tt"};

static void check_sizes(const char *preset, const char *device_type, const int (*size)[3],
                        size_t sizes, uint64_t seed)
{
    struct limits l = info->limits;
    l.statements = MOST_STATEMENTS;
    struct rng r;
    rng_seed(&r, seed);
    for (size_t n = 0; n < sizes; n++)
        for (size_t t = 0; t < (l.f16 ? COUNT(types) : 1); t++)
            for (size_t o = 0; o < COUNT(layouts); o++) {
                struct variant v = {preset, device_type, &l, types[t], layouts[o], {0}};
                memcpy(v.size, size[n], sizeof v.size);
                check_variant(&v, &r, 1);
            }
}

static void exact_sizes(void **state)
{
    (void)state;
    static const int size[][3] = {{64, 128, 32}};
    check_sizes("gemm", "cpu", size, COUNT(size), 1);
    check_sizes("gemm", "discrete", size, COUNT(size), 2);
    check_sizes("mm", "cpu", size, COUNT(size), 3);
}

static void ragged_sizes(void **state)
{
    (void)state;
    static const int size[][3] = {{1, 1, 1}, {17, 33, 65}, {100, 78, 34}, {48, 200, 100}};
    check_sizes("gemm", "cpu", size, COUNT(size), 4);
    check_sizes("gemm", "discrete", size, COUNT(size), 5);
}

int main(void)
{
    struct gpu_info *list = NULL;
    int count = 0;
    struct err e;
    gpu_prepare_environment();
    if (!gpu_list(&list, &count, &e) || count == 0) {
        puts("skipped: no Vulkan device");
        free(list);
        return 77;
    }
    free(list);
    kernel_setup();
    gpu = gpu_open(0, false, &e);
    if (!gpu)
        return 1;
    info = gpu_get_info(gpu);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_sizes),
        cmocka_unit_test(ragged_sizes),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gpu_close(gpu);
    return failed;
}
