// All speeds of a session have the unit that suits its best.
#include "group.h"

#include "engine/speed.h"

#include <math.h>
#include <stddef.h>

static void a_session_has_one_unit(void **state)
{
    (void)state;
    const char *name;
    char text[32];
    struct session_record r = {.flop = 1e9, .source = "device", .operation = "{}"};
    assert_string_equal(speed_text(&r, 20, text), "50.00 MFLOPS"); // nothing is known beside it
    assert_string_equal(speed_text(&r, 1e-4, text), "10.00 TFLOPS");
    r.best_seconds = 0.01;
    assert_string_equal(speed_text(&r, 0.01, text), "100.0 GFLOPS");
    assert_string_equal(speed_text(&r, 20, text), "0.050 GFLOPS");
    assert_string_equal(speed_text(&r, 1e-4, text), "10000.0 GFLOPS");
    r.best_seconds = 20;
    assert_string_equal(speed_text(&r, 0.01, text), "100000.0 MFLOPS");
    assert_true(speed_unit(&r, 1e9 / 20, &name) == 1e6); // as screens have it
    assert_string_equal(name, "MFLOPS");
}

// Another objective has its own unit everywhere, and no speed.
static void objectives_have_their_own_units(void **state)
{
    (void)state;
    const char *name;
    char text[SPEED_TEXT_SIZE];
    struct session_record r = {
        .flop = 1e12, .work = 1, .source = "run:x", .operation = "{}", .best_seconds = 1.0 / 40};
    r.objective = "maximize tokens/s";
    r.unit = "tokens/s";
    assert_string_equal(speed_and_time(&r, 1.0 / 40, text), "40.00 tokens/s");
    assert_false(speed_is_inverse(&r));
    assert_float_equal(1e12 * 40 / speed_unit(&r, 1e12 * 40, &name), 40, 1e-9);
    assert_string_equal(name, "tokens/s");
    assert_true(isnan(speed_tflops(&r, 1)) && isnan(speed_ms(&r, 1)));
    r.objective = "minimize us";
    r.best_seconds = 0.013;
    assert_string_equal(speed_and_time(&r, 0.013, text), "13 ms");
    assert_true(speed_is_inverse(&r));
    assert_float_equal(speed_unit(&r, 1e12 / 0.013, &name) / (1e12 / 0.013), 13, 1e-9);
    assert_string_equal(name, "ms");
    assert_float_equal(speed_rate(&r, 0.013), 13000, 1e-9);
    assert_float_equal(speed_ms(&r, 0.013), 13, 1e-9);
    r.objective = "energy";
    assert_string_equal(speed_and_time(&r, 0.0012, text), "1.2 mJ");
    assert_string_equal(speed_rate_word(&r), "J");
    assert_true(isnan(speed_ms(&r, 1)));
    r.objective = NULL;
    r.unit = NULL;
    const char *both = "76.92 TFLOPS  13 ms";
    assert_string_equal(speed_and_time(&r, 0.013, text), both);
}

TEST_GROUP(speed)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_session_has_one_unit),
                                       cmocka_unit_test(objectives_have_their_own_units)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
