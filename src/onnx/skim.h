// A model without what is not asked for, and without its large constants, whose places are noted:
// what is left is small, and no deeper than a graph's nodes' attributes, however the file nests. Of
// a graph inside of a node stay the names that it reads, as strings of the attribute.
#ifndef TILEWALK_ONNX_SKIM_H
#define TILEWALK_ONNX_SKIM_H

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct skim_slice {
    const unsigned char *data; // NULL: none
    size_t length;
};

struct skim_constant {
    struct str rest;        // the message without them
    struct skim_slice raw;  // raw_data
    struct skim_slice list; // float_data, when it is one packed list
};

struct skim {
    struct str model, graph; // messages of their own
    struct skim_constant *constant;
    int constant_count, constant_capacity;
    bool has_sparse; // constants, which are left out
};

// False: this is not made of fields.
bool skim_model(const unsigned char *bytes, size_t length, struct skim *out);
bool skim_tensor(const unsigned char *bytes, size_t length, struct skim_constant *out);
void skim_finish(struct skim *s);

#endif
