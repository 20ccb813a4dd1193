// The cycle of every search: ask, answer, tell, within a budget. Sessions run it on workers and a
// database, simulations on recordings; it knows neither, and no clock.
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
// Invariants, whatever the order of answers and whoever gives them:
//  * The strategy is told in the order asked; one that is asynchronous, in the order of answers.
//  * What the oldest open ask became is told before anything is asked: so what a strategy asks is a
//    function of its seed and of the answers, for any number of trials measured at once.
//  * Trials that count never exceed the budget: those that are open count as if they were valid.
//  * With a past, its answers are given to the same asks, and an asynchronous strategy is asked and
//    told in its order: so a search goes on exactly where it stood. What is open then is asked
//    again.
//
// The budget is the caller's at every call, as how many trials this cycle may have had in all. So
// several cycles can share one, each getting what a scheduler grants it; and 0 ends one.
#ifndef TILEWALK_SEARCH_CYCLE_H
#define TILEWALK_SEARCH_CYCLE_H

#include "search/strategy.h"
#include "space/outcome.h"
#include "space/space.h"

// What an earlier run of a search asked and was told: it answers the same asks again.
//
//     struct past *p = past_create();
//     past_add(p, &trial, e) ...              each trial once, by rising ask
//     past_close(p);                          now questions may be put to it
//     past_find(p, ask), past_may_tell(p, ask, asked, told) ...
//     past_destroy(p);
//
// Asks and tells are counted from 1. Asks that were in flight when the earlier run ended are there
// without an answer; some that were never written down may be missing between the others. All
// questions take NULL for "there is no earlier run".

struct past;

struct past_trial {
    int64_t ask, asked_after; // how many had been told when it was asked
    struct config config;
    bool answered;
    int64_t told; // 1 .. in the order told
    enum outcome outcome;
    double seconds; // 0 unless ok
    double took_s;  // compiling and measuring it; 0: not known
};

struct past *past_create(void);
// False: too many trials are missing before this one.
bool past_add(struct past *p, const struct past_trial *t, struct err *e);
bool past_close(struct past *p); // false: `told` is not 1, 2, 3 ...
void past_destroy(struct past *p);

// The trial of that ask; NULL: it is not known. Valid until the past is destroyed.
const struct past_trial *past_find(const struct past *p, int64_t ask);
// Whether all that was told there has been told again, after `told` tells.
bool past_is_over(const struct past *p, int64_t told);
// For strategies that are told in any order: whether `ask` may be asked, or told, now, after
// `asked` asks and `told` tells, so that the strategy sees the order of the earlier run again.
bool past_may_ask(const struct past *p, int64_t ask, int64_t told);
bool past_may_tell(const struct past *p, int64_t ask, int64_t asked, int64_t told);

#define CYCLE_MOST_OPEN     4096   // asks that were not told yet, rejected ones included
#define CYCLE_MOST_REJECTED 100000 // told in a row: then the search is over

// An ask that was not told yet, in memory of the caller, who may keep more beside it.
struct cycle_trial {
    struct cycle_trial *next;
    int64_t ask, asked_after; // asks are 1, 2, 3 ...; how many had been told when it was asked
    struct config config;
    bool recorded; // the past has this ask
    bool stored;   // the past has its answer
    bool answered;
    enum outcome outcome;
    double seconds; // 0 unless ok
    double took_s;  // compiling and measuring it; whoever answers sets it; 0: not known
};

struct cycle_best {
    int64_t ask; // 0: nothing was valid yet
    double seconds;
    struct config config;
};

struct cycle {
    // What it is given; all else begins zeroed, and is to be read.
    struct strategy *strategy; // the cycle's from now on
    struct past *past;         // the same; NULL: it begins
    double work, unit;         // fitness is work / seconds / unit
    bool count_rejected;       // rejected trials cost the budget too

    int64_t asked, told;
    int64_t trials, rejected, ok; // of what was told: that count, and by outcome
    int64_t rejected_in_row;
    bool exhausted;                  // the strategy has nothing more
    struct cycle_trial *open, *last; // in the order asked
    int open_count;
    int pending;            // of those, how many count against the budget
    struct cycle_best best; // a caller who measures it again may say so here
};

// Whether nothing more will be asked with this budget: true also while trials are still open.
bool cycle_is_over(const struct cycle *c, int64_t budget);
// Whether to ask now. False as well when something has to be told first.
bool cycle_may_ask(const struct cycle *c, int64_t budget);

// On ASK_NEW, `t` is open until cycle_tell, answered if the past has the answer; else it is not
// used. ASK_WAIT: as strategy_ask. False: the strategy broke its contract, or asks for something
// else than in the past.
bool cycle_ask(struct cycle *c, struct cycle_trial *t, enum ask *asked, struct err *e);

// The open trial of that ask that has no answer yet; NULL: nobody waits for it (any more), as for a
// result that comes twice.
struct cycle_trial *cycle_find(const struct cycle *c, int64_t ask);
void cycle_answer(struct cycle *c, struct cycle_trial *t, enum outcome o, double seconds);

// The trial that is to be told now, NULL: none. cycle_tell counts it, tells the strategy and
// returns whether it is the best so far.
struct cycle_trial *cycle_next(const struct cycle *c);
bool cycle_tell(struct cycle *c, struct cycle_trial *t);

// What the strategy is told of an answered trial: its speed, 0 unless it is ok.
double cycle_fitness(const struct cycle *c, const struct cycle_trial *t);

// Whether what is told now was told before, in the past.
bool cycle_is_replaying(const struct cycle *c);

// Ends the strategy, and work that it has under way. Numbers and open trials stay as they are, but
// nothing more can be asked or told.
void cycle_finish(struct cycle *c);

#endif
