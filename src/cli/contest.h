// What `compare` puts side by side, wherever the curves come from: sessions or recordings.
//
//     struct contest c = {.session = NULL};
//     if (contest_of_sessions(a, &c, e)) ...    or contest_of_recordings
//     comparison_make(&c.setup, &c.result);
//     contest_finish(&c);                       in any case
//
// Sessions of one strategy with the same options are its repeats. On recordings every strategy is
// simulated; with several recordings each is a problem of its own.
#ifndef TILEWALK_CLI_CONTEST_H
#define TILEWALK_CLI_CONTEST_H

#include "cli/common.h"
#include "cli/session_curves.h"
#include "report/compare_table.h"
#include "simulate/curve.h"

struct contest {
    struct comparison_setup setup; // without `at`
    struct comparison_result result;
    enum comparison_unit unit;
    const char *heading;    // first line of text, without its end
    const char *title;      // of the picture
    const char *members;    // JSON members that say what is compared
    const int64_t *session; // [setup.run_count]: ids; NULL: recordings
    struct session_curves curves;
    struct simulated_comparison simulated;
    struct arena arena;
};

// Operands are the numbers of sessions, or the files of recordings. False: a strategy, file or
// session is not what it should be, or sessions have different problems.
bool contest_of_sessions(const struct arguments *a, struct contest *c, struct err *e);
bool contest_of_recordings(const struct arguments *a, struct contest *c, struct err *e);
void contest_finish(struct contest *c);

// The curves of c->result, mean and deviation of each group, as a .svg or .png file.
struct contest_picture {
    bool cost;  // how long a run takes (lower is better); else its speed
    bool boxes; // of what its runs came to at the last of c->result.at, in place of curves
};
bool contest_draw(struct contest *c, const struct contest_picture *how, const char *path,
                  struct err *e);

#endif
