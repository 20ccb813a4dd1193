// The code of a shader as outline.c leaves it, and the declarations in it.
#ifndef TILEWALK_SCRIPT_OUTLINE_CODE_H
#define TILEWALK_SCRIPT_OUTLINE_CODE_H

#include "script/outline.h"

// From the k-th OUTLINE_MARK on, where[k] is the condition that does not hold; NULL: all do.
#define OUTLINE_MARK '\x01'
struct outline_text {
    struct str text;
    const char **where;
    int marks, capacity;
};

void outline_text_mark(struct arena *a, struct outline_text *t, const char *where);
void outline_text_finish(struct outline_text *t);

void outline_read_code(struct outline *o, const struct outline_text *t);

#endif
