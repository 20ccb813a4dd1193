// Checks kernels again before they are exported: on the device that they were measured on, they are
// compiled, run, compared with the reference on fresh inputs, and timed again in turns. Then each
// is soaked: run and compared 80 times more, and on a shape with cut-off tiles and one of three
// products, where its space has such.
//
//     struct reverified k = {.name = ..., .config = ..., .stored_s = ..., .samples = ...};
//     reverify(&session, script, &options, &k, 1, e);      k.again_s
//     reverify_add_text(&session, &k, &out);               "41.30 TFLOPS, 1.2 % faster than stored"
//
// A kernel passes when it is right and not much slower than its stored time. Unless the user sets
// another share, the limit is the larger of 5 % and three times the spread of its stored samples
// (1.4826 times their median absolute deviation, as a share of the stored time).
#ifndef TILEWALK_EXPORT_REVERIFY_H
#define TILEWALK_EXPORT_REVERIFY_H

#include "base/str.h"
#include "script/script.h"
#include "store/store.h"
#include "trial/source.h"
#include "trial/trial.h"

struct reverified {
    const char *name; // name of its files
    int64_t trial;
    struct config config;
    double stored_s;                // seconds of one run
    bool raced;                     // stored_s is from a final re-ranking, not from the search
    const char *samples;            // JSON array of the seconds behind stored_s; NULL: not known
    enum outcome outcome;           // out
    double again_s;                 // out, when ok
    int soaked;                     // out: runs of the soak that were right
    int shapes;                     // out: other shapes among them
    char reason[TRIAL_REASON_SIZE]; // out, when not ok
};

struct reverify_options {
    bool has_slower;
    double slower_percent; // allowed
    const char *fault;     // see pool_options.fault
    struct store *store;   // of the session; NULL: kernels are not soaked
};

// Measures all kernels on the session's device, verified and in turns; sets the `outcome` of each.
// False: no such device here, a session without one, or no worker. Blocks.
bool reverify_measure(const struct session_record *session, struct script *script,
                      const struct reverify_options *o, struct reverified *k, int count,
                      struct err *e);

// Checks that all kernels pass. False: no such device here, a session without one, or a kernel does
// not pass; `e` describes the first. Blocks; starts a worker process.
bool reverify(const struct session_record *session, struct script *script,
              const struct reverify_options *o, struct reverified *k, int count, struct err *e);

// Renders the configurations of a request, and waits for its result.
bool reverify_run(struct source *pool, struct script *script, struct trial_request *r,
                  struct trial_result *result, struct err *e);
// Takes a configuration over to the same space of another shape. False: it is not legal there.
bool reverify_fits(const struct script *script, const struct script *there,
                   const struct limits *limits, const struct config *config, struct config *out);

// Checks that again_s is within the limit.
bool reverify_judge(const struct reverified *k, const struct reverify_options *o, struct err *e);
void reverify_add_text(const struct session_record *r, const struct reverified *k, struct str *out);

#endif
