#ifndef TILEWALK_TRIAL_SYNTHETIC_H
#define TILEWALK_TRIAL_SYNTHETIC_H

#include "space/nest.h"
#include "space/statistics.h"

// A machine that is made up: how fast a kernel would run on a plain GPU, by its declared loop nest.
//
// 32 cores take workgroups in turn; of each, as many at once as its threads, registers and shared
// memory leave room for. Warps of 32 lanes issue arithmetic, accesses to shared memory and to
// memory, the latter dearer the more lines a warp's lanes are spread over; with few warps nothing
// hides the latency. Memory has a bandwidth of its own, and the slower of both counts (Williams et
// al. 2009, the roofline). No device is like that, but what is good on one shape is good on the
// next for reasons that are in the loop nest: what models are to learn, and to carry over.

// Share of the machine's peak that an evaluated point reaches, in (0, 1]. Where there are no
// floating-point operations, as many as elements that are moved are its work.
double machine_quality(const struct nest_point *p);

// What the machine's compiler would say of it, by the names of drivers.
void machine_statistics(const struct nest_point *p, struct statistics *out);

#endif
