// The carpet below a curve, on its x axis: a row for each factor, and a column for each column of
// the curve. A cell has the colour of the most frequent value of the best trials at that time,
// brighter the more of them agree. At the right stand the value and how many agree, "7/8".
//
//     struct carpet_place at = carpet_place(&c, rows, cols);    how much room it takes
//     at.first = ...;                                           the first factor that is seen
//     carpet_draw(&c, &at, &pane);
#ifndef TILEWALK_UI_CARPET_PANE_H
#define TILEWALK_UI_CARPET_PANE_H

#include "carpet.h"
#include "screen.h"

// Where it lies in the pane of a curve. Columns of a moment are those of the curve.
struct carpet_place {
    int left, right; // columns of the names and of what stands at the right, with gaps
    int row, rows;   // `rows` 0: there is no room
    int first;       // factor
    bool has_legend; // below
    int *col;        // [count of moments] the caller's
    int end;         // the column of the newest trial
    int64_t number;  // the moment that is looked at; 0: now
};

// Leaves some of the rows for the curve, its axis and the failures.
struct carpet_place carpet_place(const struct carpet *c, int rows, int cols);
void carpet_draw(const struct carpet *c, const struct carpet_place *at, const struct pane *p);
// Draws the legend: "... low [colours] high   bright: all 8 agree".
void carpet_draw_legend(const struct pane *p, int row, int col);

#endif
