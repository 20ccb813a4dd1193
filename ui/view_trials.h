// What other screens may ask of the trials screen (view_trials.c), and what its files share: the
// keys and the state are in view_trials.c, drawing in view_trials_draw.c.
//
// Rows are newest first until somebody sorts. The trial under the cursor is the one that all views
// mean. A window stands still while rows come in above it; it follows the newest trial only where
// that is the first row or the last one. A filter is applied while it is typed; what is not
// complete yet is complained about in the status line, and the last good one stays.
#ifndef TILEWALK_UI_VIEW_TRIALS_H
#define TILEWALK_UI_VIEW_TRIALS_H

#include "app.h"
#include "filter.h"
#include "list.h"
#include "scan.h"
#include "view_trials_draw.h"

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

// Shows the trials screen with this filter (filter.h); one that is wrong is said to the user.
void view_trials_filter(struct app *app, const char *text);

struct trials_view {
    int64_t session; // that the rest was made for, 0: none
    const struct space *space;
    struct columns columns;
    struct filter *filter;                  // NULL: none
    char text[LINE_SIZE];                   // of the filter
    char before[LINE_SIZE], complaint[256]; // while one is typed
    bool typing;
    int sort;
    bool descending, rejected;
    struct rows rows;
    int64_t races; // that the rows know of
    // The window.
    int skip;         // columns left out after the fixed ones
    int reveal;       // column that must be seen, once; -1: none
    struct list list; // as it was drawn last; its items are asks
};

// Takes note of another session or space; before anything else is done with the state.
void trials_sync(struct app *app, struct trials_view *v);
// The trial under the cursor (0: none) and its place (-1: it is not among the rows).
int64_t trials_cursor(struct app *app, struct trials_view *v, int64_t *place);
void trials_draw(struct app *app, struct trials_view *v, const struct pane *body);

#endif
