// Where searches stand: every strategy on the same grounds with the same seeds, at equal budgets.
//
//     struct standing s = {.spec = spec, .specs = 3, .repeats = 40};
//     standing_on_recordings(&s, recording, recordings);
//     standing_on_landscapes(&s, false);       true: on those that are held out, too
//
// Tables are Markdown on stdout: the mean of optimum / best after 20, 50, 100, 200 and 400 trials;
// the first strategy against the best of all others, with the standard error of the difference in
// pairs of runs; and the first strategy on each ground, with the share of runs within 1 % of the
// optimum. Where measurements are noisy, the best is the point that was measured as the fastest,
// and counts with its true speed.
#ifndef TILEWALK_TESTS_STANDING_H
#define TILEWALK_TESTS_STANDING_H

#include "record/record.h"

struct standing {
    char *const *spec; // the first is held against the others
    int specs, repeats;
};

void standing_on_recordings(const struct standing *s, struct recording *const *recording,
                            int recordings);
void standing_on_landscapes(const struct standing *s, bool held_out);

#endif
