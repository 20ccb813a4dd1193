// The shipped presets of the matrix product in all types, layouts and sizes, on a device that need
// not be there.
//
//     struct variant v = {.preset = "gemm", .type = "f16", .layout = "tn", .size = {17, 33, 65}};
//     struct script *s = variant_load(&v, e);
//     variant_sample(s, &limits, &rng, &config, &needs);      a random legal point and what it
//     declares
#ifndef TILEWALK_TESTS_GEMM_VARIANT_H
#define TILEWALK_TESTS_GEMM_VARIANT_H

#include "base/rng.h"
#include "script/script.h"

struct variant {
    const char *preset;
    const char *device_type;
    const struct limits *limits;
    const char *type, *layout; // NULL: as shipped
    int size[3];               // N, M, K; 0: as shipped
};

// Fails the running test when the preset does not load.
struct script *variant_load(const struct variant *v);

// False when no legal point is found in many draws.
bool variant_sample(struct script *s, const struct limits *l, struct rng *r, struct config *c,
                    struct resources *needs);

extern const struct limits variant_gpu; // a middling GPU: 1024 invocations, 48 KiB shared
extern const struct limits variant_cpu; // what lavapipe has

#endif
