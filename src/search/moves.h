// Moves from one configuration to another, on the graphs of the parameters or beyond them.
//
// The jump limit: a parameter of at most `jump_limit` values may take any of them in one move
// (Hamming neighbours); every other one goes to a neighbour on its graph. 0: the graphs alone.
//
// There are two ways to deal with constraints. A search that lists all moves skips the illegal ones
// (local). A search that draws moves goes on from an illegal point until it is legal again, as
// OpEvo's mutation does (moves_settle). Where everything is legal and new, there is no difference.
// In a sparse space both repair a move that is illegal (archive_repair).
#ifndef TILEWALK_SEARCH_MOVES_H
#define TILEWALK_SEARCH_MOVES_H

#include "search/archive.h"

// Jumps are numbered, and include those to the values that a configuration has already.
int moves_jumps(const struct space *s, int jump_limit);
void moves_jump(const struct space *s, int jump_limit, const struct config *c, int k,
                struct config *out);

// Makes one random move in place: of a uniform parameter among those that can move, a uniform move.
// False: none can move.
bool moves_step(const struct space *s, int jump_limit, struct rng *r, struct config *c);

// Moves `c` until it is allowed, if it is not. False: 1000 steps were not enough.
bool moves_settle(const struct archive *v, int jump_limit, struct rng *r, struct config *c);

#endif
