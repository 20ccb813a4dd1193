// The sandbox: rights that a process gives up before it reads untrusted data.
//
//     struct sandbox s = {.starts = false};
//     sandbox_allow(&s, SANDBOX_READ, "/usr"); ...
//     struct sandbox_state holds = sandbox_enter(&s);       for good, for all that it starts too
//     sandbox_finish(&s);
//
// It has four parts. Each holds where the kernel has it, and none depends on the others. Starting a
// program gains no privileges (no_new_privs). Capabilities are dropped. Only a list of system calls
// is available (seccomp), without sockets, tracing and foreign processes. Only the allowed part of
// the file system is available, and signals and TCP end at the sandbox (landlock). Paths are
// resolved on entering: a rule is for a file, or a folder with all below it, not for a name.
//
// Untrusted code that runs in the process has the same rights.
#ifndef TILEWALK_BASE_SANDBOX_H
#define TILEWALK_BASE_SANDBOX_H

#include <stdbool.h>

enum sandbox_right {
    SANDBOX_READ,   // a file, or a folder with all below it
    SANDBOX_WRITE,  // read, and write, make and remove files and folders there
    SANDBOX_DEVICE, // read, write and control what is there, but make nothing
    SANDBOX_RUN,    // read, and start as a program; a library needs only SANDBOX_READ
    SANDBOX_LIST,   // only the names in a folder and all below it
};

struct sandbox_path;

struct sandbox {
    // May start other processes, of programs that SANDBOX_RUN allows, and send them signals.
    bool starts;
    // May also make and remove folders, rename and remove files and change their owners. Root keeps
    // its capabilities for the files of others: for root too only the allowed paths decide.
    bool keeps_files;
    struct sandbox_path *path;
    int count, capacity;
};

// A path that does not exist is skipped; NULL and "" are, too.
void sandbox_allow(struct sandbox *s, enum sandbox_right right, const char *path);
// Allows each path of a list as in $PATH, which may be NULL.
void sandbox_allow_list(struct sandbox *s, enum sandbox_right right, const char *paths);
void sandbox_finish(struct sandbox *s);

enum sandbox_part {
    SANDBOX_ABSENT,  // the kernel has none
    SANDBOX_REFUSED, // the kernel refused it, or TILEWALK_SANDBOX=0 turned it off
    SANDBOX_HOLDS
};

struct sandbox_state {
    enum sandbox_part no_new_privs, seccomp, landlock;
    enum sandbox_part capabilities; // holds: it has none but those that keeps_files leaves to root
};

bool sandbox_is_off(void); // TILEWALK_SANDBOX=0

// Enters, unless it is off. Call it while the process has no other thread; those of OpenBLAS are
// ended here and start again when they are used. Where other threads run, landlock holds only for
// the calling thread and what it starts, and is reported as refused.
struct sandbox_state sandbox_enter(const struct sandbox *s);

// Returns whether this process has any capability.
bool sandbox_has_capabilities(void);

// Enters `s` in a child process and returns what that gave. `outer` is the sandbox of the process
// that starts such processes, which the child enters first; NULL: none.
struct sandbox_state sandbox_try(const struct sandbox *outer, const struct sandbox *s);

#endif
