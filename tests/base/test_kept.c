// Programs with a keeper. This one is its own child: `test_base "kept child" ROLE` plays one.
#include "group.h"

#include "base/os.h"

#include "base/file.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CHILD_SOCKET = 3 };

static char *program;

// Leaves a process behind that has its own session and holds stdout, and prints its pid.
static void leave_a_brood(void)
{
    if (fork() == 0) {
        setsid();
        pid_t pid = fork();
        if (pid > 0) {
            printf("%d\n", (int)pid);
            fflush(stdout);
            _exit(0);
        }
        for (;;)
            pause();
    }
    wait(NULL);
}

static void leave_a_brood_and_last(void)
{
    leave_a_brood();
    for (;;)
        pause();
}

// Passes on the output of a lasting brood, and lasts.
static void pass_on_a_brood(void)
{
    struct child brood;
    char said[64];
    const char *const argv[] = {program, "kept child", "lasting brood", NULL};
    if (!os_spawn_kept(&brood, argv, NULL))
        _exit(1);
    poll(&(struct pollfd){.fd = brood.stderr_fd, .events = POLLIN}, 1, -1);
    ssize_t length = read(brood.stderr_fd, said, sizeof said);
    if (length <= 0 || write(CHILD_SOCKET, said, (size_t)length) != length)
        _exit(1);
    for (;;)
        pause();
}

static int play(const char *role)
{
    if (strcmp(role, "brood") == 0)
        leave_a_brood();
    else if (strcmp(role, "lasting brood") == 0)
        leave_a_brood_and_last();
    else if (strcmp(role, "kept parent") == 0)
        pass_on_a_brood();
    else
        abort();
    return 7;
}

// All that comes until the other end closes.
static char *read_to_end(int fd, char *text, size_t size)
{
    size_t length = 0;
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    while (poll(&wait, 1, -1) == 1) {
        ssize_t got = read(fd, text + length, size - 1 - length);
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    text[length] = '\0';
    return text;
}

static void sleep_ms(int ms)
{
    nanosleep(&(struct timespec){0, ms * 1000000L}, NULL);
}

static bool spawn_kept(struct child *c, const char *role)
{
    const char *const argv[] = {program, "kept child", role, NULL};
    return os_spawn_kept(c, argv, NULL);
}

// Everybody below holds the other end of the pipe: its end is theirs.
static void what_a_kept_program_leaves_ends_with_it(void **state)
{
    (void)state;
    struct child c;
    char text[64];
    int status = 0;
    assert_true(spawn_kept(&c, "brood"));
    read_to_end(c.stderr_fd, text, sizeof text);
    assert_true(atoi(text) > 0);
    while (!os_reap(&c, &status))
        sleep_ms(1);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    os_kill(&c, NULL);

    assert_true(spawn_kept(&c, "abort"));
    read_to_end(c.stderr_fd, text, sizeof text);
    os_kill(&c, &status);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGABRT);
}

static void killing_a_kept_program_kills_all_below(void **state)
{
    (void)state;
    struct child c;
    char text[64];
    assert_true(spawn_kept(&c, "lasting brood"));
    int end = dup(c.stderr_fd);
    poll(&(struct pollfd){.fd = end, .events = POLLIN}, 1, -1);
    os_kill(&c, NULL);
    read_to_end(end, text, sizeof text);
    assert_true(atoi(text) > 0);
    close(end);
}

static void a_kept_program_dies_with_our_parent(void **state)
{
    (void)state;
    struct child c;
    char text[64] = "";
    const char *const argv[] = {program, "kept child", "kept parent", NULL};
    assert_true(os_spawn(&c, argv, NULL, -1, NULL));
    assert_true(read(c.socket, text, sizeof text - 1) > 0);
    pid_t left = (pid_t)atoi(text);
    assert_true(left > 0 && kill(left, 0) == 0);
    os_kill(&c, NULL);
    while (kill(left, 0) == 0) // or this test never ends
        sleep_ms(1);
    assert_int_equal(errno, ESRCH);
}

static void a_kept_program_that_cannot_run(void **state)
{
    (void)state;
    struct child c;
    struct err e;
    assert_false(os_spawn_kept(&c, (const char *const[]){"/nowhere/program", NULL}, &e));
    assert_non_null(strstr(e.text, strerror(ENOENT)));
}

TEST_COMMAND(kept_child, "kept child")
{
    program = path_program();
    return argc == 3 ? play(argv[2]) : 2;
}

TEST_GROUP(kept)
{
    program = path_program();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_kept_program_leaves_ends_with_it),
        cmocka_unit_test(killing_a_kept_program_kills_all_below),
        cmocka_unit_test(a_kept_program_dies_with_our_parent),
        cmocka_unit_test(a_kept_program_that_cannot_run),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(program);
    return failed;
}
