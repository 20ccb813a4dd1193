// show ID --trial N: one trial, and with --glsl or --spirv its kernel.
#ifndef TILEWALK_CLI_SHOW_TRIAL_H
#define TILEWALK_CLI_SHOW_TRIAL_H

#include "cli/common.h"

// Returns true where the options ask for one trial. `*ok` is false where they are wrong.
bool show_trial_wanted(const struct arguments *a, bool *ok, struct err *e);
// Prints the trial. Confines the process, as the stored space file and template are run.
bool show_trial(const struct arguments *a, struct store *store, const struct session_record *r,
                struct arena *arena, struct err *e);

#endif
