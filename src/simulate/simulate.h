// Simulated tuning: strategies search recorded spaces, many times each, without a device.
//
//     struct simulation list[] = {{.recording = r, .strategy = "opevo", .trials = 500,
//                                  .repeats = 50, .seed = 1}};
//     simulate(list, 1, &options, e);
//     list[0].run[7] ...                    what the eighth repeat did; simulate/curve.h sums it up
//     simulation_finish(&list[0]);
//
// A trial is a recorded configuration that was not rejected: it answers with its recorded time, or
// fails as it was recorded to fail, and costs one of the budget. What is absent from the recording
// is illegal: strategies may know that before they ask, and asking for it costs nothing.
//
// Each (recording, strategy, repeat) draws from a seed of its own, made of the seed, the
// recording's name, the strategy with all its options, and the repeat: so the numbers are the same
// for any number of threads, and do not depend on what else is simulated. Two strategies that are
// alike in part can be given the seeds of one, so that their runs differ no more than they do.
#ifndef TILEWALK_SIMULATE_SIMULATE_H
#define TILEWALK_SIMULATE_SIMULATE_H

#include "record/record.h"
#include "search/cycle.h"

#define SIMULATE_MOST_TRIALS  1000000
#define SIMULATE_MOST_REPEATS 100000
#define SIMULATED_RACE_TRIALS 25 // that the final race of a search with noise spends
// Shorter searches have no race: it would be most of them.
#define SIMULATED_RACE_FROM (4 * SIMULATED_RACE_TRIALS)

struct simulated_step { // another configuration leads
    int64_t trial;      // from 1
    double seconds;     // recorded mean of the one that leads now
    double at_s;        // recorded costs of the trials so far, and the strategy's own time
};

struct simulated_run {
    struct simulated_step *step;
    int count, capacity;
    int64_t trials; // that were spent; fewer than the budget where the search ended early
    int64_t failed; // of these
    int64_t asks;   // configurations that the strategy proposed, illegal ones too
    // Recorded means: of the configuration that it returns, and the least of all that it
    // measured; 0: nothing was valid.
    double returned_s, best_s;
    double recorded_s; // compile and benchmark times of all trials
    double own_s;      // CPU time of the strategy and of looking up
};

struct simulation {
    const struct recording *recording;
    const char *strategy; // a spec
    int64_t trials;       // 1 .. SIMULATE_MOST_TRIALS
    int repeats;          // 1 .. SIMULATE_MOST_REPEATS
    uint64_t seed;
    const char *seeded_as;     // the spec whose seeds it has, for pairs of runs; NULL: its own
    bool noise;                // each trial draws one of the recorded runs and has a final race
    struct simulated_run *run; // result: [repeats]; NULL before
};

struct simulate_options {
    int threads; // 0: one a core
    // Both are called in the calling thread, and may be NULL. `tick` comes some ten times a second;
    // where it returns false the simulation ends early. `finished` comes for each simulation that
    // is complete, in the order of the list.
    bool (*tick)(void *context, int64_t runs_done, int64_t runs);
    void (*finished)(void *context, int index);
    void *context;
};

// True also when `tick` ended it. False: a strategy or its options are not known, or do not suit a
// space (nothing has run then), or one broke its contract. The caller frees the results with
// simulation_finish in any case.
bool simulate(struct simulation *list, int count, const struct simulate_options *o, struct err *e);
void simulation_finish(struct simulation *s);

// True: a recorded configuration costs a trial. It has an entry (NULL: it has none) that was not
// rejected.
bool simulate_is_trial(const struct record_entry *entry);

// The simulations that a command asks for: each strategy on each recording.
//
//     struct simulate_plan p;
//     if (simulate_plan_make(&words, &p, e))
//         simulate(p.list, p.count, &options, e);
//     simulate_plan_finish(&p);                in any case

struct simulate_words {
    const char *const *path; // of recordings
    int paths;
    const char *strategies; // "opevo,ga:pop=20"
    int64_t trials;
    int repeats;
    uint64_t seed;
    bool noise;            // as in struct simulation
    const char *costs_for; // option that needs compile and benchmark times; NULL: none does
};

struct simulate_plan {
    struct recording **recording;
    int recordings;
    char **strategy; // specs as they were given
    int strategies;
    struct simulation *list; // recording by recording, strategy by strategy
    int count;
};

// False: a strategy is not known, or a file is no recording with times; `out` holds what there is.
bool simulate_plan_make(const struct simulate_words *words, struct simulate_plan *out,
                        struct err *e);
void simulate_plan_finish(struct simulate_plan *p);

#endif
