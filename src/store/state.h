// What has become of a session. The words are frozen: they enter databases, JSON and scripts.
//
//   running   a process works on it, or did when it was last heard of (store_state tells)
//   paused    it goes on where it stands when it is resumed
//   done      its budget is spent, or its goal is reached
//   stopped   the user ended it
//   failed    an error ended it
//   removed   it is in no list any more, but what learned from its trials still reads them
//   damaged   it cannot be read: its record says why. No database has this word.
#ifndef TILEWALK_STORE_STATE_H
#define TILEWALK_STORE_STATE_H

#include <stdbool.h>

enum session_state {
    STATE_RUNNING,
    STATE_PAUSED,
    STATE_DONE,
    STATE_STOPPED,
    STATE_FAILED,
    STATE_REMOVED,
    STATE_DAMAGED,
    STATE_COUNT
};

const char *state_name(enum session_state s);
bool state_parse(const char *word, enum session_state *s); // false: it is none of a database

#endif
