// Everything about one trial, the one that is shown: its speed compared with the best, samples and
// race, the reason of a failure, its whole configuration with the mutated parameters marked, its
// parents, the status of its neighbours, and the time it took.
//
// Counting the neighbours that were tried takes a look-up for each of them (all that are one step
// away in one parameter). detail_pane_tick counts them in slices, and again when trials ended
// since. Nothing is counted while trials come fast and the newest is followed, since nobody can
// read it.
//
// The pane is drawn inside a frame of the view's, with the title and the note from here. A zeroed
// state is a new one; zero it again when another session is opened.
#ifndef TILEWALK_UI_DETAIL_PANE_H
#define TILEWALK_UI_DETAIL_PANE_H

#include "keys.h"
#include "list.h"
#include "screen.h"

struct app;

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
bool detail_pane_act(struct app *app, struct detail_pane *state, enum action a);
bool detail_pane_tick(struct app *app, struct detail_pane *state); // true: more waits

#endif
