// The pane "Best TFLOPS": best-so-far curves of the open session and of the marked ones over it,
// their mean and a band around it.
//
//     struct curve_pane state = {0};
//     curve_pane_draw(&app, &state, &pane, focused);
//     if (curve_pane_act(&app, &state, a)) ...
//
// The open session is the first series, with the letter of its mark, else the first letter that is
// free. Marked ones of another problem, device or source are left out, and the note says so: they
// would flatten it. The mean (M) is of the open one and those that are shown and no other space,
// settings, files or driver set apart from it (compare.h), from two on; each counts 0 before its
// first valid result and keeps its best beyond its end.
//
// The x axis is the budget from the start, so that what is drawn stays where it is and what is left
// is seen; longer where a marked session is longer. A session that is over has no budget left, and
// wall clock none at all: there the axis ends with the longest session. The line of a running one
// goes on level to now. Wall clock is counted from the start of each session, with pauses.
//
// Behind the lines: a faint dot for each trial of the open session, an x at the bottom for each
// that failed, and the fastest of a recording, where a search is on one, as a dotted line.
#ifndef TILEWALK_UI_CURVE_PANE_H
#define TILEWALK_UI_CURVE_PANE_H

#include "compare.h"
#include "keys.h"
#include "model.h"
#include "report/plot.h"
#include "report/steps.h"
#include "screen.h"

struct app;

enum curve_axis { CURVE_TRIALS, CURVE_RUNNING, CURVE_WALL, CURVE_AXIS_COUNT };
enum curve_band { CURVE_DEVIATION, CURVE_RANGE, CURVE_NO_BAND, CURVE_BAND_COUNT };

#define CURVE_MOST_DOTS 2048

struct curve_dot {
    double elapsed_s, finished, seconds; // seconds: of the kernel; 0: it failed
};

struct curve_dots {
    int64_t session;
    int64_t stride; // trial i * stride is dot i - 1
    int count;
    struct curve_dot dot[CURVE_MOST_DOTS];
};

// What the user chose, and the trials as far as they were read; all zero at first.
struct curve_pane {
    enum curve_axis axis;
    enum curve_band band;
    bool zoomed; // y: not from 0, but from a few percent below the best of the open session, or
                 // from its last steps
    bool alone;  // no overlays
    struct curve_dots dots;
};

bool curve_pane_tick(struct app *app, struct curve_pane *state); // true while there is more

void curve_pane_draw(struct app *app, struct curve_pane *state, const struct pane *p, bool focused);
// True: it was axis, zero, band or overlay.
bool curve_pane_act(struct app *app, struct curve_pane *state, enum action a);

// Copies a plot into a pane, leaving what lies under its empty cells. `style` of each series.
void curve_draw_plot(const struct plot *plot, const struct pane *p, const enum style *style);

// What the curve pane shows, as numbers: best-so-far curves of the open session and of the marked
// ones that can be compared with it on one x axis, and their mean.
//
//     struct curve_runs r;
//     curve_runs_take(&r, &app->model, unix_now, CURVE_TRIALS, false);
//     struct curve_mean m; curve_mean_take(&m, &r, CURVE_DEVIATION, 140);
//     curve_mean_finish(&m); curve_runs_finish(&r);
//
// Speeds are in `unit`, seconds and trials as they are. Run 0 is the open session.

#define MOST_RUNS (MODEL_MOST_MARKS + 1)

struct curve_run {
    int64_t id;
    char letter;
    bool apart; // from the open one (compare_apart): not in the mean
    bool level; // apart and not running: what it reached is something to be held against
    struct plot_point *point;
    int count;
    double end;    // x: where it is now, or ended
    double ranked; // the best as lists have it, after its race; 0: nothing valid yet
};

struct curve_runs {
    struct curve_run run[MOST_RUNS];
    int count;                  // 0: no session is open
    int alike;                  // of them: the open one, and those that the mean is of with it
    int left_out[COMPARE_FITS]; // marked ones that tune something else or elsewhere
    double right;               // the farthest end; of a session that goes on, that of its budget
    double best;                // of all; 0: nothing valid yet
    double roofline;            // the fastest that is recorded; 0: it is no recording
    double baseline;            // the fastest of the open session that ran; 0: there is none
    const char *baseline_name;
    double per_flops; // of `unit`
    const char *unit;
};

// `alone`: without the marked ones.
void curve_runs_take(struct curve_runs *r, const struct model *m, double unix_now,
                     enum curve_axis axis, bool alone);
void curve_runs_finish(struct curve_runs *r);
double curve_run_best(const struct curve_run *run); // 0: nothing valid yet

// Of the runs that are alike: on a grid of n steps over [0, right]. Point i holds what is
// reached within step i, so that the last one holds the last results.
struct curve_mean {
    int count; // of points; 0: less than two runs, or nothing valid
    struct plot_point *mean, *low, *high;
    double end;         // x
    struct spread last; // there
};

void curve_mean_take(struct curve_mean *m, const struct curve_runs *r, enum curve_band band, int n);
void curve_mean_finish(struct curve_mean *m);

#endif
