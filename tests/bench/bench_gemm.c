// bench gemm: how good are the kernels that tilewalk finds on this machine's CPU device, and how
// fast does it find them?
//
// Tunes the preset `gemm` (fp32, 256^3) with seeds 1..3 and 200 trials, then times the three
// winners, the hand-written kernels of tests/bench/kernels and the naive one in turns, in one
// process: ratios from one run, whatever the neighbours do.
#include "base/file.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/str.h"
#include "gpu/gpu.h"
#include "kernel/kernel.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE   256
#define FLOP   (2.0 * SIZE * SIZE * SIZE)
#define SEEDS  3
#define TRIALS 200
#define ROUNDS 7

static const char *const hand_written[] = {"register_8x8", "register_16x8", "vec4_8x8", "naive"};
enum { HAND_WRITTEN = 4, NAIVE = SEEDS + 3, CONTENDERS = SEEDS + HAND_WRITTEN };

struct contender {
    char name[64];
    struct gpu_pass pass[4];
    int passes, buffers;
    double best_s;
};

struct run {
    double trials_per_minute, engine_share;
    long long trials, rejected;
};

static _Noreturn void give_up(const char *what, const struct err *e)
{
    char text[1400];
    fprintf(stderr, "bench gemm: %s: %s\n", what, e ? err_format(e, text, sizeof text) : "");
    exit(1);
}

static double number(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

// --- tuning
// -----------------------------------------------------------------------------------------------------------

static void take_line(const char *line, struct run *r)
{
    cJSON *event = cJSON_Parse(line);
    const cJSON *kind = cJSON_GetObjectItemCaseSensitive(event, "event");
    if (cJSON_IsString(kind) && str_equal(kind->valuestring, "end")) {
        double ran = number(event, "ran_seconds"), busy = number(event, "busy_seconds");
        r->trials = (long long)number(event, "trials");
        r->rejected = (long long)number(event, "rejected");
        r->trials_per_minute = 60 * (double)r->trials / ran;
        r->engine_share = 1 - busy / ran;
    }
    cJSON_Delete(event);
}

static struct run tune(const char *program, const char *folder, int seed)
{
    struct run r = {0};
    char line[65536];
    char *command = mem_printf(
        "'%s' tune gemm --json --trials %d --seed %d --db '%s/bench.db' --export '%s/%d'", program,
        TRIALS, seed, folder, folder, seed);
    FILE *out = popen(command, "r");
    while (out && fgets(line, sizeof line, out))
        take_line(line, &r);
    if (!out || pclose(out) != 0)
        give_up(command, NULL);
    free(command);
    return r;
}

// --- contenders
// -------------------------------------------------------------------------------------------------------

static void add_pass(struct gpu *g, struct contender *c, const char *path, const uint32_t groups[3])
{
    struct err e;
    struct spirv spirv;
    struct kernel_facts facts;
    char *glsl;
    struct gpu_pass *pass = &c->pass[c->passes++];
    if (!file_read(path, &glsl, NULL, &e) || !kernel_compile(glsl, &spirv, &e) ||
        !kernel_inspect(&spirv, &facts, &e))
        give_up(path, &e);
    memcpy(pass->groups, groups, sizeof pass->groups);
    c->buffers = (int)facts.bindings > c->buffers ? (int)facts.bindings : c->buffers;
    if (gpu_pipeline_create(g, spirv.word, spirv.count, 4, &pass->pipeline, &e) != GPU_OK)
        give_up(path, &e);
    spirv_finish(&spirv);
    free(glsl);
}

static void add_hand_written(struct gpu *g, struct contender *c, const char *name)
{
    struct err e;
    char *path = mem_printf("%s/kernels/%s.comp", TILEWALK_BENCH, name), *glsl;
    unsigned groups[3];
    snprintf(c->name, sizeof c->name, "%s", name);
    if (!file_read(path, &glsl, NULL, &e))
        give_up(path, &e);
    const char *at = strstr(glsl, "groups:");
    if (!at || sscanf(at, "groups: %u %u", &groups[0], &groups[1]) != 2)
        give_up("no '// groups: X Y Z' line", NULL);
    add_pass(g, c, path, (uint32_t[3]){groups[0], groups[1], 1});
    free(glsl);
    free(path);
}

static void add_export(struct gpu *g, struct contender *c, const char *folder, int seed)
{
    struct err e;
    char *json, *record = mem_printf("%s/%d/best.json", folder, seed);
    snprintf(c->name, sizeof c->name, "tilewalk, seed %d", seed);
    if (!file_read(record, &json, NULL, &e))
        give_up(record, &e);
    cJSON *root = cJSON_Parse(json), *pass;
    cJSON_ArrayForEach(pass, cJSON_GetObjectItem(root, "passes"))
    {
        uint32_t groups[3];
        for (int i = 0; i < 3; i++)
            groups[i] =
                (uint32_t)cJSON_GetArrayItem(cJSON_GetObjectItem(pass, "groups"), i)->valuedouble;
        char *path =
            mem_printf("%s/%d/%s", folder, seed, cJSON_GetObjectItem(pass, "glsl")->valuestring);
        add_pass(g, c, path, groups);
        free(path);
    }
    cJSON_Delete(root);
    free(json);
    free(record);
}

// --- the race
// ---------------------------------------------------------------------------------------------------------

static void race(struct gpu *g, struct contender *list, int count)
{
    struct err e;
    struct gpu_buffer *buffer[4];
    for (int i = 0; i < 4; i++) {
        buffer[i] = gpu_buffer_create(g, 8ull * SIZE * SIZE * sizeof(float), &e);
        if (!buffer[i] || gpu_fill(g, buffer[i], 0x3f400000, &e) != GPU_OK)
            give_up("buffer", &e);
    }
    struct gpu_timing timing = gpu_timing_default(gpu_get_info(g));
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < count; i++) {
            struct gpu_samples samples;
            if (gpu_time(g, list[i].pass, list[i].passes, buffer, 4, &timing, 0, &samples, &e) !=
                GPU_OK)
                give_up(list[i].name, &e);
            double s = gpu_robust_seconds(gpu_get_info(g), samples.seconds, samples.count);
            list[i].best_s = list[i].best_s > 0 ? fmin(s, list[i].best_s) : s;
        }
}

static int compare_reals(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median3(const double *values)
{
    double sorted[SEEDS];
    memcpy(sorted, values, sizeof sorted);
    qsort(sorted, SEEDS, sizeof *sorted, compare_reals);
    return sorted[SEEDS / 2];
}

static void report(const struct contender *list, const struct run *runs, const char *device)
{
    double ratio[SEEDS], naive[SEEDS], rate[SEEDS], share[SEEDS], best_hand = INFINITY;
    for (int i = SEEDS; i < NAIVE; i++)
        best_hand = fmin(best_hand, list[i].best_s);
    printf("gemm 256^3 fp32 on %s, LP_NUM_THREADS=%s, %d trials a seed\n", device,
           getenv("LP_NUM_THREADS"), TRIALS);
    for (int i = 0; i < CONTENDERS; i++)
        printf("  %-20s %7.2f GFLOPS\n", list[i].name, FLOP / list[i].best_s / 1e9);
    for (int i = 0; i < SEEDS; i++) {
        ratio[i] = best_hand / list[i].best_s;
        naive[i] = list[NAIVE].best_s / list[i].best_s;
        rate[i] = runs[i].trials_per_minute;
        share[i] = 100 * runs[i].engine_share;
        printf("  seed %d: %lld trials, %lld rejected, %.0f trials a minute, engine %.2f %% of the "
               "wall clock\n",
               i + 1, runs[i].trials, runs[i].rejected, rate[i], share[i]);
    }
    printf("best / best hand-written, median: %.3f   (target at least 0.95)\n", median3(ratio));
    printf("best / naive, median:             %.1f   (target at least 8)\n", median3(naive));
    printf("trials a minute, median:          %.0f   (target at least 60)\n", median3(rate));
    printf("engine's own share, median:       %.2f %%  (target under 2 %%)\n", median3(share));
}

static int find_cpu(const struct gpu_info *list, int count)
{
    for (int i = 0; i < count; i++)
        if (list[i].is_cpu)
            return i;
    return -1;
}

int main(int argc, char **argv)
{
    struct err e;
    struct gpu_info *list;
    struct contender contenders[CONTENDERS] = {0};
    struct run runs[SEEDS];
    int count;
    char folder[] = "/tmp/tilewalk-bench-XXXXXX";
    if (argc != 2 || !mkdtemp(folder))
        give_up("usage: bench_gemm PROGRAM", NULL);
    setenv("LP_NUM_THREADS", "1", 1);
    gpu_prepare_environment();
    kernel_setup();
    if (!gpu_list(&list, &count, &e))
        give_up("devices", &e);
    int index = find_cpu(list, count);
    if (index < 0)
        give_up("no CPU device (install mesa-vulkan-drivers)", NULL);
    for (int i = 0; i < SEEDS; i++)
        runs[i] = tune(argv[1], folder, i + 1);
    struct gpu *g = gpu_open(index, false, &e);
    if (!g)
        give_up("device", &e);
    for (int i = 0; i < SEEDS; i++)
        add_export(g, &contenders[i], folder, i + 1);
    for (int i = 0; i < HAND_WRITTEN; i++)
        add_hand_written(g, &contenders[SEEDS + i], hand_written[i]);
    race(g, contenders, CONTENDERS);
    report(contenders, runs, list[index].name);
    return 0;
}
