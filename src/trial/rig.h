// What a worker measures with: the open device, the operator's buffers on it, the right results.
//
//     rig_open, rig_prepare or rig_attach                            once
//     rig_scratch; rig_load; run something; rig_fetch; rig_verify    each run that is verified
//
// Of one that only compiles, or warms (hello), there is the device and the layout, and none of the
// rest.
//
// The device and the operator's buffers live as long as the worker, scratch memory is made to a
// candidate's measure. Each has a guard before and behind it that the candidate is not told of;
// before a run all is filled with 0xFF bytes (a NaN that no arithmetic makes; of integers -1), so
// that a tile never written and a write outside are both seen. Inputs are written again for every
// run: the last candidate may have scribbled on them.
#ifndef TILEWALK_TRIAL_RIG_H
#define TILEWALK_TRIAL_RIG_H

#include "gpu/gpu.h"
#include "gpu/sensors.h"
#include "trial/candidate.h"
#include "trial/message.h"
#include "trial/operator.h"
#include "trial/peaks.h"
#include "trial/shared.h"

// Copies of an operator's buffers, on which kernels are timed in turns (tune --cold): each run
// finds its inputs in the device's memory, as it would in a program that did something else since.
//
//     copies_create(&c, gpu, &layout, e);
//     copies_load(&c, gpu, rig->buffer, e);      what the buffers hold by now, into all copies
//     copies_use(&c, &sequence);                 runs of the sequence take them in turns
//
// Together they have COPIES_BYTES, more than the last cache of any device that we know (256 MiB, of
// an AMD MI300X); where that is more than an eighth of the device's memory, that much; and never
// fewer than two copies, nor more than COPIES_MOST, which is said in the log where it is too few.
// Scratch memory has no copies: a run writes it before it reads it. All live as long as the device.

#define COPIES_BYTES ((uint64_t)512 << 20)
#define COPIES_MOST  4096

struct copies { // none, and valid, when zeroed
    struct gpu_memory *memory;
    struct gpu_buffer **buffer; // [count * (buffers + 1)]; the last of each is scratch, or NULL
    int count, buffers;
};

// How many copies of `bytes` there are on a device with so much memory (0: not known).
int copies_wanted(uint64_t bytes, uint64_t memory_bytes);

enum gpu_status copies_create(struct copies *c, struct gpu *g, const struct operator_layout *l,
                              struct err *e);
// `from`: the operator's buffers. Nothing happens where there are no copies.
enum gpu_status copies_load(const struct copies *c, struct gpu *g, struct gpu_buffer *const *from,
                            struct err *e);
// The sequence uses the operator's buffers, with scratch, or NULL, behind them; from here on it
// uses the copies, if there are any.
void copies_use(const struct copies *c, struct gpu_sequence *s);

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

#define RIG_GUARD_BYTES ((uint64_t)64 << 10)
#define RIG_POISON_WORD 0xffffffffu // all that was not written

struct rig {
    struct hello hello;
    struct gpu *gpu;
    struct sensors *sensors; // NULL: nothing tells
    bool never_wakes;        // the device's clocks stayed low while it was busy
    struct fixed anchor;
    struct copies copies; // for what is timed, where the hello asks for them
    struct shared shared;
    struct operator_layout layout;
    struct gpu_buffer *buffer[OPERATOR_MAX_BUFFERS + 1]; // the last one is scratch, or NULL
    struct gpu_buffer *report; // of a candidate whose accesses are checked
    uint64_t scratch_bytes;
    enum input_set loaded; // last
    struct packed packed;
    unsigned char *fetched; // the output
    unsigned char *guards;  // RIG_GUARD_BYTES or less before each buffer, then as many behind it
};

// The device alone, as the hello says; NULL and `e`.
struct gpu *rig_open_device(const struct hello *h, struct err *e);
bool rig_open(struct rig *r, const struct hello *h, struct err *e); // what `h` points to must last
bool rig_prepare(struct rig *r, int fd, struct err *e); // computes the shared memory's content
bool rig_attach(struct rig *r, int fd, struct err *e);  // another worker has; again is fine

// Keeps a device busy whose clocks are low, as after idle, until they rise no more: that takes
// longer than a timing's own warming up. Does nothing where no sensor tells of clocks. GPU_LOST and
// `e`: the device is of no more use.
enum gpu_status rig_wake(struct rig *r, struct err *e);
// Adds what the system tells of the device's clocks; what held them back since the last call
// counts.
void rig_sense(struct rig *r, struct statistics *clocks);

// Makes sure that scratch has exactly `bytes` (0: there is none).
enum gpu_status rig_scratch(struct rig *r, uint64_t bytes, struct err *e);
// The same for a candidate, and leaves there what it packs (packed.h) of the inputs loaded last.
enum gpu_status rig_pack(struct rig *r, const struct candidate *c, double timeout_s, struct err *e);
int rig_bindings(const struct rig *r, const struct job *j); // buffers that the job sees
const char *rig_buffer_name(const struct rig *r, int buffer);
void rig_sizes(const struct rig *r, uint64_t bytes[OPERATOR_MAX_BUFFERS + 1]); // of those buffers
enum gpu_status rig_load(struct rig *r, enum input_set set, struct err *e);
// Loads what kernels are timed on: on GPUs random numbers, since exact small integers cost less
// power, and cards that power holds back run them faster; on CPU devices, and where they are random
// already, what is there.
enum gpu_status rig_load_to_time(struct rig *r, bool are_random, struct err *e);
enum gpu_status rig_fetch(struct rig *r, struct err *e);

// What an injected fault does to the fetched result.
enum corruption { CORRUPT_NOTHING, CORRUPT_FIRST, CORRUPT_LAST, CORRUPT_GUARD };
void rig_corrupt(struct rig *r, enum corruption c);
bool rig_verify(const struct rig *r, enum input_set set, char *reason, size_t size);

#endif
