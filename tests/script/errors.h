// Errors of space files and networks: each case fails at its place, in one line, which
// docs/guide/spaces.md shows. The words are recorded in messages.txt.
//
//     errors_setup, errors_teardown                of the group
//     errors_check("define", cases, count);        fails the running test
#ifndef TILEWALK_TESTS_SCRIPT_ERRORS_H
#define TILEWALK_TESTS_SCRIPT_ERRORS_H

#include "help.h"
#include "wording.h"

struct error_case {
    const char *lua;   // the space file a.lua
    const char *glsl;  // the template t.comp; NULL: "x\n"
    const char *place; // "a.lua:1"
    const char *name;  // what it is recorded as; NULL: the texts
};

int errors_setup(void **state);
int errors_teardown(void **state);
void errors_check(const char *part, const struct error_case *cases, size_t count);

// Records the error of `tried`. True: it begins with the place, is one line, and is shown by the
// documentation, if it must be.
bool errors_add(struct wording *r, const char *tried, const char *message, const char *place,
                bool is_documented);

// The error as it would be printed, without the names of folders, which differ from run to run
// (heap).
char *errors_format(const struct err *e, const char *folder);

#endif
