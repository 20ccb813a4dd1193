// Columns of a table that get as much room as there is: those that matter least go first.
//
//     struct table t;
//     table_fit(&t, columns, COUNT, 2, pane.cols);
//     table_put(&t, &pane, row, COLUMN_BEST, STYLE_BEST, "41.3");
//
// Every column has a width below which it is left out and one beyond which it gains nothing. They
// stand side by side in their order; of what is left over, the most important ones get theirs
// first.
#ifndef TILEWALK_UI_TABLE_H
#define TILEWALK_UI_TABLE_H

#include "screen.h"

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
