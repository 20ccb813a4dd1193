#include "base/shown.h"
#include "group.h"
#include "look.h"

#include <locale.h>
#include <stddef.h>

struct frame {
    struct screen screen;
    struct pane all;
};

static struct frame frame_of(int rows, int cols, enum charset charset)
{
    struct frame f = {.screen = {.charset = charset}};
    screen_resize(&f.screen, rows, cols);
    return f;
}

static void expect(struct frame *f, const char *wanted)
{
    char *text = look_text(&f->screen);
    assert_string_equal(text, wanted);
    free(text);
    screen_finish(&f->screen);
}

static struct pane whole(struct frame *f)
{
    return screen_whole(&f->screen);
}

static void test_text_is_clipped_on_all_sides(void **state)
{
    (void)state;
    struct frame f = frame_of(2, 6, CHARSET_BRAILLE);
    struct pane p = whole(&f);
    assert_int_equal(pane_text(&p, 0, 4, STYLE_TEXT, "abcd"), 8);
    pane_text(&p, 1, -2, STYLE_TEXT, "abcd");
    pane_text(&p, -1, 0, STYLE_TEXT, "no");
    pane_text(&p, 2, 0, STYLE_TEXT, "no");
    expect(&f, "    ab\ncd\n");
}

static void test_a_part_cuts_what_leaves_it(void **state)
{
    (void)state;
    struct frame f = frame_of(3, 8, CHARSET_BRAILLE);
    struct pane p = whole(&f), part = pane_part(&p, 1, 2, 5, 3);
    assert_int_equal(part.rows, 2);
    pane_text(&part, 0, 0, STYLE_TEXT, "abcdef");
    pane_text(&part, -1, 0, STYLE_TEXT, "above");
    struct pane empty = pane_part(&part, 9, 9, 4, 4);
    assert_int_equal(empty.rows * empty.cols, 0);
    pane_text(&empty, 0, 0, STYLE_TEXT, "nothing");
    expect(&f, "\n  abc\n\n");
}

static void test_wide_glyphs_stay_whole(void **state)
{
    (void)state;
    struct frame f = frame_of(3, 4, CHARSET_BRAILLE);
    struct pane p = whole(&f);
    pane_text(&p, 0, 0, STYLE_TEXT, "a\xe6\xbc\xa2z"); // 漢 takes two columns
    pane_text(&p, 1, 3, STYLE_TEXT, "\xe6\xbc\xa2");   // half of it would be outside
    pane_text(&p, 2, 0, STYLE_TEXT, "\xe6\xbc\xa2");
    pane_text(&p, 2, 1, STYLE_TEXT, "x"); // its right half is overwritten
    expect(&f, "a\xe6\xbc\xa2z\n\n x\n");
}

static void test_what_is_no_text_is_a_question_mark(void **state)
{
    (void)state;
    struct frame f = frame_of(1, 12, CHARSET_BRAILLE);
    struct pane p = whole(&f);
    pane_text(&p, 0, 0, STYLE_TEXT, "\x1b[2J\xff\xc3(");
    expect(&f, "?[2J?"
               "?(\n");
}

// The one border between texts and the terminal: no code point gets into a cell that a terminal
// would obey.
static void test_cells_are_plain(void **state)
{
    (void)state;
    struct frame f = frame_of(1, 4, CHARSET_BRAILLE);
    struct pane p = whole(&f);
    for (uint32_t c = 1; c < 0x110000; c++) {
        pane_glyph(&p, 0, 0, STYLE_TEXT, c);
        uint32_t drawn = f.screen.cell[0].glyph;
        if (drawn && !shown_is_plain(drawn))
            fail_msg("U+%04X is drawn as it is", (unsigned)c);
    }
    pane_text(&p, 0, 0, STYLE_TEXT, "\xe2\x80\xae\xc2\x9b\x1bx");
    expect(&f, "???x\n");
}

static void test_ascii_has_stand_ins(void **state)
{
    (void)state;
    struct frame f = frame_of(4, 12, CHARSET_ASCII);
    struct pane p = whole(&f);
    struct pane inside = pane_box(&p, "T", "n", false);
    pane_text(&inside, 0, 0, STYLE_TEXT,
              "1\xc2\xb1"
              "2\xe2\x80\xa6\xc3\xa9");
    pane_bar(&inside, 1, 0, 4, STYLE_TEXT, 0.5);
    pane_shade(&inside, 1, 6, 2, 7);
    expect(&f, "+- T -- n -+\n|1+-2~?    |\n|##    @@  |\n+----------+\n");
}

static void test_box_drops_the_note_before_the_title(void **state)
{
    (void)state;
    struct frame f = frame_of(3, 10, CHARSET_ASCII);
    struct pane p = whole(&f);
    pane_box(&p, "Long title", "note", true);
    expect(&f, "+- Lon~ -+\n|        |\n+--------+\n");
}

static void test_cut_text_says_so(void **state)
{
    (void)state;
    struct frame f = frame_of(3, 8, CHARSET_ASCII);
    struct pane p = whole(&f);
    assert_int_equal(pane_text_cut(&p, 0, 1, 4, STYLE_TEXT, "abcdef"), 5);
    pane_text_cut(&p, 1, 1, 4, STYLE_TEXT, "abcd");
    pane_text_cut(&p, 2, 6, 4, STYLE_TEXT, "abcdef");
    expect(&f, " abc~\n abcd\n      ab\n");
}

static void test_shades_say_their_level_twice(void **state)
{
    (void)state;
    struct frame f = frame_of(1, RAMP_LEVELS, CHARSET_ASCII);
    struct pane p = whole(&f);
    for (int i = 0; i < RAMP_LEVELS; i++)
        pane_shade(&p, 0, i, 1, i);
    for (int i = 0; i < RAMP_LEVELS; i++)
        assert_int_equal(f.screen.cell[i].style, STYLE_RAMP + i);
    expect(&f, ".:-=+*#@\n");
}

static void draw_everything(void *context, const struct pane *p)
{
    (void)context;
    double level[] = {0, 0.5, 1};
    struct pane inside = pane_box(p, "A title", "and a note", true);
    for (int row = -2; row < 60; row += 3) {
        pane_text_cut(&inside, row, -1, 30, STYLE_TEXT, "a line that is cut somewhere");
        pane_bar(&inside, row, row, 20, STYLE_GOOD, 0.77);
        pane_spark(&inside, row + 1, 50 - row, STYLE_TEXT, level, 3);
        pane_text_right(&inside, row, inside.cols + 3, STYLE_TEXT, "right \xe6\xbc\xa2");
        pane_mark(&inside, row, -3, 400);
        pane_cursor(&inside, row, row);
    }
}

static void test_every_size(void **state)
{
    (void)state;
    look_all_sizes(CHARSET_BRAILLE, draw_everything, NULL);
    look_all_sizes(CHARSET_ASCII, draw_everything, NULL);
}

TEST_GROUP(screen)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_is_clipped_on_all_sides),
        cmocka_unit_test(test_a_part_cuts_what_leaves_it),
        cmocka_unit_test(test_wide_glyphs_stay_whole),
        cmocka_unit_test(test_what_is_no_text_is_a_question_mark),
        cmocka_unit_test(test_cells_are_plain),
        cmocka_unit_test(test_ascii_has_stand_ins),
        cmocka_unit_test(test_box_drops_the_note_before_the_title),
        cmocka_unit_test(test_cut_text_says_so),
        cmocka_unit_test(test_shades_say_their_level_twice),
        cmocka_unit_test(test_every_size),
    };
    setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
