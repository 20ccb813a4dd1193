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
#include "list.h"
#include "view_trials_rows.h"

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
