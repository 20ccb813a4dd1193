#include "fixture.h"
#include "group.h"
#include "model.h"

#include <stddef.h>

#define MOST 4000

struct taken {
    int times[MOST]; // by ask
    int count;
    int64_t last_ask;
    bool in_order;
};

static void take(void *context, const struct trial *t)
{
    struct taken *all = context;
    assert_in_range(t->ask, 1, MOST - 1);
    assert_true(t->told > 0);
    all->in_order &= t->ask > all->last_ask;
    all->last_ask = t->ask;
    all->times[t->ask]++;
    all->count++;
}

struct setup {
    struct fixture f;
    struct model m;
    struct scan s;
    struct taken all;
};

static void begin(struct setup *t, void (*create)(struct fixture *f))
{
    struct err e;
    *t = (struct setup){.all.in_order = true};
    create(&t->f);
    model_init(&t->m, t->f.path);
    assert_true(model_open(&t->m, t->f.session, &e));
    model_poll(&t->m, FIXTURE_NOW);
    scan_start(&t->s, &t->m);
}

static void end(struct setup *t)
{
    model_finish(&t->m);
    fixture_destroy(&t->f);
}

static void create_small(struct fixture *f)
{
    fixture_create(f, FIXTURE_SMALL);
}

static void create_thousands(struct fixture *f)
{
    fixture_create_huge(f, 3000);
}

static int64_t count_ended(const struct model *m)
{
    return m->open.record.trials + m->open.record.rejected;
}

static void assert_each_once(const struct taken *all, int64_t count)
{
    assert_int_equal(all->count, count);
    for (int64_t ask = 1; ask <= count; ask++)
        assert_int_equal(all->times[ask], 1);
}

static void test_slices_hold_each_trial_once(void **state)
{
    (void)state;
    struct setup t;
    int slices = 1;
    begin(&t, create_thousands);
    assert_true(scan_share(&t.s, &t.m) < 0.01);
    while (scan_step(&t.s, &t.m, 500, take, &t.all)) {
        assert_int_equal(t.all.count, 500 * slices++);
        assert_true(scan_share(&t.s, &t.m) < 1);
    }
    assert_int_equal(slices, 6);
    assert_each_once(&t.all, 3000);
    assert_true(t.all.in_order);
    assert_true(scan_share(&t.s, &t.m) >= 1);
    end(&t);
}

static void test_what_comes_later_is_taken_too(void **state)
{
    (void)state;
    struct setup t;
    begin(&t, create_small);
    assert_false(scan_step(&t.s, &t.m, 500, take, &t.all));
    assert_each_once(&t.all, count_ended(&t.m));
    fixture_tell(&t.f, 7);
    assert_true(model_poll(&t.m, FIXTURE_NOW + 1));
    assert_true(scan_share(&t.s, &t.m) < 1);
    assert_false(scan_step(&t.s, &t.m, 500, take, &t.all));
    assert_each_once(&t.all, count_ended(&t.m));
    assert_false(scan_step(&t.s, &t.m, 500, take, &t.all));
    assert_each_once(&t.all, count_ended(&t.m));
    end(&t);
}

static void put(struct setup *t, int64_t ask, bool has_ended)
{
    struct err e;
    struct trial_record r = {.ask = ask,
                             .number = has_ended ? 1000 + ask : 0,
                             .told = has_ended ? 1000 + ask : 0,
                             .key = "",
                             .outcome = has_ended ? OUTCOME_WRONG : OUTCOME_OPEN};
    assert_true(store_put_trial(t->f.store, t->f.session, &r, &e));
}

static void test_trials_in_flight_wait(void **state)
{
    (void)state;
    struct setup t;
    begin(&t, create_small);
    int64_t n = count_ended(&t.m);
    put(&t, n + 1, false);
    put(&t, n + 2, true);
    put(&t, n + 3, false);
    assert_false(scan_step(&t.s, &t.m, 500, take, &t.all));
    assert_int_equal(t.all.count, n + 1);
    put(&t, n + 3, true);
    assert_false(scan_step(&t.s, &t.m, 500, take, &t.all));
    assert_int_equal(t.all.count, n + 2);
    put(&t, n + 1, true);
    put(&t, n + 4, true);
    assert_true(scan_step(&t.s, &t.m, 1, take, &t.all));
    assert_false(scan_step(&t.s, &t.m, 1, take, &t.all));
    assert_each_once(&t.all, n + 4);
    end(&t);
}

// However many are in flight, none is forgotten and none is taken twice.
static void test_more_in_flight_than_are_remembered(void **state)
{
    (void)state;
    enum { FLYING = 200 };
    struct setup t;
    begin(&t, create_small);
    int64_t n = count_ended(&t.m);
    for (int i = 1; i <= FLYING; i++)
        put(&t, n + i, false);
    assert_false(scan_step(&t.s, &t.m, 500, take, &t.all));
    assert_int_equal(t.all.count, n);
    for (int i = FLYING; i >= 1; i -= 2)
        put(&t, n + i, true);
    for (int i = 0; i < FLYING; i++)
        scan_step(&t.s, &t.m, 10, take, &t.all);
    for (int i = 1; i <= FLYING; i += 2)
        put(&t, n + i, true);
    for (int i = 0; i < FLYING; i++)
        scan_step(&t.s, &t.m, 10, take, &t.all);
    assert_each_once(&t.all, n + FLYING);
    end(&t);
}

static void test_a_scan_belongs_to_one_session(void **state)
{
    (void)state;
    struct setup t;
    begin(&t, create_small);
    model_close(&t.m);
    assert_false(scan_step(&t.s, &t.m, 500, take, &t.all));
    scan_start(&t.s, &t.m);
    assert_false(scan_step(&t.s, &t.m, 500, take, &t.all));
    assert_int_equal(t.all.count, 0);
    end(&t);
}

TEST_GROUP(scan)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slices_hold_each_trial_once),
        cmocka_unit_test(test_what_comes_later_is_taken_too),
        cmocka_unit_test(test_trials_in_flight_wait),
        cmocka_unit_test(test_more_in_flight_than_are_remembered),
        cmocka_unit_test(test_a_scan_belongs_to_one_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
