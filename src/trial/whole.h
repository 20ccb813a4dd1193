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

// Answers on the wire. `weights` is the descriptor of plan_read_files, if the plan has any. The
// worker cannot be used any more.
void whole_run(struct wire *wire, const struct whole *whole, int weights);

#endif
