// The spawner starts small shell scripts.
#include "base/file.h"
#include "base/mem.h"
#include "base/sandbox.h"
#include "base/spawner.h"
#include "group.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_STEPS 12000 // of 10 ms

enum { RUN, CONNECT, SHOW };

static char folder[] = "/tmp/tilewalk-spawner-XXXXXX";
static char program[64];
static struct spawner *spawner;

static bool allows_words(const char *const *words, struct err *e)
{
    for (; *words; words++)
        if (strcmp(*words, "forbidden") == 0)
            return err_set(e, "'%s' is forbidden", *words);
    return true;
}

static int open_numbered(int *number)
{
    *number = 7;
    return open("opened", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

static struct spawner *new_spawner(bool keeps_terminal)
{
    const char *const argv[] = {program, NULL}, *const talk[] = {program, "talk", NULL};
    const struct spawner_command commands[] = {
        [RUN] = {SPAWNER_CHILD, argv, allows_words},
        [CONNECT] = {SPAWNER_CONNECTION, talk, NULL},
        [SHOW] = {SPAWNER_TERMINAL, argv, allows_words},
    };
    const struct spawner_options o = {commands, 3, keeps_terminal, open_numbered};
    return spawner_create(&o, NULL);
}

static void put_program(const char *text)
{
    struct err e;
    char *all = mem_printf("#!/bin/sh\n%s\n", text);
    assert_true(file_write(program, all, strlen(all), &e));
    assert_int_equal(chmod(program, 0755), 0);
    free(all);
}

static int begin(void **state)
{
    (void)state;
    spawner = new_spawner(true);
    return spawner ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    spawner_destroy(spawner);
    return 0;
}

static struct child spawned(const char *word)
{
    struct err e;
    struct child c;
    if (!spawner_spawn(spawner, RUN, (const char *const[]){word, "last word", "", NULL}, &c, &e))
        fail_msg("%s", e.text);
    return c;
}

static int status_of(struct child *c)
{
    int status;
    for (int i = 0; i < PATIENCE_STEPS; i++) {
        if (spawner_reap(spawner, c, &status))
            return status;
        poll(NULL, 0, 10);
    }
    fail_msg("it does not end");
    return -1;
}

// What it wrote until it ended.
static char *output_of(struct child *c)
{
    static char text[256];
    size_t length = 0;
    ssize_t got;
    struct pollfd p = {.fd = c->stderr_fd, .events = POLLIN};
    while (poll(&p, 1, 10 * PATIENCE_STEPS) > 0 &&
           (got = read(c->stderr_fd, text + length, sizeof text - length - 1)) > 0)
        length += (size_t)got;
    text[length] = '\0';
    return text;
}

static int open_files(void)
{
    int count = 0;
    DIR *fds = opendir("/proc/self/fd");
    while (fds && readdir(fds))
        count++;
    if (fds)
        closedir(fds);
    return count;
}

static void test_words_output_status(void **state)
{
    (void)state;
    int before = open_files();
    put_program("echo $# \"$1|$2|$3\"; echo told >&3; exit 7");
    for (int i = 0; i < 20; i++) {
        char said[8] = "";
        struct child c = spawned("one");
        assert_string_equal(output_of(&c), "3 one|last word|\n");
        assert_int_equal(read(c.socket, said, 5), 5);
        assert_string_equal(said, "told\n");
        int status = status_of(&c);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
        assert_int_equal(c.pid, 0);
        spawner_kill(spawner, &c);
    }
    assert_int_equal(open_files(), before);
}

static void test_ends_are_told_of_each(void **state)
{
    (void)state;
    struct child c[8];
    put_program("exit \"$1\"");
    for (int i = 0; i < 8; i++) {
        char word[2] = {(char)('0' + i), '\0'};
        c[i] = spawned(word);
    }
    for (int i = 7; i >= 0; i--) {
        assert_int_equal(WEXITSTATUS(status_of(&c[i])), i);
        spawner_kill(spawner, &c[i]);
    }
}

static void test_signals_reach_what_it_started(void **state)
{
    (void)state;
    put_program("trap 'echo heard; exit 3' USR1; echo ready; while :; do sleep 0.01; done");
    struct child c = spawned("x");
    char ready[8] = "";
    struct pollfd p = {.fd = c.stderr_fd, .events = POLLIN};
    assert_int_equal(poll(&p, 1, 10 * PATIENCE_STEPS), 1);
    assert_int_equal(read(c.stderr_fd, ready, 6), 6);
    assert_true(spawner_signal(spawner, c.pid, SIGUSR1));
    assert_string_equal(output_of(&c), "heard\n");
    assert_int_equal(WEXITSTATUS(status_of(&c)), 3);
    spawner_kill(spawner, &c);
    assert_false(spawner_signal(spawner, getpid(), 0)); // which it did not start
    assert_false(spawner_signal(spawner, getppid(), 0));
}

static void assert_refused(int command, const char *const *words, const char *why)
{
    struct err e;
    struct child c;
    assert_false(spawner_spawn(spawner, command, words, &c, &e));
    assert_non_null(strstr(e.text, why));
}

static void test_what_it_refuses(void **state)
{
    (void)state;
    put_program("touch started");
    assert_refused(RUN, (const char *const[]){"x", "forbidden", NULL}, "is forbidden");
    assert_refused(SHOW, (const char *const[]){"forbidden", NULL}, "is forbidden");
    assert_refused(CONNECT, (const char *const[]){"x", NULL}, "takes no words");
    assert_refused(SHOW + 1, NULL, "no such command");
    assert_refused(-1, NULL, "no such command");
    const char *many[200] = {NULL};
    for (int i = 0; i < 199; i++)
        many[i] = "word";
    assert_refused(RUN, many, "too long");
    char *huge = mem_zero(100 * 1024, 1);
    memset(huge, 'x', 100 * 1024 - 1);
    assert_refused(RUN, (const char *const[]){huge, NULL}, "too long");
    free(huge);
    assert_int_equal(remove(program), 0);
    assert_refused(RUN, (const char *const[]){"x", NULL}, "cannot start");
    assert_refused(CONNECT, NULL, "cannot start");
    assert_false(file_exists("started"));
    put_program("exit 0");
    struct child c = spawned("x"); // it goes on
    assert_int_equal(status_of(&c), 0);
    spawner_kill(spawner, &c);
}

static void test_a_program_on_the_terminal(void **state)
{
    (void)state;
    struct child c;
    put_program("ps -o pgid= $$ | tr -d ' ' >group; exit 3");
    assert_true(spawner_spawn(spawner, SHOW, NULL, &c, NULL));
    assert_true(c.pid > 0 && c.socket == -1 && c.stderr_fd == -1);
    assert_int_equal(WEXITSTATUS(status_of(&c)), 3);
    char *text;
    assert_true(file_read("group", &text, NULL, NULL));
    assert_int_equal(atoi(text), getpgrp());
    free(text);
}

static void test_an_opened_file(void **state)
{
    (void)state;
    int number = 0, fd = spawner_open_file(spawner, &number);
    assert_true(fd >= 0);
    assert_int_equal(number, 7);
    assert_int_equal(write(fd, "x", 1), 1);
    close(fd);
    assert_true(file_exists("opened"));
    assert_int_equal(spawner_open_file(spawner, &number), -1); // it is there
}

// Starts the connection and reads the two pids that it sends: its own and that of its helper.
static struct child connected(pid_t pids[2])
{
    struct child c;
    char text[64] = "";
    assert_true(spawner_spawn(spawner, CONNECT, NULL, &c, NULL));
    assert_int_equal(c.pid, 0);
    struct pollfd p = {.fd = c.socket, .events = POLLIN};
    assert_int_equal(poll(&p, 1, 10 * PATIENCE_STEPS), 1);
    assert_true(read(c.socket, text, sizeof text - 1) > 0);
    assert_int_equal(sscanf(text, "%d %d", &pids[0], &pids[1]), 2);
    return c;
}

static void await_end(pid_t pid)
{
    for (int i = 0; i < PATIENCE_STEPS; i++) {
        if (kill(pid, 0) != 0)
            return;
        poll(NULL, 0, 10);
    }
    fail_msg("process %d does not end", (int)pid);
}

static void test_a_connection_is_replaced(void **state)
{
    (void)state;
    pid_t first[2], second[2];
    spawner_destroy(spawner);
    spawner = new_spawner(false);
    put_program("sleep 1000 & echo $$ $!; read line; echo \"$1 $line\"; wait");
    struct child old = connected(first);
    assert_false(spawner_signal(spawner, first[1], 0)); // started by the script
    struct child c = connected(second);
    assert_int_equal(read(old.socket, &(char){0}, 1), 0); // before the new one was started
    await_end(first[0]);
    await_end(first[1]);
    char text[16] = "";
    assert_int_equal(write(c.socket, "hello\n", 6), 6);
    assert_int_equal(read(c.socket, text, 11), 11);
    assert_string_equal(text, "talk hello\n");
    spawner_destroy(spawner); // with all connections
    spawner = NULL;
    await_end(second[0]);
    await_end(second[1]);
    spawner_kill(NULL, &old);
    spawner_kill(NULL, &c);
}

// It can give back what it holds elsewhere. One that ignores the request is killed.
static void test_a_connection_is_asked_to_end(void **state)
{
    (void)state;
    pid_t first[2], second[2];
    // The process that gives it back outlives the one that leads. It can be asked before they talk.
    put_program("(trap 'echo x >given; exit' TERM; echo x >able; while :; do sleep 0.01; done) &\n"
                "sleep 1000 & while [ ! -e able ]; do sleep 0.01; done; echo $$ $!; wait");
    struct child old = connected(first);
    put_program("trap '' TERM; sleep 1000 & echo $$ $!; wait");
    struct child c = connected(second);
    assert_true(file_exists("given")); // before the new one was started
    await_end(first[1]);
    spawner_destroy(spawner);
    spawner = NULL;
    await_end(second[0]);
    await_end(second[1]);
    spawner_kill(NULL, &old);
    spawner_kill(NULL, &c);
}

// It lives until the last process is gone that could ask.
static void test_a_fork_can_ask(void **state)
{
    (void)state;
    int go[2], status;
    char byte = 0;
    put_program("exit 0");
    spawner_destroy(spawner);
    spawner = new_spawner(false);
    assert_int_equal(pipe(go), 0);
    pid_t child = fork();
    if (child == 0) {
        struct child c;
        bool ok = read(go[0], &byte, 1) == 1 && spawner_spawn(spawner, RUN, NULL, &c, NULL) &&
                  status_of(&c) == 0;
        _exit(!ok);
    }
    spawner_destroy(spawner);
    spawner = NULL;
    assert_int_equal(write(go[1], &byte, 1), 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(go[0]);
    close(go[1]);
}

// Whatever becomes of it, nobody waits for ever, and what it started does not outlive it.
static void test_its_death(void **state)
{
    (void)state;
    put_program("echo $PPID; sleep 1000");
    struct child c = spawned("x");
    int number;
    char text[32] = "";
    struct pollfd p = {.fd = c.stderr_fd, .events = POLLIN};
    assert_int_equal(poll(&p, 1, 10 * PATIENCE_STEPS), 1);
    assert_true(read(c.stderr_fd, text, sizeof text - 1) > 0);
    assert_int_equal(kill(atoi(text), SIGKILL), 0);
    assert_int_equal(WTERMSIG(status_of(&c)), SIGKILL);
    assert_refused(RUN, NULL, "is gone");
    assert_int_equal(spawner_open_file(spawner, &number), -1);
    spawner_kill(spawner, &c);
}

// Returns how many of the attempts went wrong, as an exit code.
static int in_a_sandbox(void)
{
    struct sandbox s = {.starts = true};
    struct err e;
    struct child c;
    put_program("exit 5");
    spawner = new_spawner(true);
    if (!spawner)
        return 100;
    struct sandbox_state holds = sandbox_enter(&s);
    sandbox_finish(&s);
    int wrong = 0;
    if (holds.landlock == SANDBOX_HOLDS) {
        wrong += open("/etc/passwd", O_RDONLY) >= 0;
        wrong += os_spawn(&c, (const char *const[]){program, NULL}, NULL, -1, &e);
    }
    wrong += !spawner_spawn(spawner, RUN, NULL, &c, &e);
    wrong += WEXITSTATUS(status_of(&c)) != 5;
    spawner_destroy(spawner);
    return wrong;
}

static void test_a_sandbox_can_ask_it(void **state)
{
    (void)state;
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(in_a_sandbox());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

TEST_GROUP(spawner)
{
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return 1;
    snprintf(program, sizeof program, "%s/program", folder);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_words_output_status, begin, end),
        cmocka_unit_test_setup_teardown(test_ends_are_told_of_each, begin, end),
        cmocka_unit_test_setup_teardown(test_signals_reach_what_it_started, begin, end),
        cmocka_unit_test_setup_teardown(test_what_it_refuses, begin, end),
        cmocka_unit_test_setup_teardown(test_a_program_on_the_terminal, begin, end),
        cmocka_unit_test_setup_teardown(test_an_opened_file, begin, end),
        cmocka_unit_test_setup_teardown(test_a_connection_is_replaced, begin, end),
        cmocka_unit_test_setup_teardown(test_a_connection_is_asked_to_end, begin, end),
        cmocka_unit_test_setup_teardown(test_a_fork_can_ask, begin, end),
        cmocka_unit_test_setup_teardown(test_its_death, begin, end),
        cmocka_unit_test(test_a_sandbox_can_ask_it),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    static const char *const left[] = {"program", "group", "opened", "given"};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        remove(left[i]);
    rmdir(folder);
    return failed;
}
