// The trials screen, for other screens and for tests: every trial of the open session as a row.
//
// Rows are newest first until the user sorts. The trial under the cursor is the selected one of all
// views. A window stands still while rows come in above it; it follows the newest trial only where
// that is the first row or the last one. A filter is applied while it is typed. While it is not
// complete the status line names the error, and the last good filter stays.
#ifndef TILEWALK_UI_VIEW_TRIALS_H
#define TILEWALK_UI_VIEW_TRIALS_H

#include "app.h"
#include "filter.h"
#include "text.h"
#include "widget.h"

// The table behind the trials screen: its columns, and which trials are its rows in which order.
//
//     columns_make(&c, model);                          once for a session
//     column_head(&c.column[i], model);                 "TFLOPS"
//     column_add_text(&c.column[i], model, trial, &text);
//
//     rows_start(&r, model, &order);
//     more = rows_step(&r, model);      a slice: when the model has changed, and while true
//     t = rows_at(&r, model, place);    0 .. rows_count - 1
//     rows_finish(&r);
//
// The first columns (COLUMN_NUMBER .. COLUMN_OUTCOME) stay at the left. Then come the measurements,
// every parameter as its own column, and the reason of failures, which takes the room that is left.
// A width is that of the widest possible value, so that columns stand still while rows go by.
//
// Two orders are pages of the database: all trials by number, and all that have a rank by rank.
// They keep nothing and cost the same however many trials there are. Any other order, and every
// filter, is a list of asks with the number that they sort by, 16 bytes a trial. A walk over all
// trials makes it in slices, and trials that come later extend it; what was read so far is shown.
// New entries are sorted on their own and merged in when they are an eighth of the list or all
// there is. A merge moves memory and compares little.

// --- columns ---

enum column_kind {
    COLUMN_NUMBER,
    COLUMN_SPEED,
    COLUMN_OUTCOME,
    COLUMN_SPREAD,
    COLUMN_TIME,
    COLUMN_GENERATION,
    COLUMN_ASK,
    COLUMN_PARAM,
    COLUMN_REASON
};

#define FIXED_COLUMNS 3
#define MOST_COLUMNS  (COLUMN_PARAM + SPACE_MAX_PARAMS + 1)

struct column {
    enum column_kind kind;
    const struct param *param; // for COLUMN_PARAM; the open session's
    int width;                 // without a gap; COLUMN_REASON: the least that is of use
    bool right;                // aligned, as numbers are
};

struct columns {
    struct column column[MOST_COLUMNS];
    int count;
};

// Texts in alphabetical order. Each has a number, and numbers sort as the texts do.
struct words {
    struct word {
        char *text;
        double key;
    } * word;
    int count, capacity;
};

void columns_make(struct columns *c, const struct model *m);
const char *column_head(const struct column *c, const struct model *m);
// Adds nothing where the trial has no such value.
void column_add_text(const struct column *c, const struct model *m, const struct trial *t,
                     struct str *out);
// Returns the number by which this column sorts trials, ascending; NaN where the trial has none.
// `words` numbers the texts. A double cannot tell all long factorizations of large numbers apart:
// then their last parts do not count.
double column_key(const struct column *c, const struct trial *t, struct words *words);

// Returns the number of a text. A new one gets the number half-way between those of its neighbours.
// When there are too many words, or no number is left between two, it shares its neighbour's.
double words_key(struct words *w, const char *text);
void words_finish(struct words *w);

// --- rows ---

struct rows_order {
    struct column by;
    bool descending;
    const struct filter *filter; // outlives the rows; NULL: everything
    bool rejected;               // also the configurations that cost no trial
};

enum rows_kind { ROWS_NUMBERED, ROWS_RANKED, ROWS_LISTED };

struct rows_entry {
    double key; // the smallest comes first: negated when descending, infinite when there is none
    int64_t ask;
};

struct rows {
    enum rows_kind kind;
    struct rows_order order;
    struct scan scan;
    bool more; // of the scan
    struct rows_entry *entry, *fresh;
    int64_t count, capacity, fresh_count, fresh_capacity;
    struct words words;
};

void rows_start(struct rows *r, const struct model *m, const struct rows_order *o);
void rows_finish(struct rows *r);
bool rows_step(struct rows *r, struct model *m);
int64_t rows_count(const struct rows *r, const struct model *m); // ROWS_RANKED: at least so many
const struct trial *rows_at(const struct rows *r, struct model *m, int64_t place); // NULL: none
// Returns the place of a trial, or -1 when it is no row. `near` is where it was last.
int64_t rows_find(struct rows *r, struct model *m, int64_t ask, int64_t near);

// Shows the trials screen with this filter (filter.h); the user sees what is wrong with it.
void view_trials_filter(struct app *app, const char *text);

struct trials_view {
    int64_t session; // that the rest was made for, 0: none
    const struct space *space;
    struct columns columns;
    struct filter *filter;  // NULL: none
    char text[LINE_SIZE];   // of the filter
    char filter_error[256]; // while one is typed
    bool typing;
    bool picks; // the filter is new: a row of it is to be selected
    int sort;
    bool descending, rejected;
    struct rows rows;
    int64_t races; // scan_races when the rows were made
    // The window.
    int skip;         // columns left out after the fixed ones
    int reveal;       // column that must be seen, once; -1: none
    struct list list; // as it was drawn last; its items are asks
};

#endif
