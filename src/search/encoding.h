// A configuration as numbers for a network.
//
//     double *x = mem_zero(encoding_width(space), sizeof *x);
//     encoding_fill(space, &c, x);
//
// By parameter, in order of declaration:
//
//     factorization        each part / product - 1/2, as NNI's G-BFS and N-A2C have it
//     discrete             rank / (values - 1) - 1/2: its place on the ladder, not its size
//     categorical, custom  for each value 1 if it is this one, else 0
//     permutation          for each position and item 1 if that item stands there, else 0
#ifndef TILEWALK_SEARCH_ENCODING_H
#define TILEWALK_SEARCH_ENCODING_H

#include "space/space.h"

size_t encoding_width(const struct space *s);
void encoding_fill(const struct space *s, const struct config *c, double *x);

#endif
