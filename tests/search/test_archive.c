// Uniform draws among what was not given: also when hardly anything is left.
#include "group.h"
#include "search/archive.h"
#include "spaces.h"

static bool few(void *context, const struct config *c)
{
    (void)context;
    return c->slot[0] % 20000 == 7; // 7, 20007, 40007, 60007
}

// Four of 65536 points: one of two draws must enumerate. Uniform all the same.
static void test_last_points_are_found(void **state)
{
    (void)state;
    struct space *s = space_create("rare");
    add_categorical(s, "a", 65536);
    struct search_problem problem = {.space = sealed(s), .legal = few};
    struct archive v;
    struct config c;
    struct rng r;
    rng_seed(&r, 1);
    archive_init(&v, &problem, true);
    int count[4] = {0};
    for (int i = 0; i < 300; i++) {
        assert_true(archive_draw(&v, &r, &c));
        assert_true(few(NULL, &c) && archive_allows(&v, &c));
        count[c.slot[0] / 20000]++;
    }
    assert_true(chi_square(4, count, (double[]){0.25, 0.25, 0.25, 0.25}) < chi_square_limit(3));
    for (int i = 0; i < 4; i++) {
        assert_true(archive_draw(&v, &r, &c));
        assert_int_equal(archive_add(&v, &c), i);
        assert_false(archive_allows(&v, &c));
    }
    assert_false(archive_draw(&v, &r, &c));
    archive_finish(&v);
    space_destroy(s);
}

TEST_GROUP(archive)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_last_points_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
