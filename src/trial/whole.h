// A worker's side of a network that is run as a whole (message.h): compiled, verified layer by
// layer, run in one submission, timed.
//
// The output of a layer is compared with the operator's reference for the inputs that the layer had
// on the device, in the memory that all layers share. These inputs must be what was written there,
// so that a value that another one overwrites too early is found. Then everything is run at once,
// before and after it is timed, and the network's outputs must be those of the single layers.
#ifndef TILEWALK_TRIAL_WHOLE_H
#define TILEWALK_TRIAL_WHOLE_H

#include "trial/frame.h"

// Injected faults (fault.h) count the subjects of phases from this number on: the first task or
// layer is WHOLE_FAULTS + 1, the whole itself WHOLE_FAULTS.
#define WHOLE_FAULTS 1000000

// The constants of a network's run: the values of its inputs and weights. The same plan and seed
// give the same values in every process: a network is exported with the values with which it was
// timed.
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

// Answers on the wire. `weights` is the descriptor of plan_read_files, if the plan has any. The
// worker cannot be used any more.
void whole_run(struct wire *wire, const struct whole *whole, int weights);

#endif
