// Formulas of a configuration: the value of each operation, sharing, simplification.
#include "group.h"
#include "space/nest.h"
#include "spaces.h"

#include <stddef.h>

static int64_t floor_divide(int64_t a, int64_t b)
{
    return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t divisor_by_search(int64_t a, int64_t b)
{
    int64_t found = 1;
    for (int64_t d = 1; d <= a && d <= b; d++)
        if (a % d == 0)
            found = d;
    return found;
}

static int64_t expected(enum formula_op op, int64_t a, int64_t b, int64_t c)
{
    switch (op) {
    case FORMULA_ADD: return a + b;
    case FORMULA_SUBTRACT: return a - b;
    case FORMULA_MULTIPLY: return a * b;
    case FORMULA_DIVIDE: return floor_divide(a, b);
    case FORMULA_MODULO: return b == 0 ? 0 : a - b * floor_divide(a, b);
    case FORMULA_CEIL_DIVIDE: return b == 0 ? 0 : -floor_divide(-a, b);
    case FORMULA_MIN: return a < b ? a : b;
    case FORMULA_MAX: return a < b ? b : a;
    case FORMULA_DIVISOR: return divisor_by_search(a, b);
    case FORMULA_EQUAL: return a == b;
    case FORMULA_LESS: return a < b;
    case FORMULA_NOT: return !a;
    case FORMULA_AND: return a && b;
    case FORMULA_OR: return a || b;
    default: return a ? b : c;
    }
}

// Operands that are numbers of parameters, so that nothing is folded; and constants, all folded.
static void test_operations(void **state)
{
    (void)state;
    enum { VALUES = 12 };
    static const double number[VALUES] = {-7, -2, -1, 0, 1, 2, 3, 4, 6, 36, 97, 1024};
    struct space *s = space_create("three");
    for (int i = 0; i < 3; i++) {
        struct param p;
        assert_true(param_discrete(&p, &s->arena, (const char *[]){"x", "y", "z"}[i], VALUES,
                                   number, NULL));
        assert_true(space_add(s, &p, NULL));
    }
    sealed(s);
    struct rng r;
    rng_seed(&r, 1);
    for (int op = FORMULA_ADD; op <= FORMULA_CHOOSE; op++)
        for (int n = 0; n < 500; n++) {
            struct config c = {0};
            int64_t v[3];
            struct formulas f = {0};
            int at[3], folded[3];
            for (int i = 0; i < 3; i++) {
                c.slot[i] = (int32_t)rng_below(&r, VALUES);
                v[i] = (int64_t)number[c.slot[i]];
                at[i] = formulas_number(&f, i);
                folded[i] = formulas_constant(&f, number[c.slot[i]]);
            }
            enum formula_op o = (enum formula_op)op;
            int node = formulas_add(&f, o, at[0], at[1], at[2]);
            int mixed = formulas_add(&f, o, at[0], folded[1], folded[2]);
            int other = formulas_add(&f, o, folded[0], at[1], at[2]);
            double value[64], right = (double)expected(o, v[0], v[1], v[2]);
            assert_true(f.count <= 64);
            formulas_evaluate(&f, s, &c, value);
            assert_true(value[node] == right && value[mixed] == right && value[other] == right);
            int constant = formulas_add(&f, o, folded[0], folded[1], folded[2]);
            assert_true(formulas_is_constant(&f, constant, right));
            formulas_finish(&f);
        }
    space_destroy(s);
}

static void test_leaves(void **state)
{
    (void)state;
    struct space *s = space_create("leaves");
    add_factorization(s, "tile", 64, 3);
    add_permutation(s, "order", 4);
    add_categorical(s, "word", 3);
    sealed(s);
    struct formulas f = {0};
    int part = formulas_slot(&f, 1), word = formulas_slot(&f, 7), place[4];
    for (int i = 0; i < 4; i++)
        place[i] = formulas_place(&f, 1, i);
    struct rng r;
    rng_seed(&r, 2);
    for (int n = 0; n < 200; n++) {
        struct config c;
        double value[16];
        space_sample(s, &r, &c);
        formulas_evaluate(&f, s, &c, value);
        assert_true(value[part] == c.slot[1] && value[word] == c.slot[7]);
        for (int i = 0; i < 4; i++)
            assert_int_equal(c.slot[3 + (int)value[place[i]]], i);
    }
    formulas_finish(&f);
    space_destroy(s);
}

// The same formula is the same node, in any order of its symmetric operands.
static void test_sharing(void **state)
{
    (void)state;
    struct formulas f = {0};
    int node[200];
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 200; i++) {
            int a = formulas_slot(&f, i % 7), b = formulas_constant(&f, 2 + i);
            int sum = formulas_add(&f, FORMULA_ADD, round ? b : a, round ? a : b, 0);
            int product = formulas_add(&f, FORMULA_SUBTRACT, sum, a, round);
            assert_true(round == 0 || node[i] == product);
            node[i] = product;
        }
    assert_int_equal(f.count, 7 + 200 + 200 + 200);
    int a = formulas_slot(&f, 0), zero = formulas_constant(&f, 0), one = formulas_constant(&f, 1);
    int before = f.count;
    assert_int_equal(formulas_add(&f, FORMULA_ADD, zero, a, 0), a);
    assert_int_equal(formulas_add(&f, FORMULA_SUBTRACT, a, zero, 0), a);
    assert_int_equal(formulas_add(&f, FORMULA_MULTIPLY, a, one, 0), a);
    assert_int_equal(formulas_add(&f, FORMULA_MULTIPLY, a, zero, 0), zero);
    assert_int_equal(formulas_add(&f, FORMULA_DIVIDE, a, one, 0), a);
    assert_int_equal(formulas_add(&f, FORMULA_CHOOSE, one, a, zero), a);
    assert_int_equal(f.count, before);
    formulas_finish(&f);
}

TEST_GROUP(formula)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_leaves),
        cmocka_unit_test(test_sharing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
