// The main screen. Its layout turns a size into the rectangles of its panes.
//
//     struct layout l = layout_make(rows, cols, focus, tab, zoomed);
//     if (layout_shows(&l, PANE_TRIALS)) draw into l.pane[PANE_TRIALS];
//
// From 110 x 30 on there are four panes: curve and population on top, trials and detail below. From
// 80 x 24 on there are the curve and, below it, one of the others as a tab. From 40 x 10 on there
// is one pane at a time. Smaller screens have one pane without a frame, as much of it as fits, down
// to a single cell. Zoom gives the focused pane everything. These sizes are of the screen; a body
// lacks the rows of head and footer.
//
// Rectangles lie inside the body, are disjoint, and those that are shown are not empty unless the
// body is. The four panes and the two cover the body. Pure functions.
#ifndef TILEWALK_UI_VIEW_MAIN_H
#define TILEWALK_UI_VIEW_MAIN_H

#include <stdbool.h>

enum main_pane {
    PANE_CURVE,
    PANE_POPULATION,
    PANE_TRIALS,
    PANE_DETAIL,
    PANE_LOG, // never among the four: the screen has a message row anyway
    PANE_COUNT
};

enum layout_kind { LAYOUT_FOUR, LAYOUT_TABBED, LAYOUT_ONE, LAYOUT_BARE };

// The smallest bodies: four rows fewer than their screens.
#define LAYOUT_FOUR_ROWS   26
#define LAYOUT_FOUR_COLS   110
#define LAYOUT_TABBED_ROWS 20
#define LAYOUT_TABBED_COLS 80
#define LAYOUT_ONE_ROWS    6
#define LAYOUT_ONE_COLS    40

struct rect {
    int row, col, rows, cols;
};

struct layout {
    enum layout_kind kind;
    struct rect pane[PANE_COUNT]; // empty: not shown
};

// `tab` is the pane of the tab when the curve has the focus; it is not PANE_CURVE.
struct layout layout_make(int rows, int cols, enum main_pane focus, enum main_pane tab,
                          bool zoomed);
bool layout_shows(const struct layout *l, enum main_pane pane);
enum main_pane layout_pane_at(const struct layout *l, int row, int col); // PANE_COUNT: none
// Returns the pane that gets the focus after this one, forward or back.
enum main_pane layout_next(enum layout_kind kind, enum main_pane focus, bool forward);

#endif
