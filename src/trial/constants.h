// The constants of a network's run: the values of its inputs and weights.
//
// The same plan and seed give the same values in every process: a network is exported with the
// values with which it was timed.
#ifndef TILEWALK_TRIAL_CONSTANTS_H
#define TILEWALK_TRIAL_CONSTANTS_H

#include "network/plan.h"

struct constants {
    const struct plan *plan;
    uint64_t seed;
    const unsigned char *files; // the mapped result of plan_read_files; NULL: the plan has none
};

// False and `e`: `files` cannot be mapped. `fd` is plan_read_files', and may be closed then.
bool constants_map(struct constants *c, int fd, struct err *e);
void constants_unmap(struct constants *c);

// Fills in value `value`, an input or a weight, in the layout of its buffer, with its gaps. A
// weight is tensor `index` of `o`; for an input neither matters. `out` has room for the value's
// bytes.
void constants_fill(const struct constants *c, int value, const struct operation *o, int index,
                    void *out);

#endif
