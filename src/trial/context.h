// The measurement context of a worker: the open device, the operator's buffers on it, the right
// results.
//
//     context_open, context_prepare or shared_map                                 once
//     context_set_scratch; context_load; run something; context_fetch; context_verify
//                                                              each run that is verified
//
// A worker that only compiles, or warms (hello), has only the device and the layout.
//
// The device and the operator's buffers live as long as the worker; scratch memory is created for
// each candidate's size. Each buffer has a guard before and behind it that is not part of its size.
// Before a run everything is filled with 0xFF bytes (a NaN that no arithmetic gives; of integers
// -1), so that tiles never written and writes outside are both found. Inputs are written again for
// every run: the last candidate may have overwritten them. What a candidate wants in other buffers
// before a run is part of its sequence (candidate.h).
#ifndef TILEWALK_TRIAL_CONTEXT_H
#define TILEWALK_TRIAL_CONTEXT_H

#include "gpu/gpu.h"
#include "trial/candidate.h"
#include "trial/message.h"
#include "trial/operator.h"
#include "trial/peaks.h"

// Copies of an operator's buffers, on which kernels are timed in turns (tune --cold): each run
// finds its inputs in the device's memory, as in a program that did something else meanwhile.
//
//     context_load_to_time(x, are_random, e);    copies the content of the buffers into all copies
//     copies_use(&c, &sequence);                 runs of the sequence use them in turns
//
// Together they have COPIES_BYTES, more than the last cache of any device that we know (256 MiB, of
// an AMD MI300X), or an eighth of the device's memory where that is less. There are at least two
// copies, and at most COPIES_MOST, which is logged where it is too few. Scratch memory has no
// copies: a run writes it before it reads it. All live as long as the device.

#define COPIES_BYTES ((uint64_t)512 << 20)
#define COPIES_MOST  4096

struct copies { // none, and valid, when zeroed
    struct gpu_memory *memory;
    struct gpu_buffer **buffer; // [count * (buffers + 1)]; the last of each is scratch, or NULL
    int count, buffers;
};

// The number of copies of `bytes` on a device with so much memory (0: not known).
int copies_wanted(uint64_t bytes, uint64_t memory_bytes);

// Makes the sequence, which uses the operator's buffers with scratch, or NULL, behind them, use the
// copies, if there are any.
void copies_use(const struct copies *c, struct gpu_sequence *s);

// A cache of packed inputs, the output of kernels that run once (job.h): an input is packed once
// for each distinct packing, and not for each candidate and each of its runs.
//
//     packed_run(&p, &what, timeout_s, e);    scratch gets the output of its packing
//     packed_forget(&p, gpu);                 a candidate was wrong, perhaps by its packing
//
// A packing is identified by its kernels (SPIR-V, push constants and groups), the inputs, and the
// size of scratch. The images of scratch, poison where nothing was written, lie in memory of the
// device: at most PACKED_BYTES in all, and an eighth of the device's memory; the least recently
// used go first. A write outside of scratch is found with the candidate that packs, as without a
// cache: then everything is forgotten.

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

// Nothing happens where the candidate packs nothing. Scratch is as context_load or an earlier run
// of the same candidate left it.
enum gpu_status packed_run(struct packed *p, const struct packing *what, double timeout_s,
                           struct err *e);
void packed_forget(struct packed *p, struct gpu *g);

#define CONTEXT_GUARD_BYTES ((uint64_t)64 << 10)
#define CONTEXT_POISON_WORD 0xffffffffu // where nothing was written

struct context {
    struct hello hello;
    struct gpu *gpu;
    struct sensors *sensors; // NULL: there are none
    bool clocks_stay_low;    // also while the device is busy
    struct fixed anchor;
    struct copies copies; // for timing, where the hello asks for them
    struct shared shared;
    unsigned char *fresh; // the memory of context_refresh, heap; NULL: none
    struct operator_layout layout;
    struct gpu_buffer *buffer[OPERATOR_MAX_BUFFERS + 1]; // the last one is scratch, or NULL
    struct gpu_buffer *report; // of a candidate whose accesses are checked
    uint64_t scratch_bytes;
    enum input_set loaded; // last
    bool has_inputs;       // some set has been loaded
    struct packed packed;
    unsigned char *fetched; // the outputs
    unsigned char *guards;  // CONTEXT_GUARD_BYTES or less before each buffer, then as many behind
};

// Opens the device of a hello alone; NULL and `e`.
struct gpu *context_open_device(const struct hello *h, struct err *e);
bool context_open(struct context *x, const struct hello *h, struct err *e); // borrows from `h`
// Computes the shared memory's content.
bool context_prepare(struct context *x, int fd, struct err *e);

// Fills inputs and right results anew, from another seed, in memory of this process. False: nothing
// changed, since the right results come from a kernel, or take too long to compute.
bool context_refresh(struct context *x, uint64_t seed);

// Keeps a device with low clocks, as after idle, busy until they rise no more: that takes longer
// than the warm-up of a timing. Does nothing where no sensor measures clocks. GPU_LOST and `e`: the
// device cannot be used any more.
enum gpu_status context_raise_clocks(struct context *x, struct err *e);
// Adds the device's clocks now, and what limited them since the last call.
void context_read_clocks(struct context *x, struct statistics *clocks);

// Makes sure that scratch has exactly `bytes` (0: there is none).
enum gpu_status context_set_scratch(struct context *x, uint64_t bytes, struct err *e);
// The same for a candidate, with its packed inputs in scratch, of those loaded last.
enum gpu_status context_pack(struct context *x, const struct candidate *c, double timeout_s,
                             struct err *e);
const char *context_buffer_name(const struct context *x, int buffer);
enum gpu_status context_load(struct context *x, enum input_set set, struct err *e);
// The same with another word in the place of poison: in the buffer that it names alone, or in all
// (-1) that are no inputs.
enum gpu_status context_load_other(struct context *x, int buffer, struct err *e);
// Leaves the outputs and scratch as the run before has left them.
enum gpu_status context_load_inputs(struct context *x, enum input_set set, struct err *e);
// Loads inputs for timing: on GPUs random numbers, since exact small integers cost less power, and
// cards that are limited by power run them faster. On CPU devices, and where they are random
// already, the inputs stay.
enum gpu_status context_load_to_time(struct context *x, bool are_random, struct err *e);
enum gpu_status context_fetch(struct context *x, struct err *e);

// Changes the fetched result, as an injected fault asks.
enum corruption { CORRUPT_NOTHING, CORRUPT_FIRST, CORRUPT_LAST, CORRUPT_GUARD };
void context_corrupt(struct context *x, enum corruption c);
// Returns whether nothing was written outside of buffers; else `reason` says where.
bool context_guards_hold(const struct context *x, char *reason, size_t size);
bool context_verify(const struct context *x, enum input_set set, char *reason, size_t size);
// Returns whether the outputs fetched now differ from `before`, those of a run on poison, by more
// than what both left as it was: then they depend on what context_load_other has put there.
bool context_depends(const struct context *x, const unsigned char *before);

#endif
