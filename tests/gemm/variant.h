// The shipped presets of products and of convolutions as products, in all types, layouts, epilogues
// and at ragged sizes, on a device that need not be there.
//
//     struct str set = {0};
//     variant_draw(&families[i], "tn", "f16", &rng, &set);      "N=17 layout=tn type=f16 ..."
//     struct script *s = variant_load("gemm", "cpu", &variant_cpu, str_text(&set));
//     variant_sample(s, &limits, &rng, &config, &needs);        a random legal point
#ifndef TILEWALK_TESTS_GEMM_VARIANT_H
#define TILEWALK_TESTS_GEMM_VARIANT_H

#include "base/rng.h"
#include "base/str.h"
#include "script/script.h"

struct draw { // a setting and what it is drawn from
    const char *name;
    const char *const *values; // NULL-terminated; a value is as likely as it is often listed
};

struct family {
    const char *preset;
    const char *const *layouts; // NULL-terminated
    const struct draw *draws;   // ends without a name
};

// gemm, gemm-coop, bmm, conv-implicit, conv1x1, conv, conv-direct, depthwise
extern const struct family families[];
extern const int family_count;
extern const char *const variant_types[]; // NULL-terminated

void variant_draw(const struct family *f, const char *layout, const char *type, struct rng *r,
                  struct str *set);

// `set`: NAME=VALUE, separated by blanks; may be empty. Fails the running test when the preset does
// not load.
struct script *variant_load(const char *preset, const char *device_type, const struct limits *l,
                            const char *set);

// False when no legal point is found in many draws. `needs` are its resources.
bool variant_sample(struct script *s, const struct limits *l, struct rng *r, struct config *c,
                    struct resources *needs);

// All presets that ship, one after the other, with random numbers by seed 1.
void variant_each_preset(void (*check)(const char *preset, struct rng *r));

extern const struct limits variant_gpu; // a middling GPU: 1024 invocations, 48 KiB shared
extern const struct limits variant_cpu; // what lavapipe has

#endif
