// The Vulkan devices of this machine, with what both their drivers and the compiler support.
// Drivers are loaded by child processes only. A driver that aborts or hangs while its devices are
// listed is named in a warning, and left out from then on, by this process and by those that it
// starts.
#ifndef TILEWALK_ENGINE_DEVICES_H
#define TILEWALK_ENGINE_DEVICES_H

#include "base/str.h"
#include "gpu/gpu.h"
#include "space/roofline.h"
#include "store/store.h"
#include "trial/source.h"

// Lists the devices as gpu_list does, in a child process (helper_job.h), with the environment that
// drivers need (gpu_prepare_environment).
bool devices_list(struct gpu_info **list, int *count, struct err *e);

struct script;
// Returns options of a pool with one worker that runs kernels of a space on this device. Both are
// borrowed.
struct pool_options devices_pool(const struct gpu_info *device, const struct script *script);

// Returns how long a process may take to list or open devices: TILEWALK_DRIVER_SECONDS, else 30.
double devices_patience_s(void);

// As devices_list, with two additions. `limits.matrix` of each device is what kernels can use:
// KHR's cooperative matrices where both the device and the compiler support them, else NV's, else
// none. The name of a device's driver has the version of the compiler added, where the user named
// one: results of different compilers are not compared as if they were of one device.
bool devices_find(struct gpu_info **list, int *count, struct err *e);

// As devices_find; `cards` are those that session `r` was measured on, or as many as are here of
// that identity. False and `e`, which ends with `hint`, when none is, or not as it was.
bool devices_match(const struct session_record *r, const char *hint, const struct gpu_info *list,
                   int count, struct gpu_cards *cards, struct err *e); // among those of a list
bool devices_find_again(const struct session_record *r, const char *hint, struct gpu_info **list,
                        int *count, struct gpu_cards *cards, struct err *e);

// Describes the compiler of GLSL as kernel_describe_compiler does; `complete` says whether it knows
// all that presets use.
bool devices_describe_compiler(struct str *name, struct str *missing, bool *complete,
                               struct err *e);

// Checks that the calibration kernel takes the same on all of them: only then they are one device.
// Fails where the sensors of one of the cards do not tell its power, with the reason.
bool devices_tell_power(const struct gpu_info *list, const struct gpu_cards *cards, struct err *e);
bool devices_agree(const struct gpu_info *list, const struct gpu_cards *cards, struct err *e);

// The peaks of a device (space/roofline.h) in the database. Each is measured once, with its device
// and driver, by a process of its own:
//
//     peak_find(store, &info, &peak, &found, e) && (found || peak_measure(store, &info, &peak, e))
bool peak_find(struct store *store, const struct gpu_info *i, struct roofline *out, bool *found,
               struct err *e);
// Takes some seconds, and the device; what was stored before is replaced.
bool peak_measure(struct store *store, const struct gpu_info *i, struct roofline *out,
                  struct err *e);
// Takes the matrix units from the limits of a device whose peaks say that its driver emulates them.
// Measures the peaks where the device has matrices, is no CPU and is `here`. False: the database
// fails.
bool peak_judge_matrices(struct store *store, struct gpu_info *i, bool here, struct err *e);

#endif
