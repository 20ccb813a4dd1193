// Text on several rows, broken at blanks and new lines. A word that is longer than a row is broken
// behind a colon (strategies have many), unless that left half of the row empty.
#ifndef TILEWALK_UI_WRAP_H
#define TILEWALK_UI_WRAP_H

#include "screen.h"

// Bytes of the first row when a row has `cols` columns. `*next` is where the second one begins. At
// least a glyph, unless there is none.
int wrap_row(const char *text, int cols, const char **next);
int wrap_rows(const char *text, int cols); // how many; 0: no text
// Draws all of it from (row, col) on; what leaves the pane is not seen. Returns the row below.
int pane_wrapped(const struct pane *p, int row, int col, int cols, enum style style,
                 const char *text);

#endif
