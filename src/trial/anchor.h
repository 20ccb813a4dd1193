// The anchor: a fixed kernel of ours, whose time says how fast the device is just now. What other
// kernels take is compared fairly only while it takes the same.
//
//     seconds = anchor_time(&rig->anchor, rig->gpu);     made when it is first timed
//
// All workers run the same amount of arithmetic on 32-bit floats, in registers.
#ifndef TILEWALK_TRIAL_ANCHOR_H
#define TILEWALK_TRIAL_ANCHOR_H

#include "gpu/gpu.h"

struct anchor { // valid when zeroed; lives as long as the device
    struct gpu_pipeline *pipeline;
    struct gpu_buffer *buffer;
};

// Seconds; 0, with a line in the log, where it fails: that says nothing of other kernels, and a
// device that is lost is lost to them soon enough.
double anchor_time(struct anchor *a, struct gpu *g);

#endif
