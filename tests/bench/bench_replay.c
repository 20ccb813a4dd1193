// bench replay: simulated trials a second on one core, for random and opevo; the cost of the other
// strategies beside them.
//
// The recordings are those of recordings.h. Of each strategy the slowest recording counts. The
// calibration loop says how fast the machine is: dependent steps of the random generator.
#include "base/os.h"
#include "bench.h"
#include "recordings.h"
#include "simulate/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    bench_options(argc, argv, options, 2);
    int count;
    struct recording **recording = recordings_gather(&count);
    printf("%d recording%s, %d trials, %d repeats, one core; calibration loop: %.2f ns a step\n",
           count, count == 1 ? "" : "s", trials, repeats, bench_step_ns());
    static const char *const targeted[] = {"random", "opevo"};
    for (size_t i = 0; i < 2; i++)
        bench_figure(targeted[i], trials_a_second(recording, count, targeted[i], trials, repeats),
                     "trials/s", AT_LEAST, 20000);
    for (int i = 0; strategy_kinds[i]; i++) {
        const char *name = strategy_kinds[i]->name;
        if (strcmp(name, "random") != 0 && strcmp(name, "opevo") != 0 &&
            strategy_possible(name, NULL))
            printf("  %s: %.0f trials/s\n", name,
                   trials_a_second(recording, count, name, trials, 1));
    }
    recordings_forget(recording, count);
    return EXIT_SUCCESS;
}
