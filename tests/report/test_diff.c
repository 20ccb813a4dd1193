// Differences of two texts: the reported lines are those of both texts, whole and in order, and few
// differ where few lines were changed.
#include "group.h"

#include "report/diff.h"

#include "base/mem.h"
#include "base/rng.h"
#include "base/str.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static const char marks[] = {' ', '-', '+'};

static char *told(const char *before, const char *after)
{
    struct diff d = diff_lines(before, after);
    struct str out = {0};
    for (int i = 0; i < d.count; i++)
        str_printf(&out, "%c%.*s\n", marks[d.line[i].side], (int)d.line[i].length, d.line[i].text);
    diff_finish(&d);
    return str_take(&out);
}

static void differ(const char *before, const char *after, const char *expected)
{
    char *text = told(before, after);
    assert_string_equal(text, expected);
    free(text);
}

static void test_by_hand(void **state)
{
    (void)state;
    differ("", "", "");
    differ("a\n", "a\n", " a\n");
    differ("a", "a\n", " a\n"); // the last line's end is no difference
    differ("", "a\nb\n", "+a\n+b\n");
    differ("a\nb\n", "", "-a\n-b\n");
    differ("a\nb\nc\n", "a\nx\nc\n", " a\n-b\n+x\n c\n");
    differ("{\na\n}\n", "{\na\n}\n{\nb\n}\n", " {\n a\n }\n+{\n+b\n+}\n");
    differ("one\n{\n}\ntwo\n{\n}\n", "two\n{\n}\n", "-one\n-{\n-}\n two\n {\n }\n");
}

static void test_unified(void **state)
{
    struct str out = {0};
    (void)state;
    struct diff d = diff_lines("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\nx\n4\n5\n6\n7\n8\n");
    diff_add_text(&d, 1, &out);
    assert_string_equal(str_text(&out), "@@ -2,3 +2,3 @@\n 2\n-3\n+x\n 4\n"
                                        "@@ -8,2 +8,1 @@\n 8\n-9\n");
    str_finish(&out);
    diff_add_text(&d, 9, &out);
    assert_string_equal(str_text(&out),
                        "@@ -1,9 +1,8 @@\n 1\n 2\n-3\n+x\n 4\n 5\n 6\n 7\n 8\n-9\n");
    str_finish(&out);
    diff_finish(&d);
    d = diff_lines("", "a\n");
    diff_add_text(&d, 3, &out);
    assert_string_equal(str_text(&out), "@@ -0,0 +1,1 @@\n+a\n");
    str_finish(&out);
    diff_finish(&d);
    d = diff_lines("a\n", "a\n");
    diff_add_text(&d, 3, &out);
    assert_string_equal(str_text(&out), "");
    diff_finish(&d);
}

// One side of it is that text.
static void assert_holds(const struct diff *d, const char *text, enum diff_side other, bool before)
{
    struct str out = {0};
    int line = 0;
    for (int i = 0; i < d->count; i++) {
        if (d->line[i].side == other)
            continue;
        assert_int_equal(before ? d->line[i].before : d->line[i].after, line++);
        str_printf(&out, "%.*s\n", (int)d->line[i].length, d->line[i].text);
    }
    assert_string_equal(str_text(&out), text);
    str_finish(&out);
}

static void test_drawn(void **state)
{
    struct rng rng;
    (void)state;
    rng_seed(&rng, 3);
    for (int round = 0; round < 3000; round++) {
        struct str text[2] = {{0}, {0}};
        int words = 1 + (int)rng_below(&rng, 12);
        for (int side = 0; side < 2; side++)
            for (int i = (int)rng_below(&rng, 30); i > 0; i--)
                str_printf(&text[side], "%d\n", (int)rng_below(&rng, (uint64_t)words));
        struct diff d = diff_lines(str_text(&text[0]), str_text(&text[1]));
        assert_holds(&d, str_text(&text[0]), DIFF_AFTER, true);
        assert_holds(&d, str_text(&text[1]), DIFF_BEFORE, false);
        diff_finish(&d);
        str_finish(&text[0]);
        str_finish(&text[1]);
    }
}

// Few lines differ among many: few are reported.
static void test_little(void **state)
{
    struct str text[2] = {{0}, {0}};
    (void)state;
    for (int i = 0; i < 20000; i++)
        for (int side = 0; side < 2; side++)
            str_printf(&text[side],
                       side && i % 1000 == 7 ? "other %d\n"
                       : i % 3               ? "line %d\n"
                                             : "}\n",
                       i);
    struct diff d = diff_lines(str_text(&text[0]), str_text(&text[1]));
    int other = 0;
    for (int i = 0; i < d.count; i++)
        other += d.line[i].side != DIFF_SAME;
    assert_int_equal(other, 40);
    diff_finish(&d);
    str_finish(&text[0]);
    str_finish(&text[1]);
}

TEST_GROUP(diff)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_unified),
        cmocka_unit_test(test_drawn),
        cmocka_unit_test(test_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
