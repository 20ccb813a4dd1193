// `check NETWORK`: what there is to tune in a network, and how much of it each task is.
#ifndef TILEWALK_CLI_CHECK_NETWORK_H
#define TILEWALK_CLI_CHECK_NETWORK_H

#include "base/json.h"
#include "cli/command.h"
#include "gpu/gpu.h"
#include "script/network.h"

int check_network(const struct arguments *a,
                  const struct gpu_info *device); // NULL: as none sees it

// The members of a network (docs/json.md), into the object that is open.
void check_network_add(struct json_writer *w, const struct network *n);
void check_network_print(const struct network *n); // for people: its tasks
void check_network_print_settings(const struct network *n);

#endif
