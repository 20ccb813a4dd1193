// A comparison as text, Markdown, CSV or JSON: one line for each group, best first.
//
//     comparison_add_text(&result, &looks, &out);
//
// Shares of the best known are per cent in text and Markdown, plain numbers in CSV and JSON. A
// value that is not known is "-", empty, or null. Columns in which no group has a value are left
// out of text and Markdown only, so that programs always find the same columns.
#ifndef TILEWALK_REPORT_COMPARE_TABLE_H
#define TILEWALK_REPORT_COMPARE_TABLE_H

#include "base/json.h"
#include "report/compare.h"

// A table whose cells are made one at a time; row -1 is the head. The last column has words, the
// others numbers, which are aligned to the right.
struct table {
    int rows, columns;
    void (*add_cell)(const void *context, int row, int column, struct str *out);
    const void *context;
};
void table_add_text(const struct table *t, struct str *out);
void table_add_markdown(const struct table *t, struct str *out);

enum comparison_unit {
    COMPARISON_FLOPS, // levels are floating point operations a second
    COMPARISON_SHARE, // levels are shares of the fastest, times 10^12
    COMPARISON_RATE,  // levels are runs a second
    COMPARISON_PLAIN  // the unit of levels is not known here
};

struct comparison_looks {
    enum comparison_unit unit;
    const char *rate_unit; // COMPARISON_FLOPS: the unit that is shown; NULL: FLOPS
    double rate_flop;      // how many FLOP one of `rate_unit` is
    const char *cost_unit; // of runs, of which less is better (report/text.h); NULL: a rate counts
    bool ascii;            // "+-" instead of the sign
};

void comparison_add_text(const struct comparison_result *r, const struct comparison_looks *looks,
                         struct str *out);
void comparison_add_markdown(const struct comparison_result *r,
                             const struct comparison_looks *looks, struct str *out);
// Adds CSV by RFC 4180: letter, strategy, runs, best, mean, mean_std, at_X and at_X_std, area,
// area_std, to_90 ..., score, rank, p (against the first).
void comparison_add_csv(const struct comparison_result *r, struct str *out);
// Adds the members of a group's object, without braces, so that a caller can add others
// (docs/reference/json.md).
void comparison_add_group_json(const struct comparison_result *r, int group,
                               enum comparison_unit unit, struct json_writer *w);

#endif
