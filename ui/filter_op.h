// What filters compare with, of trials (filter_term.c) and of sessions (session_filter.c).
//
//     size_t length = op_read("<=128", &op);      2, TERM_AT_MOST
//     op_compare(op, number, 128, 0)
#ifndef TILEWALK_UI_FILTER_OP_H
#define TILEWALK_UI_FILTER_OP_H

#include <stdbool.h>
#include <stddef.h>

enum term_op {
    TERM_EQUAL,
    TERM_UNEQUAL,
    TERM_LESS,
    TERM_AT_MOST,
    TERM_GREATER,
    TERM_AT_LEAST,
    TERM_CONTAINS
};

// The operator at the beginning of `text`: its length; 0: none, and `op` is as it was.
size_t op_read(const char *text, enum term_op *op);
// Equal is what is no further than `tolerance` away. NaN is neither equal nor unequal, less nor
// more. `op` is not TERM_CONTAINS.
bool op_compare(enum term_op op, double a, double b, double tolerance);
// Whatever the case. NULL is as empty.
bool op_contains(const char *text, const char *part);

#endif
