// The line-mode front end of a running engine: JSON Lines on stdout, or lines for people with a
// progress line on a terminal.
//
//     front_init(&f, arguments, store);
//     f.engine = engine_create(store, front_on_event, &f); engine_start(f.engine, ...)
//     code = front_run(&f, id);
//
// It only listens to events; signals and the end are handled in front_run. What is counted for the
// last lines is the whole session: a resumed one begins with what the store holds.
#ifndef TILEWALK_CLI_FRONT_H
#define TILEWALK_CLI_FRONT_H

#include "base/err.h"
#include "cli/common.h"

#include <stdbool.h>
#include <stdint.h>

struct front {
    struct store *store;
    struct engine *engine; // NULL: another process runs the session (follow.h)
    struct dialer *dialer; // of the machines that measure; NULL: this one
    bool json, show_rejected, verbose;
    bool attached;          // a child of the workbench (attached.h): says on stderr what it must
    bool on_terminal;       // a progress line is redrawn on stderr
    double drawn_at;        // monotonic seconds of the last progress line
    double started_elapsed; // running time and trials when this run began: for the rate
    int64_t started_trials;
    double best_seconds; // so far; 0: none
    double latency_s;    // of a network, sum of its parts; 0: not known yet
    double curve[64];    // runs a second of the best so far, thinned out: the picture at the end
    int curve_count, curve_step, curve_skip;
    int64_t outcomes[OUTCOME_COUNT];
    char reason[OUTCOME_COUNT][200]; // of the first of each
    bool nothing_left;               // it had ended before: only that is said
    bool nothing_valid;              // when the session ended
    bool finished;                   // it ended by itself
};

void front_init(struct front *f, const struct arguments *a, struct store *store);
void front_on_event(void *context, const struct event *event);
int front_code(const struct front *f); // the exit code, of the session as it was told to end

// Runs the engine, whose session it is, with HUP, INT and TERM pausing it (a second INT ends at
// once), and stdout that cannot be written too. Returns the exit code.
int front_run(struct front *f, int64_t session);

// Running as the child of a workbench: `tune --attached`, `resume --attached`, started by os_spawn.
//
//     attached_check(e);     descriptor 3 is a socket; nothing that is closed ends us from now on
//     attached_begin(id);    in front_run, when TERM pauses: "session ID\n" on descriptor 3
//
// The parent's death comes as TERM, which pauses the session with everything saved. The parent lets
// go with USR1: then its death is nothing to us, and "detached\n" on descriptor 3 says so. What is
// said goes to stderr; stdout stays empty. Descriptor 3 stays open until the end.

bool attached_check(struct err *e); // an error of usage
void attached_begin(int64_t session);

#endif
