// First guesses: configurations that a person, a script or a language model proposed, good or bad.
//
//     struct guesses g;
//     guesses_init(&g, &batches, &coordinates);
//     if (guesses_are_due(&g, index) && guesses_take(&g, &c)) ...      in their order
//     if (guesses_are_due(&g, index) && guesses_choose(&g, &gp, &c)) ...   by the model
//     guesses_finish(&g);
//
// They take every second proposal until they are used up. As soon as there is a model, the one with
// the largest expected improvement comes next, and one whose chance of an improvement is below
// GUESS_CHANCE is dropped: a list of bad guesses costs a few trials, not all of its length.
#ifndef TILEWALK_SEARCH_GUESSES_H
#define TILEWALK_SEARCH_GUESSES_H

#include "model/coordinates.h"
#include "model/gp.h"
#include "search/batches.h"

#define GUESS_CHANCE 0.02

struct guesses {
    const struct batches *batches; // these two outlive it
    struct coordinates *coordinates;
    bool *used; // [problem.guess_count]
    struct guess_report report;
};

void guesses_init(struct guesses *g, const struct batches *batches,
                  struct coordinates *coordinates);
void guesses_finish(struct guesses *g);

// Returns true if the proposal with this index is to be a guess.
bool guesses_are_due(const struct guesses *g, int index);
// Both give a guess that is new. False: none is left.
bool guesses_take(struct guesses *g, struct config *out);
// `model` is fitted to shares of the best result.
bool guesses_choose(struct guesses *g, struct gp *model, struct config *out);

#endif
