// The population as a heat map: rows are individuals, best first by the speeds that are shown (of
// races, once there was one), columns are parameters.
//
// A factorization has a column for each part. The colour of a cell is the value's place in its
// range, so that a converged column looks uniform. Or (ACT_COLOUR) it is the average rank of the
// individuals with the same value, so that values that the best share stand out. Zoomed, and where
// there is room, the values stand beside the colours. The cell under the cursor is spelled out
// below. Strategies without a population show the best trials instead.
//
// The pane is drawn inside a frame of the view's, with the title and the note from here. A zeroed
// state is a new one.
#ifndef TILEWALK_UI_POPULATION_PANE_H
#define TILEWALK_UI_POPULATION_PANE_H

#include "list.h"
#include "screen.h"
#include "trial_text.h"

struct app;

struct population_pane {
    bool by_speed; // colours are the speed of values, else the values
    struct list rows, columns;
};

void population_pane_title(struct app *app, const struct population_pane *state, char title[64],
                           char note[64]);
void population_pane_draw(struct app *app, struct population_pane *state, const struct pane *p,
                          bool focused, bool zoomed);
bool population_pane_act(struct app *app, struct population_pane *state, enum action a);
void population_pane_click(struct app *app, struct population_pane *state, int row);

#endif
