// The roofline of a device: its peak rates of arithmetic of each type and of memory traffic, as our
// kernels measure them (trial/peaks.h), and the time of an empty dispatch. A kernel takes at least
// as long as its operation's arithmetic or its tensors' traffic at the peak rate, whichever is
// longer (Williams et al. 2009).
//
//     roofline_parse(json, &roofline); seconds = roofline_seconds(&roofline, &operation, &by);
#ifndef TILEWALK_SPACE_ROOFLINE_H
#define TILEWALK_SPACE_ROOFLINE_H

#include "base/json_read.h"
#include "space/operation.h"

enum roofline_kind {
    ROOFLINE_F32,
    ROOFLINE_F16,
    ROOFLINE_I8,         // bytes as 32-bit integers
    ROOFLINE_F16_MATRIX, // matrix units
    ROOFLINE_I8_MATRIX,
    ROOFLINE_BF16_MATRIX,
    ROOFLINE_F8_MATRIX,
    ROOFLINE_BYTES,    // to and from memory
    ROOFLINE_DISPATCH, // seconds
    ROOFLINE_COUNT
};

struct roofline {
    double rate[ROOFLINE_COUNT]; // per second, but for ROOFLINE_DISPATCH; 0: not measured or absent
};

const char *roofline_name(
    enum roofline_kind k); // "f32", "bytes", "dispatch_s": members of its JSON

void roofline_add_json(const struct roofline *r, struct str *out); // an object of what was measured
// Read it back. False: it is not such an object, or has a number that no device can have; `out` is
// zeroed then.
bool roofline_parse(const char *json, struct roofline *out);
bool roofline_read(struct json object, struct roofline *out);

// Returns false where products by matrices were measured and are hardly faster than by ordinary
// arithmetic of 16 or 32 bits: the driver emulates matrices that the device has no units for.
bool roofline_has_matrix_units(const struct roofline *r);

// Returns what stands beside a peak: " (emulated)" of matrix units that are not there, else "".
const char *roofline_note(const struct roofline *r, enum roofline_kind k);

// Returns the least seconds that a run of the operation takes, limited by ROOFLINE_BYTES or by the
// fastest arithmetic of its element type (`by`), with its tensors read or written once. 0: not
// known.
double roofline_seconds(const struct roofline *r, const struct operation *o,
                        enum roofline_kind *by);

#endif
