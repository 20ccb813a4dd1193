// A strategy of the tests' own, the only one in programs that link it: it fits a "model" on a
// thread after every batch, which decides the next batch. Its proposals are a function of all
// results that it got and of its histories, as those of a real one.
#ifndef TILEWALK_TESTS_LEARNER_H
#define TILEWALK_TESTS_LEARNER_H

#include <stdatomic.h>

#define LEARNER_BATCH 8

// Tests read and set these.
struct learner_control {
    atomic_int hold;    // the fit of this number (from 1, of the strategy) does not end by itself
    atomic_int started; // number of the latest fit
    atomic_int stopped; // fits that were asked to end early
    atomic_int asked;   // configurations given
    _Atomic double took_s; // what it was told that trials took, in all
};
extern struct learner_control learner;

#endif
