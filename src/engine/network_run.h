// A network that is tuned: many tasks, one budget. Each task is a session of its own, with all that
// sessions have; a schedule (search/schedule.h) says whose next round of trials it is.
//
//     struct network_run *n = network_start(&host, &options, e);
//                             or network_resume(&host, id, NULL, e);
//     while (!network_ended(n)) {
//         network_step(n, e);
//         network_command(n, "pause", NULL, e);         what other processes wish
//         ...sleep until its task (network_task_now) has something to do...
//     }
//     network_destroy(n);
//
// network_setup.c puts it together, network_tasks.c its tasks; network_run.c runs it. The network
// is a session of the database too, with a budget, a state and a log, but without trials: those
// are its tasks'. A round is stored when it is given and again when it is over; the schedule is a
// function of its seed and of what the rounds came to, so a network that goes on tells it the
// stored rounds, and each task goes on from its own trials when its next round comes. Results of
// different tasks never meet in one search: it does not matter in which order they come.
//
// Tasks with the same operation on the same device, driver and compiler that were tuned before, for
// as many trials as a task of this network gets on average, are known: they get no round.
#ifndef TILEWALK_ENGINE_NETWORK_RUN_H
#define TILEWALK_ENGINE_NETWORK_RUN_H

#include "engine/network_whole.h"
#include "engine/session_place.h"
#include "search/schedule.h"

struct network; // script/network.h

struct network_options {
    const struct network *network;
    const char *path;                   // of its file
    const struct session_options *each; // of its tasks; `trials` and `seconds` are the network's
    const char *scheduler;              // NULL: NETWORK_DEFAULT_SCHEDULER
    bool again;                         // tune what is known too
};
#define NETWORK_DEFAULT_SCHEDULER "gradient"

struct network_member {
    struct task_record record;
    struct session *session; // NULL: it had no round in this run
    int64_t granted;         // trials in all rounds
    int64_t spent, rejected, ok;
    double seconds; // of its best kernel; 0: nothing valid yet
    bool over;      // its search has nothing more
    double weight;  // the user's, times its uses
    double first_s; // of the first round with a valid kernel; 0: none yet
    int64_t woken;  // when its source was needed last, counted in rounds
};

struct network_run {
    struct arena arena;
    struct session_host host;
    struct session_record record;
    struct session_options each; // for tasks that begin
    struct session_place place;  // where they are measured

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
    bool store_failed;
    int64_t started_ns; // of the current running stretch; 0 while paused
};

// network_setup.c. NULL and `e` on failure; as session_start and session_resume.
struct network_run *network_start(const struct session_host *host, const struct network_options *o,
                                  struct err *e);
struct network_run *network_resume(const struct session_host *host, int64_t id,
                                   const struct session_options *more, struct err *e);
void network_destroy(struct network_run *n); // fine with NULL
// network_tasks.c: the session of a task, begun, taken up again, or woken.
bool network_open_task(struct network_run *n, struct network_member *m, struct err *e);

// network_run.c, as their namesakes of session_step.h.
bool network_step(struct network_run *n, struct err *e);
bool network_command(struct network_run *n, const char *verb, const char *argument, struct err *e);
bool network_interrupt(struct network_run *n, struct err *e);
bool network_ended(const struct network_run *n);
// The task's session that is at work; NULL: none is, and network_step has something to do.
struct session *network_task_now(const struct network_run *n);

// What a task counts for the schedule from now on, times its uses. Of one that took so long in
// another program they count so much that what is gained of its first time here is gained of that.
void network_weigh(struct network_run *n, int64_t position, double weight);
// schedule_tell, for a round of that task, or of what is known of it.
void network_tell(struct network_run *n, struct network_member *m, double seconds, bool more);
double network_ran_seconds(const struct network_run *n);
void network_run_clock(struct network_run *n, bool running);
double network_seconds(const struct network_run *n);                // 0: a task has no kernel yet
bool network_stored(struct network_run *n, bool ok, struct err *e); // as session_stored
void network_message(struct network_run *n, const char *level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void network_emit(struct network_run *n, struct event event);

#endif
