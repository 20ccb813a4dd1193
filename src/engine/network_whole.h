// A network that is tuned runs as a whole, now and then: with the best kernels that its tasks have
// so far, in the memory of its plan, each layer verified, timed in turns with the kernels that were
// the fastest as a whole before. What is the best of each part need not be the best of the whole.
//
// It runs once every task has a kernel, whenever the sum of its parts has fallen by a twentieth
// since (for at most a tenth of the network's running time), and at the end. The searches and the
// scheduler get nothing of its results.
#ifndef TILEWALK_ENGINE_NETWORK_WHOLE_H
#define TILEWALK_ENGINE_NETWORK_WHOLE_H

#include "base/err.h"
#include "network/plan.h"
#include "store/store.h"

struct helper_job;
struct network_run;

struct network_whole {           // empty and valid when zeroed: it cannot be run
    struct plan plan;            // without steps where there is none
    struct helper_job *run;      // NULL: it does not run now
    struct whole_record running; // its record so far
    struct whole_record record;  // of the last one that was over; number 0: there was none
    // Asks by task: of the run, of the last one, of the fastest one; heap.
    int64_t *trying, *kernels, *kept;
    bool has_kept, has_rival;
    bool cannot;      // be run; a message told why
    int lost;         // runs in a row without an answer
    int64_t begun_ns; // os_now_ns
    double spent_s;   // in this process
};

// Stores the plan of a new network; NULL: reads that of one that goes on.
bool network_whole_start(struct network_run *n, const struct plan *plan, struct err *e);
void network_whole_finish(struct network_run *n);

// Returns the sum of the parts, uses * time of the best kernel; 0: a task has no kernel yet.
double network_whole_sum(const struct network_run *n);
// Begins a run where one is due; false: the database cannot be read. `at_end`: with kernels that
// were not run yet, however little is gained.
bool network_whole_begin(struct network_run *n, bool at_end, struct err *e);
// Looks after the run under way, and stores its result.
bool network_whole_step(struct network_run *n, struct err *e);
void network_whole_drop(struct network_whole *w); // it is due again later

#endif
