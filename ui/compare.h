// Marked sessions side by side: how fast, how soon, how steadily; and the strategies behind them.
//
//     struct comparison c;
//     compare_marks(&c, model.mark, model.mark_count);
//     c.row[0] ... c.row[c.comparable - 1], best first; then those that are not comparable
//
// Sessions are comparable when they tune the same operation on the same device. The kind of session
// that most marks have is compared; of equally frequent ones, the first. The best of a session is
// the same as in lists of sessions: races count. All else is taken from the curve of measurements,
// which no race changes. A curve is 0 before its first valid result and flat after its last
// (report/plot.h), so that each has a value at every trial up to `horizon`.
//
// A mean is of sessions with identical space, settings, files of the space and driver. Sessions
// that differ in one of these are side by side, but in a group of their own.
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
    double reached;       // FLOP/s, the end of its curve
    double share;         // of the best end of all curves; 0: nothing valid yet
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
// Returns the first thing in which two comparable sessions differ, so that a mean of both would
// mean nothing: "space", "settings", "files", "driver"; NULL: none.
const char *compare_apart(const struct session_record *a, const struct session_record *b);
// True when both are of one strategy with the same options, began alike and are not apart: repeats,
// of which there may be a mean.
bool compare_repeats(const struct session_record *a, const struct session_record *b);
void compare_marks(struct comparison *c, const struct mark *mark, int count);

#endif
