// The trials of a session as a sorted list: for people, as JSON or as CSV.
//
//     struct trial_list l;
//     trial_list_init(&l, &record, LIST_CSV, ORDER_SPEED);
//     trial_list_read_races(&l, store, e)
//     trial_list_add(&l, &trial);                  once for each
//     trial_list_add_text(&l, 10, &out)            the first ten; or trial_list_add_json
//     trial_list_finish(&l);
//
// Each trial is converted to text when it is added: the records of a store live no longer than a
// callback.
#ifndef TILEWALK_CLI_TRIAL_LIST_H
#define TILEWALK_CLI_TRIAL_LIST_H

#include "base/json.h"
#include "base/mem.h"
#include "store/store.h"

enum list_format { LIST_TEXT, LIST_JSON, LIST_CSV };
enum list_order {
    ORDER_ASK,
    ORDER_NUMBER,  // of the results
    ORDER_SPEED,   // best first, as the store ranks them, then those that have no rank
    ORDER_ELAPSED, // running time at the result
};

struct trial_row {
    bool behind; // sorted after the trials of the last race
    double key;  // sorted by this then
    int64_t ask;
    const char *text;
    const char *statistics; // CSV: those of the driver's compiler; NULL: none
};

struct trial_list {
    const struct session_record *session;
    enum list_format format;
    enum list_order order;
    struct arena arena;
    struct retime_record *race; // those that decide ranks
    int races, race_capacity;
    struct trial_row *row;
    int64_t count, capacity;
    struct str head; // CSV: names of the columns
};

void trial_list_init(struct trial_list *l, const struct session_record *session,
                     enum list_format format, enum list_order order); // borrows `session`
// Reads the races (store_each_race); before the first trial.
bool trial_list_read_races(struct trial_list *l, struct store *store, struct err *e);
void trial_list_add(struct trial_list *l, const struct trial_record *t);
// Add the first `most` in order; 0: all. CSV is RFC 4180: number, ask, generation, outcome,
// seconds, tflops, each parameter, reason, samples (seconds), race_seconds, and where any trial has
// them, statistics (a JSON object). A list is one field, "16,4,16".
void trial_list_add_text(struct trial_list *l, int64_t most, struct str *out);
void trial_list_add_json(struct trial_list *l, int64_t most, struct json_writer *w); // "trials"
void trial_list_finish(struct trial_list *l);

#endif
