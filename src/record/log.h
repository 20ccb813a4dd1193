// Logs of tuners that write a JSON value a line, a measured configuration each, of any number of
// tasks. Internal to this folder.
//
//     const struct log_format *f = log_recognise(&source);     by its first line; NULL: no such log
//     log_read(f, &source, task, recording, e);
//
// A recording is of one task: of several, `task` (from 1) says which. A configuration
// that was measured again keeps its first result. The formats are in the files of their names;
// log.c lists them.
#ifndef TILEWALK_RECORD_LOG_H
#define TILEWALK_RECORD_LOG_H

#include "base/str.h"
#include "record/table.h"

struct log_task {
    struct str key;     // the same in all lines of the task, and in no other
    struct str title;   // "dense 1x512 1000x512", for people
    const char *device; // what it was measured on
};

struct log_format {
    const char *name; // "autotvm"
    const char *what; // for messages
    bool (*is)(struct json line);
    // Says which task the line is of. The texts of `out` are empty.
    bool (*task)(struct recording *r, struct json line, struct log_task *out, struct err *e);
    // Reads the line as a row; table_begin_row has been called.
    bool (*row)(struct table *t, struct json line, struct err *e);
    const char *refusal; // why such a log is not read; NULL: it is
};

extern const struct log_format log_autotvm, log_autotvm_old, log_ansor, log_meta_schedule,
    log_meta_workloads;

// `s` is changed: each of its lines becomes a text of its own.
const struct log_format *log_recognise(const struct json_source *s);
bool log_read(const struct log_format *f, struct json_source *s, int task, struct recording *r,
              struct err *e);

// Element `index` of a list; one without `at` where it has none.
struct json log_element(struct json list, int index);
// Adds "1x512" for a list of sizes; "(...)" for any other value.
void log_add_sizes(struct str *s, struct json sizes);
// Ends the row: its runs are the times of `costs`, in seconds, unless `outcome` is a failure or one
// of them is no time but a mark of 1e9 and more, which makes it a crash.
bool log_end_row(struct table *t, struct json costs, enum outcome outcome, double benchmark_s,
                 struct err *e);

#endif
