// Whether a candidate reads or writes outside an array: it runs once more, on the exact inputs,
// with every access checked (kernel/checked.h).
//
//     outside_look(&rig, &job, &candidate, group_s, timeout_s, &inside, reason, sizeof reason, e);
//
// What a driver does with such an access does not matter: it is undefined, and on another driver
// the kernel's result, or the device, may be lost.
#ifndef TILEWALK_TRIAL_OUTSIDE_H
#define TILEWALK_TRIAL_OUTSIDE_H

#include "trial/candidate.h"
#include "trial/rig.h"

// `c` is linked, scratch has the job's size, `group_s` and `timeout_s` are as in candidate_run;
// compiling takes its time besides. `inside`: it does not, or `reason` gets the sentence that says
// where. GPU_FAILED: that cannot be found out.
enum gpu_status outside_look(struct rig *r, const struct job *j, const struct candidate *c,
                             double group_s, double timeout_s, bool *inside, char *reason,
                             size_t size, struct err *e);

#endif
