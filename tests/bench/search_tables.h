// Simulated searches of many recordings as tables, in Markdown on stdout, beside Kernel Tuner's.
//
//     struct searched s = {.list = ..., .curve = ..., .recordings = 8, .strategies = 11};
//     search_tables_print(&s);
#ifndef TILEWALK_TESTS_SEARCH_TABLES_H
#define TILEWALK_TESTS_SEARCH_TABLES_H

#include "report/compare.h"
#include "simulate/curve.h"

struct searched {
    const struct simulation *list;       // recording by recording, strategy by strategy; run
    const struct simulated_curve *curve; // of each
    int recordings, strategies;
    const struct comparison_result *result; // over trials
    bool variants;                          // of the first: their means are enough
};

void search_tables_print(const struct searched *s);

#endif
