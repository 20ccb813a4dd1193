// Where somebody is in a list, and which rows of it are seen: the one meaning that keys, clicks and
// windows have in every list of the workbench. No drawing, and nothing is known of what the items
// are.
//
//     list_point(&l, id, place);          the cursor is there now; the window moves along with it
//     list_fit(&l, count, pane.rows);     in each frame, before rows l.top .. are drawn
//     if (list_act(&l, action))           the cursor is at l.cursor: select that
//     if (list_click(&l, row))            likewise
//
// Places count from 0. A page is the rows that are seen less one, so that one row stays in sight;
// half a page is half of them. A row at a time is also what the wheel of the mouse says (term.h).
// Text that scrolls without a cursor uses list_fit and list_scroll. A zeroed list is a new one.
#ifndef TILEWALK_UI_LIST_H
#define TILEWALK_UI_LIST_H

#include "keys.h"
#include "screen.h"

struct list {
    int64_t count;
    int64_t cursor; // -1: on none of them
    int64_t item;   // that the cursor is on, in numbers of the caller's; 0: not known
    int64_t top;    // first place that is seen
    int rows;       // that there is room for
    int first_row;  // of the caller's pane, with place `top`: for clicks
    bool is_loose;  // the window need not hold the cursor
};

// Says where the cursor is. When the same item has another place than before, because others came
// or went, it keeps its row.
void list_point(struct list *l, int64_t item, int64_t place);
// Says how many items there are and for how many rows there is room. The window moves by as little
// as brings the cursor into view (a loose list leaves it), and leaves no row empty at the end while
// there are items above it.
void list_fit(struct list *l, int64_t count, int rows);
// Moves the cursor within what there is; from nowhere it comes to the first row that is seen.
// False: it is no action that moves up or down.
bool list_act(struct list *l, enum action a);
// Moves the window in the same way, for text that scrolls without a cursor; the cursor is on no
// item then.
bool list_scroll(struct list *l, enum action a);
// Puts the cursor on what is shown on that row of the caller's pane. False: nothing is.
bool list_click(struct list *l, int row);
bool list_shows(const struct list *l, int64_t place);
// "rows 3-12 of 40"; "" when all are seen.
void list_note(const struct list *l, const char *what, char note[64]);

// Columns of a table that get as much room as there is: those that matter least go first.
//
//     struct table t;
//     table_fit(&t, columns, COUNT, 2, pane.cols);
//     table_put(&t, &pane, row, COLUMN_BEST, STYLE_BEST, "41.3");
//
// Every column has a width below which it is left out and one beyond which it gains nothing. They
// stand side by side in their order; of what is left over, the most important ones get theirs
// first.

#define TABLE_MOST 16
#define TABLE_GAP  2

struct table_column {
    char head[32];
    int least, most; // columns, the head not counted
    int rank;        // 0: stays longest, cut if need be; all ranks differ
    bool right;
};

struct table_slot {
    int at, width; // width 0: left out
};

struct table {
    const struct table_column *column; // the caller's
    int count;
    struct table_slot slot[TABLE_MOST];
};

// `from`: where the first column begins.
void table_fit(struct table *t, const struct table_column *column, int count, int from, int cols);
void table_put(const struct table *t, const struct pane *p, int row, int column, enum style style,
               const char *text);
void table_put_heads(const struct table *t, const struct pane *p, int row);

// The parts of a view that is a table: a frame if there is room, heads above, a line below.
struct table_panes {
    bool framed;
    struct pane heads, rows, status; // heads and status may be empty
    int first_row;                   // of `rows`, in the whole
};

struct table_panes table_panes(const struct pane *whole);

#endif
