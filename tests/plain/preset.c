#include "preset.h"

#include "base/mem.h"
#include "base/str.h"
#include "gpu/gpu.h"
#include "kernel/kernel.h"
#include "trial/operator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { GUARD = 256, DRAWS = 100000, TIMEOUT_S = 60, MOST_STATEMENTS = 400, SETS = 2 };

static struct gpu *gpu;
static struct limits limits;
static const char *device_type;

struct bench { // an operation's buffers on the device, and what is right
    const struct operation *operation;
    struct operator_layout layout;
    struct gpu_buffer *buffer[OPERATOR_MAX_BUFFERS];
    void *content[SETS][OPERATOR_MAX_BUFFERS]; // of the output: the reference
    unsigned char *result;
};

static void must(bool good, const struct err *e, const char *what)
{
    char message[1400];
    if (!good)
        fail_msg("%s: %s", what, err_format(e, message, sizeof message));
}

bool preset_open_device(void)
{
    struct gpu_info *list = NULL;
    int count = 0;
    struct err e;
    gpu_prepare_environment();
    bool found = gpu_list(&list, &count, &e) && count > 0;
    free(list);
    if (!found)
        return false;
    kernel_setup();
    gpu = gpu_open(0, false, &e);
    if (!gpu)
        return false;
    limits = gpu_get_info(gpu)->limits;
    limits.statements = MOST_STATEMENTS; // a software driver takes long to translate more
    device_type = gpu_get_info(gpu)->type;
    return true;
}

void preset_close_device(void)
{
    gpu_close(gpu);
}

bool preset_device_has_f16(void)
{
    return limits.f16;
}

static uint64_t output_bytes(const struct bench *b)
{
    return b->layout.buffer[b->layout.count - 1].bytes;
}

static void bench_open(struct bench *b, const struct operation *o)
{
    struct err e;
    *b = (struct bench){.operation = o, .layout = operator_layout(o)};
    int output = b->layout.count - 1;
    for (int i = 0; i <= output; i++) {
        uint64_t bytes = b->layout.buffer[i].bytes;
        b->buffer[i] = gpu_buffer_create(gpu, bytes + GUARD, &e);
        must(b->buffer[i], &e, "buffer");
        for (int set = 0; set < SETS; set++) {
            b->content[set][i] = mem_alloc(bytes);
            if (i < output)
                operator_fill(o, (enum input_set)set, 1, i, b->content[set][i]);
        }
    }
    for (int set = 0; set < SETS; set++)
        operator_reference(o, (const void *const *)b->content[set], b->content[set][output]);
    b->result = mem_alloc(output_bytes(b) + GUARD);
}

static void bench_close(struct bench *b)
{
    for (int i = 0; i < b->layout.count; i++) {
        gpu_buffer_destroy(gpu, b->buffer[i]);
        free(b->content[0][i]);
        free(b->content[1][i]);
    }
    free(b->result);
}

static void load(struct bench *b, int set, const char *what)
{
    struct err e;
    for (int i = 0; i < b->layout.count; i++) {
        must(gpu_fill(gpu, b->buffer[i], UINT32_MAX, &e) == GPU_OK, &e, what);
        if (i < b->layout.count - 1)
            must(gpu_write(gpu, b->buffer[i], 0, b->content[set][i], b->layout.buffer[i].bytes,
                           &e) == GPU_OK,
                 &e, what);
    }
}

static void verify(struct bench *b, int set, const char *what)
{
    struct err e;
    char reason[200];
    int output = b->layout.count - 1;
    uint64_t bytes = output_bytes(b);
    must(gpu_read(gpu, b->buffer[output], 0, b->result, bytes + GUARD, &e) == GPU_OK, &e, what);
    if (!operator_compare(b->operation, (enum input_set)set, b->result, b->content[set][output],
                          NULL, reason, sizeof reason))
        fail_msg("%s, inputs %d: %s", what, set, reason);
    for (int i = 0; i < GUARD; i++)
        if (b->result[bytes + (uint64_t)i] != 0xff)
            fail_msg("%s: writes past the end of the output", what);
}

static void check_declared(const struct spirv *s, const struct resources *needs,
                           const uint32_t groups[3], const char *what)
{
    struct err e;
    struct kernel_facts facts;
    must(kernel_inspect(s, &facts, &e), &e, what);
    if (facts.shared_bytes != needs->shared_bytes)
        fail_msg("%s: declares %llu shared bytes, has %llu", what,
                 (unsigned long long)needs->shared_bytes, (unsigned long long)facts.shared_bytes);
    if (facts.has_loops && needs->loop_trips == 0)
        fail_msg("%s: declares no loop, has some", what);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(facts.local_size[i], needs->group_size[i]);
        assert_int_equal(groups[i], needs->groups[i]);
    }
}

static void run(struct bench *b, const struct job *job, const struct resources *needs,
                const char *what)
{
    struct err e;
    struct spirv spirv;
    struct gpu_pass pass = {0};
    assert_int_equal(job->pass_count, 1);
    if (!kernel_compile_pass(&job->pass[0], &spirv, &e))
        fail_msg("%s: %s\n%s", what, e.text, job->pass[0].glsl);
    check_declared(&spirv, needs, job->pass[0].groups, what);
    must(gpu_pipeline_create(gpu, spirv.word, spirv.count, b->layout.count, false, &pass.pipeline,
                             &e) == GPU_OK,
         &e, what);
    memcpy(pass.groups, job->pass[0].groups, sizeof pass.groups);
    for (int set = 0; set < SETS; set++) {
        load(b, set, what);
        must(gpu_run(gpu, &pass, 1, 1, b->buffer, b->layout.count, TIMEOUT_S, NULL, &e) == GPU_OK,
             &e, what);
        verify(b, set, what);
    }
    gpu_pipeline_destroy(gpu, pass.pipeline);
    spirv_finish(&spirv);
}

static struct script *load_preset(const char *preset, const struct setting *set, int set_count)
{
    struct err e;
    char *path = script_find(preset, &e);
    must(path, &e, preset);
    struct script_options o = {.path = path,
                               .set = set,
                               .set_count = set_count,
                               .device_type = device_type,
                               .limits = &limits};
    struct script *s = script_create(&o, &e);
    must(s, &e, preset);
    free(path);
    return s;
}

static void sample(struct script *s, struct rng *r, struct config *c, struct resources *needs,
                   const char *what)
{
    const struct space *space = script_space(s);
    struct verdict verdict = {0};
    struct err e;
    for (int i = 0; i < DRAWS && !verdict.legal; i++) {
        space_sample(space, r, c);
        must(space_judge(space, &limits, c, &verdict, &e), &e, what);
    }
    if (!verdict.legal)
        fail_msg("%s: no legal point", what);
    must(space->resources(space->resources_context, c, needs, &e), &e, what);
}

void preset_check(const char *preset, const struct setting *set, int set_count, int points,
                  struct rng *r)
{
    struct script *s = load_preset(preset, set, set_count);
    struct bench b;
    bench_open(&b, script_operation(s));
    for (int i = 0; i < points; i++) {
        struct config c;
        struct resources needs;
        struct job job;
        struct err e;
        struct str what = {0};
        operation_add_text(script_operation(s), &what);
        sample(s, r, &c, &needs, str_text(&what));
        str_add_char(&what, ' ');
        config_add_json(script_space(s), &c, &what);
        must(script_render(s, &c, &job, &e), &e, str_text(&what));
        run(&b, &job, &needs, str_text(&what));
        job_finish(&job);
        str_finish(&what);
    }
    bench_close(&b);
    script_destroy(s);
}
