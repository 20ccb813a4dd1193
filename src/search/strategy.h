// The ask/tell interface of the search strategies: ask proposes a configuration, tell reports its
// result.
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
//  * `ask` never proposes a configuration twice (evaluated, in flight or rejected). ASK_WAIT: tell
//    first; or, if strategy_wait_fd gives a descriptor, ask again when it is readable (a model is
//    being fitted). ASK_COMPILE: ask again when all configurations are compiled that the problem's
//    `probe` did not know (only where the problem has it). ASK_EXHAUSTED: nothing new is left, or
//    could be found; ask is not called again.
//  * Several asks may be open. The cycle (cycle.h) tells in the order asked unless `is_async`
//    returns true; then in any order. If not async, the proposals must not depend on the number of
//    open asks that were told already: a batch is made at once, or a fixed number of the latest
//    results is left out.
//  * Fitness is speed (larger is better), exactly 0 for every outcome but `ok`. A rejected
//    configuration is told like any other; it does not count as a trial.
//  * The number of asks and tells decides when a model is fitted, never time: the proposals are the
//    same however long a fit takes, and on replay. Fits start in ask, never in tell: a paused
//    session tells the results that come in, and starts nothing.
//  * All calls come from one thread. A strategy may have its own thread (base/task.h), on which it
//    may call the problem's `legal` and `draw`, one at a time, after ask has returned ASK_WAIT; the
//    thread ends with the strategy at the latest.
#ifndef TILEWALK_SEARCH_STRATEGY_H
#define TILEWALK_SEARCH_STRATEGY_H

#include "search/spec.h"
#include "space/legal.h"
#include "space/outcome.h"
#include "space/space.h"
#include "space/statistics.h"

#define STRATEGY_TEXT       256 // bytes of strategy_text
#define STRATEGY_LOOK       3   // candidates compiled before one of them is proposed
#define STRATEGY_SHORTLISTS 2   // candidate batches compiled at a time
#define STRATEGY_COST       1   // the expected improvement is one for each predicted second

enum ask { ASK_NEW, ASK_WAIT, ASK_COMPILE, ASK_EXHAUSTED };

// A compile probe: the compiler's statistics of a configuration that is not measured yet.
struct compile_probe {
    bool fits; // false: it cannot be compiled, or has too many register spills
    double number[STATISTIC_KIND_COUNT]; // NAN: not reported
};

// The results of another search, for models to learn from.
struct search_history {
    const char *name;          // for people
    const struct space *space; // of that search
    const struct config *config;
    const double *fitness; // speed, of any one scale within a history; 0: failed
    int count;
};

// The problem that a strategy solves. All pointers outlive the strategy.
struct search_problem {
    const struct space *space;
    // Returns true if a configuration passes the constraints and static limits, or if a rule failed
    // and this cannot be known. Cheap (microseconds). NULL: all are legal. `legal` and `draw` are
    // called from one thread at a time, which may be the strategy's own.
    bool (*legal)(void *context, const struct config *c);
    void *context;
    // Draws uniformly among the points that may be legal, for spaces where legal points are so rare
    // that uniform draws would never find one. Strategies then propose legal points only. NULL:
    // strategies draw from the space itself.
    void (*draw)(void *context, struct rng *r, struct config *out);
    // The legal points of a space whose rules leave so few that uniform draws would hardly find
    // one. Strategies then draw from these, move illegal proposals to the nearest of them, and
    // propose legal points only. NULL: the space is easy. Used like `legal` and `draw`.
    struct legal *sparse;
    // Gets the compiler's statistics of `count` configurations. False: some are not known yet;
    // these are compiled, and ask returns ASK_COMPILE. The statistics of a configuration never
    // change. Called in ask only. NULL: the compiler reports nothing.
    bool (*probe)(void *context, const struct config *c, int count, struct compile_probe *out);
    // Points known to be good from another search. Every strategy proposes them before it draws
    // anything (a first generation takes as many as it has places). Illegal ones and repetitions
    // are skipped.
    const struct config *warm;
    int warm_count;
    // Configurations that somebody proposed, good or bad ones, all legal. Only some strategies use
    // them (`guesses` of strategy_kind), and no more than every second trial.
    const struct config *guess;
    int guess_count;
    // Oldest first. Only some strategies use them (enum strategy_learns).
    const struct search_history *history;
    int history_count;
};

// Returns true if the problem has no rules, or if they permit `c`.
static inline bool search_is_legal(const struct search_problem *p, const struct config *c)
{
    return !p->legal || p->legal(p->context, c);
}

// Returns true if strategies propose legal points only, because they are rare.
static inline bool search_is_sparse(const struct search_problem *p)
{
    return p->draw || p->sparse;
}

struct individual {
    const struct config *config; // valid until the next call on the strategy
    int64_t ask;                 // number of its ask, from 1
    double fitness;
    int generation;
};

// The report on a fit of a model. It rates the fit before: its predictions of the batch that was
// measured since then.
struct refit {
    int64_t told;       // results it was fitted to
    int64_t rows;       // of features, histories included
    double correlation; // Spearman's, of predicted and measured speed of the batch; NAN: no batch
    double recall;  // share of the `k` fastest of the batch among the `k` predicted fastest; NAN
    int k, batch;   // 0: no batch
    double seconds; // CPU time of fit and plan; for information only
    double bytes;   // of the model
};

// A model's prediction of the fitness of a configuration, with the noise of a measurement.
struct forecast {
    double mean, deviation;
    double half,
        nine_in_ten; // deviations from the mean that hold half, nine tenths of such results
};

// Returns the z-score of a result: how many deviations `fitness` is above the prediction.
double forecast_z_score(const struct forecast *f, double fitness);

// Counts what became of the guesses of a problem.
struct guess_report {
    int count, left; // all of them; neither proposed nor dropped so far
    int dropped;     // the model gave them no chance
};

struct strategy {
    const struct strategy_kind *kind;
};

enum strategy_learns { // use of problem.history
    LEARNS_NOTHING,
    LEARNS_ALL,    // like the strategy's own results
    LEARNS_WEIGHED // as far as it predicts the results here; so it may be of other devices
};

struct strategy_kind {
    const char *name, *help;
    const struct spec_option *options; // ends with a NULL name
    enum strategy_learns learns;
    bool (*is_async)(const struct strategy *s); // NULL: never
    // False and `e`: this build lacks a library that the strategy needs with these options. NULL:
    // every build can run it.
    bool (*possible)(const double *option, struct err *e);
    // `option[i]` belongs to options[i]; all are in range. NULL and `e`: the space does not suit.
    struct strategy *(*create)(const struct search_problem *problem, uint64_t seed,
                               const double *option, struct err *e);
    enum ask (*ask)(struct strategy *s, struct config *out);
    // NULL: the strategy ignores all results.
    void (*tell)(struct strategy *s, const struct config *c, enum outcome o, double fitness);
    // Called right before `tell` with the seconds that compiling and measuring took; 0: not known.
    // NULL: the strategy ignores them.
    void (*took)(struct strategy *s, const struct config *c, double seconds);
    // Gives the individuals that breed now, best first, at most `most`. Returns how many. NULL:
    // none.
    int (*population)(const struct strategy *s, int most, struct individual *out);
    int (*generation)(const struct strategy *s); // of the last configuration asked; NULL: always 0
    // Called right after ASK_NEW: gives the origin of that configuration. For each parameter it is
    // the number of the ask whose configuration its value was taken from (and perhaps mutated), or
    // 0 if the value was drawn. False: the configuration has no parents, because it was drawn,
    // given by the warm start, or chosen by a model. NULL: no configuration has parents.
    bool (*origin)(const struct strategy *s, int64_t ask[SPACE_MAX_PARAMS]);
    // After ASK_WAIT: returns a descriptor that becomes readable when the strategy can be asked
    // again. The strategy keeps and closes it. -1 (or NULL): the strategy waits for a result.
    int (*wait_fd)(const struct strategy *s);
    // Gives each refit once, oldest first; called after every ask and tell. False: none is left.
    // NULL: the strategy has no model.
    bool (*take_refit)(struct strategy *s, struct refit *out);
    // Called right after ASK_NEW: gives the prediction for that configuration, should it not fail.
    // False: there is none, because no model chose it. NULL: there never is one.
    bool (*forecast)(struct strategy *s, struct forecast *out);
    // NULL: the strategy does not use the guesses of a problem.
    struct guess_report (*guesses)(const struct strategy *s);
    void (*destroy)(struct strategy *s); // ends work under way early; NULL: as free
};

// All kinds, NULL-terminated, in the order of the help.
extern const struct strategy_kind *const strategy_kinds[];
const struct strategy_kind *strategy_find(const char *name); // NULL when unknown

// `spec` as spec_parse (search/spec.h) takes it.
struct strategy *strategy_create(const char *spec, const struct search_problem *problem,
                                 uint64_t seed, struct err *e);
// Returns whether this build can run it; false and `e`, which does not name the strategy, where a
// library is missing.
bool strategy_possible(const char *spec, struct err *e);
// Returns true if strategies of that kind fit models between batches (take_refit); false for an
// unknown kind.
bool strategy_has_model(const char *spec);
// Returns the use that strategies of that kind make of problem.history; LEARNS_NOTHING for an
// unknown kind.
enum strategy_learns strategy_learns(const char *spec);
// Returns the spec with every option written out, defaults too (heap, the caller's): the form that
// a session stores.
char *strategy_canonical(const char *spec, struct err *e);
// The circumstances of a search.
struct strategy_use {
    int workers;           // 0: not known
    bool tells_statistics; // the compiler reports statistics
    bool counts_seconds;   // the budget is of seconds, not of trials
};
// Returns the same for a search in this use. Options of the strategy that `spec` does not give are
// chosen: `ahead` becomes workers - 1, so that every worker has a trial; with statistics `look`
// becomes STRATEGY_LOOK and `shortlists` STRATEGY_SHORTLISTS; where seconds count, `cost` becomes
// STRATEGY_COST.
char *strategy_canonical_for(const char *spec, struct strategy_use use, struct err *e);
// Returns `spec` without its option `ahead` (heap, the caller's), so that strategy_canonical_for
// can choose it for another number of workers.
char *strategy_without_ahead(const char *spec);

// Writes a stored spec, of a strategy or a scheduler, for people: its name and the options that
// differ from the defaults, "walk ahead=1"; with `all` every option. Unknown names and options are
// kept. Options that `out` has no room for are left out. Returns `out`.
char *strategy_text(const char *spec, bool all, char out[STRATEGY_TEXT]);

enum ask strategy_ask(struct strategy *s, struct config *out);
void strategy_tell(struct strategy *s, const struct config *c, enum outcome o, double fitness);
int strategy_population(const struct strategy *s, int most, struct individual *out);
int strategy_generation(const struct strategy *s);
bool strategy_origin(const struct strategy *s, int64_t ask[SPACE_MAX_PARAMS]);
bool strategy_is_async(const struct strategy *s);
int strategy_wait_fd(const struct strategy *s);
// Waits until the descriptor of strategy_wait_fd is readable, for callers without other work. False
// at once if there is none:
//     while ((asked = strategy_ask(s, &c)) == ASK_WAIT && strategy_wait(s)) {
//     }
bool strategy_wait(struct strategy *s);
bool strategy_take_refit(struct strategy *s, struct refit *out);
// Returns what became of the guesses so far; zeroes if the strategy does not use them.
struct guess_report strategy_guesses(const struct strategy *s);
bool strategy_takes_guesses(const char *spec);
bool strategy_forecast(struct strategy *s, struct forecast *out);
void strategy_destroy(struct strategy *s);

#endif
