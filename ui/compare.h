// Marked sessions side by side: how good, how soon, how steadily; and the strategies behind them.
//
//     struct comparison c;
//     compare_marks(&c, model.mark, model.mark_count);
//     c.row[0] ... c.row[c.comparable - 1], best first; then those that are not comparable
//
// Sessions are comparable when they tune the same operation on the same device: whatever most of
// the marked ones tune is compared, of equally many what the first one does. The best of a session
// is what lists of sessions call so: races count. What was reached when is taken from the curve of
// what was measured then, which no race rewrites, and so is its share of the best of all curves; a
// curve is 0 before its first valid result and flat after its last (report/steps.h), so that each
// has a value at every trial up to `horizon`.
//
// A mean is of what is the same to the letter: space, settings, the space's files and the driver,
// too. What differs in one of those is side by side, but in a group of its own.
//
// Pure: no database, no clock. Pointers are into the marks.
#ifndef TILEWALK_UI_COMPARE_H
#define TILEWALK_UI_COMPARE_H

#include "model.h"
#include "report/compare.h"

enum compare_fit {
    COMPARE_SAME,
    COMPARE_OTHER_PROBLEM,
    COMPARE_OTHER_DEVICE,
    COMPARE_OTHER_SOURCE,
    COMPARE_FITS
};

struct compare_row {
    const struct mark *mark;
    enum compare_fit fit; // unless COMPARE_SAME, all below is 0
    double best;          // FLOP/s, as it is ranked; 0: nothing valid yet
    double reached;       // FLOP/s, what its curve reached
    double share;         // that of the best that any curve reached; 0: nothing valid yet
    double mean;          // FLOP/s: of best-so-far over trials 1 .. horizon
    // Trials until comparison_goals of the best curve's end; 0: never.
    int64_t goal[COMPARISON_GOALS];
    double ok_share; // of its trials; 0 without any
};

// The comparable sessions of one strategy with the same options that began alike (stored_beginning)
// and differ in nothing else (compare_apart).
struct compare_group {
    const struct session_record *first;
    int runs;
    double mean, deviation, best; // of their bests; deviation of a sample (n - 1), 0 for one run
};

struct comparison {
    struct compare_row row[MODEL_MOST_MARKS];
    int count, comparable;
    double reached;                               // of all comparable curves, FLOP/s
    int64_t horizon;                              // trials of the longest one
    struct compare_group group[MODEL_MOST_MARKS]; // best mean first
    int group_count;
};

enum compare_fit compare_fit(const struct session_record *a, const struct session_record *b);
// What sets two sessions that can be compared apart, so that a mean of both would mean nothing:
// "space", "settings", "files", "driver"; NULL: nothing.
const char *compare_apart(const struct session_record *a, const struct session_record *b);
void compare_marks(struct comparison *c, const struct mark *mark, int count);

#endif
