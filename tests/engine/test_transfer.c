// The training set of a session's model is fixed when the session is made, whatever becomes of the
// sessions that it learns from.
#include "group.h"
#include "learner.h"
#include "run.h"

enum { TRIALS = 32 };

static int setup(void **state)
{
    struct run *r = mem_zero(1, sizeof *r);
    run_init(r);
    *state = r;
    return 0;
}

static int teardown(void **state)
{
    run_finish(*state);
    free(*state);
    return 0;
}

// Makes sessions 1 and 2, of other sizes than those that follow.
static void make_earlier(struct run *r)
{
    static const char *const sizes[] = {"96", "48"};
    for (int i = 0; i < 2; i++) {
        struct setting size = {"N", sizes[i]};
        struct session_options o = run_options(24);
        o.set = &size;
        o.set_count = 1;
        assert_int_equal(run_tune(r, &o), i + 1);
    }
}

static int64_t tune(struct run *r, const char *transfer, const char *earlier)
{
    struct session_options o = run_options(TRIALS);
    o.transfer = transfer;
    o.earlier = earlier;
    return run_tune(r, &o);
}

static void assert_history(struct run *r, int64_t id, const char *expected)
{
    struct arena a;
    arena_init(&a);
    const char *history = run_record(r, id, &a).history;
    if (expected)
        assert_string_equal(history, expected);
    else
        assert_null(history);
    arena_finish(&a);
}

static bool is_same(struct run *r, int64_t a, int64_t b)
{
    char *one = run_sequence(r, a), *other = run_sequence(r, b);
    bool same = strcmp(one, other) == 0;
    free(one);
    free(other);
    return same;
}

static void named_sessions_are_learned_from(void **state)
{
    struct run *r = *state;
    make_earlier(r);
    int64_t plain = tune(r, NULL, NULL), none = tune(r, "none", "1,2");
    assert_history(r, plain, NULL);
    assert_history(r, none, NULL);
    assert_true(is_same(r, plain, none));
    int64_t both = tune(r, "2,1,2", NULL), one = tune(r, "2", NULL);
    assert_history(r, both, "1:24 2:24"); // oldest first, each once
    assert_history(r, one, "2:24");
    assert_false(is_same(r, plain, both));
    assert_false(is_same(r, both, one));
    assert_true(is_same(r, both, tune(r, "1", "2")));
    assert_true(is_same(r, both, tune(r, NULL, "1,2")));
    assert_true(is_same(r, both, tune(r, NULL, "1,2,999"))); // those of a run, as far as they go
}

static void auto_takes_similar_sessions(void **state)
{
    struct run *r = *state;
    make_earlier(r);
    struct session_options o = run_options(8);
    o.source = "synthetic:bowl"; // another source
    assert_int_equal(run_tune(r, &o), 3);
    o = run_options(8);
    o.space = "mm"; // other parameters
    assert_int_equal(run_tune(r, &o), 4);
    o.space = "copy"; // another operator
    assert_int_equal(run_tune(r, &o), 5);
    o = run_options(8);
    o.source = "synthetic:rugged:seed=1:invalid=0.999";
    assert_int_equal(run_tune(r, &o), 6); // nothing valid
    assert_history(r, tune(r, "auto", "3,4"), "1:24 2:24");
    assert_history(r, tune(r, "auto", NULL), "1:24 2:24 7:32");
}

static void a_training_set_outlives_its_sessions(void **state)
{
    struct run *r = *state;
    struct err e;
    make_earlier(r);
    struct session_options o = run_options(TRIALS);
    o.transfer = "1,2";
    int64_t whole = run_tune(r, &o), killed[3];
    for (int i = 0; i < 3; i++) {
        run_killed(r, "refit:2", 0, &o);
        killed[i] = whole + 1 + i;
    }
    run_resume(r, 1, 40); // it goes on
    run_resume(r, killed[0], 0);
    assert_true(is_same(r, whole, killed[0]));
    run_must(store_delete_session(r->store, 1, &e), &e);
    run_resume(r, killed[1], 0);
    assert_true(is_same(r, whole, killed[1]));
    run_must(store_delete_session(r->store, 2, &e), &e);
    run_resume(r, killed[2], 0);
    assert_true(is_same(r, whole, killed[2]));
    struct session_options like = {.like = whole, .has_seed = true, .seed = 5};
    int64_t again = run_tune(r, &like); // learns from the same
    assert_history(r, again, "1:24 2:24");
    assert_true(is_same(r, whole, again));
}

static void expect_refused(struct run *r, const char *transfer, const char *part)
{
    struct err e = {0};
    int64_t id;
    struct session_options o = run_options(TRIALS);
    o.transfer = transfer;
    struct engine *g = run_engine(r);
    assert_false(engine_start(g, &o, &id, &e));
    engine_destroy(g);
    if (!strstr(e.text, part))
        fail_msg("'%s' lacks '%s'", e.text, part);
}

static void named_sessions_must_exist(void **state)
{
    struct run *r = *state;
    struct err e;
    make_earlier(r);
    struct session_options o = run_options(8);
    o.source = "synthetic:rugged:seed=1:invalid=0.999";
    assert_int_equal(run_tune(r, &o), 3);
    expect_refused(r, "9", "no session 9");
    expect_refused(r, "1,9", "no session 9");
    expect_refused(r, "3", "session 3 has no valid result to learn from");
    expect_refused(r, "all", "'all' is not the number of a session");
    expect_refused(r, "", "no session is named");
    run_must(store_delete_session(r->store, 1, &e), &e);
    expect_refused(r, "1", "no session 1");
}

static void a_strategy_without_a_model_learns_nothing(void **state)
{
    struct run *r = *state;
    make_earlier(r);
    struct session_options o = run_options(TRIALS);
    o.strategy = "random";
    int64_t plain = run_tune(r, &o);
    o.transfer = "1";
    int64_t told = run_tune(r, &o);
    assert_history(r, told, NULL);
    assert_true(is_same(r, plain, told));
}

TEST_GROUP(transfer)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(named_sessions_are_learned_from, setup, teardown),
        cmocka_unit_test_setup_teardown(auto_takes_similar_sessions, setup, teardown),
        cmocka_unit_test_setup_teardown(a_training_set_outlives_its_sessions, setup, teardown),
        cmocka_unit_test_setup_teardown(named_sessions_must_exist, setup, teardown),
        cmocka_unit_test_setup_teardown(a_strategy_without_a_model_learns_nothing, setup, teardown),
    };
    return cmocka_run_group_tests_name("transfer", tests, NULL, NULL);
}
