#ifndef TILEWALK_SEARCH_RNN_H
#define TILEWALK_SEARCH_RNN_H

#include "model/reinforce.h"
#include "space/space.h"

// A configuration as a sequence of decisions, for a controller that makes one choice at a time.
//
//     struct decisions d;
//     decisions_init(&d, space);
//     for (int t = 0; t < d.count; t++) {
//         decisions_allow(&d, t, choice, allowed); // the allowed ones of d.values[t] values
//         choice[t] = ...
//     }
//     decisions_config(&d, space, choice, &config);
//     decisions_finish(&d);
//
// Parameters come in the order of the space. The values that a decision may take depend on the
// earlier decisions: * factorization: for each prime and each part but the last, the number of the
// remaining factors
//    that it gets; the last part takes the rest;
// * permutation: for each place but the last, one of the unused items; * other kinds: one decision
// over their values, or with more than 1024 values two, the index / 256
//    and the index % 256, so that no output layer gets too large.
// A parameter without a choice (one value, one part, one item) has no decision. Sequences and
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

// Sets values[t] flags, given choice[0] .. choice[t - 1]. At least one is true.
void decisions_allow(const struct decisions *d, int t, const int *choice, bool *allowed);

void decisions_config(const struct decisions *d, const struct space *s, const int *choice,
                      struct config *out);
void decisions_of(const struct decisions *d, const struct config *c, int *choice);

// Draws of sequences from a policy between two of its updates. Results of earlier draws are reused.
//
//     struct prefixes p;
//     prefixes_init(&p, &policy, &decisions);
//     prefixes_draw(&p, &rng, choice);
//     prefixes_forget(&p); // after each update of the policy
//     prefixes_finish(&p);
//
// A tree of the choices made so far keeps the state and the probabilities after each prefix. So a
// sequence that was drawn before costs only its random numbers. A converged policy draws the same
// few sequences again and again until one is new; the tree makes this cheap. The draws do not
// depend on it. The tree is cleared when it outgrows 8 MB.

// A node of the tree, for one prefix: the index of its numbers (its state, then the probabilities
// of the values of the next decision), and the index of its children (a node for each of these
// values).
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
    int *child; // index of a node; 0: not drawn yet
    size_t children, child_capacity;
};

// Both outlive `p`.
void prefixes_init(struct prefixes *p, struct sequence *policy, const struct decisions *decisions);
void prefixes_finish(struct prefixes *p);
void prefixes_forget(struct prefixes *p);
void prefixes_draw(struct prefixes *p, struct rng *r, int *choice);

#endif
