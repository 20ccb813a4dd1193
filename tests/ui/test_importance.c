// Importance of parameters against its definition, on noise, and on known causes.
#include "group.h"
#include "landscape.h"
#include "spaces.h"

#include <math.h>
#include <string.h>

static void expect_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.9g is not within %g of %.9g", a, tolerance, b);
}

static void test_equal_values_share_their_mean_rank(void **state)
{
    (void)state;
    const double value[] = {5, 1, 3, 3, 9, 3, 1};
    const double expected[] = {6, 1.5, 4, 4, 7, 4, 1.5};
    double rank[7];
    rank_values(value, 7, rank);
    for (int i = 0; i < 7; i++)
        assert_true(rank[i] == expected[i]);
    rank_values(value, 0, rank);
}

// epsilon^2 as (SSbetween - (k - 1) MSwithin) / SStotal, from the definition of each, in n * n.
static double share_by_hand(const double *value, const uint64_t *key, int n)
{
    double mean = 0, between = 0, within = 0;
    int groups = 0;
    for (int i = 0; i < n; i++)
        mean += value[i] / n;
    for (int i = 0; i < n; i++) {
        double sum = 0;
        int members = 0;
        bool first = true;
        for (int k = 0; k < n; k++)
            if (key[k] == key[i]) {
                first &= k >= i;
                sum += value[k];
                members++;
            }
        groups += first;
        between += pow(sum / members - mean, 2);
        within += pow(value[i] - sum / members, 2);
    }
    if (groups == n || between + within == 0)
        return 0;
    return fmax(0, (between - (groups - 1) * within / (n - groups)) / (between + within));
}

static void test_share_is_what_its_definition_says(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 3);
    for (int round = 0; round < 200; round++) {
        double value[60], rank[60];
        uint64_t key[60];
        int n = 1 + (int)rng_below(&rng, 60), groups;
        uint64_t groups_wanted = 1 + rng_below(&rng, 12);
        for (int i = 0; i < n; i++) {
            key[i] = rng_below(&rng, groups_wanted) * 1000003;
            value[i] = (double)rng_below(&rng, 20) + (double)(key[i] % 7) * (round % 3);
        }
        rank_values(value, n, rank);
        double share = explained_share(rank, key, n, &groups);
        assert_in_range(groups, 1, groups_wanted);
        expect_near(share, share_by_hand(rank, key, n), 1e-9);
    }
}

static void test_share_of_nothing(void **state)
{
    (void)state;
    const double value[] = {1, 2, 3}, same[] = {4, 4, 4};
    const uint64_t all_different[] = {1, 2, 3}, all_equal[] = {1, 1, 1}, two[] = {1, 1, 2};
    assert_true(explained_share(value, all_different, 3, NULL) == 0);
    assert_true(explained_share(value, all_equal, 3, NULL) == 0);
    assert_true(explained_share(same, two, 3, NULL) == 0);
    assert_true(explained_share(value, two, 0, NULL) == 0);
    assert_true(explained_share(value, two, 1, NULL) == 0);
}

// The raw ratio of noise is (k - 1) / (N - 1) = 0.49 here; what is shown must be about nothing.
// (Cut off at 0, its mean is above 0 by about 0.4 of its standard deviation, which is about 0.11.)
static void test_noise_is_not_important(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 11);
    double sum = 0;
    for (int round = 0; round < 400; round++) {
        double value[60], rank[60];
        uint64_t key[60];
        for (int i = 0; i < 60; i++) {
            value[i] = rng_real(&rng);
            key[i] = (uint64_t)i / 2;
        }
        rank_values(value, 60, rank);
        sum += explained_share(rank, key, 60, NULL) / 400;
    }
    assert_in_range((int)(sum * 1000), 20, 110);
}

// --- of trials ---

static void settle(struct importance *i)
{
    int steps = 0;
    while (importance_step(i))
        assert_true(++steps < 1000);
}

static double speed_of(const struct space *s, const struct config *c)
{
    int tile = c->slot[s->param[0].offset + 1], mode = c->slot[s->param[1].offset];
    return exp(tile) * (1 + 0.01 * mode); // the second decides only among equal first ones
}

static struct space *space_of_causes(void)
{
    struct space *s = space_create("causes");
    add_factorization(s, "tile", 64, 3);
    add_categorical(s, "mode", 4);
    add_discrete(s, "none", 6);
    return sealed(s);
}

static void add_trials(struct importance *i, int count, uint64_t seed)
{
    struct rng rng;
    rng_seed(&rng, seed);
    for (int n = 0; n < count; n++) {
        struct config c;
        space_sample(i->space, &rng, &c);
        importance_add(i, &c, speed_of(i->space, &c));
    }
}

static void test_causes_are_found(void **state)
{
    (void)state;
    struct space *s = space_of_causes();
    struct importance i;
    importance_init(&i, s);
    settle(&i);
    assert_int_equal(i.used, 0);
    assert_true(isnan(importance_of(&i, (struct factor){0, 1})));
    add_trials(&i, 800, 5);
    settle(&i);
    assert_int_equal(i.used, 800);
    assert_int_equal(i.count, 6); // tile, three parts, mode, none
    assert_true(importance_of(&i, (struct factor){0, 1}) > 0.9);
    assert_true(importance_of(&i, (struct factor){0, -1}) > 0.9);
    assert_true(importance_of(&i, (struct factor){1, -1}) < 0.1);
    assert_true(importance_of(&i, (struct factor){2, -1}) < 0.03);
    for (int n = 1; n < i.count; n++)
        assert_true(i.entry[n - 1].share >= i.entry[n].share);
    importance_finish(&i);
    space_destroy(s);
}

// Up to the size of the sample every trial counts: as explained_share of all of them.
static void test_exact_while_all_fit(void **state)
{
    (void)state;
    struct space *s = space_of_causes();
    struct importance i;
    struct rng rng;
    static double speed[IMPORTANCE_SAMPLE], rank[IMPORTANCE_SAMPLE];
    static uint64_t key[IMPORTANCE_SAMPLE];
    importance_init(&i, s);
    rng_seed(&rng, 9);
    for (int n = 0; n < IMPORTANCE_SAMPLE; n++) {
        struct config c;
        space_sample(s, &rng, &c);
        speed[n] = speed_of(s, &c) * (1 + rng_real(&rng));
        key[n] = (uint64_t)c.slot[s->param[0].offset];
        importance_add(&i, &c, speed[n]);
    }
    settle(&i);
    assert_int_equal(i.used, IMPORTANCE_SAMPLE);
    rank_values(speed, IMPORTANCE_SAMPLE, rank);
    assert_true(importance_of(&i, (struct factor){0, 0}) ==
                explained_share(rank, key, IMPORTANCE_SAMPLE, NULL));
    importance_finish(&i);
    space_destroy(s);
}

// Numbers are never older than a twentieth of the trials, nor made anew for less.
static void test_numbers_keep_up_with_trials(void **state)
{
    (void)state;
    struct space *s = space_of_causes();
    struct importance i;
    int64_t used = 0;
    int made = 0;
    importance_init(&i, s);
    for (int n = 1; n <= 1000; n++) {
        add_trials(&i, 1, (uint64_t)n);
        settle(&i);
        assert_in_range(i.added - i.used, 0, i.used / 20);
        made += i.used != used;
        used = i.used;
    }
    assert_in_range(made, 60, 130); // log(1000) / log(1.05) = 142, and each of the first forty
    importance_finish(&i);
    space_destroy(s);
}

static void test_a_sample_speaks_for_many(void **state)
{
    (void)state;
    struct space *s = space_of_causes();
    struct importance few, many, again;
    importance_init(&few, s);
    importance_init(&many, s);
    importance_init(&again, s);
    add_trials(&few, IMPORTANCE_SAMPLE, 21);
    add_trials(&many, 60000, 22);
    add_trials(&again, 60000, 22);
    settle(&few);
    settle(&many);
    settle(&again);
    assert_int_equal(many.used, 60000);
    assert_int_equal(many.kept, IMPORTANCE_SAMPLE);
    for (int n = 0; n < few.count; n++)
        expect_near(few.entry[n].share, importance_of(&many, few.entry[n].factor), 0.05);
    assert_memory_equal(many.speed, again.speed, sizeof *many.speed * IMPORTANCE_SAMPLE);
    // Late trials are in it like early ones.
    int late = 0;
    struct importance marked;
    importance_init(&marked, s);
    struct config c;
    space_point(s, 0, &c);
    for (int n = 0; n < 40000; n++)
        importance_add(&marked, &c, n);
    for (int n = 0; n < IMPORTANCE_SAMPLE; n++)
        late += marked.speed[n] >= 20000;
    assert_in_range(late, 3900, 4300); // 4096 +- 4.5 standard deviations of 45
    importance_finish(&few);
    importance_finish(&many);
    importance_finish(&again);
    importance_finish(&marked);
    space_destroy(s);
}

TEST_GROUP(importance)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_values_share_their_mean_rank),
        cmocka_unit_test(test_share_is_what_its_definition_says),
        cmocka_unit_test(test_share_of_nothing),
        cmocka_unit_test(test_noise_is_not_important),
        cmocka_unit_test(test_causes_are_found),
        cmocka_unit_test(test_exact_while_all_fit),
        cmocka_unit_test(test_numbers_keep_up_with_trials),
        cmocka_unit_test(test_a_sample_speaks_for_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
