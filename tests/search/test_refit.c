// The contract of strategies with a model: waiting for a fit, and reporting it. This program has
// one strategy, its own.
#include "group.h"

#include "base/mem.h"
#include "base/task.h"
#include "search/kinds.h"

#include <poll.h>

// Fits before every second ask; each fit sleeps a little.
struct sleeper {
    struct strategy base;
    struct task *task;
    int asked, fitted, reported;
    bool planned; // a fit was started for the next ask
};

static void fit(void *context, const atomic_bool *stop)
{
    int *fitted = context;
    poll(NULL, 0, 30);
    *fitted += !atomic_load(stop);
}

static struct strategy *create(const struct search_problem *p, uint64_t seed, const double *option,
                               struct err *e)
{
    (void)p, (void)seed, (void)option, (void)e;
    struct sleeper *s = mem_zero(1, sizeof *s);
    return &s->base;
}

static enum ask ask(struct strategy *base, struct config *out)
{
    struct sleeper *s = (struct sleeper *)base;
    if (s->asked % 2 && !s->planned) {
        s->task = task_start(fit, &s->fitted);
        s->planned = true;
    }
    if (s->task && !task_is_done(s->task))
        return ASK_WAIT;
    task_finish(s->task, false);
    s->task = NULL;
    s->planned = false;
    *out = (struct config){.slot = {s->asked++}};
    return ASK_NEW;
}

static void tell(struct strategy *base, const struct config *c, enum outcome o, double fitness)
{
    (void)base, (void)c, (void)o, (void)fitness;
}

static int wait_fd(const struct strategy *base)
{
    const struct sleeper *s = (const struct sleeper *)base;
    return s->task ? task_fd(s->task) : -1;
}

static bool take_refit(struct strategy *base, struct refit *out)
{
    struct sleeper *s = (struct sleeper *)base;
    if (s->reported == s->fitted)
        return false;
    *out = (struct refit){.told = ++s->reported};
    return true;
}

static void destroy(struct strategy *base)
{
    struct sleeper *s = (struct sleeper *)base;
    task_finish(s->task, true);
    free(s);
}

static const struct spec_option no_options[] = {{.name = NULL}};

static const struct strategy_kind sleeping = {
    .name = "sleeper",
    .help = "fits",
    .options = no_options,
    .create = create,
    .ask = ask,
    .tell = tell,
    .wait_fd = wait_fd,
    .take_refit = take_refit,
    .destroy = destroy,
};

static const struct strategy_kind plain = {
    .name = "plain",
    .help = "does not",
    .options = no_options,
    .create = create,
    .ask = ask,
    .tell = tell,
    .destroy = destroy,
};

const struct strategy_kind *const strategy_kinds[] = {&sleeping, &plain, NULL};

static void waiting_for_a_fit_ends_when_it_is_there(void **state)
{
    (void)state;
    struct search_problem problem = {0};
    struct strategy *s = strategy_create("sleeper", &problem, 1, NULL);
    struct config c;
    int waits = 0;
    assert_int_equal(strategy_wait_fd(s), -1);
    assert_false(strategy_wait(s));
    for (int i = 0; i < 6; i++) {
        enum ask asked;
        while ((asked = strategy_ask(s, &c)) == ASK_WAIT) {
            waits++;
            assert_true(strategy_wait_fd(s) >= 0);
            assert_true(strategy_wait(s));
        }
        assert_int_equal(asked, ASK_NEW);
        assert_int_equal(c.slot[0], i);
        assert_int_equal(strategy_wait_fd(s), -1);
    }
    assert_int_equal(waits, 3); // one each: it was not asked again too early
    strategy_destroy(s);
}

static void each_refit_is_given_once(void **state)
{
    (void)state;
    struct search_problem problem = {0};
    struct strategy *s = strategy_create("sleeper", &problem, 1, NULL);
    struct config c;
    struct refit r;
    assert_false(strategy_take_refit(s, &r));
    for (int i = 0; i < 5;)
        if (strategy_ask(s, &c) == ASK_NEW)
            i++;
        else
            assert_true(strategy_wait(s));
    for (int64_t told = 1; told <= 2; told++) {
        assert_true(strategy_take_refit(s, &r));
        assert_int_equal(r.told, told);
    }
    assert_false(strategy_take_refit(s, &r));
    strategy_destroy(s);
}

static void one_that_is_fitting_can_be_destroyed(void **state)
{
    (void)state;
    struct search_problem problem = {0};
    struct strategy *s = strategy_create("sleeper", &problem, 1, NULL);
    struct config c;
    assert_int_equal(strategy_ask(s, &c), ASK_NEW);
    assert_int_equal(strategy_ask(s, &c), ASK_WAIT);
    strategy_destroy(s);
}

static void without_a_model_there_is_nothing_to_wait_for(void **state)
{
    (void)state;
    struct search_problem problem = {0};
    struct strategy *s = strategy_create("plain", &problem, 1, NULL);
    struct refit r;
    assert_true(strategy_has_model("sleeper"));
    assert_false(strategy_has_model("plain"));
    assert_false(strategy_has_model("plain:x=1"));
    assert_false(strategy_has_model("nobody"));
    assert_false(strategy_take_refit(s, &r));
    assert_int_equal(strategy_wait_fd(s), -1);
    assert_false(strategy_wait(s));
    strategy_destroy(s);
}

TEST_GROUP(refit)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waiting_for_a_fit_ends_when_it_is_there),
        cmocka_unit_test(each_refit_is_given_once),
        cmocka_unit_test(one_that_is_fitting_can_be_destroyed),
        cmocka_unit_test(without_a_model_there_is_nothing_to_wait_for),
    };
    return cmocka_run_group_tests_name("refit", tests, NULL, NULL);
}
