// The origin of opevo's children agrees with its asks and tells.
#include "group.h"
#include "spaces.h"

#include "search/strategy.h"

#include <string.h>

enum { PARAMS = 24, VALUES = 1000 }; // parents rarely share a value

static struct space *space_wide(void)
{
    struct space *s = space_create("wide");
    for (int i = 0; i < PARAMS; i++)
        add_categorical(s, (char[]){(char)('A' + i), '\0'}, VALUES);
    return sealed(s);
}

// A run with several asks open, and what a reader of it can know about ancestors.
enum { ASKS = 300, OPEN = 5 };
struct run {
    const struct space *space;
    struct strategy *strategy;
    int lambda;
    struct config given[ASKS + 1]; // by ask
    double fitness[ASKS + 1];
    bool told[ASKS + 1], may_breed[ASKS + 1]; // when the newest generation was made
    int asked, generation;
    int bred, inherited, moved;
};

// Counts by itself; no two results have the same fitness.
static void note_the_best(struct run *r)
{
    for (int i = 1; i <= r->asked; i++) {
        int better = 0;
        for (int j = 1; j <= r->asked; j++)
            better += r->told[j] && r->fitness[j] > r->fitness[i];
        r->may_breed[i] = r->told[i] && better < r->lambda;
    }
}

static void check_origin(struct run *r)
{
    int64_t from[SPACE_MAX_PARAMS];
    const struct config *child = &r->given[r->asked];
    if (!strategy_origin(r->strategy, from))
        return;
    r->bred++;
    for (int i = 0; i < r->space->param_count; i++) {
        const struct param *p = &r->space->param[i];
        assert_in_range(from[i], 1, r->asked - 1);
        assert_true(r->may_breed[from[i]]);
        bool same = !memcmp(child->slot + p->offset, r->given[from[i]].slot + p->offset,
                            (size_t)p->width * sizeof *child->slot);
        *(same ? &r->inherited : &r->moved) += 1;
    }
}

// False: the strategy waits.
static bool ask_next(struct run *r)
{
    struct config c;
    if (strategy_ask(r->strategy, &c) != ASK_NEW)
        return false;
    if (strategy_generation(r->strategy) != r->generation)
        note_the_best(r); // before the one that is new is known
    r->generation = strategy_generation(r->strategy);
    r->given[++r->asked] = c;
    check_origin(r);
    return true;
}

static void tell_ask(struct run *r, int ask)
{
    r->fitness[ask] = 1 + (double)(ask * 7919 % 1009); // any order, all different
    r->told[ask] = true;
    strategy_tell(r->strategy, &r->given[ask], OUTCOME_OK, r->fitness[ask]);
}

static void follow_origins(const char *spec, int lambda, bool newest_first, struct run *r)
{
    struct space *s = space_wide();
    struct search_problem problem = {.space = s};
    *r = (struct run){.space = s, .lambda = lambda, .generation = -1};
    r->strategy = strategy_create(spec, &problem, 5, NULL);
    int open[OPEN], count = 0;
    while (r->asked < ASKS) {
        if (count < OPEN && ask_next(r)) {
            open[count++] = r->asked;
            continue;
        }
        assert_true(count > 0);
        int which = newest_first ? count - 1 : 0;
        tell_ask(r, open[which]);
        count--;
        memmove(&open[which], &open[which + 1], (size_t)(count - which) * sizeof *open);
    }
    strategy_destroy(r->strategy);
    space_destroy(s);
}

// Every parameter of a child comes from one of those that bred when it was made, and with a small
// q, and so many values that nothing else would explain it, mostly as it was there.
static void test_origin(void **state)
{
    (void)state;
    struct run r;
    follow_origins("opevo:lambda=6:rho=9:q=0.01", 6, false, &r);
    assert_int_equal(r.bred, ASKS - 6); // all but the first generation
    assert_true(r.inherited > 50 * r.moved && r.moved > 0);
    follow_origins("opevo:lambda=6:rho=9:q=0.01:async=1", 6, true, &r);
    assert_in_range(r.bred, ASKS - 3 * 9, ASKS - 9);
    assert_true(r.inherited > 50 * r.moved && r.moved > 0);
    follow_origins("opevo:lambda=6:rho=9:q=0.9", 6, false, &r);
    assert_int_equal(r.bred, ASKS - 6);
    assert_true(r.moved > r.inherited);
    follow_origins("random", 6, false, &r);
    assert_int_equal(r.bred, 0);
}

// While nothing can breed, and for the draw that ends a search for a new child, there is no origin.
static void test_draws_have_no_origin(void **state)
{
    (void)state;
    struct space *s = space_create("few");
    add_categorical(s, "a", 40);
    struct search_problem problem = {.space = sealed(s)};
    struct strategy *o = strategy_create("opevo:lambda=2:rho=1:q=0.001", &problem, 1, NULL);
    int64_t from[SPACE_MAX_PARAMS];
    struct config c;
    int drawn = 0, bred = 0;
    assert_false(strategy_origin(o, from)); // nothing was asked
    for (int n = 0; strategy_ask(o, &c) == ASK_NEW; n++) {
        bool has = strategy_origin(o, from);
        assert_true(!has || n >= 4); // two draws, and two generations that all failed
        bred += has;
        drawn += !has;
        strategy_tell(o, &c, n < 3 ? OUTCOME_WRONG : OUTCOME_OK, n < 3 ? 0 : 1 + n);
    }
    assert_int_equal(bred + drawn, 40);
    assert_true(bred > 0 && drawn > 4);
    strategy_destroy(o);
    space_destroy(s);
}

TEST_GROUP(origin)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_origin),
        cmocka_unit_test(test_draws_have_no_origin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
