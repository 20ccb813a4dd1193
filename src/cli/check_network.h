// check NETWORK: the tasks of a network, and the share of each.
#ifndef TILEWALK_CLI_CHECK_NETWORK_H
#define TILEWALK_CLI_CHECK_NETWORK_H

#include "base/json.h"
#include "cli/command.h"
#include "gpu/gpu.h"
#include "script/network.h"

int check_network(const struct arguments *a,
                  const struct gpu_info *device); // NULL: without any device

// Adds the members of a network (docs/json.md) to the object that is open.
void check_network_add(struct json_writer *w, const struct network *n);
void check_network_print(const struct network *n); // for people: its tasks

#endif
