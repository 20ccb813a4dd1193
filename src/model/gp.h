// Gaussian process regression on a few hundred points: predicts a number and how unsure it is.
//
//     struct gp g;
//     gp_init(&g, width, most, queries);
//     gp_clear(&g);  gp_add(&g, x, y); ...     again for each fit
//     gp_fit(&g, tries, &rng);
//     gp_predict(&g, points, count, mean, deviation);
//     gp_finish(&g);
//
// Values at two points are the more alike the nearer the points are: their correlation is
//
//     c(a, b) = (1 + s/2)^-2  with  s = sum_i weight_i min(1, |a_i - b_i|)
//
// which is a mixture of exp(-ks), products of one factor for each coordinate (their rates k are
// gamma distributed), and so a valid correlation: as exp(-s) near by, but what is far still says
// something, and it costs no exponential. One is as far apart as can be: whole numbers are labels,
// which are equal or not. (exp(-k min(1, d)) falls and is convex in d, so that it is a correlation
// on all numbers: Polya's criterion.) A weight says how much its coordinate matters. Mean and
// scale of the values are the most likely ones (Rasmussen, Williams 2006, sections 2.2 and 2.7;
// algorithm 2.1).
//
// Weights and noise are learned a little at each fit, and kept: each of `tries` changes one of them
// by a random factor and stays when that makes values and weights together more likely (log
// marginal likelihood, and normal priors on the logarithms).
//
// Points may have further values, which are predicted with the correlations that were learned for
// the first: of a fit they cost two triangular systems each. What is expected of them, or what else
// is known of a point, may make its promise count for more or less (worth).
//
// With a trend it is what the values differ from it by that is predicted, and the trend added.
//
// The values' unit and zero do not matter. A fit costs (1 + tries) count^3 / 6 multiplications.
#ifndef TILEWALK_MODEL_GP_H
#define TILEWALK_MODEL_GP_H

#include "base/rng.h"

struct gp_solution {
    double *cholesky; // [most][most], upper triangle R: R^T R is the matrix of correlations
    double *alpha;    // [most]: weights of the points, that matrix inverse times (values less mean)
    double mean, scale, likelihood;
};

enum { GP_FURTHER = 2 };

struct gp_further {    // a further value of each point
    double *y, *alpha; // [most] each
    double mean;
};

struct gp_hope { // what a query may come to, before its deviation is known
    double mean, promise, worth;
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
    double
        *partial; // of a query: its distances by none, one, two ... coordinates: [width + 1][most]
    struct gp_hope *hope; // [queries]
    // What is expected before anything is known, beside a mean; NULL after gp_init: 0. What it says
    // may change before gp_clear only.
    double (*trend)(void *context, const double *x);
    void *context;
    int furthers; // values of each point beside the one above
    struct gp_further further[GP_FURTHER];
    // By which factor, 0 or above, the promise of a query counts, given what is expected of its
    // further values; NULL after gp_init: 1.
    double (*worth)(void *judge, int query, const double *further);
    void *judge;
};

void gp_init(struct gp *g, int width, int most, int queries);
void gp_finish(struct gp *g);

// Points have `count` values more, at most GP_FURTHER, 0 unless gp_set. Called once, after gp_init.
void gp_keep(struct gp *g, int count);

void gp_clear(struct gp *g); // forgets the points, not the weights
void gp_add(struct gp *g, const double *x, double y);
void gp_set(struct gp *g, int further, double value); // of the point that was added last
void gp_fit(struct gp *g, int tries, struct rng *r);  // at least one point
// `x` is [count][width], count <= queries. The deviation is that of the value without noise.
void gp_predict(struct gp *g, const double *x, int count, double *mean, double *deviation);
double gp_mean(struct gp *g, const double *x); // of one point, without its deviation
// The same, and the means of the further values: [furthers].
double gp_further(struct gp *g, const double *x, double *further);
// By which factor the promise of one point counts: what `worth` says of it, as query `query`.
double gp_worth(struct gp *g, const double *x, int query);
// The expected improvement over `target` at each point, times its worth, where it can be the
// largest of all; lower than that one, or -INFINITY, elsewhere: that costs less.
void gp_promise(struct gp *g, const double *x, int count, double target, double *promise);
// E[max(0, y - target)] of a normal y (Jones, Schonlau, Welch 1998, equation 15, of a maximum).
double gp_expected_improvement(double mean, double deviation, double target);

// How wide intervals around what a model expects must be to hold half, and nine tenths, of what
// comes: learned from how far off it was.
//
//     struct intervals i;
//     intervals_init(&i);
//     intervals_told(&i, surprise);   each result: by how many deviations it was off, of any sign
//     ...i.half, i.nine_in_ten
//
// They begin as a normal distribution has them. Each result makes an interval that missed it wider
// and one that held it narrower, by factors whose logarithms weigh each other up where it holds the
// share that it should: so over many results it does, whatever the model and however wrong its
// deviations (adaptive conformal inference: Gibbs, Candes 2021).

struct intervals {
    double half, nine_in_ten; // deviations, to each side
};

void intervals_init(struct intervals *i);
void intervals_told(struct intervals *i, double surprise);

#endif
