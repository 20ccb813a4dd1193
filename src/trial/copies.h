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
#ifndef TILEWALK_TRIAL_COPIES_H
#define TILEWALK_TRIAL_COPIES_H

#include "gpu/gpu.h"
#include "trial/operator.h"

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

#endif
