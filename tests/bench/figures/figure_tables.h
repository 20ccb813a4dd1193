// The table of a family: what each strategy came to on each of its problems, as `compare` says it.
//
//     struct figure_table t;
//     figure_table_begin(&t, &runs, family);
//     figure_table_take(&t, problem, FIGURE_TRIALS, compared, markdown);
//     figure_table_add_markdown(&t, &text);
//     figure_table_add_csv(&t, &text);
//     figure_table_end(&t);
//
// A mean is told in the words of compare's own table of that figure. That these are right is not
// taken on trust: the mean of what the database has as the best of each session has to be the same.
#ifndef TILEWALK_TESTS_FIGURE_TABLES_H
#define TILEWALK_TESTS_FIGURE_TABLES_H

#include "figure_sessions.h"

#include "base/str.h"

#include <cjson/cJSON.h>

enum { FIGURE_AXES = 3 }; // trials, seconds, per cent of the space

struct figure_cell {
    int runs; // 0: nothing was taken
    char mean[48];
    double tflops, deviation;
    double to[FIGURE_AXES]; // of the median run, to FIGURE_GOAL of the best known; NAN: most never
};

struct figure_table {
    const struct figure_runs *runs;
    const struct figure_family *family;
    struct figure_cell *cell; // of each problem, of each line
    int lines;
    unsigned axes; // the views that were taken
};

void figure_table_begin(struct figure_table *t, const struct figure_runs *runs,
                        const struct figure_family *family);
// What `compare` prints of a figure against the axis of a view: as JSON, and its Markdown. Ends the
// program where its means are not those of the sessions.
void figure_table_take(struct figure_table *t, const struct figure_problem *problem,
                       enum figure_view view, const cJSON *compared, const char *markdown);
// One table for the means, and one for each axis; CSV has a line of each problem and strategy.
void figure_table_add_markdown(const struct figure_table *t, struct str *out);
void figure_table_add_csv(const struct figure_table *t, struct str *out);
void figure_table_end(struct figure_table *t);

#endif
