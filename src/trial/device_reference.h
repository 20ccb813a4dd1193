// The right result of an operation that the space file defines by a kernel, run on the worker's
// device.
#ifndef TILEWALK_TRIAL_DEVICE_REFERENCE_H
#define TILEWALK_TRIAL_DEVICE_REFERENCE_H

#include "trial/rig.h"

// Fills in the results of the rig's shared memory, which is writable, from the inputs there; a job
// without passes leaves them as they are. False: the kernel does not compile, exceeds the device,
// or leaves a part of the output unwritten.
bool device_reference_compute(struct rig *r, const struct job *reference, struct err *e);

#endif
