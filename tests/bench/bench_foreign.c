// bench foreign: what is left in shaders that others ship, on this machine's CPU device.
//
// Tunes ggml's and ncnn's shaders as they are ($TILEWALK_FOREIGN has them) on products and
// convolutions of theirs, and holds the best against each configuration that ships and runs here:
// all of a session are raced in one process, so the ratios are of one run. Full size:
// 200 trials, 3 seeds, every problem (an hour of lavapipe's compiler each).
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

int main(int argc, char **argv)
{
    int trials = 200, seeds = 3, only = 0, sessions = 0;
    const struct bench_option options[] = {
        {"trials", &trials, 100000}, {"seeds", &seeds, MOST_SEEDS}, {"problem", &only, PROBLEMS}};
    struct counts n = {0};
    bench_options(argc, argv, options, 3);
    if (!getenv("TILEWALK_FOREIGN"))
        bench_skip("TILEWALK_FOREIGN names no folder with the shaders of ggml and ncnn");
    char *db = mem_printf("%s/foreign.db", tuned_folder());
    for (int i = 0; i < PROBLEMS; i++) {
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
    bench_figure("wrong trials", n.wrong, "", UNDER, 1);
    bench_figure("timeouts", n.trials > 0 ? 100 * n.timeouts / n.trials : 0, "%", UNDER, 5);
    free(db);
    return EXIT_SUCCESS;
}
