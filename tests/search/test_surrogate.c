// The base of the surrogate-based strategies, with a model that is easy to predict: the speed of
// a point is the sum of its numbers.
#include "search/surrogate.h"

#include "group.h"
#include "spaces.h"

#include <math.h>
#include <poll.h>
#include <string.h>

enum { BATCH = 8, MOST = 200 };

// A strategy that proposes a list, whatever it learned.
struct fake {
    struct surrogate surrogate;
    const struct config *wish;
    int wishes, plans;
    bool has_model;
    int programs, history; // of the last plan
    float y[MOST];
    struct config asked[MOST];
    int count;
};

static bool plan(void *self, const atomic_bool *stop)
{
    (void)stop;
    struct fake *f = self;
    const struct samples *s = &f->surrogate.samples;
    f->programs = s->programs;
    f->history = f->surrogate.history;
    memcpy(f->y, s->y, (size_t)s->programs * sizeof *f->y);
    for (int i = 0; i < f->wishes; i++)
        surrogate_propose(&f->surrogate, &f->wish[i]);
    f->surrogate.model_bytes = 123;
    f->plans++;
    return f->has_model;
}

static float sum(const struct config *c)
{
    float sum = 1;
    for (int i = 0; i < SPACE_MAX_SLOTS; i++)
        sum += (float)c->slot[i];
    return sum;
}

static void predict(void *self, const struct config *config, int count, float *out)
{
    (void)self;
    for (int i = 0; i < count; i++)
        out[i] = sum(&config[i]);
}

static const struct surrogate_kind kind = {plan, predict};
static const struct surrogate_settings settings = {.batch = BATCH, .seed = 5};

static void start(struct fake *f, const struct search_problem *p)
{
    *f = (struct fake){.has_model = true};
    assert_true(surrogate_init(&f->surrogate, &kind, f, p, &settings, NULL));
}

static enum ask ask(struct fake *f)
{
    enum ask asked;
    while ((asked = surrogate_ask(&f->surrogate.batches.base, &f->asked[f->count])) == ASK_WAIT &&
           surrogate_wait_fd(&f->surrogate.batches.base) >= 0)
        poll(
            &(struct pollfd){.fd = surrogate_wait_fd(&f->surrogate.batches.base), .events = POLLIN},
            1, -1);
    f->count += asked == ASK_NEW;
    return asked;
}

// Asks for a round and tells it; fitness is `scale` times the sum.
static void run_round(struct fake *f, double scale)
{
    int from = f->count;
    for (int i = 0; i < BATCH; i++)
        assert_int_equal(ask(f), ASK_NEW);
    assert_int_equal(ask(f), ASK_WAIT);
    for (int i = from; i < f->count; i++)
        surrogate_tell(&f->surrogate.batches.base, &f->asked[i], OUTCOME_OK,
                       scale * (double)sum(&f->asked[i]));
}

static void expect_asked(const struct fake *f, int at, const struct config *c)
{
    assert_true(config_equal(&f->asked[at], c));
}

static bool first_is_even(void *context, const struct config *c)
{
    ++*(int *)context;
    return c->slot[0] % 2 == 0;
}

// The `which`-th with that first number.
static struct config point(const struct space *s, int32_t slot_0, uint64_t which)
{
    struct config c;
    const struct param *n = &s->param[1];
    space_point(s, 0, &c);
    memcpy(c.slot, (int32_t[]){slot_0, 1, s->param[0].product / slot_0}, 3 * sizeof *c.slot);
    param_value(n, which, c.slot + n->offset);
    return c;
}

static void test_a_round_is_warm_points_then_the_plan_then_draws(void **state)
{
    (void)state;
    struct space *s = space_mm(512, 1024, 1024);
    struct config warm[BATCH + 2];
    for (int i = 0; i < BATCH + 2; i++)
        warm[i] = point(s, 4, (uint64_t)i);
    int looks = 0;
    struct search_problem p = {.space = s,
                               .legal = first_is_even,
                               .context = &looks,
                               .warm = warm,
                               .warm_count = BATCH + 2};
    struct fake f;
    start(&f, &p);
    run_round(&f, 1);
    for (int i = 0; i < BATCH; i++)
        expect_asked(&f, i, &warm[i]);
    assert_int_equal(f.plans, 0);

    // One that is warm too, one known, one illegal, one twice.
    const struct config wish[] = {warm[BATCH + 1], warm[0],        point(s, 1, 0),
                                  point(s, 2, 0),  point(s, 2, 0), point(s, 8, 0)};
    f.wish = wish;
    f.wishes = 6;
    run_round(&f, 1);
    assert_int_equal(f.plans, 1);
    expect_asked(&f, BATCH, &warm[BATCH]);
    expect_asked(&f, BATCH + 1, &warm[BATCH + 1]);
    expect_asked(&f, BATCH + 2, &wish[3]);
    expect_asked(&f, BATCH + 3, &wish[5]);
    looks = 0;
    assert_false(surrogate_allows(&f.surrogate, &wish[2]));
    assert_int_equal(looks, 0); // it was looked at before
    surrogate_finish(&f.surrogate);
    space_destroy(s);
}

static void test_labels_are_relative_to_the_best(void **state)
{
    (void)state;
    struct space *s = space_mm(512, 1024, 1024);
    struct search_problem p = {.space = s};
    struct fake f;
    start(&f, &p);
    run_round(&f, 0); // nothing but failures: nothing to learn from
    run_round(&f, 3);
    assert_int_equal(f.plans, 0);
    run_round(&f, 5);
    assert_int_equal(f.plans, 1);
    ask(&f);
    assert_int_equal(f.programs, 3 * BATCH);
    float best = 0;
    for (int i = BATCH; i < 3 * BATCH; i++)
        best = fmaxf(best, (i < 2 * BATCH ? 3 : 5) * sum(&f.asked[i]));
    for (int i = 0; i < 3 * BATCH; i++) {
        float scale = i < BATCH ? 0 : i < 2 * BATCH ? 3 : 5;
        assert_true(fabsf(f.y[i] - scale * sum(&f.asked[i]) / best) < 1e-6F);
    }
    surrogate_finish(&f.surrogate);
    space_destroy(s);
}

// A plan's predictions are judged by the next one; who has no model says nothing.
static void test_refits_are_reported(void **state)
{
    (void)state;
    struct space *s = space_mm(512, 1024, 1024);
    struct search_problem p = {.space = s};
    struct fake f;
    struct refit r;
    start(&f, &p);
    run_round(&f, 1);
    assert_false(surrogate_take_refit(&f.surrogate.batches.base, &r));
    run_round(&f, 1);
    assert_true(surrogate_take_refit(&f.surrogate.batches.base, &r));
    assert_false(surrogate_take_refit(&f.surrogate.batches.base, &r));
    assert_int_equal(r.told, BATCH);
    assert_int_equal(r.rows, BATCH);
    assert_int_equal(r.batch, 0);
    assert_true(isnan(r.correlation) && isnan(r.recall));
    assert_true(r.bytes == 123 && r.seconds >= 0);

    f.has_model = false;
    run_round(&f, 1);
    assert_false(surrogate_take_refit(&f.surrogate.batches.base, &r));
    f.has_model = true;
    run_round(&f, 1); // the round before it was not predicted
    assert_true(surrogate_take_refit(&f.surrogate.batches.base, &r) && r.batch == 0);
    ask(&f);
    assert_true(surrogate_take_refit(&f.surrogate.batches.base, &r));
    assert_int_equal(r.told, 4 * BATCH);
    assert_int_equal(r.batch, BATCH);
    assert_int_equal(r.k, BATCH / 4);
    assert_true(r.correlation > 0.999 && r.recall == 1); // predicted as it was
    surrogate_finish(&f.surrogate);
    space_destroy(s);
}

static void test_histories_are_normalised_each(void **state)
{
    (void)state;
    struct space *s = space_mm(512, 1024, 1024), *other = space_mm(256, 256, 256);
    struct space *unlike = space_24();
    struct config config[30], small[30];
    double slow[30], fast[30] = {0};
    for (int i = 0; i < 30; i++) {
        space_point(other, (uint64_t)i * 7, &config[i]);
        space_point(unlike, (uint64_t)i % 24, &small[i]);
        slow[i] = i;
        fast[i] = i == 3 ? 0 : 1000 * (30 - i);
    }
    const double none[30] = {0};
    struct search_history history[] = {
        {"slow", other, config, slow, 30},
        {"unlike", unlike, small, fast, 30},
        {"failed", other, config, none, 30},
        {"fast", s, config, fast, 30},
    };
    for (int used = 3; used <= 4; used++) {
        struct search_problem p = {.space = s, .history = history, .history_count = used};
        struct fake f;
        start(&f, &p);
        assert_int_equal(ask(&f), ASK_NEW);
        bool enough = used == 4; // 60 records and not 30
        assert_int_equal(f.plans, enough);
        assert_int_equal(f.history, enough ? 60 : 0);
        assert_int_equal(f.programs, f.history);
        for (int i = 0; enough && i < 30; i++) {
            assert_true(fabs((double)f.y[i] - slow[i] / 29) < 1e-6);
            assert_true(fabs((double)f.y[30 + i] - fast[i] / 30000) < 1e-6);
        }
        surrogate_finish(&f.surrogate);
    }
    space_destroy(unlike);
    space_destroy(other);
    space_destroy(s);
}

static void test_a_plan_under_way_is_ended(void **state)
{
    (void)state;
    struct space *s = space_mm(512, 1024, 1024);
    struct search_problem p = {.space = s};
    struct fake f;
    start(&f, &p);
    run_round(&f, 1);
    assert_int_equal(surrogate_ask(&f.surrogate.batches.base, &f.asked[0]), ASK_WAIT);
    assert_true(surrogate_wait_fd(&f.surrogate.batches.base) >= 0);
    surrogate_finish(&f.surrogate);
    space_destroy(s);
}

TEST_GROUP(surrogate)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_round_is_warm_points_then_the_plan_then_draws),
        cmocka_unit_test(test_labels_are_relative_to_the_best),
        cmocka_unit_test(test_refits_are_reported),
        cmocka_unit_test(test_histories_are_normalised_each),
        cmocka_unit_test(test_a_plan_under_way_is_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
