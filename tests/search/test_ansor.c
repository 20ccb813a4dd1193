// Ansor: what mutation and crossover make, evolution on a score that is known, rounds, refits.
#include "driver.h"
#include "group.h"
#include "model/trees.h"
#include "spaces.h"

#include "search/evolution.h"

#include <math.h>
#include <string.h>

// --- breeding ---

static void test_tiles_move_any_divisor(void **state)
{
    (void)state;
    struct space *s = space_create("tile");
    add_factorization(s, "tile", 72, 3);
    sealed(s);
    struct rng r;
    rng_seed(&r, 1);
    bool moved[73] = {false};
    int taker[3] = {0};
    for (int n = 0; n < 2000; n++) {
        struct config c = {{72, 1, 1}};
        assert_true(breed_mutate(s, &r, &c));
        assert_true(param_valid(&s->param[0], c.slot)); // the product stays
        int to = c.slot[1] > 1 ? 1 : 2;
        assert_true(c.slot[0] * c.slot[to] == 72 && c.slot[to] > 1);
        moved[c.slot[to]] = true;
        taker[to]++;
    }
    for (int d = 2; d <= 72; d++)
        assert_int_equal(moved[d], 72 % d == 0);
    assert_in_range(taker[1], 900, 1100);
    space_destroy(s);
}

static int count_changes(const struct space *s, const struct config *a, const struct config *b,
                         int *which)
{
    int changes = 0;
    for (int i = 0; i < s->param_count; i++)
        if (memcmp(a->slot + s->param[i].offset, b->slot + s->param[i].offset,
                   (size_t)s->param[i].width * sizeof *a->slot)) {
            changes++;
            *which = i;
        }
    return changes;
}

// Nine of ten change a tile; the others are drawn anew, now and then as they were.
static void test_tiles_are_most_mutations(void **state)
{
    (void)state;
    struct space *s = space_mixed(); // one of each kind
    struct rng r;
    struct config c;
    int tiles = 0, others = 0, which = 0;
    rng_seed(&r, 2);
    for (int n = 0; n < 5000; n++) {
        space_sample(s, &r, &c);
        struct config child = c;
        assert_true(breed_mutate(s, &r, &child));
        int changes = count_changes(s, &c, &child, &which);
        bool is_tile = changes && s->param[which].kind == PARAM_FACTORIZATION;
        assert_in_range(changes, is_tile ? 1 : 0, 1);
        assert_true(param_valid(&s->param[which], child.slot + s->param[which].offset));
        tiles += is_tile;
        others += changes && !is_tile;
    }
    assert_in_range(tiles, 4400, 4600);
    assert_in_range(others, 300, 450);
    space_destroy(s);
}

// A space without tiles, like a recording.
static void test_steps_along_the_topology(void **state)
{
    (void)state;
    struct space *s = space_create("ladders");
    add_discrete(s, "a", 100);
    add_discrete(s, "b", 100);
    sealed(s);
    struct rng r;
    rng_seed(&r, 3);
    int steps = 0;
    for (int n = 0; n < 1000; n++) {
        struct config c = {{50, 50}}, child = c;
        assert_true(breed_mutate(s, &r, &child));
        steps += space_distance(s, &c, &child) == 1;
    }
    assert_in_range(steps, 870, 930);
    space_destroy(s);

    s = space_of_one();
    struct config only;
    space_point(s, 0, &only);
    assert_false(breed_mutate(s, &r, &only));
    space_destroy(s);
}

static void test_crossover_takes_parameters(void **state)
{
    (void)state;
    struct space *s = space_mm(512, 1024, 1024);
    struct rng r;
    rng_seed(&r, 4);
    int from_b[3] = {0};
    for (int n = 0; n < 1000; n++) {
        struct config a, b, child;
        space_point(s, 0, &a);
        space_point(s, s->size - 1, &b);
        breed_cross(s, &r, &a, &b, &child);
        for (int i = 0; i < 3; i++) {
            size_t bytes = (size_t)s->param[i].width * sizeof *a.slot;
            int at = s->param[i].offset;
            bool is_b = !memcmp(child.slot + at, b.slot + at, bytes);
            assert_true(is_b || !memcmp(child.slot + at, a.slot + at, bytes));
            from_b[i] += is_b;
        }
    }
    for (int i = 0; i < 3; i++)
        assert_in_range(from_b[i], 420, 580);
    space_destroy(s);
}

// --- evolution ---

struct scene {
    const struct space *space;
    struct config best;
    struct config_set scored;
    bool negative;
};

static bool even(void *self, const struct config *c)
{
    (void)self;
    return c->slot[0] != 2;
}

// The nearer to `best` the better. Nothing is scored twice, nothing illegal.
static void nearness(void *self, const struct config *c, int count, float *out)
{
    struct scene *t = self;
    for (int i = 0; i < count; i++) {
        bool is_new;
        config_set_add(&t->scored, &c[i], &is_new);
        assert_true(is_new && even(NULL, &c[i]));
        out[i] = 1 / (1 + (float)space_distance(t->space, &t->best, &c[i]));
        out[i] -= t->negative ? 2 : 0;
    }
}

static void check_evolution(struct space *s, double crossover, bool negative)
{
    struct rng r;
    rng_seed(&r, 6);
    atomic_bool stop = false;
    struct scene t = {.space = s, .scored = {.slots = s->slots}, .negative = negative};
    do
        space_sample(s, &r, &t.best);
    while (!even(NULL, &t.best));
    struct evolution v = {s,    &r,       2048, negative ? 40 : 12, 0.85, crossover,
                          even, nearness, &t,   {.slots = s->slots}};
    for (int i = 0; i < 50; i++) {
        struct config c;
        space_sample(s, &r, &c);
        if (even(NULL, &c))
            evolution_add(&v, &c);
    }
    evolution_run(&v, &stop);
    int *order = mem_zero((size_t)v.pool.count, sizeof *order);
    struct config first;
    evolution_rank(&v, order);
    config_set_get(&v.pool, order[0], &first);
    if (!negative) // 4 million points; without the score it goes anywhere
        assert_true(config_equal(&first, &t.best));
    for (int i = 1; i < v.pool.count; i++)
        assert_true(v.value[order[i - 1]] >= v.value[order[i]]);
    assert_int_equal(t.scored.count, v.pool.count);
    assert_in_range(v.pool.count, 2048, 50 + 2048 * v.generations);
    free(order);
    evolution_finish(&v);
    config_set_finish(&t.scored);
}

static void test_evolution_finds_the_top(void **state)
{
    (void)state;
    struct space *s = space_mm(512, 1024, 1024);
    check_evolution(s, 0, false);
    check_evolution(s, 0.3, false);
    check_evolution(s, 0, true); // parents are drawn alike
    space_destroy(s);
}

// --- the strategy ---

static double bowl(void *context, const struct config *c)
{
    const struct space *s = context;
    struct config best;
    space_point(s, s->size / 3, &best);
    int d = space_distance(s, &best, c);
    return d > 24 ? 0 : 1.0 / (1 + d); // what is far away fails
}

static double best_of(const char *spec, struct space *s, int trials)
{
    struct search_problem problem = {.space = s};
    double best = 0;
    for (uint64_t seed = 0; seed < 3; seed++) {
        struct drive d = drive_create(spec, &problem, seed);
        d.measure = bowl;
        d.context = s;
        drive_run(&d, trials);
        best += d.best / 3;
        drive_destroy(&d);
    }
    return best;
}

static void test_learns(void **state)
{
    (void)state;
    struct space *s = space_mm(512, 1024, 1024);
    double drawn = best_of("random", s, 192);
    assert_true(best_of("ansor:plan=32:warmup=32:pop=256", s, 192) > 1.5 * drawn);
    assert_true(best_of("ansor:plan=32:warmup=32:pop=256:crossover=0.3", s, 192) > 1.5 * drawn);
    space_destroy(s);
}

static enum ask ask(struct strategy *s, struct config *c)
{
    enum ask asked;
    while ((asked = strategy_ask(s, c)) == ASK_WAIT && strategy_wait(s)) {
    }
    return asked;
}

// Fits at 8, 16, ..: with adaptive=1 when there are a fifth more than the last time.
static void test_refits(void **state)
{
    (void)state;
    struct space *s = space_mm(512, 1024, 1024);
    struct search_problem problem = {.space = s};
    for (int adaptive = 0; adaptive < 2; adaptive++) {
        const char *spec =
            adaptive ? "ansor:plan=8:warmup=24:pop=64:adaptive=1" : "ansor:plan=8:warmup=24:pop=64";
        struct strategy *a = strategy_create(spec, &problem, 1, NULL);
        const int every[] = {24, 32, 40, 48, 56, 64, 72, 80, 88, 96},
                  adapted[] = {24, 32, 40, 48, 64, 80, 96};
        int seen = 0;
        int64_t last = 0;
        for (int n = 0; n < 104; n++) {
            struct config c;
            struct refit r;
            assert_int_equal(ask(a, &c), ASK_NEW);
            while (strategy_take_refit(a, &r)) {
                if (r.told != last)
                    assert_int_equal(r.told, adaptive ? adapted[seen++] : every[seen++]);
                assert_true(isnan(r.correlation) == (last == 0));
                last = r.told;
            }
            double fitness = bowl(s, &c);
            strategy_tell(a, &c, fitness > 0 ? OUTCOME_OK : OUTCOME_CRASH, fitness);
        }
        assert_int_equal(seen, adaptive ? 7 : 10);
        strategy_destroy(a);
    }
    space_destroy(s);
}

// Killed with a round half told and resumed by replaying: it goes on as if nothing had happened.
static void test_resumes(void **state)
{
    (void)state;
    enum { TRIALS = 120, KILLED = 71 };
    struct space *s = space_mm(512, 1024, 1024);
    struct search_problem problem = {.space = s};
    struct strategy *whole = strategy_create("ansor:plan=20:warmup=20:pop=64", &problem, 9, NULL),
                    *part = strategy_create("ansor:plan=20:warmup=20:pop=64", &problem, 9, NULL);
    struct config asked[TRIALS], c;
    for (int n = 0; n < TRIALS; n++) {
        assert_int_equal(ask(whole, &asked[n]), ASK_NEW);
        double fitness = bowl(s, &asked[n]);
        strategy_tell(whole, &asked[n], fitness > 0 ? OUTCOME_OK : OUTCOME_CRASH, fitness);
        if (n == KILLED) {
            strategy_destroy(whole);
            whole = part;
            for (int i = 0; i <= n; i++) {
                assert_int_equal(ask(whole, &c), ASK_NEW);
                assert_true(config_equal(&c, &asked[i]));
                fitness = bowl(s, &c);
                strategy_tell(whole, &c, fitness > 0 ? OUTCOME_OK : OUTCOME_CRASH, fitness);
            }
        }
    }
    struct strategy *again = strategy_create("ansor:plan=20:warmup=20:pop=64", &problem, 9, NULL);
    for (int n = 0; n < TRIALS; n++) {
        assert_int_equal(ask(again, &c), ASK_NEW);
        assert_true(config_equal(&c, &asked[n]));
        double fitness = bowl(s, &c);
        strategy_tell(again, &c, fitness > 0 ? OUTCOME_OK : OUTCOME_CRASH, fitness);
    }
    strategy_destroy(whole);
    strategy_destroy(again);
    space_destroy(s);
}

TEST_GROUP(ansor)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiles_move_any_divisor),
        cmocka_unit_test(test_tiles_are_most_mutations),
        cmocka_unit_test(test_steps_along_the_topology),
        cmocka_unit_test(test_crossover_takes_parameters),
        cmocka_unit_test(test_evolution_finds_the_top),
        cmocka_unit_test(test_learns),
        cmocka_unit_test(test_refits),
        cmocka_unit_test(test_resumes),
    };
    if (!trees_available(NULL))
        return group_skip("this build has no XGBoost");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
