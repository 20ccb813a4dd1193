// Gaussian process regression on a few hundred points: predicts a value and its uncertainty.
//
//     struct gp g;
//     gp_init(&g, width, most, queries);
//     gp_clear(&g);  gp_add(&g, x, y); ...     again for each fit
//     gp_fit(&g, tries, &rng);
//     gp_predict(&g, points, count, mean, deviation);
//     gp_finish(&g);
//
// The correlation of the values at two points depends on their distance s:
//
//     c(a, b) = (1 + s/2)^-2  with  s = sum_i weight_i min(1, |a_i - b_i|)
//
// This is a mixture of exp(-ks), each a product of one factor per coordinate, where the rates k
// have a gamma distribution; so it is a valid correlation. Close by it acts like exp(-s), but far
// points still have an influence, and it needs no exponential. A distance of one in a coordinate is
// the largest; so whole numbers are labels, which are equal or not. (exp(-k min(1, d)) falls and is
// convex in d, so it is a correlation on all numbers by Polya's criterion.) A weight says how much
// its coordinate matters. Mean and scale of the values are the most likely ones (Rasmussen,
// Williams 2006, sections 2.2 and 2.7; algorithm 2.1).
//
// Weights and noise are learned a little at each fit, and kept. Each of `tries` changes one of them
// by a random factor. The change stays if it makes values and weights together more likely (log
// marginal likelihood, and normal priors on the logarithms).
//
// A point may have additional outputs, which are predicted with the correlations learned for the
// first value. They cost two triangular systems each at a fit. `factor` may use their predictions
// to weigh the acquisition value of a point.
//
// With a prior mean the process learns the differences from it.
//
// The unit and the zero of the values do not matter. A fit costs (1 + tries) count^3 / 6
// multiplications.
#ifndef TILEWALK_MODEL_GP_H
#define TILEWALK_MODEL_GP_H

#include "base/rng.h"

#include <stdbool.h>

struct gp_solution {
    double *cholesky; // [most][most], upper triangle R: R^T R is the matrix of correlations
    double *alpha;    // [most]: weights of the points, that matrix inverse times (values less mean)
    double mean, scale, likelihood;
};

enum { GP_OUTPUTS = 2 };

struct gp_output {     // an additional value of each point
    double *y, *alpha; // [most] each
    double mean;
};

struct gp_bound { // upper bound of the acquisition value of a query
    double mean, most, factor;
    const double *x;
    int width, query;
};

struct gp {
    int width, most, queries; // coordinates; points it holds; points it predicts at once
    int count;
    double *x, *y;  // [width][most], [most]
    double *weight; // [width]
    double noise;   // variance of a value at one point, as a share of the variance of values
    struct gp_solution now, other; // the fit, and the one of a try
    double *distances;             // [most][most]: weighted ones between the points, j >= i
    double *ones, *columns;        // scratch: [most], [most][queries]
    double *correlations;          // of queries: [queries][most]
    double *partial;        // distances of a query in 0, 1, 2, ... coordinates: [width + 1][most]
    struct gp_bound *bound; // [queries]
    // The prior mean at a point, beside the constant that is learned; NULL after gp_init: 0. Its
    // values may change only before gp_clear.
    double (*prior_mean)(void *context, const double *x);
    void *prior_context;
    int outputs; // additional values of each point
    struct gp_output output[GP_OUTPUTS];
    // Returns the factor, at least 0, of the acquisition value of a query, given the predictions of
    // its additional outputs; NULL after gp_init: 1.
    double (*factor)(void *context, int query, const double *output);
    void *factor_context;
};

void gp_init(struct gp *g, int width, int most, int queries);
void gp_finish(struct gp *g);

// Gives points `count` additional outputs, at most GP_OUTPUTS. Called once, after gp_init.
void gp_add_outputs(struct gp *g, int count);

void gp_clear(struct gp *g); // forgets the points, not the weights
void gp_add(struct gp *g, const double *x, double y);
void gp_set_output(struct gp *g, int output, double value); // of the newest point; else it is 0
void gp_fit(struct gp *g, int tries, struct rng *r);        // needs at least one point
// `x` is [count][width], count <= queries. The deviation is that of the value without noise.
void gp_predict(struct gp *g, const double *x, int count, double *mean, double *deviation);
// Returns the mean at one point, without its deviation, and fills in those of the additional
// outputs: [outputs].
double gp_mean(struct gp *g, const double *x, double *output);
// Returns what `factor` gives for one point, as query `query`.
double gp_factor(struct gp *g, const double *x, int query);
// Computes the acquisition value at each point: the expected improvement over `target` times the
// factor. A point that cannot have the largest value may get a lower one or -INFINITY, which costs
// less.
void gp_acquisition(struct gp *g, const double *x, int count, double target, double *value);
// Returns the query with the largest acquisition value among those that are above `*value` and that
// `accepts` accepts, of equals the first, and sets `*value` to it; -1: there is none. `accepts` is
// called for few.
struct gp_filter {
    bool (*accepts)(void *context, int query);
    void *context;
};
int gp_best(struct gp *g, const double *x, int count, double target, struct gp_filter filter,
            double *value);
// Returns E[max(0, y - target)] of a normal y (Jones, Schonlau, Welch 1998, equation 15, of a
// maximum).
double gp_expected_improvement(double mean, double deviation, double target);

// Prediction intervals: the widths that hold half and nine tenths of the results, learned from the
// errors of a model.
//
//     struct intervals i;
//     intervals_init(&i);
//     intervals_observe(&i, z_score);   each result: its error in predicted deviations
//     ...i.half, i.nine_in_ten
//
// They begin with the widths of a normal distribution. Each result makes an interval that missed it
// wider and one that held it narrower. The logarithms of these factors balance where the interval
// holds its share of the results. So it does over many results, even if the model's deviations are
// wrong (adaptive conformal inference: Gibbs, Candes 2021).

struct intervals {
    double half, nine_in_ten; // deviations, to each side
};

void intervals_init(struct intervals *i);
void intervals_observe(struct intervals *i, double z_score);

#endif
