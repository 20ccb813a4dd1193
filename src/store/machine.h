// Machines that measure for sessions, and what became of them: agents of other machines, workers of
// pools (trial/remote.h tells of them).
//
//     store_put_machine(s, session, &record, e)              a new one, or news of one
//     store_list_machines(s, 0, unix_now, &arena, &list, e)
//
// A machine is known by its name, which no other process has, and has a row for each session that
// it measured for. What it measured is in the session's trials, under its name.
#ifndef TILEWALK_STORE_MACHINE_H
#define TILEWALK_STORE_MACHINE_H

#include "store/store.h"

struct machine_record {       // an agent or worker that measures for a session
    const char *name, *place; // "rack1-5fd0c2a9", "ssh:rack1"
    const char *device, *driver;
    const char *state;     // "up", "stuck", "lost", "refused", "left"
    const char *why;       // what was wrong with it last
    int64_t lost;          // requests that had to be asked again for it
    double at;             // of the state; unix time
    double fixed_s, drift; // its last calibration: what a fixed kernel took, and by which share
                           // that is more than on the others (NAN: there are none yet);
                           // fixed_s 0: there was none
    int64_t session;       // the rest: when read
    int64_t trials;        // that it measured
    double rate;           // trials a second of the last minute, or since it is up
};

// Adds a machine to a session, or says what became of it. Where `r` has no `why` or no calibration,
// those that are stored stay; its `lost` is added to what is stored; `at` is the time of the state
// and changes only with it.
bool store_put_machine(struct store *s, int64_t session, const struct machine_record *r,
                       struct err *e);
struct machines {
    struct machine_record *of;
    int count;
};
// The machines of a session, or of all sessions where it is 0: those heard of last come first.
// Their rates are those at `unix_now`.
bool store_list_machines(struct store *s, int64_t session, double unix_now, struct arena *a,
                         struct machines *out, struct err *e);
// The state that users see: one that measures for a session that nobody runs has left.
const char *store_machine_state(struct store *s, const struct machine_record *r);
// Deletes the machine's rows of all sessions. The trials that it measured stay, under its name.
bool store_forget_machine(struct store *s, const char *name, struct err *e);

#endif
