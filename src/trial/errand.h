// Errands: a worker is started for one piece of work with what strangers made (templates,
// compilers, drivers), and the caller waits for it. A crash, a hang or exhausted memory there is an
// error with a message here.
//
//     errand_compile(&job, 30, spirv, e);
//     errand_list("", 30, &list, &count, e);
//     errand_open(index, false, 30, &clocks, e);
//
// One that takes long is begun and then looked after:
//
//     struct errand *x = errand_begin_whole(&whole, weights, e);
//     while (!errand_is_over(x, &end, &result, e))
//         ...poll errand_fds, at most errand_wait_ms...
//     errand_destroy(x);
//
// The worker is this program again, as a pool's is (message.h has the messages), and ends with the
// errand. What it or a driver writes to stderr goes to the log.
#ifndef TILEWALK_TRIAL_ERRAND_H
#define TILEWALK_TRIAL_ERRAND_H

#include "gpu/gpu.h"
#include "kernel/kernel.h"
#include "trial/message.h"

#include <poll.h>

enum errand_end {
    ERRAND_DONE,
    ERRAND_REFUSED, // the worker says why not
    ERRAND_LOST,    // it died, or did not answer in time: `e` says how, "was killed by SIGABRT"
};

// The modules of a job's passes, within `seconds` for all of them; `spirv` has room for them, and
// they are the caller's to finish; NULL: they are not wanted. `e` names the template, and its line
// where one is known.
bool errand_compile(const struct job *job, double seconds, struct spirv *spirv, struct err *e);

// The texts of a job's passes as their preprocessor leaves them, the caller's to free; else as
// errand_compile.
bool errand_preprocess(const struct job *job, double seconds, char **text, struct err *e);

// As gpu_list, of the drivers whose manifests `drivers` names as VK_DRIVER_FILES does; "": of those
// that the environment leaves. After some seconds the log says what is waited for.
enum errand_end errand_list(const char *drivers, double seconds, struct gpu_info **list, int *count,
                            struct err *e);

// Whether the device can be opened. `clocks` (may be NULL) gets what the system tells of them, and
// what the fixed kernel takes.
bool errand_open(int device, bool validate, double seconds, struct clocks *clocks, struct err *e);

// Measures the device's roofline. It should have nothing else to do meanwhile.
bool errand_peaks(int device, double seconds, struct roofline *out, struct err *e);

// A network is run as a whole, on the device of whole->place, whose deadlines are those of each
// layer's phases. `weights` is what plan_read_files gave. NULL and `e`: no worker can be started.
struct errand;
struct errand *errand_begin_whole(const struct whole *w, int weights, struct err *e);
int errand_fds(const struct errand *x, struct pollfd *out, int most);
int errand_wait_ms(const struct errand *x);
// False: not yet. True: `result` after ERRAND_DONE; else `e` says why there is none.
bool errand_is_over(struct errand *x, enum errand_end *end, struct whole_result *result,
                    struct err *e);
enum trial_phase errand_phase(const struct errand *x, int *candidate); // that it announced last
void errand_destroy(struct errand *x); // a worker that is at work still is killed; fine with NULL

#endif
