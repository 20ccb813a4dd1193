// Descriptor 2 while the screen is up: what drivers and libraries of this process write there is
// kept from the terminal and handed out line by line.
//
//     noise_capture();  while (noise_line(line)) ...;  noise_release();
//
// Only a descriptor 2 that is a terminal is captured: one that goes to a file harms no screen. A
// writer never waits for us: what the pipe cannot hold is lost.
//
// One thread; noise_release may also be called from a signal handler.
#ifndef TILEWALK_UI_NOISE_H
#define TILEWALK_UI_NOISE_H

#define NOISE_LINE_SIZE 513 // longer ones come in parts

void noise_capture(void); // already captured: nothing happens
void noise_release(void); // what was not taken yet is written where it was meant to go
int noise_fd(void);       // to poll; -1: not captured
// The next line, without control characters, in `line`; NULL: none is complete.
const char *noise_line(char line[NOISE_LINE_SIZE]);

#endif
