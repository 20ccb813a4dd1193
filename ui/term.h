// The terminal: the one place that includes curses.
//
//     term_open(&config, spawner, &look, e);   alternate screen, raw keys; catches stderr, signals
//     term_show(&screen);              sends what changed
//     key = term_key(&row, &col);      KEY_IS_NONE: none is waiting
//     term_close();                    the terminal exactly as it was found
//
// The terminal's settings are saved before curses touches them and restored from that copy on every
// way out: end, signal, crash, editor, suspension (signals.h). Each step of the restoration is
// tried even when others failed. While the screen is up, descriptor 2 is a pipe whose lines are
// read by stderr_line (signals.h): drivers and libraries cannot scribble over it. Only SIGKILL
// leaves a mess (`reset` cleans it up).
//
// A frame is compared with the last one in memory, so that one without a change costs no output and
// next to no time; curses turns the rest into few bytes. LINES and COLUMNS are neither read nor
// exported: the size is always asked from the terminal.
//
// One terminal a process, one thread.
#ifndef TILEWALK_UI_TERM_H
#define TILEWALK_UI_TERM_H

#include "config.h"
#include "screen.h"
#include "signals.h"

#include <poll.h>

enum term_event {
    TERM_NONE,
    TERM_RESIZED,   // see term_size
    TERM_INTERRUPT, // INT
    TERM_HANGUP,    // HUP
    TERM_TERMINATE, // TERM
    TERM_CONTINUED  // after a suspension: draw all of it
};

// `s` stops the process group in term_suspend.
bool term_open(const struct ui_config *c, struct spawner *s, struct look *look, struct err *e);
void term_close(void); // more than once is fine
void term_size(int *rows, int *cols);
void term_show(const struct screen *s);
void term_redraw(void);               // all of it, next time
int32_t term_key(int *row, int *col); // KEY_IS_NONE: none is waiting; `row` and `col` of a click
void term_mouse(bool on);
int term_fds(struct pollfd fds[3]); // keys (first), signals, captured stderr
enum term_event term_take_event(void);
// Gives another program the terminal as it was found, and takes it back. Every step is tried.
void term_lend(void);
void term_take_back(void);
void term_suspend(void); // as ctrl-z does; returns when continued
// Copies to the clipboard, by OSC 52, a control sequence that most terminals support.
void term_copy(const char *text);
// Rings the bell, notifies by OSC 9, and makes the text the terminal's title, which is what it was
// before once the screen is closed.
void term_announce(const char *text);

#endif
