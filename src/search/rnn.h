#ifndef TILEWALK_SEARCH_RNN_H
#define TILEWALK_SEARCH_RNN_H

#include "model/reinforce.h"
#include "space/space.h"

// A configuration as a sequence of decisions, for controllers that make one choice after another.
//
//     struct decisions d;
//     decisions_init(&d, space);
//     for (int t = 0; t < d.count; t++) {
//         decisions_allow(&d, t, choice, allowed); // which of d.values[t] values choice[t] may
//         take choice[t] = ...
//     }
//     decisions_config(&d, space, choice, &config);
//     decisions_finish(&d);
//
// Parameters in the order of the space. Any product and any order of items works because later
// decisions see what the earlier ones left:
//  * factorization: for each prime, for each part but the last, how many of the factors that are
//    left it gets; the last part takes the rest;
//  * permutation: for each place but the last, which of the unused items stands there;
//  * the other kinds: one decision over their values, or with more than 1024 of them two, the
//    index / 256 and the index % 256, so that no output layer gets out of hand.
// What leaves no choice in any case (one value, one part, one item) is no decision. Sequences and
// configurations correspond one to one.

enum decision_kind { DECISION_FACTORS, DECISION_ITEM, DECISION_VALUE, DECISION_HIGH, DECISION_LOW };

struct decision {
    enum decision_kind kind;
    const struct param *param;
    int place; // part or position
    int prime; // index
};

struct decisions {
    int count, capacity;
    int all_values; // the sum of `values`
    struct decision *decision;
    int *values;
};

void decisions_init(struct decisions *d, const struct space *s); // `s` outlives `d`
void decisions_finish(struct decisions *d);

// `allowed` gets values[t] flags, of which at least one is set, given choice[0] .. choice[t - 1].
void decisions_allow(const struct decisions *d, int t, const int *choice, bool *allowed);
// The same for all of a whole sequence, one after the other: all_values flags.
void decisions_allow_all(const struct decisions *d, const int *choice, bool *allowed);

void decisions_config(const struct decisions *d, const struct space *s, const int *choice,
                      struct config *out);
void decisions_of(const struct decisions *d, const struct config *c, int *choice);

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
