// The sessions screen, for its own files and its tests:
//
//   view_sessions_list.c   the list: its order, what is read of sessions, how it is drawn
//   view_sessions_panel.c  below the list: the session under the cursor, or the comparison
//   view_sessions.c        the view: keys, filter, who gets which rows
//
// The cursor is on a session, not on a row: it stays there when others come, go or are sorted. The
// model's list lacks the curve and the time of the last trial. Both are read in slices, once for
// each session and each time it has moved on, and only for sessions that are shown or about to be.
#ifndef TILEWALK_UI_VIEW_SESSIONS_H
#define TILEWALK_UI_VIEW_SESSIONS_H

#include "app.h"
#include "filter.h"
#include "text.h"
#include "widget.h"

#define SPARK_COLS 10

enum sessions_column {
    SESSIONS_ID,
    SESSIONS_STATE,
    SESSIONS_SPACE,
    SESSIONS_PROBLEM,
    SESSIONS_DEVICE,
    SESSIONS_STRATEGY,
    SESSIONS_SEED,
    SESSIONS_TRIALS,
    SESSIONS_BEST,
    SESSIONS_CURVE,
    SESSIONS_ACTIVE,
    SESSIONS_NOTE, // the last one, so that it can be left out
    SESSIONS_COLUMNS
};

struct session_facts {
    int64_t id, ended;        // asks that had ended when it was read
    double active;            // unix time at which the last trial ended, or it was created
    double ran;               // running time then
    double sum;               // of a network, that of its parts; 0: none
    double spark[SPARK_COLS]; // best so far over its trials, of its best; NaN: nothing valid yet
};

// The texts of a space, compared with its files on disk.
enum text_state { TEXT_UNREAD, TEXT_SAME, TEXT_CHANGED, TEXT_GONE, TEXT_CLOSED };

struct session_panel { // read of the session under the cursor
    int64_t id;        // 0: none
    struct arena arena;
    struct text_record *text; // of the space and what it includes
    int text_count;
    enum text_state text_state;
    const char *changed; // name of the text that is not as it was
    char *copy;          // app_file_copy
    uint64_t stamp;      // of the files when they were compared
    double compared_at;
    int64_t best_ask; // the trial that the rest is about
    int64_t best_number;
    char *best_config; // JSON; NULL: none
};

struct sessions_view {
    // The list.
    const struct session_row **row; // of the model: valid until it polls
    int count, capacity;
    enum sessions_column sort;
    bool ascending;
    char filter[LINE_SIZE];  // the last good one
    struct filter *accepted; // `filter`, compiled; NULL: all
    char filter_error[256];  // in what is typed
    bool typing;
    struct session_facts *facts;
    int facts_count, facts_capacity;
    // The cursor and the window.
    int64_t cursor, cursor_before; // sessions; 0: none
    struct list list;              // its cursor is -1 until it was on a row
    struct session_panel panel;
    // The comparison.
    bool comparing, compared_alone; // alone: it had the whole body in the last frame
    struct list comparison;         // its lines
};

// Makes `row` anew and finds the cursor in it, before anything is done with them.
void sessions_sync(struct app *app, struct sessions_view *v);
bool sessions_read(struct app *app, struct sessions_view *v); // a slice; true: there is more
struct session_facts *sessions_facts(const struct sessions_view *v, int64_t id); // NULL: unread
// Returns the running time until now, without pauses. The database knows it up to the last change
// of state; trials have newer times.
double sessions_ran(struct app *app, const struct sessions_view *v, const struct session_row *row);
void sessions_draw_list(struct app *app, struct sessions_view *v, const struct pane *p);

// Reads the panel's session anew when that is due; true when something changed.
bool sessions_read_panel(struct app *app, struct sessions_view *v);
void sessions_draw_panel(struct app *app, struct sessions_view *v, const struct pane *p);
void sessions_finish_panel(struct session_panel *p);
int sessions_compare_rows(struct app *app); // rows that a comparison needs, with its frame
void sessions_draw_comparison(struct app *app, struct sessions_view *v, const struct pane *p);

#endif
