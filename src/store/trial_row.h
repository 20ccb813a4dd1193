// The columns of the tables of trials and re-timings, in the order of `trial_fields` and
// `retime_fields`: for those who write rows (trial_put.c) and those who read them (trial.c).
//
//     "SELECT session" TRIAL_FIELDS(AS_COLUMN) " FROM trial ..."
//     query_read_fields(&q, 1, trial_fields, TRIAL_FIELD_COUNT, arena, &record);
#ifndef TILEWALK_STORE_TRIAL_ROW_H
#define TILEWALK_STORE_TRIAL_ROW_H

#include "store/db.h"

// clang-format off
#define TRIAL_FIELDS(F) \
    F(ask) F(number) F(told) F(asked_after) F(generation) F(key) F(config) F(outcome) F(phase) F(reason) \
    F(seconds) F(samples) F(early_stopped) F(compile_s) F(pipeline_s) F(device_s) F(worker) \
    F(elapsed_s) F(finished) F(origin)
#define RETIME_FIELDS(F) F(ask) F(kind) F(seconds) F(samples) F(verified) F(at)
// clang-format on

#define AS_ONE(name) +1
enum {
    TRIAL_FIELD_COUNT = TRIAL_FIELDS(AS_ONE),
    RETIME_FIELD_COUNT = RETIME_FIELDS(AS_ONE),
};
extern const struct field trial_fields[TRIAL_FIELD_COUNT];
extern const struct field retime_fields[RETIME_FIELD_COUNT];

#endif
