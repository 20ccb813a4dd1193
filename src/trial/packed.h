// What kernels that run once (job.h) have packed, kept for the candidates to come: an input is
// packed once for each distinct packing, and not for each candidate and each of its runs.
//
//     packed_run(&p, &what, timeout_s, e);    scratch is as its packing leaves it
//     packed_forget(&p, gpu);                 a candidate was wrong, perhaps by its packing
//
// A packing is what its kernels are: their SPIR-V, push constants and groups, and the inputs and
// the size of scratch. The images of scratch, poison where nothing was written, lie in memory of
// the device: PACKED_BYTES in all at most, and an eighth of the device's memory; those that were
// not used for longest go first. What writes outside of scratch is found by the candidate that
// packs, as without this: then all is forgotten.
#ifndef TILEWALK_TRIAL_PACKED_H
#define TILEWALK_TRIAL_PACKED_H

#include "trial/candidate.h"

#define PACKED_BYTES ((uint64_t)256 << 20)
#define PACKED_MOST  32

struct packed { // none, and valid, when zeroed
    struct packed_image {
        struct str key;
        struct gpu_buffer *buffer;
        uint64_t bytes, used;
    } image[PACKED_MOST];
    int count;
    uint64_t bytes, uses;
    int runs; // of packing kernels, so far
};

struct packing {
    struct gpu *gpu;
    const struct candidate *candidate;
    struct gpu_buffer *const *buffer; // the candidate's, scratch the last of them
    int inputs;                       // which set of them lies in the buffers
};

// Nothing happens where the candidate packs nothing. Scratch is as rig_load left it, or as an
// earlier run of the same candidate did.
enum gpu_status packed_run(struct packed *p, const struct packing *what, double timeout_s,
                           struct err *e);
void packed_forget(struct packed *p, struct gpu *g);

#endif
