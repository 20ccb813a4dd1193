// What the curve pane shows, as numbers: best-so-far curves of the open session and of the marked
// ones that can be compared with it on one x axis, and their mean.
//
//     struct curve_runs r;
//     curve_runs_take(&r, &app->model, unix_now, CURVE_TRIALS, false);
//     struct curve_mean m; curve_mean_take(&m, &r, CURVE_DEVIATION, 140);
//     curve_mean_finish(&m); curve_runs_finish(&r);
//
// Speeds are in `unit`, seconds and trials as they are. Run 0 is the open session.
#ifndef TILEWALK_UI_CURVE_RUNS_H
#define TILEWALK_UI_CURVE_RUNS_H

#include "compare.h"
#include "curve_pane.h"
#include "model.h"
#include "report/steps.h"

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
    double roof;                // the fastest that is recorded; 0: it is no recording
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
