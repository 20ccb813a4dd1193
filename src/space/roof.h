// The roof of a device: the most arithmetic of each type, and the most bytes, that kernels of ours
// (trial/peaks.h) get out of it in a second; and what an empty dispatch takes. No kernel is faster
// than its operation's arithmetic at that rate, or its tensors at that rate, whichever takes longer
// (Williams et al. 2009).
//
//     roof_parse(json, &roof); seconds = roof_seconds(&roof, &operation, &by);
#ifndef TILEWALK_SPACE_ROOF_H
#define TILEWALK_SPACE_ROOF_H

#include "base/json_read.h"
#include "space/operation.h"

enum roof_kind {
    ROOF_F32,
    ROOF_F16,
    ROOF_I8,         // bytes as 32-bit integers
    ROOF_F16_MATRIX, // matrix units
    ROOF_I8_MATRIX,
    ROOF_BYTES,    // to and from memory
    ROOF_DISPATCH, // seconds
    ROOF_COUNT
};

struct roof {
    double rate[ROOF_COUNT]; // by the second, but for ROOF_DISPATCH; 0: not measured, or not there
};

const char *roof_name(enum roof_kind k); // "f32", "bytes", "dispatch_s": members of its JSON

void roof_add_json(const struct roof *r, struct str *out); // an object of what was measured
// False: it is not such an object, or has a number that no device can have. `out` is zeroed then.
bool roof_parse(const char *json, struct roof *out);
bool roof_read(struct json object, struct roof *out);

// The least time that a run of the operation takes: by ROOF_BYTES, or the arithmetic of its element
// type at its fastest, with its tensors read or written once. 0: not known.
double roof_seconds(const struct roof *r, const struct operation *o, enum roof_kind *by);

#endif
