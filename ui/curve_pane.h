// The pane "Best TFLOPS": best-so-far curves of the open session and of the marked ones over it,
// their mean and a band around it.
//
//     struct curve_pane state = {0};
//     curve_pane_draw(&app, &state, &pane, focused);
//     if (curve_pane_act(&app, &state, a)) ...
//
// The open session is the first series, with the letter of its mark, else the first free letter.
// Marked sessions of another problem, device or source would flatten it: they are left out, and the
// note counts them. The mean (M) is of the open session and of the shown ones that have the same
// space, settings, files and driver (compare.h), from two on. Each counts 0 before its first valid
// result and keeps its best beyond its end.
//
// The x axis is the budget from the start, so that curves stay where they are and the rest of the
// budget is seen; it is longer where a marked session is longer. It ends with the longest session
// when the session is over, and for wall clock, which has no budget. The line of a running session
// goes on level to now. Wall clock counts from the start of each session, with pauses.
//
// Behind the lines there are a faint dot for each trial of the open session, a faint line for the
// running median of these, and dotted lines for the fastest of a recording, for the baseline, and
// for the device's peak where that is near. Below them there are bars for the share that failed,
// and the carpet (carpet_pane.h) where the layout gives it room.
//
// The y axis begins at 0 and ends at a round number that the lines have not reached, which doubles
// at most when they do.
#ifndef TILEWALK_UI_CURVE_PANE_H
#define TILEWALK_UI_CURVE_PANE_H

#include "carpet.h"
#include "compare.h"
#include "keys.h"
#include "model.h"
#include "report/plot.h"
#include "screen.h"
#include "widget.h"

struct app;

enum curve_axis { CURVE_TRIALS, CURVE_RUNNING, CURVE_WALL, CURVE_AXIS_COUNT };
enum curve_band { CURVE_DEVIATION, CURVE_RANGE, CURVE_NO_BAND, CURVE_BAND_COUNT };

#define CURVE_MOST_DOTS 2048

// The trials of the open session: at most CURVE_MOST_DOTS of them, however many there are. Every
// trial is kept at first, then every second, every fourth and so on: a screen has no more dots.
struct curve_dots {
    int64_t session;
    int64_t stride; // trial i * stride is dot i - 1
    int count;
    struct curve_dot {
        double elapsed_s, finished, seconds; // seconds: of the kernel; 0: it failed
        float sensed[SENSED_COUNT];
        bool has_config;
        struct config config;
    } dot[CURVE_MOST_DOTS];
};

// The user's choices, and the trials as far as they were read; all zero at first.
struct curve_pane {
    enum curve_axis axis;
    enum curve_band band;
    bool zoomed; // y: not from 0, but from a few percent below the best of the open session, or
                 // from its last steps
    bool alone;  // no overlays
    struct curve_dots dots;
    bool has_carpet; // where there is room; the layout's choice
    struct carpet carpet;
    int64_t carpet_session, carpet_read; // trials up to that number are in it
    int64_t number;                      // the moment that is looked at; 0: now
    struct list rows;                    // of the carpet
};

void curve_pane_finish(struct curve_pane *state);

// Empties the carpet unless it is that of the open session; before it is drawn.
void curve_pane_follow(const struct app *app, struct curve_pane *state);
bool curve_pane_tick(struct app *app, struct curve_pane *state); // true while there is more
void curve_pane_draw(struct app *app, struct curve_pane *state, const struct pane *p, bool focused);
// Returns true when it was axis, zero, band or overlay, or moved a carpet that is cut.
bool curve_pane_act(struct app *app, struct curve_pane *state, enum action a);

// Copies a plot into a pane, leaving what lies under its empty cells. `style` of each series.
void curve_draw_plot(const struct plot *plot, const struct pane *p, const enum style *style);

// --- the curves as numbers ---

// Best-so-far curves of the open session and of the marked ones that can be compared with it on one
// x axis, and their mean.
//
//     struct curve_runs r;
//     curve_runs_take(&r, &app->model, unix_now, CURVE_TRIALS, false);
//     struct curve_mean m; curve_mean_take(&m, &r, CURVE_DEVIATION, 140);
//     curve_mean_finish(&m); curve_runs_finish(&r);
//
// Speeds are in `unit`, seconds and trials as they are. Run 0 is the open session.

#define MOST_RUNS (MODEL_MOST_MARKS + 1)

struct curve_run {
    char name[24]; // in the legend: "3 opevo"
    char letter;
    bool apart; // no repeat of the open one (compare_repeats): not in the mean
    bool level; // of another space and not running: its best is a level to compare with
    struct plot_point *point;
    int count;
    double end;    // x: where it is now, or ended
    double ranked; // the best as lists show it, after its race; 0: nothing valid yet
};

struct curve_runs {
    struct curve_run run[MOST_RUNS];
    int count;                  // 0: no session is open
    int alike;                  // runs in the mean: the open one and those that are not apart
    int left_out[COMPARE_FITS]; // marked ones that tune something else or elsewhere
    double right;               // the farthest end; of a session that goes on, that of its budget
    double best;                // of all; 0: nothing valid yet
    double recorded;            // the fastest of the recording; 0: it is no recording
    double baseline;            // the fastest baseline of the open session; 0: there is none
    const char *baseline_name;
    double peak;      // of the device; 0: not known
    double per_flops; // of `unit`
    bool is_inverse;  // the inverses of speeds are values in `unit`
    const char *unit;
};

// `alone`: without the marked ones.
void curve_runs_take(struct curve_runs *r, const struct model *m, double unix_now,
                     enum curve_axis axis, bool alone);
void curve_runs_finish(struct curve_runs *r);

// The mean of the runs that are alike, on a grid of n steps over [0, right]. Point i holds what is
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
