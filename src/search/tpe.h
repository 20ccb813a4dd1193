// A density over a space, learnt from points: a Parzen window on the graph of each parameter.
//
//     parzen_init(&z, space, moved);
//     int i = parzen_add(&z, &c);                     // a point of the sample, from 0
//     parzen_draw(&z, i, param, &rng, &out);          // near the value that point i has
//     double k = parzen_near(&z, i, param, &value);   // how likely that draw gives a value
//     parzen_finish(&z);
//
// One window for all kinds of parameters: a draw stays at the value y of the sample with chance
// 1 - m; else it goes d steps away, where chances fall geometrically with d and all values as far
// away share alike. Steps are those of the parameter's own graph: primes moved between the parts of
// a factorization, swaps of a permutation, places on the ladder of a discrete one; all labels of a
// categorical one are one step away. Far means a tenth of the graph's width on average, but at
// least one step. m is `moved` / parameters (at most 0.7), so that about `moved` of them change at
// once, whatever their number.
//
// How many values are d steps from y is counted on graphs of up to 4096 values, and taken from the
// degree of y (degree^d / d!) on larger ones.
#ifndef TILEWALK_SEARCH_TPE_H
#define TILEWALK_SEARCH_TPE_H

#include "space/space.h"

struct parzen_window; // of one parameter

struct parzen {
    const struct space *space;
    struct parzen_window *window; // by parameter
    int count;                    // points
    int capacity;
    int32_t *value; // [count * parameters]: which distinct value of its parameter
};

void parzen_init(struct parzen *z, const struct space *space, double moved);
void parzen_finish(struct parzen *z);

int parzen_add(struct parzen *z, const struct config *c);

// Draws parameter `param` near the value that point `i` has, into its slots of `out`.
void parzen_draw(const struct parzen *z, int i, int param, struct rng *r, struct config *out);

// Prepares parzen_near for the values of `c`: their likelihood near every value of the sample.
struct parzen_view {
    double *near[SPACE_MAX_PARAMS]; // by distinct value
    int capacity[SPACE_MAX_PARAMS];
};

void parzen_look(const struct parzen *z, const struct config *c, struct parzen_view *v);
void parzen_view_finish(struct parzen_view *v);

// The chance of that draw to give the value looked at, relative to a uniform draw's.
static inline double parzen_near(const struct parzen *z, const struct parzen_view *v, int i,
                                 int param)
{
    return v->near[param][z->value[i * z->space->param_count + param]];
}

#endif
