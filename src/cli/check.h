// Texts and JSON of `check`, of networks and of compiled samples, for other commands.
#ifndef TILEWALK_CLI_CHECK_H
#define TILEWALK_CLI_CHECK_H

#include "base/json.h"
#include "cli/command.h"
#include "engine/sample.h"
#include "script/network.h"

// Add the findings as members of the object that is open, or as lines for people.
void json_sample(struct json_writer *w, const struct sample *s);
void sample_add_text(const struct sample *s, const struct gpu_info *d, struct str *out);

// Adds the members of a network (docs/reference/json.md) to the object that is open.
void check_network_add(struct json_writer *w, const struct network *n);
void check_network_print(const struct network *n); // for people: its tasks
// Checks the network that the command line names. `device` may be NULL. Returns the exit status.
int check_network(const struct arguments *a, const struct gpu_info *device);

#endif
