// Injected faults, for tests: rare failures of real drivers, on demand.
//
//     fault_parse("segv@run:3,sleep@compile:*", &plan, e);          comes with the pool's hello
//     fault_strike(fault_find(&plan, PHASE_RUN, number), fd);       trial `number` enters a phase
//
//     "wrong@verify:7/60"                                          in seven of sixty entries
//
// Numbers count the session's trials from 1; for the phases start and prepare, the starts of
// workers; where a network is run as a whole, see whole.h. Phase none is the moment when the trial
// has arrived and nothing has been announced; only the first worker that gets it fails there.
//
//     sleep garbage half abort segv exit memory
//              the worker dies, by itself or because the pool kills it
//     lost     the device is lost: reported, then the worker leaves
//     wrong    the result is corrupted before it is compared: its last element (@verify), the
//              guard after it (@run), its time (@time), or its first element (any other phase)
//     slow     the measured time of the first full run (@run) or of the fixed kernel (@time) is a
//              hundred times longer
//     spill    the statistics of the kernel get 1000 spilled registers (@pipeline)
//     complain a message like the validation layer's is logged, and the trial goes on
//     escape   the worker tries to leave its sandbox, logs its attempts, and the trial goes on
#ifndef TILEWALK_TRIAL_FAULT_H
#define TILEWALK_TRIAL_FAULT_H

#include "base/rng.h"
#include "trial/trial.h"

#define FAULT_MAX 32

enum fault_kind {
    FAULT_NONE,
    FAULT_SLEEP,
    FAULT_ABORT,
    FAULT_SEGV,
    FAULT_EXIT,
    FAULT_GARBAGE,
    FAULT_HALF,
    FAULT_WRONG,
    FAULT_LOST,
    FAULT_MEMORY,
    FAULT_COMPLAIN,
    FAULT_SLOW,
    FAULT_ESCAPE,
    FAULT_SPILL,
    FAULT_COUNT
};

struct fault {
    enum fault_kind kind;
    enum trial_phase phase;
    int64_t number; // 0: every one
    int64_t one_of; // > 0: in `number` of so many entries of the phase, drawn at random
};

struct fault_plan {
    int count;
    struct fault fault[FAULT_MAX];
    struct rng rng; // seeded by fault_parse: the same draws in every worker
};

bool fault_parse(const char *spec, struct fault_plan *out, struct err *e); // NULL or "": none
enum fault_kind fault_find(struct fault_plan *p, enum trial_phase phase, int64_t number);

// Fails as planned, on the worker's socket `fd`. Returns only for complain and escape, and for
// none, wrong, lost, slow and spill, which are the caller's part.
void fault_strike(enum fault_kind kind, int fd);

#endif
