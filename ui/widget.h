// The parts that screens are made of: lists, tables, rows of pieces, and lines that are typed. Keys
// and clicks mean the same in all of them. A zeroed list, row or line is a new one.
#ifndef TILEWALK_UI_WIDGET_H
#define TILEWALK_UI_WIDGET_H

#include "keys.h"
#include "screen.h"

// --- lists ---

// The cursor of a list and its window, the rows that are seen. Items are only numbers.
//
//     list_point(&l, id, place);          the cursor is there now; the window moves along with it
//     list_fit(&l, count, pane.rows);     in each frame, before rows l.top .. are drawn
//     if (list_act(&l, action))           the cursor is at l.cursor: select that
//     if (list_click(&l, row))            likewise
//
// Places count from 0. A page is the rows that are seen less one, so that one row stays in sight;
// half a page is half of them. The wheel of the mouse moves by one row (term.h). Text that scrolls
// without a cursor uses list_fit and list_scroll.

struct list {
    int64_t count;
    int64_t cursor; // -1: on no item
    int64_t item;   // under the cursor, in numbers of the caller's; 0: not known
    int64_t top;    // first place that is seen
    int rows;       // room for so many
    int first_row;  // where place `top` is in the caller's pane: for clicks
    bool is_loose;  // the window need not hold the cursor
};

// Sets the cursor. An item whose place has changed, because others came or went, keeps its row.
void list_point(struct list *l, int64_t item, int64_t place);
// Sets the number of items and of rows. The window moves by as little as brings the cursor into
// view (a loose list leaves it), and leaves no row empty at the end while there are items above.
void list_fit(struct list *l, int64_t count, int rows);
// Returns by how many rows an action moves; 0: it does not move up or down. The ends are far off.
int64_t list_step(const struct list *l, enum action a);
// Moves the cursor; from nowhere it comes to the first row that is seen. False: the action does not
// move up or down.
bool list_act(struct list *l, enum action a);
// Moves the window in the same way, for text that scrolls without a cursor; the cursor is on no
// item then.
bool list_scroll(struct list *l, enum action a);
// Puts the cursor on the item that is shown on that row of the caller's pane. False: none is.
bool list_click(struct list *l, int row);
bool list_shows(const struct list *l, int64_t place);
// "rows 3-12 of 40"; "" when all are seen.
void list_note(const struct list *l, const char *what, char note[64]);

// --- tables ---

// Columns of a table share the room that there is; the least important ones are left out first.
//
//     struct table t;
//     table_fit(&t, &pane, columns, COUNT, 2);
//     table_put(&t, row, COLUMN_BEST, STYLE_BEST, "41.3");
//     table_printf(&t, row, COLUMN_TRIALS, STYLE_TEXT, "%d", 500);
//
// Every column has a width below which it is left out and one beyond which it gains nothing. They
// stand side by side in their order; room that is left over goes to the most important ones first.

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
    struct pane pane;                  // of the rows
    const struct table_column *column; // the caller's
    int count;
    struct table_slot slot[TABLE_MOST];
};

// Draws a text at the right end of a cell if it fits and is to be `right`, else cut.
void cell_put(const struct pane *cell, bool right, enum style style, const char *text);
// `from`: where the first column begins. The last column of the pane stays empty.
void table_fit(struct table *t, const struct pane *rows, const struct table_column *column,
               int count, int from);
void table_put(const struct table *t, int row, int column, enum style style, const char *text);
void table_printf(const struct table *t, int row, int column, enum style style, const char *format,
                  ...) __attribute__((format(printf, 5, 6)));
void table_put_heads(const struct table *t, const struct pane *p, int row);

// The parts of a view that is a table: a frame if there is room, heads above, a line below.
struct table_panes {
    bool framed;
    struct pane heads, rows, status; // heads and status may be empty
    int first_row;                   // of `rows`, in the whole
};

struct table_panes table_panes(const struct pane *whole);

// --- one row of pieces of text ---

// The least important pieces are left out until the rest fits. The order on the row is that of
// adding. One piece may shrink: it is cut once the less important ones are gone.
struct piece {
    enum style style;
    int importance; // 0 stays longest
    int most;       // columns
    char text[160];
};

struct pieces {
    struct piece piece[24];
    int count;
    int shrinks; // index + 1; 0: none
};

void pieces_add(struct pieces *p, int importance, enum style style, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void pieces_draw(struct pieces *p, const struct pane *pane, int row, int gap);

// --- a line that is typed ---

#define LINE_SIZE 512

// A line of UTF-8 with a cursor: the prompt, and the text fields of dialogs. Emacs-like keys move
// and delete.
struct line {
    char text[LINE_SIZE];
    int length, cursor; // bytes
};

void line_set(struct line *l, const char *text); // the cursor goes to its end
// True when the key was one for a line (a character, an arrow, a deletion).
bool line_key(struct line *l, int32_t key);
// Draws as much as fits into the first row of the pane, scrolled so that the cursor is seen, and
// puts the terminal's cursor there when `active`.
void line_draw(const struct line *l, const struct pane *p, bool active);

#endif
