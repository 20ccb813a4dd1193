// The spawner: a process that starts programs for another one, which has entered a sandbox
// (base/sandbox.h) in which it can start nothing.
//
//     s = spawner_create(&options, e);             a fork, before the sandbox is entered
//     spawner_spawn(s, COMMAND, words, &child, e); as os_spawn, but outside of the sandbox
//     spawner_signal(s, child.pid, SIGTERM);       the sandbox would refuse kill
//     spawner_reap(s, &child, &status);            as os_reap
//     spawner_destroy(s);
//
// The process in the sandbox is not trusted. The spawner starts the commands of its options and
// nothing else, with words that their `allows` accepts, and signals only its own children. It reaps
// them as soon as they end. It ends when all processes are gone that could ask it (the one that
// created it, and the forks of that one), however they ended. Signals of the terminal do not reach
// it.
//
// One thread.
#ifndef TILEWALK_BASE_SPAWNER_H
#define TILEWALK_BASE_SPAWNER_H

#include "base/os.h"

enum spawner_mode {
    // As os_spawn: it is killed when the spawner ends, unless it asked for another signal
    // (os_signal_at_parent_death).
    SPAWNER_CHILD,
    // As os_spawn_talker: a connection to another machine, such as ssh. Each command has at most
    // one such process: the spawner ends it, with its process group, before it starts the next one,
    // and at its own end (SIGTERM, and SIGKILL after 5 seconds). The caller gets descriptors and no
    // pid.
    SPAWNER_CONNECTION,
    // As os_spawn_kept_talker: a program that is not ours, with all that it starts. SIGTERM ends
    // it, as the spawner's end does.
    SPAWNER_KEPT,
    // On the spawner's terminal, in this process group, without descriptors. It outlives the
    // spawner.
    SPAWNER_TERMINAL
};

struct spawner_command {
    enum spawner_mode mode;
    const char *const *argv; // ended by NULL; argv[0] is a path
    // Checks the words of a request that has any, which are added to `argv`. NULL: none are
    // allowed.
    bool (*allows)(const char *const *words, struct err *e);
};

// The spawner has a copy of these, of the environment and of the current folder, from
// spawner_create on.
struct spawner_options {
    const struct spawner_command *command;
    int count;
    // True: the spawner stays on the terminal, and spawner_destroy waits for its end. False: it
    // leaves the terminal and closes the standard streams, so that a program which reads them to
    // their end does not wait for the spawner.
    bool keeps_terminal;
    // Opens a file for spawner_open_file. Returns its descriptor, and a number for the caller; -1:
    // it failed. May be NULL.
    int (*open_file)(int *number);
};

struct spawner;

struct spawner *spawner_create(const struct spawner_options *o, struct err *e);
void spawner_destroy(struct spawner *s); // fine with NULL

// Starts command `index` with `words` after its own (NULL-terminated; NULL: none). The descriptors
// of `c` are the caller's.
bool spawner_spawn(struct spawner *s, int index, const char *const *words, struct child *c,
                   struct err *e);
// Returns a descriptor of the options' open_file; -1: there is none.
int spawner_open_file(struct spawner *s, int *number);

// In these calls `s` may be NULL: then the children are those of this process itself.

// Signals a child. False: it is gone, or the spawner is.
bool spawner_signal(struct spawner *s, pid_t pid, int number);
// Where the spawner is gone, so is the child: its status is that of SIGKILL.
bool spawner_reap(struct spawner *s, struct child *c, int *status);
void spawner_kill(struct spawner *s, struct child *c); // as os_kill
// Stops the process group, as ctrl-z does, until it is continued.
void spawner_stop_group(struct spawner *s);

#endif
