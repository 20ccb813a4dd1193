// Texts and JSON of a network that is tuned (engine/network_run.h).
#ifndef TILEWALK_CLI_NETWORK_TEXT_H
#define TILEWALK_CLI_NETWORK_TEXT_H

#include "cli/common.h"
#include "engine/network_summary.h"

// Adds the members "tasks", "latency" and "sum_of_parts" (docs/json.md) to the object that is open.
void network_add_json(struct json_writer *w, const struct network_summary *n);
void network_print_table(const struct network_summary *n); // its tasks and the whole
void network_print_round(const struct event *event);
void network_add_whole(struct json_writer *w, const struct whole_record *r); // its members
void network_add_round(struct json_writer *w, const struct event *event); // members of EVENT_ROUND

#endif
