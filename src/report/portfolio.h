// A few configurations for many shapes of a problem, and the rule that chooses among them, found
// from measured times.
//
//     struct portfolio_problem p = {.shapes = 12, .candidates = 200, .axes = 3, ...};
//     struct portfolio out;
//     if (portfolio_find(&p, 2, &out))          at most two configurations
//         out.node[0] ...                       the rule, a tree of thresholds on sizes
//         out.candidate[i]                      the choice for shape i
//
// A node of a rule compares one size with a threshold (the size of one of the shapes); a leaf holds
// a configuration. All such rules are tried. A leaf gets the configuration that is the best on its
// shapes, among those that were measured on all of them. So the result is optimal by the sum of
// times or by the worst shape. Pure.
#ifndef TILEWALK_REPORT_PORTFOLIO_H
#define TILEWALK_REPORT_PORTFOLIO_H

#include <stdbool.h>

enum { PORTFOLIO_MOST = 4, PORTFOLIO_MOST_SHAPES = 32 };

struct portfolio_problem {
    int shapes, candidates, axes;
    const double *seconds; // [shape * candidates + candidate]; 0: not measured there
    const double *size;    // [shape * axes + axis]
    const double *weight;  // [shape]: how often it is run
    bool by_worst;         // minimise the worst ratio to a shape's own best, not the sum of times
};

struct portfolio_node {
    int axis; // -1: a leaf
    double most;
    int below, above; // next node where the size is at most `most`, and where it is larger
    int candidate;    // leaves only
};

struct portfolio {
    int nodes; // node[0] is the root
    struct portfolio_node node[2 * PORTFOLIO_MOST - 1];
    int candidate[PORTFOLIO_MOST_SHAPES]; // the choice for each shape
    double cost[2];                       // to be minimised; the second decides ties of the first
};

// Returns the shortest time of a shape; 0: nothing was measured.
double portfolio_best(const struct portfolio_problem *p, int shape);
// Finds at most `most` configurations, 1 to PORTFOLIO_MOST; fewer where more are no better. False:
// no configuration was measured on all shapes that would have to share it.
bool portfolio_find(const struct portfolio_problem *p, int most, struct portfolio *out);

#endif
