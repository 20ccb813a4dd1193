// The line-mode front end of a running engine: JSON Lines on stdout, or lines for people with a
// progress line on a terminal. It only listens to events; signals and the end are handled in
// front_run.
#ifndef TILEWALK_FRONT_H
#define TILEWALK_FRONT_H

#include "common.h"

struct front {
    bool json, show_rejected, verbose;
    bool on_terminal; // a progress line is redrawn on stderr
    int64_t best_number;
    double drawn_at;        // monotonic seconds of the last progress line
    double started_elapsed; // running time and trials when this run began: for the rate
    int64_t started_trials;
    double curve[64]; // best TFLOPS so far, thinned out: the picture at the end
    int curve_count, curve_step, curve_skip;
    int64_t outcomes[OUTCOME_COUNT];
    bool nothing_valid; // when the session ended
    bool finished;      // it ended by itself
};

void front_init(struct front *f, const struct arguments *a);
void front_on_event(void *context, const struct event *event);

// Runs the engine with HUP, INT and TERM pausing it (a second INT ends at once). Returns the exit
// code.
int front_run(struct front *f, struct engine *g);

#endif
