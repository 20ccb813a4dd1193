// The allowed slow-down, and sessions that cannot be verified here.
#include "group.h"
#include "wording.h"

#include "export/reverify.h"

#include "trial/source.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Median deviations of 1 and 5 % of 10 ms, which count 1.4826 times: 4.4 and 22.2 % are allowed.
#define STEADY "[0.0099,0.01,0.0101]"
#define SHAKY  "[0.0095,0.01,0.0105]"

static bool passes(const char *samples, double again_s, double slower_percent, struct err *e)
{
    struct reverified k = {
        .name = "k", .trial = 12, .stored_s = 0.01, .samples = samples, .again_s = again_s};
    struct reverify_options o = {.has_slower = slower_percent >= 0,
                                 .slower_percent = slower_percent};
    return reverify_judge(&k, &o, e);
}

static void five_percent(void **state)
{
    struct err e = {0};
    (void)state;
    assert_true(passes(NULL, 0.0104, -1, &e));
    assert_false(passes(NULL, 0.0106, -1, &e));
    wording_is("report", "reverify: slower", e.text);
    assert_true(passes("[]", 0.0104, -1, &e));
    assert_false(passes("[0.01]", 0.0106, -1, &e)); // one sample has no spread
    assert_false(passes("[0.01,0.01]", 0.0106, -1, &e));
    assert_true(passes(NULL, 0.002, -1, &e)); // faster is no fault
}

static void spread_of_the_samples(void **state)
{
    struct err e = {0};
    (void)state;
    assert_true(passes(STEADY, 0.01049, -1, &e)); // 5 % are more
    assert_false(passes(STEADY, 0.01051, -1, &e));
    assert_null(strstr(e.text, "spread"));
    assert_true(passes(SHAKY, 0.01222, -1, &e));
    assert_false(passes(SHAKY, 0.01223, -1, &e));
    assert_non_null(strstr(e.text, "22.2 %"));
}

// One sample that was disturbed does not allow everything.
static void an_outlier(void **state)
{
    struct err e = {0};
    (void)state;
    assert_false(passes("[0.01,0.0101,0.5,0.01,0.0099]", 0.0106, -1, &e));
    assert_true(passes("[0.01,0.0101,0.5,0.01,0.0099]", 0.0104, -1, &e));
}

static void what_the_user_says(void **state)
{
    struct err e = {0};
    (void)state;
    assert_false(passes(SHAKY, 0.01001, 0, &e));
    assert_true(passes(SHAKY, 0.01, 0, &e));
    assert_false(passes(SHAKY, 0.0104, 3, &e));
    assert_null(strstr(e.text, "three times"));
    assert_true(passes(NULL, 0.019, 100, &e));
}

static void texts(void **state)
{
    struct str out = {0};
    struct reverified k = {.stored_s = 0.01, .again_s = 0.0101};
    const struct session_record r = {.source = "device", .flop = 4.131e11};
    (void)state;
    reverify_add_text(&r, &k, &out);
    assert_true(str_starts(str_text(&out), "40.90 TFLOPS, 1.0 % slower"));
    str_finish(&out);
    k.again_s = 0.00988;
    reverify_add_text(&r, &k, &out);
    assert_true(str_starts(str_text(&out), "41.81 TFLOPS, 1.2 % faster"));
    str_finish(&out);
}

// Refused before anything is started: no script is needed.
static void not_here(void **state)
{
    struct err e = {0};
    struct reverified k = {.name = "k", .stored_s = 1};
    struct reverify_options o = {0};
    struct session_record r = {.id = 3,
                               .source = "synthetic:bowl",
                               .device = "a device",
                               .driver = "a driver",
                               .device_id = "1234"};
    (void)state;
    assert_false(reverify(&r, NULL, &o, &k, 1, &e));
    assert_non_null(strstr(e.text, "synthetic"));
    r.source = "device";
    assert_false(reverify(&r, NULL, &o, &k, 1, &e));
    assert_null(strstr(e.text, "synthetic"));
}

// Devices are listed by a worker: this program again.
TEST_GROUP(reverify)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(five_percent), cmocka_unit_test(spread_of_the_samples),
        cmocka_unit_test(an_outlier),   cmocka_unit_test(what_the_user_says),
        cmocka_unit_test(texts),        cmocka_unit_test(not_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
