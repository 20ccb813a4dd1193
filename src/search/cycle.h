// The cycle of every search: ask, answer, tell, within a budget. Sessions run it with workers and a
// database, simulations with recordings; it depends on neither, and on no clock.
//
//     struct cycle c = {.strategy = s, .work = flop, .unit = 1e12};
//     while (!cycle_is_over(&c, budget)) {
//         if (cycle_may_ask(&c, budget) && cycle_ask(&c, trial, &asked, e) && asked == ASK_NEW)
//             ...judge trial->config, measure it...
//         cycle_answer(&c, t, OUTCOME_OK, seconds);      any open trial, whenever its result is in
//         while ((t = cycle_next(&c)))
//             cycle_tell(&c, t);                         t is the caller's again
//     }
//     cycle_finish(&c);
//
// Invariants, for any order and source of the answers:
//  * The strategy is told in the order asked; an asynchronous one, in the order of the answers.
//  * The answer of the oldest open ask is told before the next ask. So the proposals depend on the
//    seed and the answers alone, for any number of trials measured at once.
//  * The trials that count never exceed the budget; open ones count as if they were valid.
//  * With a replay log, its answers are given to the same asks, and an asynchronous strategy is
//    asked and told in the order of the log. So a search goes on exactly where it was. The trials
//    that were open then are asked again.
//
// The caller gives the budget at every call: the number of trials that this cycle may have in all.
// So several cycles can share a budget, by the decisions of a scheduler; and 0 ends a cycle.
#ifndef TILEWALK_SEARCH_CYCLE_H
#define TILEWALK_SEARCH_CYCLE_H

#include "search/strategy.h"
#include "space/outcome.h"
#include "space/space.h"

// The replay log: the asks and tells of an earlier run of a search, which answer the same asks
// again.
//
//     struct replay_log *p = replay_log_create();
//     replay_log_add(p, &trial, e) ...              each trial once, by rising ask
//     replay_log_close(p);                          after all trials
//     replay_log_find(p, ask), replay_log_may_tell(p, ask, asked, told) ...
//     replay_log_destroy(p);
//
// Asks and tells are counted from 1. Asks that were in flight when the earlier run ended have no
// answer; asks that were never stored are missing. NULL is a log without asks.

struct replay_log;

struct replay_trial {
    int64_t ask, asked_after; // how many had been told when it was asked
    struct config config;
    bool answered;
    int64_t told; // 1 .. in the order told
    enum outcome outcome;
    double seconds; // 0 unless ok
    double took_s;  // compiling and measuring it; 0: not known
};

struct replay_log *replay_log_create(void);
// False: too many trials are missing before this one.
bool replay_log_add(struct replay_log *p, const struct replay_trial *t, struct err *e);
bool replay_log_close(struct replay_log *p); // false: `told` is not 1, 2, 3 ...
void replay_log_destroy(struct replay_log *p);

// Returns the trial of that ask, valid until replay_log_destroy; NULL: it is unknown.
const struct replay_trial *replay_log_find(const struct replay_log *p, int64_t ask);
// For asynchronous strategies: returns true if `ask` may be told after `asked` asks and `told`
// tells, so that the order of the earlier run is repeated.
bool replay_log_may_tell(const struct replay_log *p, int64_t ask, int64_t asked, int64_t told);

#define CYCLE_MOST_OPEN     4096   // asks that were not told yet, rejected ones included
#define CYCLE_MOST_REJECTED 100000 // rejected trials in a row that end the search

// An ask that was not told yet, in memory of the caller.
struct cycle_trial {
    struct cycle_trial *next;
    int64_t ask, asked_after; // asks are 1, 2, 3 ...; number of tells before the ask
    struct config config;
    bool recorded; // the replay log has this ask
    bool stored;   // the replay log has its answer
    bool answered;
    enum outcome outcome;
    double seconds; // 0 unless ok
    double took_s;  // to compile and measure it, set with the answer; 0: not known
};

struct cycle_best {
    int64_t ask; // 0: nothing was valid yet
    double seconds;
    struct config config;
};

struct cycle {
    // Set by the caller; all other members begin zeroed, and are for reading.
    struct strategy *strategy; // owned by the cycle
    struct replay_log *replay; // the replay log, owned too; NULL: a new search
    double work, unit;         // fitness is work / seconds / unit
    bool count_rejected;       // rejected trials cost the budget too

    int64_t asked, told;
    int64_t trials, rejected, ok; // of the told ones: those that count, and by outcome
    int64_t trials_at_gain;       // how many there were when the best was found
    int64_t rejected_in_row;
    bool exhausted;                  // the strategy has nothing more
    struct cycle_trial *open, *last; // in the order asked
    int open_count;
    int pending;            // open trials that count against the budget
    struct cycle_best best; // a caller that measures it again may update it
};

// Returns true if there are no more asks with this budget; trials may still be open.
bool cycle_is_over(const struct cycle *c, int64_t budget);
// Returns true if cycle_ask may be called now. False as well if a trial must be told first.
bool cycle_may_ask(const struct cycle *c, int64_t budget);

// On ASK_NEW, `t` is open until cycle_tell, and answered if the replay log has the answer; else `t`
// is not used. ASK_WAIT: as strategy_ask. False: the strategy broke its contract, or its proposal
// differs from the replay log.
bool cycle_ask(struct cycle *c, struct cycle_trial *t, enum ask *asked, struct err *e);

// Returns the open trial of that ask that has no answer yet; NULL: there is none, for instance for
// a result that comes twice.
struct cycle_trial *cycle_find(const struct cycle *c, int64_t ask);
void cycle_answer(struct cycle *c, struct cycle_trial *t, enum outcome o, double seconds);

// cycle_next returns the trial that must be told next; NULL: none. cycle_tell counts it, tells the
// strategy and returns true if it is the best so far.
struct cycle_trial *cycle_next(const struct cycle *c);
bool cycle_tell(struct cycle *c, struct cycle_trial *t);

// Returns the fitness of an answered trial: its speed, 0 unless it is ok.
double cycle_fitness(const struct cycle *c, const struct cycle_trial *t);

// Returns true while the replay log has tells left.
bool cycle_is_replaying(const struct cycle *c);

// Ends the strategy and its work under way. Numbers and open trials stay readable, but cycle_ask
// and cycle_tell are not called any more.
void cycle_finish(struct cycle *c);

#endif
