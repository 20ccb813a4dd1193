// The main screen, for its own files and its tests.
//
//   view_main.c        the view: its layout, its keys, and the pane of messages
//   curve_pane.c       best-so-far curves (curve_pane.h)
//   population_pane.c  the population, a row each, values on their colours
//   trials_pane.c      the newest trials
//   detail_pane.c      everything about one trial
//   workers_pane.c     what happens now: workers, and the device's sensors
//
// A pane is drawn inside a frame of the view's. A zeroed state of a pane is a new one.
#ifndef TILEWALK_UI_VIEW_MAIN_H
#define TILEWALK_UI_VIEW_MAIN_H

#include "app.h"
#include "curve_pane.h"

// --- the layout ---

// The layout turns a size into the rectangles of the panes.
//
//     struct layout l = layout_make(rows, cols, &choice);
//     if (layout_shows(&l, PANE_TRIALS)) draw into l.pane[PANE_TRIALS];
//
// From 110 x 30 on there are four panes. With a carpet the curve has it below, at the left, and
// trials, detail and workers are at the right. Without, curve and population are on top, trials and
// detail below. From 80 x 24 on there are the curve and, below it, one of the others as a tab; the
// curve alone with its carpet. From 40 x 10 on there is one pane at a time. Smaller screens have
// one pane without a frame, as much of it as fits, down to a single cell. Zoom gives the focused
// pane everything. These sizes are of the screen; a body lacks the rows of head and footer.
//
// Rectangles lie inside the body, are disjoint, and those that are shown are not empty unless the
// body is. The four panes and the two cover the body. Pure functions.

enum main_pane {
    PANE_CURVE,
    PANE_DETAIL, // enter leads to it
    PANE_POPULATION,
    PANE_TRIALS,
    PANE_WORKERS,
    PANE_LOG, // never among the four: the screen has a message row anyway
    PANE_COUNT
};

enum layout_kind { LAYOUT_FOUR, LAYOUT_TABBED, LAYOUT_ONE, LAYOUT_BARE };

// The smallest bodies: four rows fewer than their screens.
#define LAYOUT_FOUR_ROWS   26
#define LAYOUT_FOUR_COLS   110
#define LAYOUT_TABBED_ROWS 20
#define LAYOUT_TABBED_COLS 80
#define LAYOUT_ONE_ROWS    6
#define LAYOUT_ONE_COLS    40

struct rect {
    int row, col, rows, cols;
};

struct layout_choice {
    enum main_pane focus;
    enum main_pane tab; // shown while the curve has the focus; it is not PANE_CURVE
    bool zoomed;
    bool carpet; // the curve has its carpet
};

struct layout {
    enum layout_kind kind;
    struct rect pane[PANE_COUNT]; // empty: not shown
};

struct layout layout_make(int rows, int cols, const struct layout_choice *choice);
bool layout_shows(const struct layout *l, enum main_pane pane);
enum main_pane layout_pane_at(const struct layout *l, int row, int col); // PANE_COUNT: none
// Returns the pane that gets the focus after this one, forward or back.
enum main_pane layout_next(const struct layout *l, enum main_pane focus, bool forward);

// --- the population ---

// The population: rows are individuals, best first by the speeds that are shown (of races, once
// there was one), columns are parameters, a factorization has a column for each part. Values stand
// in their cells on the colours of their places in the range; categories have colours without an
// order. Or (ACT_COLOUR) the colour is the average rank of the individuals with the same value, so
// that values that the best share stand out.
//
// Labels are cut to the fewest letters that tell them apart, and written out where there is room.
// Where not all columns fit they scroll, and a mark says how many are beyond each edge. Below, each
// column has the number of rows that agree on its most frequent value (a tick: all), and its
// importance. The cell under the cursor is spelled out. Strategies without a population show the
// best trials instead; so does a moment before now (`shown`).

struct importance;

struct population_pane {
    bool by_speed; // colours are the speed of values, else the values
    struct list rows, columns;
    struct importance *importance; // NULL: none yet
    int64_t weighed_session;       // whose dots were added to it
    int weighed;                   // dots
    const struct moment *moment;   // whose best are shown; NULL: now. The view's.
};

void population_pane_finish(struct population_pane *state);
// Computes the importances from the trials of the curve; true while there is more.
bool population_pane_tick(struct app *app, struct population_pane *state,
                          const struct curve_dots *dots);
void population_pane_title(struct app *app, const struct population_pane *state, char title[64],
                           char note[64]);
void population_pane_draw(struct app *app, struct population_pane *state, const struct pane *p,
                          bool focused);
bool population_pane_act(struct app *app, struct population_pane *state, enum action a);
void population_pane_click(struct app *app, struct population_pane *state, int row);

// --- the trials ---

// The trials of the main screen: a window of the newest, by number, around the one that is shown.
//
// It follows the newest trial until the user moves, and again from the top row on. Only the rows
// that are seen are read, so that it costs the same however many trials there are. When the best
// trial is outside the window it gets the last row. Configurations are written as their difference
// from the best one, which gets shorter as a search converges; the best one is written out.

struct trials_pane {
    struct list list; // the newest has place 0
    bool best_below;  // the last row is the best trial's
};

void trials_pane_draw(struct app *app, struct trials_pane *state, const struct pane *p,
                      bool focused);
bool trials_pane_act(struct app *app, struct trials_pane *state, enum action a);
void trials_pane_click(struct app *app, struct trials_pane *state, int row);

// --- the detail ---

// Everything about one trial, the one that is shown: its speed compared with the best, samples and
// race, the reason of a failure, its whole configuration with the mutated parameters marked, its
// parents, the status of its neighbours, and the time it took.
//
// Counting the neighbours that were tried takes a look-up for each of them (all that are one step
// away in one parameter). detail_pane_tick counts them in slices, and again when trials ended
// since. Nothing is counted while trials come fast and the newest is followed, since nobody can
// read it.

struct neighbours {
    int64_t ask;     // of the trial whose neighbours these are; 0: not begun
    int64_t version; // of the model when the count began
    double begun;    // app->now then
    int in_all;
    int seen; // looked up so far
    int tried, better, excluded;
};

struct detail_pane {
    struct neighbours counting, counted; // the second is shown
    int64_t ask;                         // drawn last
    struct list text;                    // its lines
};

void detail_pane_title(struct app *app, const struct detail_pane *state, char title[64],
                       char note[64]);
void detail_pane_draw(struct app *app, struct detail_pane *state, const struct pane *p,
                      bool focused);
bool detail_pane_act(struct detail_pane *state, enum action a);
bool detail_pane_tick(struct app *app, struct detail_pane *state); // true: more waits

// --- the workers ---

// Shows what happens now: a row for each worker of a run on this machine, with its phase, its ask
// and how long it has been there; above, the trials a second, and clock, temperature and power of
// the newest trials as sparklines, where the driver has them.
void workers_pane_draw(struct app *app, const struct curve_dots *dots, const struct pane *p);

#endif
