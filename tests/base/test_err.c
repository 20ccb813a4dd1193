#include "group.h"

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void formats_with_and_without_place(void **state)
{
    (void)state;
    struct err e;
    char out[1400];
    assert_false(err_set(&e, "no device called '%s'", "x"));
    assert_string_equal(err_format(&e, out, sizeof out), "no device called 'x'");
    assert_false(err_at(&e, "mm.lua", 12, "unknown name '%s'", "tile_q"));
    assert_string_equal(err_format(&e, out, sizeof out), "mm.lua:12: unknown name 'tile_q'");
    assert_false(err_at(&e, "mm.lua", 0, "is empty"));
    assert_string_equal(err_format(&e, out, sizeof out), "mm.lua: is empty");
}

static void a_new_error_forgets_the_old_place(void **state)
{
    (void)state;
    struct err e;
    char out[1400];
    err_at(&e, "mm.lua", 3, "one");
    err_set(&e, "two");
    assert_string_equal(err_format(&e, out, sizeof out), "two");
}

static void usage_is_kept_by_prefixes_and_forgotten_by_new_errors(void **state)
{
    (void)state;
    struct err e;
    assert_false(err_usage(&e, "no preset '%s'", "x"));
    assert_string_equal(e.text, "no preset 'x'");
    err_prefix(&e, "tune");
    assert_true(e.usage);
    err_set(&e, "one");
    assert_false(e.usage);
    err_usage(&e, "two");
    err_at(&e, "mm.lua", 3, "three");
    assert_false(e.usage);
}

static void prefix_keeps_the_place(void **state)
{
    (void)state;
    struct err e;
    char out[1400];
    err_at(&e, "mm.lua", 3, "bad size");
    assert_false(err_prefix(&e, "preset '%s'", "mm"));
    assert_false(err_prefix(&e, "tune"));
    assert_string_equal(err_format(&e, out, sizeof out), "mm.lua:3: tune: preset 'mm': bad size");
}

static void long_texts_are_cut_and_terminated(void **state)
{
    (void)state;
    struct err e;
    char longer[4096], out[16];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    err_at(&e, longer, 1, "%s", longer);
    assert_int_equal(strlen(e.file), sizeof e.file - 1);
    assert_int_equal(strlen(e.text), sizeof e.text - 1);
    err_prefix(&e, "%s", longer);
    assert_int_equal(strlen(e.text), sizeof e.text - 1);
    assert_int_equal(strlen(err_format(&e, out, sizeof out)), sizeof out - 1);
}

static void no_error_wanted(void **state)
{
    (void)state;
    assert_false(err_set(NULL, "text"));
    assert_false(err_at(NULL, "file", 1, "text"));
    assert_false(err_prefix(NULL, "text"));
}

TEST_GROUP(err)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_with_and_without_place),
        cmocka_unit_test(a_new_error_forgets_the_old_place),
        cmocka_unit_test(usage_is_kept_by_prefixes_and_forgotten_by_new_errors),
        cmocka_unit_test(prefix_keeps_the_place),
        cmocka_unit_test(long_texts_are_cut_and_terminated),
        cmocka_unit_test(no_error_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
