// Random legal points of the presets compute the right product: all layouts, types and epilogues,
// ragged and single-element sizes, gaps between rows, images with strides, padding, dilation and
// groups; poisoned outputs with a guard behind them. Runs on the best device there is, skipped (77)
// without one.
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

#define GUARD           256 // bytes
#define MOST_STATEMENTS 300 // lavapipe translates about a thousand a second
#define TIMEOUT_S       60

static struct gpu *gpu;
static const struct gpu_info *info;

// A variant's operator on the device: buffers, inputs, the right result.
struct product {
    const struct operation *operation;
    struct operator_layout layout;
    int output;                                          // the last buffer
    struct gpu_buffer *buffer[OPERATOR_MAX_BUFFERS + 1]; // the output with its guard, scratch
    void *reference, *result;
};

static void must(bool good, const struct err *e, const char *what)
{
    char message[1400];
    if (!good)
        fail_msg("%s: %s", what, err_format(e, message, sizeof message));
}

static struct gpu_buffer *new_buffer(uint64_t bytes)
{
    struct err e;
    struct gpu_buffer *b = gpu_buffer_create(gpu, bytes, &e);
    must(b, &e, "buffer");
    return b;
}

static void product_open(struct product *p, const struct operation *o)
{
    struct err e;
    void *input[OPERATOR_MAX_BUFFERS];
    *p = (struct product){.operation = o, .layout = operator_layout(o)};
    p->output = p->layout.count - 1;
    uint64_t output_bytes = p->layout.buffer[p->output].bytes;
    for (int i = 0; i < p->output; i++) {
        uint64_t bytes = p->layout.buffer[i].bytes;
        p->buffer[i] = new_buffer(bytes);
        input[i] = mem_alloc(bytes);
        operator_fill(o, INPUT_EXACT, 1, i, input[i]);
        must(gpu_write(gpu, p->buffer[i], 0, input[i], bytes, &e) == GPU_OK, &e, "write");
    }
    p->buffer[p->output] = new_buffer(output_bytes + GUARD);
    p->reference = mem_alloc(output_bytes);
    p->result = mem_alloc(output_bytes + GUARD);
    operator_reference(o, (const void *const *)input, p->reference);
    for (int i = 0; i < p->output; i++)
        free(input[i]);
}

static void product_close(struct product *p)
{
    for (int i = 0; i < p->layout.count; i++)
        gpu_buffer_destroy(gpu, p->buffer[i]);
    free(p->reference);
    free(p->result);
}

static void run(struct product *p, const struct job *job, const char *what)
{
    struct err e;
    struct gpu_pass pass[JOB_MAX_PASSES] = {0};
    int buffers = p->layout.count + (job->scratch_bytes ? 1 : 0);
    for (int i = 0; i < job->pass_count; i++) {
        struct spirv spirv;
        must(kernel_compile(job->pass[i].glsl, &spirv, &e), &e, what);
        must(gpu_pipeline_create(gpu, spirv.word, spirv.count, buffers, false, &pass[i].pipeline,
                                 &e) == GPU_OK,
             &e, what);
        memcpy(pass[i].groups, job->pass[i].groups, sizeof pass[i].groups);
        spirv_finish(&spirv);
    }
    struct gpu_buffer **scratch = &p->buffer[p->layout.count];
    if (job->scratch_bytes) {
        *scratch = new_buffer(job->scratch_bytes);
        must(gpu_fill(gpu, *scratch, UINT32_MAX, &e) == GPU_OK, &e, what);
    }
    must(gpu_fill(gpu, p->buffer[p->output], UINT32_MAX, &e) == GPU_OK, &e, what);
    must(gpu_run(gpu, pass, job->pass_count, 1, p->buffer, buffers, TIMEOUT_S, NULL, &e) == GPU_OK,
         &e, what);
    for (int i = 0; i < job->pass_count; i++)
        gpu_pipeline_destroy(gpu, pass[i].pipeline);
    if (job->scratch_bytes)
        gpu_buffer_destroy(gpu, *scratch);
}

static void verify(struct product *p, const char *what)
{
    struct err e;
    char reason[200];
    uint64_t bytes = p->layout.buffer[p->output].bytes;
    must(gpu_read(gpu, p->buffer[p->output], 0, p->result, bytes + GUARD, &e) == GPU_OK, &e,
         "read");
    if (!operator_compare(p->operation, INPUT_EXACT, p->result, p->reference, NULL, reason,
                          sizeof reason))
        fail_msg("%s: %s", what, reason);
    for (int i = 0; i < GUARD; i++)
        if (((unsigned char *)p->result)[bytes + (size_t)i] != 0xff)
            fail_msg("%s: writes past the end of C", what);
}

static void check_points(const struct family *f, const char *device_type, const struct limits *l,
                         const char *set, struct rng *r, int points)
{
    struct script *s = variant_load(f->preset, device_type, l, set);
    struct product p;
    product_open(&p, script_operation(s));
    for (int i = 0; i < points; i++) {
        struct config c;
        struct resources needs;
        struct job job;
        struct err e;
        struct str what = {0};
        assert_true(variant_sample(s, l, r, &c, &needs));
        str_printf(&what, "%s on %s: %s ", f->preset, device_type, set);
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

static bool has_type(const struct limits *l, const char *type)
{
    return (l->f16 || strcmp(type, "f16") != 0) && (l->i8 || strcmp(type, "i8") != 0);
}

static void check_family(const struct family *f, int shapes, uint64_t seed)
{
    struct limits l = info->limits;
    l.statements = MOST_STATEMENTS;
    struct rng r;
    rng_seed(&r, seed);
    for (int layout = 0; f->layouts[layout]; layout++)
        for (int type = 0; variant_types[type]; type++)
            for (int shape = 0; has_type(&l, variant_types[type]) && shape < shapes; shape++) {
                struct str set = {0};
                variant_draw(f, f->layouts[layout], variant_types[type], &r, &set);
                check_points(f, shape % 2 ? "discrete" : "cpu", &l, str_text(&set), &r, 1);
                str_finish(&set);
            }
}

// TILEWALK_TEST_SHAPES and TILEWALK_TEST_SEED: how many shapes of each layout and type, and which.
static uint64_t number_from(const char *variable, uint64_t standard)
{
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 10) : standard;
}

static void products_are_right(void **state)
{
    (void)state;
    for (int i = 0; i < family_count; i++)
        check_family(&families[i], (int)number_from("TILEWALK_TEST_SHAPES", 2),
                     number_from("TILEWALK_TEST_SEED", 1));
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
        cmocka_unit_test(products_are_right),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gpu_close(gpu);
    return failed;
}
