// check --compile: random valid configurations, as far as a driver compiles them.
#ifndef TILEWALK_CLI_CHECK_COMPILE_H
#define TILEWALK_CLI_CHECK_COMPILE_H

#include "base/json.h"
#include "cli/command.h"
#include "engine/sample.h"

// Compiles, prints, and returns the exit code: 1 when any is refused. 3, and nothing is printed:
// there is no valid configuration.
int check_compile(struct script *script, const struct gpu_info *device, const struct arguments *a);

// What was found, for programs, into the object that is open, and as lines for people.
void json_sample(struct json_writer *w, const struct sample *s);
void sample_add_text(const struct sample *s, const struct gpu_info *d, struct str *out);

#endif
