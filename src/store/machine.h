// Machines that measure for sessions, and their states: agents on other machines and workers of
// pools (trial/remote.h).
//
//     store_put_machine(s, session, &record, e)              adds or updates one
//     store_list_machines(s, 0, unix_now, &arena, &list, e)
//
// A machine has a name, which no other process has, and a row for each session that it measured
// for. The trials of the session have the name of the machine that measured them.
#ifndef TILEWALK_STORE_MACHINE_H
#define TILEWALK_STORE_MACHINE_H

#include "store/store.h"

struct machine_record {       // an agent or worker that measures for a session
    const char *name, *place; // "rack1-5fd0c2a9", "ssh:rack1"
    const char *device, *driver;
    const char *state; // "up", "stuck", "lost", "refused", "left"
    const char *why;   // its last error
    int64_t lost;      // requests that had to be sent again because of it
    double at;         // unix time of the state
    double fixed_s,
        drift;       // its last calibration: the time of a fixed kernel, and the share by which
                     // this exceeds that of the others (NAN: there are none yet); fixed_s 0:
                     // there was none
    int64_t session; // this and the members below are set when read
    int64_t trials;  // trials that it measured
    double rate;     // trials a second in the last minute, or since it is up
};

// Adds a machine to a session or updates its state. Where `r` has no `why` or no calibration, the
// stored ones stay; its `lost` is added to the stored number; `at` changes only with the state.
bool store_put_machine(struct store *s, int64_t session, const struct machine_record *r,
                       struct err *e);
struct machines {
    struct machine_record *of;
    int count;
};
// Lists the machines of a session, or of all sessions when it is 0, last changed first. Rates are
// those at `unix_now`.
bool store_list_machines(struct store *s, int64_t session, double unix_now, struct arena *a,
                         struct machines *out, struct err *e);
// Returns the state that users see: a machine of a session that nobody runs has "left".
const char *store_machine_state(struct store *s, const struct machine_record *r);
// Deletes the rows of the machine in all sessions. Its trials stay, with its name.
bool store_forget_machine(struct store *s, const char *name, struct err *e);

// The work of a worker of a session on this machine, as its run last stored it.
struct worker_record {
    int64_t worker;    // from 0 on
    const char *phase; // trial_phase_name; "none": nothing
    int64_t ask;       // of its trial; 0: something else, such as a race
    double since;      // unix time at which the phase began
};

// Replaces those of a session; in one transaction.
bool store_put_workers(struct store *s, int64_t session, const struct worker_record *r, int count,
                       struct err *e);
// Lists them by number, in the arena.
struct workers {
    struct worker_record *of;
    int count;
};
bool store_list_workers(struct store *s, int64_t session, struct arena *a, struct workers *out,
                        struct err *e);

#endif
