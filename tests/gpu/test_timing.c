// Device time: more work takes longer, units are seconds, samples stop where they should. Times are
// compared with each other, never with a clock on the wall.
#include "base/mem.h"
#include "base/os.h"
#include "gpu/vk.h"
#include "group.h"
#include "rig.h"

#include <stddef.h>

#define N 8192

struct fixture {
    struct gpu *g;
    struct gpu_buffer *buffer[3];
    struct gpu_pipeline *light, *heavy; // 1 and 64 units of work
};

static struct gpu_pass pass_of(struct gpu_pipeline *p)
{
    return (struct gpu_pass){p, {N / 32, 1, 1}};
}

static struct gpu_samples measure(struct fixture *f, struct gpu_pipeline *p,
                                  const struct gpu_timing *t, double incumbent_s)
{
    struct gpu_pass pass = pass_of(p);
    const struct gpu_sequence all = {&pass, 1, f->buffer, 3};
    struct gpu_samples s;
    struct err e;
    if (gpu_time(f->g, &all, t, incumbent_s, &s, &e) != GPU_OK)
        fail_msg("%s", e.text);
    assert_true(s.count >= 1 && s.count <= t->batches && s.repeats >= 1);
    for (int i = 0; i < s.count; i++)
        assert_true(s.seconds[i] > 0);
    return s;
}

static void assert_heavier_is_slower(struct fixture *f)
{
    const struct gpu_info *info = gpu_get_info(f->g);
    struct gpu_timing t = gpu_timing_default(info);
    t.hopeless = 0;
    struct gpu_samples light = measure(f, f->light, &t, 0), heavy = measure(f, f->heavy, &t, 0);
    double ratio = gpu_robust_seconds(info, heavy.seconds, heavy.count) /
                   gpu_robust_seconds(info, light.seconds, light.count);
    if (!(ratio > 3 && ratio < 1000)) // 64 times the work, on a device others may be using
        fail_msg("ratio %g", ratio);
}

static void test_heavier_is_slower(void **state)
{
    assert_heavier_is_slower(*state);
}

static void test_without_timestamps(void **state)
{
    struct fixture *f = *state;
    VkQueryPool stamps = f->g->stamps;
    f->g->stamps = VK_NULL_HANDLE;
    assert_heavier_is_slower(f);
    f->g->stamps = stamps;
}

// Device time lies within the host's time around it, and is most of that for a long submission.
static void test_unit_is_seconds(void **state)
{
    struct fixture *f = *state;
    struct gpu_pass pass = pass_of(f->heavy);
    const struct gpu_sequence all = {&pass, 1, f->buffer, 3};
    double seconds;
    assert_int_equal(gpu_run(f->g, &all, 1, 60, NULL, NULL), GPU_OK);
    int64_t begin = os_now_ns();
    assert_int_equal(gpu_run(f->g, &all, 20, 60, &seconds, NULL), GPU_OK);
    double host = (double)(os_now_ns() - begin) * 1e-9;
    if (!(seconds < host * 1.05 && seconds > host * 0.01))
        fail_msg("device %g s, host %g s", seconds, host);
}

static void test_early_stop(void **state)
{
    struct fixture *f = *state;
    struct gpu_timing t = gpu_timing_default(gpu_get_info(f->g));
    t.budget_s = 60;
    t.batches = 32; // more than fit between two that are apart
    struct gpu_samples s = measure(f, f->light, &t, 1e-12);
    assert_true(s.early_stopped && s.count >= 2 && s.count < t.batches);
    s = measure(f, f->light, &t, 0); // no incumbent
    assert_true(!s.early_stopped && s.count == t.batches);
    s = measure(f, f->light, &t, 1e3); // a slow one
    assert_true(!s.early_stopped && s.count == t.batches);
    t.hopeless = 0;
    s = measure(f, f->light, &t, 1e-12);
    assert_true(!s.early_stopped && s.count == t.batches);
}

static void test_budget(void **state)
{
    struct fixture *f = *state;
    struct gpu_timing t = gpu_timing_default(gpu_get_info(f->g));
    t.budget_s = 0;
    struct gpu_samples s = measure(f, f->light, &t, 0);
    assert_int_equal(s.count, 2); // one alone could be slow because of the machine
    assert_false(s.early_stopped);
    t.batches = 1;
    assert_int_equal(measure(f, f->light, &t, 0).count, 1);
}

// After how many of these samples, one every `each_s`, a kernel is given up; 0: never.
static int given_up_after(const double *seconds, int count, double each_s, double incumbent_s)
{
    const struct gpu_timing t = {.hopeless = 3, .apart_s = 0.025};
    for (int n = 1; n <= count; n++)
        if (gpu_is_hopeless(&t, seconds, n, (n - 1) * each_s, incumbent_s))
            return n;
    return 0;
}

static void test_one_slow_sample_is_not_enough(void **state)
{
    (void)state;
    const double slow[] = {8.65e-3, 8.7e-3, 8.6e-3, 8.65e-3}, late[] = {0.5e-3, 9e-3, 9e-3, 9e-3},
                 burst[] = {8.65e-3, 9e-3, 0.499e-3, 9e-3},
                 good[] = {0.5e-3, 0.4e-3, 0.5e-3, 0.5e-3};
    assert_int_equal(given_up_after(slow, 1, 1, 1e-3), 0); // however long ago it began
    assert_int_equal(given_up_after(slow, 4, 1, 1e-3), 2);
    assert_int_equal(given_up_after(slow, 4, 0.025, 1e-3), 2);
    assert_int_equal(given_up_after(slow, 4, 0.010, 1e-3), 4); // two that are apart
    assert_int_equal(given_up_after(slow, 4, 0.008, 1e-3), 0);
    assert_int_equal(given_up_after(slow, 4, 1, 2.9e-3), 0); // three times as slow is allowed
    assert_int_equal(given_up_after(slow, 4, 1, 2.8e-3), 2);
    assert_int_equal(given_up_after(slow, 4, 1, 0), 0); // nothing to be compared with
    assert_int_equal(given_up_after(late, 4, 1, 1e-3), 0);
    assert_int_equal(given_up_after(burst, 4, 0.010, 1e-3), 0);
    assert_int_equal(given_up_after(good, 4, 1, 1e-3), 0);
    const struct gpu_timing never = {.hopeless = 0};
    assert_false(gpu_is_hopeless(&never, slow, 4, 1, 1e-9));
}

// A short kernel is repeated until a batch lasts, a submission is not made longer than it may be.
static void test_repeats(void **state)
{
    struct fixture *f = *state;
    struct gpu_timing t = gpu_timing_default(gpu_get_info(f->g));
    t.hopeless = 0;
    t.batch_s = 1e-9;
    assert_int_equal(measure(f, f->light, &t, 0).repeats, 1);
    t.batch_s = 10;
    t.submit_s = 1e-9;
    assert_int_equal(measure(f, f->light, &t, 0).repeats, 1);
    t.batch_s = 10;
    t.submit_s = 0.05;
    t.batches = 2;
    assert_true(measure(f, f->light, &t, 0).repeats > 1);
}

// Two batches at the idle clock agree too: agreement counts only after a while.
static void test_warm(void **state)
{
    (void)state;
    const struct gpu_timing gpu = {.warmup_s = 0.06}, cpu = {.warmup_s = 0};
    assert_false(timing_is_warm(&gpu, 0.001, 1e-3, 0));
    assert_false(timing_is_warm(&gpu, 0.059, 1e-3, 1e-3));
    assert_true(timing_is_warm(&gpu, 0.06, 1e-3, 1e-3));
    assert_true(timing_is_warm(&gpu, 0.06, 1e-3, 1.019e-3));
    assert_true(timing_is_warm(&gpu, 0.06, 1e-3, 0.981e-3));
    assert_false(timing_is_warm(&gpu, 0.06, 1e-3, 1.021e-3));
    assert_false(timing_is_warm(&gpu, 0.06, 1e-3, 0.979e-3));
    assert_false(timing_is_warm(&gpu, 0.239, 1e-3, 2e-3));
    assert_true(timing_is_warm(&gpu, 0.24, 1e-3, 2e-3));
    assert_true(timing_is_warm(&cpu, 0, 1e-3, 0));
}

// A sample is the time of one run, however many a batch has.
static void test_samples_are_per_run(void **state)
{
    struct fixture *f = *state;
    const struct gpu_info cpu = {.is_cpu = true}; // the minimum
    struct gpu_timing t = gpu_timing_default(&cpu);
    t.hopeless = 0;
    t.batch_s = 1e-9;
    struct gpu_samples single = measure(f, f->light, &t, 0);
    t.batch_s = 0.2;
    t.submit_s = 1;
    struct gpu_samples many = measure(f, f->light, &t, 0);
    assert_true(many.repeats >= 64);
    double ratio = gpu_robust_seconds(&cpu, many.seconds, many.count) /
                   gpu_robust_seconds(&cpu, single.seconds, single.count);
    // Less than 1 where submitting costs something, and several where others use the processor in
    // the middle of a long submission. Undivided samples would show about the number of repeats.
    if (!(ratio < many.repeats / 4.0))
        fail_msg("ratio %g with %d repeats", ratio, many.repeats);
}

TEST_GROUP(timing)
{
    struct fixture f = {.g = rig_open(false)};
    if (!f.g)
        return 77;
    for (int i = 0; i < 3; i++)
        f.buffer[i] = rig_buffer(f.g, N, 1);
    f.light = rig_pipeline(f.g, "uint x = a[i]; for (uint n = 0; n < 20 * a[0]; n++)"
                                " x = x * 1664525 + 1013904223; c[i] = x;");
    f.heavy = rig_pipeline(f.g, "uint x = a[i]; for (uint n = 0; n < 1280 * a[0]; n++)"
                                " x = x * 1664525 + 1013904223; c[i] = x;");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_heavier_is_slower, &f),
        cmocka_unit_test_prestate(test_without_timestamps, &f),
        cmocka_unit_test_prestate(test_unit_is_seconds, &f),
        cmocka_unit_test_prestate(test_early_stop, &f),
        cmocka_unit_test_prestate(test_budget, &f),
        cmocka_unit_test_prestate(test_repeats, &f),
        cmocka_unit_test(test_one_slow_sample_is_not_enough),
        cmocka_unit_test(test_warm),
        cmocka_unit_test_prestate(test_samples_are_per_run, &f),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gpu_pipeline_destroy(f.g, f.light);
    gpu_pipeline_destroy(f.g, f.heavy);
    for (int i = 0; i < 3; i++)
        gpu_buffer_destroy(f.g, f.buffer[i]);
    gpu_close(f.g);
    return failed;
}
