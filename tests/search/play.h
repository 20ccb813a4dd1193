// A search that the test plays: its strategy notes what it is asked and told, and results come in
// the order that the test chooses.
//
//     struct order order = {.count = 0};
//     do {
//         play_begin(&p, noter(false, 6), outcome, budget);
//         play_order(&p, &order, NULL);          to its end
//         ...p.strategy.log, p.cycle...
//     } while (next_order(&order));              all orders there are
//
// Everything here asserts instead of returning errors.
#ifndef TILEWALK_TESTS_PLAY_H
#define TILEWALK_TESTS_PLAY_H

#include "search/cycle.h"

enum { PLAY_MOST = 256, PLAY_ROOM = 3 };

struct noter {
    struct strategy base;
    bool is_async;
    int count; // it has so many configurations
    int batch; // and waits for all that was asked after each so many; 0: never
    int asked, told;
    char log[16 * PLAY_MOST]; // "a1 a2 t1 a3 "
};
extern const struct strategy_kind noter_kind;
struct noter noter(bool is_async, int count);

struct play {
    struct noter strategy;
    struct cycle cycle;
    struct cycle_trial trial[PLAY_MOST];
    const enum outcome *outcome; // by ask
    int64_t budget;
    int flying[PLAY_ROOM], in_flight;
};

// `outcome[ask - 1]`: what becomes of it.
void play_begin(struct play *p, struct noter strategy, const enum outcome *outcome, int64_t budget);
double play_seconds(int64_t ask);            // that are measured
void play_advance(struct play *p);           // as far as it goes without a result
void play_answer(struct play *p, int which); // gives the result of flying[which]

// Which of the results in flight comes next, each time. `seed` draws the choices that are not
// given; 0: the first one.
struct order {
    int choice[PLAY_MOST], among[PLAY_MOST], count;
    uint64_t seed;
};
// The next one of all orders, by the last choice that can be made otherwise. False: that was all.
bool next_order(struct order *o);
// To the end. `came`: the asks as their results came; may be NULL.
void play_order(struct play *p, struct order *o, int *came);
void play_drawn(struct play *p, uint64_t seed);

// The `pattern`-th of all ways in which `count` trials can be ok, fail or be rejected.
void draw_outcomes(long pattern, int count, enum outcome *out);

#endif
