// The space screen of a fixture on a stage, for its tests. One at a time.
#ifndef TILEWALK_TESTS_UI_SPACE_SCREEN_H
#define TILEWALK_TESTS_UI_SPACE_SCREEN_H

#include "stage.h"
#include "view_space.h"

extern struct stage space_stage;

void space_open(enum fixture_shape shape, int rows, int cols); // all work done
void space_close(void);
bool space_has(const char *text);        // whether the frame does
struct space_view *space_state(void);    // of the view
const struct space *space_opened(void);  // the space of the session
int space_param_named(const char *name); // its place
void space_choose(int param);            // moves the cursor there
void space_play(const char *keys);

#endif
