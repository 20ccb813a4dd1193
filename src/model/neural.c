#include "model/neural.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

static const double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;

void weights_draw(double *w, size_t count, double range, struct rng *r)
{
    for (size_t i = 0; i < count; i++)
        w[i] = range * (2 * rng_real(r) - 1);
}

void softmax(size_t count, const bool *allowed, double *x)
{
    double largest = -INFINITY, sum = 0; // shifted by the largest, so that nothing overflows
    for (size_t i = 0; i < count; i++)
        if (!allowed || allowed[i])
            largest = fmax(largest, x[i]);
    for (size_t i = 0; i < count; i++) {
        x[i] = !allowed || allowed[i] ? exp(x[i] - largest) : 0;
        sum += x[i];
    }
    for (size_t i = 0; i < count && sum > 0; i++)
        x[i] /= sum;
}

void adam_init(struct adam *a, size_t count)
{
    *a = (struct adam){
        .count = count,
        .mean = mem_zero(count, sizeof *a->mean),
        .square = mem_zero(count, sizeof *a->square),
    };
}

void adam_finish(struct adam *a)
{
    free(a->mean);
    free(a->square);
    *a = (struct adam){0};
}

void adam_step(struct adam *a, double rate, double *weight, const double *gradient)
{
    a->steps++;
    double unbiased1 = 1 - pow(beta1, (double)a->steps);
    double unbiased2 = 1 - pow(beta2, (double)a->steps);
    for (size_t i = 0; i < a->count; i++) {
        double g = gradient[i];
        a->mean[i] = beta1 * a->mean[i] + (1 - beta1) * g;
        a->square[i] = beta2 * a->square[i] + (1 - beta2) * g * g;
        weight[i] -= rate * (a->mean[i] / unbiased1) / (sqrt(a->square[i] / unbiased2) + epsilon);
    }
}

double adam_clip(size_t count, double *gradient, double most)
{
    double squares = 0;
    for (size_t i = 0; i < count; i++)
        squares += gradient[i] * gradient[i];
    double norm = sqrt(squares);
    if (norm > most)
        for (size_t i = 0; i < count; i++)
            gradient[i] *= most / norm;
    return norm;
}
