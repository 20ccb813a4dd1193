// Simulated annealing on a model, where the best points are known.
#include "search/chains.h"

#include "group.h"
#include "spaces.h"

#include <math.h>
#include <stddef.h>

enum { BEST = 64, VALUES = 18 }; // 18^4 is 104 976

static struct space *space_of_sums(void)
{
    struct space *s = space_create("sums");
    for (int i = 0; i < 4; i++)
        add_discrete(s, (const char *[]){"a", "b", "c", "d"}[i], VALUES);
    return sealed(s);
}

struct judge {
    struct config_set forbidden;
    int scored, asked; // how often
    float lowest;      // score of what it was asked about
    float shift;
};

// Separable: the largest values are the best, those of `a` weigh most.
static float value(const struct judge *j, const struct config *c)
{
    const float weight[] = {1000, 100, 10, 1};
    float sum = j->shift;
    for (int i = 0; i < 4; i++)
        sum += weight[i] * (float)c->slot[i];
    return sum;
}

static void score(void *context, const struct config *c, int count, float *out)
{
    struct judge *j = context;
    for (int i = 0; i < count; i++)
        out[i] = value(j, &c[i]);
    j->scored += count;
}

static bool allows(void *context, const struct config *c)
{
    struct judge *j = context;
    j->asked++;
    j->lowest = fminf(j->lowest, value(j, c));
    return config_set_find(&j->forbidden, c) < 0;
}

static const struct chains_settings settings = {128, 500, 50};
static const atomic_bool never = false;

static int search(struct chains *c, struct judge *j, struct rng *r, int most, struct scored *best)
{
    struct chains_goal goal = {j, score, allows};
    return chains_search(c, &goal, r, &never, most, best);
}

static struct config corner(int below)
{
    return (struct config){{VALUES - 1, VALUES - 1, VALUES - 1, VALUES - 1 - below}};
}

// The top of a hundred thousand, whatever is below 0; none twice; nothing forbidden.
static void test_finds_the_best(void **state)
{
    (void)state;
    struct space *s = space_of_sums();
    struct search_problem p = {.space = s};
    for (int seed = 0; seed < 10; seed++) {
        struct judge j = {.forbidden = {.slots = s->slots}, .shift = seed % 2 ? -1e6F : 0};
        struct config best_allowed = corner(3), forbidden;
        for (int i = 0; i < 3; i++) {
            forbidden = corner(i);
            config_set_add(&j.forbidden, &forbidden, NULL);
        }
        struct chains c;
        struct rng r;
        struct scored best[BEST];
        struct config_set found = {.slots = s->slots};
        rng_seed(&r, (uint64_t)seed);
        chains_init(&c, &p, &settings);
        assert_int_equal(search(&c, &j, &r, BEST, best), BEST);
        assert_true(config_equal(&best[0].config, &best_allowed));
        for (int i = 0; i < BEST; i++) {
            bool is_new;
            config_set_add(&found, &best[i].config, &is_new);
            assert_true(is_new);
            assert_true(config_set_find(&j.forbidden, &best[i].config) < 0);
            assert_true(best[i].score == value(&j, &best[i].config));
            assert_true(i == 0 || best[i].score <= best[i - 1].score);
        }
        assert_true(j.asked < j.scored / 4); // only about what would be among the best
        chains_finish(&c);
        config_set_finish(&found);
        config_set_finish(&j.forbidden);
    }
    space_destroy(s);
}

// The chains go on from where they stood: with one step, again and again, they get there too.
static void test_chains_persist(void **state)
{
    (void)state;
    struct space *s = space_of_sums();
    struct search_problem p = {.space = s};
    struct chains c;
    struct rng r;
    rng_seed(&r, 3);
    chains_init(&c, &p, &(struct chains_settings){4, 40, 40});
    struct judge j = {.forbidden = {.slots = s->slots}};
    struct scored best[1];
    struct config goal = corner(0);
    int searches = 0;
    do
        assert_int_equal(search(&c, &j, &r, 1, best), 1);
    while (!config_equal(&best[0].config, &goal) && ++searches < 100);
    assert_in_range(searches, 1, 99); // not at once
    chains_finish(&c);
    space_destroy(s);
}

static void test_patience_ends_it(void **state)
{
    (void)state;
    struct space *s = space_24();
    struct search_problem p = {.space = s};
    struct chains c;
    struct rng r;
    rng_seed(&r, 3);
    chains_init(&c, &p, &settings);
    assert_int_equal(c.settings.count, 24); // no more than there are points
    struct judge j = {.forbidden = {.slots = s->slots}};
    struct scored best[BEST];
    assert_int_equal(search(&c, &j, &r, BEST, best), 24);
    assert_int_equal(j.scored, 24 * 51); // they began on all of them
    chains_finish(&c);
    space_destroy(s);
}

static void test_a_space_of_one(void **state)
{
    (void)state;
    struct space *s = space_of_one();
    struct search_problem p = {.space = s};
    struct chains c;
    struct rng r;
    rng_seed(&r, 3);
    chains_init(&c, &p, &settings);
    struct judge j = {.forbidden = {.slots = s->slots}};
    struct scored best[BEST];
    assert_int_equal(search(&c, &j, &r, BEST, best), 1);
    chains_finish(&c);
    space_destroy(s);
}

// As where every point is to be random.
static void test_nothing_is_wanted(void **state)
{
    (void)state;
    struct space *s = space_of_sums();
    struct search_problem p = {.space = s};
    struct chains c;
    struct rng r;
    rng_seed(&r, 3);
    chains_init(&c, &p, &settings);
    struct judge j = {.forbidden = {.slots = s->slots}};
    assert_int_equal(search(&c, &j, &r, 0, NULL), 0);
    assert_int_equal(j.scored, 0);
    chains_finish(&c);
    space_destroy(s);
}

static void test_stops(void **state)
{
    (void)state;
    struct space *s = space_of_sums();
    struct search_problem p = {.space = s};
    struct chains c;
    struct rng r;
    rng_seed(&r, 3);
    chains_init(&c, &p, &settings);
    struct judge j = {.forbidden = {.slots = s->slots}};
    struct scored best[BEST];
    struct chains_goal goal = {&j, score, allows};
    const atomic_bool stop = true;
    chains_search(&c, &goal, &r, &stop, BEST, best);
    assert_int_equal(j.scored, settings.count);
    chains_finish(&c);
    space_destroy(s);
}

// One of a hundred is legal, and the problem draws those: no chain stands anywhere else.
static bool is_rare(void *context, const struct config *c)
{
    (void)context;
    return (c->slot[0] * 5 + c->slot[1] * 7 + c->slot[2] * 11 + c->slot[3]) % 97 == 0;
}

static void draw_rare(void *context, struct rng *r, struct config *out)
{
    do
        space_sample(context, r, out);
    while (!is_rare(NULL, out));
}

static void test_rare_points(void **state)
{
    (void)state;
    struct space *s = space_of_sums();
    struct search_problem p = {.space = s, .legal = is_rare, .context = s, .draw = draw_rare};
    struct chains c;
    struct rng r;
    rng_seed(&r, 3);
    chains_init(&c, &p, &settings);
    struct judge j = {.forbidden = {.slots = s->slots}};
    struct scored best[BEST];
    assert_int_equal(search(&c, &j, &r, BEST, best), BEST);
    for (int i = 0; i < settings.count; i++)
        assert_true(is_rare(NULL, &c.here[i]));
    assert_true(best[0].score > 17000);
    chains_finish(&c);
    space_destroy(s);
}

TEST_GROUP(chains)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds_the_best),    cmocka_unit_test(test_chains_persist),
        cmocka_unit_test(test_patience_ends_it),  cmocka_unit_test(test_a_space_of_one),
        cmocka_unit_test(test_nothing_is_wanted), cmocka_unit_test(test_stops),
        cmocka_unit_test(test_rare_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
