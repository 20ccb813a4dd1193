// Signals, and the restoration of the terminal's settings when the screen goes away; the capture
// of stderr while it is up. No curses in here.
//
//     signals_begin(e);              settings are saved, signals are caught
//     signals_arm(bytes, length);    the screen is up: a crash writes these, restores the settings
//     n = signals_next();            the number of a signal that came; 0: none
//     signals_arm("", 0);            the screen is gone (editor, suspension)
//     signals_restore_terminal();    the settings as they were found
//     signals_end();
//
// Handlers only write a byte to a pipe. That of a crash only makes system calls: it writes the
// prepared bytes, restores the settings, gives descriptor 2 back and raises the signal again.
//
// One terminal a process, one thread.
#ifndef TILEWALK_UI_SIGNALS_H
#define TILEWALK_UI_SIGNALS_H

#include "base/err.h"

#include <stddef.h>

struct spawner;

bool signals_begin(struct err *e); // fails when stdin is no terminal
void signals_end(void);
void signals_arm(const char *bytes, size_t length); // copied; a few hundred at most
void signals_restore_terminal(void);
void signals_emergency(void); // as a crash does, but returns; also for mem_on_exhausted
int signals_fd(void);         // to poll for signals; -1: none
int signals_next(void);       // HUP, INT, TERM, WINCH, TSTP or CONT; 0: none
// Stops this process group by its spawner (base/spawner.h), as ctrl-z does, until it is continued.
void signals_stop(struct spawner *s);

// Descriptor 2 while the screen is up: drivers and libraries of this process write into a pipe
// instead of on the terminal, and it is read line by line.
//
//     stderr_capture();  while (stderr_line(line)) ...;  stderr_release();
//
// Only a descriptor 2 that is a terminal is captured: a file harms no screen. A writer never waits:
// what the pipe cannot hold is lost.
//
// One thread; stderr_release may also be called from a signal handler.

#define STDERR_LINE_SIZE 513 // longer ones come in parts

void stderr_capture(void); // already captured: nothing happens
void stderr_release(void); // the rest is written to the terminal
int stderr_fd(void);       // to poll; -1: not captured
// Returns the next line, without control characters, in `line`; NULL: none is complete.
const char *stderr_line(char line[STDERR_LINE_SIZE]);

#endif
