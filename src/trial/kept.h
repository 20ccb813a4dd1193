// What a driver's compiler made of kernels that were only compiled, until one of them is measured:
// then it goes along, so that no kernel is compiled twice.
//
//     kept_add(&list, &job, &made, seconds);
//     const struct kept *k = kept_find(&list, &job);
//     kept_finish(&list);
#ifndef TILEWALK_TRIAL_KEPT_H
#define TILEWALK_TRIAL_KEPT_H

#include "gpu/gpu.h"
#include "kernel/job.h"

#define KEPT_MOST_BYTES ((size_t)64 << 20) // then the oldest are forgotten

struct kept {
    char job[33]; // hash of its texts
    struct gpu_kept made;
    double seconds; // what the compiler took
};

struct kept_list { // empty: zeros
    struct kept *item;
    int count, capacity;
    size_t bytes;
};

// Takes what `made` holds.
void kept_add(struct kept_list *l, const struct job *j, struct gpu_kept *made, double seconds);
const struct kept *kept_find(const struct kept_list *l,
                             const struct job *j); // NULL: it is not there
void kept_finish(struct kept_list *l);

#endif
