// What `tilewalk ops` tells, as text and as JSON.
#ifndef TILEWALK_CLI_OPS_H
#define TILEWALK_CLI_OPS_H

#include "gpu/gpu.h"
#include "script/network.h"
#include "script/script.h"

// What there is to tune: each preset, read once for the device of this machine and once for a large
// GPU, and what it needs of a device.
//
//     struct preset p;
//     catalogue_read(name, &device, &p);
//     p.here, p.gpu       its scripts; NULL: why_here, why_gpu say what that device lacks
//     catalogue_finish(&p);
//
// All that is known of a preset comes from reading it. It needs matrix units when it can be read
// for a GPU that has them and not for one without; its operator says the bits of its numbers.

struct preset {
    const char *name;
    struct script *here, *gpu;
    struct err why_here, why_gpu;
    bool needs_f16, needs_i8, needs_matrix; // with its standard sizes and choices
};

// `device`: `here` is what the preset declares when it sees this device; NULL: when it sees none.
void catalogue_read(const char *name, const struct gpu_info *device, struct preset *out);
void catalogue_finish(struct preset *p);

// The script to describe the preset by: `here`, else `gpu`; NULL: neither could be read.
const struct script *catalogue_script(const struct preset *p);
// What it needs that not every device has: "16 bit", "8 bit", "matrix units". Returns how many.
int catalogue_needs(const struct preset *p, const char *out[3]);

// A tensor that an operation may have: `when` says what has to be chosen, "" where it always is.
struct possible_tensor {
    struct tensor tensor;
    char when[64];
};
// Those of a kind, in the order of their bindings; returns how many.
int catalogue_tensors(const struct operation_kind *kind,
                      struct possible_tensor out[OPERATION_MAX_TENSORS]);

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
