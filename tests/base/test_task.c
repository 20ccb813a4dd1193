#include "group.h"

#include "base/task.h"

#include "base/mem.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

// Work that waits for a byte in `gate`, so that a test decides when it ends.
struct sum {
    int gate[2];
    int from, to;
    long total;
    pthread_t thread;
    bool blocks_signals;
};

static void add_up(void *context, const atomic_bool *stop)
{
    struct sum *s = context;
    char byte;
    sigset_t blocked;
    (void)stop;
    s->thread = pthread_self();
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    s->blocks_signals = sigismember(&blocked, SIGINT) && sigismember(&blocked, SIGWINCH);
    if (read(s->gate[0], &byte, 1) != 1)
        return;
    for (int i = s->from; i <= s->to; i++)
        s->total += i;
}

static void until_stopped(void *context, const atomic_bool *stop)
{
    int *rounds = context;
    while (!atomic_load(stop)) {
        poll(NULL, 0, 1);
        ++*rounds;
    }
}

static void sum_open(struct sum *s, int from, int to)
{
    *s = (struct sum){.from = from, .to = to};
    assert_int_equal(pipe(s->gate), 0);
}

static void sum_close(struct sum *s)
{
    close(s->gate[0]);
    close(s->gate[1]);
}

static bool is_readable(int fd, int ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, ms) == 1 && (p.revents & POLLIN);
}

static void works_beside_its_owner_until_it_is_done(void **state)
{
    (void)state;
    struct sum s;
    sum_open(&s, 1, 1000);
    struct task *t = task_start(add_up, &s);
    assert_non_null(t);
    assert_false(task_is_done(t));
    assert_false(is_readable(task_fd(t), 20));
    assert_int_equal(write(s.gate[1], "g", 1), 1);
    assert_true(is_readable(task_fd(t), -1));
    assert_true(is_readable(task_fd(t), 0)); // and stays so
    assert_true(task_is_done(t));
    assert_int_equal(s.total, 500500);
    assert_false(pthread_equal(s.thread, pthread_self()));
    task_finish(t, false);
    sum_close(&s);
}

static void finishing_waits_for_it(void **state)
{
    (void)state;
    struct sum s;
    sum_open(&s, 1, 10);
    struct task *t = task_start(add_up, &s);
    assert_int_equal(write(s.gate[1], "g", 1), 1);
    task_finish(t, false);
    assert_int_equal(s.total, 55);
    sum_close(&s);
}

static void one_that_is_asked_to_stop_ends_early(void **state)
{
    (void)state;
    int rounds = 0;
    struct task *t = task_start(until_stopped, &rounds);
    assert_non_null(t);
    assert_false(task_is_done(t));
    task_finish(t, true); // would never return otherwise
    assert_true(rounds >= 0);
    task_finish(NULL, true);
}

static void takes_no_signals_and_changes_nobodys(void **state)
{
    (void)state;
    struct sum s;
    sigset_t blocked;
    sum_open(&s, 1, 1);
    struct task *t = task_start(add_up, &s);
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    assert_false(sigismember(&blocked, SIGINT));
    assert_int_equal(write(s.gate[1], "g", 1), 1);
    task_finish(t, false);
    assert_true(s.blocks_signals);
    sum_close(&s);
}

static void many_run_at_once(void **state)
{
    (void)state;
    enum { MANY = 16 };
    struct sum s[MANY];
    struct task *t[MANY];
    for (int i = 0; i < MANY; i++) {
        sum_open(&s[i], i, i + 1);
        t[i] = task_start(add_up, &s[i]);
        assert_non_null(t[i]);
    }
    for (int i = MANY - 1; i >= 0; i--) {
        assert_false(task_is_done(t[i]));
        assert_int_equal(write(s[i].gate[1], "g", 1), 1);
        assert_true(is_readable(task_fd(t[i]), -1) && task_is_done(t[i]));
        assert_int_equal(s[i].total, 2 * i + 1);
        task_finish(t[i], false);
        sum_close(&s[i]);
    }
}

static int open_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 256; fd++) {
        struct pollfd p = {.fd = fd};
        count += poll(&p, 1, 0) == 0 || !(p.revents & POLLNVAL);
    }
    return count;
}

static void without_descriptors_there_is_none_and_none_is_left_open(void **state)
{
    (void)state;
    struct rlimit before, none;
    struct sum s = {.total = 0};
    int open_before = open_descriptors();
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    struct task *t = task_start(add_up, &s);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_null(t);
    int rounds = 0;
    task_finish(task_start(until_stopped, &rounds), true);
    assert_int_equal(open_descriptors(), open_before);
}

TEST_GROUP(task)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(works_beside_its_owner_until_it_is_done),
        cmocka_unit_test(finishing_waits_for_it),
        cmocka_unit_test(one_that_is_asked_to_stop_ends_early),
        cmocka_unit_test(takes_no_signals_and_changes_nobodys),
        cmocka_unit_test(many_run_at_once),
        cmocka_unit_test(without_descriptors_there_is_none_and_none_is_left_open),
    };
    return cmocka_run_group_tests_name("task", tests, NULL, NULL);
}
