// Scenes of the workbench, played by scripts of keys on fixtures, at four sizes, with and without
// UTF-8: each once for all tests of a group.
//
//     struct shots *shots = shots_take();        about 200 frames
//     const struct shot *s = shots_find(shots, "main", "120x36", CHARSET_BRAILLE);
//     shots_free(shots);
#ifndef TILEWALK_TESTS_UI_SCENES_H
#define TILEWALK_TESTS_UI_SCENES_H

#include "screen.h"

struct shot {
    const char *scene, *size; // "main", "120x36"
    struct screen screen;
    // What only this scene shows: a dialog, the help or a prompt without what is behind it, else
    // what is between the head and the message.
    struct screen part;
    bool is_over; // something lies over the view
};

struct shots {
    struct shot *shot;
    int count;
};

struct shots *shots_take(void);
void shots_free(struct shots *shots);
const struct shot *shots_find(const struct shots *shots, const char *scene, const char *size,
                              enum charset charset);
// A rectangle of a frame, to be finished.
struct screen screen_cut(const struct screen *s, int row, int col, int rows, int cols);

#endif
