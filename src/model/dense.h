// The three loops of a dense layer y = b + x W, for matrices that hold the weights of one input
// side by side: W[i * outputs + j] goes from input i to output j.
//
// Forward and gradient run along a row, so that compilers may use vectors without reordering sums:
// the results are the same on every machine. Internal to this folder.
#ifndef TILEWALK_MODEL_DENSE_H
#define TILEWALK_MODEL_DENSE_H

#include <stddef.h>

// y += x W
static inline void dense_forward(size_t inputs, size_t outputs, const double *w, const double *x,
                                 double *restrict y)
{
    for (size_t i = 0; i < inputs; i++)
        for (size_t j = 0; j < outputs; j++)
            y[j] += x[i] * w[i * outputs + j];
}

// dW += x' dy
static inline void dense_gradient(size_t inputs, size_t outputs, const double *x, const double *dy,
                                  double *restrict dw)
{
    for (size_t i = 0; i < inputs; i++)
        for (size_t j = 0; j < outputs; j++)
            dw[i * outputs + j] += x[i] * dy[j];
}

// dx += dy W'
static inline void dense_backward(size_t inputs, size_t outputs, const double *w, const double *dy,
                                  double *restrict dx)
{
    for (size_t i = 0; i < inputs; i++) {
        double sum[4] = {0}; // the order of the additions is ours, and open to vectors
        size_t j = 0;
        for (const double *row = w + i * outputs; j + 4 <= outputs; j += 4)
            for (size_t k = 0; k < 4; k++)
                sum[k] += row[j + k] * dy[j + k];
        for (; j < outputs; j++)
            sum[0] += w[i * outputs + j] * dy[j];
        dx[i] += (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
}

#endif
