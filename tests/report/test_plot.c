#include "group.h"

#include "report/plot.h"

#include "base/rng.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

static const enum charset charsets[] = {CHARSET_BRAILLE, CHARSET_BLOCK, CHARSET_ASCII};

// Without axes (too small for them): x from 0 to `right`, y from 0 to `top`.
static void bare(struct plot *p, enum charset charset, int rows, int cols, double right, double top)
{
    plot_init(p, charset, rows, cols);
    plot_axes(p, &(struct plot_axis){.high = right}, &(struct plot_axis){.high = top});
}

static void assert_plot(const struct plot *p, const char *expected)
{
    struct str out = {0};
    plot_add_text(p, &out);
    assert_string_equal(str_text(&out), expected);
    str_finish(&out);
}

// --- what is drawn ---

static void a_step_is_upright(void **state)
{
    static const struct plot_point point[] = {{0, 0}, {4, 7}};
    static const char *const expected[] = {
        // 8 x 8 dots, level at the bottom, up at x = 4, level at the top
        "  ⡏⠉\n⣀⣀⡇\n",
        "  ▛▀\n  ▌\n  ▌\n▄▄▌\n",
        "    AAAA\n    A\n    A\n    A\n    A\n    A\n    A\nAAAAA\n",
    };
    static const int size[][2] = {{2, 4}, {4, 4}, {8, 8}};
    (void)state;
    for (size_t i = 0; i < COUNT(charsets); i++) {
        struct plot p;
        plot_init(&p, charsets[i], size[i][0], size[i][1]);
        p.right = 8;
        p.top = 7;
        plot_steps(&p, 0, 'A', point, 2, 8);
        assert_plot(&p, expected[i]);
        plot_finish(&p);
    }
}

static void lowest_series_has_the_colour_and_dots_merge(void **state)
{
    static const struct plot_point low = {0, 0}, high = {0, 7};
    struct plot p;
    (void)state;
    bare(&p, CHARSET_BRAILLE, 1, 2, 4, 7);
    plot_steps(&p, 3, 'D', &low, 1, 4);
    assert_int_equal(plot_at(&p, 0, 0).kind, PLOT_SERIES + 3);
    plot_steps(&p, 1, 'B', &high, 1, 4);
    assert_int_equal(plot_at(&p, 0, 0).kind, PLOT_SERIES + 1);
    assert_int_equal(plot_at(&p, 0, 0).glyph, 0x28c9); // dots 1 4 and 7 8
    plot_steps(&p, 2, 'C', &high, 1, 4);
    assert_int_equal(plot_at(&p, 0, 0).kind, PLOT_SERIES + 1);
    plot_finish(&p);
}

static void bands_are_dotted_behind_lines(void **state)
{
    static const struct plot_point low = {0, 0}, high = {0, 1}, half[] = {{5, 0}};
    struct plot p;
    (void)state;
    for (size_t i = 0; i < COUNT(charsets); i++) {
        bare(&p, charsets[i], 2, 10, 10, 1);
        plot_band(&p, &low, &high, 1, 10);
        int before = 0, after = 0;
        for (int col = 0; col < 10; col++)
            before += plot_at(&p, 1, col).kind == PLOT_BAND;
        assert_in_range(before, 3, 9); // with gaps
        plot_steps(&p, 0, 'A', half, 1, 10);
        for (int col = 0; col < 5; col++)
            after += plot_at(&p, 1, col).kind == PLOT_BAND;
        assert_true(after > 0);
        for (int col = 5; col < 10; col++)
            assert_int_equal(plot_at(&p, 1, col).kind, PLOT_SERIES);
        plot_finish(&p);
    }
}

static void letters_end_lines(void **state)
{
    static const struct plot_point same = {0, 5}, lower = {0, 0};
    struct plot p;
    (void)state;
    for (size_t i = 0; i < COUNT(charsets); i++) {
        plot_init(&p, charsets[i], 3, 12);
        plot_axes(&p, &(struct plot_axis){.high = 12, .room = 3}, &(struct plot_axis){.high = 5});
        plot_steps(&p, 0, 'A', &same, 1, 12);
        plot_steps(&p, 1, 'M', &same, 1, 12);
        plot_steps(&p, 2, 'B', &lower, 1, 6);
        plot_letters(&p);
        assert_int_equal(plot_at(&p, 0, 9).glyph, 'A');
        assert_int_equal(plot_at(&p, 0, 9).kind, PLOT_SERIES);
        assert_int_equal(plot_at(&p, 0, 10).glyph, 'M');
        assert_int_equal(plot_at(&p, 0, 10).kind, PLOT_SERIES + 1);
        assert_int_equal(plot_at(&p, 2, 5).glyph, 'B');
        plot_finish(&p);
    }
}

static void letters_of_many_lines_are_all_there(void **state)
{
    static const struct plot_point same = {0, 5};
    struct plot p;
    (void)state;
    bare(&p, CHARSET_BRAILLE, 2, 10, 1, 5);
    for (int i = 0; i < 8; i++)
        plot_steps(&p, i, (char)('A' + i), &same, 1, 1);
    plot_letters(&p);
    int seen = 0;
    for (int col = 0; col < 10; col++) {
        uint32_t g = plot_at(&p, 0, col).glyph;
        if (g >= 'A' && g <= 'H')
            seen |= 1 << (g - 'A');
    }
    assert_int_equal(seen, 255);
    plot_finish(&p);
}

// One point among many is far above the others: it is there, in its column, at the top.
static void a_peak_never_vanishes(void **state)
{
    enum { POINTS = 5000 };
    struct plot_point *point = malloc(POINTS * sizeof *point);
    struct rng rng;
    (void)state;
    rng_seed(&rng, 5);
    for (int round = 0; round < 200; round++) {
        int peak = (int)rng_below(&rng, POINTS), cols = 5 + (int)rng_below(&rng, 60);
        struct plot p;
        bare(&p, charsets[round % 3], 5, cols, POINTS, 100);
        for (int i = 0; i < POINTS; i++)
            point[i] = (struct plot_point){i, i == peak ? 100 : 10};
        plot_steps(&p, 0, 'A', point, POINTS, POINTS);
        assert_int_equal(plot_at(&p, 0, plot_col_of(&p, peak)).kind, PLOT_SERIES);
        for (int row = 1; row < 4; row++) // and the strokes to it
            assert_int_equal(plot_at(&p, row, plot_col_of(&p, peak)).kind, PLOT_SERIES);
        plot_finish(&p);
    }
    free(point);
}

static void what_is_not_finite_is_a_gap(void **state)
{
    const struct plot_point point[] = {{0, 0}, {3, NAN}, {6, 0}, {NAN, 0}, {8, INFINITY}};
    struct plot p;
    (void)state;
    plot_init(&p, CHARSET_ASCII, 1, 10);
    p.right = 10;
    plot_steps(&p, 0, 'A', point, COUNT(point), 10);
    assert_plot(&p, "AAAA  AAA\n");
    plot_finish(&p);
}

static void lines_outside_the_range_are_cut(void **state)
{
    static const struct plot_point point[] = {{-5, 1}, {2, 3}, {5, 9}, {7, 3}, {20, 4}};
    struct plot p;
    (void)state;
    plot_init(&p, CHARSET_ASCII, 3, 10);
    p.right = 10;
    p.bottom = 2;
    p.top = 4;
    plot_steps(&p, 0, 'A', point, COUNT(point), 30);
    plot_letters(&p);
    assert_plot(&p, "     A A\n  AAAA AAA\n  A\n");
    plot_finish(&p);
}

static void a_sloped_line_joins_its_ends(void **state)
{
    struct plot p;
    (void)state;
    plot_init(&p, CHARSET_ASCII, 3, 5);
    p.letter[1] = 'B';
    plot_line(&p, 1, (struct plot_point){0, 0}, (struct plot_point){1, 1});
    assert_plot(&p, "   BB\n BB\nB\n");
    p.letter[0] = 'A'; // the lower series has the cell, also of an upright line
    plot_line(&p, 0, (struct plot_point){0, 1}, (struct plot_point){0, 0});
    assert_plot(&p, "A  BB\nABB\nA\n");
    plot_line(&p, 0, (struct plot_point){0, NAN}, (struct plot_point){1, 1});
    assert_plot(&p, "A  BB\nABB\nA\n");
    plot_finish(&p);
}

// --- axes ---

static void axes_stand_beside_the_area(void **state)
{
    static const struct plot_point point[] = {{0, 0}, {100, 40}};
    struct plot p;
    (void)state;
    plot_init(&p, CHARSET_ASCII, 8, 40);
    plot_axes(&p, &(struct plot_axis){0, 200, PLOT_WHOLE, "trials", 2},
              &(struct plot_axis){.high = 50});
    plot_steps(&p, 0, 'A', point, 2, 200);
    plot_letters(&p);
    assert_plot(&p, "  |\n"
                    "40+                 AAAAAAAAAAAAAAAAAAA\n"
                    "  |                 A\n"
                    "20+                 A\n"
                    "  |                 A\n"
                    " 0+AAAAAAAAAAAAAAAAAA\n"
                    "  ++-------+--------+--------+----------\n"
                    "   0      50       100      150  trials\n");
    assert_true(plot_is_free(&p, 0, 3, 5, 10));
    assert_false(plot_is_free(&p, 1, 3, 5, 10)); // the line
    assert_false(plot_is_free(&p, 0, 2, 1, 1));  // the axis
    assert_false(plot_is_free(&p, 0, 35, 1, 9)); // outside
    plot_finish(&p);
}

static void check_ticks(double low, double high, enum plot_scale scale, int most)
{
    struct plot_ticks t = plot_ticks(low, high, scale, most);
    char text[2][24] = {"", ""};
    assert_true(t.count <= most);
    for (int i = 0; i < t.count; i++) {
        double slack = 1e-8 * (high - low);
        assert_true(t.value[i] >= low - slack && t.value[i] <= high + slack);
        plot_tick_text(&t, t.value[i], text[i % 2]);
        assert_true(i == 0 || t.value[i] > t.value[i - 1]);
        // Far from zero neighbours differ in digits that nobody wants to read.
        if (fabs(high) < 1e4 * (high - low) && fabs(high) < 1e7 && scale != PLOT_SECONDS)
            assert_string_not_equal(text[0], text[1]);
    }
    if (scale == PLOT_SECONDS || t.count < 2)
        return;
    double digit = t.step / pow(10, floor(log10(t.step) + 1e-9));
    assert_true(fabs(digit - 1) < 1e-6 || fabs(digit - 2) < 1e-6 || fabs(digit - 5) < 1e-6);
    assert_true(scale != PLOT_WHOLE || t.step >= 1);
}

static void ticks_are_nice(void **state)
{
    struct rng rng;
    (void)state;
    rng_seed(&rng, 11);
    for (int i = 0; i < 20000; i++) {
        double low = i % 2 ? 0 : (rng_real(&rng) - 0.5) * pow(10, rng_real(&rng) * 12 - 4);
        double span = pow(10, rng_real(&rng) * 20 - 8);
        check_ticks(low, low + span, (enum plot_scale)(i % 3), 1 + (int)rng_below(&rng, 20));
    }
    // Axes from zero have at least a third of the ticks that would fit.
    for (int most = 2; most <= PLOT_MOST_TICKS; most++)
        for (double high = 1; high < 1e6; high *= 1.37)
            assert_true(plot_ticks(0, high, PLOT_REAL, most).count * 3 >= most);
}

static void ticks_of_nothing(void **state)
{
    static const double odd[] = {0,      1,        -1,        1e308, -1e308,
                                 5e-324, INFINITY, -INFINITY, 1e16,  1e16 + 2};
    (void)state;
    for (size_t i = 0; i <= COUNT(odd); i++)
        for (size_t j = 0; j <= COUNT(odd); j++)
            for (int scale = PLOT_REAL; scale <= PLOT_SECONDS; scale++)
                for (int most = -1; most < 20; most += 4) {
                    double low = i < COUNT(odd) ? odd[i] : NAN,
                           high = j < COUNT(odd) ? odd[j] : NAN;
                    struct plot_ticks t = plot_ticks(low, high, (enum plot_scale)scale, most);
                    char text[24];
                    assert_in_range(t.count, 0, most > 0 ? most : 0);
                    for (int k = 0; k < t.count; k++)
                        assert_true(strlen(plot_tick_text(&t, t.value[k], text)) < 24);
                }
    assert_int_equal(plot_ticks(7, 7, PLOT_REAL, 5).count, 1);
}

static void tops_are_round(void **state)
{
    static const double cases[][2] = {{1, 1},     {1.01, 2},       {43.7, 50},
                                      {711, 800}, {0.0071, 0.008}, {9.5e9, 1e10},
                                      {6.1, 8},   {250, 300},      {1e-12, 1e-12}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(fabs(plot_round_top(cases[i][0]) / cases[i][1] - 1) < 1e-9);
    for (double value = 1e-6; value < 1e12; value *= 1.07) {
        double top = plot_round_top(value);
        assert_true(top >= value && top <= 2 * value * (1 + 1e-9));
    }
}

// Both ends have a tick, and the steps are equal.
static void even_ticks_reach_both_ends(void **state)
{
    static const double tops[] = {1, 2, 3, 4, 5, 6, 8};
    (void)state;
    for (int rows = 3; rows < 40; rows++)
        for (size_t i = 0; i < sizeof tops / sizeof *tops; i++) {
            struct plot p;
            struct str text = {0};
            struct plot_axis x = {.high = 10}, y = {.high = 10 * tops[i], .even = true};
            char top[24];
            plot_init(&p, CHARSET_ASCII, rows, 40);
            plot_axes(&p, &x, &y);
            plot_add_text(&p, &text);
            snprintf(top, sizeof top, "%g", 10 * tops[i]);
            assert_int_equal(
                strncmp(str_text(&text) + strspn(str_text(&text), " "), top, strlen(top)), 0);
            int first = -1, gap = 0, ticks = 0;
            for (int row = 0; row < p.down; row++) {
                if (plot_at(&p, row, p.col - 1).glyph != '+')
                    continue;
                if (ticks == 1)
                    gap = row - first;
                if (ticks > 1) // as equal as rows allow
                    assert_in_range(row - first + 1, gap, gap + 2);
                first = row;
                ticks++;
            }
            assert_true(ticks >= 2 && first == p.down - 1);
            str_finish(&text);
            plot_finish(&p);
        }
}

static void tick_texts(void **state)
{
    static const struct {
        double low, high;
        enum plot_scale scale;
        int most;
        const char *texts;
    } cases[] = {
        {0, 43, PLOT_REAL, 5, "0 10 20 30 40 "},
        {0, 1, PLOT_REAL, 6, "0.0 0.2 0.4 0.6 0.8 1.0 "},
        {39.2, 41.3, PLOT_REAL, 5, "39.5 40.0 40.5 41.0 "},
        {-1, 1, PLOT_REAL, 3, "-1 0 1 "},
        {0, 3, PLOT_WHOLE, 8, "0 1 2 3 "},
        {0, 2.2e9, PLOT_REAL, 3, "0 1e+09 2e+09 "},
        {0, 3e-9, PLOT_REAL, 4, "0 1e-09 2e-09 3e-09 "},
        {0, 50, PLOT_SECONDS, 5, "0 15s 30s 45s "},
        {0, 100, PLOT_SECONDS, 5, "0 30s 1m 1m30s "},
        {0, 872, PLOT_SECONDS, 4, "0 5m 10m "},
        {0, 5400, PLOT_SECONDS, 4, "0 30m 1h 1h30m "},
        {0, 400000, PLOT_SECONDS, 5, "0 1d 2d 3d 4d "},
        {0, 1.3, PLOT_SECONDS, 4, "0 0.5s 1s "},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct plot_ticks t =
            plot_ticks(cases[i].low, cases[i].high, cases[i].scale, cases[i].most);
        struct str out = {0};
        char text[24];
        for (int k = 0; k < t.count; k++)
            str_printf(&out, "%s ", plot_tick_text(&t, t.value[k], text));
        assert_string_equal(str_text(&out), cases[i].texts);
        str_finish(&out);
    }
}

static void any_size_and_any_numbers_do(void **state)
{
    const double odd[] = {0, 1, -1, 1e308, -1e308, 5e-324, INFINITY, -INFINITY, NAN, 41.3};
    const int n = COUNT(odd);
    struct rng rng;
    (void)state;
    rng_seed(&rng, 3);
    for (int round = 0; round < 20000; round++) {
        struct plot p;
        struct plot_point point[6];
        for (int i = 0; i < 6; i++)
            point[i] = (struct plot_point){odd[rng_below(&rng, (uint64_t)n)],
                                           odd[rng_below(&rng, (uint64_t)n)]};
        int rows = round < 100 ? round / 10 - 1 : (int)rng_below(&rng, 30);
        int cols = round < 100 ? round % 10 - 1 : (int)rng_below(&rng, 60);
        plot_init(&p, charsets[round % 3], rows, cols);
        struct plot_axis x = {point[4].x, point[4].y, (enum plot_scale)(round / 3 % 3), "seconds",
                              round % 7};
        struct plot_axis y = {point[5].x, point[5].y, PLOT_REAL, NULL, 0};
        plot_axes(&p, &x, &y);
        plot_band(&p, point, point + 2, 2, point[3].x);
        plot_steps(&p, round % 18 - 1, 'A', point, round % 5, point[4].x);
        plot_letters(&p);
        struct str out = {0};
        plot_add_text(&p, &out);
        str_finish(&out);
        assert_true(p.col + p.wide <= p.cols && p.row + p.down <= p.rows && p.wide >= 0);
        plot_finish(&p);
    }
}

// --- several runs ---

static double brute_at(const struct steps *s, double x)
{
    double y = 0;
    for (int i = 0; i < s->count; i++)
        if (s->point[i].x <= x)
            y = s->point[i].y;
    return y;
}

static void spread_against_brute_force(void **state)
{
    enum { CURVES = 8, POINTS = 30, GRID = 50 };
    static struct plot_point point[CURVES][POINTS];
    struct steps curve[CURVES];
    struct spread out[GRID];
    struct rng rng;
    (void)state;
    rng_seed(&rng, 7);
    for (int round = 0; round < 300; round++) {
        int curves = (int)rng_below(&rng, CURVES + 1);
        for (int k = 0; k < curves; k++) {
            double x = 0, y = 0;
            curve[k] = (struct steps){point[k], (int)rng_below(&rng, POINTS)};
            for (int i = 0; i < curve[k].count; i++) {
                x += (double)rng_below(&rng, 4); // several at one x: the last one counts
                y += rng_real(&rng);
                point[k][i] = (struct plot_point){x, y};
            }
        }
        double from = (double)rng_below(&rng, 5), step = (double)rng_below(&rng, 3) / 2;
        steps_spread(curve, curves, from, step, out, GRID);
        for (int i = 0; i < GRID; i++) {
            double x = from + i * step, sum = 0, squares = 0, least = INFINITY, most = -INFINITY;
            for (int k = 0; k < curves; k++) {
                double y = brute_at(&curve[k], x);
                assert_true(steps_at(&curve[k], x) == y);
                sum += y;
                least = fmin(least, y);
                most = fmax(most, y);
            }
            double mean = curves ? sum / curves : 0;
            for (int k = 0; k < curves; k++)
                squares += pow(brute_at(&curve[k], x) - mean, 2);
            double deviation = curves > 1 ? sqrt(squares / (curves - 1)) : 0;
            assert_true(fabs(out[i].mean - mean) < 1e-9);
            assert_true(fabs(out[i].deviation - deviation) < 1e-9);
            assert_true(out[i].least == (curves ? least : 0));
            assert_true(out[i].most == (curves ? most : 0));
        }
    }
}

static void spread_before_and_beyond(void **state)
{
    static const struct plot_point a[] = {{2, 10}}, b[] = {{1, 4}, {3, 20}};
    static const struct steps curve[] = {{a, 1}, {b, 2}};
    struct spread out[6];
    (void)state;
    steps_spread(curve, 2, 0, 1, out, 6);
    assert_true(out[0].mean == 0 && out[1].mean == 2 && out[2].mean == 7 && out[3].mean == 15);
    assert_true(out[1].least == 0 && out[5].least == 10 && out[5].most == 20);
    assert_true(fabs(out[5].deviation - sqrt(50)) < 1e-12);
}

TEST_GROUP(plot)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_upright),
        cmocka_unit_test(lowest_series_has_the_colour_and_dots_merge),
        cmocka_unit_test(bands_are_dotted_behind_lines),
        cmocka_unit_test(letters_end_lines),
        cmocka_unit_test(letters_of_many_lines_are_all_there),
        cmocka_unit_test(a_peak_never_vanishes),
        cmocka_unit_test(what_is_not_finite_is_a_gap),
        cmocka_unit_test(lines_outside_the_range_are_cut),
        cmocka_unit_test(a_sloped_line_joins_its_ends),
        cmocka_unit_test(axes_stand_beside_the_area),
        cmocka_unit_test(ticks_are_nice),
        cmocka_unit_test(ticks_of_nothing),
        cmocka_unit_test(tops_are_round),
        cmocka_unit_test(even_ticks_reach_both_ends),
        cmocka_unit_test(tick_texts),
        cmocka_unit_test(any_size_and_any_numbers_do),
        cmocka_unit_test(spread_against_brute_force),
        cmocka_unit_test(spread_before_and_beyond),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
