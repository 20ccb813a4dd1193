// What the keyboard and the mouse send, as keys of ours. Part of term.c, on the side of curses.
#ifndef TILEWALK_UI_TERM_KEYS_H
#define TILEWALK_UI_TERM_KEYS_H

#include <stdbool.h>
#include <stdint.h>

// KEY_IS_NONE: none is waiting. `row` and `col` are set by KEY_IS_CLICK alone.
int32_t keys_next(int *row, int *col);
void keys_mouse(bool on);

#endif
