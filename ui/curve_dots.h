// What the curve pane shows of single trials: when each came, and how fast it was.
//
//     struct curve_dots d = {0};
//     more = curve_dots_step(&d, &app->model);          a slice, in ticks
//     x = curve_dot_x(&d, i, CURVE_TRIALS, created);    of d.dot[i], 0 <= i < d.count
//
// At most CURVE_MOST_DOTS are kept, however many trials there are: the first, then every second,
// every fourth, ... as it takes. A screen has no more dots to show them with. Follows the session
// that is open. One thread; a zeroed one is new, and nothing has to be freed.
#ifndef TILEWALK_UI_CURVE_DOTS_H
#define TILEWALK_UI_CURVE_DOTS_H

#include "curve_pane.h"
#include "model.h"

// True while there is more to read.
bool curve_dots_step(struct curve_dots *d, struct model *m);
double curve_dot_x(const struct curve_dots *d, int i, enum curve_axis axis, double created);

#endif
