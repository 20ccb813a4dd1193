// Runs one configuration and compares all that it writes with the reference: on inputs for which it
// must be exact, on random ones within the tolerance, outputs poisoned before, a guard behind them;
// then with every access checked.
// The shared memory, invocations and groups that its space declares must be those of the SPIR-V.
#ifndef TILEWALK_TESTS_KERNELS_PROOF_H
#define TILEWALK_TESTS_KERNELS_PROOF_H

#include "gpu/gpu.h"
#include "script/script.h"

// The first device, with the validation layer where it is installed; the caller's (gpu_close).
// NULL: there is none, and `*code` is what a test program exits with.
struct gpu *proof_open(int *code);

// Returns what the validation layer has said: "no validation layer", "the validation layer is
// silent".
const char *proof_layer(const struct gpu *g);

// False and `e`: it is wrong, or is not what it declares, does not compile, load or run. `wrong`
// says which.
bool proof_run(struct gpu *g, struct script *s, const struct config *c, uint64_t seed, bool *wrong,
               struct err *e);

#endif
