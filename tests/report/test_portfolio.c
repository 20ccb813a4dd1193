// Portfolios against all rules that there are, by brute force.
#include "group.h"

#include "report/portfolio.h"

#include "base/rng.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

enum { SHAPES = 5, CANDIDATES = 4, AXES = 2 };

struct table {
    double seconds[SHAPES * CANDIDATES], size[SHAPES * AXES], weight[SHAPES];
};

static struct portfolio_problem draw(struct rng *r, struct table *t, bool by_worst)
{
    for (int i = 0; i < SHAPES * CANDIDATES; i++)
        t->seconds[i] = rng_below(r, 6) ? 1 + rng_real(r) : 0;
    for (int i = 0; i < SHAPES * AXES; i++)
        t->size[i] = (double)(1 + rng_below(r, 3));
    for (int i = 0; i < SHAPES; i++) {
        t->weight[i] = 1 + rng_real(r);
        t->seconds[i * CANDIDATES] = 3; // one is measured everywhere
    }
    return (struct portfolio_problem){SHAPES,  CANDIDATES, AXES,    t->seconds,
                                      t->size, t->weight,  by_worst};
}

// Returns the cost of such a choice; infinity where something was not measured.
static double cost_of(const struct portfolio_problem *p, const int choice[SHAPES])
{
    double cost = 0;
    for (int i = 0; i < SHAPES; i++) {
        double s = p->seconds[i * CANDIDATES + choice[i]];
        if (s <= 0)
            return INFINITY;
        cost = p->by_worst ? fmax(cost, s / portfolio_best(p, i)) : cost + p->weight[i] * s;
    }
    return cost;
}

static bool is_below(const struct portfolio_problem *p, int shape, int axis, int cut)
{
    return p->size[shape * AXES + axis] <= cut;
}

// Tries at most three configurations: a cut, and another one on one side of it.
static double brute_force(const struct portfolio_problem *p, int most)
{
    double best = INFINITY;
    for (int rule = 0; rule < AXES * 4 * AXES * 4 * 2; rule++)
        for (int chosen = 0; chosen < CANDIDATES * CANDIDATES * CANDIDATES; chosen++) {
            int first = rule % (AXES * 4), second = rule / (AXES * 4) % (AXES * 4), choice[SHAPES];
            bool of_below = rule / (AXES * 4 * AXES * 4);
            for (int i = 0; i < SHAPES; i++) {
                bool below = most > 1 && is_below(p, i, first % AXES, first / AXES);
                bool again =
                    most > 2 && below == of_below && is_below(p, i, second % AXES, second / AXES);
                choice[i] = again   ? chosen / (CANDIDATES * CANDIDATES)
                            : below ? chosen / CANDIDATES % CANDIDATES
                                    : chosen % CANDIDATES;
            }
            best = fmin(best, cost_of(p, choice));
        }
    return best;
}

static int followed(const struct portfolio *f, const struct portfolio_problem *p, int shape)
{
    int at = 0;
    while (f->node[at].axis >= 0)
        at = p->size[shape * AXES + f->node[at].axis] <= f->node[at].most ? f->node[at].below
                                                                          : f->node[at].above;
    return f->node[at].candidate;
}

static void test_all_rules(void **state)
{
    struct rng r;
    (void)state;
    rng_seed(&r, 1);
    for (int i = 0; i < 60; i++) {
        struct table t;
        struct portfolio found;
        struct portfolio_problem p = draw(&r, &t, i % 2);
        int most = 1 + i % 3;
        assert_true(portfolio_find(&p, most, &found));
        assert_true(found.nodes <= 2 * most - 1);
        for (int s = 0; s < SHAPES; s++)
            assert_int_equal(followed(&found, &p, s), found.candidate[s]);
        double best = brute_force(&p, most);
        assert_true(fabs(found.cost[0] - best) < 1e-8 * best);
        assert_true(fabs(cost_of(&p, found.candidate) - best) < 1e-8 * best);
    }
}

// Two shapes of one size, and nothing that was measured on both.
static void test_nothing_in_common(void **state)
{
    static const double seconds[] = {1, 0, 0, 1}, same[] = {8, 8}, other[] = {8, 9},
                        weight[] = {1, 1};
    struct portfolio found;
    struct portfolio_problem p = {2, 2, 1, seconds, same, weight, false};
    (void)state;
    assert_false(portfolio_find(&p, 2, &found));
    p.size = other;
    assert_false(portfolio_find(&p, 1, &found));
    assert_true(portfolio_find(&p, 2, &found));
    assert_int_equal(found.candidate[0], 0);
    assert_int_equal(found.candidate[1], 1);
}

TEST_GROUP(portfolio)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_rules),
        cmocka_unit_test(test_nothing_in_common),
    };
    return cmocka_run_group_tests_name("portfolio", tests, NULL, NULL);
}
