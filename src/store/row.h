// How records meet rows. A table of columns is written once: names, and what each column may hold.
// It becomes SQL, the binding of what is written, and the checks of what is read.
//
//     #define X_FIELDS(F) F(name, TEXT) F(seconds, SPAN)
//     static const struct field fields[] = {X_FIELDS(AS_X_FIELD)};
//     "SELECT id" X_FIELDS(AS_COLUMN) ...
//     query_read_fields(&q, 1, FIELDS(fields), arena, &record, &why)
//
// A database is a file that others can write, and old or damaged ones hold anything: nothing of a
// row is believed that its table does not say. What is read is safe to use also when it is damaged:
// then the members that are wrong hold something harmless.
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
    RULE_MAYBE_TEXT,    // or NULL, as all below
    RULE_OUTCOME,       // of a trial; NULL is OUTCOME_OPEN
    RULE_MAYBE_OBJECT,  // JSON; "" too
    RULE_MAYBE_LIST,    // JSON; "" too
    RULE_MAYBE_ASKS,    // "12,5,9"
    RULE_MAYBE_HISTORY, // "3:200 5:180"
    RULE_OBJECT,        // as MAYBE_OBJECT, but not NULL
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
// Reads a row into the members of `record`. False when a column is damaged: `why` says which one is
// the first and how. Texts are copied into the arena `a`; where that is NULL they live until the
// next row.
bool query_read_fields(const struct query *q, int first_column, struct fields f, struct arena *a,
                       void *record, struct err *why);

// Ends a query with "session 3 is damaged: WHAT: WHY": it has no more rows, and fails.
void query_refuse(struct query *q, int64_t session, const char *what, const struct err *why);

#endif
