// The calls of the operating system: child processes that cannot outlive their parent, their
// deadlines, anonymous shared memory, limits, clocks. All Linux calls of
// tilewalk are in os.c; those of a sandbox are in sandbox.c.
//
//     struct child worker = {0};
//     if (!os_spawn(&worker, argv, NULL, -1, e))
//         return false;
//     ... use worker.socket, read worker.stderr_fd until os_reap returns true ...
//     os_kill(&worker, &status);
#ifndef TILEWALK_BASE_OS_H
#define TILEWALK_BASE_OS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

// A child process that talks over one socket and whose stderr can be read.
struct child {
    pid_t pid;     // 0 when none
    int socket;    // our end of a stream socket pair; -1 when none
    int stderr_fd; // read end, non-blocking; -1 when none
    bool kept;     // `pid` is the keeper of the program: os_spawn_kept
};

// Starts `argv` (argv[0] is a path; never through a shell) with the `NAME=value` strings of
// `environment` (NULL-terminated; NULL: with ours) as its environment. In the child: descriptor 3
// is its end of the socket, descriptor 4 is `shared_fd` when that is >= 0 (it stays the caller's),
// stdin is /dev/null, stdout and stderr go to the pipe, every other descriptor is closed; signals
// have their defaults, the terminal's do not reach it (it has a session of its own), it never dumps
// core. It is killed when its parent dies; the kernel means the thread that called os_spawn, so
// call it from one that lives as long as the child may. Fails when the program cannot be executed.
bool os_spawn(struct child *c, const char *const *argv, const char *const *environment,
              int shared_fd, struct err *e);

// Like os_spawn, for a program that communicates over stdin and stdout, as ssh does: both are its
// end of the socket.
bool os_spawn_talker(struct child *c, const char *const *argv, struct err *e);

// Like os_spawn, for a program that is not ours: every process that it starts, in the background or
// in sessions of its own, is killed when the program ends, at os_kill, and when this process dies
// in whatever way. A keeper process in between does that; `pid` and the exit status (128 + n when
// signal n ended the program) are the keeper's.
bool os_spawn_kept(struct child *c, const char *const *argv, struct err *e);

// Like both: over stdin and stdout, and with all that it starts. It gets SIGTERM at first, with its
// process group, and OS_GRACE_S seconds to end before it is killed. The socket ends when all of
// them are gone. To end it is to send SIGTERM to `pid`.
#define OS_GRACE_S 2
bool os_spawn_kept_talker(struct child *c, const char *const *argv, struct err *e);

// Kills (SIGKILL), reaps and closes. Fine on a zeroed or already reaped child. `*status` (may be
// NULL) is waitpid's; untouched when there was nothing to reap.
void os_kill(struct child *c, int *status);

// True once, when the child has ended; then it is reaped and `pid` is 0 (its descriptors stay open
// until os_kill, so that its last output can be read).
bool os_reap(struct child *c, int *status);

// Makes this process the parent of all orphans below it, which it then reaps. Best effort.
void os_adopt_orphans(void);

// Sets the signal that this process gets when its parent dies to `signal_number`, or to none (0).
// os_spawn has chosen the one before. False: the parent died during the call, so that no signal
// will come. May be called from a signal handler.
bool os_signal_at_parent_death(int signal_number);

// Returns an anonymous shared memory file of `size` bytes, zeroed, its size sealed; close()
// releases it. -1 and `e` on failure.
int os_memfd(const char *name, size_t size, struct err *e);
// Like tmpfile(), but in memory: for a process that may not write to any folder. Another process
// that may trace this one opens it by /proc/PID/fd/N. NULL with errno.
FILE *os_unnamed_file(void);

bool os_limit_memory(uint64_t bytes); // RLIMIT_AS of this process, for good
bool os_has_memory(uint64_t bytes);   // could be allocated now, as one piece
bool os_limit_data(uint64_t bytes);   // RLIMIT_DATA (its private writable memory), for good
// Describes limits of this process that are so low that libraries and drivers fail without a
// message: "memory is limited to 146 MiB (ulimit -v)"; "" when there are none.
#define OS_LIMITS_SIZE 128
const char *os_low_limits(char out[OS_LIMITS_SIZE]);

int64_t os_now_ns(void);              // monotonic clock
int64_t os_thread_cpu_ns(void);       // of the calling thread
int64_t os_process_cpu_ns(pid_t pid); // of any process; 0: not known, or pid is 0
double os_unix_time(void);            // seconds since 1970
int os_cores(void);                   // cores this process may run on, at least 1
uint64_t os_seed(void);               // entropy for a session that was given no seed
const char *os_loader(void);          // path of the dynamic loader; NULL: linked statically

// Opens a new file in the folder for writing, which has no name and is gone when the process ends
// in whatever way. Returns -1 with errno where the file system has none. os_give_name gives it a
// path where nothing is; false with errno.
int os_open_nameless(const char *folder);
bool os_give_name(int fd, const char *path);

// Opens for reading a regular file with an untrusted name, without waiting and without touching
// a device. Resolved through all links, the file must lie below one of `folders` (NULL-terminated;
// NULL: anywhere). The descriptor is the caller's; -1 and `e`, which does not name the path.
int os_open_text(const char *path, const char *const *folders, struct err *e);

// Returns a stream to write to, which lives as long as the program. `put` gets what is written and
// returns how many bytes it took; `mode` is the buffering, as of setvbuf.
FILE *os_stream(ptrdiff_t (*put)(void *context, const char *bytes, size_t length), void *context,
                int mode);

// The size of a terminal in character cells. False: `fd` is no terminal, or its size is not known.
bool os_terminal_size(int fd, int *rows, int *cols);

// --- deadlines of processes, on machines that others use as well ---
//
//     deadline_set(&d, pid, 10, now_ns);
//     if (deadline_is_over(&d, pid, now_ns)) ...    else check again at d.at_ns
//
// Time in which the process waited for a processor does not count, judged by its CPU time: a
// process that seldom gets a processor has up to four times as long, one that sleeps does not. The
// clock is os_now_ns.
struct deadline {
    int64_t at_ns; // when to check it; 0: there is none
    int64_t begin_ns, limit_ns, cpu_ns;
};

// pid 0: all time counts.
void deadline_set(struct deadline *d, pid_t pid, double seconds, int64_t now_ns);
bool deadline_is_over(struct deadline *d, pid_t pid, int64_t now_ns);

#endif
