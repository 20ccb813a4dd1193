// The known formats, one record each, and what they share: costs and flat parameters. Internal to
// this folder.
//
// The first format whose members are all in the outermost object reads the file: `read` fills
// `recording` and seals its space. The records are in the files of their names; record.c lists
// them.
#ifndef TILEWALK_RECORD_FORMAT_H
#define TILEWALK_RECORD_FORMAT_H

#include "base/json.h"
#include "base/json_read.h"
#include "record/record.h"
#include "record/table.h"

struct format {
    const char *name;
    const char *what;       // for messages
    const char *members[3]; // ends with NULL
    bool (*read)(struct recording *r, struct json root, struct err *e);
    const char *open; // the last member, which may be unclosed; NULL: none may
    // Adds all members of the outermost object; NULL: the format is only read. The formats of
    // others have only times in seconds and flat parameters.
    void (*write)(const struct recording *r, struct json_writer *w);
};

extern const struct format format_tilewalk, format_kernel_tuner, format_clblast, format_ktt,
    format_t4, format_t1;

// The cost of a configuration in the formats of others.
//
// Times are in the unit of their file. A rate (GFLOP/s, GB/s: any name that ends in "/s") is better
// when higher, and is inverted: 12 GFLOP/s become 1/12 s/GFLOP, which orders configurations as the
// rate does. Where times are recorded too, runs keep their scatter: each is divided by the work,
// rate * time. Other objectives (energy, scores) are refused.
//
// Runs may be pairs [0, ms] (files of April 2025), where the recorded mean is wrong by half: the
// mean is then computed from the runs. A time of exactly 0 is no measurement (CLBlast writes three
// decimals): such an entry is wrong, not the optimum.

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

// Writes the runs in milliseconds; nothing where there are none.
void cost_add_runs(const struct record_entry *entry, const char *name, struct json_writer *w);
// Writes a duration in the unit of the file; nothing where it is NAN, not known.
void cost_add_duration(double duration, const char *name, struct json_writer *w);

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

// Returns a text; "" where it is none.
const char *cost_text(struct json v, struct arena *arena);
// Returns a duration in the file's unit as seconds; NAN unless it is a number from 0 up.
double cost_duration(struct json v, double scale);
// Returns the sum of the row's runs; NAN without runs.
double cost_run_sum(const struct table *t);
// Returns a + b, where a NAN counts as 0; NAN only where both are.
double cost_sum(double a, double b);

// Flat parameters, as in the formats of others: each is a number or a text. A list of n values, as
// of a factorization or a permutation, becomes n parameters, NAME_0 to NAME_n-1, which
// recording_declare joins to a list again.

// Fails where two parameters would have one name.
bool flat_check(const struct recording *r, struct err *e);
void flat_add_names(const struct space *s, struct json_writer *w);  // a text each
void flat_add_values(const struct space *s, struct json_writer *w); // NAME: what it can be
void flat_add_config(const struct space *s, const struct config *c, struct json_writer *w);
void flat_add_key(const struct space *s, const struct config *c, struct str *out); // "16,2,shared"

#endif
