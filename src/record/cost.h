// What a configuration cost, as others write it down. Internal to this folder.
//
// Times count in the unit of their file. A rate (GFLOP/s, GB/s: whatever ends in "/s") is better
// when higher, and is inverted: 12 GFLOP/s become 1/12 s/GFLOP, which orders configurations as the
// rate does. Where times are recorded too, runs keep their scatter: each is divided by the work
// that rate * time says. Other objectives (energy, scores) are refused.
//
// Runs may be pairs [0, ms] (files of April 2025), where the recorded mean is wrong by half: their
// mean is taken anew. A time of exactly 0 is no measurement (CLBlast writes three decimals): such
// an entry is wrong, not the optimum.
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

// "milliseconds", "miliseconds" (sic), "Microseconds", "ms", ...
bool cost_parse_unit(const char *word, double *scale);
// A text, a list of one text, or nothing: "time". `scale` of `out` is left alone.
bool cost_parse_objective(struct recording *r, struct json objective, struct cost *out,
                          struct err *e);

// The words of Kernel Tuner: "InvalidConfig", "CompilationFailedConfig", "RuntimeFailedConfig".
bool cost_parse_failure(struct json text, enum outcome *out);
const char *cost_failure(enum outcome o); // the word for what failed

// Written in milliseconds; nothing where there are none, or it is not known.
void cost_add_runs(const struct record_entry *entry, const char *name, struct json_writer *w);
void cost_add_duration(double seconds, const char *name, struct json_writer *w);

struct sample {
    double time, rate;    // in the file's units; NAN: not there
    struct json times;    // list, or none
    struct json position; // for messages
};
// Adds the runs to the row in the making and sets `entry->seconds`, or its outcome.
bool cost_settle(struct table *t, const struct cost *c, const struct sample *s,
                 struct record_entry *entry, struct err *e);

// Rows from a list, each by `read`, then the table's end. `name`: of the list, in messages ("the
// results").
typedef bool cost_reader(struct table *t, struct cost *c, struct json row, struct err *e);
bool cost_read_rows(struct table *t, struct cost *c, struct json list, const char *name,
                    cost_reader *read, struct err *e);

// A duration in the file's unit as seconds; NAN unless it is a number from 0 up.
double cost_duration(struct json v, double scale);
// The sum of the row's runs; NAN without runs.
double cost_run_sum(const struct table *t);
// a + b, where a NAN counts as 0; NAN only where both are.
double cost_sum(double a, double b);

#endif
