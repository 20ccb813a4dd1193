#include "group.h"

#include "base/json.h"
#include "base/str.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static void grows_and_stays_terminated(void **state)
{
    (void)state;
    struct str s = {0};
    assert_string_equal(str_text(&s), "");
    for (int i = 0; i < 3000; i++) {
        str_add_char(&s, (char)('a' + i % 26));
        assert_int_equal(strlen(str_text(&s)), i + 1);
    }
    str_printf(&s, "%4000d", 5);
    str_add(&s, "");
    str_add_bytes(&s, "a\0b", 3);
    assert_int_equal(s.length, 7003);
    assert_memory_equal(s.text + 6998, " 5a\0b", 6);
    str_finish(&s);
    assert_null(s.text);
}

static void expect_base64(const char *bytes, size_t length, const char *expected)
{
    struct str s = {0};
    str_add_base64(&s, bytes, length);
    assert_string_equal(str_text(&s), expected);
    str_finish(&s);
}

// The examples of RFC 4648, and bytes that are no text.
static void base64(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"", ""},        {"f", "Zg=="},        {"fo", "Zm8="},
        {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"foobar", "Zm9vYmFy"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        expect_base64(pairs[i][0], strlen(pairs[i][0]), pairs[i][1]);
    expect_base64("\0\377\376\373\357", 5, "AP/+++8=");
}

static void shell_words(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"runs/y.db", "runs/y.db"}, {"my runs", "'my runs'"},
                                           {"it's", "'it'\\''s'"},     {"$HOME", "'$HOME'"},
                                           {"~/y", "'~/y'"},           {"", "''"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct str s = {0};
        str_add_shell(&s, pairs[i][0]);
        assert_string_equal(str_text(&s), pairs[i][1]);
        str_finish(&s);
    }
}

static void taken_text_is_the_callers(void **state)
{
    (void)state;
    struct str s = {0};
    char *empty = str_take(&s);
    assert_string_equal(empty, "");
    str_add(&s, "x");
    char *text = str_take(&s);
    assert_string_equal(text, "x");
    assert_string_equal(str_text(&s), "");
    free(empty);
    free(text);
}

static void assert_json(const char *text, const char *expected)
{
    struct str s = {0};
    json_add_string(&s, text);
    assert_string_equal(str_text(&s), expected);
    str_finish(&s);
}

static void json_escapes(void **state)
{
    (void)state;
    assert_json("", "\"\"");
    assert_json("a\"b\\c/", "\"a\\\"b\\\\c/\"");
    assert_json("\n\r\t\b\x01\x1b\x7f", "\"\\n\\r\\t\\b\\u0001\\u001b\\u007f\"");
}

static void tables_escape_what_would_end_a_cell(void **state)
{
    (void)state;
    static const char *const text[][3] = {
        {"", "", ""},
        {"a b", "a b", "a b"},
        {"a|b,c", "\"a|b,c\"", "a\\|b,c"},
        {"\"a\"", "\"\"\"a\"\"\"", "\"a\""},
        {"a\r\nb", "\"a\r\nb\"", "a  b"},
        {"<b>&", "<b>&", "&lt;b&gt;&amp;"},
        {"![a](b)", "![a](b)", "!\\[a\\](b)"},
        {"`*\\", "`*\\", "\\`\\*\\\\"},
    };
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        struct str csv = {0}, markdown = {0};
        str_add_csv(&csv, text[i][0]);
        str_add_markdown(&markdown, text[i][0]);
        assert_string_equal(str_text(&csv), text[i][1]);
        assert_string_equal(str_text(&markdown), text[i][2]);
        str_finish(&csv);
        str_finish(&markdown);
    }
}

#define BAD "\xef\xbf\xbd"

static void json_replaces_what_is_not_utf8(void **state)
{
    (void)state;
    const char *good = "\xc2\x80 \xdf\xbf \xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xf0\x90\x80\x80 "
                       "\xf4\x8f\xbf\xbf";
    struct str s = {0};
    json_add_string(&s, good);
    assert_int_equal(s.length, strlen(good) + 2);
    assert_memory_equal(s.text + 1, good, strlen(good));
    str_finish(&s);
    assert_json("\xff", "\"" BAD "\"");
    assert_json("a\x80z", "\"a" BAD "z\"");
    assert_json("\xc0\xaf", "\"" BAD BAD "\"");                 // overlong
    assert_json("\xe0\x80\xaf", "\"" BAD BAD BAD "\"");         // overlong
    assert_json("\xed\xa0\x80", "\"" BAD BAD BAD "\"");         // surrogate
    assert_json("\xf4\x90\x80\x80", "\"" BAD BAD BAD BAD "\""); // above U+10FFFF
    assert_json("\xe2\x82", "\"" BAD BAD "\"");                 // cut at the end
    assert_json("\xe2\x82\"", "\"" BAD BAD "\\\"\"");           // cut by a quote
    assert_json("\xf0\x9f\x98", "\"" BAD BAD BAD "\"");
}

static void integers_are_strict(void **state)
{
    (void)state;
    int64_t x = 77;
    assert_true(str_to_int("0", 0, 10, &x) && x == 0);
    assert_true(str_to_int("-10", -10, 10, &x) && x == -10);
    assert_true(str_to_int("0010", 0, 10, &x) && x == 10);
    assert_true(str_to_int("9223372036854775807", 0, INT64_MAX, &x) && x == INT64_MAX);
    assert_true(str_to_int("-9223372036854775808", INT64_MIN, 0, &x) && x == INT64_MIN);
    x = 77;
    const char *bad[] = {"",
                         "-",
                         " 1",
                         "1 ",
                         "+1",
                         "1.0",
                         "0x1",
                         "1e2",
                         "--1",
                         "a",
                         "1\n",
                         "101",
                         "-101",
                         "9223372036854775808",
                         "99999999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(str_to_int(bad[i], -100, 100, &x));
    assert_false(str_to_int("9223372036854775808", INT64_MIN, INT64_MAX, &x));
    assert_int_equal(x, 77);
}

static void reals_are_strict(void **state)
{
    (void)state;
    double x = 77;
    assert_true(str_to_real("0.5", &x) && x == 0.5);
    assert_true(str_to_real("-1e-3", &x) && x == -1e-3);
    assert_true(str_to_real("2", &x) && x == 2);
    assert_true(str_to_real(".5", &x) && x == 0.5);
    x = 77;
    const char *bad[] = {"",       " 1",  "1 ",    "0x1p3", "inf", "nan", "1e999",
                         "-1e999", "1,5", "1.2.3", "e5",    "1e",  "-",   "."};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(str_to_real(bad[i], &x));
    assert_true(x == 77);
}

static void integers_are_written(void **state)
{
    (void)state;
    struct str s = {0};
    const int64_t values[] = {0, -1, 7, 1000000, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char want[32];
        snprintf(want, sizeof want, "%" PRId64, values[i]);
        str_add_int(&s, values[i]);
        assert_string_equal(str_text(&s), want);
        str_finish(&s);
    }
}

static void assert_round_trip(double value)
{
    struct str s = {0};
    double back = NAN;
    str_add_real(&s, value);
    assert_null(strchr(str_text(&s), ','));
    assert_true(str_to_real(str_text(&s), &back));
    assert_memory_equal(&back, &value, sizeof value);
    str_finish(&s);
}

static void reals_read_back_the_same(void **state)
{
    (void)state;
    const double values[] = {0.0,
                             -0.0,
                             0.1,
                             1.0 / 3,
                             1e300,
                             -2.5e-300,
                             1e-310,
                             5e-324,
                             1.7976931348623157e308,
                             123456789.123456789,
                             0.1 + 0.2,
                             -3,
                             999999999999999,
                             -1e15};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        assert_round_trip(values[i]);
    struct str s = {0};
    str_add_real(&s, 0.1);
    assert_string_equal(str_text(&s), "0.1");
    str_finish(&s);
}

static void reals_do_not_follow_the_locale(void **state)
{
    (void)state;
    const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "es_ES.UTF-8",
                                 "de_DE"};
    const char *found = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !found; i++)
        found = setlocale(LC_NUMERIC, names[i]);
    if (!found)
        skip(); // no locale with a decimal comma is installed
    assert_round_trip(1.5);
    double x;
    assert_false(str_to_real("1,5", &x));
    setlocale(LC_NUMERIC, "C");
}

static void lists_of_numbers(void **state)
{
    double x[3] = {0};
    int64_t n[3] = {0};
    (void)state;
    assert_int_equal(str_to_reals("[0.5,1e-3, 2]", x, 3), 3);
    assert_true(x[0] == 0.5 && x[1] == 1e-3 && x[2] == 2);
    assert_int_equal(str_to_reals("[9,8,7]", x, 2), 2); // no more than there is room for
    assert_true(x[0] == 9 && x[1] == 8 && x[2] == 2);
    assert_int_equal(str_to_reals("[4,nan,5]", x, 3), 1);
    assert_int_equal(str_to_reals("[]", x, 3), 0);
    assert_int_equal(str_to_reals(NULL, x, 3), 0);
    assert_int_equal(str_to_ints("12,0,9007199254740993", n, 3), 3);
    assert_true(n[0] == 12 && n[1] == 0 && n[2] == INT64_C(9007199254740993));
    assert_int_equal(str_to_ints("1,-2,3", n, 3), 1);
    assert_int_equal(str_to_ints("1,2.5", n, 3), 1);
    assert_int_equal(str_to_ints(NULL, n, 3), 0);
}

static void comparisons(void **state)
{
    (void)state;
    assert_true(str_equal("a", "a") && str_equal(NULL, NULL));
    assert_false(str_equal("a", "b") || str_equal("a", NULL) || str_equal(NULL, "a"));
    assert_true(str_starts("tile_n", "tile") && str_starts("a", ""));
    assert_false(str_starts("ti", "tile"));
}

// XXH3 of the empty input, from the xxHash specification.
static void hashes_are_the_published_ones(void **state)
{
    (void)state;
    char hex[33];
    hash_hex("", 0, hex);
    assert_string_equal(hex, "99aa06d3014798d86001c324468d497f");
    assert_true(hash_bytes("", 0) == 0x2d06800538d394c2);
    char other[33];
    hash_hex("a", 1, hex);
    hash_hex("b", 1, other);
    assert_string_not_equal(hex, other);
    assert_true(hash_bytes("a", 1) != hash_bytes("b", 1));
}

static const char *suggest(const char *name)
{
    static const char *const names[] = {"tile_n", "tile_m", "unroll", "vectorize", "x"};
    const char *found = str_suggest_list(name, sizeof names / sizeof *names, names);
    return found ? found : "none";
}

static void suggestions(void **state)
{
    (void)state;
    assert_string_equal(suggest("unrol"), "unroll");        // deletion
    assert_string_equal(suggest("unrolll"), "unroll");      // insertion
    assert_string_equal(suggest("unrqll"), "unroll");       // replacement
    assert_string_equal(suggest("unorll"), "unroll");       // swap: distance 1, not 2
    assert_string_equal(suggest("vetcroize"), "vectorize"); // two swaps, within 9 / 3
    assert_string_equal(suggest("tile_q"), "tile_n");       // the first of two
    assert_string_equal(suggest("tile_m"), "tile_m");
    assert_string_equal(suggest("y"), "x");
    assert_string_equal(suggest("xyz"), "none");
    assert_string_equal(suggest("workgroup"), "none");
    assert_string_equal(suggest(""), "x"); // one insertion away
    assert_null(str_suggest_list("a", 0, NULL));
    char longer[100];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_string_equal(suggest(longer), "none");
    const char *const one[] = {longer};
    assert_null(str_suggest_list("x", 1, one));
}

// The distance of two texts, straight from its recursive definition.
static size_t slow_distance(const char *a, size_t n, const char *b, size_t m)
{
    if (n == 0 || m == 0)
        return n + m;
    size_t best = slow_distance(a, n - 1, b, m - 1) + (a[n - 1] != b[m - 1]);
    size_t other = slow_distance(a, n - 1, b, m) + 1;
    best = other < best ? other : best;
    other = slow_distance(a, n, b, m - 1) + 1;
    best = other < best ? other : best;
    if (n > 1 && m > 1 && a[n - 1] == b[m - 2] && a[n - 2] == b[m - 1]) {
        other = slow_distance(a, n - 2, b, m - 2) + 1;
        best = other < best ? other : best;
    }
    return best;
}

// All words of up to four letters over {a, b, c} against each other: a suggestion comes exactly
// when the distance allows one.
static void suggestions_follow_the_distance(void **state)
{
    (void)state;
    enum { WORDS = 1 + 3 + 9 + 27 + 81 };
    char word[WORDS][5] = {""};
    int n = 1;
    for (int i = 0; n < WORDS; i++)
        for (char c = 'a'; c <= 'c'; c++, n++) {
            size_t length = strlen(word[i]);
            memcpy(word[n], word[i], length);
            word[n][length] = c;
        }
    for (int i = 0; i < WORDS; i++)
        for (int j = 0; j < WORDS; j++) {
            const char *const candidate[] = {word[j]};
            bool near = slow_distance(word[i], strlen(word[i]), word[j], strlen(word[j])) <= 1;
            assert_int_equal(str_suggest_list(word[i], 1, candidate) != NULL, near);
        }
}

TEST_GROUP(str)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_and_stays_terminated),
        cmocka_unit_test(base64),
        cmocka_unit_test(shell_words),
        cmocka_unit_test(taken_text_is_the_callers),
        cmocka_unit_test(json_escapes),
        cmocka_unit_test(tables_escape_what_would_end_a_cell),
        cmocka_unit_test(json_replaces_what_is_not_utf8),
        cmocka_unit_test(integers_are_strict),
        cmocka_unit_test(reals_are_strict),
        cmocka_unit_test(integers_are_written),
        cmocka_unit_test(reals_read_back_the_same),
        cmocka_unit_test(reals_do_not_follow_the_locale),
        cmocka_unit_test(lists_of_numbers),
        cmocka_unit_test(comparisons),
        cmocka_unit_test(hashes_are_the_published_ones),
        cmocka_unit_test(suggestions),
        cmocka_unit_test(suggestions_follow_the_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
