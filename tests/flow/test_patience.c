// The time for which tests have waited, as they count it.
#include "group.h"
#include "patience.h"

#include "program.h"

#include "base/os.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST 256

static pid_t start_child(void (*act)(void))
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        for (;;)
            act();
    return pid;
}

static void spin(void)
{
}

// Says that it runs, and then sleeps.
static int told[2];

static void sleep_on(void)
{
    if (write(told[1], "x", 1) == 1)
        for (;;)
            pause();
}

static void start_grandchild(void)
{
    start_child(spin);
    for (;;)
        pause();
}

static void end_all(const pid_t *pid, int count)
{
    for (int i = 0; i < count; i++) {
        kill(pid[i], SIGKILL);
        waitpid(pid[i], NULL, 0);
    }
}

// The time that passed, which is between these: a look takes time too, on a busy machine.
struct passed {
    double least_s, most_s;
};

// Returns the counted part of `ms` milliseconds, in seconds, with the looks of a waiting test.
static double counted_s(struct patience *p, int ms, struct passed *passed)
{
    int64_t before_ns = os_now_ns(), now_ns;
    double first_s = patience_spent_s(p), last_s;
    int64_t start_ns = os_now_ns();
    do {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        now_ns = os_now_ns();
        last_s = patience_spent_s(p);
    } while (now_ns - start_ns < ms * 1000000ll);
    passed->least_s = (double)(now_ns - start_ns) / 1e9;
    passed->most_s = (double)(os_now_ns() - before_ns) / 1e9;
    return last_s - first_s;
}

static void test_below(void **state)
{
    pid_t child = start_child(start_grandchild), found[MOST];
    int count = 0;
    (void)state;
    while (count < 2) { // or this test never ends
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        count = processes_below(getpid(), found, MOST);
    }
    assert_int_equal(count, 2);
    assert_int_equal(processes_below(child, found, MOST), 1);
    assert_int_not_equal(found[0], child);
    end_all(found, 1);
    end_all(&child, 1);
    assert_int_equal(processes_below(getpid(), found, MOST), 0);
}

static void test_who_sleeps_is_counted_by_the_clock(void **state)
{
    struct patience p;
    struct passed passed;
    (void)state;
    assert_int_equal(pipe(told), 0);
    pid_t child = start_child(sleep_on);
    assert_int_equal(read(told[0], &(char){0}, 1), 1);
    patience_begin(&p, getpid());
    double spent_s = counted_s(&p, 600, &passed);
    end_all(&child, 1);
    close(told[0]);
    close(told[1]);
    assert_true(spent_s > 0.9 * passed.least_s && spent_s < 1.1 * passed.most_s);
}

// Eight processes run on each processor: each gets an eighth of it, and has spent no more.
static void test_who_stands_in_line_is_not_counted(void **state)
{
    struct patience p;
    struct passed passed;
    pid_t child[MOST];
    int count = 8 * os_cores();
    (void)state;
    if (count > MOST || access("/proc/self/schedstat", R_OK) != 0)
        skip();
    child[0] = start_child(start_grandchild); // which is below the one that is waited for
    for (int i = 1; i < count; i++)
        child[i] = start_child(spin);
    patience_begin(&p, child[0]);
    counted_s(&p, 600, &passed); // from the second look on it is known what they do
    double spent_s = counted_s(&p, 1200, &passed);
    pid_t grandchild;
    assert_int_equal(processes_below(child[0], &grandchild, 1), 1);
    end_all(child, count);
    kill(grandchild, SIGKILL);
    assert_true(spent_s < 0.7 * passed.least_s);
}

TEST_GROUP(patience)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_below),
        cmocka_unit_test(test_who_sleeps_is_counted_by_the_clock),
        cmocka_unit_test(test_who_stands_in_line_is_not_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
