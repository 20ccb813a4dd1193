// The sessions screen, for its own files:
//
//   view_sessions.c          keys, state, who gets which rows
//   view_sessions_list.c     which sessions in which order; what is read of those that are shown
//   session_filter.c         which sessions are wanted
//   session_text.c           how they are written
//   view_sessions_draw.c     the list
//   view_sessions_panel.c    the session under the cursor
//   view_sessions_compare.c  the marked ones side by side
//
// The cursor is on a session, not on a row: it stays there when others come, go or are sorted. What
// is not in the model's list (the curve, when the last trial was told) is read in `tick`, once for
// each session and each time it has moved on, and only of sessions that are shown or about to be.
#ifndef TILEWALK_UI_VIEW_SESSIONS_H
#define TILEWALK_UI_VIEW_SESSIONS_H

#include "app.h"
#include "list.h"
#include "session_text.h"

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
    int64_t id, told;         // it had so many told trials
    double active;            // unix time at which the last one was told, or it was created
    double ran;               // running time then
    double spark[SPARK_COLS]; // best so far over its trials, of its best; NaN: nothing valid yet
};

enum text_fate { TEXT_UNREAD, TEXT_SAME, TEXT_CHANGED, TEXT_GONE, TEXT_CLOSED };

struct session_panel { // what is read of the session under the cursor
    int64_t id;        // 0: none
    struct arena arena;
    struct text_record *text; // of the space and what it includes
    int text_count;
    enum text_fate fate;
    const char *changed; // name of the one that is not what it was
    uint64_t stamp;      // of the files when they were compared
    double looked;
    int64_t best_ask; // that this is about:
    int64_t best_number;
    char *best_config; // JSON; NULL: none
};

struct sessions_view {
    // The list.
    const struct session_row **row; // of the model: valid until it polls
    int count, capacity;
    enum sessions_column sort;
    bool ascending;
    char filter[LINE_SIZE], before[LINE_SIZE]; // the last good one; as it was when typing began
    struct session_filter *wanted;             // what the filter says; NULL: all
    char complaint[256];                       // about what is typed
    bool typing;
    struct session_facts *facts;
    int facts_count, facts_capacity;
    // The cursor and the window.
    int64_t cursor, cursor_before; // sessions; 0: none
    struct list list;              // its cursor is -1 where it was nowhere yet
    struct session_panel panel;
    // The comparison.
    bool comparing, compared_alone; // alone: it had the whole body in the last frame
    struct list comparison;         // its lines
};

// Makes `row` anew and finds the cursor in it; before anything is done with them.
void sessions_sync(struct app *app, struct sessions_view *v);
// A slice of reading; true while there is more.
bool sessions_read(struct app *app, struct sessions_view *v);
const struct session_facts *sessions_facts(const struct sessions_view *v,
                                           int64_t id); // NULL: unread
bool session_runs(const struct session_row *row);
// Running time until now, pauses excluded. What the database says of it ends with the last change
// of state; what trials say is newer.
double sessions_ran(struct app *app, const struct sessions_view *v, const struct session_row *row);
const char *sessions_sort_text(const struct sessions_view *v); // "newest first"

// Broken at blanks, two columns off the right edge. Returns the row below the last line.
int put_wrapped(const struct pane *p, int row, int col, enum style style, const char *text);

void sessions_draw_list(struct app *app, struct sessions_view *v, const struct pane *p);
// Reads it anew when that is due; true when something is other than it was.
bool sessions_read_panel(struct app *app, struct sessions_view *v);
void sessions_draw_panel(struct app *app, struct sessions_view *v, const struct pane *p);
void sessions_finish_panel(struct session_panel *p);
int sessions_compare_rows(struct app *app); // that a comparison needs, with its frame
void sessions_draw_comparison(struct app *app, struct sessions_view *v, const struct pane *p);

#endif
