#include "report/chart.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"

#include <cairo-svg.h>
#include <cairo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct canvas {
    cairo_t *cairo;
    const struct chart *chart;
    double top;                    // top of the area between the axes
    double left, right, low, high; // ranges of the axes
};

// --- measures, in points ---

enum {
    CHART_WIDTH = 800,
    AREA_HEIGHT = 400,
    LEFT = 64,
    AREA_RIGHT = CHART_WIDTH - 36, // the letters stand beyond it
    TOP = 20,
    TITLE_HEIGHT = 24,
    AXIS_HEIGHT = 52, // ticks and the name
    LEGEND_ROW = 18,
    NOTES_ABOVE = 8,
    BOTTOM = 12,
    FONT = 12,
};

enum { MOST_FILLED_BANDS = 3 };

struct style {
    double red, green, blue;
    double dash[6];
    int dashes; // members of `dash` in use; 0: a full line
};

// Neighbouring styles differ in lightness as well as in colour.
static const struct style styles[] = {
    {0.00, 0.45, 0.70, {0}, 0},                 // blue
    {0.84, 0.37, 0.00, {8, 3}, 2},              // vermilion
    {0.00, 0.00, 0.00, {2, 2.5}, 2},            // black
    {0.00, 0.62, 0.45, {10, 3, 2, 3}, 4},       // bluish green
    {0.80, 0.47, 0.65, {14, 5}, 2},             // reddish purple
    {0.35, 0.70, 0.90, {5, 5}, 2},              // sky blue
    {0.60, 0.50, 0.00, {10, 3, 2, 3, 2, 3}, 6}, // yellow, darkened to stand out from white
    {0.45, 0.45, 0.45, {2, 6}, 2},              // grey
};
enum { STYLES = sizeof styles / sizeof *styles };

static double canvas_x(const struct canvas *c, double x)
{
    return LEFT + (x - c->left) / (c->right - c->left) * (AREA_RIGHT - LEFT);
}

static double canvas_y(const struct canvas *c, double y)
{
    return c->top + (c->high - y) / (c->high - c->low) * AREA_HEIGHT;
}

// --- ranges ---

static int values_before_end(const struct chart_line *l)
{
    double steps = ceil((l->end - l->from) / l->step - 1e-9);
    return steps < l->count ? (int)fmax(steps, 0) : l->count;
}

// Returns the mean, or an edge of the band: the upper one (side 1) or the lower one (side -1).
static double level_at(const struct chart_line *l, int i, int side)
{
    double level = l->at[i].mean + (l->band ? side * l->at[i].deviation : 0);
    if (side && l->most > 0)
        level = side > 0 ? fmin(level, l->most) : fmax(level, 0);
    return level;
}

// --- text ---

enum align { ALIGN_LEFT, ALIGN_MIDDLE, ALIGN_RIGHT };

// Puts a text on the base line `y`.
static void put_text(cairo_t *cairo, double x, double y, enum align align, const char *text)
{
    cairo_text_extents_t size;
    cairo_text_extents(cairo, text, &size);
    cairo_move_to(cairo, x - size.x_advance * align / 2, y);
    cairo_show_text(cairo, text);
}

// Puts a text from `x` on, in smaller letters where it would leave the picture.
static void put_fitting(cairo_t *cairo, double x, double y, const char *text)
{
    cairo_text_extents_t size;
    double room = CHART_WIDTH - x - 8;
    cairo_text_extents(cairo, text, &size);
    if (size.x_advance > room)
        cairo_set_font_size(cairo, FONT * room / size.x_advance);
    put_text(cairo, x, y, ALIGN_LEFT, text);
    cairo_set_font_size(cairo, FONT);
}

static void use_font(cairo_t *cairo, bool bold)
{
    cairo_select_font_face(cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cairo, FONT);
}

// --- axes ---

static void use_ink(cairo_t *cairo, double grey, double width)
{
    cairo_set_source_rgb(cairo, grey, grey, grey);
    cairo_set_line_width(cairo, width);
    cairo_set_dash(cairo, NULL, 0, 0);
}

static void canvas_stroke(cairo_t *cairo, double x0, double y0, double x1, double y1)
{
    cairo_move_to(cairo, x0, y0);
    cairo_line_to(cairo, x1, y1);
    cairo_stroke(cairo);
}

static void draw_axes(const struct canvas *c)
{
    const struct plot_axis *x = &c->chart->x;
    double bottom = c->top + AREA_HEIGHT;
    char text[24];
    bool boxes = c->chart->line_count > 0 && c->chart->line[0].box; // letters tell them apart
    struct plot_ticks t = plot_ticks(c->left, c->right, x->scale, boxes ? 0 : 10);
    for (int i = 0; i < t.count; i++) {
        double at = canvas_x(c, t.value[i]);
        use_ink(c->cairo, 0.9, 0.5);
        canvas_stroke(c->cairo, at, c->top, at, bottom);
        use_ink(c->cairo, 0, 1);
        canvas_stroke(c->cairo, at, bottom, at, bottom + 4);
        put_text(c->cairo, at, bottom + 18, ALIGN_MIDDLE, plot_tick_text(&t, t.value[i], text));
    }
    if (x->name)
        put_text(c->cairo, (LEFT + AREA_RIGHT) / 2.0, bottom + 38, ALIGN_MIDDLE, x->name);
    t = plot_ticks(c->low, c->high, c->chart->is_inverse ? PLOT_INVERSE : PLOT_REAL, 9);
    for (int i = 0; i < t.count; i++) {
        double at = canvas_y(c, t.value[i]);
        use_ink(c->cairo, 0.9, 0.5);
        canvas_stroke(c->cairo, LEFT, at, AREA_RIGHT, at);
        use_ink(c->cairo, 0, 1);
        canvas_stroke(c->cairo, LEFT - 4, at, LEFT, at);
        put_text(c->cairo, LEFT - 8, at + 4, ALIGN_RIGHT, plot_tick_text(&t, t.value[i], text));
    }
    cairo_save(c->cairo);
    cairo_translate(c->cairo, 16, c->top + AREA_HEIGHT / 2.0);
    cairo_rotate(c->cairo, -1.5707963267948966); // a quarter turn
    put_text(c->cairo, 0, 0, ALIGN_MIDDLE, c->chart->y_name);
    cairo_restore(c->cairo);
}

// --- lines ---

static void canvas_style(cairo_t *cairo, int line, double alpha, double width)
{
    const struct style *s = &styles[line % STYLES];
    cairo_set_source_rgba(cairo, s->red, s->green, s->blue, alpha);
    // Lines beyond the last style use the same dashes again, at twice the width.
    cairo_set_line_width(cairo, line < STYLES ? width : 2 * width);
    cairo_set_dash(cairo, s->dash, s->dashes, 0);
}

static double x_of(const struct canvas *c, const struct chart_line *l, int i)
{
    return canvas_x(c, fmin(l->from + i * l->step, l->end));
}

// Traces one edge of the steps, from the first value to the end or back. A level stretch is one
// stroke. Levels far above the area are cut.
static void trace(const struct canvas *c, const struct chart_line *l, int side, bool back)
{
    int n = values_before_end(l);
    for (int k = 0, first = 0; k < n; k++) {
        int i = back ? n - 1 - k : k, next = back ? i - 1 : i + 1;
        double here = fmin(level_at(l, i, side), 2 * c->high);
        if (k + 1 < n && fabs(fmin(level_at(l, next, side), 2 * c->high) - here) <= 0)
            continue;
        cairo_line_to(c->cairo, x_of(c, l, back ? n - first : first), canvas_y(c, here));
        cairo_line_to(c->cairo, x_of(c, l, back ? i : i + 1), canvas_y(c, here));
        first = k + 1;
    }
}

static void draw_band(const struct canvas *c, int line, bool fill)
{
    static const double dots[] = {1, 2};
    const struct chart_line *l = &c->chart->line[line];
    if (fill) {
        trace(c, l, 1, false);
        trace(c, l, -1, true);
        cairo_close_path(c->cairo);
        canvas_style(c->cairo, line, 0.12, 1);
        cairo_fill_preserve(c->cairo);
        canvas_style(c->cairo, line, 0.35, 0.6);
        cairo_stroke(c->cairo);
        return;
    }
    canvas_style(c->cairo, line, 0.8, 0.8);
    cairo_set_dash(c->cairo, dots, 2, 0);
    trace(c, l, 1, false);
    cairo_stroke(c->cairo);
    trace(c, l, -1, false);
    cairo_stroke(c->cairo);
}

static void connect(const struct canvas *c, double x0, double y0, double x1, double y1)
{
    canvas_stroke(c->cairo, canvas_x(c, x0), canvas_y(c, y0), canvas_x(c, x1), canvas_y(c, y1));
}

static void draw_box(const struct canvas *c, int line)
{
    enum { ARM = 4 };
    const struct chart_line *l = &c->chart->line[line];
    const struct chart_box *b = l->box;
    double x = l->from, left = x - 0.25, right = x + 0.25;
    double low = canvas_y(c, b->low), high = canvas_y(c, b->high);
    cairo_rectangle(c->cairo, canvas_x(c, left), high, canvas_x(c, right) - canvas_x(c, left),
                    low - high);
    canvas_style(c->cairo, line, 0.12, 1);
    cairo_fill_preserve(c->cairo);
    canvas_style(c->cairo, line, 1, 1.5);
    cairo_set_dash(c->cairo, NULL, 0, 0);
    cairo_stroke(c->cairo);
    connect(c, x - 0.1, b->least, x + 0.1, b->least);
    connect(c, x - 0.1, b->most, x + 0.1, b->most);
    connect(c, x, b->least, x, b->low);
    connect(c, x, b->high, x, b->most);
    double at = canvas_x(c, x), level = canvas_y(c, b->mean);
    canvas_stroke(c->cairo, at - ARM, level - ARM, at + ARM, level + ARM);
    canvas_stroke(c->cairo, at - ARM, level + ARM, at + ARM, level - ARM);
    cairo_set_line_width(c->cairo, 3);
    connect(c, left, b->median, right, b->median);
}

static void draw_lines(const struct canvas *c)
{
    const struct chart_line *line = c->chart->line;
    int count = c->chart->line_count, bands = 0;
    cairo_save(c->cairo);
    cairo_rectangle(c->cairo, LEFT, c->top, AREA_RIGHT - LEFT, AREA_HEIGHT);
    cairo_clip(c->cairo);
    cairo_set_line_join(c->cairo, CAIRO_LINE_JOIN_ROUND);
    for (int i = 0; i < count; i++)
        bands += line[i].band && values_before_end(&line[i]) > 0;
    for (int i = 0; i < count; i++)
        if (line[i].band && values_before_end(&line[i]) > 0)
            draw_band(c, i, bands <= MOST_FILLED_BANDS);
    for (int i = 0; i < count; i++) {
        canvas_style(c->cairo, i, 1, 1.8);
        trace(c, &line[i], 0, false);
        cairo_stroke(c->cairo);
        if (line[i].box)
            draw_box(c, i);
    }
    cairo_restore(c->cairo);
}

// --- letters ---

struct mark {
    int line;
    double x, y;
};

static int from_the_top(const void *a, const void *b)
{
    const struct mark *x = a, *y = b;
    int order = (x->y > y->y) - (x->y < y->y);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

// Draws the letters behind the ends of the lines. Letters that would cover each other move apart:
// first the lower ones down, then all that left the area up again.
static void draw_letters(const struct canvas *c)
{
    struct mark *mark = mem_zero((size_t)c->chart->line_count + 1, sizeof *mark);
    int count = 0;
    for (int i = 0; i < c->chart->line_count; i++) {
        const struct chart_line *l = &c->chart->line[i];
        int n = values_before_end(l);
        if (l->box)
            mark[count++] =
                (struct mark){i, canvas_x(c, l->from + 0.25), canvas_y(c, l->box->median)};
        if (!n)
            continue;
        double y = fmax(canvas_y(c, l->at[n - 1].mean), c->top);
        mark[count++] = (struct mark){i, fmin(x_of(c, l, n), AREA_RIGHT), y};
    }
    double bottom = c->top + AREA_HEIGHT;
    qsort(mark, (size_t)count, sizeof *mark, from_the_top);
    for (int i = 1; i < count; i++)
        if (fabs(mark[i].x - mark[i - 1].x) < FONT)
            mark[i].y = fmax(mark[i].y, mark[i - 1].y + FONT);
    for (int i = count - 1; i >= 0; i--) {
        double most = i + 1 < count && fabs(mark[i].x - mark[i + 1].x) < FONT
                          ? fmin(mark[i + 1].y - FONT, bottom)
                          : bottom;
        mark[i].y = fmin(mark[i].y, most);
    }
    use_font(c->cairo, true);
    for (int i = 0; i < count; i++) {
        char text[2] = {c->chart->line[mark[i].line].letter, 0};
        canvas_style(c->cairo, mark[i].line, 1, 1);
        put_text(c->cairo, mark[i].x + 5, mark[i].y + 4, ALIGN_LEFT, text);
    }
    use_font(c->cairo, false);
    free(mark);
}

// --- the picture ---

// Sets the ranges of the axes. The y axis begins above 0 only where nothing that matters is below.
static void find_ranges(struct canvas *c)
{
    double top = 0;
    c->left = c->chart->x.low;
    c->right = c->chart->x.high > c->left ? c->chart->x.high : c->left + 1;
    for (int k = 0; k < c->chart->line_count; k++) {
        const struct chart_line *l = &c->chart->line[k];
        for (int i = 0; i < values_before_end(l); i++)
            top = fmax(top, level_at(l, i, 1));
        top = l->box ? fmax(top, l->box->most) : top;
    }
    if (c->chart->top > 0)
        top = fmin(top, c->chart->top);
    double early = c->left + (c->right - c->left) / 20, lowest = top;
    for (int k = 0; k < c->chart->line_count; k++) {
        const struct chart_line *l = &c->chart->line[k];
        for (int i = 0; i < values_before_end(l); i++)
            if (l->from + i * l->step >= early)
                lowest = fmin(lowest, level_at(l, i, -1));
        lowest = l->box ? fmin(lowest, l->box->least) : lowest;
    }
    double margin = (top - lowest) / 10;
    c->low = lowest > top / 2 && lowest < top ? lowest - margin : 0;
    c->high = top > 0 ? top + (top - c->low) / 25 : 1;
}

// Draws what stands below the axes: the legend and the notes.
static void draw_texts(const struct canvas *c)
{
    const struct chart *chart = c->chart;
    double y = c->top + AREA_HEIGHT + AXIS_HEIGHT;
    for (int i = 0; i < chart->line_count; i++, y += LEGEND_ROW) {
        const struct chart_line *l = &chart->line[i];
        char letter[2] = {l->letter, 0};
        double base = y + FONT;
        canvas_style(c->cairo, i, 1, 1.8);
        canvas_stroke(c->cairo, LEFT, base - 4, LEFT + 60, base - 4);
        use_font(c->cairo, true);
        put_text(c->cairo, LEFT + 76, base, ALIGN_MIDDLE, letter);
        use_font(c->cairo, false);
        use_ink(c->cairo, 0, 1);
        put_fitting(c->cairo, LEFT + 92, base, l->label);
    }
    y += NOTES_ABOVE;
    use_ink(c->cairo, 0, 1);
    for (int i = 0; i < chart->note_count; i++, y += LEGEND_ROW)
        put_fitting(c->cairo, LEFT, y + FONT, chart->note[i]);
}

// --- boxes ---

// Interpolates between the two nearest of n ascending numbers (Hyndman and Fan's type 7).
static double quantile(const double *x, int n, double share)
{
    double at = share * (n - 1);
    int low = (int)at, high = low + 1 < n ? low + 1 : low;
    return x[low] + (at - low) * (x[high] - x[low]);
}

struct chart_box chart_box_of(double *x, int n)
{
    struct chart_box box = {0};
    median_sort(x, n);
    for (int i = 0; i < n; i++)
        box.mean += x[i] / n;
    box.least = x[0];
    box.low = quantile(x, n, 0.25);
    box.median = quantile(x, n, 0.5);
    box.high = quantile(x, n, 0.75);
    box.most = x[n - 1];
    return box;
}

// --- files ---

enum { PNG_SCALE = 2 }; // dots of a .png for one point

static cairo_status_t keep_bytes(void *context, const unsigned char *bytes, unsigned length)
{
    str_add_bytes(context, bytes, length);
    return CAIRO_STATUS_SUCCESS;
}

void chart_add_names(const char *const *name, int count, struct str *out)
{
    for (int i = 0; i < count && i < 2; i++) {
        const char *between = count > 2 ? ", " : " and ";
        str_printf(out, "%s%s", i ? between : "", name[i]);
    }
    if (count > 2)
        str_printf(out, " and %d more", count - 2);
}

static bool ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path), wanted = strlen(ending);
    return length > wanted && str_equal(path + length - wanted, ending);
}

bool chart_check_name(const char *path, struct err *e)
{
    return ends_in(path, ".svg") || ends_in(path, ".png") ||
           err_usage(e, "'%s': pictures are .svg or .png files", path);
}

bool chart_write(const struct chart *c, const char *path, struct err *e)
{
    struct str out = {0};
    if (!chart_check_name(path, e))
        return false;
    bool svg = ends_in(path, ".svg");
    double height = TOP + (c->title ? TITLE_HEIGHT : 0) + AREA_HEIGHT + AXIS_HEIGHT +
                    c->line_count * LEGEND_ROW +
                    (c->note_count ? NOTES_ABOVE + c->note_count * LEGEND_ROW : 0) + BOTTOM;
    cairo_surface_t *surface =
        svg ? cairo_svg_surface_create_for_stream(keep_bytes, &out, CHART_WIDTH, height)
            : cairo_image_surface_create(CAIRO_FORMAT_RGB24, CHART_WIDTH * PNG_SCALE,
                                         (int)height * PNG_SCALE);
    if (!svg)
        cairo_surface_set_device_scale(surface, PNG_SCALE, PNG_SCALE);
    cairo_t *cairo = cairo_create(surface);
    struct canvas canvas = {cairo, c, TOP + (c->title ? TITLE_HEIGHT : 0), 0, 0, 0, 0};
    find_ranges(&canvas);
    cairo_set_source_rgb(cairo, 1, 1, 1);
    cairo_paint(cairo);
    // Without hints, the widths of texts scale with the size of the letters.
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_set_font_options(cairo, options);
    cairo_font_options_destroy(options);
    use_font(cairo, true);
    use_ink(cairo, 0, 1);
    if (c->title)
        put_fitting(cairo, LEFT, TOP + FONT, c->title);
    use_font(cairo, false);
    draw_axes(&canvas);
    draw_lines(&canvas);
    use_ink(cairo, 0, 1);
    canvas_stroke(cairo, LEFT, canvas.top, LEFT, canvas.top + AREA_HEIGHT);
    canvas_stroke(cairo, LEFT, canvas.top + AREA_HEIGHT, AREA_RIGHT, canvas.top + AREA_HEIGHT);
    draw_letters(&canvas);
    draw_texts(&canvas);
    cairo_status_t status = cairo_status(cairo);
    cairo_destroy(cairo);
    if (svg)
        cairo_surface_finish(surface);
    if (status == CAIRO_STATUS_SUCCESS)
        status = svg ? cairo_surface_status(surface)
                     : cairo_surface_write_to_png_stream(surface, keep_bytes, &out);
    cairo_surface_destroy(surface);
    bool ok = status == CAIRO_STATUS_SUCCESS
                  ? file_write(path, out.text, out.length, e)
                  : err_set(e, "%s cannot be drawn: %s", path, cairo_status_to_string(status));
    str_finish(&out);
    return ok;
}
