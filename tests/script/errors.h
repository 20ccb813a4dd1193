// Errors of space files, word for word, and that docs/spaces.md shows them.
//
//     errors_setup, errors_teardown     of the group
//     errors_check(cases, count);       fails the running test
#ifndef TILEWALK_TESTS_SCRIPT_ERRORS_H
#define TILEWALK_TESTS_SCRIPT_ERRORS_H

#include "help.h"

struct error_case {
    const char *lua;      // the space file a.lua
    const char *glsl;     // the template t.comp; NULL: "x\n"
    const char *expected; // up to " | ": what follows the documentation need not show
};

int errors_setup(void **state);
int errors_teardown(void **state);
void errors_check(const struct error_case *cases, size_t count);
// Whether the documentation shows the message, which comes after `file:line: `.
bool errors_is_documented(const char *expected);

#endif
