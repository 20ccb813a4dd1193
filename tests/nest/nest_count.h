// The figures of a nest, and their comparison with those counted in a shader.
//
//     struct spirv_count said = nest_count(&point), done = {0};
//     spirv_count(&spirv, lanes, &done, e);
//     nest_count_differences(&said, &done, true);
#ifndef TILEWALK_TESTS_NEST_COUNT_H
#define TILEWALK_TESTS_NEST_COUNT_H

#include "space/nest.h"
#include "spirv_count.h"

// Counts an invocation of a full workgroup; `local_size` is not set.
struct spirv_count nest_count(const struct nest_point *p);

// Returns how many figures differ; `tell` prints each. Operations on whole numbers count only where
// the nest has some: elsewhere those of the shader are indices.
int nest_count_differences(const struct spirv_count *nest, const struct spirv_count *shader,
                           bool tell);

// Returns in how many dimensions a statement is launched for other workgroups or invocations.
int nest_launch_differences(const struct nest_point *p, int statement, const uint32_t groups[3],
                            const uint32_t invocations[3]);

#endif
