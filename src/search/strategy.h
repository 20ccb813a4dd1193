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
//    readable (a model is being fitted). ASK_COMPILE: ask again once all is compiled that `look` of
//    the problem did not know (only where the problem has it). ASK_EXHAUSTED: nothing new is left
//    (or could be found); ask is not called again.
//  * Several asks may be open. The cycle (cycle.h) tells in the order asked unless `async` is set;
//    then in any order. When not async, what ask gives must not depend on how many of the open asks
//    were already told: a batch is made at once, or the latest so many results are left out.
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

#include "search/spec.h"
#include "space/outcome.h"
#include "space/space.h"
#include "space/statistics.h"

#define STRATEGY_TEXT       256 // bytes of strategy_text
#define STRATEGY_LOOK       3   // candidates that are compiled before one of them is asked for
#define STRATEGY_SHORTLISTS 2   // rounds whose candidates are compiled at a time

enum ask { ASK_NEW, ASK_WAIT, ASK_COMPILE, ASK_EXHAUSTED };

// What the driver's compiler says of a configuration, before it is measured.
struct preview {
    bool fits; // false: it cannot be compiled, or would be left out for what it spills
    double number[STATISTIC_KIND_COUNT]; // NAN: it says nothing of that
};

// What another search measured before, for models to learn from.
struct search_history {
    const char *name;          // for people
    const struct space *space; // its own
    const struct config *config;
    const double *fitness; // speed, of any one scale within a history; 0: failed
    int count;
};

// What a strategy may know of the problem. All that is pointed to outlives the strategy.
struct search_problem {
    const struct space *space;
    // Whether a configuration passes the constraints and static limits. True as well where a rule
    // failed and it cannot be known. Cheap (microseconds). NULL: all are legal. `legal` and `draw`
    // are called from one thread at a time, which may be one of the strategy's own while its owner
    // does other things.
    bool (*legal)(void *context, const struct config *c);
    void *context;
    // Draws uniformly among the points that may be legal, where these are so few in so large a
    // space that uniform draws from the space would never meet one. Strategies then ask for legal
    // points only. NULL: strategies draw from the space itself.
    void (*draw)(void *context, struct rng *r, struct config *out);
    // What the driver's compiler says of each of `count` configurations. False: of some it is not
    // known yet; they are compiled then, and ask says ASK_COMPILE. The same for a configuration
    // whenever it is known. Called in ask only. NULL: the driver says nothing.
    bool (*look)(void *context, const struct config *c, int count, struct preview *out);
    // Points known to be good from another search. Every strategy asks for them before it draws
    // anything (a first generation takes as many as it has places). Illegal ones and repetitions
    // are passed over.
    const struct config *warm;
    int warm_count;
    // Oldest first. Strategies that do not learn from others pass over them.
    const struct search_history *history;
    int history_count;
};

struct individual {
    const struct config *config; // valid until the next call on the strategy
    int64_t ask;                 // it was the ask-th that the strategy gave, from 1
    double fitness;
    int generation;
};

// A model was fitted anew. The fit before it is judged at this time: by how well it had predicted
// the batch that was asked and measured since.
struct refit {
    int64_t told;       // results it was fitted to
    int64_t rows;       // of features, histories included
    double correlation; // Spearman's, of predicted and measured speed of the batch; NAN: no batch
    double recall;  // share of the `k` fastest of the batch among the `k` predicted fastest; NAN
    int k, batch;   // 0: no batch
    double seconds; // CPU time of fit and plan; reported only, nothing depends on it
    double bytes;   // of the model
};

// What a model expects of a configuration before it is measured: fitness, with the noise of a
// measurement, and within how many deviations of the mean half, and nine tenths, of such results
// lie.
struct forecast {
    double mean, deviation;
    double half, nine_in_ten;
};

// By how many deviations `fitness` is above what was expected.
double forecast_surprise(const struct forecast *f, double fitness);

struct strategy {
    const struct strategy_kind *kind;
};

// What a strategy makes of problem.history.
enum strategy_learns {
    LEARNS_NOTHING,
    LEARNS_ALL,    // its model takes it for as good as its own results
    LEARNS_WEIGHED // as far as it predicts the results here, so that it may be of other devices
};

struct strategy_kind {
    const char *name, *help;
    const struct spec_option *options; // ends with a NULL name
    enum strategy_learns learns;
    bool (*is_async)(const struct strategy *s); // NULL: never
    // `option[i]` belongs to options[i]; all are in range. NULL and `e` when the space does not
    // suit.
    struct strategy *(*create)(const struct search_problem *problem, uint64_t seed,
                               const double *option, struct err *e);
    enum ask (*ask)(struct strategy *s, struct config *out);
    void (*tell)(struct strategy *s, const struct config *c, enum outcome o, double fitness);
    // Called right before `tell`: how long it took to compile and to measure; 0: not known. NULL:
    // that does not matter.
    void (*took)(struct strategy *s, const struct config *c, double seconds);
    // The individuals that breed now, best first; at most `most`. Returns how many. NULL: none do.
    int (*population)(const struct strategy *s, int most, struct individual *out);
    int (*generation)(const struct strategy *s); // of the last configuration asked; NULL: always 0
    // Called right after ASK_NEW: where that configuration comes from. Fills in, for each
    // parameter, the number of the ask whose configuration its value was taken from (and then
    // perhaps moved on), or 0 when the value was drawn. False: the configuration has no parents, as
    // it was drawn, given by the warm start, or chosen by a model. NULL: none of this strategy's
    // ever has.
    bool (*origin)(const struct strategy *s, int64_t ask[SPACE_MAX_PARAMS]);
    // After ASK_WAIT: a descriptor that becomes readable when the strategy can be asked again. The
    // strategy keeps and closes it. -1 (or NULL): the strategy waits to be told a result.
    int (*wait_fd)(const struct strategy *s);
    // Gives each refit once, oldest first; called after every ask and tell. False: none is left.
    // NULL: the strategy has no model.
    bool (*take_refit)(struct strategy *s, struct refit *out);
    // Called right after ASK_NEW: what is expected of that configuration, should it not fail.
    // False: nothing, as no model chose it. NULL: nothing ever is.
    bool (*forecast)(struct strategy *s, struct forecast *out);
    void (*destroy)(struct strategy *s); // work under way is asked to end early
};

// All kinds, NULL-terminated, in the order users see them.
extern const struct strategy_kind *const strategy_kinds[];
const struct strategy_kind *strategy_find(const char *name); // NULL when unknown

// `spec` as spec_parse (search/spec.h) takes it.
struct strategy *strategy_create(const char *spec, const struct search_problem *problem,
                                 uint64_t seed, struct err *e);
// Whether strategies of that kind fit models between rounds (take_refit), and what they make of
// problem.history; false and LEARNS_NOTHING for an unknown kind.
bool strategy_has_model(const char *spec);
enum strategy_learns strategy_learns(const char *spec);
// The spec with every option written out, defaults too (heap, the caller's): what a session stores.
char *strategy_canonical(const char *spec, struct err *e);
// The same for a search with that many workers, and with a driver that tells of what it compiles or
// not. Where `spec` does not give the option `ahead` of a strategy that has one, it becomes
// workers - 1, so that every worker has a trial; where the driver tells, `look` becomes
// STRATEGY_LOOK and `shortlists` STRATEGY_SHORTLISTS.
char *strategy_canonical_for(const char *spec, int workers, bool tells, struct err *e);
// `spec` without its option `ahead`, so that strategy_canonical_for can choose it for another
// number of workers. Heap, the caller's.
char *strategy_without_ahead(const char *spec);

// A stored spec, of a strategy or of a scheduler, as people read it, everywhere: its name and what
// differs from the defaults, "walk ahead=1"; `all`: with every option. What this program does not
// know (any more) is kept. Options that `out` has no room for are left out. Returns `out`.
char *strategy_text(const char *spec, bool all, char out[STRATEGY_TEXT]);

enum ask strategy_ask(struct strategy *s, struct config *out);
void strategy_tell(struct strategy *s, const struct config *c, enum outcome o, double fitness);
void strategy_took(struct strategy *s, const struct config *c, double seconds);
int strategy_population(const struct strategy *s, int most, struct individual *out);
int strategy_generation(const struct strategy *s);
bool strategy_origin(const struct strategy *s, int64_t ask[SPACE_MAX_PARAMS]);
bool strategy_is_async(const struct strategy *s);
int strategy_wait_fd(const struct strategy *s);
// Waits until the descriptor of strategy_wait_fd is readable, for callers that have nothing else to
// do. False at once when there is none:
//     while ((asked = strategy_ask(s, &c)) == ASK_WAIT && strategy_wait(s)) {
//     }
bool strategy_wait(struct strategy *s);
bool strategy_take_refit(struct strategy *s, struct refit *out);
bool strategy_forecast(struct strategy *s, struct forecast *out);
void strategy_destroy(struct strategy *s);

#endif
