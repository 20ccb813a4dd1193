// Questions of tests about the sessions of a box, answered by the program itself unless noted.
#ifndef TILEWALK_TESTS_SESSIONS_H
#define TILEWALK_TESTS_SESSIONS_H

#include "program.h"

// Returns the whole sequence of a session, with rejected configurations, one line for each ask:
// everything that must not depend on kills, resumes, workers or time. Fails the test unless the
// asks are 1, 2, 3 ... without gaps.
const char *sequence(struct box *b, int64_t id);
// Returns the same without that condition: asks that are still open leave gaps.
const char *sequence_with_gaps(struct box *b, int64_t id);

cJSON *listed_sessions(struct box *b); // array of `ls --json`, newest first; empty without database
cJSON *listed_session(struct box *b, int64_t id); // NULL when there is none
const char *state_of(struct box *b, int64_t id);
int64_t runner_of(struct box *b, int64_t id);
int64_t trials_of(struct box *b, int64_t id);

// Returns true where there is a Vulkan device, checked in a box of its own; prints a note when
// there is none.
bool has_device(void);

// Trials of 40 ms: the two thousand valid configurations of small.lua last for the better part of a
// minute with two workers, so that a test whose programs get little of a busy machine still meets
// the run.
#define LONG_SOURCE "synthetic:rugged:delay_us=40000"

// small.lua and its template, in the box: for network files, which name what lies beside them.
void copy_small(struct box *b);

// Runs in the background: a session (number 1 in a fresh box) of LONG_SOURCE. Returns when some
// trials are stored.
struct running *start_long_session(struct box *b);
void wait_for_trials(struct box *b, int64_t id, int64_t trials);
void wait_for_state(struct box *b, int64_t id, const char *state);
void wait_for_no_runner(struct box *b, int64_t id);

// Read from the database itself, for waits that poll often: 0 and false where nothing is stored.
int64_t stored_trials(struct box *b, int64_t id); // of all its tasks, where it is a network
bool is_stored(struct box *b, int64_t id);

// Changes a database as the program never would. Returns the first number of the answer, 0 where
// there is none.
int64_t tamper(struct box *b, const char *sql);
// Returns the number of rows of a table for which `where` holds (NULL: all).
int64_t count_rows(struct box *b, const char *table, const char *where);

// The lines of `tune --json` and `resume --json`.
struct events {
    cJSON **line;
    int count;
};
struct events events_of(struct box *b, const char *out);
int count_events(const struct events *e, const char *kind);
cJSON *first_event(const struct events *e, const char *kind); // must be there
cJSON *end_event(const struct events *e);                     // the last line, and the only `end`

#endif
