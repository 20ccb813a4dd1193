// `tune --device all`, `tune --device 0,2`: the same command line on each device, at once.
//
//     if (fleet_wanted(a)) { fleet_init(&f, a, e); ... f.words[i] ...; fleet_finish(&f); }
//     fleet_run(&f, json)           as children of this process, which prints what they print
//
// Each device has a child process: `tune` with the arguments given, but for --device, and for
// --export, whose folder gets one named after the device's index. So each session has its own
// workers and its own turns on its device, and no session harms another. Lines are marked with the
// index: `[0] ...`, or in JSON "device_index" as the first member. HUP, INT and TERM are passed on;
// the death of this process pauses the sessions. CPU devices share the machine's cores.
#ifndef TILEWALK_CLI_FLEET_H
#define TILEWALK_CLI_FLEET_H

#include "cli/command.h"

struct fleet {
    int count;
    int *index;                // [count] of the devices
    const char *const **words; // [count] command lines from "tune" on, NULL-terminated; the word
                               // before "tune" is the program's name
    char **made;               // own words; heap
    int made_count;
};

bool fleet_wanted(const struct arguments *a); // --device names several
// Returns false where a device is not there or named twice, or the source is no device.
bool fleet_init(struct fleet *f, const struct arguments *a, struct err *e);
void fleet_finish(struct fleet *f);

// Returns when all have ended: 0, or the exit code of the first (in the order of the devices) that
// failed; EXIT_NOTHING_VALID only where no other code was met.
int fleet_run(const struct fleet *f, bool json);

#endif
