// The columns of the tables of trials and re-timings, in the order of `trial_fields` and
// `retime_fields`: for those who write rows (trial_put.c) and those who read them (trial.c).
//
//     "SELECT session" TRIAL_FIELDS(AS_COLUMN) " FROM trial ..."
//     query_read_fields(&q, 1, FIELDS(trial_fields), arena, &record, &why);
#ifndef TILEWALK_STORE_TRIAL_ROW_H
#define TILEWALK_STORE_TRIAL_ROW_H

#include "store/row.h"

// clang-format off
#define TRIAL_FIELDS(F) \
    F(ask, ORDINAL) F(number, COUNT) F(told, COUNT) F(asked_after, COUNT) F(generation, COUNT) \
    F(key, TEXT) F(config, OBJECT) F(outcome, MAYBE_OUTCOME) F(phase, MAYBE_TEXT) \
    F(reason, MAYBE_TEXT) F(seconds, DURATION) F(samples, MAYBE_LIST) F(early_stopped, FLAG) \
    F(compile_s, SPAN) F(pipeline_s, SPAN) F(device_s, SPAN) F(worker, COUNT) F(elapsed_s, SPAN) \
    F(finished, SPAN) F(origin, MAYBE_ASKS) F(statistics, MAYBE_OBJECT)
#define RETIME_FIELDS(F) \
    F(ask, ORDINAL) F(kind, TEXT) F(seconds, SPAN) F(samples, MAYBE_LIST) F(verified, FLAG) F(at, SPAN)
// clang-format on

enum {
    TRIAL_FIELD_COUNT = TRIAL_FIELDS(AS_ONE),
    RETIME_FIELD_COUNT = RETIME_FIELDS(AS_ONE),
};
extern const struct field trial_fields[TRIAL_FIELD_COUNT];
extern const struct field retime_fields[RETIME_FIELD_COUNT];

#endif
