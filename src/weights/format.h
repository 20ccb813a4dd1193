// Readers of headers. Internal to this folder, and for fuzzing.
#ifndef TILEWALK_WEIGHTS_FORMAT_H
#define TILEWALK_WEIGHTS_FORMAT_H

#include "weights/weights.h"

#include <stddef.h>

struct saved_kind {
    const char *npy, *safetensors; // "f4", "F32"; NULL: it has none
};
extern const struct saved_kind saved_kinds[ELEMENT_COUNT];

// Each fills tensor, count and header_bytes of `f`, whose file is open as `fd`.
bool npy_read(int fd, struct weights_file *f, struct err *e);
bool safetensors_read(int fd, struct weights_file *f, struct err *e);

// Reads bytes at `offset`. False: the file ends before.
bool weights_read_at(int fd, uint64_t offset, void *out, size_t bytes, struct err *e);
uint64_t saved_count(const struct saved_tensor *t); // returns the number of elements; saturates

#endif
