// The fields of a message of Protocol Buffers, one after the other, without making anything of
// them: how large constants are left out before a library copies what it is given.
//
//     struct wire_walk w = wire_walk_begin(bytes, length);
//     while (wire_next(&w)) w.field, w.kind, w.data, w.length ...
//     if (w.is_broken) ...
#ifndef TILEWALK_ONNX_WIRE_H
#define TILEWALK_ONNX_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wire_kind { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

struct wire_walk {
    const unsigned char *at, *end;
    bool is_broken; // what follows is no field
    // of the field that wire_next has found
    uint32_t field;
    enum wire_kind kind;
    const unsigned char *whole; // with its tag; up to `at`
    const unsigned char *data;  // of WIRE_BYTES
    size_t length;
};

struct wire_walk wire_walk_begin(const unsigned char *bytes, size_t length);
bool wire_next(struct wire_walk *w); // false at the end, and where it is broken

#endif
