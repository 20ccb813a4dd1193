// Schedules on curves that are known: each round of a task makes it as fast as its curve says.
#include "group.h"
#include "wording.h"

#include "search/schedule.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

#include <stddef.h>

#define MOST_TASKS  6
#define MOST_ROUNDS 400

struct network {
    struct schedule_task task[MOST_TASKS];
    struct schedule_problem problem;
    double (*curve)(int task, int round); // seconds after that many rounds, 0: nothing valid yet
    int ends[MOST_TASKS];                 // rounds after which a task has nothing more; 0: never
    int rounds[MOST_TASKS];
    int order[MOST_ROUNDS];
    int total;
};

static void play(struct network *n, const char *spec, int rounds)
{
    n->problem.task = n->task;
    memset(n->rounds, 0, sizeof n->rounds);
    struct schedule *s = schedule_create(spec, &n->problem, 1, NULL);
    assert_non_null(s);
    int next;
    for (n->total = 0; n->total < rounds && (next = schedule_next(s)) >= 0; n->total++) {
        assert_int_equal(schedule_next(s), next);
        n->order[n->total] = next;
        int done = ++n->rounds[next];
        schedule_tell(s, next, n->curve(next, done), !n->ends[next] || done < n->ends[next]);
    }
    schedule_destroy(s);
}

static double flat(int task, int round)
{
    (void)task, (void)round;
    return 1;
}

// The first falls by half with each doubling of its rounds, the second never.
static double one_falls(int task, int round)
{
    return task == 0 ? 8.0 / round : 1;
}

static void test_turns(void **state)
{
    (void)state;
    struct network n = {.problem = {.tasks = 3}, .curve = flat, .ends = {0, 2, 0}};
    play(&n, "roundrobin", 8);
    const int expected[] = {0, 1, 2, 0, 1, 2, 0, 2};
    assert_memory_equal(n.order, expected, sizeof expected);
}

// Computed by hand, two tasks, alpha 0.2, window 3. After a round each: 0: -0.8 * 8, 1: -0.8 *
// 1. After 0's second (4 s): -0.8 * 2 < -0.8. After its third (8/3 s): -0.8 * 8/9 > -0.8: task
// 1, whose second round leaves it -0.8 / 2. Task 0's fourth (2 s): 0.2 * (2 - 8) / 3 - 0.8 * 2 /
// 4 = -0.8 against -0.4; its fifth (1.6): 0.2 * (1.6 - 4) / 3 - 0.8 * 1.6 / 5 = -0.416; its
// sixth (4/3): 0.2 * (4/3 - 8/3) / 3 - 0.8 * (4/3) / 6 = -0.2667: task 1.
static void test_gradient_by_hand(void **state)
{
    (void)state;
    struct network n = {.problem = {.tasks = 2}, .curve = one_falls};
    play(&n, "gradient", 9);
    const int expected[] = {0, 1, 0, 0, 1, 0, 0, 0, 1};
    assert_memory_equal(n.order, expected, sizeof expected);
}

// Two tasks of one kind and size run at 4 FLOP/s and at 1. The slower one may hope for half of
// 4: 0.5 s.
static double kin(int task, int round)
{
    (void)round;
    return task == 0 ? 0.25 : 1;
}

static void test_gradient_of_kin(void **state)
{
    (void)state;
    struct network n = {.problem = {.tasks = 2}, .curve = kin};
    n.task[0] = (struct schedule_task){1, "matmul"};
    n.task[1] = (struct schedule_task){1, "matmul"};
    // 1's hope is worth 0.5, more than the 0.25 of 0, until it has had more than 5 rounds more than
    // 0 and is said to be unlike: then it is worth 1/7, and 0 is next.
    play(&n, "gradient:alpha=0", 9);
    const int alike[] = {0, 1, 1, 1, 1, 1, 1, 1, 0};
    assert_memory_equal(n.order, alike, sizeof alike);
    // Not of one kind: 1/t against 0.25.
    n.task[1].kind = "conv2d";
    play(&n, "gradient:alpha=0", 7);
    assert_int_equal(n.rounds[1], 5);
    assert_int_equal(n.order[4], 1);
}

static double one_fails(int task, int round)
{
    return task == 1 ? 0 : 1.0 / round;
}

// One that always fails starves nobody, and is tried for ever, less and less.
static void test_failing_task(void **state)
{
    (void)state;
    struct network n = {.problem = {.tasks = 3}, .curve = one_fails};
    play(&n, "gradient", 300);
    assert_in_range(n.rounds[1], 20, 100);
    assert_true(n.rounds[0] >= 90 && n.rounds[2] >= 90);
}

static double all_fail(int task, int round)
{
    (void)task, (void)round;
    return 0;
}

static void test_nothing_valid(void **state)
{
    (void)state;
    struct network n = {.problem = {.tasks = 3}, .curve = all_fail, .ends = {5, 5, 5}};
    play(&n, "gradient", 100);
    assert_int_equal(n.total, 15);
}

// Tasks that differ only in their number of uses get rounds in proportion to it.
static void test_uses(void **state)
{
    (void)state;
    const double uses[] = {1, 4};
    struct network n = {.problem = {.tasks = 2, .uses = uses}, .curve = flat};
    play(&n, "gradient", 100);
    assert_in_range(n.rounds[0], 19, 21);
}

// Two networks, each of one task. The first is fast enough after four rounds.
static double both_fall(int task, int round)
{
    (void)task;
    return 4.0 / round;
}

static void test_deadline(void **state)
{
    (void)state;
    const double uses[] = {1, 0, 0, 1}, deadline[] = {1, 0.1};
    struct network n = {
        .problem = {.tasks = 2, .networks = 2, .uses = uses, .deadline_s = deadline},
        .curve = both_fall};
    play(&n, "gradient:objective=deadline", 100);
    assert_int_equal(n.rounds[0], 4);
    assert_int_equal(n.rounds[1], 40);
    assert_int_equal(n.total, 44); // all are fast enough
}

// The objective speedup weighs a network of 1 ms as much as one of 1 s.
static double unlike_scales(int task, int round)
{
    return (task == 0 ? 1 : 1e-3) / round;
}

static void test_speedup(void **state)
{
    (void)state;
    const double uses[] = {1, 0, 0, 1}, today[] = {1, 1e-3};
    struct network n = {.problem = {.tasks = 2, .networks = 2, .uses = uses, .today_s = today},
                        .curve = unlike_scales};
    play(&n, "gradient:objective=speedup", 40);
    assert_in_range(n.rounds[0], 18, 22);
    play(&n, "gradient", 40);
    assert_true(n.rounds[0] > 30);
}

static void test_idle(void **state)
{
    (void)state;
    struct network n = {.problem = {.tasks = 2}, .curve = flat};
    play(&n, "gradient:objective=idle", 100);
    assert_int_equal(n.total, 12); // a first round, and five without a gain, each
    play(&n, "gradient", 100);
    assert_int_equal(n.total, 100);
}

static void test_words(void **state)
{
    (void)state;
    struct err e;
    struct network n = {.problem = {.tasks = 1}};
    assert_null(schedule_create("gradeint", &n.problem, 1, &e));
    wording_is("search", "schedule: unknown", e.text);
    assert_null(schedule_create("gradient:alpha=2", &n.problem, 1, &e));
    wording_is("search", "schedule: alpha=2", e.text);
    assert_null(schedule_create("roundrobin:alpha=0.5", &n.problem, 1, &e));
    char *canonical = schedule_canonical("gradient:window=5", NULL);
    assert_string_equal(canonical, "gradient:objective=sum:alpha=0.2:beta=2:window=5");
    free(canonical);
}

TEST_GROUP(schedule)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_gradient_by_hand),
        cmocka_unit_test(test_gradient_of_kin),
        cmocka_unit_test(test_failing_task),
        cmocka_unit_test(test_nothing_valid),
        cmocka_unit_test(test_uses),
        cmocka_unit_test(test_deadline),
        cmocka_unit_test(test_speedup),
        cmocka_unit_test(test_idle),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
