// Credit of searches: areas under curves by hand, the choice, and what leaves the window.
#include "group.h"

#include "portfolio.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

enum { ARMS = 3 };

static const bool all[ARMS] = {true, true, true};

static void use(struct credit *c, int arm, const char *gains)
{
    for (; *gains; gains++)
        credit_use(c, arm, *gains == '1');
}

static void assert_near(double a, double b)
{
    assert_true(fabs(a - b) < 1e-12);
}

// 2 / (n (n + 1)) * sum of i v_i: late gains count more, and another arm's uses do not matter.
static void test_areas(void **state)
{
    (void)state;
    struct credit c;
    credit_init(&c, ARMS, 500, 0.05);
    assert_near(credit_of(&c, 0, &(int){0}), 0);
    use(&c, 0, "1000");
    use(&c, 1, "00");
    use(&c, 2, "0001");
    assert_near(credit_of(&c, 0, &(int){0}), 2.0 / (4 * 5) * 1);
    assert_near(credit_of(&c, 1, &(int){0}), 0);
    assert_near(credit_of(&c, 2, &(int){0}), 2.0 / (4 * 5) * 4);
    use(&c, 0, "11");
    assert_near(credit_of(&c, 0, &(int){0}), 2.0 / (6 * 7) * (1 + 5 + 6));
    use(&c, 1, "0");
    assert_near(credit_of(&c, 0, &(int){0}), 12.0 / 21);
    credit_finish(&c);
}

static void test_choice(void **state)
{
    (void)state;
    const bool but_the_first[ARMS] = {false, true, true}, none[ARMS] = {false};
    struct credit c;
    credit_init(&c, ARMS, 500, 0.05);
    for (int arm = 0; arm < ARMS; arm++) { // each once before any twice
        assert_int_equal(credit_choose(&c, all), arm);
        credit_use(&c, arm, false);
    }
    assert_int_equal(credit_choose(&c, all), 0); // equals
    assert_int_equal(credit_choose(&c, but_the_first), 1);
    assert_int_equal(credit_choose(&c, none), -1);
    use(&c, 2, "1");
    assert_int_equal(credit_choose(&c, all), 2);
    credit_finish(&c);
}

// Computed by hand: uses 1, 9 and 90 of 100 without a gain but for the last arm's first: its
// area is 2 / (90 * 91) = 0.00024, and the bonus is 0.05 sqrt(2 ln 100 / n): 0.152, 0.051,
// 0.016.
static void test_curiosity(void **state)
{
    (void)state;
    struct credit curious, greedy;
    credit_init(&curious, ARMS, 500, 0.05);
    credit_init(&greedy, ARMS, 500, 0);
    struct credit *each[] = {&curious, &greedy};
    for (int i = 0; i < 2; i++) {
        use(each[i], 0, "0");
        use(each[i], 1, "000000000");
        use(each[i], 2, "1");
        for (int n = 1; n < 90; n++)
            use(each[i], 2, "0");
    }
    assert_int_equal(credit_choose(&curious, all), 0);
    assert_int_equal(credit_choose(&greedy, all), 2);
    credit_finish(&curious);
    credit_finish(&greedy);
}

static void test_window(void **state)
{
    (void)state;
    struct credit c;
    credit_init(&c, ARMS, 4, 0.05);
    use(&c, 0, "101");
    use(&c, 1, "0");
    assert_near(credit_of(&c, 0, &(int){0}), 2.0 / (3 * 4) * (1 + 3));
    use(&c, 1, "0"); // the first of arm 0 is out
    assert_near(credit_of(&c, 0, &(int){0}), 2.0 / (2 * 3) * 2);
    use(&c, 1, "00");
    assert_near(credit_of(&c, 0, &(int){0}), 0);
    assert_int_equal(credit_choose(&c, all), 0); // as never used
    credit_finish(&c);
}

TEST_GROUP(credit)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_areas),
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_curiosity),
        cmocka_unit_test(test_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
