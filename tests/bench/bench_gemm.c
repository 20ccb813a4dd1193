// bench gemm: how good are the kernels that tilewalk finds on this machine's CPU device, and how
// fast does it find them?
//
// Tunes the preset `gemm` (fp32, 256^3) with seeds 1..3 and 200 trials, then times the winners, the
// hand-written kernels of tests/bench/kernels and the naive one in turns, in one process: ratios
// from one run, whatever the neighbours do.
#include "base/file.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/str.h"
#include "bench.h"
#include "gpu/gpu.h"
#include "race.h"

#include <dirent.h>
#include <ftw.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FLOP (2.0 * RACE_SIZE * RACE_SIZE * RACE_SIZE)

// The naive one is the last.
static const char *const hand_written[] = {"register_8x8", "register_16x8", "vec4_8x8", "naive"};
enum { HAND_WRITTEN = 4, MOST_SEEDS = RACE_MOST - HAND_WRITTEN };

struct plan {
    int trials, seeds, rounds;
    int device;
    char device_name[256];
    char *folder; // temporary
};

struct run {
    double trials, rejected;
    double wall_s, ran_s, busy_s; // of the process, of its session, of its workers
};

// --- the temporary folder ---

static char *temporary; // removed at exit, however the benchmark ends

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void remove_temporary(void)
{
    nftw(temporary, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    free(temporary);
}

static char *make_temporary(void)
{
    const char *base = getenv("TMPDIR");
    temporary = mem_printf("%s/tilewalk-bench-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(temporary))
        bench_fail(temporary, NULL);
    atexit(remove_temporary);
    return temporary;
}

// --- tuning ---

static void take_line(const char *line, struct run *r)
{
    cJSON *event = cJSON_Parse(line);
    if (str_equal(bench_text(event, "event"), "end")) {
        r->trials = bench_number(event, "trials");
        r->rejected = bench_number(event, "rejected");
        r->ran_s = bench_number(event, "ran_seconds");
        r->busy_s = bench_number(event, "busy_seconds");
    }
    cJSON_Delete(event);
}

static char *export_folder(const struct plan *p, int seed)
{
    return mem_printf("%s/%d", p->folder, seed);
}

static struct run tune(const struct plan *p, int seed)
{
    struct run r = {0};
    struct bench_child child;
    char *line = NULL, *out = export_folder(p, seed), *db = mem_printf("%s/bench.db", p->folder);
    char *trials = mem_printf("%d", p->trials), *seed_text = mem_printf("%d", seed);
    char *device = mem_printf("%d", p->device);
    size_t capacity = 0;
    int64_t start = os_now_ns();
    bench_start(&child, (const char *const[]){"tune", "gemm", "--json", "--trials", trials,
                                              "--seed", seed_text, "--device", device, "--db", db,
                                              "--export", out, NULL});
    while (getline(&line, &capacity, child.out) > 0)
        take_line(line, &r);
    bench_end(&child);
    r.wall_s = (double)(os_now_ns() - start) / 1e9;
    free(device);
    free(seed_text);
    free(trials);
    free(db);
    free(out);
    free(line);
    return r;
}

// --- the race ---

static void add_hand_written(struct race *r, const char *name)
{
    struct err e;
    char *path = mem_printf("%s/%s.comp", TILEWALK_BENCH_KERNELS, name), *glsl;
    struct race_pass pass = {.glsl_path = path, .groups = {1, 1, 1}};
    if (!file_read(path, &glsl, NULL, &e))
        bench_fail(path, &e);
    const char *at = strstr(glsl, "// groups:");
    if (!at || sscanf(at, "// groups: %u %u", &pass.groups[0], &pass.groups[1]) != 2)
        bench_fail("a kernel without a line '// groups: X Y'", NULL);
    race_add(r, name, &pass, 1);
    free(glsl);
    free(path);
}

// The one .json in an export.
static cJSON *read_record(const char *folder)
{
    struct err e;
    DIR *d = opendir(folder);
    cJSON *record = NULL;
    for (struct dirent *entry; d && (entry = readdir(d));) {
        const char *end = strrchr(entry->d_name, '.');
        char *text, *path = path_join(folder, entry->d_name);
        if (str_equal(end, ".json") && !record) {
            if (!file_read(path, &text, NULL, &e))
                bench_fail(path, &e);
            record = cJSON_Parse(text);
            free(text);
        }
        free(path);
    }
    if (d)
        closedir(d);
    if (!record)
        bench_fail("an export without a record", NULL);
    return record;
}

static void add_export(struct race *r, const struct plan *p, int seed)
{
    char name[32], *folder = export_folder(p, seed), *path[RACE_MOST_PASSES];
    struct race_pass pass[RACE_MOST_PASSES];
    int passes = 0;
    cJSON *record = read_record(folder), *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(record, "passes"))
    {
        const cJSON *groups = cJSON_GetObjectItem(item, "groups");
        if (passes == RACE_MOST_PASSES || cJSON_GetArraySize(groups) != 3)
            bench_fail("an export with passes that the race does not know", NULL);
        pass[passes].glsl_path = path[passes] = path_join(folder, bench_text(item, "glsl"));
        for (int i = 0; i < 3; i++)
            pass[passes].groups[i] = (uint32_t)cJSON_GetArrayItem(groups, i)->valuedouble;
        passes++;
    }
    snprintf(name, sizeof name, "tilewalk, seed %d", seed);
    race_add(r, name, pass, passes);
    while (passes-- > 0)
        free(path[passes]);
    cJSON_Delete(record);
    free(folder);
}

static struct race *hold_race(const struct plan *p)
{
    struct race *r = race_create(p->device);
    for (int i = 0; i < p->seeds; i++)
        add_export(r, p, i + 1);
    for (int i = 0; i < HAND_WRITTEN; i++)
        add_hand_written(r, hand_written[i]);
    race_run(r, p->rounds);
    return r;
}

// --- the figures ---

static int compare_reals(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare_reals);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static void report_kernels(const struct plan *p, const struct race *r)
{
    double ratio[MOST_SEEDS], speedup[MOST_SEEDS], hand_s = INFINITY;
    int naive = race_count(r) - 1;
    for (int i = p->seeds; i < naive; i++)
        hand_s = fmin(hand_s, race_seconds(r, i));
    for (int i = 0; i < race_count(r); i++)
        printf("  %-20s %7.2f GFLOPS\n", race_name(r, i), FLOP / race_seconds(r, i) / 1e9);
    for (int i = 0; i < p->seeds; i++) {
        ratio[i] = hand_s / race_seconds(r, i);
        speedup[i] = race_seconds(r, naive) / race_seconds(r, i);
    }
    bench_figure("speed against the best by hand, median", median(ratio, p->seeds), "", AT_LEAST,
                 0.95);
    bench_figure("speed against the naive one, median", median(speedup, p->seeds), "", AT_LEAST, 8);
}

// Of the whole wall clock: starting, loading the space and exporting are the engine's time, too.
static void report_runs(const struct plan *p, const struct run *runs)
{
    double rate[MOST_SEEDS], share[MOST_SEEDS];
    for (int i = 0; i < p->seeds; i++) {
        const struct run *r = &runs[i];
        rate[i] = 60 * r->trials / r->wall_s;
        share[i] = 100 * (1 - r->busy_s / r->wall_s);
        printf("  seed %d: %.0f trials and %.0f rejected in %.2f s (session %.2f s, workers busy "
               "%.2f s)\n",
               i + 1, r->trials, r->rejected, r->wall_s, r->ran_s, r->busy_s);
    }
    bench_figure("trials a minute, median", median(rate, p->seeds), "", AT_LEAST, 60);
    bench_figure("the engine's share of the wall clock, median", median(share, p->seeds), "%",
                 UNDER, 2);
}

static void find_cpu(struct plan *p)
{
    struct err e;
    struct gpu_info *list;
    int count, i = 0;
    if (!gpu_list(&list, &count, &e))
        bench_fail("devices", &e);
    while (i < count && !list[i].is_cpu)
        i++;
    if (i == count)
        bench_skip("no CPU device (mesa-vulkan-drivers has one)");
    p->device = list[i].index;
    snprintf(p->device_name, sizeof p->device_name, "%s", list[i].name);
    free(list);
}

int main(int argc, char **argv)
{
    struct plan p = {.trials = 200, .seeds = 3, .rounds = 7};
    struct run runs[MOST_SEEDS];
    const struct bench_option options[] = {{"trials", &p.trials, 1000000},
                                           {"seeds", &p.seeds, MOST_SEEDS},
                                           {"rounds", &p.rounds, 1000}};
    bench_options(argc, argv, options, 3);
    setenv("LP_NUM_THREADS", "1", 1);
    gpu_prepare_environment();
    find_cpu(&p);
    p.folder = make_temporary();
    printf("gemm 256^3 fp32 on %s, LP_NUM_THREADS=1, %d trials a seed, %d rounds\n", p.device_name,
           p.trials, p.rounds);
    for (int i = 0; i < p.seeds; i++)
        runs[i] = tune(&p, i + 1);
    struct race *r = hold_race(&p);
    report_kernels(&p, r);
    report_runs(&p, runs);
    race_destroy(r);
    return EXIT_SUCCESS;
}
