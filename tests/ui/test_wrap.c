// Wrapped text: nothing is lost, nothing is wider than its row, no word is broken that has room.
#include "base/rng.h"
#include "base/str.h"
#include "group.h"
#include "look.h"
#include "screen.h"

#include <locale.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// The rows, each ended by '|'.
static void expect_rows(const char *text, int cols, const char *wanted)
{
    struct str rows = {0};
    int count = 0;
    for (const char *next = text; *next; count++) {
        const char *row = next;
        str_add_bytes(&rows, row, (size_t)wrap_row(row, cols, &next));
        str_add_char(&rows, '|');
        assert_true(next > row);
    }
    assert_string_equal(str_text(&rows), wanted);
    assert_int_equal(wrap_rows(text, cols), count);
    str_finish(&rows);
}

static void test_rows_end_at_blanks(void **state)
{
    (void)state;
    expect_rows("", 5, "");
    expect_rows("one two six", 80, "one two six|");
    expect_rows("one two six", 7, "one two|six|");
    expect_rows("one two six", 6, "one|two|six|");
    expect_rows("one two six ", 7, "one two|six |");
    expect_rows("a\nb c\n", 9, "a|b c|");
    expect_rows("a\n\nb", 9, "a||b|");
}

static void test_long_words_are_broken_between_glyphs(void **state)
{
    (void)state;
    expect_rows("abcdefg", 3, "abc|def|g|");
    expect_rows("a bcdefg", 3, "a|bcd|efg|");
    expect_rows("±±±±±", 2, "±±|±±|±|");
    expect_rows("日本語", 4, "日本|語|"); // two columns each
    expect_rows("日本", 1, "日|本|");     // a row has something on it
}

static void test_long_words_are_broken_behind_colons(void **state)
{
    (void)state;
    expect_rows("walk:tabu=1:doubt", 9, "walk:|tabu=1:|doubt|");
    expect_rows("a walk:tabu=1", 8, "a|walk:|tabu=1|");
    expect_rows("walk: tabu=1", 9, "walk:|tabu=1|");
    expect_rows("a:bcdefghij", 6, "a:bcde|fghij|"); // most of the row would stay empty
}

// By hand: no row but the last could take the next word, too.
static void check_row(const char *row, int bytes, const char *next, int cols)
{
    int word = (int)strcspn(next, " \n");
    bool newline = row[bytes] == '\n';
    assert_true(bytes <= cols);
    if (!newline && *next && row[bytes] == ' ')
        assert_true(bytes + 1 + word > cols);
    if (row[bytes] && !newline && row[bytes] != ' ')
        assert_null(memchr(row + 1, ' ', (size_t)bytes - 1));
}

static void test_random_texts(void **state)
{
    (void)state;
    struct rng r;
    rng_seed(&r, 5);
    for (int i = 0; i < 2000; i++) {
        char text[60];
        int length = (int)rng_below(&r, sizeof text - 1), cols = 1 + (int)rng_below(&r, 12);
        for (int k = 0; k < length; k++)
            text[k] = "abcde \n  "[rng_below(&r, 9)];
        text[length] = '\0';
        for (const char *next = text; *next;) {
            const char *row = next;
            int bytes = wrap_row(row, cols, &next);
            int left = (int)(next - row) - bytes;
            assert_true(left == 0 || (left == 1 && strchr(" \n", row[bytes])));
            check_row(row, bytes, next, cols);
        }
    }
}

static void test_rows_are_drawn_under_each_other(void **state)
{
    (void)state;
    struct screen s = {.charset = CHARSET_BRAILLE};
    screen_resize(&s, 3, 8);
    struct pane p = screen_whole(&s);
    assert_int_equal(pane_wrapped(&p, 1, 2, 5, STYLE_TEXT, "one two three four"), 5);
    char *seen = look_text(&s);
    assert_string_equal(seen, "\n  one\n  two\n");
    free(seen);
    screen_finish(&s);
}

static void test_a_row_is_as_wide_as_the_screen(void **state)
{
    enum { COLS = 1500 };
    (void)state;
    struct screen s = {.charset = CHARSET_BRAILLE};
    screen_resize(&s, 2, COLS);
    struct pane p = screen_whole(&s);
    struct str text = {0};
    for (int i = 0; i < COLS + 1; i++)
        str_add(&text, i < COLS ? "…" : "\nend");
    assert_int_equal(pane_wrapped(&p, 0, 0, COLS, STYLE_TEXT, str_text(&text)), 2);
    str_add(&text, "\n");
    char *seen = look_text(&s);
    assert_string_equal(seen, str_text(&text));
    free(seen);
    str_finish(&text);
    screen_finish(&s);
}

TEST_GROUP(wrap)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_end_at_blanks),
        cmocka_unit_test(test_long_words_are_broken_between_glyphs),
        cmocka_unit_test(test_long_words_are_broken_behind_colons),
        cmocka_unit_test(test_random_texts),
        cmocka_unit_test(test_rows_are_drawn_under_each_other),
        cmocka_unit_test(test_a_row_is_as_wide_as_the_screen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
