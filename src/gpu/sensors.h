// Sensors of a device: clocks, temperature, power, and the reasons for throttling.
//
//     struct sensors *s = sensors_open(&info, why, sizeof why);   NULL: not available, and why
//     sensors_read(s, &now);       before work: throttling from here on counts
//     sensors_read(s, &now);       right after it
//     sensors_close(s);
//
// NVIDIA's driver has a library, NVML, which is loaded when it is installed; AMD's and Intel's have
// files in sysfs, in the device's folder of the PCI bus. Both are foreign code: only processes that
// load drivers call anything here. A number that no device can have is left out, with one warning
// in the log.
//
// The numbers have the names "core_mhz", "memory_mhz", "celsius", "watts"; "throttle_power",
// "throttle_current", "throttle_temperature", "throttle_other" are 1 where the clocks were
// throttled for that reason, and else missing.
#ifndef TILEWALK_GPU_SENSORS_H
#define TILEWALK_GPU_SENSORS_H

#include "gpu/gpu.h"

#define SENSORS_THROTTLE "throttle_" // begins the names of reasons for throttling

struct sensors;
struct sensors *sensors_open(const struct gpu_info *i, char *why, size_t size);
void sensors_read(struct sensors *s, struct statistics *out); // NULL: it gives nothing
// Returns the present clock of the cores as a fraction of the highest one. NAN: not available, as
// without NVML, or `s` is NULL.
double sensors_awake(struct sensors *s);
void sensors_close(struct sensors *s);

#endif
