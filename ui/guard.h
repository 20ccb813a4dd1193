// What must be put right again when the screen goes away: the terminal's settings, and the handlers
// of signals. No curses in here.
//
//     guard_begin(e);                settings are saved, signals are caught
//     guard_arm(bytes, length);      the screen is up: a crash writes these, restores the settings
//     n = guard_signal();            which signal came; 0: none
//     guard_disarm();                the screen is gone (editor, suspension)
//     guard_restore();               the settings as they were found
//     guard_end();
//
// Handlers only write a byte to a pipe. That of a crash makes system calls alone: it writes what
// was prepared, restores the settings, gives descriptor 2 back (noise.h) and raises the signal
// again.
//
// One terminal a process, one thread.
#ifndef TILEWALK_UI_GUARD_H
#define TILEWALK_UI_GUARD_H

#include "base/err.h"

#include <stddef.h>

bool guard_begin(struct err *e); // fails when stdin is no terminal
void guard_end(void);
void guard_arm(const char *bytes, size_t length); // copied; a few hundred at most
void guard_disarm(void);
void guard_restore(void);
void guard_emergency(void); // as a crash does, but comes back; also for mem_on_exhausted
int guard_fd(void);         // to poll for signals; -1: none
int guard_signal(void);     // HUP, INT, TERM, WINCH, TSTP or CONT; 0: none
// Stops this process group, as ctrl-z does, until it is continued.
void guard_stop(void);

// Descriptor 2 while the screen is up: what drivers and libraries of this process write there is
// kept from the terminal and handed out line by line.
//
//     noise_capture();  while (noise_line(line)) ...;  noise_release();
//
// Only a descriptor 2 that is a terminal is captured: one that goes to a file harms no screen. A
// writer never waits for us: what the pipe cannot hold is lost.
//
// One thread; noise_release may also be called from a signal handler.

#define NOISE_LINE_SIZE 513 // longer ones come in parts

void noise_capture(void); // already captured: nothing happens
void noise_release(void); // what was not taken yet is written where it was meant to go
int noise_fd(void);       // to poll; -1: not captured
// The next line, without control characters, in `line`; NULL: none is complete.
const char *noise_line(char line[NOISE_LINE_SIZE]);

#endif
