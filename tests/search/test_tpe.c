// The windows of tpe, its choice against brute force, and that it learns.
#include "driver.h"
#include "group.h"
#include "spaces.h"

#include "search/tpe.h"

#include <math.h>
#include <string.h>

// A parameter of each kind.
static struct space *space_kinds(void)
{
    struct space *s = space_create("kinds");
    add_factorization(s, "tile", 96, 3);
    add_discrete(s, "step", 40);
    add_permutation(s, "order", 4);
    add_categorical(s, "layout", 5);
    add_ring(s, "ring", 30);
    add_categorical(s, "one", 1);
    return sealed(s);
}

// Likelihoods of parameter `param` near sample point 0, by index of the value.
static double *densities(const struct parzen *z, int param)
{
    const struct param *p = &z->space->param[param];
    struct parzen_view view = {{NULL}};
    double *density = mem_zero((size_t)p->size, sizeof *density);
    struct config c;
    space_point(z->space, 0, &c);
    for (uint64_t v = 0; v < p->size; v++) {
        param_value(p, v, c.slot + p->offset);
        parzen_view_fill(z, &c, &view);
        density[v] = parzen_near(z, &view, 0, param) / (double)p->size;
    }
    parzen_view_finish(&view);
    return density;
}

// Some values at the same distance are more likely where paths of the graph meet: counted by
// distance.
static void check_draws(const struct parzen *z, int param, const int32_t *from,
                        const double *density)
{
    enum { CELLS = 64 };
    const struct param *p = &z->space->param[param];
    bool by_distance = p->kind == PARAM_FACTORIZATION || p->kind == PARAM_PERMUTATION;
    double expected[CELLS] = {0};
    int count[CELLS] = {0}, cells = 0;
    int32_t value[PARAM_MAX_WIDTH];
    struct rng r;
    rng_seed(&r, 5);
    for (uint64_t v = 0; v < p->size; v++) {
        param_value(p, v, value);
        expected[by_distance ? param_distance(p, from, value) : (int)v] += density[v];
    }
    for (int n = 0; n < 20000; n++) {
        struct config c = {{0}};
        parzen_draw(z, 0, param, &r, &c);
        const int32_t *v = c.slot + p->offset;
        count[by_distance ? param_distance(p, from, v) : *v]++;
    }
    while (cells < CELLS && expected[cells] > 0)
        cells++;
    assert_true(cells == 1 || chi_square(cells, count, expected) < chi_square_limit(cells - 1));
}

// Every window is a distribution over all values, and what is drawn follows it.
static void test_windows(void **state)
{
    (void)state;
    struct space *s = space_kinds();
    struct rng r;
    rng_seed(&r, 3);
    for (int n = 0; n < 5; n++) {
        struct parzen z;
        struct config c;
        parzen_init(&z, s, 1.5);
        space_sample(s, &r, &c);
        assert_int_equal(parzen_add(&z, &c), 0);
        for (int i = 0; i < s->param_count; i++) {
            double *density = densities(&z, i), sum = 0, most = 0;
            for (uint64_t v = 0; v < s->param[i].size; v++) {
                sum += density[v];
                most = fmax(most, density[v]);
            }
            assert_true(fabs(sum - 1) < 1e-9);
            assert_true(fabs(most - (s->param[i].size > 1 ? 0.75 : 1)) < 1e-9); // stays: 1 - 1.5/6
            check_draws(&z, i, c.slot + s->param[i].offset, density);
            free(density);
        }
        parzen_finish(&z);
    }
    space_destroy(s);
}

// Graphs too large to count: the window is near enough to a distribution, and draws are as far away
// as it says.
static void test_large_windows(void **state)
{
    (void)state;
    struct space *s = space_create("large");
    add_permutation(s, "order", 8);
    add_factorization(s, "tile", 1 << 20, 8);
    add_discrete(s, "step", 200);
    add_discrete(s, "stride", 200);
    sealed(s);
    struct parzen z;
    struct config c, near;
    struct rng r;
    rng_seed(&r, 3);
    parzen_init(&z, s, 1.5);
    space_sample(s, &r, &c);
    parzen_add(&z, &c);
    for (int i = 0; i < s->param_count; i++) {
        int stays = 0, far = 0;
        for (int n = 0; n < 1000; n++) {
            near = c;
            parzen_draw(&z, 0, i, &r, &near);
            int d = space_distance(s, &c, &near);
            stays += d == 0;
            far += d > 1;
        }
        assert_in_range(stays, 550, 700); // 1 - 1.5 / 4
        assert_in_range(far, i == 0 ? 0 : 100, 500);
    }
    parzen_finish(&z);
    space_destroy(s);
}

// --- the choice ---

enum { A = 4, B = 6, TOLD = 8 };

static const double moved = 0.7; // the most: 1.5 / 2 is more than that

static double window(int size, int32_t from, int32_t to)
{
    return (from == to ? 1 - moved : moved / (size - 1)) * size;
}

// Good over bad at `c`, from its definition.
static double ratio(const struct config *told, const bool *is_good, int good,
                    const struct config *c, bool joint)
{
    double value[2][3] = {{1, 1, 1}, {1, 1, 1}}; // by side: both parameters, the first, the second
    for (int i = 0; i < TOLD; i++) {
        double a = window(A, told[i].slot[0], c->slot[0]),
               b = window(B, told[i].slot[1], c->slot[1]);
        value[is_good[i]][0] += a * b;
        value[is_good[i]][1] += a;
        value[is_good[i]][2] += b;
    }
    double sides = (TOLD - good + 1.0) / (good + 1);
    return joint ? value[1][0] / value[0][0] * sides
                 : value[1][1] / value[0][1] * value[1][2] / value[0][2] * sides * sides;
}

// With so many candidates that all points are among them, the best of all is asked for.
static void check_choice(const char *spec, bool joint, uint64_t seed)
{
    struct space *s = space_create("labels");
    add_categorical(s, "a", A);
    add_categorical(s, "b", B);
    struct search_problem problem = {.space = sealed(s)};
    struct strategy *t = strategy_create(spec, &problem, seed, NULL);
    struct config told[TOLD], asked;
    // The best 3 of 8 are good, but one of them failed.
    const double fitness[TOLD] = {3, 0, 9, 1, 0, 0, 0, 0};
    const bool all_good[TOLD] = {true, false, true, true};
    for (int i = 0; i < TOLD; i++)
        assert_int_equal(strategy_ask(t, &told[i]), ASK_NEW);
    for (int i = 0; i < TOLD; i++)
        strategy_tell(t, &told[i], fitness[i] > 0 ? OUTCOME_OK : OUTCOME_CRASH, fitness[i]);
    assert_int_equal(strategy_ask(t, &asked), ASK_NEW);
    double most = 0;
    for (uint64_t v = 0; v < s->size; v++) {
        struct config c;
        space_point(s, v, &c);
        bool known = false;
        for (int i = 0; i < TOLD; i++)
            known = known || config_equal(&c, &told[i]);
        if (!known)
            most = fmax(most, ratio(told, all_good, 3, &c, joint));
    }
    assert_true(fabs(ratio(told, all_good, 3, &asked, joint) / most - 1) < 1e-9);
    strategy_destroy(t);
    space_destroy(s);
}

static void test_choice(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        check_choice("tpe:starts=8:gamma=0.45:candidates=2000:joint=1", true, seed);
        check_choice("tpe:starts=8:gamma=0.45:candidates=2000:joint=0", false, seed);
    }
}

// --- that it learns ---

// Each parameter has a best value of its own: 1 when all have it.
static double separable(void *context, const struct config *c)
{
    const struct space *s = context;
    struct config best;
    double product = 1;
    space_point(s, s->size / 3, &best);
    for (int i = 0; i < s->param_count; i++) {
        const struct param *p = &s->param[i];
        product /= 1 + 0.5 * param_distance(p, best.slot + p->offset, c->slot + p->offset);
    }
    return product;
}

static double mean_of_best(const char *spec, struct space *s, int trials)
{
    struct search_problem problem = {.space = s};
    double sum = 0;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct drive d = drive_create(spec, &problem, seed);
        d.measure = separable;
        d.context = s;
        drive_run(&d, trials);
        sum += d.best / 10;
        drive_destroy(&d);
    }
    return sum;
}

static void test_finds_the_optimum(void **state)
{
    (void)state;
    struct space *s = space_kinds(); // 30 million points
    double drawn = mean_of_best("random", s, 400);
    assert_true(drawn < 0.3);
    assert_true(mean_of_best("tpe", s, 400) > 0.95);
    assert_true(mean_of_best("tpe:joint=0", s, 400) > 0.8);
    assert_true(mean_of_best("tpe:batch=8", s, 400) > 0.8);
    space_destroy(s);
}

// Known points count again, and are never proposed again: a small space is searched to its last
// point.
static void test_counts_again(void **state)
{
    (void)state;
    struct space *s = space_create("small");
    add_discrete(s, "step", 6);
    add_categorical(s, "layout", 5);
    add_permutation(s, "order", 3);
    struct search_problem problem = {.space = sealed(s)};
    struct drive d[2];
    for (int i = 0; i < 2; i++) {
        d[i] = drive_create(i ? "tpe:starts=8:again=4" : "tpe:starts=8", &problem, 3);
        d[i].measure = separable;
        d[i].context = s;
        assert_true(drive_run(&d[i], (int)s->size + 1));
        assert_int_equal(d[i].asked.count, s->size);
    }
    size_t bytes = (size_t)d[0].asked.count * (size_t)s->slots * sizeof *d[0].asked.row;
    assert_memory_not_equal(d[0].asked.row, d[1].asked.row, bytes);
    drive_destroy(&d[0]);
    drive_destroy(&d[1]);
    space_destroy(s);
}

TEST_GROUP(tpe)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_windows),      cmocka_unit_test(test_large_windows),
        cmocka_unit_test(test_choice),       cmocka_unit_test(test_finds_the_optimum),
        cmocka_unit_test(test_counts_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
