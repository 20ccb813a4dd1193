// Moves from one configuration to another, on the graphs of the parameters or beyond them.
//
// `reach` says how far one move goes: a parameter of at most `reach` values may take any of them
// (what others call Hamming neighbours), every other one goes to a neighbour on its graph. 0: the
// graphs alone.
//
// Where constraints hold a search back there are two ways on. Whoever lists all moves skips what
// is illegal (local). Whoever draws moves goes on from an illegal point until it is out again: a
// random walk with rejection and accumulation, as OpEvo's mutation (moves_settle). Where everything
// is legal and new, neither changes anything.
#ifndef TILEWALK_SEARCH_MOVES_H
#define TILEWALK_SEARCH_MOVES_H

#include "search/visited.h"

// Jumps are the moves to any value of a parameter of at most `reach` values. They are numbered,
// those to the values that `c` has already included. How many there are, and jump `k` from `c`:
int moves_jumps(const struct space *s, int reach);
void moves_jump(const struct space *s, int reach, const struct config *c, int k,
                struct config *out);

// One random move in place: a uniform parameter among those that can move, then a uniform move of
// it. False: none can.
bool moves_step(const struct space *s, int reach, struct rng *r, struct config *c);

// Steps on from `c` until it is allowed (not at all when it already is). False: 1000 steps did not
// lead there.
bool moves_settle(const struct visited *v, int reach, struct rng *r, struct config *c);

#endif
