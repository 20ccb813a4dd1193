// For tests: what a sandbox (base/sandbox.h) is there to refuse is attempted.
#ifndef TILEWALK_TRIAL_ESCAPE_H
#define TILEWALK_TRIAL_ESCAPE_H

// Tries, and logs of each attempt "escape: NAME: done" or why not: network (127.0.0.1), users
// (/etc/passwd), home ($HOME), writing (/tmp/tilewalk-escaped), program (/bin/true), memory and
// signal (of the parent).
void escape_try(void);

#endif
