// A network of operators as the network screen shows it: a row an operator, and where time went.
//
//     count = network_list(model, unix_now, rows);     tasks; of an operator alone one
//     network_share(rows, count);
//     network_sort(rows, count, NETWORK_SHARE, true);
//     spending_add(&s, trial); spending_sum(&s, ran, workers)
//
// The objective of a network is the sum of uses x latency; an operator's share of it says what a
// faster kernel of it is worth. The rows are those of the network that is open, or whose task is.
//
// Time is what workers have: a window of running time times their number. Compiling, building
// pipelines and measuring are known of each trial; what is left was spent waiting for the device or
// for work, starting workers again, or judging and rendering.
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
    double weight;   // how many times its uses the user lets it count; 1 is the standard
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
// What has no value comes last either way.
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
    int64_t trials, timeouts, deaths;
};

void spending_add(struct spending *s, const struct trial *t); // in the order told
// Of the last SPENDING_SECONDS before running time `ran`, or of as much as the trials reach back.
struct spent spending_sum(const struct spending *s, double ran, int workers);

#endif
