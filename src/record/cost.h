// The cost of a configuration in the formats of others. Internal to this folder.
//
// Times are in the unit of their file. A rate (GFLOP/s, GB/s: any name that ends in "/s") is better
// when higher, and is inverted: 12 GFLOP/s become 1/12 s/GFLOP, which orders configurations as the
// rate does. Where times are recorded too, runs keep their scatter: each is divided by the work,
// rate * time. Other objectives (energy, scores) are refused.
//
// Runs may be pairs [0, ms] (files of April 2025), where the recorded mean is wrong by half: the
// mean is then computed from the runs. A time of exactly 0 is no measurement (CLBlast writes three
// decimals): such an entry is wrong, not the optimum.
#ifndef TILEWALK_RECORD_COST_H
#define TILEWALK_RECORD_COST_H

#include "base/json.h"
#include "record/table.h"

struct cost {
    const char *objective; // "time", "GFLOP/s"
    bool rate;
    const char *unit; // "s", "s/GFLOP"
    double scale;     // seconds of one unit of the file
};

// Parses "milliseconds", "miliseconds" (sic), "Microseconds", "ms", ...
bool cost_parse_unit(const char *word, double *scale);
// Parses a text, a list of one text, or nothing: "time". Does not change `scale` of `out`.
bool cost_parse_objective(struct recording *r, struct json objective, struct cost *out,
                          struct err *e);

// Parses the words of Kernel Tuner: "InvalidConfig", "CompilationFailedConfig",
// "RuntimeFailedConfig".
bool cost_parse_failure(struct json text, enum outcome *out);
const char *cost_failure(enum outcome o); // the word for what failed

// These write milliseconds; nothing where there are no runs, or the duration is not known.
void cost_add_runs(const struct record_entry *entry, const char *name, struct json_writer *w);
void cost_add_duration(double seconds, const char *name, struct json_writer *w);

struct sample {
    double time, rate;    // in the file's units; NAN: not there
    struct json times;    // list, or none
    struct json position; // for messages
};
// Adds the runs to the current row and sets `entry->seconds`, or its outcome.
bool cost_settle(struct table *t, const struct cost *c, const struct sample *s,
                 struct record_entry *entry, struct err *e);

// Reads rows from a list, each by `read`, then finishes the table. `name` is that of the list in
// messages ("the results").
typedef bool cost_reader(struct table *t, struct cost *c, struct json row, struct err *e);
bool cost_read_rows(struct table *t, struct cost *c, struct json list, const char *name,
                    cost_reader *read, struct err *e);

// Returns a duration in the file's unit as seconds; NAN unless it is a number from 0 up.
double cost_duration(struct json v, double scale);
// Returns the sum of the row's runs; NAN without runs.
double cost_run_sum(const struct table *t);
// Returns a + b, where a NAN counts as 0; NAN only where both are.
double cost_sum(double a, double b);

#endif
