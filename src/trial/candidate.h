// A candidate in a worker, from its text to pipelines.
//
//     candidate_compile(&c, &job, &limits, &roles, &why)      GLSL -> SPIR-V, static limits
//     candidate_link(&c, gpu, e)                              SPIR-V -> pipelines
//     candidate_run(&c, gpu, buffers, &pace, &parts, e)       once, or gpu_time of its sequence
//     candidate_finish(&c, gpu)                               also after a failure
#ifndef TILEWALK_TRIAL_CANDIDATE_H
#define TILEWALK_TRIAL_CANDIDATE_H

#include "gpu/gpu.h"
#include "kernel/job.h"
#include "kernel/kernel.h"
#include "trial/trial.h"

struct candidate {
    const struct job *job;   // outlives it
    int bindings;            // buffers that its passes may use
    int pass_count, packing; // the first `packing` passes run once
    uint64_t scratch_bytes;
    int twin[JOB_MAX_PASSES]; // the first pass with the same module, which has it and its pipeline
    struct spirv spirv[JOB_MAX_PASSES];
    struct gpu_pass pass[JOB_MAX_PASSES]; // their push constants are the job's
    struct gpu_buffer *uniform[JOB_MAX_PASSES][JOB_MAX_UNIFORMS];
    struct gpu_descriptor *descriptor[JOB_MAX_PASSES]; // heap; NULL: none
    // How buffers are seen that are images, and these; where there is none, and before they are
    // linked, NULL.
    const struct image_form *form[JOB_MAX_BUFFERS];
    struct gpu_image *image[JOB_MAX_BUFFERS + 1];
    uint32_t images, stored, sampled; // bits of buffers: seen as images, of these kinds
    uint32_t push_bytes[JOB_MAX_PASSES];
    struct gpu_begin begin[JOB_MAX_BUFFERS]; // of a run
    int begins;
    uint32_t kept;  // bits: buffers that are zeroed before the first run alone
    uint32_t reads; // bits: buffers that a pass reads
    uint32_t subgroup[JOB_MAX_PASSES], local_x[JOB_MAX_PASSES]; // see gpu_shader
    bool has_loops, uses_group_count;                           // any of its passes
};

struct failure {
    enum outcome outcome;
    char reason[TRIAL_REASON_SIZE];
};

// A compiler's message names the template's line: "gemm.comp:12: 'acc' : undeclared identifier
// (generated line 40)".
bool candidate_compile(struct candidate *c, const struct job *j, const struct limits *l,
                       const struct job_roles *roles, struct failure *why);
// Makes the pipelines, and the images that stand for buffers.
enum gpu_status candidate_link(struct candidate *c, struct gpu *g, struct err *e);
// A sequence of the passes from `first` on (0: all; `packing`: those that are timed) on those
// buffers, as many as it has bindings. It borrows from both.
struct gpu_sequence candidate_sequence(const struct candidate *c, int first,
                                       struct gpu_buffer *const *buffer);
// Zeroes the buffers that it keeps from run to run.
enum gpu_status candidate_zero_kept(const struct candidate *c, struct gpu *g,
                                    struct gpu_buffer *const *buffer, struct err *e);
// Runs the packing passes, where there are any.
enum gpu_status candidate_pack(const struct candidate *c, struct gpu *g,
                               struct gpu_buffer *const *buffer, double timeout_s, struct err *e);
// Runs all passes once, the timed ones in short submissions where that changes nothing.
enum gpu_status candidate_run(const struct candidate *c, struct gpu *g,
                              struct gpu_buffer *const *buffer, const struct gpu_pace *pace,
                              struct gpu_parts *out, struct err *e);
// The same after candidate_pack, or with inputs from the cache of packed ones (context.h).
enum gpu_status candidate_run_packed(const struct candidate *c, struct gpu *g,
                                     struct gpu_buffer *const *buffer, const struct gpu_pace *pace,
                                     struct gpu_parts *out, struct err *e);

// Adds a check to every access to an array, into `out`, which has one more binding; buffer k has
// bytes[k]. False and `e`: that cannot be done. candidate_finish in any case.
bool candidate_check_accesses(const struct candidate *c, const uint64_t *bytes, bool roll,
                              struct candidate *out, struct err *e);
void candidate_finish(struct candidate *c, struct gpu *g);

#endif
