// A search strategy: asked for configurations, told what became of them.
//
//     struct strategy *s = strategy_create("opevo:q=0.3", &problem, seed, e);
//     while (strategy_ask(s, &c) == ASK_NEW) {
//         ...measure c...
//         strategy_tell(s, &c, outcome, fitness);
//     }
//     strategy_destroy(s);
//
// The contract:
//  * A strategy is a deterministic function of (space, legal, warm, seed, options, ordered asks
//    and tells): no clock, no global random numbers, no files. Resuming a session replays its
//    stored asks and tells; there is no save or load code.
//  * `ask` never gives a configuration that was given before (evaluated, in flight or rejected).
//    ASK_WAIT: tell first; or, when strategy_wait_fd gives a descriptor, ask again once it is
//    readable (a model is being fitted). ASK_EXHAUSTED: nothing new is left (or could be found);
//    ask is not called again.
//  * Several asks may be open. The engine tells in the order asked unless `async` is set; then in
//    any order. When not async, what ask gives must not depend on how many of the open asks were
//    already told: a batch is made at once, or the latest so many results are left out.
//  * Fitness is speed (larger is better), exactly 0 for every outcome but `ok`. A rejected
//    configuration is told like any other; it cost nobody a trial.
//  * When a model is fitted is decided by how much was asked and told, never by the time it takes:
//    what is asked is the same however long a fit takes, and on replay. Fits start in ask, never in
//    tell: a paused session is told what comes in, and starts nothing.
//  * All calls from one thread. A strategy may have a thread of its own (base/task.h), on which it
//    may call the problem's `legal` and `draw`, one at a time, while ask has said ASK_WAIT; it ends
//    with the strategy at the latest.
#ifndef TILEWALK_SEARCH_STRATEGY_H
#define TILEWALK_SEARCH_STRATEGY_H

#include "space/outcome.h"
#include "space/space.h"

enum ask { ASK_NEW, ASK_WAIT, ASK_EXHAUSTED };

// What another search measured before, for models to learn from.
struct search_history {
    const char *name;          // for people
    const struct space *space; // its own
    const struct config *config;
    const double *fitness; // speed, of any one scale within a history; 0: failed
    int count;
};

// What a strategy may know of the problem. All outlive the strategy.
struct search_problem {
    const struct space *space;
    // Whether a configuration passes constraints and static limits, or may (a rule of it failed);
    // cheap (microseconds). NULL: all are legal. Both functions are called from one thread at a
    // time, which may be one of the strategy's own while its owner does other things.
    bool (*legal)(void *context, const struct config *c);
    void *context;
    // A uniform draw among the few points that may be legal at all, of a space so large that draws
    // from it would not meet them; strategies then ask for legal ones only. NULL: the space itself
    // is drawn from.
    void (*draw)(void *context, struct rng *r, struct config *out);
    // Points that are likely good, known from another search: every strategy asks for them before
    // it draws anything (a first generation takes as many as it has places). Those that it must not
    // ask for, and repetitions, are passed over.
    const struct config *warm;
    int warm_count;
    // Oldest first. Strategies without a model pass over them.
    const struct search_history *history;
    int history_count;
};

struct strategy_option {
    const char *name, *help;
    double value, low, high; // default and allowed range, inclusive
    bool integer;
    const char *const *words; // NULL: a number; else the value i is written words[i] (low is 0)
};

struct individual {
    const struct config *config; // valid until the next call on the strategy
    int64_t ask;                 // it was the ask-th that the strategy gave, from 1
    double fitness;
    int generation;
};

// A model was fitted anew. How good it is is judged on the batch that was asked since the fit
// before it, as that one predicted it before it was measured.
struct refit {
    int64_t told;       // results it was fitted to
    int64_t rows;       // of features, histories included
    double correlation; // Spearman's, of predicted and measured speed of the batch; NAN: no batch
    double recall;  // share of the `k` fastest of the batch among the `k` predicted fastest; NAN
    int k, batch;   // 0: no batch
    double seconds; // CPU time of fit and plan; reported, never decided by
    double bytes;   // of the model
};

struct strategy {
    const struct strategy_kind *kind;
};

struct strategy_kind {
    const char *name, *help;
    const struct strategy_option *options;      // ends with a NULL name
    bool (*is_async)(const struct strategy *s); // NULL: never
    // `option[i]` belongs to options[i]; all are in range. NULL and `e` when the space does not
    // suit.
    struct strategy *(*create)(const struct search_problem *problem, uint64_t seed,
                               const double *option, struct err *e);
    enum ask (*ask)(struct strategy *s, struct config *out);
    void (*tell)(struct strategy *s, const struct config *c, enum outcome o, double fitness);
    // The individuals that breed now, best first; at most `most`. Returns how many. NULL: none do.
    int (*population)(const struct strategy *s, int most, struct individual *out);
    int (*generation)(const struct strategy *s); // of the last configuration asked; NULL: always 0
    // Right after ASK_NEW: where that configuration comes from: for each parameter the ask (as in
    // struct individual) that it was taken from before it was moved, or 0 when it was drawn. False:
    // all were drawn, given by the warm start, or chosen by a model. NULL: always so.
    bool (*origin)(const struct strategy *s, int64_t ask[SPACE_MAX_PARAMS]);
    // After ASK_WAIT: a descriptor, the strategy's own, that is readable once asking again will not
    // wait for the same. -1 (or NULL): it waits to be told.
    int (*wait_fd)(const struct strategy *s);
    // Each refit once, oldest first; called after every ask and tell. False: none is left. NULL: it
    // has no model.
    bool (*take_refit)(struct strategy *s, struct refit *out);
    void (*destroy)(struct strategy *s); // work under way is asked to end early
};

// All kinds, NULL-terminated, in the order users see them.
extern const struct strategy_kind *const strategy_kinds[];
const struct strategy_kind *strategy_find(const char *name); // NULL when unknown

// `spec` is NAME or NAME:key=value:key=value. Unknown names and keys get a suggestion, values out
// of range the range.
struct strategy *strategy_create(const char *spec, const struct search_problem *problem,
                                 uint64_t seed, struct err *e);
// Whether problem.history is of any use to strategies of that kind; false for one that is not
// known.
bool strategy_has_model(const char *spec);
// The spec with every option written out, defaults too (heap, the caller's): what a session stores.
char *strategy_canonical(const char *spec, struct err *e);
// The same for a search that so many workers serve: an option `ahead` that is not given lets as
// many trials be open as there are workers.
char *strategy_canonical_for(const char *spec, int workers, struct err *e);
char *strategy_without_ahead(const char *spec); // heap: to be chosen for other workers

// Appends a value of an option as specs write it: a number, or its word.
void strategy_add_value(const struct strategy_option *o, double value, struct str *out);

enum ask strategy_ask(struct strategy *s, struct config *out);
void strategy_tell(struct strategy *s, const struct config *c, enum outcome o, double fitness);
int strategy_population(const struct strategy *s, int most, struct individual *out);
int strategy_generation(const struct strategy *s);
bool strategy_origin(const struct strategy *s, int64_t ask[SPACE_MAX_PARAMS]);
bool strategy_is_async(const struct strategy *s);
int strategy_wait_fd(const struct strategy *s);
// Waits until that is readable, for who has nothing else to do; false at once when there is none:
//     while ((asked = strategy_ask(s, &c)) == ASK_WAIT && strategy_wait(s)) {
//     }
bool strategy_wait(struct strategy *s);
bool strategy_take_refit(struct strategy *s, struct refit *out);
void strategy_destroy(struct strategy *s);

#endif
