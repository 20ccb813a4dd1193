// Which look is chosen, and that it says what it should without relying on colour alone.
#include "config.h"
#include "group.h"

#include <locale.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

static struct ui_config config(const char *name, const char *value)
{
    struct ui_config c;
    struct err e;
    config_init(&c);
    if (name)
        assert_true(config_set(&c, name, value, &e));
    return c;
}

static struct look choose(const char *name, const char *value, int colors)
{
    struct ui_config c = config(name, value);
    return look_choose(&c, colors);
}

static int clear_environment(void **state)
{
    (void)state;
    unsetenv("NO_COLOR");
    unsetenv("COLORFGBG");
    setenv("TERM", "xterm-256color", 1);
    return setlocale(LC_CTYPE, "C.UTF-8") ? 0 : -1;
}

static void colors_are_true_or_256_or_8_or_none(void **state)
{
    static const int offered[] = {-1, 0, 2, 8, 16, 88, 256, 32768, TRUE_COLORS};
    static const int used[] = {0, 0, 0, 8, 8, 8, 256, 256, TRUE_COLORS};
    (void)state;
    for (size_t i = 0; i < sizeof used / sizeof *used; i++)
        assert_int_equal(choose(NULL, NULL, offered[i]).colors, used[i]);
}

static void no_color_counts_unless_the_user_says_always(void **state)
{
    (void)state;
    setenv("NO_COLOR", "", 1); // present, but empty
    assert_int_equal(choose(NULL, NULL, 256).colors, 256);
    setenv("NO_COLOR", "1", 1);
    assert_int_equal(choose(NULL, NULL, 256).colors, 0);
    assert_int_equal(choose("color", "always", 256).colors, 256);
    assert_int_equal(choose("color", "always", 0).colors, 0);
    unsetenv("NO_COLOR");
    assert_int_equal(choose("color", "never", 256).colors, 0);
}

static void theme_follows_the_background(void **state)
{
    static const char *const light[] = {"0;15", "0;7", "0;default;15", "0;10"};
    static const char *const dark[] = {"15;0", "7;8", "15;default;0", "nonsense", "15;", ""};
    (void)state;
    assert_false(choose(NULL, NULL, 256).light);
    for (size_t i = 0; i < sizeof light / sizeof *light; i++) {
        setenv("COLORFGBG", light[i], 1);
        assert_true(choose(NULL, NULL, 256).light);
        assert_false(choose("theme", "dark", 256).light);
    }
    for (size_t i = 0; i < sizeof dark / sizeof *dark; i++) {
        setenv("COLORFGBG", dark[i], 1);
        assert_false(choose(NULL, NULL, 256).light);
        assert_true(choose("theme", "light", 256).light);
    }
}

static void charset_is_what_can_be_shown(void **state)
{
    (void)state;
    assert_int_equal(choose(NULL, NULL, 256).charset, CHARSET_BRAILLE);
    assert_int_equal(choose("charset", "auto", 256).charset, CHARSET_BRAILLE);
    assert_int_equal(choose("charset", "block", 256).charset, CHARSET_BLOCK);
    assert_int_equal(choose("charset", "ascii", 256).charset, CHARSET_ASCII);
    setenv("TERM", "linux", 1);
    assert_int_equal(choose(NULL, NULL, 8).charset, CHARSET_ASCII);
    assert_int_equal(choose("charset", "braille", 8).charset, CHARSET_BRAILLE);
    assert_non_null(setlocale(LC_CTYPE, "C"));
    assert_int_equal(choose("charset", "braille", 256).charset, CHARSET_ASCII);
}

// --- the styles ---

static const struct look looks[] = {
    {CHARSET_BRAILLE, TRUE_COLORS, false}, {CHARSET_BRAILLE, TRUE_COLORS, true},
    {CHARSET_BRAILLE, 256, false},         {CHARSET_BRAILLE, 256, true},
    {CHARSET_BRAILLE, 8, false},           {CHARSET_BRAILLE, 8, true},
    {CHARSET_BRAILLE, 0, false},           {CHARSET_BRAILLE, 0, true},
};
enum { FILLED_LOOKS = 4 }; // in which values have backgrounds
enum { LOOKS = sizeof looks / sizeof *looks };

static bool same(struct paint a, struct paint b)
{
    return a.color == b.color && a.bold == b.bold && a.dim == b.dim && a.reverse == b.reverse &&
           a.underline == b.underline && a.filled == b.filled && a.ground == b.ground;
}

static void colors_are_of_the_terminal(void **state)
{
    (void)state;
    for (int i = 0; i < LOOKS; i++)
        for (int style = 0; style < STYLE_COUNT; style++)
            assert_in_range(theme_paint(&looks[i], (enum style)style).color + 1, 0,
                            looks[i].colors);
    for (int i = 0; i < LOOKS; i++)
        for (int style = STYLE_CELL; style < STYLE_COUNT; style++) {
            struct paint p = theme_paint(&looks[i], (enum style)style);
            assert_int_equal(p.filled, i < FILLED_LOOKS);
            assert_in_range(p.ground, 0, p.filled ? looks[i].colors - 1 : 0);
        }
    for (int i = 0; i < LOOKS && looks[i].colors == TRUE_COLORS; i++)
        for (int style = STYLE_CELL; style < STYLE_COUNT; style++) { // smaller ones are indexed
            struct paint p = theme_paint(&looks[i], (enum style)style);
            assert_true(p.color >= 256 && p.ground >= 256);
        }
}

static void plain_text_is_the_terminals_own(void **state)
{
    (void)state;
    for (int i = 0; i < LOOKS; i++)
        assert_true(same(theme_paint(&looks[i], STYLE_TEXT), (struct paint){.color = -1}));
}

// What differs in meaning looks different, without colours too.
static void meanings_look_different(void **state)
{
    static const enum style apart[][2] = {
        {STYLE_TEXT, STYLE_DIM},        {STYLE_TEXT, STYLE_STRONG},  {STYLE_FRAME, STYLE_FOCUS},
        {STYLE_TEXT, STYLE_HEAD},       {STYLE_KEY, STYLE_LABEL},    {STYLE_KEY, STYLE_DISABLED},
        {STYLE_TEXT, STYLE_BEST},       {STYLE_TEXT, STYLE_BAD},     {STYLE_WARN, STYLE_BAD},
        {STYLE_TITLE, STYLE_TEXT},      {STYLE_TEXT, STYLE_WARN},    {STYLE_ADDED, STYLE_REMOVED},
        {STYLE_ADDED, STYLE_TEXT},      {STYLE_REMOVED, STYLE_TEXT}, {STYLE_HUNK, STYLE_TEXT},
        {STYLE_KEYWORD, STYLE_COMMENT}, {STYLE_COMMENT, STYLE_TEXT},
    };
    (void)state;
    for (int i = 0; i < LOOKS; i++)
        for (size_t k = 0; k < sizeof apart / sizeof *apart; k++)
            assert_false(
                same(theme_paint(&looks[i], apart[k][0]), theme_paint(&looks[i], apart[k][1])));
}

// Two levels share a glyph (pane_shade), so they need two paints.
static void levels_of_one_shade_differ(void **state)
{
    (void)state;
    for (int i = 0; i < LOOKS; i++)
        for (int level = 0; level < RAMP_LEVELS; level += 2)
            assert_false(same(theme_paint(&looks[i], (enum style)(STYLE_RAMP + level)),
                              theme_paint(&looks[i], (enum style)(STYLE_RAMP + level + 1))));
}

static void series_differ(void **state)
{
    (void)state;
    for (int i = 0; i < LOOKS && looks[i].colors; i++)
        for (int a = 0; a < MOST_SERIES; a++)
            for (int b = 0; b < a; b++)
                assert_false(same(theme_paint(&looks[i], (enum style)(STYLE_SERIES + a)),
                                  theme_paint(&looks[i], (enum style)(STYLE_SERIES + b))));
}

// --- lightness: CIE 1976 L* of sRGB; the 256 are xterm's cube and greys ---

static double linear(int part)
{
    double c = part / 255.0;
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static int rgb_of(const struct look *look, int color)
{
    static const int cube[] = {0, 95, 135, 175, 215, 255};
    if (look->colors == TRUE_COLORS && color >= 256)
        return color;
    if (color >= 232)
        return (8 + 10 * (color - 232)) * 0x10101;
    assert_in_range(color, 16, 231);
    int i = color - 16;
    return cube[i / 36] << 16 | cube[i / 6 % 6] << 8 | cube[i % 6];
}

// Returns the relative luminance of WCAG 2, which is also the Y of CIE.
static double luminance(const struct look *look, int color)
{
    int rgb = rgb_of(look, color);
    return 0.2126 * linear(rgb >> 16) + 0.7152 * linear(rgb >> 8 & 255) +
           0.0722 * linear(rgb & 255);
}

static double lightness(const struct look *look, int color)
{
    double y = luminance(look, color);
    return y > 0.008856 ? 116 * cbrt(y) - 16 : 903.3 * y;
}

static double text_lightness(const struct look *look, int style)
{
    return lightness(look, theme_paint(look, (enum style)style).color);
}

static double ground_lightness(const struct look *look, enum style style)
{
    return lightness(look, theme_paint(look, style).ground);
}

static void ramps_are_monotone(void **state)
{
    (void)state;
    for (int i = 0; i < FILLED_LOOKS; i++)
        for (int level = 1; level < RAMP_LEVELS; level++) {
            double sign = looks[i].light ? -1 : 1;
            double below = text_lightness(&looks[i], STYLE_RAMP + level - 1);
            assert_true(sign * (text_lightness(&looks[i], STYLE_RAMP + level) - below) >= 4);
        }
}

static void nothing_is_unreadable(void **state)
{
    (void)state;
    for (int i = 0; i < FILLED_LOOKS; i++)
        for (int level = 0; level < RAMP_LEVELS; level++) {
            double here = text_lightness(&looks[i], STYLE_RAMP + level);
            assert_true(looks[i].light ? here <= 85 : here >= 30);
        }
}

// Text on the background of a value has the contrast that WCAG 2 asks of text.
static void values_can_be_read_on_their_colours(void **state)
{
    (void)state;
    for (int i = 0; i < FILLED_LOOKS; i++)
        for (int hue = 0; hue < MOST_HUES; hue++) {
            struct paint p = theme_paint(&looks[i], (enum style)(STYLE_CELL + hue));
            double a = luminance(&looks[i], p.color) + 0.05;
            double b = luminance(&looks[i], p.ground) + 0.05;
            assert_true(fmax(a, b) / fmin(a, b) >= 4.5);
        }
}

// Of the 256, neighbouring levels may share a colour, but not the next but one.
static void ordered_values_have_ordered_colours(void **state)
{
    (void)state;
    for (int i = 0; i < FILLED_LOOKS; i++) {
        double sign = looks[i].light ? -1 : 1;
        int apart = looks[i].colors == TRUE_COLORS ? 1 : 2;
        for (int level = apart; level < ORDERED_LEVELS; level++) {
            enum style low = paint_ordered((level - apart + 0.5) / ORDERED_LEVELS);
            enum style high = paint_ordered((level + 0.5) / ORDERED_LEVELS);
            assert_true(
                sign * (ground_lightness(&looks[i], high) - ground_lightness(&looks[i], low)) >= 3);
        }
    }
}

// The ends of viridis as published: from 12 % on a dark background to yellow; on a light one high
// values are its darkest colour, and none is pale.
static void true_colors_are_viridis(void **state)
{
    (void)state;
    assert_int_equal(theme_paint(&looks[0], paint_ordered(1)).ground, 0xfde725);
    assert_int_equal(theme_paint(&looks[1], paint_ordered(1)).ground, 0x440154);
    assert_in_range((int)ground_lightness(&looks[0], paint_ordered(0)), 20, 30);
    assert_in_range((int)ground_lightness(&looks[1], paint_ordered(0)), 70, 85);
    assert_int_equal(theme_paint(&looks[0], paint_category(0)).ground, 0xe69f00); // Okabe and Ito
    assert_int_equal(theme_paint(&looks[1], paint_category(4)).ground, 0x0072b2);
}

// Without the 256 colours values are shades of one colour.
static void few_colors_are_one_hue(void **state)
{
    (void)state;
    for (int i = FILLED_LOOKS; i < LOOKS && looks[i].colors; i++)
        for (int level = 0; level < ORDERED_LEVELS; level++) {
            struct paint p = theme_paint(&looks[i], paint_ordered((level + 0.5) / ORDERED_LEVELS));
            assert_false(p.filled);
            assert_int_equal(p.color, theme_paint(&looks[i], paint_ordered(0)).color);
        }
}

static void categories_differ(void **state)
{
    (void)state;
    for (int i = 0; i < LOOKS && looks[i].colors; i++)
        for (int a = 0; a < MOST_CATEGORIES; a++)
            for (int b = 0; b < a; b++)
                assert_false(same(theme_paint(&looks[i], paint_category(a)),
                                  theme_paint(&looks[i], paint_category(b))));
}

// The stronger a patch, the farther it is from the background.
static void strength_is_contrast(void **state)
{
    (void)state;
    for (int i = 0; i < FILLED_LOOKS; i++)
        for (int hue = 0; hue < MOST_HUES; hue++)
            for (int k = 1; k < PATCH_STRENGTHS; k++) {
                enum style weak = (enum style)(STYLE_PATCH + hue * PATCH_STRENGTHS + k - 1);
                double a = ground_lightness(&looks[i], weak);
                double b = ground_lightness(&looks[i], (enum style)(weak + 1));
                assert_true(looks[i].light ? b <= a : b >= a);
            }
}

TEST_GROUP(theme)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(colors_are_true_or_256_or_8_or_none, clear_environment),
        cmocka_unit_test_setup(no_color_counts_unless_the_user_says_always, clear_environment),
        cmocka_unit_test_setup(theme_follows_the_background, clear_environment),
        cmocka_unit_test_setup(charset_is_what_can_be_shown, clear_environment),
        cmocka_unit_test(colors_are_of_the_terminal),
        cmocka_unit_test(plain_text_is_the_terminals_own),
        cmocka_unit_test(meanings_look_different),
        cmocka_unit_test(levels_of_one_shade_differ),
        cmocka_unit_test(series_differ),
        cmocka_unit_test(ramps_are_monotone),
        cmocka_unit_test(nothing_is_unreadable),
        cmocka_unit_test(values_can_be_read_on_their_colours),
        cmocka_unit_test(ordered_values_have_ordered_colours),
        cmocka_unit_test(true_colors_are_viridis),
        cmocka_unit_test(few_colors_are_one_hue),
        cmocka_unit_test(categories_differ),
        cmocka_unit_test(strength_is_contrast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
