// The choice from a batch of compiled candidates, by a second surrogate: a Gaussian process whose
// inputs are the coordinates and the compiler's statistics (registers, spills and others).
//
//     compiler_surrogate_init(&s, &batches, &training, points);   then set up its `model`
//     compiler_surrogate_probe(&s, batch, probe);                 begins to compile the batch
//     if (!compiler_surrogate_choose(&s, batch, &rng)) ...        some of it is still compiling
//     compiler_surrogate_finish(&s);                              a zeroed one is fine
#ifndef TILEWALK_SEARCH_COMPILER_SURROGATE_H
#define TILEWALK_SEARCH_COMPILER_SURROGATE_H

#include "search/batches.h"
#include "search/training.h"

// The candidate batches of the next trials. A batch has the candidates with the highest acquisition
// values. One of them is proposed when the whole batch is compiled; meanwhile the batches of the
// later trials are made.
//
//     struct candidate_queue q = {.most = most, .batch = ...};
//     struct candidate_batch *b = &q.batch[q.count++];
//     *b = (struct candidate_batch){0};
//     candidate_batch_fill(b, &q, &candidates, acquisition, 3);
//
// The later batches assume that the first candidate of each earlier batch is chosen, and leave it
// out. The other candidates may occur in several batches.

struct candidate_batch {
    struct candidate candidate[PROBES_MOST];          // by acquisition value, the highest first
    double mean[PROBES_MOST], deviation[PROBES_MOST]; // predicted fitness
    int count;                                        // 0: the trial is a random one
    double xi;                                        // exploration weight that chose them
    bool is_local;                                    // of a local search (restart.h)
};

struct candidate_queue {
    struct candidate_batch *batch; // [most], in the order of their trials
    int most, count;
    bool closed; // no batch is added before the queue is empty
};

// Adds the candidates with the largest `acquisition` [c->count] until the batch has `most`. A NaN
// is never the largest. The batch is empty only if each candidate is the first one of a batch in
// `q`.
void candidate_batch_fill(struct candidate_batch *b, const struct candidate_queue *q,
                          const struct candidates *c, const double *acquisition, int most);

struct compiler_surrogate {
    const struct batches *batches; // these two outlive it
    struct training_set *training; // its `probes` are those of this struct
    struct compile_probes probes;
    struct gp model;
};

// The problem of the batches has a `probe`. `points`: as for training_init.
void compiler_surrogate_init(struct compiler_surrogate *s, const struct batches *batches,
                             struct training_set *training, int points);
void compiler_surrogate_finish(struct compiler_surrogate *s);

// Gets the statistics of the batch: [b->count]. False: some of it is being compiled.
bool compiler_surrogate_probe(const struct compiler_surrogate *s, const struct candidate_batch *b,
                              struct compile_probe *probe);
// Reduces the batch to one candidate: the one with the highest acquisition value among those that
// fit the device and are still new, else the first new one, else none. False: some of the batch, or
// of the archive, is still being compiled, and nothing has changed.
bool compiler_surrogate_choose(struct compiler_surrogate *s, struct candidate_batch *b,
                               struct rng *r);

#endif
