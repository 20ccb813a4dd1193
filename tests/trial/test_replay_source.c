// Times of a recording as a source: what was recorded comes back, at once or in its rhythm.
#include "group.h"
#include "record/record.h"
#include "spaces.h"
#include "trial/source.h"
#include "wording.h"

#include <math.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>

enum { FAST, SLOW, FAILED, REJECTED, MANY, COUNT };

static struct config config_at(int index)
{
    return (struct config){.slot = {index}};
}

static struct recording *small(void)
{
    static double many[TRIAL_MAX_SAMPLES + 8];
    static const double two[] = {0.001, 0.003};
    static const struct record_entry entry[COUNT] = {
        [FAST] =
            {.seconds = 0.002, .runs = two, .run_count = 2, .compile_s = 0.5, .benchmark_s = 0.25},
        [SLOW] = {.seconds = 4, .compile_s = NAN, .benchmark_s = NAN},
        [FAILED] = {.outcome = OUTCOME_COMPILE, .compile_s = 2, .benchmark_s = NAN},
        [REJECTED] = {.outcome = OUTCOME_REJECTED, .compile_s = NAN, .benchmark_s = NAN},
        [MANY] = {.seconds = 1,
                  .runs = many,
                  .run_count = TRIAL_MAX_SAMPLES + 8,
                  .compile_s = 1,
                  .benchmark_s = NAN},
    };
    struct recording *r = recording_create("small.json", "tilewalk");
    struct err e;
    struct space *like = space_create("like");
    add_categorical(like, "which", COUNT);
    sealed(like);
    for (int i = 0; i < TRIAL_MAX_SAMPLES + 8; i++)
        many[i] = 1 + i;
    assert_true(recording_add_params(r, like, &e));
    assert_true(recording_seal_space(r, &e));
    for (int i = 0; i < COUNT; i++) {
        struct config c = config_at(i);
        bool was_new;
        recording_add(r, &c, &entry[i], &was_new);
    }
    assert_true(recording_finish(r, &e));
    space_destroy(like);
    return r;
}

static void submit(struct source *s, int64_t ticket, int index)
{
    struct trial_request request = {.ticket = ticket, .count = 1, .config = {config_at(index)}};
    source_submit(s, &request);
}

static struct trial_result collect(struct source *s)
{
    struct trial_result result;
    struct err e;
    while (!source_collect(s, &result)) {
        poll(NULL, 0, source_wait_ms(s));
        assert_true(source_step(s, &e));
    }
    return result;
}

static struct trial_result measure(struct source *s, int index)
{
    submit(s, 77, index);
    struct trial_result result = collect(s);
    assert_int_equal(result.ticket, 77);
    assert_int_equal(result.count, 1);
    return result;
}

static void test_what_was_recorded(void **state)
{
    (void)state;
    struct recording *r = small();
    struct source *s = replay_source_create(r, 0, 1);
    struct trial_result t = measure(s, FAST);
    assert_int_equal(t.outcome[0], OUTCOME_OK);
    assert_true(t.seconds[0] == 0.002);
    assert_int_equal(t.samples[0].count, 2);
    assert_true(t.samples[0].seconds[1] == 0.003);
    assert_true(t.compile_s == 0.5 && t.device_s == 0.25);
    t = measure(s, SLOW); // no runs: the mean is the only sample; no costs
    assert_true(t.seconds[0] == 4 && t.samples[0].count == 1 && t.samples[0].seconds[0] == 4);
    assert_true(t.compile_s == 0 && t.device_s == 0);
    t = measure(s, MANY); // more runs than a trial holds
    assert_int_equal(t.samples[0].count, TRIAL_MAX_SAMPLES);
    t = measure(s, FAILED);
    assert_int_equal(t.outcome[0], OUTCOME_COMPILE);
    assert_int_equal(t.phase[0], PHASE_COMPILE);
    wording_is("trial", "replay: compile", t.reason[0]);
    assert_true(t.seconds[0] == 0 && t.samples[0].count == 0);
    t = measure(s, REJECTED);
    assert_int_equal(t.outcome[0], OUTCOME_REJECTED);
    assert_true(s->kind->deterministic && !s->kind->needs_jobs);
    source_destroy(s);
    recording_destroy(r);
}

static void test_cost(void **state)
{
    (void)state;
    struct recording *r = small();
    assert_true(replay_source_cost(&r->entry[FAST]) == 0.75);
    assert_true(replay_source_cost(&r->entry[SLOW]) == 4);
    assert_true(replay_source_cost(&r->entry[FAILED]) == 2);
    assert_true(replay_source_cost(&r->entry[REJECTED]) == 0);
    double runs = 0;
    for (int i = 0; i < r->entry[MANY].run_count; i++)
        runs += r->entry[MANY].runs[i];
    assert_true(replay_source_cost(&r->entry[MANY]) == 1 + runs);
    recording_destroy(r);
}

// 4 s and 0.75 s, ten times as fast: the shorter one comes first although it was submitted last.
static void test_rhythm(void **state)
{
    (void)state;
    struct recording *r = small();
    struct source *s = replay_source_create(r, 10, 2);
    assert_int_equal(source_room(s), 2);
    assert_int_equal(source_wait_ms(s), -1);
    submit(s, 1, SLOW);
    submit(s, 2, FAST);
    assert_int_equal(source_room(s), 0);
    assert_true(source_wait_ms(s) <= 76);
    assert_int_equal(collect(s).ticket, 2);
    assert_int_equal(source_room(s), 1);
    assert_true(source_wait_ms(s) <= 401);
    assert_int_equal(collect(s).ticket, 1);
    assert_int_equal(source_room(s), 2);
    source_destroy(s);
    recording_destroy(r);
}

static void test_at_once(void **state)
{
    (void)state;
    struct recording *r = small();
    struct source *s = replay_source_create(r, 0, 4);
    struct trial_result t;
    for (int i = 0; i < 4; i++)
        submit(s, i, SLOW);
    assert_int_equal(source_wait_ms(s), 0);
    for (int i = 0; i < 4; i++) {
        assert_true(source_collect(s, &t));
        assert_int_equal(t.ticket, i); // in the order submitted
    }
    assert_false(source_collect(s, &t));
    source_destroy(s);
    recording_destroy(r);
}

TEST_GROUP(replay_source)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_recorded),
        cmocka_unit_test(test_cost),
        cmocka_unit_test(test_rhythm),
        cmocka_unit_test(test_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
