// A job: the GLSL of one candidate and how it is dispatched. A pure value between script, trial and
// export.
//
// A candidate is one or more passes run in order with a full barrier between them (a split-K
// product has a second pass that adds the parts). All passes see the same storage buffers in
// descriptor set 0: the operator's buffers at bindings 0 .. n-1 in its order (matmul: A, B, C),
// then, when `scratch_bytes` > 0, a scratch buffer at binding n.
#ifndef TILEWALK_KERNEL_JOB_H
#define TILEWALK_KERNEL_JOB_H

#include <stdint.h>

#define JOB_MAX_PASSES 4

struct pass {
    char *glsl;          // complete compute shader, entry point main
    char *template_name; // where it comes from, for messages
    int *line_map;       // template line of generated line i+1; `line_count` of them
    int line_count;
    uint32_t groups[3];
    uint32_t subgroup; // invocations that each of its subgroups must have; 0: as the driver likes
};

struct job {
    int pass_count;
    struct pass pass[JOB_MAX_PASSES];
    uint64_t scratch_bytes; // a multiple of 4
};

void job_finish(struct job *j); // frees what it holds, zeroes it

#endif
