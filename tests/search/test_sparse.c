// Searches of spaces whose rules leave hardly a point: every strategy finds all of them.
#include "driver.h"
#include "group.h"
#include "space/legal.h"
#include "spaces.h"

enum { SIDE = 97, PRODUCT = 3600, UNROLLS = 3 };

// The slots of the first two parameters count from 0.
static int is_product(void *context, const struct config *c, struct rule_reads *r, struct err *e)
{
    (void)context;
    (void)e;
    if (r)
        r->slots |= 3;
    return (c->slot[0] + 1) * (c->slot[1] + 1) == PRODUCT;
}

static int is_product_plain(void *context, const struct config *c, struct err *e)
{
    return is_product(context, c, NULL, e);
}

static struct space *make_space(void)
{
    struct space *s = space_create("sparse");
    add_discrete(s, "threads", SIDE);
    add_discrete(s, "registers", SIDE);
    add_categorical(s, "unroll", UNROLLS);
    space_add_constraint(s, &(struct constraint){.name = "product",
                                                 .holds = is_product_plain,
                                                 .holds_reading = is_product});
    return sealed(s);
}

static int count_points(const struct space *s)
{
    int count = 0;
    for (uint64_t i = 0; i < s->size; i++) {
        struct config c;
        space_point(s, i, &c);
        count += is_product_plain(NULL, &c, NULL);
    }
    return count;
}

static bool is_legal(void *context, const struct config *c)
{
    (void)context;
    return is_product_plain(NULL, c, NULL);
}

static double speed(void *context, const struct config *c)
{
    (void)context;
    return is_product_plain(NULL, c, NULL) ? 1.0 / (1 + abs(c->slot[0] - 59) + c->slot[2]) : -1;
}

static struct search_problem sparse_problem(const struct space *s)
{
    struct err e;
    struct search_problem p = {.space = s, .legal = is_legal};
    assert_true(legal_open_sparse(s, NULL, &p.sparse, &e));
    assert_non_null(p.sparse);
    return p;
}

static void test_every_strategy_finds_all(void **state)
{
    (void)state;
    struct space *s = make_space();
    int count = count_points(s);
    assert_in_range(count, 10, 200); // of 28 227
    for (const struct strategy_kind *const *kind = strategy_kinds; *kind; kind++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            struct search_problem p = sparse_problem(s);
            struct drive d = drive_create((*kind)->name, &p, seed);
            d.measure = speed;
            if (!drive_run(&d, count + 1) || d.asked.count != count)
                fail_msg("%s, seed %d: %d of %d", (*kind)->name, (int)seed, d.asked.count, count);
            for (int i = 0; i < count; i++) {
                struct config c;
                config_set_get(&d.asked, i, &c);
                assert_true(is_legal(NULL, &c));
            }
            drive_destroy(&d);
            legal_destroy(p.sparse);
        }
    space_destroy(s);
}

// The same seed proposes the same, and another one does not.
static void test_sequences_follow_from_the_seed(void **state)
{
    (void)state;
    struct space *s = make_space();
    struct config first[3];
    for (int i = 0; i < 3; i++) {
        struct search_problem p = sparse_problem(s);
        struct drive d = drive_create("random", &p, i < 2 ? 7 : 8);
        d.measure = speed;
        assert_false(drive_run(&d, 5));
        config_set_get(&d.asked, 4, &first[i]);
        drive_destroy(&d);
        legal_destroy(p.sparse);
    }
    assert_true(config_equal(&first[0], &first[1]));
    assert_false(config_equal(&first[0], &first[2]));
    space_destroy(s);
}

// What the rules leave nothing of ends at once.
static int never(void *context, const struct config *c, struct err *e)
{
    (void)context;
    (void)c;
    (void)e;
    return 0;
}

static bool is_never(void *context, const struct config *c)
{
    return never(context, c, NULL);
}

static void test_an_empty_space(void **state)
{
    (void)state;
    struct err e;
    struct space *s = space_create("empty");
    add_discrete(s, "a", 3000);
    space_add_constraint(s, &(struct constraint){.name = "never", .holds = never});
    struct search_problem p = {.space = sealed(s), .legal = is_never};
    assert_true(legal_open_sparse(s, NULL, &p.sparse, &e));
    assert_true(legal_is_empty(p.sparse));
    for (const struct strategy_kind *const *kind = strategy_kinds; *kind; kind++) {
        struct drive d = drive_create((*kind)->name, &p, 1);
        d.measure = speed;
        assert_true(drive_run(&d, 5));
        assert_int_equal(d.asked.count, 0);
        drive_destroy(&d);
    }
    legal_destroy(p.sparse);
    space_destroy(s);
}

// An easy space has no such structure.
static void test_easy_spaces_stay_as_they_are(void **state)
{
    (void)state;
    struct err e;
    struct legal *g;
    struct space *s = space_mixed();
    assert_true(legal_open_sparse(s, NULL, &g, &e));
    assert_null(g);
    space_destroy(s);
}

TEST_GROUP(sparse)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_strategy_finds_all),
        cmocka_unit_test(test_sequences_follow_from_the_seed),
        cmocka_unit_test(test_an_empty_space),
        cmocka_unit_test(test_easy_spaces_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
