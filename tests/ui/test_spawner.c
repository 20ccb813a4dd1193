// The process that starts others, asked by one that may not do so itself.
#include "base/file.h"
#include "base/mem.h"
#include "base/sandbox.h"
#include "group.h"
#include "spawner.h"

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

#define PATIENCE_STEPS 3000 // of 10 ms

static char folder[] = "/tmp/tilewalk-spawner-XXXXXX";
static char program[64];
static struct ui_config config;

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
    struct err e;
    (void)state;
    config_init(&config);
    return spawner_begin(program, &config, &e) ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    spawner_end();
    return 0;
}

static struct child spawned(const char *word)
{
    struct err e;
    struct child c;
    if (!spawner_spawn(&c, (const char *const[]){"", word, "last word", "", NULL}, &e))
        fail_msg("%s", e.text);
    return c;
}

static int status_of(struct child *c)
{
    int status;
    for (int i = 0; i < PATIENCE_STEPS; i++) {
        if (spawner_reap(c, &status))
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
        spawner_kill(&c);
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
        spawner_kill(&c[i]);
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
    assert_true(spawner_signal(c.pid, SIGUSR1));
    assert_string_equal(output_of(&c), "heard\n");
    assert_int_equal(WEXITSTATUS(status_of(&c)), 3);
    spawner_kill(&c);
    assert_false(spawner_signal(getpid(), 0)); // which it did not start
    assert_false(spawner_signal(getppid(), 0));
}

static void test_what_it_refuses(void **state)
{
    (void)state;
    struct err e;
    struct child c;
    put_program("touch started");
    assert_false(
        spawner_spawn(&c, (const char *const[]){"", "tune", "x", "--no-sandbox", NULL}, &e));
    assert_non_null(strstr(e.text, "--no-sandbox"));
    const char *many[200] = {""};
    for (int i = 1; i < 199; i++)
        many[i] = "word";
    assert_false(spawner_spawn(&c, many, &e));
    assert_non_null(strstr(e.text, "too long"));
    char *huge = mem_zero(100 * 1024, 1);
    memset(huge, 'x', 100 * 1024 - 1);
    assert_false(spawner_spawn(&c, (const char *const[]){"", huge, NULL}, &e));
    assert_non_null(strstr(e.text, "too long"));
    free(huge);
    assert_int_equal(remove(program), 0);
    assert_false(spawner_spawn(&c, (const char *const[]){"", "x", NULL}, &e));
    assert_non_null(strstr(e.text, "cannot start"));
    assert_false(file_exists("started"));
    put_program("exit 0");
    c = spawned("x"); // it goes on
    assert_int_equal(status_of(&c), 0);
    spawner_kill(&c);
}

static void test_an_editor_gets_a_path(void **state)
{
    (void)state;
    put_program("echo \"$@\" >edited");
    spawner_end();
    snprintf(config.editor, sizeof config.editor, "'%s' --wait", program);
    assert_true(spawner_begin("none", &config, &(struct err){0}));
    struct child c = {.pid = spawner_edit("+!sh", 12)};
    assert_true(c.pid > 0);
    assert_int_equal(status_of(&c), 0);
    char *text;
    assert_true(file_read("edited", &text, NULL, NULL));
    assert_string_equal(text, "--wait +12 ./+!sh\n");
    free(text);
}

static void test_screens_have_numbers(void **state)
{
    (void)state;
    int n;
    for (int i = 1; i <= 3; i++) {
        int fd = spawner_new_screen_file(&n);
        assert_true(fd >= 0);
        assert_int_equal(n, i);
        assert_int_equal(write(fd, "x", 1), 1);
        close(fd);
    }
    assert_true(file_exists("tilewalk-screen-3.txt"));
}

// Whatever becomes of it, nobody waits for ever, and what it started does not outlive it.
static void test_its_death(void **state)
{
    (void)state;
    struct err e;
    put_program("echo $PPID; sleep 1000");
    struct child c = spawned("x"), other;
    char text[32] = "";
    struct pollfd p = {.fd = c.stderr_fd, .events = POLLIN};
    assert_int_equal(poll(&p, 1, 10 * PATIENCE_STEPS), 1);
    assert_true(read(c.stderr_fd, text, sizeof text - 1) > 0);
    assert_int_equal(kill(atoi(text), SIGKILL), 0);
    assert_int_equal(WTERMSIG(status_of(&c)), SIGKILL);
    assert_false(spawner_spawn(&other, (const char *const[]){"", "x", NULL}, &e));
    assert_non_null(strstr(e.text, "is gone"));
    assert_int_equal(spawner_edit("x", 0), -1);
    spawner_kill(&c);
}

// Returns how many of the attempts went wrong, as an exit code.
static int in_a_sandbox(void)
{
    struct sandbox s = {.starts = true};
    struct err e;
    struct child c;
    put_program("exit 5");
    if (!spawner_begin(program, &config, &e))
        return 100;
    struct sandbox_state holds = sandbox_enter(&s);
    sandbox_finish(&s);
    int wrong = 0;
    if (holds.landlock == SANDBOX_HOLDS) {
        wrong += open("/etc/passwd", O_RDONLY) >= 0;
        wrong += os_spawn(&c, (const char *const[]){program, NULL}, NULL, -1, &e);
    }
    wrong += !spawner_spawn(&c, (const char *const[]){program, "x", NULL}, &e);
    wrong += WEXITSTATUS(status_of(&c)) != 5;
    spawner_end();
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
        cmocka_unit_test_setup_teardown(test_an_editor_gets_a_path, begin, end),
        cmocka_unit_test_setup_teardown(test_screens_have_numbers, begin, end),
        cmocka_unit_test_setup_teardown(test_its_death, begin, end),
        cmocka_unit_test(test_a_sandbox_can_ask_it),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    static const char *const left[] = {"program", "edited", "tilewalk-screen-1.txt",
                                       "tilewalk-screen-2.txt", "tilewalk-screen-3.txt"};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        remove(left[i]);
    rmdir(folder);
    return failed;
}
