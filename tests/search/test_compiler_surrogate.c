// The choice from a candidate batch, by a model of the compiler's statistics.
#include "search/compiler_surrogate.h"

#include "group.h"
#include "spaces.h"

#include <math.h>

enum { VALUES = 32, POINTS = 16, NEAR = 5, FAR = VALUES - 1 };

static bool look(void *context, const struct config *c, int count, struct compile_probe *out)
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
static int chosen(const struct space *space, int most, double xi)
{
    struct search_problem problem = {.space = space, .probe = look, .context = &most};
    struct batches batches;
    struct coordinates coordinates;
    struct training_set training;
    struct compiler_surrogate compiler_surrogate = {.probes.problem = &problem};
    struct rng rng;
    rng_seed(&rng, 1);
    batches_init(&batches, &problem, NULL);
    coordinates_init(&coordinates, space, false);
    training_init(&training, &batches, &coordinates, &compiler_surrogate.probes, POINTS, 4);
    compiler_surrogate_init(&compiler_surrogate, &batches, &training, POINTS);
    for (int i = 0; i <= 2 * NEAR; i++) {
        struct config c = value(i);
        if (i == NEAR)
            continue;
        batches_add(&batches, &c, NULL);
        batches.handed_out++;
        batches_tell(&batches.base, &c, OUTCOME_OK, abs(i - NEAR) < 3 ? 10 : 5);
        training_observe(&training, batches.observed - 1);
    }
    struct candidate_batch s = {.count = 2, .xi = xi};
    s.candidate[0].config = value(NEAR);
    s.candidate[1].config = value(FAR);
    assert_true(compiler_surrogate_choose(&compiler_surrogate, &s, &rng));
    assert_int_equal(s.count, 1);
    int slot = s.candidate[0].config.slot[0];
    compiler_surrogate_finish(&compiler_surrogate);
    training_finish(&training);
    coordinates_finish(&coordinates);
    batches_finish(&batches);
    return slot;
}

// A large exploration weight favours a candidate without results nearby, if it fits.
static void test_exploration_weight_favours_unknown(void **state)
{
    (void)state;
    struct space *s = space_create("line");
    add_discrete(s, "a", VALUES);
    sealed(s);
    assert_int_equal(chosen(s, FAR, 4), FAR);
    assert_int_equal(chosen(s, NEAR, 4), NEAR);
    space_destroy(s);
}

TEST_GROUP(compiler_surrogate)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exploration_weight_favours_unknown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
