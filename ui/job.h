// Child processes of the workbench: every change it makes is a tilewalk command line.
//
//     jobs_start(&j, "tilewalk", words, on_end, context, e);     pause, note, rm, export, ...
//     jobs_run(&j, "tilewalk", words, e);                        tune, resume: a run that belongs to us
//     n = jobs_fds(&j, fds, most);  poll(...);  jobs_step(&j);   output is collected, ends are reported
//
// A job prints at most a few lines and ends; its output goes to `on_end`. A run is `tune` or
// `resume` with --attached: it says which session it is ("session 12\n") on its socket, pauses
// itself with everything saved when we die, and is paused (SIGTERM) when we leave, unless it is let
// go (SIGUSR1, answered "detached\n"). Whatever it writes to stderr goes to `on_line`.
//
// One thread. Command lines are plain arrays of words, never read by a shell.
#ifndef TILEWALK_UI_JOB_H
#define TILEWALK_UI_JOB_H

#include "base/err.h"
#include "base/os.h"
#include "base/str.h"

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#define MOST_JOBS 16

struct job_record {
    struct child child;
    bool is_run;
    int64_t session;   // of a run, once it has said so
    bool let_go;       // of a run: SIGUSR1 was sent
    char *words;       // "tilewalk pause 3", as a user would type it
    struct str output; // last few kilobytes of stdout and stderr
    struct str line;   // of a run: stderr up to the next newline
    void (*on_end)(void *context, const struct job_record *job);
    void *context;
    bool ended;
    int exit_code; // 128 + signal when it was killed by one
};

struct jobs {
    struct job_record job[MOST_JOBS];
    int count;
    void *context;
    // Set by the owner; `context` is handed over.
    void (*on_line)(void *context, const struct job_record *run, const char *line);
    void (*on_session)(void *context, const struct job_record *run); // it said its session
    void (*on_run_end)(void *context, const struct job_record *run);
    // For tests: instead of starting anything, tells what would be (NULL: start it).
    void (*pretend)(void *context, const char *words);
};

bool jobs_start(struct jobs *j, const char *program, const char *const *words,
                void (*on_end)(void *context, const struct job_record *job), void *context,
                struct err *e);
bool jobs_run(struct jobs *j, const char *program, const char *const *words, struct err *e);
int jobs_fds(const struct jobs *j, struct pollfd *fds, int most);
bool jobs_step(struct jobs *j); // never waits; true when something happened
int jobs_runs(const struct jobs *j);                        // that are under way
bool jobs_has_run(const struct jobs *j, int64_t session);   // ours
// Ends: pauses every run (or lets it go) and waits for them, at most `seconds`, killing those that
// take longer. Jobs that are not runs are waited for too.
void jobs_finish(struct jobs *j, bool let_go, double seconds);
// Words as a user would type them, quoted where a shell would need it.
void words_add_text(struct str *out, const char *const *words);

#endif
