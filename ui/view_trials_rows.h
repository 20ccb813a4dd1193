// The rows of the trials screen: which trials there are in the order that is wanted.
//
//     rows_start(&r, model, &order);
//     more = rows_step(&r, model);      a slice: when the model has changed, and while true
//     t = rows_at(&r, model, place);    0 .. rows_count - 1
//     rows_finish(&r);
//
// Everything by number, and what has a rank by rank, are pages of the database: nothing is kept,
// and it costs the same however many trials there are. Any other order, and every filter, is a list
// of asks with the number that they sort by, 16 bytes a trial, made by a walk over all trials in
// slices and extended by those that come later. What was read so far is shown meanwhile.
//
// New entries are sorted on their own and merged in when they are an eighth of the list or all
// there is, at most some thousand at a time: a merge moves memory, and does not compare its way
// through.
#ifndef TILEWALK_UI_VIEW_TRIALS_ROWS_H
#define TILEWALK_UI_VIEW_TRIALS_ROWS_H

#include "filter.h"
#include "scan.h"
#include "view_trials_columns.h"

struct order {
    struct column by;
    bool descending;
    const struct filter *filter; // outlives the rows; NULL: everything
    bool rejected;               // those that cost no trial as well
};

enum rows_kind { ROWS_NUMBERED, ROWS_RANKED, ROWS_LISTED };

struct rows_entry {
    double
        key; // smaller ones come first: turned round when descending, infinite when there is none
    int64_t ask;
};

struct rows {
    enum rows_kind kind;
    struct order order;
    struct scan scan;
    bool more; // of the walk
    struct rows_entry *entry, *fresh;
    int64_t count, capacity, fresh_count, fresh_capacity;
    struct words words;
};

void rows_start(struct rows *r, const struct model *m, const struct order *o);
void rows_finish(struct rows *r);
bool rows_step(struct rows *r, struct model *m);
int64_t rows_count(const struct rows *r, const struct model *m); // of ranks: at least so many
const struct trial *rows_at(const struct rows *r, struct model *m, int64_t place); // NULL: none
// The place of a trial, -1: it is not among them. `near` is where it was last.
int64_t rows_find(struct rows *r, struct model *m, int64_t ask, int64_t near);

#endif
