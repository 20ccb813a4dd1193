// bench search: how good every strategy is on recorded spaces, beside Kernel Tuner; and what a
// strategy costs.
//
// All strategies without a model, with their defaults, and opevo on legal points alone, search the
// recordings in the folder that TILEWALK_RECORDINGS names (else: made-up ones); the tables are
// Markdown, docs/internals/search.md holds them. The numbers do not depend on the machine or its
// cores, but for the times. With --learned those that have a model are beside them, and each
// recording has a table over time too: what its trials cost when they were recorded, and the
// strategy's own time. The first, walk, is held against the best of all others. With --ablation
// those are walk without each of its parts, and with each alone. With --pairs the strategies that
// $TILEWALK_STRATEGIES lists are held to the first of them, run by run; with --traps N in N traps
// (pairs.h). With --guesses: what first guesses are worth. With --own-cost: the default's CPU time
// a trial. With --calibration: how often results are where walk's model expected them
// (calibration.h). With --standing all strategies, or those of $TILEWALK_STRATEGIES, on the
// recordings; with --landscapes on synthetic ones, with --held-out on those of them that no option
// was chosen on (standing.h).
//
// Cost: CPU time of opevo's ask and tell a trial, and memory, at 100 000 trials on the mm1 space;
// and of checking that space. First with every point valid; that figure has the target. Then with 7
// of 100 valid, as on a small device: a trial takes 14 asks and tells, and the strategy remembers
// 1.4 million points, a third of the space. The cheap objective is measured with them. The
// calibration loop says how fast the machine is: dependent steps of the random generator. With
// --learned: of a fit and the plan that comes of it (learned.h).
#include "base/os.h"
#include "bench.h"
#include "calibration.h"
#include "guessed.h"
#include "learned.h"
#include "pairs.h"
#include "recordings.h"
#include "report/compare_table.h"
#include "search_tables.h"
#include "simulate/curve.h"
#include "spaces.h"
#include "standing.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

// --- how good ---

enum { MOST_STRATEGIES = 32 };

// Without each of its parts, and with each alone.
static const char *const ablation[] = {
    "walk",
    "walk:points=0",
    "walk:learn=0",
    "walk:margin=0",
    "walk:children=0",
    "walk:refine=0",
    "walk:doubt=1",
    "walk:near=1",
    "walk:near=0",
    "walk:strangers=0",
    "walk:strangers=0:near=0",
    "walk:children=0:strangers=0",
    "walk:children=0:near=0",
    "walk:points=0:strangers=0:near=0",
    "walk:ahead=1",
    "walk:ahead=3",
    "walk:ahead=7",
};
enum { ABLATION = sizeof ablation / sizeof *ablation };

static int list_ablation(const char **out)
{
    for (int i = 0; i < ABLATION; i++)
        out[i] = ablation[i];
    return ABLATION;
}

static int list_strategies(bool learned, const char **out)
{
    int count = 0;
    for (int i = 0; strategy_kinds[i] && count < MOST_STRATEGIES - 1; i++)
        if ((learned || !strategy_has_model(strategy_kinds[i]->name)) &&
            strategy_possible(strategy_kinds[i]->name, NULL))
            out[count++] = strategy_kinds[i]->name;
    out[count++] = "opevo:legal=1";
    return count;
}

static bool show_progress(void *context, int64_t done, int64_t runs)
{
    (void)context;
    if (isatty(STDERR_FILENO))
        fprintf(stderr, done < runs ? "\r%3d %%" : "\r\033[K", (int)(100 * done / runs));
    return true;
}

static void print_tables(const struct simulation *list, int recordings, int strategies,
                         bool variants)
{
    int count = recordings * strategies;
    struct simulated_comparison comparison;
    struct comparison_result result;
    struct simulated_curve *curve = mem_zero((size_t)count, sizeof *curve);
    for (int i = 0; i < count; i++)
        simulated_curve_make(&list[i], &curve[i]);
    simulated_comparison_make(list, recordings, strategies, COMPARISON_TRIALS, &comparison);
    comparison_make(&comparison.setup, &result);
    search_tables_print(&(struct searched){list, curve, recordings, strategies, &result, variants});
    comparison_finish(&result);
    simulated_comparison_finish(&comparison);
    for (int i = 0; i < count; i++)
        simulated_curve_finish(&curve[i]);
    free(curve);
}

// Of each recording that says what its trials cost.
static void print_times(const struct simulation *list, int recordings, int strategies)
{
    for (int i = 0; i < recordings; i++) {
        const struct simulation *of = &list[i * strategies];
        if (!recording_has_costs(of->recording))
            continue;
        struct simulated_comparison comparison;
        struct comparison_result result;
        struct str out = {0};
        simulated_comparison_make(of, 1, strategies, COMPARISON_SECONDS, &comparison);
        comparison_make(&comparison.setup, &result);
        comparison_add_markdown(&result, &(struct comparison_looks){COMPARISON_RATE, false}, &out);
        printf("\n### Over seconds: %s\n\n%s", of->recording->name, str_text(&out));
        str_finish(&out);
        comparison_finish(&result);
        simulated_comparison_finish(&comparison);
    }
}

static void compare_all(int trials, int repeats, bool learned, bool ablate)
{
    struct err e;
    int recordings;
    const char *strategy[MOST_STRATEGIES];
    struct recording **recording = recordings_gather(&recordings);
    int strategies = ablate ? list_ablation(strategy) : list_strategies(learned, strategy);
    int count = recordings * strategies;
    struct simulation *list = mem_zero((size_t)count, sizeof *list);
    for (int i = 0; i < count; i++)
        list[i] = (struct simulation){.recording = recording[i / strategies],
                                      .strategy = strategy[i % strategies],
                                      .trials = trials,
                                      .repeats = repeats,
                                      .seed = 1};
    int64_t start = os_now_ns();
    if (!simulate(list, count, &(struct simulate_options){.tick = show_progress}, &e))
        bench_fail("the simulation failed", &e);
    printf("\n%d strategies on %d recordings, %d trials, %d repeats, seed 1: %.0f s on %d cores\n",
           strategies, recordings, trials, repeats, 1e-9 * (double)(os_now_ns() - start),
           os_cores());
    print_tables(list, recordings, strategies, ablate);
    if (learned)
        print_times(list, recordings, strategies);
    for (int i = 0; i < count; i++)
        simulation_finish(&list[i]);
    free(list);
    recordings_forget(recording, recordings);
}

// --- strategies, run by run ---

// Those that $TILEWALK_STRATEGIES lists, "A,B"; the first is what others are held to.
static void compare_pairs(int trials, int repeats, int seeds)
{
    struct err e;
    char **spec;
    int specs, recordings;
    const char *wanted = getenv("TILEWALK_STRATEGIES");
    if (!spec_list_parse(wanted ? wanted : "local,walk", strategy_canonical, &spec, &specs, &e))
        bench_fail("TILEWALK_STRATEGIES", &e);
    if (specs > PAIRS_MOST)
        bench_fail("TILEWALK_STRATEGIES lists too many", NULL);
    if (repeats) {
        struct recording **recording = recordings_gather(&recordings);
        pairs_on_recordings(spec, specs, recording, recordings, trials, repeats);
        recordings_forget(recording, recordings);
    }
    if (seeds)
        pairs_in_traps(spec, specs, seeds);
    for (int i = 0; i < specs; i++)
        free(spec[i]);
    free(spec);
}

// --- where it stands ---

// Those that $TILEWALK_STRATEGIES lists, else all; the first is held against the others.
static void compare_standing(int repeats, bool recorded, bool landscapes, bool held_out)
{
    struct err e;
    char **spec;
    const char *all[MOST_STRATEGIES], *wanted = getenv("TILEWALK_STRATEGIES");
    int specs, recordings;
    struct str list = {0};
    specs = list_strategies(true, all);
    for (int i = 0; i < specs && !wanted; i++)
        str_printf(&list, "%s%s", i ? "," : "", all[i]);
    if (!spec_list_parse(wanted ? wanted : str_text(&list), strategy_canonical, &spec, &specs, &e))
        bench_fail("TILEWALK_STRATEGIES", &e);
    const struct standing standing = {.spec = spec, .specs = specs, .repeats = repeats};
    if (recorded) {
        struct recording **recording = recordings_gather(&recordings);
        standing_on_recordings(&standing, recording, recordings);
        recordings_forget(recording, recordings);
    }
    if (landscapes)
        standing_on_landscapes(&standing, false);
    if (held_out)
        standing_on_landscapes(&standing, true);
    for (int i = 0; i < specs; i++)
        free(spec[i]);
    free(spec);
    str_finish(&list);
}

static void compare_guessed(int repeats)
{
    int recordings;
    struct recording **recording = recordings_gather(&recordings);
    guessed_on_recordings(recording, recordings, repeats);
    recordings_forget(recording, recordings);
}

// --- whether it knows what it does not know ---

static void calibrate_walk(int trials, int repeats)
{
    int recordings;
    const char *spec = getenv("TILEWALK_STRATEGIES");
    struct recording **recording = recordings_gather(&recordings);
    calibration_on_recordings(spec ? spec : "walk", recording, recordings, trials, repeats);
    recordings_forget(recording, recordings);
}

// --- what it costs ---

// A bowl around the hidden point; of all points `percent` are valid.
static double fitness(const struct space *s, const struct config *hidden, const struct config *c,
                      int percent)
{
    if (config_hash(c) % 100 >= (uint64_t)percent)
        return 0;
    return 1.0 / (1 + space_distance(s, hidden, c));
}

struct cost {
    int asks;
    double microseconds; // a trial
    double mebibytes;    // peak of the process
};

static struct cost measure(const struct space *s, int wanted, int percent)
{
    struct search_problem problem = {.space = s};
    struct strategy *o = strategy_create("opevo", &problem, 1, NULL);
    struct config hidden, c;
    struct rng r;
    rng_seed(&r, 2);
    space_sample(s, &r, &hidden);

    struct cost cost = {0};
    int64_t start = os_process_cpu_ns(getpid());
    for (int trials = 0; trials < wanted && strategy_ask(o, &c) == ASK_NEW; cost.asks++) {
        double f = fitness(s, &hidden, &c, percent);
        strategy_tell(o, &c, f > 0 ? OUTCOME_OK : OUTCOME_REJECTED, f);
        trials += f > 0;
    }
    cost.microseconds = (double)(os_process_cpu_ns(getpid()) - start) / 1e3 / wanted;
    cost.mebibytes = bench_peak_mebibytes();
    strategy_destroy(o);
    return cost;
}

// The best of a few runs: neighbours only ever add.
static double check_milliseconds(void)
{
    enum { RUNS = 5 };
    double best = INFINITY;
    char line[4096];
    for (int i = 0; i < RUNS; i++) {
        struct bench_child c;
        bench_start(&c, (const char *const[]){"check", "mm1", "--device", "none", NULL});
        while (fgets(line, sizeof line, c.out)) {
        }
        best = fmin(best, 1e3 * bench_end(&c));
    }
    return best;
}

static void measure_cost(int trials)
{
    printf("opevo on mm1, %d trials; calibration loop: %.2f ns a step\n", trials, bench_step_ns());
    struct space *s = space_mm(512, 1024, 1024);
    struct cost cost = measure(s, trials, 100);
    bench_figure("ask and tell, CPU time a trial", cost.microseconds, "us", UNDER, 20);
    bench_figure("memory", cost.mebibytes, "MiB", UNDER, 100);
    cost = measure(s, trials, 7);
    printf("  with 7 %% valid: %d asks, %.2f us a trial, %.2f us an ask, %.0f MiB\n", cost.asks,
           cost.microseconds, cost.microseconds * trials / cost.asks, cost.mebibytes);
    space_destroy(s);
    bench_figure("check mm1 --device none, CPU time", check_milliseconds(), "ms", UNDER, 50);
}

// The program's own CPU time for a trial of the default search, its database included.
static void measure_own_cost(void)
{
    static const char *const preset[] = {"mm1", "gemm"}, *const trials[] = {"400", "5000"};
    static const double target_ms[] = {1, 2};
    double step_ns = bench_step_ns();
    printf("walk, own CPU time a trial; calibration loop: %.2f ns a step\n", step_ns);
    for (int i = 0; i < 4; i++) {
        struct bench_child c;
        char line[4096], folder[] = "/tmp/tilewalk-bench-XXXXXX", what[64];
        if (!mkdtemp(folder))
            bench_fail("no temporary folder", NULL);
        char *path = mem_printf("%s/t.db", folder);
        bench_start(&c, (const char *const[]){"tune", preset[i / 2], "--source", "synthetic:rugged",
                                              "--trials", trials[i % 2], "--seed", "1", "--plain",
                                              "--db", path, NULL});
        while (fgets(line, sizeof line, c.out)) {
        }
        double ms = 1e3 * bench_end(&c) / atof(trials[i % 2]);
        snprintf(what, sizeof what, "%s, %s trials", preset[i / 2], trials[i % 2]);
        bench_figure(what, ms, "ms", UNDER, target_ms[i / 2]);
        printf("  %.2f million steps of the loop\n", ms / step_ns);
        remove(path);
        rmdir(folder);
        free(path);
    }
}

// The cost comes first: the peak of memory is that of the process.
int main(int argc, char **argv)
{
    int trials = 500, repeats = 50, cost = 100000, learned_trials = 1000, learned = 0, ablate = 0,
        pairs = 0, traps = 0, calibration = 0, standing = 0, landscapes = 0, held_out = 0,
        guesses = 0, own_cost = 0;
    const struct bench_option options[] = {{"trials", &trials, 100000},
                                           {"repeats", &repeats, 10000},
                                           {"cost-trials", &cost, 10000000},
                                           {"learned", &learned, 0},
                                           {"ablation", &ablate, 0},
                                           {"learned-trials", &learned_trials, 100000},
                                           {"pairs", &pairs, 0},
                                           {"traps", &traps, 1000},
                                           {"calibration", &calibration, 0},
                                           {"standing", &standing, 0},
                                           {"landscapes", &landscapes, 0},
                                           {"held-out", &held_out, 0},
                                           {"guesses", &guesses, 0},
                                           {"own-cost", &own_cost, 0}};
    bench_options(argc, argv, options, sizeof options / sizeof *options);
    if (own_cost || guesses) {
        if (own_cost)
            measure_own_cost();
        if (guesses)
            compare_guessed(repeats);
        return EXIT_SUCCESS;
    }
    if (standing || landscapes || held_out) {
        compare_standing(repeats, standing, landscapes, held_out);
        return EXIT_SUCCESS;
    }
    if (calibration) {
        calibrate_walk(trials, repeats);
        return EXIT_SUCCESS;
    }
    if (pairs || traps) {
        compare_pairs(trials, pairs ? repeats : 0, traps);
        return EXIT_SUCCESS;
    }
    if (learned)
        learned_cost(bench_step_ns(), learned_trials);
    else if (!ablate)
        measure_cost(cost);
    compare_all(trials, repeats, learned, ablate);
    return EXIT_SUCCESS;
}
