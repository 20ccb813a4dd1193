// Adam (Kingma, Ba 2015) on a flat array of weights.
//
//     struct adam a;
//     adam_init(&a, count);
//     ...gradient of the loss into g...
//     adam_clip(count, g, 5);
//     adam_step(&a, 0.001, w, g); // w goes downhill
//     adam_finish(&a);
//
// beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, as in the paper. Weights and gradients stay the
// caller's. Plain loops in a fixed order: the same numbers in, the same numbers out.
#ifndef TILEWALK_MODEL_ADAM_H
#define TILEWALK_MODEL_ADAM_H

#include <stddef.h>

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
