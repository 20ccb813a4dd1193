// Child processes of the workbench: every change it makes is a tilewalk command line.
//
//     jobs_start(&j, program, words, on_end, context, e);    pause, note, rm, export, ...
//     jobs_ask(&j, program, words, on_end, context, e);      show: what it prints is wanted
//     jobs_run(&j, program, words, e);                       tune, resume: a run of our own
//     n = jobs_fds(&j, fds, most); poll(...);
//     jobs_step(&j);                                         collects output, tells ends
//     jobs_leave(&j, false);                                 then jobs_step until jobs_are_gone
//     jobs_finish(&j);
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
#define MOST_PAST 32

struct job_record {
    struct child child;
    bool is_run;
    int64_t session;   // of a run, once it has said so
    bool asked;        // of a run: to pause (SIGTERM) or to let go (SIGUSR1)
    bool detached;     // of a run: it said so, and goes on without us
    char *words;       // "tilewalk pause 3", as a user would type it
    bool whole;        // all of its output is wanted
    struct str output; // last few kilobytes of stdout and stderr, or all of it
    struct str line;   // of a run: stderr up to the next newline
    struct str said;   // of a run: on its socket, up to the next newline
    void (*on_end)(void *context, const struct job_record *job);
    void *context;
    bool ended;
    int exit_code; // 128 + signal when it was killed by one
};

// A run that is not ours any more: it ended, or it was let go.
struct past_run {
    int64_t session;
    bool detached;
    int exit_code; // unless detached
};

struct jobs {
    struct job_record job[MOST_JOBS];
    int count;
    struct past_run past[MOST_PAST]; // a ring of those with a session: run n is past[n % MOST_PAST]
    int past_count;                  // ever
    void *context;
    // Set by the owner; `context` is handed over. What they get lives until they return.
    void (*on_line)(void *context, const struct job_record *run, const char *line);
    void (*on_session)(void *context, const struct job_record *run); // it said its session
    void (*on_run_end)(void *context, const struct job_record *run);
    // For tests: instead of starting anything, tells what would be (NULL: start it).
    void (*pretend)(void *context, const char *words);
};

// `words` ends with NULL and does not hold the program, which is a path.
bool jobs_start(struct jobs *j, const char *program, const char *const *words,
                void (*on_end)(void *context, const struct job_record *job), void *context,
                struct err *e);
// Starts a command whose output is wanted whole, up to JOB_MOST_ANSWER bytes of it.
#define JOB_MOST_ANSWER (16 << 20)
bool jobs_ask(struct jobs *j, const char *program, const char *const *words,
              void (*on_end)(void *context, const struct job_record *job), void *context,
              struct err *e);
// Starts `tune` or `resume` as a run that belongs to this process; --attached is added here.
bool jobs_run(struct jobs *j, const char *program, const char *const *words, struct err *e);
int jobs_fds(const struct jobs *j, struct pollfd *fds, int most);
bool jobs_step(struct jobs *j);                     // never waits; true when something happened
int jobs_runs(const struct jobs *j);                // that are under way and ours
void jobs_move(struct jobs *to, struct jobs *from); // all of them, and the past

// Asks every run to pause, or lets it go. A run that is too young to be let go is asked by a later
// call, so call it after each step.
void jobs_leave(struct jobs *j, bool let_go);
bool jobs_are_gone(const struct jobs *j); // nothing is waited for any more
void jobs_finish(struct jobs *j);         // kills those that are not gone, forgets all

// Words as a user would type them, quoted where a shell would need it.
void words_add_text(struct str *out, const char *const *words);

#endif
