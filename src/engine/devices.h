// The devices of this machine as kernels can use them: what drivers offer and the compiler knows.
// No driver is ever loaded into this process: one that aborts or hangs while its devices are listed
// is told of in the log, and left out from then on, here and in what is started from here.
#ifndef TILEWALK_ENGINE_DEVICES_H
#define TILEWALK_ENGINE_DEVICES_H

#include "gpu/gpu.h"
#include "store/store.h"

// As gpu_list, in an environment prepared for it.
bool devices_list(struct gpu_info **list, int *count, struct err *e);

// How long a process may take to list or to open devices: TILEWALK_DRIVER_SECONDS, else 30.
double devices_patience_s(void);

// As devices_list, and `limits.matrix` of each device is what
// kernels can use: KHR's cooperative matrices where the device has them and the compiler knows
// them, else NV's, else none. A compiler that the user named is part of a device's driver, and so
// of what results are compared by.
bool devices_find(struct gpu_info **list, int *count, struct err *e);

// The same, and which of them is the one that session `r` was measured on. False and `e`, with
// `hint` for who has it no more, when it is not here as it was.
bool devices_find_again(const struct session_record *r, const char *hint, struct gpu_info **list,
                        int *count, int *index, struct err *e);

#endif
