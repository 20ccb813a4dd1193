// Random valid configurations, compiled by a driver as far as its pipelines: what it refuses, how
// long it takes, and what it says of them. Nothing runs, so that a driver without its hardware will
// do.
//
//     sample_compile(&options, &found, e); ... sample_finish(&found);
#ifndef TILEWALK_ENGINE_SAMPLE_COMPILE_H
#define TILEWALK_ENGINE_SAMPLE_COMPILE_H

#include "gpu/gpu.h"
#include "script/script.h"

struct sample_options {
    struct script *script;
    const struct gpu_info *device;
    int64_t count;
    uint64_t seed;
    bool validate;     // with the Khronos validation layer
    const char *fault; // as in pool_options
};

struct sample_refusal {
    char *reason;
    int64_t count;
};

// One number for each configuration of which it is known.
struct sample_column {
    char name[STATISTICS_NAME_SIZE];
    double *value; // ascending
    int64_t count, capacity;
};

struct sample {
    int64_t asked; // less than wanted where the space has no more that are valid
    int64_t compiled;
    struct sample_refusal *refusal; // most frequent first
    int refusals, refusal_capacity;
    int64_t messages;           // of the validation layer
    struct sample_column build; // seconds in the driver's compiler, of those compiled
    // Of those compiled: that spill; more than the device's limit; of which the driver tells it.
    int64_t spilled, left_out, told;
    struct sample_column statistic[STATISTICS_MOST];
    int statistics;
};

// False: a rule failed, or no worker can be started. sample_finish in any case.
bool sample_compile(const struct sample_options *o, struct sample *out, struct err *e);
void sample_finish(struct sample *s);

double sample_quantile(const struct sample_column *c, double share); // NAN: there are no values

#endif
