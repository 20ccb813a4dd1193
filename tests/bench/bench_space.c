// bench space: how many random points of `mm1` and `gemm` does each device here reject, and why?
//
// A reason's share is that of the points which it alone would remove: one point may have several
// reasons. There is no target; the figures say how cheap proposing has to be. And how long it takes
// to evaluate a declared loop nest and to make the rows of a model from it, which a plan of a
// learned strategy does 64 000 times: in half a second at most.
#include "base/mem.h"
#include "bench.h"
#include "model/features.h"
#include "script/script.h"

#include <stdlib.h>
#include <time.h>

static void print_reasons(const cJSON *answer, const char *kind, const char *title)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(answer, kind))
    {
        double share = 100 * bench_number(item, "removes");
        if (share > 0)
            printf("  %-10s  %-32s %6.2f %%\n", title, bench_text(item, "name"), share);
    }
}

static void judge(const char *preset, const cJSON *device, int samples)
{
    char *index = mem_printf("%.0f", bench_number(device, "index"));
    char *count = mem_printf("%d", samples);
    cJSON *answer = bench_json((const char *const[]){"check", preset, "--json", "--device", index,
                                                     "--samples", count, NULL});
    printf("%s on %s: %.2f %% rejected of %.0f %s points of %s\n", preset,
           bench_text(device, "name"), 100 * (1 - bench_number(answer, "valid_fraction")),
           bench_number(answer, "samples"),
           cJSON_IsTrue(cJSON_GetObjectItem(answer, "exact")) ? "different" : "random",
           bench_text(answer, "size"));
    print_reasons(answer, "constraints", "constraint");
    print_reasons(answer, "limits", "limit");
    cJSON_Delete(answer);
    free(count);
    free(index);
}

enum { EVALUATIONS = 20000, POINTS = 64 };

static double us_each(clock_t before)
{
    return 1e6 * (double)(clock() - before) / CLOCKS_PER_SEC / EVALUATIONS;
}

static void time_rows(const struct space *s, const struct config *c)
{
    static const char *const what[] = {"knob features", "itervar features", "curve features",
                                       "statement features", "tree features"};
    const double most_us = 0.5e6 / 64000;
    for (int kind = FEATURES_KNOB; kind <= FEATURES_TREE; kind++) {
        struct features *f = features_create(s, (enum feature_kind)kind, NULL);
        int width = features_width(f);
        float *row = mem_zero((size_t)(width * features_most_rows(f)), sizeof *row);
        clock_t before = clock();
        for (int i = 0; i < EVALUATIONS; i++)
            features_fill(f, &c[i % POINTS], row);
        double us = us_each(before);
        char *title = mem_printf("  %s, %d columns", what[kind], width);
        bench_figure(title, us, "us", UNDER, most_us);
        free(title);
        free(row);
        features_destroy(f);
    }
}

static void evaluate(const char *preset)
{
    enum { MOST_US = 10 };
    struct err e;
    char *path = script_find(preset, &e);
    struct script *s =
        path ? script_create(&(struct script_options){.path = path, .device_type = "cpu"}, &e)
             : NULL;
    if (!s)
        bench_fail(preset, &e);
    const struct nest *n = script_space(s)->nest;
    struct nest_point p;
    struct config c[POINTS];
    struct rng r;
    rng_seed(&r, 1);
    for (int i = 0; i < POINTS; i++)
        space_sample(script_space(s), &r, &c[i]);
    nest_point_init(&p, n);
    clock_t before = clock();
    for (int i = 0; i < EVALUATIONS; i++)
        nest_evaluate(n, script_space(s), &c[i % POINTS], &p);
    double us = us_each(before);
    printf("%s: a nest of %d formulas, %d loops, %d statements\n", preset, n->formulas.count,
           n->loop_count, n->statement_count);
    bench_figure("  its evaluation, CPU time", us, "us", UNDER, MOST_US);
    time_rows(script_space(s), c);
    nest_point_finish(&p);
    script_destroy(s);
    free(path);
}

int main(int argc, char **argv)
{
    static const char *const presets[] = {"mm1", "gemm"};
    int samples = 20000;
    const struct bench_option options[] = {{"samples", &samples, 100000000}};
    bench_options(argc, argv, options, 1);
    for (int i = 0; i < 2; i++)
        evaluate(presets[i]);
    evaluate("conv-direct");
    cJSON *answer = bench_json((const char *const[]){"devices", "--json", NULL}), *device;
    const cJSON *devices = cJSON_GetObjectItem(answer, "devices");
    if (cJSON_GetArraySize(devices) == 0)
        bench_skip("no Vulkan device");
    cJSON_ArrayForEach(device, devices)
    {
        for (int i = 0; i < 2; i++)
            judge(presets[i], device, samples);
    }
    cJSON_Delete(answer);
    return EXIT_SUCCESS;
}
