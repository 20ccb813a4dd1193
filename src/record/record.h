// Recorded spaces: the result of every configuration of a kernel on a device, to search again
// without the device.
//
//     struct recording *r;
//     recording_read("gemm-RTX_3090.json.gz", &r, e);      any known format, packed or not
//     const struct record_entry *found = recording_find(r, &config);
//     recording_write(r, "tilewalk", "gemm.json", e);      our own format
//     recording_write(r, "t4", "gemm-t4.json", e);         another one
//     recording_destroy(r);
//
// Made by hand: recording_create, parameters by space_add to its space, recording_seal_space,
// recording_add for each configuration, recording_finish.
//
// Formats (recognised by content): Kernel Tuner cache files, T4 results, KTT output, CLBlast tuner
// output, logs of AutoTVM and tuning records of MetaSchedule (a line each, record/log.h), our own,
// and T1 inputs, which declare parameters and conditions and have no entries.
// Topology is inferred where a format has none: a parameter whose values are all numbers is
// discrete, with the declared values (else those that occur), any other is categorical. Parameters
// keep the order of declaration, constants stay as parameters of size 1.
//
// A space with entries has one constraint, "recorded": there is an entry. In an exhaustive
// recording the absent configurations are those that the kernel's own restrictions forbid. A space
// without entries has the conditions of its T1 input instead.
//
// Nothing changes after recording_finish: any number of threads may use a recording.
#ifndef TILEWALK_RECORD_RECORD_H
#define TILEWALK_RECORD_RECORD_H

#include "space/outcome.h"
#include "space/space.h"

struct record_entry {
    enum outcome outcome;
    double seconds;   // mean of the runs, > 0; 0 unless the outcome is ok
    double compile_s; // wall time; NAN: not recorded
    // Wall time of all runs and of verifying their results; NAN: not recorded.
    double benchmark_s;
    const double *runs; // seconds each, `run_count` of them, which may be 0
    int run_count;
};

struct recording {
    struct arena arena; // the texts
    const char *name;   // of the file, without its endings
    const char *path;
    const char *format; // "kernel-tuner", "t4", "ktt", "clblast", "autotvm", "metaschedule",
                        // "tilewalk", "t1"
    const char *kernel, *device;
    // The unit of `seconds`: "s"; "s/GFLOP" where a rate of GFLOP/s was recorded, inverted; or the
    // objective (space/objective.h) whose costs they are.
    const char *unit;
    double flop; // floating-point operations of a run; 0: not known, or the unit is not "s"
    struct space *space;

    int count;
    struct record_entry *entry; // in the order of the file
    struct config_set configs;  // with the same indices

    int outcomes[OUTCOME_COUNT]; // the count of each; [OUTCOME_OK] are valid
    int best;                    // the fastest entry (the first of several), -1 without entries
    double median;               // of the valid entries; NAN without any

    double *run; // of all entries
    size_t run_count, run_capacity;
    int entry_capacity;
};

// Errors have the form `file:line: what (hint)`. `*out` is the caller's.
bool recording_read(const char *path, struct recording **out, struct err *e);
// The same of task `task` (from 1) of a log, which may hold several; 0: the only one.
bool recording_read_task(const char *path, int task, struct recording **out, struct err *e);
// Writes the format "tilewalk", or for other tools "kernel-tuner" or "t4". Those have times only: a
// unit that is not "s" is an error. They have no topology, and fewer outcomes: a driver that
// refused a kernel becomes a failed compilation, a lost device a failed run.
bool recording_write(const struct recording *r, const char *format, const char *path,
                     struct err *e);
void recording_destroy(struct recording *r);

// NULL: it was not recorded.
const struct record_entry *recording_find(const struct recording *r, const struct config *c);
bool recording_has_costs(const struct recording *r); // any entry has compile_s or benchmark_s

// Creates a recording with the name in `path`. Texts are copied.
struct recording *recording_create(const char *path, const char *format);
// Adds the parameters of another space, with their topology, to `r->space`.
bool recording_add_params(struct recording *r, const struct space *like, struct err *e);
// Adds the constraint "recorded" and seals.
bool recording_seal_space(struct recording *r, struct err *e);
// Copies `entry` and its runs. `*was_new` is false if the configuration has an entry already, which
// does not change then.
void recording_add(struct recording *r, const struct config *c, const struct record_entry *entry,
                   bool *was_new);
// Fails unless one entry is valid.
bool recording_finish(struct recording *r, struct err *e);

// A recording on a declared topology: the same entries, on the parameters of another space (that of
// a space file, so that its kinds, edges and orders count in a replay).
//
//     struct record_fit fit;
//     recording_declare(recorded, declared, &out, &fit, e);
//
// Parameters are matched by name. Where the recording has no parameter TILE, a declared list of n
// values takes n recorded parameters of one value each: TILE_0 .., TILE_1 .., TILE[0] .. or TILE[1]
// .., the first of these that are complete. A parameter that only one side has must have one value.
//
// Numbers are matched by value, texts by their letters, lists item by item. A value that is
// recorded and not declared is an error; one that is declared and not recorded is absent, like any
// configuration without an entry.

// Valid entries that the constraints of the declared space forbid. They stay: the recording wins.
struct record_fit {
    int forbidden;
    int first;        // entry, from 0; meaningless without any
    char reason[160]; // why it is forbidden
};

// `declared` is sealed; `*out`, the caller's, does not refer to it or to `from`. Errors name the
// parameter, and the entry (from 1) and value where they concern one.
bool recording_declare(const struct recording *from, const struct space *declared,
                       struct recording **out, struct record_fit *fit, struct err *e);

#endif
