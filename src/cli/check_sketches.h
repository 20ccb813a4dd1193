// check --sketches: the shapes that programs of a definition can have.
#ifndef TILEWALK_CLI_CHECK_SKETCHES_H
#define TILEWALK_CLI_CHECK_SKETCHES_H

#include "script/script.h"

// Prints them and gives the exit status; a space file whose kernels are templates has none, which
// is an error.
int check_sketches(const struct script *s, const char *file, bool json);

#endif
