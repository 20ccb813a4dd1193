// Databases for tests of the workbench: small, quick to make, the same on every machine and day.
//
//     struct fixture f;
//     fixture_create(&f, FIXTURE_SMALL);
//     model_init(&m, f.path); model_open(&m, f.session, &e); model_poll(&m, FIXTURE_NOW)
//     fixture_tell(&f, 5);              the session goes on
//     fixture_destroy(&f);
//
// A session that runs is run by a child process that holds its lock and does nothing else. Time
// stands at FIXTURE_NOW: whatever happened, happened some seconds or days before.
#ifndef TILEWALK_TESTS_UI_FIXTURE_H
#define TILEWALK_TESTS_UI_FIXTURE_H

#include "author.h"

#define FIXTURE_NOW 1767225600.0 // 2026-01-01 00:00:00 UTC

enum fixture_shape {
    // One session, running: 64 of 200 trials of opevo, all outcomes, rejections, messages, a
    // canary, five machines.
    FIXTURE_SMALL,
    // Seven sessions of one problem, the newest last: done (raced), done, done (random, with a
    // note), stopped, failed, paused, running.
    FIXTURE_SEVERAL,
    // Three sessions: no trials yet (paused), rejected ones only (done), none ok (stopped).
    FIXTURE_EMPTY,
    FIXTURE_NOTHING // the file does not exist
};

struct fixture {
    char *folder, *path;
    int64_t session;       // the one that runs, else the newest
    struct store *store;   // to write
    struct author *author; // of `session`
    pid_t runner;
    int tell_runner, hear_runner; // pipes
};

void fixture_create(struct fixture *f, enum fixture_shape shape);
// One running session with that many told trials, some rejected: what a model must bear.
void fixture_create_huge(struct fixture *f, int told);
void fixture_destroy(struct fixture *f);

void fixture_tell(struct fixture *f, int numbered); // more trials of `session`
void fixture_tell_one(struct fixture *f);           // in a huge one: one more, rejected or not
void fixture_kill_runner(struct fixture *f);
void fixture_execute(const struct fixture *f, const char *sql); // on the file, behind the store
// The file goes, and another one takes its place: with the sessions of FIXTURE_EMPTY.
void fixture_remove(struct fixture *f);
void fixture_replace(struct fixture *f);

#endif
