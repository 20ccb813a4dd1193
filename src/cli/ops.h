// What `tilewalk ops` tells, as text and as JSON.
#ifndef TILEWALK_CLI_OPS_H
#define TILEWALK_CLI_OPS_H

#include "cli/catalogue.h"
#include "script/network.h"

struct ops {
    const char *device; // name of the one here; NULL: none
    struct preset *preset;
    int preset_count;
    struct network *network;
    int network_count;
};

void ops_print_json(const struct ops *o); // docs/json.md

// All of it in a few lines each.
void ops_print_overview(const struct ops *o);
void ops_print_operator(const struct ops *o, const struct operation_kind *kind);
void ops_print_preset(const struct ops *o, const struct preset *p);
void ops_print_network(const struct network *n, const char *asked_for); // by name or path

#endif
