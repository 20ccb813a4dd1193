// Helper jobs: a worker is started for one piece of work with untrusted input (templates,
// compilers, drivers), and the caller waits for it. A crash, a hang or exhausted memory there
// becomes an error with a message here.
//
//     helper_job_compile(&job, 30, spirv, e);
//     helper_job_list("", 30, &list, &count, e);
//     helper_job_open(index, false, 30, &clocks, e);
//
// A long job is begun and then polled:
//
//     struct helper_job *h = helper_job_begin_whole(&whole, weights, e);
//     while (!helper_job_is_over(h, &end, &result, e))
//         ...poll helper_job_fds, at most helper_job_wait_ms...
//     helper_job_destroy(h);
//
// The worker is this program again, as a pool's is (message.h has the messages), and ends with the
// job. Lines that it or a driver writes to stderr go to the log.
#ifndef TILEWALK_TRIAL_HELPER_JOB_H
#define TILEWALK_TRIAL_HELPER_JOB_H

#include "gpu/gpu.h"
#include "kernel/kernel.h"
#include "trial/message.h"

#include <poll.h>

enum helper_job_end {
    HELPER_JOB_DONE,
    HELPER_JOB_REFUSED, // the worker answered with an error
    HELPER_JOB_LOST,    // it died, or did not answer in time: `e` has "was killed by SIGABRT"
};

// Compiles the passes of a job, within `seconds` for all of them. `spirv` has room for the modules,
// which are the caller's to finish; NULL: they are not wanted. `e` names the template, and its line
// where one is known.
bool helper_job_compile(const struct job *job, double seconds, struct spirv *spirv, struct err *e);

// Preprocesses the passes of a job into texts that are the caller's to free; else as
// helper_job_compile.
bool helper_job_preprocess(const struct job *job, double seconds, char **text, struct err *e);

// Lists devices as gpu_list does, of the drivers whose manifests `drivers` names in the form of
// VK_DRIVER_FILES; "": of those that the environment leaves. After some seconds the log names what
// is waited for.
enum helper_job_end helper_job_list(const char *drivers, double seconds, struct gpu_info **list,
                                    int *count, struct err *e);

// Tries to open a device. `clocks` (may be NULL) gets the device's clocks and the time of the fixed
// kernel.
bool helper_job_open(int device, bool validate, double seconds, struct clocks *clocks,
                     struct err *e);

// Measures the device's peaks. It should be idle meanwhile.
bool helper_job_peaks(int device, double seconds, struct roofline *out, struct err *e);

// Runs a network as a whole, on the device of whole->place, whose deadlines are those of each
// layer's phases. `weights` is the result of plan_read_files. NULL and `e`: no worker can be
// started.
struct helper_job;
struct helper_job *helper_job_begin_whole(struct whole *w, int weights, struct err *e);
int helper_job_fds(const struct helper_job *h, struct pollfd *out, int most);
int helper_job_wait_ms(const struct helper_job *h);
// False: not yet. True: `result` after HELPER_JOB_DONE; else `e` has the reason.
bool helper_job_is_over(struct helper_job *h, enum helper_job_end *end, struct whole_result *result,
                        struct err *e);
// The phase that was announced last.
enum trial_phase helper_job_phase(const struct helper_job *h, int *candidate);
void helper_job_destroy(struct helper_job *h); // kills a worker that still runs; fine with NULL

#endif
