// Child processes of the workbench: every change it makes is a tilewalk command line.
//
//     struct job_record job = {.on_end = on_end, .context = context};
//     jobs_start(&j, &job, program, words, e);    pause, note, rm, export, ...
//     n = jobs_fds(&j, fds, most); poll(...);
//     jobs_step(&j);                              collects output, reports ends
//     jobs_leave(&j, false);                      then jobs_step until jobs_are_gone
//     jobs_finish(&j);
//
// A job prints at most a few lines and ends; its output goes to `on_end`. A run is `tune` or
// `resume` with --attached: it sends its session ("session 12\n") on its socket, pauses itself with
// everything saved when this process dies, and is paused (SIGTERM) when the user leaves, unless it
// is let go (SIGUSR1, answered "detached\n"). Its stderr goes to `on_line`.
//
// One thread. Command lines are plain arrays of words, never read by a shell.
#ifndef TILEWALK_UI_JOB_H
#define TILEWALK_UI_JOB_H

#include "base/err.h"
#include "base/os.h"
#include "base/str.h"
#include "config.h"

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#define MOST_JOBS 16
#define MOST_PAST 32

// The caller of jobs_start sets is_run, whole, on_end and context, and leaves the rest zero.
struct job_record {
    struct child child;
    bool is_run;         // `tune` or `resume`, a run that belongs to this process
    int64_t session;     // run: 0 until it is known
    bool asked;          // run: it was asked to pause (SIGTERM) or let go (SIGUSR1)
    bool detached;       // run: it continues without this process
    char *words;         // "tilewalk pause 3", as a user would type it
    bool whole;          // all of its output is wanted, up to JOB_MOST_ANSWER bytes of it
    struct str output;   // last few kilobytes of stdout and stderr, or all of it
    struct str line;     // run: stderr up to the next newline
    struct str received; // run: its socket up to the next newline
    void (*on_end)(void *context, const struct job_record *job);
    void *context;
    bool ended;
    int exit_code; // 128 + signal when it was killed by one
};

// A run that ended or was let go.
struct past_run {
    int64_t session;
    bool detached;
    int exit_code; // unless detached
};

struct spawner;

struct jobs {
    struct spawner *spawner; // starts them; NULL: they are children of this process itself
    struct job_record job[MOST_JOBS];
    int count;
    struct past_run past[MOST_PAST]; // a ring of those with a session: run n is past[n % MOST_PAST]
    int past_count;                  // ever
    void *context;
    // Set by the owner; they get `context`. The arguments live until they return.
    void (*on_line)(void *context, const struct job_record *run, const char *line);
    void (*on_session)(void *context, const struct job_record *run); // its session is known
    void (*on_run_end)(void *context, const struct job_record *run);
    // For tests: gets the words instead of a start (NULL: start it).
    void (*pretend)(void *context, const char *words);
};

#define JOB_MOST_ANSWER (16 << 20)

// The process (base/spawner.h) that starts what the workbench's keys can ask for and nothing else:
// commands of this program, the user's editor on a file, a new file tilewalk-screen-N.txt in the
// current folder (spawner_open_file gives N). A command without its own sandbox is refused, unless
// this process was started so.
enum {
    SPAWN_PROGRAM, // with any words
    SPAWN_EDITOR   // with "+LINE", if any, and a path that it cannot take for an option
};
struct spawner *jobs_spawner_create(const char *program, const struct ui_config *config,
                                    struct err *e);

// `words` ends with NULL and does not hold the program, which is a path. A run gets --attached.
bool jobs_start(struct jobs *j, const struct job_record *job, const char *program,
                const char *const *words, struct err *e);
int jobs_fds(const struct jobs *j, struct pollfd *fds, int most);
bool jobs_step(struct jobs *j);                     // never waits; true when something happened
int jobs_runs(const struct jobs *j);                // runs that belong to this process
void jobs_move(struct jobs *to, struct jobs *from); // all of them, and the past

// Asks every run to pause, or lets it go. A run without a session yet is let go by a later call, so
// call it after each step.
void jobs_leave(struct jobs *j, bool let_go);
bool jobs_are_gone(const struct jobs *j); // all have ended or were let go
void jobs_finish(struct jobs *j);         // kills those that are not gone, forgets all

// Returns "tilewalk" and the words as a user would type them, quoted where a shell would need it;
// heap.
char *command_line(const char *const *words);

// Returns the command of the user's editor: that of workbench.conf, else $VISUAL, $EDITOR, vi. It
// may be several words ("code --wait").
const char *editor_of(const struct ui_config *c);
// Opens `path` on the terminal, at `line` (0: anywhere; also when the editor fails with +LINE,
// which not all support), and waits for its end; `meanwhile` is called some times a second. False:
// it failed.
bool editor_run(struct spawner *s, const char *path, int line, void (*meanwhile)(void *context),
                void *context);

#endif
