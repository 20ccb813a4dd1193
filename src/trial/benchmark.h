// Programs that measure: the sources run:COMMAND and serve:COMMAND. COMMAND is the user's own, a
// command of the shell, and runs as the user.
//
//     struct benchmark *p = benchmark_begin("run:./bench.sh", e);   before the sandbox
//     struct source *s = benchmark_create(p, space, "minimize ms", 1, e);
//     ... as any source ...
//     source_destroy(s); benchmark_end(p);
//
// run: starts COMMAND for each measurement. It gets the configuration as a JSON object on its
// standard input; or, where it has words {NAME} of parameters, their values in place of these, each
// as one word whatever it holds. serve: starts it once for each worker. It reads a line of JSON for
// each measurement and ends its answer with an empty line.
//
// The answer is lines. "NAME NUMBER" is a sample of the objective (space/objective.h); other names
// are kept with the trial; a number alone is milliseconds. "compile: REASON", and likewise crash,
// timeout and wrong, is the outcome. Whatever else is printed is ignored. What the command does
// wrong itself is one failed trial with a reason in one line: it ends with an error or by a signal,
// takes longer than its limit (timeout=S), prints nothing of use, or too much.
//
// Each command has a keeper (os_spawn_kept_talker): all that it started ends with it. A spawner,
// forked before the sandbox is entered, starts it. The text of the shell is fixed then, and values
// are its arguments: no value can change what is run.
#ifndef TILEWALK_TRIAL_BENCHMARK_H
#define TILEWALK_TRIAL_BENCHMARK_H

#include "trial/source.h"

#define BENCHMARK_RUN        "run:"
#define BENCHMARK_SERVE      "serve:"
#define BENCHMARK_MOST_BYTES 65536 // of an answer
#define BENCHMARK_TIMEOUT_S  60    // of a measurement
#define BENCHMARK_HELP                                                                             \
    "any program, run:[timeout=S:]COMMAND, or serve:... for one that stays (docs/guide/spaces.md)"

bool benchmark_is(const char *source); // NULL: it is not
bool benchmark_check(const char *source, struct err *e);

// The process that starts the command, in the folder and with the environment of this one.
struct benchmark;
struct benchmark *benchmark_begin(const char *source, struct err *e);
void benchmark_end(struct benchmark *p); // fine with NULL

// The space and the host outlive the source. Fails where the command names what is no parameter, or
// the space has no objective (NULL), or there is no host (NULL).
struct source *benchmark_create(struct benchmark *p, const struct space *space,
                                const char *objective, int workers, struct err *e);

#endif
