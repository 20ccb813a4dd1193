// What the keyboard and the mouse send, as keys of ours. Part of term.c, on the side of curses.
#ifndef TILEWALK_UI_TERM_KEYS_H
#define TILEWALK_UI_TERM_KEYS_H

#include <stdbool.h>
#include <stdint.h>

int32_t keys_next(void);             // KEY_IS_NONE: none is waiting
void keys_click(int *row, int *col); // of the last KEY_IS_CLICK
void keys_mouse(bool on);

#endif
