// A density over a space, learned from points: a Parzen window on the graph of each parameter.
//
//     parzen_init(&z, space, moved);
//     int i = parzen_add(&z, &c);                     // a point of the sample, from 0
//     parzen_draw(&z, i, param, &rng, &out);          // near the value of point i
//     double k = parzen_near(&z, &view, i, param);    // likelihood of a value in that draw
//     parzen_finish(&z);
//
// All kinds of parameters have the same window: a draw stays at the value y of the sample with
// chance 1 - m; else it goes d steps away. The chances fall geometrically with d; all values at the
// same distance have the same chance. The steps are those of the parameter's graph: a prime moved
// between the parts of a factorization, a swap of a permutation, a place on the ladder of a
// discrete parameter; all labels of a categorical one are one step away. The average distance is a
// tenth of the graph's width, but at least one step. m is `moved` / parameters (at most 0.7), so
// that about `moved` of them change at once, for any number of parameters.
//
// The number of values d steps from y is counted on graphs of up to 4096 values. On larger ones it
// is estimated from the degree of y: degree^d / d!.
#ifndef TILEWALK_SEARCH_TPE_H
#define TILEWALK_SEARCH_TPE_H

#include "space/space.h"

struct parzen_window; // of one parameter

struct parzen {
    const struct space *space;
    struct parzen_window *window; // by parameter
    int count;                    // points
    int capacity;
    int32_t *value; // [count * parameters]: index among the distinct values of the parameter
};

void parzen_init(struct parzen *z, const struct space *space, double moved);
void parzen_finish(struct parzen *z);

int parzen_add(struct parzen *z, const struct config *c);

// Draws parameter `param` near the value of point `i`, into its slots of `out`.
void parzen_draw(const struct parzen *z, int i, int param, struct rng *r, struct config *out);

// The likelihoods of the values of one configuration near every value of the sample.
struct parzen_view {
    double *near[SPACE_MAX_PARAMS]; // by distinct value
    int capacity[SPACE_MAX_PARAMS];
};

void parzen_view_fill(const struct parzen *z, const struct config *c, struct parzen_view *v);
void parzen_view_finish(struct parzen_view *v);

// Returns the chance that a draw near point `i` gives the value of the view's configuration,
// relative to that of a uniform draw.
static inline double parzen_near(const struct parzen *z, const struct parzen_view *v, int i,
                                 int param)
{
    return v->near[param][z->value[i * z->space->param_count + param]];
}

#endif
