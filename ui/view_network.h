// A network of operators as the network screen shows it: a row for each operator, and the use of
// time.
//
//     count = network_list(model, unix_now, rows);     tasks; of an operator alone one
//     network_share(rows, count);
//     network_sort(rows, count, NETWORK_SHARE, true);
//     spending_add(&s, trial); spending_sum(&s, ran, workers)
//
// The objective of a network is the sum of uses x latency; an operator's share of it is what a
// faster kernel could save. The rows belong to the network that is open, or to that of the open
// task.
//
// The time of workers is a window of running time times their number. Each trial has its times of
// compiling, building pipelines and measuring; the rest was spent waiting for the device or for
// work, starting workers again, or judging and rendering.
//
// One thread.
#ifndef TILEWALK_UI_VIEW_NETWORK_H
#define TILEWALK_UI_VIEW_NETWORK_H

#include "model.h"

#define NETWORK_MOST     256
#define SPENDING_SECONDS 300.0
#define SPENDING_MOST    4096 // newest trials that are looked at

struct network_row {
    int64_t session; // 0: it had no round yet
    bool known;      // tuned before
    bool pinned;     // the user wants it to get every round
    double weight;   // the user's factor on its uses; 1 is the standard
    char operation[64], shape[64];
    int uses;
    double start_s, best_s; // of one run; 0: nothing valid yet
    double share;           // of the objective, 0 .. 1
    int64_t trials;
    double gain_age; // running time since it last got faster; negative: it never has
    double next;     // 1: it has the round that runs; negative: it has not
};

enum network_column {
    NETWORK_OPERATION,
    NETWORK_SHAPE,
    NETWORK_USES,
    NETWORK_START,
    NETWORK_BEST,
    NETWORK_SHARE,
    NETWORK_TRIALS,
    NETWORK_GAIN,
    NETWORK_NEXT,
    NETWORK_WEIGHT, // shown where one is not 1
    NETWORK_COLUMNS
};

int network_list(const struct model *m, double unix_now, struct network_row out[NETWORK_MOST]);
void network_share(struct network_row *row, int count);
double network_latency(const struct network_row *row, int count, bool at_start); // 0: not all known
// Rows without a value come last in both orders.
void network_sort(struct network_row *row, int count, enum network_column by, bool descending);

struct spending_entry {
    double elapsed_s, compile_s, pipeline_s, device_s;
    enum outcome outcome;
};

struct spending { // all zero at first
    struct spending_entry entry[SPENDING_MOST];
    int64_t count; // ever; entry n is at n % SPENDING_MOST
};

struct spent {     // seconds
    double window; // of running time
    double all;    // of all workers
    double compile, pipeline, device, other;
    double device_busy; // 0 .. 1 of the window
    int64_t trials, timeouts, crashes;
};

void spending_add(struct spending *s, const struct trial *t); // in the order of results
// Sums the last SPENDING_SECONDS before running time `ran`, or as much as the kept trials cover.
struct spent spending_sum(const struct spending *s, double ran, int workers);

#endif
