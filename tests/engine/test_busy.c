// A user who tuned on a busy machine gets one message, from the samples of what was timed.
#include "group.h"

#include "engine/session.h"

#include <stddef.h>
#include <string.h>

static bool says(const struct busy *b, const char *part)
{
    struct str text = {0}, throttled = {0};
    busy_add_text(b, &text, &throttled);
    bool has = text.length > 0 && strstr(str_text(&text), part) != NULL;
    assert_true(throttled.length == 0);
    str_finish(&text);
    return has;
}

// Returns the message after so many `timings`, `busy` of them disturbed in most samples.
static struct busy timed(int timings, int busy, enum outcome outcome, int samples)
{
    struct busy b = {0};
    for (int i = 0; i < timings; i++) {
        struct trial_result r = {.count = 1, .outcome = {outcome}};
        r.samples[0].count = samples;
        for (int k = 0; k < samples; k++)
            r.samples[0].seconds[k] = i < busy && k > 1 ? 1.6e-3 : 1e-3;
        busy_watch(&b, &r);
    }
    return b;
}

static bool is_busy(int timings, int busy, enum outcome outcome, int samples)
{
    struct busy b = timed(timings, busy, outcome, samples);
    return says(&b, "");
}

static void a_busy_machine_is_named(void **state)
{
    (void)state;
    struct busy b = timed(30, 17, OUTCOME_OK, 6);
    assert_true(says(&b, "the machine was busy: 17 of 30 timings"));
    assert_true(is_busy(8, 2, OUTCOME_OK, 6)); // one in four
}

static void a_quiet_one_is_not(void **state)
{
    (void)state;
    assert_false(is_busy(30, 0, OUTCOME_OK, 6));
    assert_false(is_busy(9, 2, OUTCOME_OK, 6));
    assert_false(is_busy(0, 0, OUTCOME_OK, 6));
    assert_false(is_busy(3, 3, OUTCOME_OK, 6)); // too few to say
}

static void results_without_timings_do_not_count(void **state)
{
    (void)state;
    assert_false(is_busy(30, 30, OUTCOME_WRONG, 6));
    assert_false(is_busy(30, 30, OUTCOME_OK, 1));
}

// Returns the message where the best took `now_s[i]` at the i-th drift check, 1 ms when measured.
static struct busy after_checks(const double *now_s, int count)
{
    struct busy b = {0};
    for (int i = 0; i < count; i++)
        busy_watch_drift(&b, now_s[i], 1e-3, true);
    return b;
}

static void a_constant_slowdown_is_found_by_drift_checks(void **state)
{
    (void)state;
    struct busy b = after_checks((double[]){3.7e-3, 2.7e-3, 1.1e-3, 7e-3}, 4);
    assert_true(says(&b, "the machine was busy: 3 of 4 times the best so far"));
    assert_true(b.slowdown > 6.9 && b.slowdown < 7.1);
    b = after_checks((double[]){1.1e-3, 0.9e-3}, 2);
    assert_false(says(&b, ""));
    assert_true(b.slowdown < 1);
    b = after_checks((double[]){3e-3}, 1);
    assert_false(says(&b, "")); // once is chance
    b = after_checks(NULL, 0);
    assert_false(says(&b, ""));
    assert_true(b.slowdown == 0);
}

static void a_check_of_a_former_best_leaves_the_slowdown(void **state)
{
    (void)state;
    struct busy b = {0};
    assert_true(busy_watch_drift(&b, 9e-3, 2e-3, false) == 3.5);
    assert_true(b.slowdown == 0);
}

TEST_GROUP(busy)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_busy_machine_is_named),
        cmocka_unit_test(a_quiet_one_is_not),
        cmocka_unit_test(results_without_timings_do_not_count),
        cmocka_unit_test(a_constant_slowdown_is_found_by_drift_checks),
        cmocka_unit_test(a_check_of_a_former_best_leaves_the_slowdown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
