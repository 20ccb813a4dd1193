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

#include "keys.h"
#include "report/plot.h"
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

#endif
