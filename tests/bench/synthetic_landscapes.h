// Ten synthetic landscapes: what kernels' spaces are like, with optima that are known.
//
//     struct landscape *l = landscape_create(landscape_kinds[i].name, seed);
//     l->problem ...                                     as a strategy takes it
//     double quality = landscape_quality(l, &c);         the optimum has 1; 0: it fails
//     landscape_measure(l, &c, &rng)                     the same with the noise of a measurement
//     landscape_destroy(l);
//
// Each parameter has a preferred value, which depends on the values of two earlier parameters. So a
// point where every parameter has its preferred value exists and is the optimum. The logarithm of
// quality falls by a weight times the distance to the preferred value. Weights differ by far: few
// parameters matter much.
//
// Beside that: traps are those of trial/synthetic.c. A plateau is where quality is rounded down.
// Rules leave a part of the space legal, and searches know them. A part of the space fails, as
// where a resource runs out, and searches do not know it. A switch is a parameter of two values:
// the parameters of its group count only where it is on, and it is better off unless these are
// right.
//
// Five of them are held out: they were named before the first of them was searched, and are for the
// last comparison alone, after all options of a search are chosen.
#ifndef TILEWALK_TESTS_SYNTHETIC_LANDSCAPES_H
#define TILEWALK_TESTS_SYNTHETIC_LANDSCAPES_H

#include "search/strategy.h"

struct landscape_kind {
    const char *name;
    bool held_out;
    bool is_trap;
    int levels;                  // of quality, where it has plateaus; else 0
    int switches;                // the first parameters are switches
    double illegal;              // share of the points
    double fails;                // share of the points
    double noise;                // relative deviation of a measurement
    int sizes[SPACE_MAX_PARAMS]; // values of each parameter, the last one followed by 0
};

enum { LANDSCAPES = 10 };
extern const struct landscape_kind landscape_kinds[LANDSCAPES];

struct landscape;

// The seed decides where the optimum lies.
struct landscape *landscape_create(const struct landscape_kind *kind, uint64_t seed);
void landscape_destroy(struct landscape *l);

const struct search_problem *landscape_problem(const struct landscape *l);
double landscape_quality(const struct landscape *l, const struct config *c);
// Returns the quality times a factor near 1.
double landscape_measure(const struct landscape *l, const struct config *c, struct rng *r);

#endif
