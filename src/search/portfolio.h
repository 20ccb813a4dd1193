// Which of several searches goes next: the one whose late uses brought new bests, or that was
// seldom used (OpenTuner's AUC bandit: Fialho and others 2010, Ansel and others 2014).
//
//     struct credit c;
//     credit_init(&c, arms, window, explore);
//     int arm = credit_choose(&c, usable);
//     credit_use(&c, arm, gained);
//     credit_finish(&c);
//
// Only the last `window` uses of all arms count. Of the n uses of an arm among them, oldest first,
// v_i is 1 where the i-th brought a new best and else 0; its credit is the area under the curve of
// the sum of v, as a share: 2 / (n (n + 1)) * sum of i v_i. So late gains count more.
#ifndef TILEWALK_SEARCH_PORTFOLIO_H
#define TILEWALK_SEARCH_PORTFOLIO_H

#include <stdbool.h>

struct credit_use {
    int arm;
    bool gained;
};

struct credit {
    int arms, window;
    double explore;         // what being used seldom is worth
    struct credit_use *use; // [window], a ring
    int count, next;        // uses there are; where the next one goes
};

void credit_init(struct credit *c, int arms, int window, double explore); // window >= 1
void credit_finish(struct credit *c);

void credit_use(struct credit *c, int arm, bool gained);
double credit_of(const struct credit *c, int arm); // in [0, 1]; 0 without a use
// The arm with the largest credit + explore * sqrt(2 ln(uses of all) / its uses), of equals the
// first; one that has no use comes before all others. -1: none is usable.
int credit_choose(const struct credit *c, const bool *usable);

#endif
