// A bandit that chooses the next of several searches: one whose recent uses brought new bests, or
// one that was seldom used (OpenTuner's AUC bandit: Fialho and others 2010, Ansel and others 2014).
//
//     struct credit c;
//     credit_init(&c, arms, window, explore);
//     int arm = credit_choose(&c, usable);
//     credit_use(&c, arm, gained);
//     credit_finish(&c);
//
// Only the last `window` uses of all arms count. If an arm has n uses among them, v_i is 1 where
// the i-th use, oldest first, brought a new best, else 0. The credit of the arm is the area under
// the curve of the sum of v, as a share: 2 / (n (n + 1)) * sum of i v_i. So recent gains count
// more.
#ifndef TILEWALK_TESTS_PORTFOLIO_H
#define TILEWALK_TESTS_PORTFOLIO_H

#include <stdbool.h>

struct credit_use {
    int arm;
    bool gained;
};

struct credit {
    int arms, window;
    double explore;         // weight of exploration
    struct credit_use *use; // [window], a ring
    int count, next;        // number of uses; place of the next one
};

void credit_init(struct credit *c, int arms, int window, double explore); // window >= 1
void credit_finish(struct credit *c);

void credit_use(struct credit *c, int arm, bool gained);
// Returns the credit, in [0, 1], 0 without a use, and the number of uses.
double credit_of(const struct credit *c, int arm, int *uses);
// Returns the arm with the largest credit + explore * sqrt(2 ln(uses of all) / its uses), of equals
// the first; an arm without uses comes before all others. -1: none is usable.
int credit_choose(const struct credit *c, const bool *usable);

#endif
