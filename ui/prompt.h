// The line that is typed in the last row: keys in, text out. Emacs-like keys move and delete.
#ifndef TILEWALK_UI_PROMPT_H
#define TILEWALK_UI_PROMPT_H

#include "screen.h"

#define LINE_SIZE 512

// A line of UTF-8 with a cursor; also the text fields of dialogs.
struct line {
    char text[LINE_SIZE];
    int length, cursor; // bytes
};

void line_set(struct line *l, const char *text); // the cursor goes to its end
// True when the key was one for a line (a character, an arrow, a deletion).
bool line_key(struct line *l, int32_t key);
// Draws as much as fits into the first row of the pane, scrolled so that the cursor is seen, and
// puts the terminal's cursor there when `active`.
void line_draw(const struct line *l, const struct pane *p, bool active);

#endif
