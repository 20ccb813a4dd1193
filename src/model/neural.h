// The parts that the small neural networks share: dense layers, first weights, a softmax, and Adam
// (Kingma, Ba 2015). All in double precision, with plain loops in a fixed order, so that the same
// numbers in give the same numbers out.
//
//     struct adam a;
//     adam_init(&a, count);
//     ...gradient of the loss into g...
//     adam_clip(count, g, 5);
//     adam_step(&a, 0.001, w, g); // w goes downhill
//     adam_finish(&a);
//
// A dense layer is y = b + x W. The weights of one input are side by side: W[i * outputs + j] goes
// from input i to output j. Forward and gradient run along a row, so that compilers can use vectors
// without reordering sums.
#ifndef TILEWALK_MODEL_NEURAL_H
#define TILEWALK_MODEL_NEURAL_H

#include "base/rng.h"

#include <math.h>
#include <stdbool.h>
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
        double sum[4] = {0}; // a fixed order of the additions that vectors can use
        size_t j = 0;
        for (const double *row = w + i * outputs; j + 4 <= outputs; j += 4)
            for (size_t k = 0; k < 4; k++)
                sum[k] += row[j + k] * dy[j + k];
        for (; j < outputs; j++)
            sum[0] += w[i * outputs + j] * dy[j];
        dx[i] += (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
}

// Returns the logarithm, or 0 for the probability 0 of a choice that is not allowed.
static inline double log_or_0(double p)
{
    return p > 0 ? log(p) : 0;
}

// Returns the entropy of `count` probabilities.
static inline double choice_entropy(size_t count, const double *p)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum -= p[i] * log_or_0(p[i]);
    return sum;
}

// Draws `count` weights uniformly in [-range, range).
void weights_draw(double *w, size_t count, double range, struct rng *r);

// Turns logits into probabilities, in place; those not `allowed` (NULL: all are) become 0. All are
// 0 if none is allowed.
void softmax(size_t count, const bool *allowed, double *x);

// beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, as in the paper. Weights and gradients stay the
// caller's.
struct adam {
    size_t count;
    long steps;
    double *mean, *square; // running averages of the gradient and of its square, `count` each
};

void adam_init(struct adam *a, size_t count);
void adam_finish(struct adam *a);
void adam_step(struct adam *a, double rate, double *weight, const double *gradient);

// Scales the gradient down to the Euclidean norm `most` if it is longer; returns the norm it had.
double adam_clip(size_t count, double *gradient, double most);

#endif
