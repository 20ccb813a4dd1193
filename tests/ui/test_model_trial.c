#include "fixture.h"
#include "group.h"
#include "model.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

struct setup {
    struct fixture f;
    struct model m;
};

static void begin(struct setup *t, enum fixture_shape shape)
{
    struct err e;
    fixture_create(&t->f, shape);
    model_init(&t->m, t->f.path);
    if (t->f.session && !model_open(&t->m, t->f.session, &e))
        fail_msg("%s", e.text);
    model_poll(&t->m, FIXTURE_NOW);
}

static void end(struct setup *t)
{
    model_finish(&t->m);
    fixture_destroy(&t->f);
}

static void assert_real(double is, double should_be)
{
    if (!(fabs(is - should_be) <= 1e-9 * fabs(should_be)))
        fail_msg("%.17g is not %.17g", is, should_be);
}

// --- trials ---

static void test_trials_are_found_in_every_way(void **state)
{
    (void)state;
    struct setup t;
    begin(&t, FIXTURE_SMALL);
    for (int64_t n = 1; n <= t.m.open.last_number; n++) {
        const struct trial *x = model_trial_numbered(&t.m, n);
        assert_non_null(x);
        assert_int_equal(x->number, n);
        assert_true(x->has_config);
        assert_ptr_equal(model_trial(&t.m, x->ask), x);
        assert_ptr_equal(model_trial_with(&t.m, &x->config), x);
    }
    assert_null(model_trial_numbered(&t.m, 0));
    assert_null(model_trial_numbered(&t.m, t.m.open.last_number + 1));
    assert_null(model_trial(&t.m, 0));
    assert_null(model_trial(&t.m, 100000));
    assert_int_equal(model_best(&t.m)->ask, t.m.open.record.best_ask);
    end(&t);
}

static void test_ranks_are_in_order_and_complete(void **state)
{
    (void)state;
    struct setup t;
    begin(&t, FIXTURE_SMALL);
    for (int round = 0; round < 5; round++) {
        struct rank before = {1e-9, true};
        for (int64_t i = 0; i < t.m.open.tally[OUTCOME_OK]; i++) {
            const struct trial *x = model_trial_ranked(&t.m, i);
            assert_non_null(x);
            assert_false(rank_is_better(trial_rank(x), before));
            before = trial_rank(x);
        }
        assert_null(model_trial_ranked(&t.m, t.m.open.tally[OUTCOME_OK]));
        assert_null(model_trial_ranked(&t.m, -1));
        fixture_tell(&t.f, 9);
        model_poll(&t.m, FIXTURE_NOW + 1 + round);
    }
    end(&t);
}

// The whole of a page of 200 rows stays valid while it is drawn.
static void test_trials_stay_while_others_are_read(void **state)
{
    (void)state;
    struct setup t;
    struct err e;
    fixture_create_huge(&t.f, 3000);
    model_init(&t.m, t.f.path);
    assert_true(model_open(&t.m, t.f.session, &e));
    for (int64_t first = 1; first < 3000; first += 200) {
        const struct trial *kept = model_trial(&t.m, first);
        for (int64_t i = 1; i <= 64 && first + i <= 3000; i++)
            assert_int_equal(model_trial(&t.m, first + i)->ask, first + i);
        assert_int_equal(kept->ask, first);
        assert_ptr_equal(model_trial(&t.m, first), kept);
    }
    end(&t);
}

static void test_untried_configurations_are_not_found_until_they_are_asked(void **state)
{
    (void)state;
    struct setup t;
    struct err e;
    struct config c;
    struct rng rng;
    struct str key = {0};
    begin(&t, FIXTURE_SMALL);
    rng_seed(&rng, 99);
    space_sample(t.m.open.space, &rng, &c);
    assert_null(model_trial_with(&t.m, &c));
    assert_null(model_trial_with(&t.m, &c));
    config_add_key(t.m.open.space, &c, &key);
    struct trial_record r = {.ask = 5000, .key = str_text(&key), .outcome = OUTCOME_OPEN};
    assert_true(store_put_trial(t.f.store, t.f.session, &r, &e));
    model_poll(&t.m, FIXTURE_NOW + 1);
    assert_int_equal(model_trial_with(&t.m, &c)->ask, 5000);
    assert_int_equal(model_trial_with(&t.m, &c)->told, 0); // in flight
    r.outcome = OUTCOME_OK;
    r.number = r.told = 5000;
    r.seconds = 1;
    r.samples = "[1.5,0.5,1,1]";
    assert_true(store_put_trial(t.f.store, t.f.session, &r, &e));
    model_poll(&t.m, FIXTURE_NOW + 2);
    const struct trial *x = model_trial_with(&t.m, &c);
    assert_int_equal(x->told, 5000);
    assert_int_equal(x->samples, 4);
    assert_real(x->spread, 1);
    assert_real(x->seconds, 1);
    str_finish(&key);
    end(&t);
}

static void test_a_race_is_seen_at_once(void **state)
{
    (void)state;
    struct setup t;
    begin(&t, FIXTURE_SMALL);
    int64_t first = model_trial_ranked(&t.m, 0)->ask, second = model_trial_ranked(&t.m, 1)->ask;
    assert_false(model_trial(&t.m, first)->raced);
    author_retime(t.f.author, second, "race", 10, true);
    assert_true(model_poll(&t.m, FIXTURE_NOW + 1));
    const struct trial *x = model_trial(&t.m, second);
    assert_true(x->raced && x->race_verified);
    assert_real(x->race_seconds, 10 * x->seconds);
    assert_real(trial_rank(x).seconds, 10 * x->seconds);
    assert_int_equal(model_best(&t.m)->ask, second); // as those of a race are
    assert_int_equal(model_trial_ranked(&t.m, 0)->ask, second);
    assert_int_equal(model_trial_ranked(&t.m, 1)->ask, first);
    author_retime(t.f.author, second, "race", 1, false);
    assert_true(model_poll(&t.m, FIXTURE_NOW + 2));
    assert_real(trial_rank(model_trial(&t.m, second)).seconds, 0);
    assert_int_equal(model_best(&t.m)->ask, first);
    end(&t);
}

static void test_origins_are_earlier_asks(void **state)
{
    (void)state;
    struct setup t;
    int bred = 0;
    begin(&t, FIXTURE_SMALL);
    for (int64_t n = 1; n <= t.m.open.last_number; n++) {
        const struct trial *x = model_trial_numbered(&t.m, n);
        bred += x->has_origin;
        for (int i = 0; x->has_origin && i < t.m.open.space->param_count; i++)
            assert_in_range(x->origin[i], 0, x->ask - 1);
    }
    assert_true(bred > 20);
    assert_true(t.m.open.is_population);
    for (int i = 0; i < t.m.open.population_count; i++)
        assert_non_null(model_trial(&t.m, t.m.open.population[i]));
    end(&t);
}

// --- values ---

static void test_positions(void **state)
{
    (void)state;
    static const char *const words[] = {"a", "b", "c"};
    static const double numbers[] = {1, 2, 4, 8, 16};
    struct param p;
    struct arena arena;
    struct err e;
    int32_t v[PARAM_MAX_WIDTH];
    arena_init(&arena);
    assert_true(param_permutation(&p, &arena, "p", 3, words, &e));
    for (uint64_t i = 0; i < 6; i++) { // each order has its own place
        param_value(&p, i, v);
        double place = param_position(&p, v, 0) * 5;
        assert_true(fabs(place - round(place)) < 1e-9);
    }
    assert_real(param_position(&p, (int32_t[]){0, 1, 2}, 0), 0);
    assert_real(param_position(&p, (int32_t[]){0, 2, 1}, 0), 0.2);
    assert_real(param_position(&p, (int32_t[]){2, 1, 0}, 0), 1);
    assert_true(param_factorization(&p, &arena, "f", 64, 3, &e));
    assert_real(param_position(&p, (int32_t[]){64, 1, 1}, 0), 1);
    assert_real(param_position(&p, (int32_t[]){64, 1, 1}, 1), 0);
    assert_real(param_position(&p, (int32_t[]){8, 2, 4}, 0), 0.5);
    assert_true(param_factorization(&p, &arena, "one", 1, 2, &e));
    assert_real(param_position(&p, (int32_t[]){1, 1}, 1), 0);
    assert_true(param_discrete(&p, &arena, "d", 5, numbers, &e));
    assert_real(param_position(&p, (int32_t[]){3}, 0), 0.75);
    assert_true(param_categorical(&p, &arena, "c", 1, words, &e));
    assert_real(param_position(&p, (int32_t[]){0}, 0), 0);
    arena_finish(&arena);
}

static void test_units_follow_the_best(void **state)
{
    (void)state;
    struct model m = {.open.record = {.flop = 1e9, .best_seconds = 1e-3}};
    double per_flops;
    assert_string_equal(model_unit(&m, &per_flops), "TFLOPS");
    assert_real(seconds_speed(&m, 1e-3) * per_flops, 1);
    m.open.record.best_seconds = 1.001e-3;
    assert_string_equal(model_unit(&m, &per_flops), "GFLOPS");
    m.open.record.best_seconds = 2; // from a tenth of a GFLOPS on
    assert_string_equal(model_unit(&m, &per_flops), "GFLOPS");
    m.open.record.best_seconds = 20;
    assert_string_equal(model_unit(&m, &per_flops), "MFLOPS");
    assert_real(seconds_speed(&m, 20) * per_flops, 50);
    assert_real(seconds_speed(&m, 0), 0);
}

static void test_a_damaged_session_is_closed(void **state)
{
    (void)state;
    struct setup t;
    struct err e;
    begin(&t, FIXTURE_SMALL);
    fixture_execute(&t.f, "UPDATE session SET state = 'odd'");
    assert_true(model_poll(&t.m, FIXTURE_NOW + 1));
    assert_int_equal(t.m.open.record.id, 0);
    assert_non_null(strstr(t.m.open.trouble.text, "column state"));
    assert_non_null(t.m.store); // the others are still there
    assert_int_equal(model_row(&t.m, t.f.session)->state, STATE_DAMAGED);
    assert_false(model_open(&t.m, t.f.session, &e));
    end(&t);
}

TEST_GROUP(model_trial)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trials_are_found_in_every_way),
        cmocka_unit_test(test_ranks_are_in_order_and_complete),
        cmocka_unit_test(test_trials_stay_while_others_are_read),
        cmocka_unit_test(test_untried_configurations_are_not_found_until_they_are_asked),
        cmocka_unit_test(test_a_race_is_seen_at_once),
        cmocka_unit_test(test_origins_are_earlier_asks),
        cmocka_unit_test(test_positions),
        cmocka_unit_test(test_units_follow_the_best),
        cmocka_unit_test(test_a_damaged_session_is_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
