// GGUF files: what their headers say of the model and of its tensors. The weights are not read, so
// a file may end with its header or within its data. Internal to this folder.
//
//     struct gguf g;
//     if (gguf_read("model-00002-of-00003.gguf", &g, e)) ...      any part of a model in several
//     gguf_finish(&g);                                            files; in any case
//
// Parts are named as llama.cpp's gguf-split names them, PREFIX-00002-of-00003.gguf, and say what
// they are: split.no (from 0), split.count, split.tensors.count (of all parts). One part has the
// entries about the model, and perhaps no tensor. Parts that are not there are counted.
#ifndef TILEWALK_IMPORT_GGUF_H
#define TILEWALK_IMPORT_GGUF_H

#include "base/err.h"
#include "base/mem.h"

#include <stdbool.h>
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
    const char *architecture, *name; // "llama"; "" where no file has one
    uint64_t blocks, experts_used;   // 0 where no file has one
    struct gguf_tensor *tensor;      // in the files' order, no name twice
    int count, capacity;
    int cut_off; // tensors whose data a file that has data ends before
    // The model may be in several files.
    uint64_t parts;     // 0: it is whole
    uint64_t part;      // of the file that was read last, from 0
    uint64_t all;       // tensors of all parts; 0: they do not say
    int missing;        // parts that are not there
    const char *missed; // the name of the first of them; "": a file's name says no part
    struct arena arena;
};

// Errors name the file.
bool gguf_read(const char *path, struct gguf *out, struct err *e);
void gguf_finish(struct gguf *g);
// Returns whether the two names are those of parts of one model, or the same.
bool gguf_is_part(const char *path, const char *other);

#endif
