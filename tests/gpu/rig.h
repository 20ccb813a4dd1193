// The fixture of tests on a device: the best device, opened, and kernels from GLSL.
#ifndef TILEWALK_TESTS_GPU_RIG_H
#define TILEWALK_TESTS_GPU_RIG_H

#include "gpu/gpu.h"

// Opens device `best`. NULL when there is none, or when `validate` is asked for and the layer is
// not installed; then the test prints why and exits with 77.
struct gpu *rig_open(bool validate);

// A pipeline of a body, in which `i` is the global invocation index and a, b, c are buffers of uint
// at bindings 0 .. 2. Workgroups have 32 invocations. Fails the test where it does not compile.
struct gpu_pipeline *rig_pipeline(struct gpu *g, const char *body);

struct gpu_buffer *rig_buffer(struct gpu *g, uint64_t words, uint32_t fill);
void rig_read(struct gpu *g, struct gpu_buffer *b, uint32_t *out, uint64_t words);

#endif
