// The values of a T1 parameter: a text that holds a Python list.
//
//     [16, 32, 64]          ['a', "b"]            [2**i for i in range(0, 6)]
//     [1, 2, 4] + list(range(32, 1024+1, 32))
#ifndef TILEWALK_RECORD_VALUE_LIST_H
#define TILEWALK_RECORD_VALUE_LIST_H

#include "record/table.h"

struct value_list {
    struct value *value; // freed by the caller, also after an error
    int count, capacity;
};

// Starts from an empty list; texts live in `arena`.
bool value_list_parse(struct arena *arena, const char *text, struct value_list *out, struct err *e);

#endif
