// The memory that the pool and all its workers share: the operator's inputs, and the right result,
// for both input sets.
//
// One worker computes it all (PHASE_PREPARE) through a writable mapping; from then on it is mapped
// read-only, so that nothing a driver does can change what is right. Layout: for each set, the
// operator's buffers in their order, each on a 64-byte boundary; the output's place holds the
// reference.
#ifndef TILEWALK_TRIAL_SHARED_H
#define TILEWALK_TRIAL_SHARED_H

#include "trial/operator.h"

#include <stddef.h>

#define INPUT_SETS 2

struct shared {
    struct operator_layout layout;
    unsigned char *bytes;
    size_t size;
};

// False when nothing of that size can be mapped.
bool shared_size(const struct operation *o, size_t *size, struct err *e);
bool shared_map(struct shared *s, const struct operation *o, int fd, bool writable, struct err *e);
void shared_unmap(struct shared *s);
void *shared_buffer(const struct shared *s, enum input_set set, int index);
const void *shared_reference(const struct shared *s, enum input_set set);

// Fills everything; `s` is writable.
void shared_prepare(struct shared *s, const struct operation *o, uint64_t seed);

#endif
