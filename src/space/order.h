// The order in which parameters are chosen when the legal points of a space are built (legal.h).
//
//     struct order o = order_choose(&rules);
//
// After some parameters are chosen, there is a node for each combination of the values that later
// rules read, as far as the rules that are decided permit it. The order keeps the number of nodes
// small, as far as it can be estimated: by the sizes of the parameters, filtered by the rules that
// read one parameter alone, and by the shares of the configurations that each rule permitted so
// far. Each parameter is tried as the first one; then the one that leaves the fewest nodes follows,
// of those that share a rule with chosen ones while there are such.
#ifndef TILEWALK_SPACE_ORDER_H
#define TILEWALK_SPACE_ORDER_H

#include "space/rules.h"

struct order {
    int param[SPACE_MAX_PARAMS], count; // only those that a rule reads
    double work;                        // nodes times values, summed: an estimate
};

// May evaluate rules, and learn that they read more: r->grown.
struct order order_choose(struct rules *r);

#endif
