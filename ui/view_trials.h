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
#include "list.h"
#include "view_trials_rows.h"

// Shows the trials screen with this filter (filter.h); the user sees what is wrong with it.
void view_trials_filter(struct app *app, const char *text);

struct trials_view {
    int64_t session; // that the rest was made for, 0: none
    const struct space *space;
    struct columns columns;
    struct filter *filter;                     // NULL: none
    char text[LINE_SIZE];                      // of the filter
    char before[LINE_SIZE], filter_error[256]; // while one is typed
    bool typing;
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
