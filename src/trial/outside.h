// Whether a candidate reads or writes outside an array: it runs once more, on the exact inputs,
// with every access checked (kernel/checked.h).
//
//     outside_look(&rig, &candidate, &pace, reason, sizeof reason, e);
//
// What a driver does with such an access does not matter: it is undefined, and on another driver
// the kernel's result, or the device, may be lost.
#ifndef TILEWALK_TRIAL_OUTSIDE_H
#define TILEWALK_TRIAL_OUTSIDE_H

#include "trial/candidate.h"
#include "trial/rig.h"

// `c` is linked, scratch has its job's size; compiling takes its time besides what `pace` allows.
// `reason` gets the sentence that says where it does, or is empty. GPU_FAILED: that cannot be found
// out.
enum gpu_status outside_look(struct rig *r, const struct candidate *c, const struct gpu_pace *pace,
                             char *reason, size_t size, struct err *e);

#endif
