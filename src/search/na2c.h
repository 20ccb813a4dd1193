#ifndef TILEWALK_SEARCH_NA2C_H
#define TILEWALK_SEARCH_NA2C_H

#include "model/actor_critic.h"
#include "search/actions.h"
#include "search/batches.h"
#include "space/space.h"

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

size_t encoding_width(const struct space *s);
void encoding_fill(const struct space *s, const struct config *c, double *x);

// A policy over the moves of a space, and the memory of moves that it learns from, of N-A2C.
//
//     struct walk_policy p;
//     if (!walk_policy_init(&p, space, &options, &rng, e)) ...;
//     walk_policy_at(&p, &c);                            // fills p.policy and p.legal
//     walk_policy_remember(&p, (struct move){from, action, index}); // or
//     walk_policy_remember_arrivals(&p, &rounds, index); // every move that ends there
//     walk_policy_learn(&p, &rounds, best, &rng);
//     walk_policy_finish(&p);
//
// The reward of a move depends only on the state where it ends: the fitness there over the best
// fitness so far, computed whenever the move is learned from; 0 for failures. So one measurement
// gives the reward of the moves from all neighbours (the paper's memory M): with `augment` all of
// them are remembered. The policy would not have taken most of them. Therefore the actor learns
// from a move with the weight min(1, policy(action) * legal actions). The critic learns V(s), then
// an average over the neighbours of s, from all moves alike.
//
// Moves that change nothing are masked out of the policy. Moves to states that rules forbid are not
// masked: the walk draws again, which gives the policy over the allowed moves.

struct walk_policy_options {
    int hidden, memory, minibatch, updates;
    double rate, gamma, entropy, clip;
    bool augment;
    bool mask; // false: as published, moves that change nothing are drawn too
};

struct move {
    struct config from;
    int action;
    int to; // index in the archive
};

struct walk_policy {
    struct walk_policy_options options;
    struct actions actions;
    struct actor_critic net;
    double *x, *by_logit;
    double *policy; // probability of each action at the last state of walk_policy_at
    bool *legal;    // true for actions that change that state; only with `mask`
    int legal_count;
    struct move *memory; // a ring
    int remembered, next;
};

enum { WALK_POLICY_MOST_ACTIONS = 65536 }; // beyond it the network would take gigabytes

// The space outlives it. False: it has too many actions.
bool walk_policy_init(struct walk_policy *p, const struct space *space,
                      const struct walk_policy_options *options, struct rng *r, struct err *e);
void walk_policy_finish(struct walk_policy *p);

// Computes the policy at a state; returns the critic's value.
double walk_policy_at(struct walk_policy *p, const struct config *c);

void walk_policy_remember(struct walk_policy *p, const struct move *m);
void walk_policy_remember_arrivals(struct walk_policy *p, const struct batches *batches, int to);
// Takes `updates` steps, each on `minibatch` moves drawn from the memory. `best` is the highest
// fitness so far; 0: none.
void walk_policy_learn(struct walk_policy *p, const struct batches *batches, double best,
                       struct rng *r);

// Takes one step on these moves alone, with the published loss and these rewards.
void walk_policy_learn_published(struct walk_policy *p, const struct move *m, const double *reward,
                                 int count);

#endif
