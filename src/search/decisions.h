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
#ifndef TILEWALK_SEARCH_DECISIONS_H
#define TILEWALK_SEARCH_DECISIONS_H

#include "space/space.h"

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

#endif
