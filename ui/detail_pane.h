// All that is known of one trial, the one that is shown: speed against the best, samples and race,
// why it failed, its whole configuration with what was moved from its parents, where it comes from,
// its neighbours' fate, and where its time went.
//
// Which neighbours were tried takes a look-up for each of them (all that are one step away in one
// parameter): they are counted in slices by detail_pane_tick, again when trials were told since.
// While trials come fast and the newest is followed nobody can read it, and none are counted.
//
// Drawn inside a frame that is the view's, with the title and note that it asks for here. A zeroed
// state is a new one; zero it again when another session is opened.
#ifndef TILEWALK_UI_DETAIL_PANE_H
#define TILEWALK_UI_DETAIL_PANE_H

#include "keys.h"
#include "list.h"
#include "screen.h"

struct app;

struct neighbours {
    int64_t ask;     // of whom; 0: not begun
    int64_t version; // of the model when the count began
    double begun;    // app->now then
    int in_all;
    int seen; // looked up so far
    int tried, better, excluded;
};

struct detail_pane {
    struct neighbours counting, counted; // the second is what is shown
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
