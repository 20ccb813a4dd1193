// What the strategies with a cost model share: results as rows of features, what other sessions
// measured before, and a plan for the next round that is made on a thread of its own.
//
//     static const struct learner_kind kind = {plan, predict};
//     learner_init(&s->learner, &kind, s, problem, &settings, e);
//     learner_finish(&s->learner);
//
// Such a strategy is a struct that begins with a struct learner; its kind has .ask = learner_ask
// and the other functions below.
//
// A search goes in rounds (rounds.h) of `batch`. When a round was told, plan() fits the model to
// `samples` and calls learner_propose for what should be asked next, best first; where the learner
// has something to learn from, that is on a thread of its own, and ask says ASK_WAIT until it is
// done. The round is then: warm points, proposals in their order, and uniform draws for the places
// that are left. Before there is anything to learn from (no result but failures, no history) the
// round is draws only.
//
// plan() must be a function of the samples and of random numbers of the strategy's own: then what
// is asked depends on the order of asks and tells alone. Inside plan(), nothing but `samples`,
// `features`, `rounds.visited` (to look things up, or to draw from) and the functions marked [plan]
// is used.
//
// Where the driver tells of what it compiles, what the plan marks with learner_contest is compiled
// first, `look` times as many as there are places, and a second model chooses among those that fit:
// it is fitted to the search's own results, and knows what the driver says of them and of these.
//
// Labels are speeds, each relative to the best of its own task: 1 is the best, 0 failed. Tasks are
// the search itself and each history whose rows mean the same; those with fewer than 50 records
// together are not used.
#ifndef TILEWALK_SEARCH_LEARNER_H
#define TILEWALK_SEARCH_LEARNER_H

#include "base/task.h"
#include "model/features.h"
#include "search/rounds.h"

// Programs as rows of features, each with a label: what a cost model learns from.
//
//     struct samples s = {.width = features_width(f)}; // empty and valid
//     int program = samples_add(&s, f, &c); // y may have moved
//     s.y[program] = label;
//     samples_add_wider(&wider, &s, program, more);
//     samples_finish(&s);

struct samples {
    float *x;   // rows * width
    float *y;   // label of each program
    int *first; // [programs + 1] where its rows begin; one each but for FEATURES_STATEMENTS
    int programs, rows, width;
    int row_capacity, capacity;
};

int samples_add(struct samples *s, struct features *f, const struct config *c); // its program
// Adds a program of `of`, with its label, where rows are wider: each of its rows ends with `more`.
void samples_add_wider(struct samples *s, const struct samples *of, int program,
                       const double *more);
void samples_finish(struct samples *s);

enum { LEARNER_FEWEST_RECORDS = 50 };

struct learner_kind {
    // Fits the model to the samples and calls learner_propose for what should be asked next.
    // Returns early once `stop` is set. False: no model was fitted, since there was too little to
    // learn from or `stop` was set; what had been proposed by then is asked all the same.
    bool (*plan)(void *self, const atomic_bool *stop);
    // Predicts the speed of each configuration, in any unit, with the model of the last plan() that
    // returned true.
    void (*predict)(void *self, const struct config *config, int count, float *out);
    // Fits a model to `known` and rates each program of `asked` by it, the better the larger. The
    // rows of both end with what the driver says. False: no model; then `out` is as it was.
    bool (*rate)(void *self, const struct samples *known, const struct samples *asked, float *out,
                 const atomic_bool *stop);
};

struct learner_settings {
    enum feature_kind features;
    int batch; // of a round
    int look;  // how many are compiled for a place, where the driver tells
    uint64_t seed;
};

struct learner {
    struct rounds rounds; // first: a learner is a strategy in rounds
    const struct learner_kind *kind;
    void *self;     // the strategy
    struct rng rng; // of the draws
    int batch;
    double best; // highest speed among the search's own results so far

    struct features *features;
    struct samples samples; // those of histories first, then every result in the order asked
    int history;            // how many samples come from histories
    double model_bytes;     // [plan] sets it

    // Of the plan under way, or of the one that the next round is made of.
    struct task *task;
    enum { LEARNER_RESTS, LEARNER_PLANS, LEARNER_CHOOSES } stage;
    struct config_set proposal;
    int look;               // 1: nothing is compiled before it is chosen
    int contenders, places; // so many of the first proposals are for so many places
    struct looks looks;
    struct preview *said; // [contenders]
    struct refit report;  // its `told`, `rows` and `seconds`
    bool fitted;          // plan() returned true

    float *predicted; // speeds of the newest round, where has_predicted
    bool has_predicted;
    struct config_set judged; // the configurations that learner_allows was asked about,
    bool *verdict;            // and what the problem said of each: legal or not
    int verdict_capacity;
    struct refit *refit; // queue of those that learner_take_refit has not given yet
    int refits, taken, refit_capacity;
};

// False and `e`: the space has no such features. Not moved afterwards.
bool learner_init(struct learner *l, const struct learner_kind *kind, void *self,
                  const struct search_problem *problem, const struct learner_settings *settings,
                  struct err *e);
void learner_finish(struct learner *l); // call it before what plan() uses goes away

// For the kind of the strategy.
enum ask learner_ask(struct strategy *s, struct config *out);
void learner_tell(struct strategy *s, const struct config *c, enum outcome o, double fitness);
int learner_wait_fd(const struct strategy *s);
bool learner_take_refit(struct strategy *s, struct refit *out);

// [plan] Whether `c` is new (not proposed either) and legal. Verdicts are remembered.
bool learner_allows(struct learner *l, const struct config *c);
// [plan] Proposes it if it is allowed. Proposals beyond a round's places are dropped.
bool learner_propose(struct learner *l, const struct config *c);
// [plan] What was proposed so far is for `places` places, of which it fills `look` times as many.
void learner_contest(struct learner *l, int places);

#endif
