// Reads the header of a GGUF file: what it says of the model, and the table of tensors. For this
// folder and for fuzzing.
#ifndef TILEWALK_IMPORT_GGUF_H
#define TILEWALK_IMPORT_GGUF_H

#include "base/err.h"
#include "base/mem.h"

#include <stdint.h>

enum { GGUF_MAX_RANK = 4 };

struct gguf_type {
    const char *name; // "q4_K"; NULL: a number that is not in use
    int block, bytes; // elements of a block, and its bytes
};

struct gguf_tensor {
    const char *name;
    const struct gguf_type *type;
    int rank;
    int64_t size[GGUF_MAX_RANK]; // fastest first; 1 where there is none
    uint64_t offset, bytes;      // behind the header
};

struct gguf {
    const char *architecture, *name; // "llama"; "" where it does not say
    uint64_t blocks, experts_used;   // 0 where it does not say
    uint64_t parts;                  // that the model is split into; 0: it is whole
    struct gguf_tensor *tensor;      // in the file's order, no name twice
    int count;
    bool has_data; // else the file ends with its header
    struct arena arena;
};

// To be finished in any case. Errors do not name the file.
bool gguf_read(const char *path, struct gguf *out, struct err *e);
void gguf_finish(struct gguf *g);

#endif
