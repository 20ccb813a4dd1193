// A worker's side of one trial: every candidate is compiled, checked, linked and run once small;
// then, alone on the device, run on poisoned output, verified, and timed. A race does that for
// several and times them in turns.
//
// Whatever happens to a candidate is an outcome with one sentence. It never ends the others, but
// after a lost or hung device nothing can be done in this process: the result then settles the
// candidates that are finished, and the worker leaves.
#ifndef TILEWALK_TRIAL_MEASURE_H
#define TILEWALK_TRIAL_MEASURE_H

#include "trial/context.h"
#include "trial/frame.h"

// `trial` is a MESSAGE_TRIAL. Sends the result. False: the worker must end.
bool measure_trial(struct context *context, struct wire *wire, const struct message *trial);

#endif
