// Records and rows. The columns of a table are written once, with their names and the values that
// they may hold. SQL, binding and checks all come from that list.
//
//     #define X_FIELDS(F) F(name, TEXT) F(seconds, SPAN)
//     static const struct field fields[] = {X_FIELDS(AS_X_FIELD)};
//     "SELECT id" X_FIELDS(AS_COLUMN) ...
//     query_read_fields(&q, 1, FIELDS(fields), arena, &record, &why)
//
// A database is a file that other programs can write, and old or damaged ones hold anything: each
// value is checked against the list. A damaged row is safe to use, too: its damaged members hold
// harmless values.
#ifndef TILEWALK_STORE_ROW_H
#define TILEWALK_STORE_ROW_H

#include "store/db.h"

enum rule {
    // whole numbers
    RULE_BITS,    // any
    RULE_FLAG,    // 0 or 1
    RULE_COUNT,   // from 0 on
    RULE_ORDINAL, // from 1 on
    RULE_WORKERS, // processes
    // numbers, always finite
    RULE_DURATION,   // seconds
    RULE_SPAN,       // seconds, or a point in time; NULL is 0
    RULE_AMOUNT,     // from 0 on; NULL is 0
    RULE_MAYBE_REAL, // NULL is NAN
    // texts
    RULE_TEXT,          // NULL is written as ""
    RULE_STATE,         // of a session
    RULE_MAYBE_TEXT,    // or NULL, as in all below
    RULE_OUTCOME,       // of a trial; NULL is OUTCOME_OPEN
    RULE_MAYBE_OBJECT,  // JSON; "" too
    RULE_MAYBE_LIST,    // JSON; "" too
    RULE_MAYBE_ASKS,    // "12,5,9"
    RULE_MAYBE_HISTORY, // "3:200 5:180"
    RULE_OBJECT,        // JSON; "" too, but not NULL
};

// A member of a record that is a column of the same name.
struct field {
    const char *name;
    size_t offset;
    enum {
        FIELD_INT,
        FIELD_INT64,
        FIELD_UINT64,
        FIELD_BOOL,
        FIELD_REAL,
        FIELD_OUTCOME,
        FIELD_STATE,
        FIELD_TEXT
    } kind;
    enum rule rule;
};

// A record's columns, in the order of a table.
struct fields {
    const struct field *field;
    size_t count;
};
#define FIELDS(array) ((struct fields){array, sizeof array / sizeof *array})

// clang-format off
#define FIELD_KIND(member) \
    _Generic((member), int: FIELD_INT, int64_t: FIELD_INT64, uint64_t: FIELD_UINT64, \
                       bool: FIELD_BOOL, double: FIELD_REAL, enum outcome: FIELD_OUTCOME, \
                       enum session_state: FIELD_STATE, \
                       const char *: FIELD_TEXT)
#define FIELD(record, member, rule) \
    {#member, offsetof(struct record, member), FIELD_KIND(((struct record *)0)->member), RULE_##rule}
// clang-format on

#define AS_COLUMN(name, rule) ", " #name
#define AS_VALUE(name, rule)  ", :" #name
#define AS_ONE(name, rule)    +1

void query_bind_fields(struct query *q, struct fields f, const void *record);
// Reads a row into the members of `record`. False: a column is damaged, and `why` describes the
// first. Texts are copied into the arena `a`; without an arena they live until the next row.
bool query_read_fields(const struct query *q, int first_column, struct fields f, struct arena *a,
                       void *record, struct err *why);

// Lets a query fail with "session 3 is damaged: WHAT: WHY"; it has no more rows.
void query_refuse(struct query *q, int64_t session, const char *what, const struct err *why);
// Reads the next row of a session, whose first column is not in `f`; false: there are no more. A
// damaged row is refused, as `what`.
bool query_next_record(struct query *q, int64_t session, struct fields f, const char *what,
                       struct arena *a, void *record);
// Reads all further rows of a session as records of `size` bytes, into a list in the arena.
struct records {
    void *of;
    int count;
};
struct records query_all_records(struct query *q, int64_t session, struct fields f,
                                 const char *what, size_t size, struct arena *a);
// Runs a statement whose parameters are a session and the fields of a record.
bool query_put_record(struct store *s, const char *sql, int64_t session, struct fields f,
                      const void *record, struct err *e);
// Runs a statement that changes one row of a session; false when the session does not exist.
bool query_change_session(struct query *q, int64_t id, struct err *e);

// --- trials and re-timings ---

// The columns of the tables of trials and re-timings, in the order of `trial_fields` and
// `retime_fields`.
//
//     "SELECT session" TRIAL_FIELDS(AS_COLUMN) " FROM trial ..."
//     query_read_fields(&q, 1, FIELDS(trial_fields), arena, &record, &why);

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
