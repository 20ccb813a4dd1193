// A worker's side of a network that is run as a whole (message.h): compiled, verified layer by
// layer, run in one submission, timed.
//
// What a layer gives is compared with what the operator's reference makes of what the layer read
// from the device, in the memory that all share; and what it read has to be what was written there:
// a value that another one overwrites too early is seen. Then all is run at once, before and after
// it is timed, and what the network gives has to be what it gave layer by layer.
#ifndef TILEWALK_TRIAL_WHOLE_H
#define TILEWALK_TRIAL_WHOLE_H

#include "trial/frame.h"

// Injected faults (fault.h) count what a phase is about from this number on: the first task or
// layer is WHOLE_FAULTS + 1, the whole itself WHOLE_FAULTS.
#define WHOLE_FAULTS 1000000

// Answers on the wire. `weights` is the descriptor of what plan_read_files gave, if the plan has
// any. The worker is of no further use.
void whole_run(struct wire *wire, const struct whole *whole, int weights);

#endif
