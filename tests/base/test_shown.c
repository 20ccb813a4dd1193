#include "group.h"

#include "base/shown.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void shows(const char *text, const char *expected)
{
    struct str s = {0};
    shown_add(&s, text);
    assert_string_equal(str_text(&s), expected);
    str_finish(&s);
}

static void what_steers_is_written_out(void **state)
{
    (void)state;
    shows("", "");
    shows("plain \xc2\xb1 \xe6\xbc\xa2 \xf0\x9f\x98\x80",
          "plain \xc2\xb1 \xe6\xbc\xa2 \xf0\x9f\x98\x80");
    shows("\x1b]0;title\x07", "\\x1b]0;title\\x07");
    shows("two\nlines\r\tover\x7f", "two\\nlines\\x0d\\x09over\\x7f");
    shows("\xc2\x9b"
          "2J",
          "\\u009b2J");
    shows("a\xe2\x80\xaeo\xe2\x81\xa6x", "a\\u202eo\\u2066x");
    shows("\xff\xc3(\xed\xa0\x80", "\\xff\\xc3(\\xed\\xa0\\x80");
    shows("cut \xe2\x80", "cut \\xe2\\x80");
}

// No text at all gets a byte through that is not plain, and plain text gets through whole.
static void random_bytes_come_out_plain(void **state)
{
    (void)state;
    static const unsigned char pieces[] = {0x1b, '[',  0x9b, 0xc2, 0xe2, 0x80, 0xae, 0xf0, 0x9f,
                                           0xff, '\n', 7,    'a',  0x81, 0xa6, 0xed, 0x85};
    unsigned seed = 1;
    for (int round = 0; round < 20000; round++) {
        char text[9] = "";
        for (int i = 0; i < 8; i++) {
            seed = seed * 1103515245u + 12345u;
            text[i] = (char)pieces[(seed >> 16) % sizeof pieces];
        }
        struct str s = {0}, again = {0};
        shown_add(&s, text);
        for (const char *at = str_text(&s); *at;) {
            uint32_t c = str_next_glyph(&at);
            assert_true(c != STR_NO_GLYPH && shown_is_plain(c));
        }
        shown_add(&again, str_text(&s));
        assert_string_equal(str_text(&s), str_text(&again));
        str_finish(&s);
        str_finish(&again);
    }
}

// Every code point is read back, one after the other, at the ends of each length.
static void glyphs_are_read_back(void **state)
{
    static const uint32_t glyphs[] = {1,      0x7f,   0x80,    0xe9,    0x7ff,   0x800,
                                      0x2588, 0xffff, 0x10000, 0x1f600, 0x10ffff};
    (void)state;
    struct str s = {0};
    for (size_t i = 0; i < sizeof glyphs / sizeof *glyphs; i++)
        str_add_glyph(&s, glyphs[i]);
    const char *at = str_text(&s);
    for (size_t i = 0; i < sizeof glyphs / sizeof *glyphs; i++)
        assert_int_equal(str_next_glyph(&at), glyphs[i]);
    assert_string_equal(at, "");
    str_finish(&s);
}

static void records_keep_what_is_shown(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    assert_string_equal(shown_text(&a, "one\x1b"), "one\\x1b");
    assert_string_equal(shown_text(&a, NULL), "");
    arena_finish(&a);
}

static const char hostile[] =
    "a\x1b[2Jb\nc\td\xc2\x9b\xe2\x80\xae\xe6\xbc\xa2\xff\0e\xf0\x9f\x98\x80";
static const char harmless[] = "a\\x1b[2Jb\nc\td\\u009b\\u202e\xe6\xbc\xa2\\xff\\x00"
                               "e\xf0\x9f\x98\x80";

// Returns the stdout of a child that writes the text in steps of so many bytes.
static void print_in_steps(size_t step, char *out, size_t size)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[1]);
        shown_streams(true);
        for (size_t i = 0; i < sizeof hostile - 1; i += step) {
            size_t left = sizeof hostile - 1 - i;
            fwrite(hostile + i, 1, step < left ? step : left, stdout);
            fflush(stdout);
        }
        _exit(ferror(stdout) ? 1 : 0);
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t got; (got = read(ends[0], out + length, size - 1 - length)) > 0;)
        length += (size_t)got;
    out[length] = '\0';
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void streams_show_lines(void **state)
{
    (void)state;
    for (size_t step = 1; step <= sizeof hostile; step++) {
        char out[200];
        print_in_steps(step, out, sizeof out);
        assert_string_equal(out, harmless);
    }
}

TEST_GROUP(shown)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_steers_is_written_out), cmocka_unit_test(random_bytes_come_out_plain),
        cmocka_unit_test(glyphs_are_read_back),       cmocka_unit_test(records_keep_what_is_shown),
        cmocka_unit_test(streams_show_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
