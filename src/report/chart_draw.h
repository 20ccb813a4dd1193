// Draws a chart on whatever cairo can draw on; in points. For chart.c, which makes files of it, and
// for what draws parts of one.
#ifndef TILEWALK_REPORT_CHART_DRAW_H
#define TILEWALK_REPORT_CHART_DRAW_H

#include "report/chart.h"

#include <cairo.h>

enum { CHART_WIDTH = 800 };

double chart_height(const struct chart *c);
void chart_draw(const struct chart *c, cairo_t *cairo); // errors: cairo_status

// --- parts ---

struct canvas {
    cairo_t *cairo;
    const struct chart *chart;
    double top;                    // of the area
    double left, right, low, high; // ranges of the axes
};

double canvas_x(const struct canvas *c, double x);
double canvas_y(const struct canvas *c, double y);
void canvas_style(cairo_t *cairo, int line, double alpha, double width); // a line's own
void canvas_stroke(cairo_t *cairo, double x0, double y0, double x1, double y1);

// Line number `line`, which has a box.
void canvas_draw_box(const struct canvas *c, int line);

#endif
