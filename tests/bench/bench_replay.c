// bench replay: simulated trials a second on one core, for random and opevo; the cost of the other
// strategies beside them.
//
// The recordings are those in the folder that TILEWALK_RECORDINGS names, else a made-up one of 1080
// points. Of each strategy the slowest recording counts. The calibration loop says how fast the
// machine is: dependent steps of the random generator.
#include "base/file.h"
#include "base/os.h"
#include "bench.h"
#include "simulate_curve.h"
#include "spaces.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RECORDINGS = 64 };

static double calibrate(void)
{
    enum { STEPS = 20000000 };
    struct rng r;
    rng_seed(&r, 1);
    uint64_t sum = 0;
    int64_t start = os_cpu_ns();
    for (int i = 0; i < STEPS; i++)
        sum += rng_next(&r);
    int64_t ns = os_cpu_ns() - start;
    return sum ? (double)ns / STEPS : 0;
}

static struct recording *make_up(void)
{
    struct err e;
    struct recording *r = recording_create("made-up", "tilewalk");
    struct space *s = space_mixed();
    if (!recording_add_params(r, s, &e) || !recording_seal_space(r, &e))
        bench_fail("no recording", &e);
    for (uint64_t i = 0; i < s->size; i++) {
        struct config c;
        bool was_new;
        space_point(s, i, &c);
        struct record_entry entry = {
            .seconds = 1 + (double)(config_hash(&c) % 1000), .compile_s = NAN, .benchmark_s = NAN};
        recording_add(r, &c, &entry, &was_new);
    }
    if (!recording_finish(r, &e))
        bench_fail("no recording", &e);
    space_destroy(s);
    return r;
}

static int read_folder(const char *folder, struct recording *out[MOST_RECORDINGS])
{
    struct err e;
    int count = 0;
    DIR *d = opendir(folder);
    if (!d)
        bench_fail("the folder that TILEWALK_RECORDINGS names cannot be read", NULL);
    for (const struct dirent *entry; (entry = readdir(d)) && count < MOST_RECORDINGS;) {
        if (!strstr(entry->d_name, ".json"))
            continue;
        char *path = path_join(folder, entry->d_name);
        if (!recording_read(path, &out[count], &e))
            bench_fail("a recording cannot be read", &e);
        free(path);
        if (out[count]->count)
            count++;
        else
            recording_destroy(out[count]); // declarations
    }
    closedir(d);
    return count;
}

// Of the slowest recording.
static double trials_a_second(struct recording *const *recording, int count, const char *strategy,
                              int trials, int repeats)
{
    double slowest = INFINITY;
    for (int i = 0; i < count; i++) {
        struct simulate_options o = {.threads = 1};
        struct simulated_curve curve;
        struct err e;
        struct simulation s = {.recording = recording[i],
                               .strategy = strategy,
                               .trials = trials,
                               .repeats = repeats,
                               .seed = 1};
        if (!simulate(&s, 1, &o, &e))
            bench_fail(strategy, &e);
        simulated_curve_make(&s, &curve);
        slowest = fmin(slowest, 1 / curve.seconds_per_trial);
        simulated_curve_finish(&curve);
        simulation_finish(&s);
    }
    return slowest;
}

int main(int argc, char **argv)
{
    int trials = 500, repeats = 10;
    const struct bench_option options[] = {{"trials", &trials, 100000},
                                           {"repeats", &repeats, 10000}};
    struct recording *recording[MOST_RECORDINGS];
    const char *folder = getenv("TILEWALK_RECORDINGS");
    bench_options(argc, argv, options, 2);
    int count = folder ? read_folder(folder, recording) : 0;
    if (!count)
        recording[count++] = make_up();
    printf("%d recording%s, %d trials, %d repeats, one core; calibration loop: %.2f ns a step\n",
           count, count == 1 ? "" : "s", trials, repeats, calibrate());
    static const char *const targeted[] = {"random", "opevo"};
    for (size_t i = 0; i < 2; i++)
        bench_figure(targeted[i], trials_a_second(recording, count, targeted[i], trials, repeats),
                     "trials/s", AT_LEAST, 20000);
    for (int i = 0; strategy_kinds[i]; i++) {
        const char *name = strategy_kinds[i]->name;
        if (strcmp(name, "random") != 0 && strcmp(name, "opevo") != 0)
            printf("  %s: %.0f trials/s\n", name,
                   trials_a_second(recording, count, name, trials, 1));
    }
    for (int i = 0; i < count; i++)
        recording_destroy(recording[i]);
    return EXIT_SUCCESS;
}
