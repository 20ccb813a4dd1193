// Base of the surrogate-based strategies: results as rows of features, results of other sessions,
// and a fit that plans the next batch on its own thread.
//
//     static const struct surrogate_kind kind = {plan, predict, rate};
//     surrogate_init(&s->surrogate, &kind, s, problem, &settings, e);
//     surrogate_finish(&s->surrogate);
//
// Such a strategy is a struct that begins with a struct surrogate; its kind has .ask =
// surrogate_ask and the other functions below.
//
// The search proposes in batches (batches.h) of size `batch`. When a batch is observed, plan() fits
// the model to `samples` and calls surrogate_propose for the next configurations, best first. It
// runs on its own thread, and ask returns ASK_WAIT until it is done. The next batch has the warm
// points, then the proposals in their order, then uniform draws for the places that are left. While
// there is nothing to learn from (no valid result and no history), a batch has draws only.
//
// plan() must be a function of the samples and of random numbers of the strategy, so that the
// proposals depend on the order of asks and tells alone. It may use `samples`, `features`,
// `batches.archive` (to find configurations, or to draw) and the functions marked [plan].
//
// Where the compiler reports statistics, the proposals that plan() marks with surrogate_contest are
// compiled first, `look` times as many as there are places. A second model, fitted to the search's
// own results with these statistics as features, chooses among those that fit the device.
//
// Labels are speeds relative to the best of their task: 1 is the best, 0 failed. A task is the
// search itself, or a history with the same features. Histories with fewer than 50 records together
// are not used.
#ifndef TILEWALK_SEARCH_SURROGATE_H
#define TILEWALK_SEARCH_SURROGATE_H

#include "base/task.h"
#include "model/features.h"
#include "search/batches.h"

// Programs as rows of features, each program with a label: the training data of a cost model.
//
//     struct samples s = {.width = features_width(f)}; // empty and valid
//     int program = samples_add(&s, f, &c);            // y may have moved
//     s.y[program] = label;
//     samples_add_wider(&wider, &s, program, more);
//     samples_finish(&s);

struct samples {
    float *x;   // rows * width
    float *y;   // label of each program
    int *first; // [programs + 1] first row of each; one row each except for FEATURES_STATEMENTS
    int programs, rows, width;
    int row_capacity, capacity;
};

int samples_add(struct samples *s, struct features *f, const struct config *c); // its program
// Adds a program of `of`, with its label, to samples with wider rows; each row ends with `more`.
void samples_add_wider(struct samples *s, const struct samples *of, int program,
                       const double *more);
void samples_finish(struct samples *s);

enum { SURROGATE_FEWEST_RECORDS = 50 };

struct surrogate_kind {
    // Fits the model to the samples and calls surrogate_propose for the next configurations.
    // Returns early once `stop` is set. False: no model was fitted, because there was too little to
    // learn from or `stop` was set; the proposals made by then still count.
    bool (*plan)(void *self, const atomic_bool *stop);
    // Predicts the speed of each configuration, in any unit, with the model of the last plan() that
    // returned true.
    void (*predict)(void *self, const struct config *config, int count, float *out);
    // Fits a model to `known` and rates each program of `asked` by it; larger is better. The rows
    // of both end with the compiler's statistics. False: no model; then `out` is unchanged.
    bool (*rate)(void *self, const struct samples *known, const struct samples *asked, float *out,
                 const atomic_bool *stop);
};

struct surrogate_settings {
    enum feature_kind features;
    int batch; // size
    int look;  // configurations compiled for each place, where the compiler reports statistics
    uint64_t seed;
};

struct surrogate {
    struct batches batches; // first: such a strategy proposes in batches
    const struct surrogate_kind *kind;
    void *self;     // the strategy
    struct rng rng; // of the draws
    int batch;
    double best; // highest speed among the search's own results

    struct features *features;
    struct samples samples; // those of histories first, then every result in the order asked
    int history;            // number of samples that come from histories
    double model_bytes;     // [plan] sets it

    // The plan under way, or the one that the next batch is made of.
    struct task *task;
    enum { SURROGATE_IDLE, SURROGATE_FITTING, SURROGATE_CHOOSING } stage;
    struct config_set proposal;
    int look;               // 1: nothing is compiled before it is chosen
    int contenders, places; // the first proposals compete for so many places
    struct compile_probes probes;
    struct compile_probe *probe; // [contenders]
    struct refit report;         // plan() may change `told`
    bool fitted;                 // plan() returned true

    float *predicted; // speeds of the newest batch, where has_predicted
    bool has_predicted;
    struct config_set judged; // configurations whose legality is known,
    bool *legal;              // and the verdict on each
    int legal_capacity;
    struct refit *refit; // queue for surrogate_take_refit
    int refits, taken, refit_capacity;
};

// False and `e`: the space has no such features. Not moved afterwards.
bool surrogate_init(struct surrogate *s, const struct surrogate_kind *kind, void *self,
                    const struct search_problem *problem, const struct surrogate_settings *settings,
                    struct err *e);
void surrogate_finish(struct surrogate *s); // called before the memory that plan() uses is freed

// The functions below are members of the strategy's kind.
enum ask surrogate_ask(struct strategy *s, struct config *out);
void surrogate_tell(struct strategy *s, const struct config *c, enum outcome o, double fitness);
int surrogate_wait_fd(const struct strategy *s);
bool surrogate_take_refit(struct strategy *s, struct refit *out);

// [plan] Returns true if `c` is new, not proposed either, and legal. Remembers verdicts. `self` is
// the strategy.
bool surrogate_allows(void *self, const struct config *c);
// [plan] Returns true if `c` is allowed, or in the archive.
bool surrogate_knows(void *self, const struct config *c);
// [plan] Proposes `c` if it is allowed. Proposals beyond the size of a batch are dropped.
bool surrogate_propose(struct surrogate *s, const struct config *c);
// [plan] Says that the proposals so far compete for `places` places.
void surrogate_contest(struct surrogate *s, int places);

#endif
