// A terminal that a benchmark watches: a child process on a pseudo-terminal of a given size.
//
//     struct terminal t;
//     terminal_start(&t, 36, 120, body, context);    body runs in the child, which ends with it
//     terminal_send(&t, "?");
//     seconds = terminal_wait_for(&t, "Help", 5);    until these bytes have come
//     terminal_end(&t);                              hangs up and waits
//
// The child can report figures of its own, apart from what it shows: terminal_report there,
// terminal_take here. Whatever goes wrong ends the benchmark.
#ifndef TILEWALK_TESTS_BENCH_TERMINAL_H
#define TILEWALK_TESTS_BENCH_TERMINAL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct terminal {
    int fd; // the terminal's
    pid_t pid;
    int reports, answers; // pipes; in the child its own ends
    int64_t bytes;        // that were shown, so far
};

void terminal_start(struct terminal *t, int rows, int cols,
                    void (*body)(struct terminal *t, void *context), void *context);
void terminal_end(struct terminal *t);
void terminal_send(struct terminal *t, const char *keys);
// Seconds until the bytes of `text` came in a row; HUGE_VAL after `most` seconds without.
double terminal_wait_for(struct terminal *t, const char *text, double most);
// Takes what comes until nothing does for a while, at most so long.
void terminal_settle(struct terminal *t, double seconds);

// In the child; returns when all that it has shown was counted.
void terminal_report(struct terminal *t, const void *figures, size_t size);
void terminal_take(struct terminal *t, void *figures, size_t size);

#endif
