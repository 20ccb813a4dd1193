// Differential evolution: what x + f (y - z) is for each kind of value, crossover, selection.
#include "group.h"
#include "spaces.h"

#include "search/strategy.h"

#include <math.h>
#include <string.h>

enum { POP = 8, MOST = 4096 };

// The first population, of fitness 1, 2, .. in the order asked (so that the last is the best), and
// then the challengers of its members, in their order.
struct brood {
    struct space *space;
    struct strategy *strategy;
    int pop;
    struct config member[MOST], trial[MOST];
    int64_t from[MOST][SPACE_MAX_PARAMS];
};

static struct brood *brood_create(struct space *s, const char *spec, int pop, uint64_t seed)
{
    struct brood *b = mem_zero(1, sizeof *b);
    b->space = s;
    b->pop = pop;
    struct search_problem problem = {.space = s};
    b->strategy = strategy_create(spec, &problem, seed, NULL);
    int64_t none[SPACE_MAX_PARAMS];
    for (int i = 0; i < pop; i++) {
        assert_int_equal(strategy_ask(b->strategy, &b->member[i]), ASK_NEW);
        assert_false(strategy_origin(b->strategy, none));
        strategy_tell(b->strategy, &b->member[i], OUTCOME_OK, 1 + i);
    }
    for (int i = 0; i < pop; i++) {
        assert_int_equal(strategy_ask(b->strategy, &b->trial[i]), ASK_NEW);
        assert_true(strategy_origin(b->strategy, b->from[i]));
    }
    return b;
}

static void brood_destroy(struct brood *b)
{
    strategy_destroy(b->strategy);
    free(b);
}

typedef bool is_mutant(const struct param *p, const int32_t *x, const int32_t *y, const int32_t *z,
                       const int32_t *trial);

// Every challenger is x + f (y - z) of the best and two others. All of `s` is mutated at once.
static void check_mutants(struct space *s, const char *spec, is_mutant *fits)
{
    int64_t best = POP;
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct brood *b = brood_create(s, spec, POP, seed);
        for (int t = 0; t < POP; t++) {
            bool explained = false;
            for (int y = 0; y < POP; y++)
                for (int z = 0; z < POP; z++) {
                    bool all = y != z && y != t && z != t && y != best - 1 && z != best - 1;
                    for (int i = 0; all && i < s->param_count; i++) {
                        int at = s->param[i].offset;
                        assert_int_equal(b->from[t][i], best);
                        all = fits(&s->param[i], b->member[best - 1].slot + at,
                                   b->member[y].slot + at, b->member[z].slot + at,
                                   b->trial[t].slot + at);
                    }
                    explained = explained || all;
                }
            assert_true(explained);
        }
        brood_destroy(b);
    }
    space_destroy(s);
}

static bool rank_difference(const struct param *p, const int32_t *x, const int32_t *y,
                            const int32_t *z, const int32_t *trial)
{
    double rank = fmin(fmax(*x + 0.6 * (*y - *z), 0), p->count - 1);
    return fabs(*trial - rank) < 0.5;
}

static void test_discrete_by_rank(void **state)
{
    (void)state;
    struct space *s = space_create("ladders");
    for (int i = 0; i < 6; i++)
        add_discrete(s, (char[]){(char)('A' + i), '\0'}, 100 * i + 100);
    check_mutants(sealed(s), "de:pop=8:f=0.6:cr=1", rank_difference);
}

static int multiplicity(int32_t number, int32_t prime)
{
    int times = 0;
    for (; number % prime == 0; number /= prime)
        times++;
    return times;
}

// With f = 1 and nothing to round the exponents are exact, unless one would be negative.
static bool exponent_difference(const struct param *p, const int32_t *x, const int32_t *y,
                                const int32_t *z, const int32_t *trial)
{
    if (!param_valid(p, trial))
        return false;
    for (int m = 0; m < p->prime_count; m++) {
        bool negative = false, equal = true;
        for (int i = 0; i < p->width; i++) {
            int prime = p->prime[m], wish = multiplicity(x[i], prime);
            wish += multiplicity(y[i], prime) - multiplicity(z[i], prime);
            negative = negative || wish < 0;
            equal = equal && multiplicity(trial[i], prime) == wish;
        }
        if (!equal && !negative)
            return false;
    }
    return true;
}

static void test_factorization_by_exponents(void **state)
{
    (void)state;
    struct space *s = space_create("tiles");
    add_factorization(s, "a", 1 << 20, 3);
    add_factorization(s, "b", 2 * 2 * 2 * 2 * 2 * 2 * 3 * 3 * 3 * 3 * 5 * 5, 4);
    check_mutants(sealed(s), "de:pop=8:f=1:cr=1", exponent_difference);
}

// With f = 1 the swaps that turn z into y are done to x: position by position.
static bool swapped(const struct param *p, const int32_t *x, const int32_t *y, const int32_t *z,
                    const int32_t *trial)
{
    int32_t expected[PARAM_MAX_WIDTH];
    for (int i = 0; i < p->width; i++) // z's items go where y has them; so do x's
        for (int j = 0; j < p->width; j++)
            if (y[i] == z[j])
                expected[i] = x[j];
    return !memcmp(expected, trial, (size_t)p->width * sizeof *trial);
}

static void test_permutation_by_swaps(void **state)
{
    (void)state;
    struct space *s = space_create("orders");
    add_permutation(s, "a", 7);
    add_permutation(s, "b", 6);
    check_mutants(sealed(s), "de:pop=8:f=1:cr=1", swapped);
}

static bool label_of_y(const struct param *p, const int32_t *x, const int32_t *y, const int32_t *z,
                       const int32_t *trial)
{
    (void)p;
    return *trial == (*y == *z ? *x : *y);
}

static void test_labels_by_difference(void **state)
{
    (void)state;
    struct space *s = space_create("labels");
    for (int i = 0; i < 20; i++)
        add_categorical(s, (char[]){(char)('A' + i), '\0'}, 10);
    add_ring(s, "ring", 9);
    check_mutants(sealed(s), "de:pop=8:f=1:cr=1", label_of_y);
}

static struct space *space_wide(void)
{
    struct space *s = space_create("wide");
    for (int i = 0; i < 20; i++)
        add_discrete(s, (char[]){(char)('A' + i), '\0'}, 1000);
    return sealed(s);
}

// One of 20 parameters for sure, each of the others with chance cr = 0.3.
static void test_crossover_rate(void **state)
{
    (void)state;
    struct space *s = space_wide();
    struct brood *b = brood_create(s, "de:pop=4000:cr=0.3", 4000, 9);
    int count[21] = {0}, sure = 0;
    double expected[21] = {0}, ways = 1; // binom(19, k - 1)
    for (int t = 0; t < 3999; t++) {     // all but the best, whose own parameters look mutant
        int mutant = 0;
        for (int i = 0; i < 20; i++) {
            assert_true(b->from[t][i] == 4000 || b->from[t][i] == t + 1);
            mutant += b->from[t][i] == 4000;
        }
        sure += mutant > 0;
        count[mutant < 12 ? mutant : 12]++;
    }
    assert_int_equal(sure, 3999);
    for (int k = 1; k <= 20; k++) {
        expected[k < 12 ? k : 12] += ways * pow(0.3, k - 1) * pow(0.7, 20 - k);
        ways = ways * (20 - k) / k;
    }
    assert_true(chi_square(13, count, expected) < chi_square_limit(11));
    brood_destroy(b);
    space_destroy(s);
}

// With best=0 mutants start from any member but the one they challenge.
static void test_base_is_any_member(void **state)
{
    (void)state;
    struct space *s = space_wide();
    int count[POP] = {0}; // by how many places after the challenged one
    double expected[POP] = {0};
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct brood *b = brood_create(s, "de:pop=8:best=0:cr=1", POP, seed);
        for (int t = 0; t < POP; t++)
            count[(b->from[t][0] - 1 - t + POP) % POP]++;
        brood_destroy(b);
    }
    for (int k = 1; k < POP; k++)
        expected[k] = 1.0 / (POP - 1);
    assert_true(chi_square(POP, count, expected) < chi_square_limit(POP - 2));
    space_destroy(s);
}

// A challenger takes the place of its own member when it is as good, of nobody else.
static void test_selection(void **state)
{
    (void)state;
    struct space *s = space_wide();
    struct brood *b = brood_create(s, "de:pop=8", POP, 4); // members have fitness 1 to 8
    const double challenge[POP] = {1, 1.5, 9, 0, 5.5, 2, 7, 7.9};
    const int64_t left[POP] = {11, 8, 15, 6, 13, 4, 2, 9}; // 9 8 7 6 5.5 4 2 1
    for (int i = 0; i < POP; i++)
        strategy_tell(b->strategy, &b->trial[i], challenge[i] > 0 ? OUTCOME_OK : OUTCOME_CRASH,
                      challenge[i]);
    struct config next;
    assert_int_equal(strategy_ask(b->strategy, &next), ASK_NEW);
    assert_int_equal(strategy_generation(b->strategy), 2);
    struct individual member[POP];
    assert_int_equal(strategy_population(b->strategy, 3, member), 3);
    assert_int_equal(strategy_population(b->strategy, POP, member), POP);
    for (int i = 0; i < POP; i++) {
        assert_int_equal(member[i].ask, left[i]);
        assert_int_equal(member[i].generation, left[i] > POP);
        assert_true(i == 0 || member[i - 1].fitness >= member[i].fitness);
    }
    brood_destroy(b);
    space_destroy(s);
}

TEST_GROUP(de)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_discrete_by_rank),
        cmocka_unit_test(test_factorization_by_exponents),
        cmocka_unit_test(test_permutation_by_swaps),
        cmocka_unit_test(test_labels_by_difference),
        cmocka_unit_test(test_crossover_rate),
        cmocka_unit_test(test_base_is_any_member),
        cmocka_unit_test(test_selection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
