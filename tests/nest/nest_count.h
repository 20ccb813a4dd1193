// What a nest says of the figures that are counted of a shader, and whether the two agree.
//
//     struct spirv_count said = nest_count(&point), done = {0};
//     spirv_count(&spirv, lanes, &done, e);
//     nest_count_differences(&said, &done, true);
#ifndef TILEWALK_TESTS_NEST_COUNT_H
#define TILEWALK_TESTS_NEST_COUNT_H

#include "space/nest.h"
#include "spirv_count.h"

// Of an invocation that has all to do; `local_size` is not set.
struct spirv_count nest_count(const struct nest_point *p);

// How many figures differ; `tell`: each is told. Operations on whole numbers are of interest only
// where the nest has some: elsewhere the shader's are indices.
int nest_count_differences(const struct spirv_count *nest, const struct spirv_count *shader,
                           bool tell);

// In how many dimensions a statement is launched for other workgroups or invocations than these.
int nest_launch_differences(const struct nest_point *p, int statement, const uint32_t groups[3],
                            const uint32_t invocations[3]);

#endif
