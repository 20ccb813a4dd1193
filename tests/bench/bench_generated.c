// bench generated: how good are kernels that follow from a definition alone?
//
// Tunes each problem twice, as a preset with a template and as a definition of the same tensors
// (tests/bench/definitions), with the same strategy, trials and seeds; then times the winners of
// both and the naive kernel of the definition in turns, in one process. Then what it costs to write
// a kernel and to judge a configuration.
#include "base/os.h"
#include "base/rng.h"
#include "bench.h"
#include "gpu/gpu.h"
#include "script/script.h"
#include "space/space.h"
#include "tuned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct problem {
    const char *name, *preset, *definition;
    const char *set[TUNED_MOST_SETTINGS]; // of the preset, up to a NULL
    bool has_reuse;
} problems[] = {
    {"matrix product", "gemm", "matmul", {"N=256", "M=256", "K=256"}, true},
    {"batch of products", "gemm", "batch", {"batch=8", "N=128", "M=128", "K=128"}, true},
    {"convolution", "conv-implicit", "convolution", {NULL}, true},
    {"depthwise convolution", "depthwise", "depthwise", {NULL}, false},
};
enum { PROBLEMS = sizeof problems / sizeof *problems, MOST_SEEDS = (RACE_MOST - 1) / 2 };
enum { WRITTEN = 200, JUDGED = 20000, THREADS = 64 };

struct plan {
    int trials, seeds, rounds, problem;
    struct gpu_info *list;
    const struct gpu_info *device;
};

static void find_cpu(struct plan *p)
{
    struct err e;
    int count, i = 0;
    if (!gpu_list(&p->list, &count, &e))
        bench_fail("devices", &e);
    while (i < count && !p->list[i].is_cpu)
        i++;
    if (i == count)
        bench_skip("no CPU device (mesa-vulkan-drivers has one)");
    p->device = &p->list[i];
}

static char *definition_path(const struct problem *o)
{
    return mem_printf("%s/%s.lua", TILEWALK_BENCH_DEFINITIONS, o->definition);
}

static struct script *load(const struct plan *p, const char *path)
{
    struct err e;
    const struct script_options o = {
        .path = path, .device_type = p->device->type, .limits = &p->device->limits};
    struct script *s = script_create(&o, &e);
    if (!s)
        bench_fail(path, &e);
    return s;
}

// One number an invocation, neighbours along the last axis, one loop over each axis of the
// reduction.
static void make_naive(const struct space *s, struct config *c)
{
    int64_t threads = THREADS;
    space_point(s, 0, c);
    for (int i = s->param_count - 1; i >= 0; i--) {
        const struct param *p = &s->param[i];
        int32_t *part = c->slot + p->offset, own = 1;
        if (p->kind != PARAM_FACTORIZATION)
            continue;
        for (int32_t d = 1; d <= threads && p->width == 5; d++)
            own = p->product % d == 0 ? d : own;
        for (int k = 0; k < p->width; k++)
            part[k] = 1;
        part[0] = p->product / own;
        part[p->width / 2] *= own;
        threads /= own;
    }
}

static void add_naive(struct race *r, const struct script *s)
{
    struct config c;
    struct job job;
    struct err e;
    struct race_pass pass = {0};
    make_naive(script_space(s), &c);
    if (!script_render((struct script *)(uintptr_t)s, &c, &job, &e))
        bench_fail("the naive kernel", &e);
    pass.glsl = job.pass[0].glsl;
    memcpy(pass.groups, job.pass[0].groups, sizeof pass.groups);
    race_add(r, "naive", &pass, 1, 0);
    job_finish(&job);
}

// --- how good ---

static struct tuned session(const struct plan *p, const struct problem *o, const char *file,
                            int seed)
{
    struct tuned t = {
        .preset = file, .trials = p->trials, .seed = seed, .device = p->device->index};
    if (strcmp(file, o->preset) == 0)
        memcpy(t.set, o->set, sizeof t.set);
    return t;
}

static double best_of(const struct race *r, int first, int count)
{
    double least = INFINITY;
    for (int i = first; i < first + count; i++)
        least = fmin(least, race_seconds(r, i));
    return least;
}

static struct race *hold_race(const struct plan *p, const struct problem *o, const char *path)
{
    struct script *defined = load(p, path);
    const char *files[] = {o->preset, path};
    struct race *r = race_create(p->device->index, script_operation(defined));
    for (int f = 0; f < 2; f++)
        for (int seed = 1; seed <= p->seeds; seed++) {
            struct tuned t = session(p, o, files[f], seed);
            char name[64];
            snprintf(name, sizeof name, "%s, seed %d", f ? "definition" : o->preset, seed);
            tuned_make(&t);
            tuned_add(r, name, &t);
        }
    add_naive(r, defined);
    race_run(r, p->rounds);
    script_destroy(defined);
    return r;
}

// The best of the definition's kernels over the best of the template's, in speed.
static double compare(const struct plan *p, const struct problem *o)
{
    char *path = definition_path(o);
    struct race *r = hold_race(p, o, path);
    int naive = race_count(r) - 1;
    double template_s = best_of(r, 0, p->seeds), own_s = best_of(r, p->seeds, p->seeds);
    printf("%s\n", o->name);
    for (int i = 0; i < race_count(r); i++)
        printf("  %-24s %10.1f us\n", race_name(r, i), 1e6 * race_seconds(r, i));
    bench_figure("  best of the definition against the template's", template_s / own_s, "",
                 AT_LEAST, 0.7);
    if (o->has_reuse)
        bench_figure("  and against the naive kernel", race_seconds(r, naive) / own_s, "", AT_LEAST,
                     5);
    race_destroy(r);
    free(path);
    return template_s / own_s;
}

// --- what it costs ---

static void report_costs(const struct plan *p)
{
    char *path = definition_path(&problems[2]);
    struct script *s = load(p, path);
    struct config *c = mem_alloc(WRITTEN * sizeof *c);
    struct rng r;
    struct err e;
    struct verdict v;
    int legal = 0, written = 0;
    rng_seed(&r, 1);
    int64_t begin = os_cpu_ns();
    for (int i = 0; i < JUDGED; i++) {
        space_sample(script_space(s), &r, &c[legal % WRITTEN]);
        if (!space_judge(script_space(s), &p->device->limits, &c[legal % WRITTEN], &v, &e))
            bench_fail(path, &e);
        legal += v.legal;
    }
    double judging = (double)(os_cpu_ns() - begin) * 1e-9;
    begin = os_cpu_ns();
    for (; written < WRITTEN && written < legal; written++) {
        struct job job;
        if (!script_render(s, &c[written], &job, &e))
            bench_fail(path, &e);
        job_finish(&job);
    }
    double writing = (double)(os_cpu_ns() - begin) * 1e-9;
    bench_figure("CPU time of writing a kernel", 1e3 * writing / written, "ms", UNDER, 2);
    bench_figure("configurations judged in a CPU second", JUDGED / judging, "", AT_LEAST, 10000);
    free(c);
    script_destroy(s);
    free(path);
}

int main(int argc, char **argv)
{
    struct plan p = {.trials = 200, .seeds = 3, .rounds = 7};
    const struct bench_option options[] = {{"trials", &p.trials, 1000000},
                                           {"seeds", &p.seeds, MOST_SEEDS},
                                           {"rounds", &p.rounds, 1000},
                                           {"problem", &p.problem, PROBLEMS}};
    double product = 1;
    int compared = 0;
    bench_options(argc, argv, options, 4);
    setenv("LP_NUM_THREADS", "1", 1);
    gpu_prepare_environment();
    find_cpu(&p);
    printf("definitions on %s, LP_NUM_THREADS=1, %d trials a seed, %d seeds, %d rounds\n",
           p.device->name, p.trials, p.seeds, p.rounds);
    for (int i = 0; i < PROBLEMS; i++)
        if (p.problem == 0 || p.problem == i + 1) {
            product *= compare(&p, &problems[i]);
            compared++;
        }
    bench_figure("geometric mean against templates", pow(product, 1.0 / compared), "", AT_LEAST,
                 0.9);
    report_costs(&p);
    free(p.list);
    return EXIT_SUCCESS;
}
