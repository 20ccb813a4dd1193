#include "race.h"

#include "base/mem.h"
#include "bench.h"
#include "gpu/gpu.h"
#include "kernel/kernel.h"
#include "trial/operator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RUN_SECONDS 60.0 // the first run of a kernel on lavapipe compiles it

struct contender {
    char name[64];
    struct gpu_pass pass[RACE_MOST_PASSES];
    int passes, packing; // the first of them pack, once
    double best_s;
};

struct race {
    struct gpu *gpu;
    struct operation operation;
    struct operator_layout layout;
    int output;                                          // the last buffer of the operation
    struct gpu_buffer *buffer[OPERATOR_MAX_BUFFERS + 1]; // scratch comes behind
    uint64_t scratch_bytes;
    void *wanted, *got;
    struct contender contender[RACE_MOST];
    int count;
};

static int buffers(const struct race *r)
{
    return r->layout.count + 1;
}

static void make_scratch(struct race *r, uint64_t bytes)
{
    struct err e;
    struct gpu_buffer **scratch = &r->buffer[r->layout.count];
    if (bytes <= r->scratch_bytes)
        return;
    gpu_buffer_destroy(r->gpu, *scratch);
    if (gpu_buffer_create(r->gpu, bytes, scratch, &e) != GPU_OK)
        bench_fail("scratch", &e);
    r->scratch_bytes = bytes;
}

static void fill_inputs(struct race *r)
{
    struct err e;
    void *input[OPERATOR_MAX_BUFFERS];
    for (int i = 0; i < r->output; i++) {
        uint64_t bytes = r->layout.buffer[i].bytes;
        input[i] = mem_alloc(bytes);
        operator_fill(&r->operation, INPUT_EXACT, 1, i, input[i]);
        if (gpu_write(r->gpu, r->buffer[i], 0, input[i], bytes, &e) != GPU_OK)
            bench_fail("inputs", &e);
    }
    operator_reference(&r->operation, (const void *const *)input, r->wanted);
    for (int i = 0; i < r->output; i++)
        free(input[i]);
}

struct race *race_create(int device, const struct operation *o)
{
    struct err e;
    struct race *r = mem_zero(1, sizeof *r);
    kernel_setup();
    r->gpu = gpu_open(device, false, &e);
    if (!r->gpu)
        bench_fail("device", &e);
    r->operation = *o;
    r->layout = operator_layout(o);
    r->output = r->layout.count - 1;
    for (int i = 0; i < r->layout.count; i++)
        if (gpu_buffer_create(r->gpu, r->layout.buffer[i].bytes, &r->buffer[i], &e) != GPU_OK)
            bench_fail("buffer", &e);
    make_scratch(r, 4);
    r->wanted = mem_alloc(r->layout.buffer[r->output].bytes);
    r->got = mem_alloc(r->layout.buffer[r->output].bytes);
    fill_inputs(r);
    return r;
}

void race_destroy(struct race *r)
{
    for (int i = 0; i < r->count; i++)
        for (int k = 0; k < r->contender[i].passes; k++)
            gpu_pipeline_destroy(r->gpu, r->contender[i].pass[k].pipeline);
    for (int i = 0; i < buffers(r); i++)
        gpu_buffer_destroy(r->gpu, r->buffer[i]);
    gpu_close(r->gpu);
    free(r->wanted);
    free(r->got);
    free(r);
}

static void load_pass(struct race *r, const char *name, const struct race_pass *from,
                      struct gpu_pass *to)
{
    struct err e;
    struct spirv spirv;
    struct kernel_facts facts;
    if (!kernel_compile(from->glsl, &spirv, &e) || !kernel_inspect(&spirv, &facts, &e))
        bench_fail(name, &e);
    const struct gpu_shader shader = {.word = spirv.word,
                                      .word_count = spirv.count,
                                      .bindings = buffers(r),
                                      .subgroup = facts.matrix != MATRIX_NONE};
    if (gpu_pipeline_create(r->gpu, &shader, &to->pipeline, &e) != GPU_OK)
        bench_fail(name, &e);
    memcpy(to->groups, from->groups, sizeof to->groups);
    spirv_finish(&spirv);
}

static struct gpu_sequence sequence_of(const struct race *r, const struct contender *c, int first,
                                       int end)
{
    return (struct gpu_sequence){c->pass + first, end - first, r->buffer, buffers(r)};
}

static void check_result(struct race *r, const struct contender *c)
{
    const struct gpu_sequence all = sequence_of(r, c, 0, c->passes);
    struct err e;
    char reason[200];
    struct gpu_buffer *output = r->buffer[r->output];
    uint64_t bytes = r->layout.buffer[r->output].bytes;
    if (gpu_fill(r->gpu, output, UINT32_MAX, &e) != GPU_OK ||
        gpu_run(r->gpu, &all, 1, RUN_SECONDS, NULL, &e) != GPU_OK ||
        gpu_read(r->gpu, output, 0, r->got, bytes, &e) != GPU_OK)
        bench_fail(c->name, &e);
    if (!operator_compare(&r->operation, INPUT_EXACT, r->got, r->wanted, reason, sizeof reason)
             .right) {
        err_set(&e, "%s", reason);
        bench_fail(c->name, &e);
    }
}

void race_add(struct race *r, const char *name, const struct race_pass *pass, int passes,
              uint64_t scratch_bytes)
{
    if (r->count == RACE_MOST || passes < 1 || passes > RACE_MOST_PASSES)
        bench_fail("too many kernels or passes for a race", NULL);
    struct contender *c = &r->contender[r->count++];
    snprintf(c->name, sizeof c->name, "%s", name);
    c->best_s = INFINITY;
    make_scratch(r, scratch_bytes);
    for (; c->passes < passes; c->passes++) {
        load_pass(r, name, &pass[c->passes], &c->pass[c->passes]);
        c->packing += pass[c->passes].once;
    }
    check_result(r, c);
}

static void time_once(struct race *r, struct contender *c)
{
    struct err e;
    struct gpu_samples samples;
    const struct gpu_info *info = gpu_get_info(r->gpu);
    const struct gpu_timing timing = gpu_timing_default(info);
    const struct gpu_sequence packing = sequence_of(r, c, 0, c->packing),
                              timed = sequence_of(r, c, c->packing, c->passes);
    if ((c->packing && gpu_run(r->gpu, &packing, 1, RUN_SECONDS, NULL, &e) != GPU_OK) ||
        gpu_time(r->gpu, &timed, &timing, 0, &samples, &e) != GPU_OK)
        bench_fail(c->name, &e);
    c->best_s = fmin(c->best_s, gpu_robust_seconds(info, samples.seconds, samples.count));
}

void race_run(struct race *r, int rounds)
{
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < r->count; i++)
            time_once(r, &r->contender[i]);
}

int race_count(const struct race *r)
{
    return r->count;
}

const char *race_name(const struct race *r, int i)
{
    return r->contender[i].name;
}

double race_seconds(const struct race *r, int i)
{
    return r->contender[i].best_s;
}
