// The few things POSIX cannot do: all Linux calls of tilewalk are here (implemented in os_linux.c).
#ifndef TILEWALK_BASE_OS_H
#define TILEWALK_BASE_OS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// A child process that talks over one socket and whose stderr can be read.
struct child {
    pid_t pid;      // 0 when none
    int socket;     // our end of a stream socket pair; -1 when none
    int stderr_fd;  // read end, non-blocking; -1 when none
};

// Starts `argv` (argv[0] is a path; never through a shell) with `NAME=value` strings `extra_env` (NULL-terminated, may be
// NULL) added to the environment. In the child: descriptor 3 is its end of the socket, descriptor 4 is `shared_fd` when
// that is >= 0, stdin is /dev/null, stdout and stderr go to the pipe, every other descriptor is closed; it dies with its
// parent (PR_SET_PDEATHSIG and a check of the parent's id), never dumps core, and has the default signal mask.
bool os_spawn(struct child *c, const char *const *argv, const char *const *extra_env, int shared_fd, struct err *e);

// Kills (SIGKILL), reaps and closes. Fine on a zeroed or already reaped child. `*status` (may be NULL) is waitpid's.
void os_kill(struct child *c, int *status);
// True when the child has ended; then it is reaped (its descriptors stay open until os_kill).
bool os_reap(struct child *c, int *status);

// An anonymous shared memory file of `size` bytes, zeroed; close() releases it. -1 and `e` on failure.
int os_memfd(const char *name, size_t size, struct err *e);
bool os_limit_memory(uint64_t bytes); // RLIMIT_AS of this process

int64_t os_now_ns(void);     // monotonic clock
int64_t os_cpu_ns(void);     // CPU time of this process, all threads
double os_unix_time(void);   // seconds since 1970
int os_cores(void);          // cores this process may run on, at least 1
uint64_t os_seed(void);      // entropy for a session that was given no seed
bool os_peak_memory(uint64_t *bytes); // peak resident set of this process

#endif
