// The place of a worker in the pool: the process, its link, its captured stderr, and its state.
//
//     EMPTY -> STARTING -> IDLE -> PREPARING -> IDLE      one of them, once
//                          IDLE -> BUSY -> IDLE           for every trial
//                          IDLE -> WARMING -> IDLE        warmers
//     any but EMPTY -> ENDING -> EMPTY                    once reaped, which never blocks
//
// This file manages the process; pool.c decides what happens to a trial.
#ifndef TILEWALK_TRIAL_SLOT_H
#define TILEWALK_TRIAL_SLOT_H

#include "base/os.h"
#include "trial/frame.h"
#include "trial/trial.h"
#include "trial/work.h"

#include <poll.h>

#define SLOT_FDS   2
#define SLOT_NEVER INT64_MAX

enum slot_state {
    SLOT_EMPTY,
    SLOT_STARTING,
    SLOT_IDLE,
    SLOT_PREPARING,
    SLOT_BUSY,
    SLOT_WARMING,
    SLOT_ENDING
};

struct slot {
    int index;
    enum slot_state state;
    struct child child;
    struct link link;
    int spawns;

    enum trial_phase phase;   // last announced
    int candidate;            // the subject of the phase
    int64_t entered_ns;       // by the worker's clock
    struct deadline deadline; // of the phase
    double limit_s;           // until the deadline
    int64_t start_ns;         // EMPTY: not before; SLOT_NEVER: it was given up
    int64_t kill_ns;          // ENDING: SIGKILL then, if it does not end by itself
    bool killed;              // at kill_ns
    bool has_kept;            // the driver's binary of its work is there, from an earlier request
    struct work *work;        // BUSY; ENDING: its outcome depends on how the process ended

    struct str line;     // of captured stderr: the unfinished one
    char last_line[200]; // of captured stderr: the last one in this trial
    bool log_closed;     // stderr has ended
};

void slot_init(struct slot *s, int index);
bool slot_start(struct slot *s, const char *program, int shared_fd, struct err *e);
// Takes a process that was started elsewhere, and that is not ours to end: slot_clear.
void slot_take(struct slot *s, const struct child *c);
bool slot_send(struct slot *s, char *text); // frees the text; false: it is too long for a frame
void slot_read_log(struct slot *s, void (*log)(void *context, int worker, const char *line),
                   void *context);
int slot_fds(const struct slot *s, struct pollfd out[SLOT_FDS]);
// The time of the next step for this slot; SLOT_NEVER.
int64_t slot_wake_ns(const struct slot *s, int64_t now_ns);

void slot_kill(struct slot *s, int64_t now_ns);    // to ENDING
void slot_let_end(struct slot *s, int64_t now_ns); // to ENDING; it is about to end by itself
// In ENDING. True once the process has gone; `how` gets "was killed by SIGSEGV" or the like. Then
// slot_clear.
bool slot_reap(struct slot *s, int64_t now_ns, char *how, size_t size);
// After slot_reap returned false: true where the process survives SIGKILL, as it hangs in the
// kernel.
bool slot_is_stuck(const struct slot *s, int64_t now_ns);
void slot_clear(struct slot *s);  // to EMPTY
void slot_finish(struct slot *s); // kills; waits a moment for the end

#endif
