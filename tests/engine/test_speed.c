// All speeds of a session have the unit that suits its best.
#include "group.h"

#include "engine/speed.h"

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

TEST_GROUP(speed)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_session_has_one_unit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
