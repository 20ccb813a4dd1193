// What the terms of filters compare with (expression.h).
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
    TERM_CONTAINS,
    TERM_HAS // texts contain it, numbers equal it
};

// The operator at the beginning of `text`: its length; 0: none, and `op` is as it was.
size_t op_read(const char *text, enum term_op *op);
// Compares two numbers; they are equal when they are no further apart than `tolerance`. NaN is
// neither equal nor unequal, less nor more. `op` is not TERM_CONTAINS; TERM_HAS means equal.
bool op_compare(enum term_op op, double a, double b, double tolerance);
// What `op` means where texts are compared: TERM_HAS becomes TERM_CONTAINS.
enum term_op op_of_texts(enum term_op op);
// Whether `text` (NULL counts as "") contains `part`, in upper or lower case.
bool op_contains(const char *text, const char *part);

#endif
