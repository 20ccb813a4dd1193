// The trials of the main screen: a window of the newest, by number, around the one that is shown.
//
// It follows the newest trial until the user moves, and again from the top row on. Only the rows
// that are seen are read, so that it costs the same however many trials there are. When the best
// trial is outside the window it gets the last row. Configurations are written as their difference
// from the best one, which gets shorter as a search converges; the best one is written out.
//
// The pane is drawn inside a frame of the view's, with the title and the note from here. A zeroed
// state is a new one.
#ifndef TILEWALK_UI_TRIALS_PANE_H
#define TILEWALK_UI_TRIALS_PANE_H

#include "list.h"
#include "screen.h"

struct app;

struct trials_pane {
    struct list list; // the newest has place 0
    bool best_below;  // the last row is the best trial's
};

void trials_pane_draw(struct app *app, struct trials_pane *state, const struct pane *p,
                      bool focused);
bool trials_pane_act(struct app *app, struct trials_pane *state, enum action a);
void trials_pane_click(struct app *app, struct trials_pane *state, int row);

#endif
