// bench foreign: what is left in shaders that others ship, on this machine's CPU device.
//
// Tunes ggml's and ncnn's shaders as they are ($TILEWALK_FOREIGN has them) on products and
// convolutions of theirs, and holds the best against each configuration that ships and runs here:
// all of a session are raced in one process, so the ratios are of one run. Full size:
// 200 trials, 3 seeds, every problem (an hour of lavapipe's compiler each). `--shapes N` asks
// instead what few configurations of mul_mm are worth for twelve shapes, of N random ones that were
// measured on each, and how many measurements a search for one configuration for all takes.
#include "base/median.h"
#include "base/mem.h"
#include "bench.h"
#include "tuned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SEEDS = 9, MOST_SET = 5 };

struct problem {
    const char *name, *preset, *folder; // below $TILEWALK_FOREIGN, and the setting
    const char *set[MOST_SET];
};

static const struct problem problems[] = {
    {"mul_mm f32 256^3", "ggml-mul-mm", "ggml", {"type=f32", "M=256", "N=256", "K=256"}},
    {"mul_mm f32 512x256x1024", "ggml-mul-mm", "ggml", {"type=f32", "M=512", "N=256", "K=1024"}},
    {"mul_mm q4_0 256^3", "ggml-mul-mm", "ggml", {"type=q4_0", "M=256", "N=256", "K=256"}},
    {"mul_mm q4_K 256^3", "ggml-mul-mm", "ggml", {"type=q4_K", "M=256", "N=256", "K=256"}},
    {"mul_mat_vec q4_K 4096^2", "ggml-mul-mat-vec", "ggml", {"type=q4_K", "M=4096", "K=4096"}},
    {"conv1x1 64 to 256, 56x56",
     "ncnn-conv1x1",
     "ncnn",
     {"in_channels=64", "out_channels=256", "height=56", "width=56"}},
    {"conv1x1 128 to 512, 28x28",
     "ncnn-conv1x1",
     "ncnn",
     {"in_channels=128", "out_channels=512", "height=28", "width=28"}},
    {"conv1x1 1024 to 256, 14x14",
     "ncnn-conv1x1",
     "ncnn",
     {"in_channels=1024", "out_channels=256", "height=14", "width=14"}},
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

struct counts {
    double trials, wrong, timeouts;
};

static void tune(const struct problem *p, int trials, int seed, const char *db, struct counts *n)
{
    struct bench_child child;
    char *line = NULL, *count = mem_printf("%d", trials), *with = mem_printf("%d", seed);
    char *folder = mem_printf("%s=%s/%s", p->folder, getenv("TILEWALK_FOREIGN"), p->folder);
    const char *words[12 + 2 * MOST_SET] = {"tune", p->preset, "--json", "--trials",
                                            count,  "--seed",  with,     "--db",
                                            db,     "--set",   folder};
    size_t capacity = 0;
    for (int i = 0, at = 11; p->set[i]; i++) {
        words[at++] = "--set";
        words[at++] = p->set[i];
    }
    bench_start(&child, words);
    while (getline(&line, &capacity, child.out) > 0) {
        cJSON *event = cJSON_Parse(line);
        if (strcmp(bench_text(event, "event"), "trial") == 0) {
            n->trials++;
            n->wrong += strcmp(bench_text(event, "outcome"), "wrong") == 0;
            n->timeouts += strcmp(bench_text(event, "outcome"), "timeout") == 0;
        }
        cJSON_Delete(event);
    }
    bench_end(&child);
    free(line);
    free(count);
    free(with);
    free(folder);
}

// Of the best to the fastest that ships; prints all.
static double least_ratio(const char *db, int session)
{
    char *id = mem_printf("%d", session);
    cJSON *shown = bench_json((const char *const[]){"show", id, "--json", "--db", db, NULL}), *one;
    double least = INFINITY;
    cJSON_ArrayForEach(one, cJSON_GetObjectItem(shown, "baselines"))
    {
        double ratio = bench_number(one, "ratio");
        if (ratio > 0)
            printf("    %.2f times as fast as '%s'\n", ratio, bench_text(one, "name"));
        else
            printf("    '%s' %s: %s\n", bench_text(one, "name"), bench_text(one, "outcome"),
                   bench_text(one, "reason"));
        if (ratio > 0)
            least = fmin(least, ratio);
    }
    cJSON_Delete(shown);
    free(id);
    return least;
}

// --- twelve shapes ---

static const char *const shapes[][3] = {
    {"M=64", "N=64", "K=256"},   {"M=128", "N=64", "K=256"},  {"M=64", "N=128", "K=256"},
    {"M=256", "N=64", "K=256"},  {"M=64", "N=256", "K=256"},  {"M=128", "N=128", "K=256"},
    {"M=256", "N=128", "K=256"}, {"M=128", "N=256", "K=256"}, {"M=256", "N=256", "K=256"},
    {"M=512", "N=64", "K=256"},  {"M=64", "N=64", "K=1024"},  {"M=128", "N=128", "K=1024"},
};
enum { SHAPES = sizeof shapes / sizeof *shapes, MOST_CONFIGURATIONS = 3 };

static void run(const char *const *words)
{
    struct bench_child child;
    char *line = NULL;
    size_t capacity = 0;
    bench_start(&child, words);
    while (getline(&line, &capacity, child.out) > 0) {
        cJSON *event = cJSON_Parse(line);
        if (strstr(bench_text(event, "text"), " measurements of "))
            printf("    %s\n", bench_text(event, "text"));
        cJSON_Delete(event);
    }
    bench_end(&child);
    free(line);
}

// The same draws on each shape, beside what ships.
static void measure_shapes(const char *folder, const char *trials, const char *db)
{
    for (int i = 0; i < SHAPES; i++)
        run((const char *const[]){"tune",   "ggml-mul-mm", "--json",   "--strategy", "random",
                                  "--seed", "1",           "--trials", trials,       "--db",
                                  db,       "--set",       folder,     "--set",      shapes[i][0],
                                  "--set",  shapes[i][1],  "--set",    shapes[i][2], NULL});
}

static void tell_portfolio(const char *configurations, const char *db)
{
    const char *words[8 + SHAPES] = {"portfolio", "--json",           "--db",
                                     db,          "--configurations", configurations};
    char id[SHAPES][4];
    for (int i = 0; i < SHAPES; i++) {
        snprintf(id[i], sizeof id[i], "%d", i + 1);
        words[6 + i] = id[i];
    }
    cJSON *told = bench_json(words), *all = cJSON_GetObjectItem(told, "portfolios"), *one, *shape;
    cJSON_ArrayForEach(one, all)
    {
        double worst = 0, least = INFINITY;
        if (bench_number(one, "configurations") != atoi(configurations))
            continue;
        cJSON_ArrayForEach(shape, cJSON_GetObjectItem(one, "shapes"))
        {
            worst = fmax(worst, bench_number(shape, "loss"));
            if (bench_number(shape, "ratio") > 0)
                least = fmin(least, bench_number(shape, "ratio"));
        }
        printf("  %s for %d shapes: %.1f %% more time than each one's own best, the worst shape "
               "%.1f %%; against what ships at least %.2f\n",
               configurations, SHAPES, 100 * bench_number(one, "loss"), 100 * worst, least);
    }
    cJSON_Delete(told);
}

static void search_all_shapes(const char *folder, const char *trials, const char *db)
{
    const char *words[16 + 2 * SHAPES] = {
        "tune",     "ggml-mul-mm", "--json", "--strategy", "random", "--seed", "1",
        "--trials", trials,        "--db",   db,           "--set",  folder};
    char *shape[SHAPES];
    for (int i = 0, at = 13; i < SHAPES; i++) {
        shape[i] = mem_printf("%s,%s,%s", shapes[i][0], shapes[i][1], shapes[i][2]);
        words[at++] = "--shape";
        words[at++] = shape[i];
    }
    run(words);
    for (int i = 0; i < SHAPES; i++)
        free(shape[i]);
}

static void bench_shapes(int trials, const char *db)
{
    char *folder = mem_printf("ggml=%s/ggml", getenv("TILEWALK_FOREIGN"));
    char *count = mem_printf("%d", trials), number[2] = "1";
    measure_shapes(folder, count, db);
    for (; number[0] <= '0' + MOST_CONFIGURATIONS; number[0]++)
        tell_portfolio(number, db);
    printf("  one for all shapes, searched for:\n");
    search_all_shapes(folder, count, db);
    free(folder);
    free(count);
}

int main(int argc, char **argv)
{
    int trials = 200, seeds = 3, only = 0, sessions = 0, random = 0;
    const struct bench_option options[] = {{"trials", &trials, 100000},
                                           {"seeds", &seeds, MOST_SEEDS},
                                           {"problem", &only, PROBLEMS},
                                           {"shapes", &random, 1000}};
    struct counts n = {0};
    bench_options(argc, argv, options, 4);
    if (!getenv("TILEWALK_FOREIGN"))
        bench_skip("TILEWALK_FOREIGN names no folder with the shaders of ggml and ncnn");
    char *db = mem_printf("%s/foreign.db", tuned_folder());
    if (random)
        bench_shapes(random, db);
    for (int i = 0; i < PROBLEMS && !random; i++) {
        double ratio[MOST_SEEDS];
        if (only && only != i + 1)
            continue;
        for (int k = 0; k < seeds; k++) {
            printf("  %s, seed %d, %d trials\n", problems[i].name, k + 1, trials);
            tune(&problems[i], trials, k + 1, db, &n);
            ratio[k] = least_ratio(db, ++sessions);
            fflush(stdout);
        }
        bench_figure(problems[i].name, median_of(ratio, seeds), "times what ships", AT_LEAST, 1.2);
    }
    if (!random) {
        bench_figure("wrong trials", n.wrong, "", UNDER, 1);
        bench_figure("timeouts", n.trials > 0 ? 100 * n.timeouts / n.trials : 0, "%", UNDER, 5);
    }
    free(db);
    return EXIT_SUCCESS;
}
