// Deadlines wait for a process that stood in line for a processor, and for none that sleeps.
#include "group.h"

#include "base/os.h"

#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#define S_NS ((int64_t)1000000000)

// A process that has used so much CPU time since `d` was set, limit 1 s at time 0, and sleeps now.
static pid_t worked(struct deadline *d, double seconds)
{
    int begin[2], done[2];
    char byte = 0;
    assert_true(pipe(begin) == 0 && pipe(done) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        bool ok = read(begin[0], &byte, 1) == 1;
        int64_t start_ns = os_process_cpu_ns(getpid());
        while (ok && (double)(os_process_cpu_ns(getpid()) - start_ns) < 1e9 * seconds)
            continue;
        ok = ok && write(done[1], &byte, 1) == 1;
        for (;;)
            pause();
    }
    deadline_set(d, pid, 1, 0);
    assert_int_equal(write(begin[1], &byte, 1), 1);
    assert_int_equal(read(done[0], &byte, 1), 1);
    for (int i = 0; i < 2; i++) {
        close(begin[i]);
        close(done[i]);
    }
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void who_waits_for_a_processor_has_more(void **state)
{
    (void)state;
    struct deadline d;
    pid_t pid = worked(&d, 0.3);
    assert_false(deadline_is_over(&d, pid, S_NS / 2));
    assert_int_equal(d.at_ns, S_NS);
    assert_false(deadline_is_over(&d, pid, S_NS)); // it had a third of a processor
    assert_true(d.at_ns > S_NS && d.at_ns <= S_NS + 7 * S_NS / 10);
    assert_true(deadline_is_over(&d, pid, 4 * S_NS + 1)); // there is an end to everything
    end(pid);
}

static void who_sleeps_has_not(void **state)
{
    (void)state;
    struct deadline d;
    pid_t pid = worked(&d, 0);
    assert_false(deadline_is_over(&d, pid, S_NS - 1));
    assert_true(deadline_is_over(&d, pid, S_NS));
    end(pid);
}

static void who_has_worked_as_long_has_not(void **state)
{
    (void)state;
    struct deadline d;
    pid_t pid = worked(&d, 1);
    assert_true(deadline_is_over(&d, pid, S_NS));
    d.at_ns = 0; // none
    assert_false(deadline_is_over(&d, pid, 100 * S_NS));
    end(pid);
}

// A process on another machine: nothing is known about its processors.
static void without_a_process_all_time_counts(void **state)
{
    (void)state;
    struct deadline d;
    assert_int_equal(os_process_cpu_ns(0), 0);
    deadline_set(&d, 0, 1, 0);
    // A tenth of the limit: who works so much has more.
    while (os_process_cpu_ns(getpid()) < S_NS / 10)
        continue;
    assert_false(deadline_is_over(&d, 0, S_NS - 1));
    assert_true(deadline_is_over(&d, 0, S_NS));
}

TEST_GROUP(deadline)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits_for_a_processor_has_more),
        cmocka_unit_test(who_sleeps_has_not),
        cmocka_unit_test(who_has_worked_as_long_has_not),
        cmocka_unit_test(without_a_process_all_time_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
