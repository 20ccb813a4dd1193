// Weight files: tensors that other programs have saved, as .npy (NumPy; versions 1 to 3) and
// .safetensors.
//
//     struct weights_file *f = weights_open("net/fc.npy", "net", WEIGHTS_NPY, e);
//     weights_take(f, &choice, &tensor, &arena, &w, e)    chooses the contents of `tensor`
//     weights_close(f);
//     weights_read(&w, elements, e)                       later: the data
//
// Opening reads only the header, and compares every size in it with the size of the file. Errors do
// not name the file.
#ifndef TILEWALK_WEIGHTS_WEIGHTS_H
#define TILEWALK_WEIGHTS_WEIGHTS_H

#include "base/err.h"
#include "base/mem.h"
#include "space/operation.h"

#include <stdbool.h>
#include <stdint.h>

#define WEIGHTS_MAX_RANK 8

enum weights_format { WEIGHTS_NPY, WEIGHTS_SAFETENSORS };

struct saved_tensor {
    const char *name;      // "" in a .npy
    enum element type;     // ELEMENT_COUNT: it cannot be read
    const char *type_name; // "f32"; for other types the word of the file
    int rank;
    uint64_t size[WEIGHTS_MAX_RANK]; // slowest first
    uint64_t offset, bytes;          // of its data, in the file
};

struct weights_file { // the header of a file
    const char *path, *folder;
    enum weights_format format;
    struct saved_tensor *tensor; // by name, no name twice
    int count;
    size_t header_bytes;
    uint64_t file_bytes, stamp; // file_stamp
    struct arena arena;
};

// The contents of a tensor of an operation. Its texts belong to the arena given to weights_take.
struct weights {
    const char *path, *folder; // the file is below this folder, also through links
    const char *name;          // of the tensor in the file, "" in a .npy
    enum element saved;        // in the file
    enum element element;      // of what weights_read writes
    int64_t count;
    uint64_t offset, stamp;
};

// Opens a file, which the caller closes. NULL and `e`: it is no regular file below `folder`, or its
// header is wrong.
struct weights_file *weights_open(const char *path, const char *folder, enum weights_format format,
                                  struct err *e);
void weights_close(struct weights_file *f); // NULL is fine

struct weights_choice {
    const char *name; // of the tensor; NULL in a .npy
    bool rounds;      // values that the element does not have
};

// Chooses the contents of `to`. The saved tensor must have as many elements in the same order, of a
// type whose values the element of `to` can hold, exactly or rounded.
bool weights_take(const struct weights_file *f, const struct weights_choice *choice,
                  const struct tensor *to, struct arena *a, struct weights *out, struct err *e);

// Fills `out`, the caller's, with `count` elements, one after the other, slowest dimension first:
// the gaps of a tensor that has any are the caller's. Fails where the file has changed since it was
// opened, and where a finite value is beyond what the element can hold.
bool weights_read(const struct weights *w, void *out, struct err *e);

// Writes a .safetensors of f32. `fill` is called for pieces of each tensor, in order, so that only
// a piece is in memory.
struct weights_new {
    const char *name; // no two alike
    int rank;
    uint64_t size[WEIGHTS_MAX_RANK];
    void (*fill)(const void *context, int64_t first, int64_t count, float *out);
    const void *context;
};
bool weights_write(const char *path, const struct weights_new *tensor, int count, struct err *e);

#endif
