// What there is to tune: a preset as the device here and a large GPU see it, and what it needs.
//
//     struct preset p;
//     catalogue_read(name, &device, &p);
//     p.here, p.gpu       its scripts; NULL: `why` says what is missing there
//     catalogue_finish(&p);
//
// Nothing is written down about presets but what they say themselves. That one needs matrix units
// is known from its complaint about a GPU without them, the bits of numbers from its operator.
#ifndef TILEWALK_CLI_CATALOGUE_H
#define TILEWALK_CLI_CATALOGUE_H

#include "gpu/gpu.h"
#include "script/script.h"

struct preset {
    const char *name;
    struct script *here, *gpu;
    struct err why_here, why_gpu;
    bool needs_f16, needs_i8, needs_matrix; // with its standard sizes and choices
};

// `device`: whose eyes are used for `here`; NULL: those of no device.
void catalogue_read(const char *name, const struct gpu_info *device, struct preset *out);
void catalogue_finish(struct preset *p);

// The script that tells most: the one here, else that of the GPU; NULL: neither can be read.
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

#endif
