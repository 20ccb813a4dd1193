// Best-so-far curves as a picture for papers and reports: .svg or .png.
//
//     struct chart c = {.title = ..., .x = {0, 200, PLOT_WHOLE, "trials"}, .y_name = "GFLOPS"};
//     c.line = line; c.line_count = 3;
//     chart_write(&c, "out.svg", e);
//
// Step lines with bands of one standard deviation; ticks are those of report/plot.h. A band is cut
// where it leaves the levels there are: no share of the best known is below 0 or above 1, though
// mean +- deviation may be. Up to three bands are filled; more would cover each other, so that only
// their edges are drawn, dotted. Readable in grey: each line has its own dashes, ends in its
// letter, and the legend below shows both; the colours (Okabe and Ito's, for colour-blind readers)
// differ in lightness too. The y axis begins at 0, unless that would press all lines into its upper
// half: then it begins below the lowest of them after a twentieth of the x axis.
//
// A line is its values on an even grid; a value holds from its x to the next (steps_spread). Or it
// is a box, of where several runs ended: from quartile to quartile, whiskers to the least and the
// most, a thick line at the median, a cross at the mean. A chart has lines or boxes, not both.
#ifndef TILEWALK_REPORT_CHART_H
#define TILEWALK_REPORT_CHART_H

#include "base/err.h"
#include "report/plot.h"
#include "report/steps.h"

struct chart_box {
    double least, low, median, mean, high, most;
};
// Of n >= 1 numbers, which are sorted.
struct chart_box chart_box_of(double *x, int n);

struct chart_line {
    char letter;
    const char *label;       // in the legend
    const struct spread *at; // value i holds over from + i * step
    int count;
    double from, step, end;      // nothing is drawn at `end` and beyond
    bool band;                   // of mean - deviation to mean + deviation
    double most;                 // the band is cut at 0 and here; 0: it is not cut
    const struct chart_box *box; // at x = from, 1 from the next; NULL: none
};

struct chart {
    const char *title;  // may be NULL
    struct plot_axis x; // `room` is not used
    const char *y_name;
    double top; // lines are cut above it; 0: nothing is
    const struct chart_line *line;
    int line_count;
    const char *const *note; // lines of text below the legend
    int note_count;
};

// For titles: up to two names, then how many more. Appends to `out`.
void chart_add_names(const char *const *name, int count, struct str *out);
// Whether the name ends in .svg or .png; false: `e` says that it must.
bool chart_check_name(const char *path, struct err *e);
// Replaces the file.
bool chart_write(const struct chart *c, const char *path, struct err *e);

#endif
