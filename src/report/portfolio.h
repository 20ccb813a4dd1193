// Few configurations for many shapes of a problem, and the rule that chooses among them: from times
// that are known.
//
//     struct portfolio_problem p = {.shapes = 12, .candidates = 200, .axes = 3, ...};
//     struct portfolio out;
//     if (portfolio_find(&p, 2, &out))          at most two configurations
//         out.node[0] ...                       the rule, a tree of thresholds on sizes
//         out.candidate[i]                      what it chooses for shape i
//
// A rule asks of one size whether it is at most a threshold (that of one of the shapes), then goes
// on; at its leaves stand configurations. All such rules are tried, each leaf with whichever
// configuration is the best on its shapes: only those that were measured on all of them count. So
// the result is the best that there is, by the sum of times or by the worst shape. Pure.
#ifndef TILEWALK_REPORT_PORTFOLIO_H
#define TILEWALK_REPORT_PORTFOLIO_H

#include <stdbool.h>

enum { PORTFOLIO_MOST = 4, PORTFOLIO_MOST_SHAPES = 32 };

struct portfolio_problem {
    int shapes, candidates, axes;
    const double *seconds; // [shape * candidates + candidate]; 0: not measured there
    const double *size;    // [shape * axes + axis]
    const double *weight;  // of a shape: how often it is run
    bool by_worst; // what counts is the worst ratio to the shape's own best, not the sum of times
};

struct portfolio_node {
    int axis; // -1: a leaf
    double most;
    int below, above; // nodes: where the size is at most `most`, and where it is more
    int candidate;    // of a leaf
};

struct portfolio {
    int nodes; // node[0] is asked first
    struct portfolio_node node[2 * PORTFOLIO_MOST - 1];
    int candidate[PORTFOLIO_MOST_SHAPES]; // of each shape
    double cost[2]; // the smaller, the better; the second where the first ties
};

// The shortest time of a shape; 0: nothing was measured.
double portfolio_best(const struct portfolio_problem *p, int shape);
// `most`: configurations, 1 to PORTFOLIO_MOST; fewer where more are no better. False: for some
// shapes none was measured on all that would have to share it.
bool portfolio_find(const struct portfolio_problem *p, int most, struct portfolio *out);

#endif
