// The choice of one of a shortlist, by a model of what is known.
#include "search/informed.h"

#include "group.h"
#include "spaces.h"

#include <math.h>

enum { VALUES = 32, POINTS = 16, NEAR = 5, FAR = VALUES - 1 };

static bool look(void *context, const struct config *c, int count, struct preview *out)
{
    const int *most = context; // that fits
    for (int i = 0; i < count; i++) {
        out[i].fits = c[i].slot[0] <= *most;
        for (int k = 0; k < STATISTIC_KIND_COUNT; k++)
            out[i].number[k] = NAN;
    }
    return true;
}

static struct config value(int slot)
{
    return (struct config){.slot = {slot}};
}

// Chooses one of two: among the best results, or where nothing is known. Returns its value.
static int chosen(const struct space *space, int most, double sought)
{
    struct search_problem problem = {.space = space, .look = look, .context = &most};
    struct rounds rounds;
    struct coordinates coordinates;
    struct lessons lessons;
    struct informed informed = {.looks.problem = &problem};
    struct rng rng;
    rng_seed(&rng, 1);
    rounds_init(&rounds, &problem);
    coordinates_init(&coordinates, space, false);
    lessons_init(&lessons, &rounds, &coordinates, &informed.looks, POINTS, 4);
    informed_init(&informed, &rounds, &lessons, POINTS);
    for (int i = 0; i <= 2 * NEAR; i++) {
        struct config c = value(i);
        if (i == NEAR)
            continue;
        rounds_add(&rounds, &c, NULL);
        rounds.handed_out++;
        rounds_tell(&rounds.base, &c, OUTCOME_OK, abs(i - NEAR) < 3 ? 10 : 5);
        lessons_told(&lessons, rounds.told - 1);
    }
    struct shortlist s = {.count = 2, .sought = sought};
    s.candidate[0].config = value(NEAR);
    s.candidate[1].config = value(FAR);
    assert_true(informed_choose(&informed, &s, &rng));
    assert_int_equal(s.count, 1);
    int slot = s.candidate[0].config.slot[0];
    informed_finish(&informed);
    lessons_finish(&lessons);
    coordinates_finish(&coordinates);
    rounds_finish(&rounds);
    return slot;
}

// Where improvement is sought it counts that nothing is known of a point, if it fits.
static void what_is_unknown_promises_more(void **state)
{
    (void)state;
    struct space *s = space_create("line");
    add_discrete(s, "a", VALUES);
    sealed(s);
    assert_int_equal(chosen(s, FAR, 4), FAR);
    assert_int_equal(chosen(s, NEAR, 4), NEAR);
    space_destroy(s);
}

TEST_GROUP(informed)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_unknown_promises_more)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
