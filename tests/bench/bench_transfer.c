// bench transfer: what the results of one shape are worth to the search of another, and how long a
// resumed session takes to know again what it knew.
//
// For each strategy that learns and each seed three sessions: of the first problem, of the second
// alone, and of the second with the first's results (tune --transfer). The level is the best that
// the second one reached alone; what counts is when each of the two reaches it. On landscapes that
// are computed, and on the device here at sizes that a CPU device bears. With --repeats N instead
// what recordings of the same kernel on other GPUs are worth (leave_out.h), with --shapes what
// other shapes on the device here are (shapes.h): to walk, or to what TILEWALK_STRATEGIES names.
#include "base/mem.h"
#include "base/number.h"
#include "base/os.h"
#include "base/str.h"
#include "bench.h"
#include "curves.h"
#include "leave_out.h"
#include "recordings.h"
#include "shapes.h"
#include "tuned.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_SEEDS = 20, MOST_SETTINGS = 4, MOST_TRIALS = CURVE_MOST_TRIALS };

struct problem {
    const char *space, *set[MOST_SETTINGS]; // "N=128", up to a NULL
};

struct course {
    const char *name, *source; // NULL: the device
    struct problem first, second;
};

static const struct course courses[] = {
    {"mm2 after mm1, machine", "synthetic:machine", {"mm1", {NULL}}, {"mm2", {NULL}}},
    {"mm2 after mm1, bowl", "synthetic:bowl", {"mm1", {NULL}}, {"mm2", {NULL}}},
    {"mm2 after mm1, rugged", "synthetic:rugged", {"mm1", {NULL}}, {"mm2", {NULL}}},
    {"mm2 after mm1, an eighth of each side, device",
     NULL,
     {"mm", {"N=64", "M=128", "K=128", NULL}},
     {"mm", {"N=64", "M=512", "K=128", NULL}}},
};

enum { COURSES = sizeof courses / sizeof *courses, MOST_STRATEGIES = 16 };

static char *learning[MOST_STRATEGIES]; // the strategies that learn from others
static int strategies;

static int trials = 192, first_trials = 256, seeds = 5, resumed = 1000;
static int course_wanted, strategy_wanted; // from 1; 0: all
static int repeats;                        // of searches of recordings; 0: these are left out
static int of_shapes;                      // --shapes

// --- sessions ---

static int64_t tune(const char *db, const char *strategy, const struct course *c,
                    const struct problem *p, int budget, int seed, const char *transfer)
{
    return curve_tune(db, &(struct tuning){.space = p->space,
                                           .strategy = strategy,
                                           .set = p->set,
                                           .source = c->source,
                                           .transfer = transfer,
                                           .trials = budget,
                                           .seed = seed});
}

// --- a course ---

struct outcome_of_seed {
    double alone, after; // trials to the level
    double early, end; // speed with transfer / alone, after a quarter of the trials and at the end
};

static struct outcome_of_seed run_seed(const struct course *c, const char *strategy, int seed)
{
    static struct curve alone, after;
    char *db = mem_printf("%s/%d-%s-%d.db", tuned_folder(), (int)(c - courses), strategy, seed);
    tune(db, strategy, c, &c->first, first_trials, seed, "none");
    curve_read(db, tune(db, strategy, c, &c->second, trials, seed, "none"), &alone);
    curve_read(db, tune(db, strategy, c, &c->second, trials, seed, "1"), &after);
    free(db);
    int last = (alone.count < after.count ? alone.count : after.count) - 1, early = last / 4;
    if (last < 0)
        bench_fail("a session without trials", NULL);
    double level = alone.best[alone.count - 1];
    return (struct outcome_of_seed){
        .alone = curve_reached(&alone, level),
        .after = curve_reached(&after, level),
        .early = alone.best[early] / after.best[early],
        .end = alone.best[last] / after.best[last],
    };
}

static void run_course(const struct course *c, const char *strategy)
{
    double alone[MOST_SEEDS], after[MOST_SEEDS], early[MOST_SEEDS], end[MOST_SEEDS];
    int reached_it = 0;
    for (int i = 0; i < seeds; i++) {
        struct outcome_of_seed o = run_seed(c, strategy, i + 1);
        alone[i] = o.alone;
        after[i] = o.after;
        early[i] = o.early;
        end[i] = o.end;
        reached_it += o.after <= trials;
    }
    double without = median_of(alone, seeds), with = median_of(after, seeds);
    printf("| %s | `%s` | %.4g | %.4g | %.0f %% | %d of %d | %.3g | %.3g |\n", c->name, strategy,
           without, with, 100 * (1 - with / without), reached_it, seeds, median_of(early, seeds),
           median_of(end, seeds));
    fflush(stdout);
}

static void find_strategies(void)
{
    cJSON *all = bench_json((const char *const[]){"strategies", "--json", NULL});
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(all, "strategies"))
    {
        if (cJSON_IsTrue(cJSON_GetObjectItem(item, "transfer")) && strategies < MOST_STRATEGIES)
            learning[strategies++] = mem_strdup(bench_text(item, "name"));
    }
    cJSON_Delete(all);
}

static bool is_wanted(int i)
{
    return !strategy_wanted || strategy_wanted == i + 1;
}

// --- resuming ---

static void run_resume(const char *strategy)
{
    char *db = mem_printf("%s/resume-%s.db", tuned_folder(), strategy);
    char *what = mem_printf("resume %d trials of %s on mm1", resumed, strategy);
    char *one_more = mem_printf("%d", resumed + 1);
    struct bench_child child;
    char line[4096];
    tune(db, strategy, &courses[0], &courses[0].first, resumed, 1, "none");
    int64_t start = os_now_ns();
    bench_start(&child, (const char *const[]){"resume", "1", "--db", db, "--trials", one_more,
                                              "--plain", NULL});
    while (fgets(line, sizeof line, child.out)) {
    }
    double cpu = bench_end(&child), wall = (double)(os_now_ns() - start) / 1e9;
    bench_figure(what, wall, "s", UNDER, 30);
    printf("    CPU time %.3g s\n", cpu);
    free(one_more);
    free(what);
    free(db);
}

// --- recordings ---

static void leave_out(const char *strategy)
{
    int count;
    struct recording **recording = recordings_gather(&count);
    leave_out_print(recording, count, strategy, trials, repeats);
    recordings_forget(recording, count);
}

// Whether what was asked for is of one strategy, and is done.
static bool is_of_one_strategy(void)
{
    const char *named = getenv("TILEWALK_STRATEGIES"), *strategy = named ? named : "walk";
    if (of_shapes)
        shapes_print(strategy, trials < SHAPES_MOST_TRIALS ? trials : SHAPES_MOST_TRIALS,
                     first_trials, seeds);
    else if (repeats)
        leave_out(strategy);
    return of_shapes || repeats;
}

int main(int argc, char **argv)
{
    bench_options(argc, argv,
                  (const struct bench_option[]){{"trials", &trials, MOST_TRIALS},
                                                {"first-trials", &first_trials, MOST_TRIALS},
                                                {"seeds", &seeds, MOST_SEEDS},
                                                {"course", &course_wanted, COURSES},
                                                {"strategy", &strategy_wanted, MOST_STRATEGIES},
                                                {"repeats", &repeats, 1000},
                                                {"shapes", &of_shapes, 0},
                                                {"resumed", &resumed, 100000}},
                  8);
    if (is_of_one_strategy())
        return EXIT_SUCCESS;
    find_strategies();
    printf("| second problem | strategy | trials to the level alone | with transfer | saved | "
           "reached | speed after a quarter | at the end |\n|---|---|---|---|---|---|---|---|\n");
    for (int s = 0; s < strategies; s++)
        for (int c = 0; c < COURSES; c++)
            if (is_wanted(s) && (!course_wanted || course_wanted == c + 1))
                run_course(&courses[c], learning[s]);
    printf("\n");
    for (int s = 0; s < strategies; s++)
        if (is_wanted(s) && !course_wanted)
            run_resume(learning[s]);
    while (strategies > 0)
        free(learning[--strategies]);
    return EXIT_SUCCESS;
}
