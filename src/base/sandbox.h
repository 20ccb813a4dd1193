// What a process gives up before it touches what strangers wrote.
//
//     struct sandbox s = {.starts = false};
//     sandbox_allow(&s, SANDBOX_READ, "/usr"); ...
//     struct sandbox_state holds = sandbox_enter(&s);       for good, for all that it starts too
//     sandbox_finish(&s);
//
// Four parts, each of which holds where the kernel has it, and none of which is missed by the
// others: no privileges are gained by starting a program (no_new_privs), and capabilities are
// dropped; of system calls only those of a list are there (seccomp), sockets, tracing and foreign
// processes not among them; of the file system only what was allowed is there, and signals and TCP
// end at the sandbox (landlock). Paths are those of the moment of entering: a rule is of a file or
// a folder with all below it, not of a name.
//
// Code that runs in the process may be a stranger's too: what is allowed is allowed to it.
#ifndef TILEWALK_BASE_SANDBOX_H
#define TILEWALK_BASE_SANDBOX_H

#include <stdbool.h>

enum sandbox_right {
    SANDBOX_READ,   // a file, or a folder with all below it
    SANDBOX_WRITE,  // and write, make and remove files and folders there
    SANDBOX_DEVICE, // read, write and control what is there, but make nothing
    SANDBOX_RUN,    // and start as a program; to load a library SANDBOX_READ is enough
    SANDBOX_LIST,   // only the names of what is in a folder and all below it
};

struct sandbox_path;

struct sandbox {
    // May start other processes, of programs that SANDBOX_RUN allows, and send them signals.
    bool starts;
    // May also make and remove folders, rename and remove files and change their owners. Root keeps
    // its capabilities for the files of others: for it too only the allowed paths decide.
    bool keeps_files;
    struct sandbox_path *path;
    int count, capacity;
};

// A path that is not there is passed over. NULL and "" are, too.
void sandbox_allow(struct sandbox *s, enum sandbox_right right, const char *path);
// Each of a list as in $PATH, which may be NULL.
void sandbox_allow_list(struct sandbox *s, enum sandbox_right right, const char *paths);
void sandbox_finish(struct sandbox *s);

enum sandbox_part {
    SANDBOX_ABSENT,  // the kernel has none
    SANDBOX_REFUSED, // it has, and did not let us, or TILEWALK_SANDBOX=0 turned it off
    SANDBOX_HOLDS
};

struct sandbox_state {
    enum sandbox_part no_new_privs, seccomp, landlock;
};

// Whether TILEWALK_SANDBOX=0 turns sandboxes off.
bool sandbox_is_off(void);

// Enters, unless it is off. To be called while the process has no other thread; those of OpenBLAS
// are ended here and start again when they are used. Where other threads run, landlock holds only
// for the calling thread and what it starts, and is reported as refused.
struct sandbox_state sandbox_enter(const struct sandbox *s);

// What entering `s` gives here, tried in a child process.
struct sandbox_state sandbox_try(const struct sandbox *s);

#endif
