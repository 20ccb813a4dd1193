// The columns of the tables of trials and re-timings, in the order of `trial_fields` and
// `retime_fields`.
//
//     "SELECT session" TRIAL_FIELDS(AS_COLUMN) " FROM trial ..."
//     query_read_fields(&q, 1, FIELDS(trial_fields), arena, &record, &why);
#ifndef TILEWALK_STORE_TRIAL_ROW_H
#define TILEWALK_STORE_TRIAL_ROW_H

#include "store/row.h"

// clang-format off
#define TRIAL_FIELDS(F) \
    F(ask, ORDINAL) F(number, COUNT) F(told, COUNT) F(asked_after, COUNT) F(generation, COUNT) \
    F(key, TEXT) F(config, OBJECT) F(outcome, OUTCOME) F(phase, MAYBE_TEXT) \
    F(reason, MAYBE_TEXT) F(seconds, DURATION) F(samples, MAYBE_LIST) F(early_stopped, FLAG) \
    F(compile_s, SPAN) F(pipeline_s, SPAN) F(device_s, SPAN) F(worker, COUNT) F(elapsed_s, SPAN) \
    F(finished, SPAN) F(origin, MAYBE_ASKS) F(statistics, MAYBE_OBJECT) \
    F(clocks, MAYBE_OBJECT) F(drift, AMOUNT) F(machine, MAYBE_TEXT) \
    F(parts, MAYBE_LIST) F(build, MAYBE_TEXT)
#define RETIME_FIELDS(F) \
    F(ask, ORDINAL) F(kind, TEXT) F(seconds, SPAN) F(samples, MAYBE_LIST) F(verified, FLAG) F(at, SPAN) \
    F(parts, MAYBE_LIST)
// clang-format on

// The condition of a damaged row by its types and numbers alone. It is the condition of an index,
// so that a list of sessions finds such rows without reading others. SQLite uses the index only for
// exactly this text; changing it needs a version of the schema that makes the index anew.
// clang-format off
#define WHOLE(column)      "typeof(" #column ") = 'integer' AND " #column " >= 0 AND "
#define MAYBE_TEXT(column) "typeof(" #column ") IN ('text', 'null') AND "
#define SPAN(column)       "ifnull(" #column ", 0) BETWEEN 0 AND 1e12 AND "
#define TRIAL_IS_DAMAGED \
    "(ask > 0 AND " WHOLE(ask) WHOLE(number) WHOLE(told) WHOLE(asked_after) WHOLE(generation) \
    "typeof(key) = 'text' AND typeof(config) = 'text' AND " MAYBE_TEXT(outcome) MAYBE_TEXT(phase) \
    MAYBE_TEXT(reason) MAYBE_TEXT(samples) MAYBE_TEXT(origin) MAYBE_TEXT(statistics) \
    "seconds BETWEEN 0 AND 1e12 AND (outcome IS NOT 'ok' OR seconds > 0) AND " \
    SPAN(compile_s) SPAN(pipeline_s) SPAN(device_s) SPAN(elapsed_s) SPAN(finished) WHOLE(worker) \
    "early_stopped IN (0, 1)) IS NOT TRUE"
// clang-format on

// Calls `each` for one damaged row of each session that has any.
bool trials_each_damaged(struct store *s,
                         void (*each)(void *context, int64_t session, const struct err *why),
                         void *context, struct err *e);

enum {
    TRIAL_FIELD_COUNT = TRIAL_FIELDS(AS_ONE),
    RETIME_FIELD_COUNT = RETIME_FIELDS(AS_ONE),
};
extern const struct field trial_fields[TRIAL_FIELD_COUNT];
extern const struct field retime_fields[RETIME_FIELD_COUNT];

#endif
