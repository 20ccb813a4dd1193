// Strategies that look before they ask: what is asked for was compiled, fits, and is better for
// what the driver said of it.
#include "driver.h"
#include "group.h"
#include "nests.h"

#include <math.h>
#include <string.h>

enum { BATCH = 16, ROUNDS = 5, ASKS = BATCH * ROUNDS };

// Nothing of a plan is drawn, and nothing is a probe. The first needs no XGBoost, all others do.
static const struct {
    const char *looks, *blind;
} strategies[] = {
    {"walk:starts=16:leave=0:look=3", "walk:starts=16:leave=0"},
    {"autotvm:plan=16:epsilon=0:chains=16:steps=60:look=3",
     "autotvm:plan=16:epsilon=0:chains=16:steps=60"},
    {"ansor:plan=16:epsilon=0:warmup=16:pop=64:look=3", "ansor:plan=16:epsilon=0:warmup=16:pop=64"},
    {"forest:plan=16:epsilon=0:look=3", "forest:plan=16:epsilon=0"},
};
#define COUNT(list) (sizeof(list) / sizeof *(list))

static struct config_set compiled;
static int waited; // how often something had to be compiled first
static bool all_fit;

static bool fits(const struct config *c)
{
    return all_fit || config_hash(c) % 2 == 0;
}

// No parameter says how fast a kernel is, but its registers do.
static double speed(const struct config *c)
{
    return 1 + (double)(config_hash(c) / 2 % 8);
}

static bool look(void *context, const struct config *c, int count, struct compile_probe *out)
{
    (void)context;
    bool all = true;
    for (int i = 0; i < count; i++) {
        bool is_new;
        config_set_add(&compiled, &c[i], &is_new);
        out[i].fits = fits(&c[i]);
        for (int k = 0; k < STATISTIC_KIND_COUNT; k++)
            out[i].number[k] = NAN;
        out[i].number[STATISTIC_REGISTERS] = exp2(speed(&c[i]));
        all &= !is_new;
    }
    waited += !all;
    return all;
}

static struct config asked[ASKS];

// Returns the mean speed after the first round.
static double search(const struct search_problem *p, const char *spec)
{
    double mean = 0;
    struct strategy *s = strategy_create(spec, p, 3, NULL);
    config_set_finish(&compiled);
    compiled.slots = p->space->slots;
    waited = 0;
    for (int n = 0; n < ASKS;) {
        int first = n;
        enum ask a;
        while (n < ASKS && n < first + BATCH && (a = strategy_ask(s, &asked[n])) != ASK_EXHAUSTED) {
            n += a == ASK_NEW;
            if (a == ASK_WAIT && !strategy_wait(s))
                break;
        }
        assert_true(n > first);
        for (int i = first; i < n; i++) {
            mean += i < BATCH ? 0 : speed(&asked[i]) / (ASKS - BATCH);
            strategy_tell(s, &asked[i], OUTCOME_OK, speed(&asked[i]));
        }
    }
    strategy_destroy(s);
    return mean;
}

static void test_they_see_what_the_driver_says(void **state)
{
    (void)state;
    struct config c;
    struct space *s = space_with_product(&c);
    struct search_problem blind = {.space = s}, tells = {.space = s, .probe = look};
    for (size_t i = 0; i < COUNT(strategies) && strategy_possible(strategies[i].looks, NULL); i++) {
        all_fit = true;
        double without = search(&blind, strategies[i].blind);
        double with = search(&tells, strategies[i].looks);
        if (with < without + 0.5)
            fail_msg("%s: %g, %g without", strategies[i].looks, with, without);
        assert_true(waited >= ROUNDS - 1);
        for (int n = BATCH; n < ASKS; n++)
            assert_true(config_set_find(&compiled, &asked[n]) >= 0);
        assert_true(compiled.count > ASKS);
    }
    space_and_nest_destroy(s);
}

// If none of three candidates fits, walk proposes one of them, and the other strategies draw.
static void test_what_does_not_fit_is_passed_over(void **state)
{
    (void)state;
    struct config c;
    struct space *s = space_with_product(&c);
    struct search_problem tells = {.space = s, .probe = look};
    for (size_t i = 0; i < COUNT(strategies) && strategy_possible(strategies[i].looks, NULL); i++) {
        int unfit = 0;
        all_fit = false;
        search(&tells, strategies[i].looks);
        for (int n = BATCH; n < ASKS; n++)
            unfit += !fits(&asked[n]);
        if (unfit > (ASKS - BATCH) * 2 / 5)
            fail_msg("%s: %d do not fit", strategies[i].looks, unfit);
    }
    space_and_nest_destroy(s);
}

// Without a driver that tells, or with look=1, nothing is another search.
static void test_looks_change_nothing_else(void **state)
{
    (void)state;
    struct config c;
    struct space *s = space_with_product(&c);
    struct search_problem blind = {.space = s}, tells = {.space = s, .probe = look};
    struct config wanted[ASKS];
    for (size_t i = 0; i < COUNT(strategies) && strategy_possible(strategies[i].looks, NULL); i++) {
        search(&blind, strategies[i].blind);
        memcpy(wanted, asked, sizeof wanted);
        search(&blind, strategies[i].looks);
        assert_memory_equal(wanted, asked, sizeof wanted);
        search(&tells, strategies[i].blind);
        assert_memory_equal(wanted, asked, sizeof wanted);
        assert_int_equal(compiled.count, 0);
    }
    space_and_nest_destroy(s);
}

// --- candidate batches ---

// A driver that takes its time, and results that come in order, each at any time.
static struct {
    struct rng rng;
    int lag;                        // calls of look until the latest is compiled
    int calls, ready_at[16 * 1024]; // by index in `compiled`
    int most_at_once;
} slow;

static bool look_slowly(void *context, const struct config *c, int count, struct compile_probe *out)
{
    int at_once = 0;
    bool all = true;
    slow.calls++;
    for (int i = 0; i < count; i++) {
        bool is_new;
        int index = config_set_add(&compiled, &c[i], &is_new);
        assert_true(index < (int)COUNT(slow.ready_at));
        if (is_new)
            slow.ready_at[index] = slow.calls + (int)rng_below(&slow.rng, (uint64_t)slow.lag + 1);
        all &= slow.ready_at[index] <= slow.calls;
        look(context, &c[i], 1, &out[i]);
    }
    for (int i = 0; i < compiled.count; i++)
        at_once += slow.ready_at[i] > slow.calls;
    slow.most_at_once = at_once > slow.most_at_once ? at_once : slow.most_at_once;
    return all;
}

static void search_slowly(const struct space *space, const char *spec, uint64_t seed, int lag)
{
    struct search_problem p = {.space = space, .probe = look_slowly};
    struct strategy *s = strategy_create(spec, &p, 3, NULL);
    config_set_finish(&compiled);
    compiled.slots = space->slots;
    slow.calls = slow.most_at_once = 0;
    slow.lag = lag;
    rng_seed(&slow.rng, seed);
    for (int n = 0, told = 0; n < ASKS;) {
        enum ask a = strategy_ask(s, &asked[n]);
        assert_true(a != ASK_EXHAUSTED && (a != ASK_WAIT || told < n));
        n += a == ASK_NEW;
        while (told < n && (a == ASK_WAIT || rng_below(&slow.rng, 2))) {
            strategy_tell(s, &asked[told], OUTCOME_OK, speed(&asked[told]));
            told++;
            a = ASK_NEW;
        }
    }
    strategy_destroy(s);
}

// The proposals do not depend on the time that the driver and the trials take, also with several
// candidate batches compiled at a time.
static void test_shortlists_are_the_same_at_any_pace(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        int at_once; // that are compiled, at least
    } of[] = {{"walk:starts=6:ahead=4:look=3", 2},
              {"walk:starts=6:ahead=4:look=3:shortlists=3", 6},
              {"walk:starts=6:ahead=4:look=3:shortlists=3:leave=0.1", 6},
              {"walk:starts=6:ahead=4:look=3:shortlists=3:leave=0.1:surprise=1", 6},
              {"walk:starts=6:ahead=2:look=5:shortlists=9", 6}};
    struct config c, wanted[ASKS];
    struct space *s = space_with_product(&c);
    for (size_t i = 0; i < COUNT(of); i++) {
        search_slowly(s, of[i].spec, 1, 0);
        memcpy(wanted, asked, sizeof wanted);
        for (uint64_t seed = 2; seed < 12; seed++) {
            search_slowly(s, of[i].spec, seed, 8);
            assert_memory_equal(wanted, asked, sizeof wanted);
            if (slow.most_at_once < of[i].at_once)
                fail_msg("%s: %d at once", of[i].spec, slow.most_at_once);
        }
        for (int n = 0; n < ASKS; n++)
            for (int k = 0; k < n; k++)
                assert_false(config_equal(&asked[n], &asked[k]));
    }
    space_and_nest_destroy(s);
}

static int finish(void **state)
{
    (void)state;
    config_set_finish(&compiled);
    return 0;
}

TEST_GROUP(compile_probes)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_they_see_what_the_driver_says),
        cmocka_unit_test(test_what_does_not_fit_is_passed_over),
        cmocka_unit_test(test_looks_change_nothing_else),
        cmocka_unit_test(test_shortlists_are_the_same_at_any_pace),
    };
    return cmocka_run_group_tests(tests, NULL, finish);
}
