// An entry of terminfo for direct colour ("truecolor"), which curses needs and few systems have.
//
//     folder = direct_color_entry("xterm-256color", name);    NULL: there is none
//     setenv("TERMINFO", folder, 1); newterm(name, ...);
//
// It is the terminal's own entry with colours of 24 bits, set by the control sequences of ISO
// 8613-6 as all terminals write them that set COLORTERM. tic compiles it into the user's cache,
// once. Colours below 256 are the indexed ones (which take fewer bytes), all others are 0xRRGGBB.
// The palette is never changed.
#ifndef TILEWALK_UI_DIRECT_COLOR_H
#define TILEWALK_UI_DIRECT_COLOR_H

#include <stdbool.h>

enum { DIRECT_NAME_SIZE = 96 };

// True when the environment says that the terminal shows such colours. Inside GNU screen it is
// inherited, and wrong.
bool direct_color_is_offered(void);
// Returns the folder of the compiled entry for a terminal type (heap), and its name; NULL: tic is
// missing or failed. Starts a process: call it before a sandbox is entered.
char *direct_color_entry(const char *terminal, char name[DIRECT_NAME_SIZE]);

#endif
