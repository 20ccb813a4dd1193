// The terminal: the one place that includes curses, and everything that must be put right again.
//
//     term_open(&look, e);                 alternate screen, raw keys, stderr captured, signals caught
//     term_show(&screen);                  sends what changed
//     key = term_key();                    KEY_IS_NONE: none is waiting
//     term_close();                        the terminal exactly as it was found
//
// The terminal's settings are saved before curses touches them and restored from that copy on every
// way out: end, signal, crash, editor, suspend. Each step of the restoration is tried whatever
// became of the others. Handlers of signals only write a byte to a pipe; that of a crash writes
// prepared strings, restores the settings and raises the signal again. While the screen is up,
// descriptor 2 is a pipe whose lines are handed out by term_noise: drivers and libraries cannot
// scribble over it. Only SIGKILL leaves a mess (`reset` mends it).
//
// One terminal a process, one thread.
#ifndef TILEWALK_UI_TERM_H
#define TILEWALK_UI_TERM_H

#include "config.h"
#include "screen.h"

#include <poll.h>

enum term_event {
    TERM_NONE,
    TERM_RESIZED,
    TERM_INTERRUPT, // INT
    TERM_HANGUP,    // HUP
    TERM_TERMINATE, // TERM
    TERM_CONTINUED  // after a suspension
};

// What a terminal can do and the user wants (theme.c).
struct look {
    enum charset charset;
    int colors; // 256, 8 or 0
    bool light; // a light background
};

// From the configuration and the environment: locale, TERM, NO_COLOR, COLORFGBG.
struct look look_choose(const struct ui_config *c, int terminal_colors);

// Whether a workbench can be shown: stdin and stdout are a terminal that has more than TERM=dumb.
bool term_is_usable(void);
bool term_open(const struct ui_config *c, struct look *look, struct err *e);
void term_close(void); // more than once is fine
void term_size(int *rows, int *cols);
void term_show(const struct screen *s);
void term_redraw(void); // all of it, next time
int32_t term_key(void);
bool term_click(int *row, int *col); // after KEY_IS_CLICK
void term_mouse(bool on);
int term_fds(struct pollfd fds[3]); // keys, signals, noise
enum term_event term_take_event(void);
const char *term_noise(void); // the next line from descriptor 2; NULL: none. Valid until the next call
// Runs a program on the terminal as it was found and waits for it. False: it could not be started
// or failed. Keys typed meanwhile are its own.
bool term_run(const char *const *argv, struct err *e);
void term_suspend(void);                     // as ctrl-z does
void term_copy(const char *text);            // to the clipboard (OSC 52)

#endif
