// Measures a device's peaks (space/roofline.h) with fixed kernels: chains of multiplications and
// additions in registers, products of matrix units, memory read and copied, and an empty kernel.
//
//     peaks_measure(gpu, &roofline, e)      some seconds; the device must be free
//
// Each peak is the best of a few kernels. Features that the device or the compiler lacks are not
// measured.
#ifndef TILEWALK_TRIAL_PEAKS_H
#define TILEWALK_TRIAL_PEAKS_H

#include "gpu/gpu.h"
#include "space/roofline.h"

// Fills the peaks that no device of this kind exceeds, by published figures of the fastest ones,
// and a time that is shorter than each one's empty dispatch.
void peaks_of_kind(const struct gpu_info *i, struct roofline *out);

enum gpu_status peaks_measure(struct gpu *g, struct roofline *out, struct err *e);

// The text of the kernel for a shape of matrix units, 256 rounds of four products each.
void peaks_add_matrix(enum matrix_api api, const struct matrix_shape *s, struct str *out);

// Fixed kernels: the same in every session, so that their times characterise the device.
//
//     seconds = anchor_time(&context->anchor, context->gpu);     created when it is first timed
//
// The anchor computes in registers, the same amount in all workers: its time shows the speed of the
// device just now. Times of other kernels can be compared fairly only while the anchor's stays.

enum { FIXED_MOST_BUFFERS = 2 };

struct fixed { // valid when zeroed
    struct gpu_pipeline *pipeline;
    struct gpu_buffer *buffer[FIXED_MOST_BUFFERS];
    int buffers;
};

// Seconds; 0, with a line in the log, where it fails: other kernels may still run, and they notice
// a lost device themselves.
double anchor_time(struct fixed *a, struct gpu *g);

// Runs the anchor for a few milliseconds. False and `e`: the device cannot be used any more.
bool anchor_run(struct fixed *a, struct gpu *g, struct err *e);

#endif
