// What is computed: an operator's kind and its sizes, types and layouts, as a space file declares
// them.
//
//     operator.matmul { N = 512, M = 1024, K = 1024, type = "f32", layout = "nn" }
//
// A pure description. `operation_kinds` says which fields a kind has, and is what space files are
// checked against; trial/operator.h knows how to fill its buffers and what the right result is.
#ifndef TILEWALK_SPACE_OPERATION_H
#define TILEWALK_SPACE_OPERATION_H

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

#define OPERATION_MAX_SIZES   16
#define OPERATION_MAX_CHOICES 6

struct operation_choice {
    const char *name;          // "type"
    const char *const *values; // NULL-terminated; the first is the default
};

struct operation_kind {
    const char *name;                       // "matmul"
    const char *const *sizes;               // NULL-terminated; all are required, 1 .. 2^31-1
    const struct operation_choice *choices; // ends with a NULL name
    double (*flop)(const int64_t *size);    // `size` in the order of `sizes`
};

struct operation {
    const struct operation_kind *kind;
    int64_t size[OPERATION_MAX_SIZES];
    int choice[OPERATION_MAX_CHOICES]; // index into values
};

extern const struct operation_kind *const operation_kinds[]; // NULL-terminated

const struct operation_kind *operation_kind_find(const char *name); // NULL when unknown

// Sizes 0, default choices.
void operation_init(struct operation *o, const struct operation_kind *kind);
// On failure `o` is as before and `e` says what is known.
bool operation_set_size(struct operation *o, const char *name, int64_t value, struct err *e);
bool operation_set_choice(struct operation *o, const char *name, const char *value, struct err *e);
bool operation_complete(const struct operation *o, struct err *e); // names a size that is missing

// Of a complete operation; the size, the choice must exist.
int64_t operation_size(const struct operation *o, const char *name);
const char *operation_choice(const struct operation *o, const char *name);
double operation_flop(const struct operation *o);
// "matmul f32 nn 512x1024x1024"
void operation_add_text(const struct operation *o, struct str *out);
// {"kind":"matmul","N":512,"M":1024,"K":1024,"type":"f32","layout":"nn"}
void operation_add_json(const struct operation *o, struct str *out);

#endif
