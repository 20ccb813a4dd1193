#include "race.h"

#include "base/file.h"
#include "base/mem.h"
#include "bench.h"
#include "gpu/gpu.h"
#include "kernel/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = RACE_SIZE * RACE_SIZE, MOST_PARTS = 8, BUFFERS = 4 }; // parts: of a split K
enum { A, B, C, SCRATCH };
#define RUN_SECONDS 60.0 // the first run of a kernel on lavapipe compiles it

struct contender {
    char name[64];
    struct gpu_pass pass[RACE_MOST_PASSES];
    int passes;
    double best_s;
};

struct race {
    struct gpu *gpu;
    struct gpu_buffer *buffer[BUFFERS];
    float *wanted, *got; // C
    struct contender contender[RACE_MOST];
    int count;
};

// Small integers: every sum is exact, in whatever order it is taken.
static float element(int matrix, int i)
{
    return (float)((i * (matrix + 3) + i / RACE_SIZE) % 13 - 6);
}

static void fill_inputs(struct race *r)
{
    struct err e;
    float *values[2];
    for (int m = A; m <= B; m++) {
        values[m] = mem_alloc(ELEMENTS * sizeof(float));
        for (int i = 0; i < ELEMENTS; i++)
            values[m][i] = element(m, i);
        if (gpu_write(r->gpu, r->buffer[m], 0, values[m], ELEMENTS * sizeof(float), &e) != GPU_OK)
            bench_fail("inputs", &e);
    }
    for (int row = 0; row < RACE_SIZE; row++)
        for (int k = 0; k < RACE_SIZE; k++)
            for (int column = 0; column < RACE_SIZE; column++)
                r->wanted[row * RACE_SIZE + column] +=
                    values[A][row * RACE_SIZE + k] * values[B][k * RACE_SIZE + column];
    free(values[A]);
    free(values[B]);
}

struct race *race_create(int device)
{
    struct err e;
    struct race *r = mem_zero(1, sizeof *r);
    kernel_setup();
    r->gpu = gpu_open(device, false, &e);
    if (!r->gpu)
        bench_fail("device", &e);
    r->wanted = mem_zero(ELEMENTS, sizeof(float));
    r->got = mem_zero(ELEMENTS, sizeof(float));
    for (int i = 0; i < BUFFERS; i++) {
        uint64_t bytes = (i == SCRATCH ? MOST_PARTS : 1) * ELEMENTS * sizeof(float);
        r->buffer[i] = gpu_buffer_create(r->gpu, bytes, &e);
        if (!r->buffer[i])
            bench_fail("buffer", &e);
    }
    fill_inputs(r);
    return r;
}

void race_destroy(struct race *r)
{
    for (int i = 0; i < r->count; i++)
        for (int k = 0; k < r->contender[i].passes; k++)
            gpu_pipeline_destroy(r->gpu, r->contender[i].pass[k].pipeline);
    for (int i = 0; i < BUFFERS; i++)
        gpu_buffer_destroy(r->gpu, r->buffer[i]);
    gpu_close(r->gpu);
    free(r->wanted);
    free(r->got);
    free(r);
}

static void load_pass(struct race *r, const struct race_pass *from, struct gpu_pass *to)
{
    struct err e;
    struct spirv spirv;
    char *glsl;
    if (!file_read(from->glsl_path, &glsl, NULL, &e) || !kernel_compile(glsl, &spirv, &e) ||
        gpu_pipeline_create(r->gpu, spirv.word, spirv.count, BUFFERS, false, &to->pipeline, &e) !=
            GPU_OK)
        bench_fail(from->glsl_path, &e);
    memcpy(to->groups, from->groups, sizeof to->groups);
    spirv_finish(&spirv);
    free(glsl);
}

static void check_product(struct race *r, const struct contender *c)
{
    struct err e;
    const uint32_t poison = 0x7fc00000; // not a number
    if (gpu_fill(r->gpu, r->buffer[C], poison, &e) != GPU_OK ||
        gpu_run(r->gpu, c->pass, c->passes, 1, r->buffer, BUFFERS, RUN_SECONDS, NULL, &e) !=
            GPU_OK ||
        gpu_read(r->gpu, r->buffer[C], 0, r->got, ELEMENTS * sizeof(float), &e) != GPU_OK)
        bench_fail(c->name, &e);
    for (int i = 0; i < ELEMENTS; i++)
        if (r->got[i] != r->wanted[i]) {
            err_set(&e, "C[%d][%d] is %g instead of %g", i / RACE_SIZE, i % RACE_SIZE,
                    (double)r->got[i], (double)r->wanted[i]);
            bench_fail(c->name, &e);
        }
}

void race_add(struct race *r, const char *name, const struct race_pass *pass, int passes)
{
    if (r->count == RACE_MOST || passes < 1 || passes > RACE_MOST_PASSES)
        bench_fail("too many kernels or passes for a race", NULL);
    struct contender *c = &r->contender[r->count++];
    snprintf(c->name, sizeof c->name, "%s", name);
    c->best_s = INFINITY;
    for (; c->passes < passes; c->passes++)
        load_pass(r, &pass[c->passes], &c->pass[c->passes]);
    check_product(r, c);
}

void race_run(struct race *r, int rounds)
{
    struct err e;
    struct gpu_samples samples;
    const struct gpu_info *info = gpu_get_info(r->gpu);
    const struct gpu_timing timing = gpu_timing_default(info);
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < r->count; i++) {
            struct contender *c = &r->contender[i];
            if (gpu_time(r->gpu, c->pass, c->passes, r->buffer, BUFFERS, &timing, 0, &samples,
                         &e) != GPU_OK)
                bench_fail(c->name, &e);
            c->best_s = fmin(c->best_s, gpu_robust_seconds(info, samples.seconds, samples.count));
        }
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
