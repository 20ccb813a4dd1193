// What every filter is written in, of trials (filter.h) and of sessions (session_filter.h): terms
// that are joined. What a term says is the filter's own affair.
//
//     const struct term_reader reader = {&terms, add_term};
//     struct expression *x = expression_read("tm=128 not (early or ms>3)", &reader, e);
//     if (expression_holds(x, term_holds, &terms, trial)) ...
//     expression_destroy(x);
//
// Terms are joined by a blank or `and`, by `or`, turned round by `not`, grouped by parentheses;
// `not` binds before `and`, `and` before `or`. A term is NAME OP VALUE or one word alone; OP is
// = != < <= > >= ~ (contains) or : (contains, or of numbers: equals). What holds blanks or signs
// stands in double quotes, where \" and \\ are those two characters.
#ifndef TILEWALK_UI_EXPRESSION_H
#define TILEWALK_UI_EXPRESSION_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

// What the terms of filters compare with (expression.h).
//
//     size_t length = op_read("<=128", &op);      2, TERM_AT_MOST
//     op_compare(op, number, 128, 0)

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

struct expression;

// One term as it was typed. The texts live as long as the call that they are handed to.
struct typed_term {
    const char *name;  // NULL: a word in quotes that stands alone
    const char *value; // NULL: `name` stands alone
    enum term_op op;   // where there are both
    const char *whole; // the term as it was typed, quotes included
};

struct term_reader {
    void *terms;
    // Appends a term to `terms`, whose numbers count from 0 in the order of the calls. False and
    // `e`; then `wrong_value` says that the value is to blame, not the name.
    bool (*add)(void *terms, const struct typed_term *t, bool *wrong_value, struct err *e);
};

// Whether term `number` of `terms` has a property, as far as `item` is concerned.
typedef bool term_test(const void *terms, int number, const void *item);

// NULL and `e`, which names the column (from 1) in characters: what was added to `terms` until
// then is the caller's to free. `e` is no NULL.
struct expression *expression_read(const char *text, const struct term_reader *reader,
                                   struct err *e);
void expression_destroy(struct expression *x); // NULL is fine
// A text without terms is empty, and holds of everything.
bool expression_is_empty(const struct expression *x);
bool expression_holds(const struct expression *x, term_test *holds, const void *terms,
                      const void *item);
// Whether some term that no `not` turns round passes the test.
bool expression_mentions(const struct expression *x, term_test *test, const void *terms);

#endif
