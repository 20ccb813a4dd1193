// A network that is tuned: many tasks, one budget. Each task is a session of its own, with all that
// sessions have; a schedule (search/schedule.h) gives the next round of trials to one of them.
//
//     struct network_run *n = network_start(&host, &options, e);
//                             or network_resume(&host, id, NULL, e);
//     while (n->phase != SESSION_ENDED) {
//         network_step(n, e);
//         network_command(n, "pause", NULL, e);         commands of other processes
//         ...sleep until its task (network_task_now) has something to do...
//     }
//     network_destroy(n);
//
// network_setup.c puts it together, network_run.c runs it, network_whole.c runs it as a whole now
// and then. The network is a session of the database too, with a budget, a state and a log, but
// without trials: those are its tasks'. A round is stored when it is given and again when it is
// over. The schedule is a function of its seed and of the results of the rounds, so a network that
// goes on tells it the stored rounds, and each task goes on from its own trials when its next round
// comes. Results of different tasks never meet in one search: their order does not matter.
//
// Tasks with the same operation on the same device, driver and compiler that were tuned before, for
// as many trials as a task of this network gets on average, are known: they get no round.
#ifndef TILEWALK_ENGINE_NETWORK_RUN_H
#define TILEWALK_ENGINE_NETWORK_RUN_H

#include "engine/session.h"
#include "network/plan.h"
#include "search/schedule.h"

struct network; // script/network.h
struct helper_job;

struct network_options {
    struct network *network;            // empty; read for the device, the caller's then
    const char *path;                   // of its file
    const char *only;                   // the task of network_choose_task; else NULL
    const struct session_options *each; // of its tasks; `trials` and `seconds` are the network's
    const char *scheduler;              // NULL: NETWORK_DEFAULT_SCHEDULER
    bool again;                         // tune what is known too
};
#define NETWORK_DEFAULT_SCHEDULER "gradient"

struct network_member {
    struct task_record record;
    struct session *session; // NULL: it had no round in this run
    int64_t allotted;        // trials in all rounds
    int64_t spent, rejected, ok;
    double seconds;    // of its best kernel; 0: nothing valid yet
    bool over;         // its search has nothing more
    double weight;     // the user's, times its uses
    double first_s;    // of the first round with a valid kernel; 0: none yet
    int64_t last_used; // when its source was needed last, counted in rounds
};

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

struct network_run {
    struct arena arena;
    struct session_record record;
    struct session_store store;
    struct session_clock clock;
    struct session_log log;
    struct session_options each;  // for tasks that begin
    struct backend_choice choice; // where they are measured

    struct network_member *member;
    int count;
    struct schedule *schedule;
    struct schedule_problem problem;
    double *uses; // of each task in a pass, times what they count for: as the problem has it

    struct network_whole whole;
    struct round_record round;      // the last one
    struct network_member *current; // the task that has it, or that is closing; NULL: none
    enum session_phase phase;
    bool stopping, closing;
    int64_t pinned; // position of the task that gets every round in this run; 0: the schedule says
};

// network_setup.c. NULL and `e` on failure; as session_start and session_resume.
struct network_run *network_start(const struct session_host *host, const struct network_options *o,
                                  struct err *e);
struct network_run *network_resume(const struct session_host *host, int64_t id,
                                   const struct session_options *more, struct err *e);
void network_destroy(struct network_run *n); // fine with NULL
// Makes the options of the session that tunes task `o->only`, one of the network's, alone. `out`
// refers to the network, and to the arena.
bool network_choose_task(struct arena *a, const struct network_options *o,
                         struct session_options *out, struct err *e);

// network_run.c, as their namesakes of session.h.
bool network_step(struct network_run *n, struct err *e);
bool network_command(struct network_run *n, const char *verb, const char *argument, struct err *e);
bool network_interrupt(struct network_run *n, struct err *e);
// The task's session that is at work; NULL: none is, and network_step has something to do.
struct session *network_task_now(const struct network_run *n);

// Changes what a task counts for the schedule, times its uses. Where the task's time in another
// program is known, its uses count so much that a gain on its first time here is a gain on that.
void network_weigh(struct network_run *n, int64_t position, double weight);
// schedule_tell, for a round of that task, or of what is known of it.
void network_tell(struct network_run *n, struct network_member *m, double seconds, bool more);

// --- network_whole.c ---
//
// A network that is tuned runs as a whole, now and then: with the best kernels that its tasks have
// so far, in the memory of its plan, each layer verified, timed in turns with the kernels that were
// the fastest as a whole before. What is the best of each part need not be the best of the whole.
//
// It runs once every task has a kernel, whenever the sum of its parts has fallen by a twentieth
// since (for at most a tenth of the network's running time), and at the end. The searches and the
// scheduler get nothing of its results.

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
