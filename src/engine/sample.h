// Random valid configurations, compiled by a driver as far as its pipelines: the refusals, the
// times and the statistics. Nothing runs, so that a driver without its hardware will do; unless
// they are to run: then each is also held against the reference, on exact and on random inputs, and
// once more with every access checked, as winners of a race are.
//
//     sample_take(&options, &found, e); ... sample_finish(&found);
#ifndef TILEWALK_ENGINE_SAMPLE_H
#define TILEWALK_ENGINE_SAMPLE_H

#include "base/rng.h"
#include "gpu/gpu.h"
#include "script/script.h"
#include "space/outcome.h"

struct sample_options {
    struct script *script;
    const struct gpu_info *device;
    int64_t count;
    uint64_t seed;
    bool runs;
    double seconds;    // after which no more are begun; 0: no limit
    bool validate;     // with the Khronos validation layer
    bool verbose;      // lines of workers and drivers go to stderr
    const char *fault; // as in pool_options
};

struct sample_refusal {
    char *reason;
    char *example; // the first of them, a JSON object
    enum outcome outcome;
    int64_t count;
};

struct sample_column { // a number for each configuration that has it
    char name[STATISTICS_NAME_SIZE];
    double *value; // ascending
    int64_t count, capacity;
};

struct sample {
    int64_t asked;                  // less than wanted where the space has no more that are valid
    int64_t compiled;               // or, where they run, right
    int64_t outcome[OUTCOME_COUNT]; // of those asked
    struct sample_refusal *refusal; // most frequent first
    int refusals, refusal_capacity;
    int64_t messages;           // of the validation layer
    struct sample_column build; // seconds in the driver's compiler, of those compiled
    // Compiled kernels that spill; that spill more than the device's limit; whose spills are known.
    int64_t spilled, left_out, told;
    struct sample_column statistic[STATISTICS_MOST];
    int statistics;
};

// Draws a random legal configuration; false: none was found in many draws, or a rule failed (`e`).
bool sample_draw(const struct script *s, const struct limits *l, struct rng *r, struct config *c,
                 struct err *e);

// False: a rule failed, or no worker can be started. sample_finish in any case.
bool sample_take(const struct sample_options *o, struct sample *out, struct err *e);
void sample_finish(struct sample *s);

double sample_quantile(const struct sample_column *c, double share); // NAN: there are no values

#endif
