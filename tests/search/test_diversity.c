// Greedy choice of points that are good and differ, against all choices.
#include "search/chains.h"

#include "group.h"
#include "spaces.h"

#include <math.h>
#include <stddef.h>

enum { CANDIDATES = 10, PICKS = 3 };

static struct space *space_of_three(void)
{
    struct space *s = space_create("three");
    add_discrete(s, "a", 3);
    add_factorization(s, "b", 12, 2);
    add_permutation(s, "c", 3);
    return sealed(s);
}

// The set function itself, by counting.
static double worth(const struct space *s, const struct scored *candidate, const int *pick,
                    int picks, double alpha)
{
    double sum = 0;
    for (int i = 0; i < picks; i++) {
        sum += (double)candidate[pick[i]].score;
        for (int k = 0; k < s->param_count; k++) {
            const struct param *p = &s->param[k];
            bool is_new = true;
            for (int n = 0; n < i; n++)
                is_new = is_new && param_distance(p, candidate[pick[i]].config.slot + p->offset,
                                                  candidate[pick[n]].config.slot + p->offset) != 0;
            sum += is_new ? alpha : 0;
        }
    }
    return sum;
}

static double best_worth(const struct space *s, const struct scored *candidate, double alpha)
{
    double best = 0;
    for (int a = 0; a < CANDIDATES; a++)
        for (int b = a + 1; b < CANDIDATES; b++)
            for (int c = b + 1; c < CANDIDATES; c++)
                best = fmax(best, worth(s, candidate, (int[]){a, b, c}, PICKS, alpha));
    return best;
}

static void draw_candidates(const struct space *s, struct rng *r, struct scored *candidate)
{
    for (int i = 0; i < CANDIDATES; i++) {
        space_sample(s, r, &candidate[i].config);
        candidate[i].score = 1 - (float)i / CANDIDATES;
    }
}

static void test_within_the_bound(void **state)
{
    (void)state;
    struct space *s = space_of_three();
    struct rng r;
    rng_seed(&r, 1);
    int optimal = 0;
    for (int i = 0; i < 200; i++) {
        double alpha = (const double[]){0, 0.1, 0.5, 3, 1000}[i % 5];
        struct scored candidate[CANDIDATES];
        int pick[PICKS];
        draw_candidates(s, &r, candidate);
        assert_int_equal(diversity_pick(s, candidate, CANDIDATES, alpha, PICKS, pick), PICKS);
        assert_true(pick[0] != pick[1] && pick[0] != pick[2] && pick[1] != pick[2]);
        double found = worth(s, candidate, pick, PICKS, alpha);
        double best = best_worth(s, candidate, alpha);
        assert_true(found >= (1 - exp(-1)) * best);
        optimal += found >= best * (1 - 1e-9);
        if (alpha == 0)
            assert_true(pick[0] == 0 && pick[1] == 1 && pick[2] == 2);
    }
    assert_in_range(optimal, 120, 200);
    space_destroy(s);
}

// The first of equals is picked, and no more than there are.
static void test_all_alike(void **state)
{
    (void)state;
    struct space *s = space_of_three();
    struct scored candidate[4] = {{.score = -1}, {.score = -1}, {.score = -1}, {.score = -1}};
    int pick[8];
    for (int i = 0; i < 4; i++)
        space_point(s, 0, &candidate[i].config);
    assert_int_equal(diversity_pick(s, candidate, 4, 1, 8, pick), 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pick[i], i);
    assert_int_equal(diversity_pick(s, candidate, 0, 1, 8, pick), 0);
    for (int i = 0; i < 4; i++) // of a model that has gone wrong
        candidate[i].score = NAN;
    assert_int_equal(diversity_pick(s, candidate, 4, 1, 8, pick), 4);
    assert_int_equal(pick[0] + pick[1] + pick[2] + pick[3], 0 + 1 + 2 + 3);
    space_destroy(s);
}

TEST_GROUP(diversity)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_within_the_bound),
        cmocka_unit_test(test_all_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
