// Measures a device's roof (space/roof.h) with fixed kernels: chains of multiplications and
// additions in registers, products of matrix units, memory read and copied, and nothing at all.
//
//     peaks_measure(gpu, &roof, e)      some seconds; the device must be free
//
// Each peak is the best of a few kernels. What a device or the compiler lacks is not measured.
#ifndef TILEWALK_TRIAL_PEAKS_H
#define TILEWALK_TRIAL_PEAKS_H

#include "gpu/gpu.h"
#include "space/roof.h"

enum gpu_status peaks_measure(struct gpu *g, struct roof *out, struct err *e);

// The text of the kernel for a shape of matrix units, 256 rounds of four products each.
void peaks_add_matrix(enum matrix_api api, const struct matrix_shape *s, struct str *out);

#endif
