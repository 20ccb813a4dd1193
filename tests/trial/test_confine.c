// A worker's sandbox: a real one of a pool tries what is forbidden, while it measures.
#include "group.h"
#include "pool_fixture.h"

#include "base/mem.h"
#include "base/str.h"
#include "trial/confine.h"

#include <fcntl.h>
#include <glob.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void measure_escaping(struct fixture *f, const char *fault)
{
    prepare_pool(f, 1);
    f->options.fault = fault;
    open_pool(f);
    struct trial_result r = measure_one(f, GEMM_RIGHT);
    if (r.outcome[0] != OUTCOME_OK)
        fail_msg("%s\n%s", r.reason[0], f->log);
}

// "done", or why not.
static const char *end_of(const struct fixture *f, const char *attempt)
{
    static char end[64];
    char line[64];
    snprintf(line, sizeof line, "escape: %s: ", attempt);
    const char *found = strstr(f->log, line);
    snprintf(end, sizeof end, "%.*s", found ? (int)strcspn(found + strlen(line), "\n") : 0,
             found ? found + strlen(line) : "");
    return end;
}

static void expect_refused(const struct fixture *f, enum sandbox_part part, const char *attempt)
{
    if (part != SANDBOX_HOLDS)
        print_message("skipped: nothing here holds %s\n", attempt);
    else if (!*end_of(f, attempt) || str_equal(end_of(f, attempt), "done"))
        fail_msg("%s was not refused:\n%s", attempt, f->log);
}

static void check_phase(const char *fault)
{
    struct fixture f;
    struct sandbox_state here = confine_try_worker(NULL);
    measure_escaping(&f, fault);
    expect_refused(&f, here.seccomp, "network");
    expect_refused(&f, here.seccomp, "signal");
    expect_refused(&f, here.landlock, "users");
    expect_refused(&f, here.landlock, "home");
    expect_refused(&f, here.landlock, "writing");
    expect_refused(&f, here.landlock, "memory");
    expect_refused(&f, here.seccomp, "program");
    expect_refused(&f, here.capabilities, "capabilities");
    close_pool(&f);
}

static void a_worker_that_starts_is_confined(void **state)
{
    (void)state;
    check_phase("escape@start:1");
}

static void a_worker_that_measures_is_confined(void **state)
{
    (void)state;
    check_phase("escape@time:1");
}

static void turned_off_nothing_is_refused(void **state)
{
    struct fixture f;
    (void)state;
    setenv("TILEWALK_SANDBOX", "0", 1);
    measure_escaping(&f, "escape@compile:1");
    unsetenv("TILEWALK_SANDBOX");
    assert_string_equal(end_of(&f, "network"), "done");
    assert_string_equal(end_of(&f, "users"), "done");
    assert_string_equal(end_of(&f, "program"), "done");
    close_pool(&f);
    remove("/tmp/tilewalk-escaped");
}

// Workers are started by an engine that is confined itself, and look for devices by patterns.
static void a_worker_in_a_sandbox_still_finds_devices(void **state)
{
    int status;
    (void)state;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        glob_t found;
        confine_worker();
        bool there = glob("/dev/nul*", 0, NULL, &found) == 0 && found.gl_pathc == 1;
        confine_worker();
        _exit(!there || open("/dev/null", O_RDWR) < 0);
    }
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

static bool is_in_environment(const char *variable)
{
    const char **kept = confine_environment();
    bool found = false;
    for (size_t i = 0; kept[i]; i++)
        found |= str_equal(kept[i], variable);
    free(kept);
    return found;
}

static void of_the_environment_only_the_list_is_passed(void **state)
{
    (void)state;
    setenv("AWS_SECRET_ACCESS_KEY", "x", 1);
    setenv("HOMEPAGE", "x", 1);
    setenv("SSH_AUTH_SOCK", "x", 1);
    setenv("DISPLAY", "x", 1);
    setenv("VK_LOADER_DEBUG", "x", 1);
    setenv("HOME", "/x", 1);
    assert_false(is_in_environment("AWS_SECRET_ACCESS_KEY=x"));
    assert_false(is_in_environment("HOMEPAGE=x"));
    assert_false(is_in_environment("SSH_AUTH_SOCK=x"));
    assert_false(is_in_environment("DISPLAY=x"));
    assert_true(is_in_environment("VK_LOADER_DEBUG=x"));
    assert_true(is_in_environment("HOME=/x"));
}

TEST_GROUP(confine)
{
    if (!find_device()) {
        puts("skipped: no Vulkan device");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worker_that_starts_is_confined),
        cmocka_unit_test(a_worker_that_measures_is_confined),
        cmocka_unit_test(a_worker_in_a_sandbox_still_finds_devices),
        cmocka_unit_test(turned_off_nothing_is_refused),
        cmocka_unit_test(of_the_environment_only_the_list_is_passed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
