// A picture of best-so-far curves for papers and reports: .svg or .png.
//
//     struct chart c = {.title = ..., .x = {0, 200, PLOT_WHOLE, "trials"}, .y_name = "GFLOPS"};
//     c.line = line; c.line_count = 3;
//     chart_write(&c, "out.svg", e);
//
// The chart has step lines with bands of one standard deviation, and the ticks of report/plot.h. A
// band is cut at the levels that are possible: a share of the best known is within 0 and 1, though
// mean +- deviation may not be. Up to three bands are filled. With more, which would cover each
// other, only their edges are drawn, dotted. The chart is readable in grey: each line has its own
// dashes and ends in its letter, and the legend below shows both; the colours (Okabe and Ito's, for
// colour-blind readers) differ in lightness too. The y axis begins at 0, unless that would press
// all lines into its upper half: then it begins below the lowest of them after a twentieth of the x
// axis.
//
// A line is its values on an even grid; a value holds from its x to the next (steps_spread). A line
// can also be a box that shows where several runs ended: from quartile to quartile, whiskers to the
// least and the most, a thick line at the median, a cross at the mean. A chart has lines or boxes,
// not both.
#ifndef TILEWALK_REPORT_CHART_H
#define TILEWALK_REPORT_CHART_H

#include "base/err.h"
#include "report/plot.h"

struct chart_box {
    double least, low, median, mean, high, most;
};
// Summarises n >= 1 numbers, and sorts them.
struct chart_box chart_box_of(double *x, int n);

struct chart_line {
    char letter;
    const char *label;       // in the legend
    const struct spread *at; // value i holds over from + i * step
    int count;
    double from, step, end;      // nothing is drawn at `end` and beyond
    bool band;                   // from mean - deviation to mean + deviation
    double most;                 // the band is cut at 0 and here; 0: it is not cut
    const struct chart_box *box; // at x = from, one unit from the next; NULL: none
};

struct chart {
    const char *title;  // may be NULL
    struct plot_axis x; // `room` is not used
    const char *y_name;
    bool is_inverse; // the y axis has PLOT_INVERSE
    double top;      // lines are cut above it; 0: nothing is
    const struct chart_line *line;
    int line_count;
    const char *const *note; // lines of text below the legend
    int note_count;
};

// Appends up to two names for a title, then how many more there are.
void chart_add_names(const char *const *name, int count, struct str *out);
// Returns false when the name does not end in .svg or .png.
bool chart_check_name(const char *path, struct err *e);
// Writes the chart; replaces a file that is there.
bool chart_write(const struct chart *c, const char *path, struct err *e);

#endif
