// An operation in one line of text, with its buffers filled and its right result.
//
//     struct test_case c = case_make("matmul", "N=7 M=5 K=33 type=f16 bias=add", INPUT_EXACT, 3);
//     case_get(&c, "A", offset)          an element of a buffer, by its place in memory
//     case_right(&c, INPUT_EXACT, NULL)  whether `result`, at first the right one, passes
//     case_free(&c)
#ifndef TILEWALK_TESTS_TRIAL_CASE_H
#define TILEWALK_TESTS_TRIAL_CASE_H

#include "trial/operator.h"

struct test_case {
    struct operation o;
    int count; // of tensors; the last is the output
    struct tensor tensor[OPERATION_MAX_TENSORS];
    void *buffer[OPERATION_MAX_TENSORS];
    void *result;
};

struct operation case_operation(const char *kind, const char *fields);
struct test_case case_make(const char *kind, const char *fields, enum input_set set, uint64_t seed);
void case_free(struct test_case *c);

int64_t case_size(const struct test_case *c, const char *name);
bool case_is(const struct test_case *c, const char *choice, const char *value);
double case_get(const struct test_case *c, const char *tensor, int64_t offset);
// An element of the reference.
double case_reference(const struct test_case *c, int64_t offset);
void case_put(struct test_case *c, int64_t offset, double value); // into the result
bool case_right(const struct test_case *c, enum input_set set, double *worst);

// Fails unless the reference at `offset` is `expected`, rounded as it is stored; `ulps` may be
// lost in single precision.
void case_expect(const struct test_case *c, int64_t offset, double expected, double ulps);

// Fails unless a changed element and a byte changed in a gap are noticed.
void case_notices(struct test_case *c, enum input_set set);

#endif
