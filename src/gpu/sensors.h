// What a system tells of a device while it works: clocks, temperature, power, and what holds its
// clocks back.
//
//     struct sensors *s = sensors_open(&info, why, sizeof why);   NULL: nothing tells, and why
//     sensors_read(s, &now);       before work: what holds back from here on counts
//     sensors_read(s, &now);       right after it
//     sensors_close(s);
//
// NVIDIA's driver tells through a library of its own, NVML, which is loaded when it is there; AMD's
// and Intel's through sysfs, below the device's place on the PCI bus. Both are foreign: only
// processes that load drivers call anything here. A number that no device can have is left out, and
// the log says so once.
//
// The numbers go by the names "core_mhz", "memory_mhz", "celsius", "watts"; "throttle_power",
// "throttle_current", "throttle_temperature", "throttle_other" are there, and 1, where that held
// the clocks back.
#ifndef TILEWALK_GPU_SENSORS_H
#define TILEWALK_GPU_SENSORS_H

#include "gpu/gpu.h"

#define SENSORS_THROTTLE "throttle_" // as names begin that tell what held the clocks back

struct sensors;
struct sensors *sensors_open(const struct gpu_info *i, char *why, size_t size);
void sensors_read(struct sensors *s, struct statistics *out); // fine with NULL: nothing is known
// The clock of the cores now, as a share of the highest that they can have. NAN: nothing tells, as
// where NVML is not what is asked, or `s` is NULL.
double sensors_awake(struct sensors *s);
void sensors_close(struct sensors *s);

#endif
