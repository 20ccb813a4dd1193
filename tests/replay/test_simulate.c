// Simulated tuning: the count of trials, and numbers that depend on nothing else.
#include "group.h"
#include "made.h"
#include "simulate/curve.h"
#include "simulate/simulate.h"
#include "spaces.h"

#include <math.h>
#include <string.h>

static struct recording *mixed(void)
{
    struct made m = {.space = space_mixed(),
                     .recorded = 50,
                     .failing = 20,
                     .rejected = 10,
                     .runs = 5,
                     .costs = true};
    return made_recording(&m, "mixed");
}

static void same_run(const struct simulated_run *a, const struct simulated_run *b)
{
    assert_int_equal(a->trials, b->trials);
    assert_int_equal(a->asks, b->asks);
    assert_int_equal(a->count, b->count);
    assert_true(a->recorded_s == b->recorded_s);
    for (int i = 0; i < a->count; i++) {
        assert_int_equal(a->step[i].trial, b->step[i].trial);
        assert_true(a->step[i].seconds == b->step[i].seconds);
    }
}

static bool is_same_run(const struct simulated_run *a, const struct simulated_run *b)
{
    if (a->count != b->count || a->asks != b->asks)
        return false;
    for (int i = 0; i < a->count; i++)
        if (a->step[i].trial != b->step[i].trial || a->step[i].seconds != b->step[i].seconds)
            return false;
    return true;
}

// --- trials ---

// Everything is asked for once: the rest is the sum of the recording.
static void test_a_whole_space(void **state)
{
    struct recording *r = mixed();
    (void)state;
    struct simulation s = {
        .recording = r, .strategy = "random", .trials = 5000, .repeats = 3, .seed = 7};
    run_simulation(&s, 1);
    for (int i = 0; i < s.repeats; i++) {
        const struct simulated_run *run = &s.run[i];
        assert_int_equal(run->trials, r->count - r->outcomes[OUTCOME_REJECTED]);
        assert_int_equal(run->asks, r->space->size);
        assert_true(fabs(run->recorded_s - 0.75 * (double)run->trials) < 1e-9);
        assert_true(run->step[run->count - 1].seconds == r->entry[r->best].seconds);
        for (int k = 1; k < run->count; k++) {
            assert_true(run->step[k].seconds < run->step[k - 1].seconds);
            assert_true(run->step[k].trial > run->step[k - 1].trial);
            assert_true(run->step[k].at_s >= 0.75 * (double)run->step[k].trial);
        }
    }
    simulation_finish(&s);
    recording_destroy(r);
}

// A strategy that has the legality of configurations asks for legal ones alone.
static void test_legal_is_what_is_recorded(void **state)
{
    struct recording *r = mixed();
    (void)state;
    struct simulation s = {
        .recording = r, .strategy = "local", .trials = 100, .repeats = 5, .seed = 7};
    run_simulation(&s, 1);
    for (int i = 0; i < s.repeats; i++) {
        assert_int_equal(s.run[i].trials, 100);
        assert_int_equal(s.run[i].asks, 100);
    }
    simulation_finish(&s);
    recording_destroy(r);
}

// Draws from the recording meet points where draws from the space would not.
static void test_sparse_recordings_are_met(void **state)
{
    static const char *const specs[] = {"random", "opevo", "local", "ga", "annealing"};
    struct made m = {.space = space_huge(), .sampled = 60, .failing = 20};
    struct recording *r = made_recording(&m, "sparse");
    (void)state;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct simulation s = {
            .recording = r, .strategy = specs[i], .trials = 40, .repeats = 3, .seed = 7};
        run_simulation(&s, 2);
        for (int k = 0; k < s.repeats; k++) {
            assert_int_equal(s.run[k].trials, 40);
            assert_int_equal(s.run[k].asks, 40);
        }
        simulation_finish(&s);
    }
    recording_destroy(r);
}

static void test_nothing_but_failures_at_first(void **state)
{
    struct made m = {.space = space_mixed(), .recorded = 100, .failing = 97};
    struct recording *r = made_recording(&m, "failing");
    struct simulated_curve c;
    (void)state;
    struct simulation s = {
        .recording = r, .strategy = "random", .trials = 3, .repeats = 40, .seed = 7};
    run_simulation(&s, 1);
    simulated_curve_make(&s, &c);
    int found = 0;
    for (int i = 0; i < s.repeats; i++)
        found += s.run[i].count > 0;
    assert_true(found < s.repeats / 2);
    assert_true(c.fraction[2] < 0.5);
    assert_true(c.score < 0);
    simulated_curve_finish(&c);
    simulation_finish(&s);
    recording_destroy(r);
}

// --- the same numbers ---

static void test_threads_change_nothing(void **state)
{
    struct recording *r = mixed();
    (void)state;
    static const char *const specs[] = {"random", "opevo", "ga", "annealing", "local"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct simulation one = {
            .recording = r, .strategy = specs[i], .trials = 60, .repeats = 12, .seed = 3};
        struct simulation many = one;
        run_simulation(&one, 1);
        run_simulation(&many, 5);
        for (int k = 0; k < one.repeats; k++)
            same_run(&one.run[k], &many.run[k]);
        assert_false(is_same_run(&one.run[0], &one.run[1]));
        simulation_finish(&one);
        simulation_finish(&many);
    }
    recording_destroy(r);
}

struct finished {
    int count, index[4];
};

static void note_finished(void *context, int index)
{
    struct finished *f = context;
    f->index[f->count++] = index;
}

// Neither other simulations nor repeats nor the spelling of an option change them.
static void test_company_changes_nothing(void **state)
{
    struct recording *r = mixed();
    struct finished finished = {0};
    struct simulate_options o = {.threads = 3, .finished = note_finished, .context = &finished};
    struct err e;
    (void)state;
    struct simulation alone = {
        .recording = r, .strategy = "opevo", .trials = 60, .repeats = 2, .seed = 3};
    struct simulation list[] = {alone, alone, alone};
    list[0].strategy = "random";
    list[1].repeats = 20;
    list[2].seed = 4;
    run_simulation(&alone, 1);
    assert_true(simulate(list, 3, &o, &e));
    assert_int_equal(finished.count, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(finished.index[i], i);
    for (int i = 0; i < alone.repeats; i++) {
        same_run(&alone.run[i], &list[1].run[i]);
        assert_false(is_same_run(&alone.run[i], &list[2].run[i]));
    }
    simulation_finish(&alone);
    for (int i = 0; i < 3; i++)
        simulation_finish(&list[i]);
    recording_destroy(r);
}

// --- noise, time, the end ---

// The leader is chosen by noisy times and judged by its mean, so that it may lose ground.
static void test_noise(void **state)
{
    struct recording *r = mixed();
    struct simulated_curve c;
    (void)state;
    struct simulation s = {.recording = r,
                           .strategy = "random",
                           .trials = 5000,
                           .repeats = 40,
                           .seed = 3,
                           .noise = true};
    struct simulation again = s;
    int lost = 0, missed = 0;
    run_simulation(&s, 1);
    run_simulation(&again, 4);
    for (int i = 0; i < s.repeats; i++) {
        const struct simulated_run *run = &s.run[i];
        same_run(run, &again.run[i]);
        for (int k = 1; k < run->count; k++)
            lost += run->step[k].seconds > run->step[k - 1].seconds;
        missed += run->step[run->count - 1].seconds > r->entry[r->best].seconds;
    }
    assert_true(lost > 0);
    assert_true(missed > 0 && missed < s.repeats);
    simulated_curve_make(&s, &c);
    assert_true(c.fraction[4999] < 1 && c.fraction[4999] > 0.8);
    simulated_curve_finish(&c);
    simulation_finish(&s);
    simulation_finish(&again);
    recording_destroy(r);
}

static double mean_shortfall(const struct recording *r, int64_t trials, bool noise)
{
    struct simulated_curve c;
    struct simulation s = {.recording = r,
                           .strategy = "random",
                           .trials = trials,
                           .repeats = 200,
                           .seed = 4,
                           .noise = noise};
    run_simulation(&s, 2);
    for (int i = 0; i < s.repeats; i++) {
        const struct simulated_run *run = &s.run[i];
        assert_int_equal(run->trials, trials);
        assert_int_equal(run->asks, noise && trials >= SIMULATED_RACE_FROM
                                        ? trials - SIMULATED_RACE_TRIALS
                                        : trials);
        assert_true(run->returned_s >= run->best_s);
        assert_true(run->returned_s == run->step[run->count - 1].seconds);
    }
    simulated_curve_make(&s, &c);
    double shortfall = c.shortfall;
    simulated_curve_finish(&c);
    simulation_finish(&s);
    return shortfall;
}

// With one measurement each, the apparent best is not the best; measured again, it nearly is.
static void test_race(void **state)
{
    struct made m = {.space = space_mixed(), .recorded = 100, .runs = 3};
    struct recording *r = made_recording(&m, "noisy");
    (void)state;
    assert_true(mean_shortfall(r, SIMULATED_RACE_FROM, false) == 0);
    double without = mean_shortfall(r, SIMULATED_RACE_FROM - 1, true),
           with = mean_shortfall(r, SIMULATED_RACE_FROM, true);
    assert_true(with < without / 2);
    recording_destroy(r);
}

static void test_curve_against_time(void **state)
{
    struct recording *r = mixed();
    struct simulated_curve c;
    (void)state;
    struct simulation s = {
        .recording = r, .strategy = "random", .trials = 100, .repeats = 30, .seed = 3};
    run_simulation(&s, 2);
    simulated_curve_make(&s, &c);
    assert_true(c.at_s[SIMULATED_TIMES - 1] >= 75); // 100 trials of 0.75 s
    assert_true(fabs(c.by_time[SIMULATED_TIMES - 1] - c.fraction[99]) < 1e-12);
    for (int i = 1; i < SIMULATED_TIMES; i++)
        assert_true(c.by_time[i] >= c.by_time[i - 1]);
    // The strategy's own time is nothing beside the recorded one: the curves are the same.
    assert_true(fabs(c.by_time[49] - c.fraction[49]) < 0.02);
    simulated_curve_finish(&c);
    simulation_finish(&s);
    recording_destroy(r);
}

static bool enough(void *context, int64_t done, int64_t runs)
{
    (void)context, (void)done, (void)runs;
    return false;
}

static void test_stopped(void **state)
{
    struct recording *r = mixed();
    struct finished finished = {0};
    struct simulate_options o = {
        .threads = 2, .tick = enough, .finished = note_finished, .context = &finished};
    struct err e;
    (void)state;
    struct simulation s = {.recording = r,
                           .strategy = "opevo",
                           .trials = 1000,
                           .repeats = SIMULATE_MOST_REPEATS,
                           .seed = 3};
    assert_true(simulate(&s, 1, &o, &e));
    assert_int_equal(finished.count, 0);
    simulation_finish(&s);
    recording_destroy(r);
}

static void test_unknown_strategy(void **state)
{
    struct recording *r = mixed();
    struct simulate_options o = {0};
    struct err e = {0};
    (void)state;
    struct simulation s = {
        .recording = r, .strategy = "rando", .trials = 10, .repeats = 1, .seed = 3};
    assert_false(simulate(&s, 1, &o, &e));
    assert_non_null(strstr(e.text, "random"));
    simulation_finish(&s);
    recording_destroy(r);
}

TEST_GROUP(simulate)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_whole_space),
        cmocka_unit_test(test_legal_is_what_is_recorded),
        cmocka_unit_test(test_sparse_recordings_are_met),
        cmocka_unit_test(test_nothing_but_failures_at_first),
        cmocka_unit_test(test_threads_change_nothing),
        cmocka_unit_test(test_company_changes_nothing),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_race),
        cmocka_unit_test(test_curve_against_time),
        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_unknown_strategy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
