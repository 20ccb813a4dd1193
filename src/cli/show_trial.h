// `show ID --trial N`: one trial, and with --glsl or --spirv the kernel that it was.
#ifndef TILEWALK_CLI_SHOW_TRIAL_H
#define TILEWALK_CLI_SHOW_TRIAL_H

#include "cli/common.h"

// Whether the words ask for one trial; false in `*ok`: they are wrong, `e` says how.
bool show_trial_wanted(const struct arguments *a, bool *ok, struct err *e);
// Prints it. Confines the process, as it runs what the session stored.
bool show_trial(const struct arguments *a, struct store *store, const struct session_record *r,
                struct arena *arena, struct err *e);

#endif
