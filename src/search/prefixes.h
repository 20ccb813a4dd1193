// Draws sequences from a policy between two updates of it, and computes only what no earlier draw
// has.
//
//     struct prefixes p;
//     prefixes_init(&p, &policy, &decisions);
//     prefixes_draw(&p, &rng, choice);
//     prefixes_forget(&p); // whenever the policy has learned
//     prefixes_finish(&p);
//
// A tree of the choices made so far keeps the state and the probabilities behind each prefix, so
// that a sequence that was drawn before costs its random numbers only. A policy that has made up
// its mind draws the same few over and over until one is new: this is what makes that cheap. What
// is drawn does not depend on what is kept; the tree starts afresh when it outgrows 8 MB.
#ifndef TILEWALK_SEARCH_PREFIXES_H
#define TILEWALK_SEARCH_PREFIXES_H

#include "model/reinforce.h"
#include "search/decisions.h"

// What is known of one prefix: where its state, then the probabilities of the values of the next
// decision begin among the numbers; and where the nodes behind these values do among the children.
struct prefix {
    size_t number, child;
};

struct prefixes {
    struct sequence *policy;
    const struct decisions *decisions;
    bool *allowed;       // scratch
    struct prefix *node; // the first is the root
    int nodes, node_capacity;
    double *number;
    size_t numbers, number_capacity;
    int *child; // 0: not drawn yet
    size_t children, child_capacity;
};

// Both outlive `p`.
void prefixes_init(struct prefixes *p, struct sequence *policy, const struct decisions *decisions);
void prefixes_finish(struct prefixes *p);
void prefixes_forget(struct prefixes *p);
void prefixes_draw(struct prefixes *p, struct rng *r, int *choice);

#endif
