// Charts, judged by their pixels in grey and by their SVG text.
#include "group.h"
#include "wording.h"

#include "report/chart.h"

#include "base/file.h"

#include <cairo.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define LINES 8
#define GRID  100

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/tilewalk-chart-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"a.svg", "a.png", "b.jpg"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = path_join(folder, names[i]);
        unlink(path);
        free(path);
    }
    return rmdir(folder);
}

// --- what is drawn ---

static struct spread values[LINES][GRID];

static struct chart chart_of(struct chart_line *line, int count)
{
    static const char *const labels[LINES] = {"zero", "one",  "two", "three",
                                              "four", "five", "six", "seven"};
    for (int i = 0; i < count; i++)
        line[i] = (struct chart_line){.letter = (char)('A' + i),
                                      .label = labels[i],
                                      .at = values[i],
                                      .count = GRID,
                                      .step = 1,
                                      .end = GRID};
    return (struct chart){
        .x = {0, GRID, PLOT_WHOLE, "trials", 0},
        .y_name = "GFLOPS",
        .line = line,
        .line_count = count,
    };
}

// Line i is level at i + 1.
static struct chart level_lines(struct chart_line *line, int count)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < GRID; k++)
            values[i][k] = (struct spread){.mean = i + 1};
    return chart_of(line, count);
}

static char *written(const struct chart *c, const char *name, size_t *length)
{
    struct err e;
    char *text, *path = path_join(folder, name);
    if (!chart_write(c, path, &e) || !file_read(path, &text, length, &e))
        fail_msg("%s", e.text);
    free(path);
    return text;
}

// --- pixels ---

struct picture {
    cairo_surface_t *surface;
    const unsigned char *pixel;
    int width, height, stride;
};

static struct picture load(const char *name)
{
    char *path = path_join(folder, name);
    cairo_surface_t *s = cairo_image_surface_create_from_png(path);
    free(path);
    assert_int_equal(cairo_surface_status(s), CAIRO_STATUS_SUCCESS);
    return (struct picture){s, cairo_image_surface_get_data(s), cairo_image_surface_get_width(s),
                            cairo_image_surface_get_height(s), cairo_image_surface_get_stride(s)};
}

static int grey(const struct picture *p, int x, int y)
{
    const unsigned char *c = p->pixel + y * p->stride + 4 * x; // the same for either byte order
    return (c[0] + c[1] + c[2] + c[3] - 255) / 3;
}

static bool is_ink(const struct picture *p, int x, int y)
{
    return grey(p, x, y) < 200; // lines of the grid are lighter
}

// Looks at the middle of the area, where neither axes nor letters are.
enum { FROM_X = 300, TO_X = 1300, FROM_Y = 44, TO_Y = 830 };

static int ink_in_row(const struct picture *p, int y)
{
    int n = 0;
    for (int x = FROM_X; x < TO_X; x++)
        n += is_ink(p, x, y);
    return n;
}

// The rows in the middle of level lines, from the top.
static int find_lines(const struct picture *p, int row[LINES + 1])
{
    int count = 0, begin = -1;
    for (int y = FROM_Y; y < TO_Y; y++) {
        bool inked = ink_in_row(p, y) > (TO_X - FROM_X) / 8;
        if (inked && begin < 0)
            begin = y;
        if (!inked && begin >= 0) {
            if (count <= LINES)
                row[count] = (begin + y - 1) / 2;
            count++;
            begin = -1;
        }
    }
    return count;
}

// Returns the lengths of ink and gaps as text; they distinguish lines without colours.
static char *dashes_of(const struct picture *p, int y)
{
    struct str out = {0};
    int runs = 0, length = 0;
    for (int x = FROM_X + 1; x < TO_X && runs < 14; x++) {
        length++;
        if (is_ink(p, x, y) == is_ink(p, x - 1, y))
            continue;
        if (runs++ > 5) // whole ones, and no matter where they begin
            str_printf(&out, "%s%d ", is_ink(p, x, y) ? "-" : "", length / 3);
        length = 0;
    }
    return str_take(&out);
}

static void lines_differ_without_colours(void **state)
{
    struct chart_line line[LINES];
    struct chart c = level_lines(line, LINES);
    int row[LINES + 1];
    char *dashes[LINES];
    (void)state;
    free(written(&c, "a.png", NULL));
    struct picture p = load("a.png");
    assert_int_equal(find_lines(&p, row), LINES);
    for (int i = 0; i < LINES; i++) {
        dashes[i] = dashes_of(&p, row[i]);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(dashes[i], dashes[k]);
    }
    assert_string_equal(dashes[LINES - 1], ""); // the first line is full
    for (int i = 0; i < LINES; i++)
        free(dashes[i]);
    cairo_surface_destroy(p.surface);
}

static int highest_ink(const struct picture *p, int x)
{
    int y = FROM_Y;
    while (y < TO_Y && !is_ink(p, x, y))
        y++;
    return y;
}

// A line from 20 to 80 at half of the axis: upright there, level elsewhere, and where they belong.
static void steps_are_where_they_belong(void **state)
{
    struct chart_line line[1];
    (void)state;
    for (int k = 0; k < GRID; k++)
        values[0][k] = (struct spread){.mean = k < GRID / 2 ? 20 : 80};
    struct chart c = chart_of(line, 1);
    free(written(&c, "a.png", NULL));
    struct picture p = load("a.png");
    const double left = 128, right = 1528, top = 40, bottom = 840, high = 80 * 1.04;
    int low_row = (int)(bottom - 20 / high * (bottom - top));
    int high_row = (int)(bottom - 80 / high * (bottom - top));
    int step = (int)((left + right) / 2);
    for (int x = FROM_X; x < TO_X; x++)
        if (abs(x - step) > 3)
            assert_in_range(highest_ink(&p, x), (x < step ? low_row : high_row) - 3,
                            (x < step ? low_row : high_row) + 3);
    for (int y = high_row; y <= low_row; y++)
        assert_true(is_ink(&p, step, y));
    cairo_surface_destroy(p.surface);
}

// A band is lighter than its line and reaches one deviation up and down.
static void bands_lie_around_lines(void **state)
{
    struct chart_line line[1];
    (void)state;
    for (int k = 0; k < GRID; k++)
        values[0][k] = (struct spread){.mean = 30, .deviation = 20};
    struct chart c = chart_of(line, 1);
    line[0].band = true;
    free(written(&c, "a.png", NULL));
    struct picture p = load("a.png");
    const double top = 40, bottom = 840, high = 50 * 1.04, a_point = (bottom - top) / high;
    int inside = 0, outside = 0, x = 757; // between two ticks
    for (int y = FROM_Y; y < TO_Y; y++) {
        double level = (bottom - y) / a_point;
        if (fabs(level - 30) > 1 && level > 11 && level < 49)
            inside += grey(&p, x, y) < 250;
        if (level < 9 || level > 51)
            outside += grey(&p, x, y) < 220;
    }
    assert_true(inside > 30 * a_point);
    assert_int_equal(outside, 0);
    cairo_surface_destroy(p.surface);
}

// Means of 0.1 and 0.9 with a deviation of 0.5: as high as 1 and no higher.
static void bands_of_shares_are_cut(void **state)
{
    struct chart_line line[1];
    (void)state;
    for (int k = 0; k < GRID; k++)
        values[0][k] = (struct spread){.mean = k < GRID / 2 ? 0.1 : 0.9, .deviation = 0.5};
    struct chart c = chart_of(line, 1);
    line[0].band = true;
    line[0].most = 1;
    free(written(&c, "a.png", NULL));
    struct picture p = load("a.png");
    const double top = 40, bottom = 840, a_point = (bottom - top) / 1.04;
    const int left = 477, right = 1177; // between ticks
    const int line_row = (int)(bottom - 0.9 * a_point), most_row = (int)(bottom - a_point);
    assert_in_range(highest_ink(&p, right), most_row - 3, most_row + 3); // the band's edge
    assert_true(is_ink(&p, right, line_row)); // on an axis that ends a little above 1
    assert_true(grey(&p, right, (line_row + most_row) / 2) < 250);
    assert_true(is_ink(&p, left, (int)(bottom - 0.6 * a_point))); // not cut: 0.1 + 0.5
    cairo_surface_destroy(p.surface);
}

// Returns true when the middle between line A and the upper edge of its band is tinted.
static bool first_band_is_filled(int bands)
{
    struct chart_line line[LINES];
    struct chart c = level_lines(line, LINES);
    for (int i = 0; i < bands; i++)
        line[i].band = true;
    for (int k = 0; k < GRID; k++)
        values[0][k].deviation = 0.5;
    free(written(&c, "a.png", NULL));
    struct picture p = load("a.png");
    const double bottom = 840, a_point = 800 / (LINES * 1.04);
    bool filled = grey(&p, 757, (int)(bottom - 1.25 * a_point)) < 250;
    bool edge = false;
    for (int x = 757; x < 777; x++)
        for (int y = (int)(bottom - 1.5 * a_point) - 3; y < (int)(bottom - 1.5 * a_point) + 3; y++)
            edge |= grey(&p, x, y) < 220;
    assert_true(edge);
    cairo_surface_destroy(p.surface);
    return filled;
}

static void many_bands_are_edges_only(void **state)
{
    (void)state;
    assert_true(first_band_is_filled(3));
    assert_false(first_band_is_filled(4));
}

static void titles_name_two(void **state)
{
    static const char *const names[] = {"one", "two", "three", "four"};
    static const char *const titles[] = {"", "one", "one and two", "one, two and 1 more",
                                         "one, two and 2 more"};
    (void)state;
    for (int n = 0; n <= 4; n++) {
        struct str out = {0};
        chart_add_names(names, n, &out);
        assert_string_equal(str_text(&out), titles[n]);
        str_finish(&out);
    }
}

static void high_lines_fill_the_area(void **state)
{
    struct chart_line line[2];
    int row[LINES + 1];
    (void)state;
    for (int k = 0; k < GRID; k++) {
        values[0][k] = (struct spread){.mean = k < 3 ? 10 : 98};
        values[1][k] = (struct spread){.mean = k < 3 ? 10 : 96};
    }
    struct chart c = chart_of(line, 2);
    free(written(&c, "a.png", NULL));
    struct picture p = load("a.png");
    assert_int_equal(find_lines(&p, row), 2);
    assert_true(row[1] - row[0] > 500); // of 800; with a zero below them it would be 16
    cairo_surface_destroy(p.surface);
}

static void long_labels_fit(void **state)
{
    struct chart_line line[1];
    struct chart c = level_lines(line, 1);
    char label[301];
    (void)state;
    memset(label, 'm', 300);
    label[300] = 0;
    line[0].label = c.title = label;
    free(written(&c, "a.png", NULL));
    struct picture p = load("a.png");
    int ink = 0, rightmost = 0;
    for (int y = 0; y < p.height; y++)
        for (int x = 0; x < p.width; x++)
            if (is_ink(&p, x, y)) {
                ink++;
                rightmost = x > rightmost ? x : rightmost;
            }
    assert_true(ink > 0);
    assert_in_range(rightmost, p.width - 60, p.width - 10);
    cairo_surface_destroy(p.surface);
}

// --- files ---

static int count_of(const char *text, const char *part)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, part)); at++)
        n++;
    return n;
}

static void the_ending_chooses_the_format(void **state)
{
    struct chart_line line[LINES];
    struct chart c = level_lines(line, LINES);
    struct err e;
    size_t length;
    (void)state;
    c.title = "a title";
    char *png = written(&c, "a.png", &length);
    assert_memory_equal(png, "\x89PNG\r\n\x1a\n", 8);
    char *svg = written(&c, "a.svg", &length);
    assert_memory_equal(svg, "<?xml", 5);
    assert_non_null(strstr(svg, "</svg>"));
    assert_true(count_of(svg, "dasharray") >= 2 * (LINES - 1)); // lines and legend
    char *jpg = path_join(folder, "b.jpg");
    assert_false(chart_write(&c, jpg, &e));
    assert_true(e.usage);
    wording_is("report", "chart: another ending", strstr(e.text, "b.jpg"));
    assert_false(file_exists(jpg));
    assert_false(chart_check_name(".svg", &e)); // no name
    assert_false(chart_write(&c, "/nowhere/at/all.svg", &e));
    assert_non_null(strstr(e.text, "/nowhere"));
    free(png);
    free(svg);
    free(jpg);
}

static void boxes_hold_the_middle_half(void **state)
{
    double x[] = {9, 1, 5, 3, 2};
    const struct chart_box box = chart_box_of(x, 5), one = chart_box_of(x, 1);
    struct chart_line line[2] = {{.letter = 'A', .label = "a", .from = 1, .step = 1, .box = &box},
                                 {.letter = 'B', .label = "b", .from = 2, .step = 1, .box = &one}};
    struct chart c = {
        .x = {0.5, 2.5, PLOT_WHOLE, "", 0}, .y_name = "", .line = line, .line_count = 2};
    (void)state;
    assert_float_equal(box.least, 1, 0);
    assert_float_equal(box.low, 2, 1e-12);
    assert_float_equal(box.median, 3, 1e-12);
    assert_float_equal(box.mean, 4, 1e-12);
    assert_float_equal(box.high, 5, 1e-12);
    assert_float_equal(box.most, 9, 0);
    assert_float_equal(one.least, one.most, 0);
    char *svg = written(&c, "a.svg", NULL);
    // A median, as cairo writes it before and from 1.18 on.
    assert_true(strstr(svg, "stroke-width:3;") || strstr(svg, "stroke-width=\"3\""));
    free(svg);
}

static void nothing_to_draw(void **state)
{
    struct chart_line line[2] = {
        {.letter = 'A', .label = "", .step = 1, .end = 10},
        {.letter = 'B', .label = "", .at = values[0], .count = 3, .from = 5, .step = 1, .end = 2}};
    struct chart c = {.y_name = "", .line = line};
    (void)state;
    for (c.line_count = 0; c.line_count <= 2; c.line_count++)
        free(written(&c, "a.png", NULL));
}

TEST_GROUP(chart)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_differ_without_colours),
        cmocka_unit_test(steps_are_where_they_belong),
        cmocka_unit_test(bands_lie_around_lines),
        cmocka_unit_test(bands_of_shares_are_cut),
        cmocka_unit_test(many_bands_are_edges_only),
        cmocka_unit_test(titles_name_two),
        cmocka_unit_test(high_lines_fill_the_area),
        cmocka_unit_test(long_labels_fit),
        cmocka_unit_test(the_ending_chooses_the_format),
        cmocka_unit_test(boxes_hold_the_middle_half),
        cmocka_unit_test(nothing_to_draw),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
