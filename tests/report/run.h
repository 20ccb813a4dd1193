// Tests that need another program: a compiler, a shell, groff.
#ifndef TILEWALK_TESTS_RUN_H
#define TILEWALK_TESTS_RUN_H

#include <stdbool.h>
#include <stddef.h>

bool has_program(const char *name);

// Runs `command` with sh and returns what it wrote to stdout and stderr (heap). `*status` (may be
// NULL) gets its exit code.
char *run(int *status, const char *command, ...) __attribute__((format(printf, 2, 3)));

// Runs `command`; fails the test and shows the output unless it exits with 0 and prints nothing.
void run_silently(const char *command, ...) __attribute__((format(printf, 1, 2)));

char *make_folder(void);          // a new one below $TMPDIR or /tmp; heap
void remove_folder(char *folder); // with what is in it; frees the name
char *write_text(const char *folder, const char *name, const char *text); // the path; heap

#endif
