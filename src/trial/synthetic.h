// A synthetic device: how fast a kernel would run on a plain GPU, by its declared loop nest.
//
// 32 cores take workgroups in turn; each holds as many at once as its threads, registers and shared
// memory leave room for. Warps of 32 lanes issue arithmetic, accesses to shared memory and to
// memory. The latter cost more the more lines a warp's lanes are spread over; with few warps
// nothing hides the latency. Memory has a bandwidth of its own, and the slower of both counts
// (Williams et al. 2009, the roofline). No device is like that, but configurations that are good
// for one shape are good for the next for reasons that are in the loop nest: models are to learn
// them and to transfer them.
#ifndef TILEWALK_TRIAL_SYNTHETIC_H
#define TILEWALK_TRIAL_SYNTHETIC_H

#include "space/nest.h"
#include "space/statistics.h"

// The share of the device's peak that an evaluated point reaches, in (0, 1]. A kernel without
// floating-point operations is measured by the elements that it moves.
double synthetic_device_quality(const struct nest_point *p);

// The statistics that the device's compiler would give, by the names of drivers.
void synthetic_device_statistics(const struct nest_point *p, struct statistics *out);

#endif
