// Draws a chart on whatever cairo can draw on; in points. For chart.c alone, which makes files of
// it.
#ifndef TILEWALK_REPORT_CHART_DRAW_H
#define TILEWALK_REPORT_CHART_DRAW_H

#include "report/chart.h"

#include <cairo.h>

enum { CHART_WIDTH = 800 };

double chart_height(const struct chart *c);
void chart_draw(const struct chart *c, cairo_t *cairo); // errors: cairo_status

#endif
