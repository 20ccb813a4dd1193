// The line-mode front end of a running engine: JSON Lines on stdout, or lines for people with a
// progress line on a terminal.
//
//     front_init(&f, arguments, store);
//     f.engine = engine_create(store, front_on_event, &f); engine_start(f.engine, ...)
//     code = front_run(&f, id);
//
// It only listens to events; front_run handles signals and the end. The last lines count the trials
// of the whole session: a resumed one begins with those in the store.
#ifndef TILEWALK_CLI_FRONT_H
#define TILEWALK_CLI_FRONT_H

#include "base/err.h"
#include "cli/common.h"

#include <stdbool.h>
#include <stdint.h>

struct remote_machines; // trial/remote.h
struct benchmark;       // trial/benchmark.h

// The parts of a run that are outside of its sandbox.
struct outside {
    const struct remote_machines *machines; // that measure; NULL: this machine
    struct benchmark *benchmark;            // that measures; NULL: another source
    const char *card_users;                 // of card_users_read
};

struct front {
    struct store *store;
    struct engine *engine; // NULL: another process runs the session (workbench.c)
    const struct outside *outside;
    bool json, show_rejected, verbose;
    bool attached;          // a child of the workbench: prints only warnings, on stderr
    bool on_terminal;       // a progress line is redrawn on stderr
    double drawn_at;        // monotonic seconds of the last progress line
    double started_elapsed; // running time and trials when this run began: for the rate
    int64_t started_trials;
    double best_seconds; // so far; 0: none
    double latency_s;    // of a network: the sum of its parts; 0: not known yet
    double curve[64];    // runs a second of the best so far, thinned out, for the curve at the end
    int curve_count, curve_step, curve_skip;
    int64_t outcomes[OUTCOME_COUNT];
    char reason[OUTCOME_COUNT][200]; // of the first of each
    bool nothing_left;               // it had ended before
    bool nothing_valid;              // when the session ended
    bool finished;                   // it ended by itself
};

void front_init(struct front *f, const struct arguments *a, struct store *store);
void front_on_event(void *context, const struct event *event);
int front_code(const struct front *f); // the exit code of the session that ended

// Runs the session of the engine and returns the exit code. HUP, INT and TERM pause it (a second
// INT ends at once), as does a stdout that cannot be written.
int front_run(struct front *f, int64_t session);

// Running as the child of a workbench: `tune --attached`, `resume --attached`, started by os_spawn.
//
//     attached_check(e);     descriptor 3 is a socket; SIGPIPE is ignored from now on
//     attached_begin(id);    in front_run, when TERM pauses: "session ID\n" on descriptor 3
//
// The parent's death comes as TERM, which pauses the session with everything saved. The parent
// sends USR1 to detach it: then its death does not matter any more, and "detached\n" on descriptor
// 3 confirms it. Messages go to stderr; stdout stays empty. Descriptor 3 stays open until the end.

bool attached_check(struct err *e); // an error of usage

#endif
