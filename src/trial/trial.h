// A trial: a request to measure a candidate, and its result.
#ifndef TILEWALK_TRIAL_TRIAL_H
#define TILEWALK_TRIAL_TRIAL_H

#include "base/build.h"
#include "kernel/job.h"
#include "space/outcome.h"
#include "space/space.h"
#include "space/statistics.h"
#include "trial/paired.h"

#define TRIAL_MAX_SAMPLES 64
#define TRIAL_MAX_RACERS  16
#define TRIAL_MAX_SHAPES  16
#define TRIAL_MOST_SOAK   100000 // runs
#define TRIAL_REASON_SIZE 320    // bytes, with the NUL

// A worker announces a phase before it enters it, so that a death or a hang is attributed. Each has
// its own deadline.
enum trial_phase {
    PHASE_NONE,
    PHASE_START,    // the worker opens its device
    PHASE_PREPARE,  // inputs and reference are computed
    PHASE_COMPILE,  // GLSL to SPIR-V, static limits
    PHASE_PIPELINE, // the driver's compiler; on CPU devices one small dispatch (some compile then)
    PHASE_WAIT,     // for the device
    PHASE_RUN,      // first full run, on poisoned output
    PHASE_VERIFY,   // comparison with the reference
    PHASE_TIME,     // warm-up and samples
    PHASE_COUNT
};

const char *trial_phase_name(enum trial_phase p);

struct samples {
    double seconds[TRIAL_MAX_SAMPLES]; // per run of the whole candidate, device time
    int count;
    bool early_stopped; // all of two or more are hopeless against the incumbent; still valid times
};

// The candidates that run once more with every access to an array checked (kernel/checked.h): the
// fastest so far, or the winner of the race; all; none, since it has been done.
enum accesses { ACCESSES_OF_BEST, ACCESSES_OF_ALL, ACCESSES_OF_NONE };

// A measurement of one candidate (count 1), or a race: several candidates timed in rounds, each
// verified again on random inputs before its result counts. A race in pairs compares the first
// candidate with each other one (paired.h): sample k of two candidates is from one round, and a
// candidate whose ratio to the first is known takes no part in later rounds.
struct trial_request {
    int64_t ticket; // the engine's; comes back in the result
    int count;      // 1 .. TRIAL_MAX_RACERS
    bool race;
    bool pairs;         // of a race
    bool only_compiles; // up to the pipelines: nothing runs, and an ok result has no samples
    bool keeps;         // and the driver's binary is kept for its trial
    bool known_good;    // it was measured before: spills do not reject it
    enum accesses accesses;
    bool anchor;        // a fixed kernel is timed too, after the candidates (trial/peaks.h)
    double incumbent_s; // best time so far; 0: none. Candidates hopelessly slower are stopped early
    int soak;           // the one candidate is not timed but verified so often again; 0: it is not
    double soak_s;      // seconds after which that ends; 0: it has all its runs
    double slowdown;    // the incumbent's time now over its time then, or less than 1
    uint32_t skipped;   // bits: the shapes that it is not measured on (trial/shapes.h)
    struct config config[TRIAL_MAX_RACERS];
    // Empty for sources that need none; submit takes the content.
    struct job job[TRIAL_MAX_RACERS];
};

struct trial_result {
    int64_t ticket;
    int count;
    enum outcome outcome[TRIAL_MAX_RACERS];
    double seconds[TRIAL_MAX_RACERS]; // robust statistic of the samples; 0 unless ok
    struct samples samples[TRIAL_MAX_RACERS];
    enum trial_phase phase[TRIAL_MAX_RACERS];         // where it failed; PHASE_NONE when ok
    char reason[TRIAL_MAX_RACERS][TRIAL_REASON_SIZE]; // one sentence; "" when ok
    // Times of several shapes of a problem (trial/shapes.h); 0: not measured.
    int shapes; // 0: there is one alone
    double part_s[TRIAL_MAX_RACERS][TRIAL_MAX_SHAPES];
    // A race in pairs has the first candidate's ratio to each other one on each shape.
    struct paired part_ratio[TRIAL_MAX_RACERS][TRIAL_MAX_SHAPES];
    struct statistics statistics[TRIAL_MAX_RACERS]; // of kernels that the driver compiled
    double wall_s;   // per run of the candidate timed last, by the host's clock; 0: none was
    int soaked;      // runs of the soak, all of them right where the outcome is ok
    double anchor_s; // the fixed kernel's time; 0: it was not timed
    struct statistics clocks; // during the timing, where sensors know (gpu/gpu.h)
    // Wall-clock time of GLSL->SPIR-V, of the driver's compiler, on the device.
    double compile_s, pipeline_s, device_s;
    int worker;             // 0 ..
    char machine[64];       // the name of the worker's agent; "": it is this process' own
    char build[BUILD_SIZE]; // the agent's build_name(); "": that of this process
};

#endif
