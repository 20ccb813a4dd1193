// A network as a whole, in a worker: four products of 32 x 32, of which the last one multiplies
// what the first and the third have given, so that the second's place is free again.
#include "group.h"
#include "pool_fixture.h"

#include "trial/helper_job.h"
#include "trial/whole.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TASKS = 2, STEPS = 4 };

static void add_step(struct plan *p, const char *name, int task, int a, int b, int c)
{
    plan_add_step(p, name, task, (int[]){a, b, c}, 3);
}

static void make_plan(struct plan *p)
{
    const struct tensor t = {
        .name = "C", .rank = 2, .size = {SIZE, SIZE}, .stride = {SIZE, 1}, .element = ELEMENT_F32};
    static const char *const made[STEPS] = {"one", "two", "three", "four"};
    int weight[STEPS - 1], value[STEPS];
    plan_init(p);
    int image = plan_add_value(p, "image", PLAN_INPUT, &t);
    for (int i = 0; i < STEPS - 1; i++)
        weight[i] = plan_add_value(p, "weight", PLAN_WEIGHT, &t);
    for (int i = 0; i < STEPS; i++)
        value[i] = plan_add_value(p, made[i], i == 1 || i == 2 ? PLAN_MADE : PLAN_OUTPUT, &t);
    p->value[value[0]].role = PLAN_MADE;
    add_step(p, "one", 0, image, weight[0], value[0]);
    add_step(p, "two", 1, value[0], weight[1], value[1]);
    add_step(p, "three", 0, value[1], weight[2], value[2]);
    add_step(p, "four", 1, value[0], value[2], value[3]);
    plan_place(p);
    struct plan_bytes b = plan_bytes(p);
    assert_int_equal(b.shared, 3 * SIZE * SIZE * 4);
    assert_int_equal(b.made, 4 * SIZE * SIZE * 4);
}

static void make_whole(struct whole *w, enum variant first, enum variant second)
{
    struct fixture f;
    prepare_pool(&f, 1);
    assert_true(operation_complete(&f.operation, NULL));
    *w = (struct whole){.task_count = TASKS};
    w->task = calloc(TASKS, sizeof *w->task);
    for (int i = 0; i < TASKS; i++) {
        w->task[i].operation = f.operation;
        w->task[i].job[0] = gemm_job(i ? second : first);
    }
    w->place = (struct hello){.device = f.options.device, .limits = f.limits, .seed = 3};
    snprintf(w->place.device_id, sizeof w->place.device_id, "%s", f.device_id);
    for (int i = 0; i < PHASE_COUNT; i++)
        w->place.deadline_s[i] = pool_default_deadline((enum trial_phase)i, true);
    make_plan(&w->plan);
}

static int weights_of(const struct whole *w)
{
    int fd;
    struct err e;
    if (!plan_read_files(&w->plan, &fd, &e))
        fail_msg("%s", e.text);
    return fd;
}

static enum helper_job_end run(struct whole *w, struct whole_result *result, struct err *e)
{
    enum helper_job_end end;
    struct helper_job *x = helper_job_begin_whole(w, weights_of(w), e);
    assert_non_null(x);
    while (!helper_job_is_over(x, &end, result, e)) {
        struct pollfd fds[4];
        poll(fds, (nfds_t)helper_job_fds(x, fds, 4), helper_job_wait_ms(x));
    }
    helper_job_destroy(x);
    whole_finish(w);
    return end;
}

static struct whole_result expect_done(struct whole *w)
{
    struct whole_result r;
    struct err e = {0};
    if (run(w, &r, &e) != HELPER_JOB_DONE)
        fail_msg("%s", e.text);
    return r;
}

static void a_network_is_verified_and_timed(void **state)
{
    (void)state;
    struct whole w;
    make_whole(&w, GEMM_RIGHT, GEMM_SPLIT);
    struct whole_result r = expect_done(&w);
    assert_string_equal(r.reason, "");
    assert_true(r.verified && r.seconds[0] > 0 && r.samples[0].count >= 2);
    assert_true(r.seconds[1] == 0 && r.samples[1].count == 0);
}

static void two_sets_race(void **state)
{
    (void)state;
    struct whole w;
    make_whole(&w, GEMM_RIGHT, GEMM_RIGHT);
    w.races = true;
    w.task[1].job[1] = gemm_job(GEMM_SLOW); // of task 1 only
    struct whole_result r = expect_done(&w);
    assert_string_equal(r.reason, "");
    assert_true(r.verified && r.samples[0].count == r.samples[1].count);
    assert_true(r.seconds[1] > 2 * r.seconds[0]);
}

static void expect_wrong(enum variant first, enum variant second, const char *reason)
{
    struct whole w;
    make_whole(&w, first, second);
    struct whole_result r = expect_done(&w);
    assert_false(r.verified);
    assert_true(r.seconds[0] == 0);
    if (!strstr(r.reason, reason))
        fail_msg("%s", r.reason);
}

static void a_wrong_layer_is_named(void **state)
{
    (void)state;
    expect_wrong(GEMM_OFF_BY_ONE, GEMM_RIGHT, "layer 'one': C[");
    expect_wrong(GEMM_RIGHT, GEMM_OFF_BY_ONE, "layer 'two': C[");
    expect_wrong(GEMM_RIGHT, GEMM_MISSING_TILES, "layer 'two': C[24,0] = nan");
    expect_wrong(GEMM_SYNTAX_ERROR, GEMM_RIGHT, ":100:");
    expect_wrong(GEMM_RIGHT, GEMM_GROUP_TOO_LARGE, "> ");
}

// Were the second's place taken by the third, which reads it.
static void a_bad_plan_is_refused(void **state)
{
    (void)state;
    struct whole w;
    struct whole_result r;
    struct err e = {0};
    make_whole(&w, GEMM_RIGHT, GEMM_RIGHT);
    w.plan.value[6].offset = w.plan.value[5].offset;
    assert_int_equal(run(&w, &r, &e), HELPER_JOB_LOST);
    assert_non_null(strstr(e.text, "no or a bad \"plan\" in a message"));
    make_whole(&w, GEMM_RIGHT, GEMM_RIGHT);
    w.plan.step[2].value_count = 2;
    w.plan.step[2].value[1] = w.plan.step[2].value[2];
    assert_int_equal(run(&w, &r, &e), HELPER_JOB_REFUSED);
    assert_string_equal(e.text, "the plan does not fit layer 'three'");
    make_whole(&w, GEMM_RIGHT, GEMM_RIGHT);
    w.place.device = 77;
    assert_int_equal(run(&w, &r, &e), HELPER_JOB_REFUSED);
    assert_non_null(strstr(e.text, "no device 77"));
}

// A .npy of SIZE x SIZE, all of them `value`.
static void write_weight(const char *path, float value)
{
    char head[128] = "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': ";
    int length = 10 + (int)strlen(head + 10);
    length += snprintf(head + length, sizeof head - (size_t)length, "(%d, %d), }", SIZE, SIZE);
    memset(head + length, ' ', sizeof head - (size_t)length);
    head[sizeof head - 1] = '\n';
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(head, 1, sizeof head, f), sizeof head);
    for (int i = 0; i < SIZE * SIZE; i++)
        assert_int_equal(fwrite(&value, sizeof value, 1, f), 1);
    assert_int_equal(fclose(f), 0);
}

static void take_weight(struct whole *w, int value, const char *path, struct arena *a)
{
    const struct tensor t = {
        .name = "B", .rank = 2, .size = {SIZE, SIZE}, .stride = {SIZE, 1}, .element = ELEMENT_F32};
    const struct weights_choice choice = {.name = NULL};
    struct weights *from = arena_zero(a, 1, sizeof *from);
    struct err e;
    struct weights_file *f = weights_open(path, ".", WEIGHTS_NPY, &e);
    if (!f || !weights_take(f, &choice, &t, a, from, &e))
        fail_msg("%s", e.text);
    w->plan.value[value].from = from;
    weights_close(f);
}

static void constants_come_from_files(void **state)
{
    (void)state;
    struct whole w;
    struct err e = {0};
    struct arena a;
    int fd;
    arena_init(&a);
    write_weight("half.npy", 0.5f);
    write_weight("nan.npy", (float)NAN);
    make_whole(&w, GEMM_RIGHT, GEMM_RIGHT);
    take_weight(&w, 1, "half.npy", &a);
    struct whole_result r = expect_done(&w);
    assert_string_equal(r.reason, "");
    assert_true(r.verified);
    // The second layer's: nothing is right about what is no number.
    make_whole(&w, GEMM_RIGHT, GEMM_RIGHT);
    take_weight(&w, 1, "half.npy", &a);
    take_weight(&w, 2, "nan.npy", &a);
    r = expect_done(&w);
    assert_true(!r.verified && strstr(r.reason, "layer 'two': not all of what it reads is finite"));
    make_whole(&w, GEMM_RIGHT, GEMM_RIGHT);
    take_weight(&w, 1, "half.npy", &a);
    write_weight("half.npy", 0.25f);
    assert_int_equal(truncate("half.npy", 1000), 0);
    assert_false(plan_read_files(&w.plan, &fd, &e));
    assert_int_equal(fd, -1);
    assert_non_null(strstr(e.text, "weight: half.npy: it has changed"));
    whole_finish(&w);
    arena_finish(&a);
    remove("half.npy");
    remove("nan.npy");
}

static void faults(void **state)
{
    (void)state;
    struct whole w;
    struct whole_result r;
    struct err e = {0};
    make_whole(&w, GEMM_RIGHT, GEMM_RIGHT);
    snprintf(w.place.fault, sizeof w.place.fault, "wrong@verify:%d", WHOLE_FAULTS + 3);
    r = expect_done(&w);
    assert_true(!r.verified && strstr(r.reason, "layer 'three': C["));
    make_whole(&w, GEMM_RIGHT, GEMM_RIGHT);
    snprintf(w.place.fault, sizeof w.place.fault, "wrong@run:%d", WHOLE_FAULTS + 4);
    r = expect_done(&w); // what the first one gave, before the fourth reads it
    assert_false(r.verified);
    assert_string_equal(r.reason, "layer 'four': 'one' was overwritten before it was read");
    make_whole(&w, GEMM_RIGHT, GEMM_RIGHT);
    snprintf(w.place.fault, sizeof w.place.fault, "segv@run:%d", WHOLE_FAULTS);
    assert_int_equal(run(&w, &r, &e), HELPER_JOB_LOST);
    assert_non_null(strstr(e.text, "SIGSEGV"));
    make_whole(&w, GEMM_RIGHT, GEMM_RIGHT);
    snprintf(w.place.fault, sizeof w.place.fault, "sleep@pipeline:%d", WHOLE_FAULTS + 2);
    w.place.deadline_s[PHASE_PIPELINE] = 0.2;
    assert_int_equal(run(&w, &r, &e), HELPER_JOB_LOST);
    assert_string_equal(e.text, "did not end in 0.2 s");
    make_whole(&w, GEMM_RIGHT, GEMM_RIGHT);
    snprintf(w.place.fault, sizeof w.place.fault, "garbage@time:%d", WHOLE_FAULTS);
    assert_int_equal(run(&w, &r, &e), HELPER_JOB_LOST);
    assert_string_equal(e.text, "sent garbage");
}

TEST_GROUP(whole)
{
    if (!find_device()) {
        puts("skipped: no Vulkan device");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_network_is_verified_and_timed), cmocka_unit_test(two_sets_race),
        cmocka_unit_test(a_wrong_layer_is_named),          cmocka_unit_test(a_bad_plan_is_refused),
        cmocka_unit_test(constants_come_from_files),       cmocka_unit_test(faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
