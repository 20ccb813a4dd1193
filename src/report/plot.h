// A plot in cells of text: axes with ticks, step lines, dotted bands. For a screen or a plain file.
//
//     struct plot p;
//     plot_init(&p, CHARSET_BRAILLE, 16, 70);
//     plot_axes(&p, &x, &y);                   the rest is the area
//     plot_band(&p, low, high, n, now);
//     plot_steps(&p, 0, 'A', point, n, now);   for each series
//     plot_letters(&p);                        at the ends of the lines
//     struct plot_glyph g = plot_at(&p, row, col);   or plot_add_text(&p, &out)
//     plot_finish(&p);
//
// A cell holds 2 x 4 dots (braille), 2 x 2 (block) or one letter (ascii). A step line is level from
// each point to the next, and rises or falls there in one upright stroke. It is never sloped: there
// are no results between two trials. All points within one column are drawn, so that no extreme
// vanishes. Where lines meet in a cell, their dots are merged and the cell has the colour of the
// lowest series; bands lie behind lines. Each line ends in its letter, so that colour is never the
// only key.
//
// No call fails: numbers that are not finite are gaps, empty ranges are widened, any size works
// (rows and cols 0 too).
#ifndef TILEWALK_REPORT_PLOT_H
#define TILEWALK_REPORT_PLOT_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

#define PLOT_MOST_SERIES 16
#define PLOT_MOST_TICKS  16
#define PLOT_AXIS_ROWS   6  // fewer rows: no x axis
#define PLOT_AXIS_COLS   20 // fewer columns: no y axis

// Sets of glyphs for terminals and for plain text.
//
//   braille  2 x 4 dots a cell, frames, shades and eighths of blocks; needs a font that has them
//   block    2 x 2 dots a cell ("▖▗▘▝"), frames, shades and eighths of blocks
//   ascii    letters, "+-|", ".:-=+*#": for any terminal and any locale
enum charset { CHARSET_BRAILLE, CHARSET_BLOCK, CHARSET_ASCII };

struct plot_point {
    double x, y;
};

enum plot_scale {
    PLOT_REAL,
    PLOT_WHOLE,   // numbers of things: no tick between them
    PLOT_SECONDS, // ticks at times that clocks show: 15s, 5m, 1h30m
    PLOT_INVERSE  // ticks show one by what is drawn: costs, where up is better
};

struct plot_axis {
    double low, high;
    enum plot_scale scale;
    const char *name; // x axis: name at the right end (ASCII); NULL: none
    int room;         // x axis: columns beyond `high`, for the letters
    int margin;       // x axis: rows between the area and it; y axis: least columns of its labels
    bool even;        // ticks at both ends and evenly in between
};

struct plot_ticks {
    int count;
    double value[PLOT_MOST_TICKS]; // ascending
    double step;
    enum plot_scale scale;
};

enum plot_kind {
    PLOT_EMPTY,
    PLOT_AXIS, // lines of axes
    PLOT_TEXT, // their labels, and the blanks beside them
    PLOT_DOT,  // single dots, behind all lines; their cells count as free
    PLOT_BAND,
    PLOT_SERIES // + number of the series
};

struct plot_glyph {
    uint32_t glyph; // code point; a blank where the plot is empty
    int kind;       // enum plot_kind
};

struct plot {
    enum charset charset;
    int rows, cols;           // whole plot
    int row, col, down, wide; // the area inside the axes, in cells
    int room;
    int dots_across, dots_down; // of a cell
    double left, right, bottom, top;
    struct plot_cell *cell;
    char letter[PLOT_MOST_SERIES]; // by series
    struct plot_end {              // ends of their lines
        bool inside;               // the line exists, and its end is visible
        int row, col;
    } end[PLOT_MOST_SERIES];
};

void plot_init(struct plot *p, enum charset charset, int rows, int cols);
void plot_finish(struct plot *p);
// Draws the axes; called once, before anything else is drawn.
void plot_axes(struct plot *p, const struct plot_axis *x, const struct plot_axis *y);
// Draws a line of points with ascending x. The last level continues until x = `until`. `series` is
// below PLOT_MOST_SERIES. A line without a letter (0) is one of dots, with none at its end.
void plot_steps(struct plot *p, int series, char letter, const struct plot_point *point, int count,
                double until);
// Draws the two dotted edges of a band: steps at the same x; the last ones continue until `until`.
void plot_band(struct plot *p, const struct plot_point *low, const struct plot_point *high,
               int count, double until);
// Draws a sloped line, as of parallel coordinates. What lies outside the area is cut.
void plot_line(struct plot *p, int series, struct plot_point from, struct plot_point to);
// Draws a single dot, behind everything.
void plot_dot(struct plot *p, double x, double y);
void plot_letters(struct plot *p);

struct plot_glyph plot_at(const struct plot *p, int row, int col);
// Returns true when a rectangle lies in the area and has nothing but single dots: room for a
// legend.
bool plot_is_free(const struct plot *p, int row, int col, int rows, int cols);
void plot_add_text(const struct plot *p, struct str *out); // UTF-8, rows without blanks at the end
int plot_col_of(const struct plot *p, double x); // column of x, or of the nearest edge outside
// Returns the least round number that is not below `value` > 0: 1, 2, 3, 4, 5, 6 or 8 x 10^n.
double plot_round_top(double value);

// Returns at most `most` ticks within [low, high], at multiples of 1, 2 or 5 x 10^n or at clock
// times.
struct plot_ticks plot_ticks(double low, double high, enum plot_scale scale, int most);
// Writes the label of a tick, with as many decimals as the step needs; returns `out`.
char *plot_tick_text(const struct plot_ticks *t, double value, char out[24]);

// --- several runs ---

// Mean, deviation and range of the best-so-far curves of several runs.
//
//     steps_spread(curve, 5, from, step, out, 200);
//
// The curve of a run is a step function: 0 before its first valid result, level between its points,
// flat beyond its last. So every run has a value at every x, also one that ended early or found
// nothing yet, and means are over all runs everywhere. This is the usual way to show repeated
// searches.

struct steps {
    const struct plot_point *point; // by ascending x
    int count;
};

struct spread {
    double mean, least, most;
    double deviation; // sample deviation (n - 1); 0 for less than two curves
};

double steps_at(const struct steps *s, double x); // O(log count)
// Summarises the curves at x = from + i * step, step >= 0, for i = 0 .. n - 1. No curves: all 0.
void steps_spread(const struct steps *curve, int count, double from, double step,
                  struct spread *out, int n);

#endif
