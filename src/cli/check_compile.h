// check --compile: random valid configurations, compiled by a driver.
#ifndef TILEWALK_CLI_CHECK_COMPILE_H
#define TILEWALK_CLI_CHECK_COMPILE_H

#include "base/json.h"
#include "cli/command.h"
#include "engine/sample.h"

// Compiles, prints, and returns the exit code: 1 when any is refused; 3, and nothing is printed,
// when there is no valid configuration.
int check_compile(struct script *script, const struct gpu_info *device, const struct arguments *a);

// Adds the findings as members of the object that is open, or as lines for people.
void json_sample(struct json_writer *w, const struct sample *s);
void sample_add_text(const struct sample *s, const struct gpu_info *d, struct str *out);

#endif
