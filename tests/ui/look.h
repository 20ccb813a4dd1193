// What tests of drawing share: frames as text, and the walk over all sizes.
#ifndef TILEWALK_TEST_UI_LOOK_H
#define TILEWALK_TEST_UI_LOOK_H

#include "screen.h"

// The frame as text (heap).
char *look_text(const struct screen *s);
// Calls `draw` with panes of many sizes from 1 x 1 to 250 x 100 (all below 12 x 40, samples above),
// each inside a larger frame, and fails the test when a cell outside was touched.
void look_all_sizes(enum charset charset, void (*draw)(void *context, const struct pane *p),
                    void *context);

#endif
