// Boxes of a chart: what several runs came to, without their way.
#include "report/chart_draw.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Between the two nearest (Hyndman and Fan's type 7).
static double quantile(const double *x, int n, double share)
{
    double at = share * (n - 1);
    int low = (int)at, high = low + 1 < n ? low + 1 : low;
    return x[low] + (at - low) * (x[high] - x[low]);
}

struct chart_box chart_box_of(double *x, int n)
{
    struct chart_box box = {0};
    qsort(x, (size_t)n, sizeof *x, ascending);
    for (int i = 0; i < n; i++)
        box.mean += x[i] / n;
    box.least = x[0];
    box.low = quantile(x, n, 0.25);
    box.median = quantile(x, n, 0.5);
    box.high = quantile(x, n, 0.75);
    box.most = x[n - 1];
    return box;
}

static void across(const struct canvas *c, double y, double from, double to)
{
    canvas_stroke(c->cairo, canvas_x(c, from), canvas_y(c, y), canvas_x(c, to), canvas_y(c, y));
}

static void upright(const struct canvas *c, double x, double from, double to)
{
    canvas_stroke(c->cairo, canvas_x(c, x), canvas_y(c, from), canvas_x(c, x), canvas_y(c, to));
}

static void draw_mean(const struct canvas *c, double x, double y)
{
    enum { ARM = 4 };
    double at = canvas_x(c, x), level = canvas_y(c, y);
    canvas_stroke(c->cairo, at - ARM, level - ARM, at + ARM, level + ARM);
    canvas_stroke(c->cairo, at - ARM, level + ARM, at + ARM, level - ARM);
}

void canvas_draw_box(const struct canvas *c, int line)
{
    const struct chart_line *l = &c->chart->line[line];
    const struct chart_box *b = l->box;
    double left = l->from - 0.25, right = l->from + 0.25;
    cairo_rectangle(c->cairo, canvas_x(c, left), canvas_y(c, b->high),
                    canvas_x(c, right) - canvas_x(c, left),
                    canvas_y(c, b->low) - canvas_y(c, b->high));
    canvas_style(c->cairo, line, 0.12, 1);
    cairo_fill_preserve(c->cairo);
    canvas_style(c->cairo, line, 1, 1.5);
    cairo_set_dash(c->cairo, NULL, 0, 0);
    cairo_stroke(c->cairo);
    across(c, b->least, l->from - 0.1, l->from + 0.1);
    across(c, b->most, l->from - 0.1, l->from + 0.1);
    upright(c, l->from, b->least, b->low);
    upright(c, l->from, b->high, b->most);
    draw_mean(c, l->from, b->mean);
    cairo_set_line_width(c->cairo, 3);
    across(c, b->median, left, right);
}
