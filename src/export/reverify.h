// Kernels checked once more before they are given away: compiled, run and compared with the
// reference on fresh inputs, on the device that they were measured on, and timed again in turns.
//
//     struct reverified k = {.name = ..., .config = ..., .stored_s = ..., .samples = ...};
//     reverify(&session, script, &options, &k, 1, e);      k.again_s
//     reverify_add_text(&session, &k, &out);               "41.30 TFLOPS, 1.2 % faster than stored"
//
// A kernel passes when it is right and not slower than its stored time by more than what is
// allowed: the larger of 5 % and three times the spread of its stored samples (1.4826 times
// their median absolute deviation, as a share of the stored time), where the user names no other
// share.
#ifndef TILEWALK_EXPORT_REVERIFY_H
#define TILEWALK_EXPORT_REVERIFY_H

#include "base/str.h"
#include "script/script.h"
#include "store/store.h"
#include "trial/trial.h"

struct reverified {
    const char *name; // of its files
    int64_t trial;
    struct config config;
    double stored_s;      // seconds of one run
    bool raced;           // a race said so; else they are as measured in the search
    const char *samples;  // JSON array of seconds that stored_s comes from; NULL: not known
    enum outcome outcome; // out
    double again_s;       // out, of ok ones
    char reason[TRIAL_REASON_SIZE]; // out, of others
};

struct reverify_options {
    bool has_slower;
    double slower_percent; // allowed
    const char *fault;     // see pool_options.fault
};

// Measures all of them on the session's device, verified and in turns; those that fail say so in
// `outcome`. False: no such device here, a session without one, or no worker. Blocks.
bool reverify_measure(const struct session_record *session, struct script *script,
                      const struct reverify_options *o, struct reverified *k, int count,
                      struct err *e);

// All of them pass. False: no such device here, a session without one, or the first that does not
// pass, and why. Blocks; starts a worker process.
bool reverify(const struct session_record *session, struct script *script,
              const struct reverify_options *o, struct reverified *k, int count, struct err *e);

// Whether again_s is near enough to stored_s.
bool reverify_judge(const struct reverified *k, const struct reverify_options *o, struct err *e);
void reverify_add_text(const struct session_record *r, const struct reverified *k, struct str *out);

#endif
