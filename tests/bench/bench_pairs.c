// Are verdicts right? Kernels race with themselves and with one that does a tenth more work, in
// pairs, in the worker as sessions do it (trial/paired.h), on the CPU device.
//
//     ./dev bench pairs [--races N] [--load K]
//
// A kernel that races with itself is never faster: what is told as faster than 1.05 times is an
// error of the verdict. `--load K`: beside K busy loops; without it on the machine as it is.
// Then the same without a device, where the noise is known: times of a heavy-tailed distribution.
#include "base/mem.h"
#include "base/rng.h"
#include "bench.h"
#include "gpu/gpu.h"
#include "trial/operator.h"
#include "trial/source.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIZE = 64, WORK = 3000, MOST_LOOPS = 64 };
#define LEAST_TOLD 1.05

// A product whose invocations do `work` steps more that no compiler can leave out.
static const char product[] = "#version 450\n"
                              "layout(local_size_x = 8, local_size_y = 8) in;\n"
                              "layout(std430, binding = 0) buffer A { float a[]; };\n"
                              "layout(std430, binding = 1) buffer B { float b[]; };\n"
                              "layout(std430, binding = 2) buffer C { float c[]; };\n"
                              "void main() {\n"
                              "uint i = gl_GlobalInvocationID.y, j = gl_GlobalInvocationID.x;\n"
                              "float sum = 0;\n"
                              "for (uint k = 0; k < %d; k++)\n"
                              "    sum += a[i * %d + k] * b[k * %d + j];\n"
                              "uint state = i + j;\n"
                              "for (uint k = 0; k < %d; k++)\n"
                              "    state = state * 1664525u + 1013904223u;\n"
                              "if (state == 7u && sum == 0.123) sum = 1;\n"
                              "c[i * %d + j] = sum;\n"
                              "}\n";

struct bench {
    struct source *pool;
    struct operation operation;
    int races, load;
    pid_t loop[MOST_LOOPS];
};

static struct job job_of(int work)
{
    struct job j = {0};
    char *glsl = mem_printf(product, SIZE, SIZE, SIZE, work, SIZE);
    int lines = 0;
    for (const char *p = glsl; *p; p++)
        lines += *p == '\n';
    *job_add_pass(&j) = (struct pass){.glsl = glsl,
                                      .template_name = mem_strdup("product"),
                                      .line_map = mem_zero((size_t)lines, sizeof(int)),
                                      .line_count = lines,
                                      .groups = {SIZE / 8, SIZE / 8, 1}};
    return j;
}

static void open_pool(struct bench *b)
{
    struct err e;
    struct gpu_info *list;
    int count, at = 0;
    static const char *const sizes[] = {"N", "M", "K"};
    if (!gpu_list(&list, &count, &e))
        bench_fail("devices", &e);
    while (at < count && !list[at].is_cpu)
        at++;
    if (at == count)
        bench_skip("no CPU device (mesa-vulkan-drivers has one)");
    operation_init(&b->operation, operation_kind_find("matmul"));
    for (int i = 0; i < 3; i++)
        operation_set_size(&b->operation, sizes[i], SIZE, NULL);
    if (!operation_complete(&b->operation, &e))
        bench_fail("operation", &e);
    char *program = bench_program();
    const struct pool_options options = {.program = program,
                                         .device = list[at].index,
                                         .workers = 1,
                                         .operation = &b->operation,
                                         .limits = &list[at].limits,
                                         .seed = 1,
                                         .is_cpu = true};
    b->pool = pool_create(&options, &e);
    if (!b->pool)
        bench_fail("pool", &e);
    printf("%d races of each, %d busy loops beside, %s, LP_NUM_THREADS=1\n", b->races, b->load,
           list[at].name);
    free(program);
    free(list);
}

static struct paired race(struct bench *b, int ticket, int work, int other)
{
    struct err e;
    struct trial_result r;
    struct trial_request q = {.ticket = ticket,
                              .count = 2,
                              .race = true,
                              .pairs = true,
                              .known_good = true,
                              .accesses = ACCESSES_OF_NONE,
                              .job = {job_of(work), job_of(other)}};
    source_submit(b->pool, &q);
    if (!source_wait(b->pool, &r, &e))
        bench_fail("race", &e);
    for (int i = 0; i < 2; i++)
        if (r.outcome[i] != OUTCOME_OK) {
            err_set(&e, "%s", r.reason[i]);
            bench_fail(outcome_name(r.outcome[i]), &e);
        }
    return paired_ratio(r.samples[0].seconds, r.samples[1].seconds, r.samples[1].count);
}

struct tally {
    int faster, told, slower; // `told`: as more than LEAST_TOLD times as fast
    double pairs, ratio;      // sums
};

static void count(struct tally *t, const struct paired *p)
{
    enum paired_verdict v = paired_verdict(p);
    t->faster += v == PAIRED_FASTER;
    t->told += v == PAIRED_FASTER && p->ratio > LEAST_TOLD;
    t->slower += v == PAIRED_SLOWER;
    t->pairs += p->pairs;
    t->ratio += log(p->ratio);
}

static void print(const struct tally *t, const char *what, int races)
{
    printf("  %-34s faster %3d (%3d by more than %.2f), slower %3d, mean ratio %.3f, %4.1f pairs\n",
           what, t->faster, t->told, LEAST_TOLD, t->slower, exp(t->ratio / races),
           t->pairs / races);
}

// A time of a machine that others use: 1 % of jitter, and one run in five is held up for up to
// three times as long, with a tail that has no variance.
static double noisy(struct rng *r, double seconds)
{
    double time = seconds * (1 + 0.01 * rng_real(r));
    return rng_real(r) < 0.2 ? time * (1 + pow(1 - rng_real(r), -1 / 1.5)) : time;
}

static struct paired race_noise(struct rng *r, double ratio)
{
    double a[PAIRED_MOST], b[PAIRED_MOST];
    struct paired p = {.ratio = NAN};
    for (int n = 1; n <= PAIRED_MOST; n++) {
        a[n - 1] = noisy(r, 1e-3);
        b[n - 1] = noisy(r, ratio * 1e-3);
        p = paired_ratio(a, b, n);
        if (paired_is_look(n) && paired_verdict(&p) != PAIRED_LEVEL)
            break;
    }
    return p;
}

static void begin_load(struct bench *b)
{
    for (int i = 0; i < b->load; i++) {
        b->loop[i] = fork();
        if (b->loop[i] == 0) {
            while (getppid() != 1)
                for (volatile int k = 0; k < 10000000; k++)
                    ;
            _exit(0);
        }
    }
}

static void end_load(struct bench *b)
{
    for (int i = 0; i < b->load; i++)
        kill(b->loop[i], SIGKILL);
}

int main(int argc, char **argv)
{
    static struct bench b = {.races = 100};
    const struct bench_option options[] = {{"races", &b.races, 100000},
                                           {"load", &b.load, MOST_LOOPS}};
    struct tally same = {0}, tenth = {0}, noise_same = {0}, noise_tenth = {0};
    struct rng r;
    bench_options(argc, argv, options, 2);
    setenv("LP_NUM_THREADS", "1", 1);
    gpu_prepare_environment();
    open_pool(&b);
    rng_seed(&r, 1);
    race(&b, 1, WORK, WORK); // the first one starts the worker
    begin_load(&b);
    for (int i = 0; i < b.races; i++) {
        struct paired p = race(&b, 2 * i + 2, WORK, WORK);
        count(&same, &p);
        p = race(&b, 2 * i + 3, WORK, WORK + WORK / 10);
        count(&tenth, &p);
        p = race_noise(&r, 1);
        count(&noise_same, &p);
        p = race_noise(&r, 1.1);
        count(&noise_tenth, &p);
    }
    end_load(&b);
    source_destroy(b.pool);
    print(&same, "with itself", b.races);
    print(&tenth, "with 1.10 times the work", b.races);
    print(&noise_same, "synthetic, heavy tails: itself", b.races);
    print(&noise_tenth, "synthetic, heavy tails: 1.10", b.races);
    bench_figure("told as better than 1.05 times itself", same.told + noise_same.told, "", UNDER,
                 1);
    if (!b.load)
        bench_figure("of 1.10 times the work, found", 100.0 * tenth.faster / b.races, "%", AT_LEAST,
                     80);
    return EXIT_SUCCESS;
}
