// Conditions in Python's syntax: "32 <= x*y <= 1024 and (not pad or x % 32 != 0)".
//
//     struct rule *rule;
//     rule_parse(&arena, text, &names, &rule, e);
//     rule_evaluate(rule, &world, &value, e);
//
// They may have or, and, not, chained comparisons, + - * / // % **, unary + and -, parentheses,
// names, numbers, texts, True and False, with Python's precedence, its true division and the sign
// of its % and //. A rule is immutable: any number of threads may evaluate it.
#ifndef TILEWALK_RECORD_RULE_H
#define TILEWALK_RECORD_RULE_H

#include "record/table.h"

struct rule;

// The known names: `find` returns the number of a name, or -1.
struct rule_names {
    int (*find)(void *context, const char *name);
    void *context;
};

// The values of the names.
struct rule_world {
    struct value (*value)(const void *context, int number);
    const void *context;
};

// The rule lives in `arena`. Errors have the place in the text.
bool rule_parse(struct arena *arena, const char *text, const struct rule_names *names,
                struct rule **out, struct err *e);
// False: a division by zero, or an operation that its operands do not have.
bool rule_evaluate(const struct rule *r, const struct rule_world *w, struct value *out,
                   struct err *e);
bool rule_truth(const struct value *v);

enum rule_op {
    RULE_VALUE,
    RULE_NAME,
    RULE_OR,
    RULE_AND,
    RULE_NOT,
    RULE_LESS,
    RULE_LESS_EQUAL,
    RULE_MORE,
    RULE_MORE_EQUAL,
    RULE_EQUAL,
    RULE_DIFFERENT,
    RULE_ADD,
    RULE_SUBTRACT,
    RULE_MULTIPLY,
    RULE_DIVIDE,
    RULE_FLOOR_DIVIDE,
    RULE_MODULO,
    RULE_POWER,
    RULE_NEGATE
};

struct rule {
    enum rule_op op;
    const struct rule *left, *right;
    const struct rule *next; // the next comparison of a chain, whose left is our right
    struct value value;      // RULE_VALUE
    int name;                // RULE_NAME
};

// The values of a T1 parameter: a text with a Python list.
//
//     [16, 32, 64]          ['a', "b"]            [2**i for i in range(0, 6)]
//     [1, 2, 4] + list(range(32, 1024+1, 32))

struct value_list {
    struct value *value; // freed by the caller, also after an error
    int count, capacity;
};

// Starts from an empty list; texts live in `arena`.
bool value_list_parse(struct arena *arena, const char *text, struct value_list *out, struct err *e);

#endif
