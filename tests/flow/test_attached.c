// `tune --attached` and `resume --attached`, started as the workbench starts them: by os_spawn,
// from a process that may die.
#include "group.h"
#include "sessions.h"

#include "base/os.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void spawn_list(struct box *b, struct child *c, const char *const *words)
{
    struct err e;
    enum { MOST_VARIABLES = 512 };
    const char *argv[32] = {getenv("TILEWALK_PROGRAM")}, *environment[MOST_VARIABLES + 1] = {NULL};
    int n = 0;
    for (int i = 0; words[i] && i < 30; i++)
        argv[i + 1] = words[i];
    for (int i = 0; i < b->variables; i++)
        if (strchr(b->environment[i], '='))
            environment[n++] = b->environment[i];
    for (char **v = environ; *v && n < MOST_VARIABLES; v++) // the first one of a name counts
        environment[n++] = *v;
    if (!os_spawn(c, argv, environment, -1, &e))
        fail_msg("%s", e.text);
}
#define SPAWN(b, c, ...) spawn_list((b), (c), (const char *const[]){__VA_ARGS__, NULL})

static void spawn_long(struct box *b, struct child *c)
{
    SPAWN(b, c, "tune", flow_path(b, "small.lua"), "--source", LONG_SOURCE, "--strategy", "random",
          "--trials", "4000", "--workers", "2", "--seed", "7", "--attached");
}

// Returns one line from a socket or pipe; "" at its end.
static const char *read_line(struct box *b, int fd)
{
    char *line = arena_zero(&b->arena, 256, 1);
    size_t length = 0;
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    while (length < 255 && poll(&wait, 1, 60000) == 1) {
        if (read(fd, line + length, 1) != 1)
            return line;
        if (line[length++] == '\n')
            return line;
    }
    fail_msg("no line came, only '%s'", line);
    return line;
}

struct ending {
    struct child *child;
    int status;
};

static bool has_ended(struct box *b, void *context)
{
    struct ending *e = context;
    (void)b;
    return os_reap(e->child, &e->status);
}

static int exit_code_of(struct box *b, struct child *c)
{
    struct ending e = {c, 0};
    wait_until(b, "the end of the child", has_ended, &e);
    return WIFSIGNALED(e.status) ? 128 + WTERMSIG(e.status) : WEXITSTATUS(e.status);
}

static void test_normal_end(void **state)
{
    struct box *b = *state;
    struct child c;
    SPAWN(b, &c, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl", "--trials", "12",
          "--seed", "3", "--attached", "--export", box_path(b, "out"));
    assert_string_equal(read_line(b, c.socket), "session 1\n");
    assert_string_equal(read_line(b, c.socket), "");
    assert_int_equal(exit_code_of(b, &c), 0);
    assert_string_equal(read_line(b, c.stderr_fd), ""); // neither on stdout nor on stderr
    os_kill(&c, NULL);
    assert_string_equal(state_of(b, 1), "done");

    SPAWN(b, &c, "resume", "1", "--trials", "20", "--attached", "--json");
    assert_string_equal(read_line(b, c.socket), "session 1\n");
    assert_int_equal(exit_code_of(b, &c), 0);
    assert_string_equal(read_line(b, c.stderr_fd), "");
    os_kill(&c, NULL);
    assert_int_equal(trials_of(b, 1), 20);
}

static void test_errors(void **state)
{
    struct box *b = *state;
    struct child c;
    SPAWN(b, &c, "resume", "5", "--attached");
    assert_string_equal(read_line(b, c.socket), ""); // no session
    assert_int_equal(exit_code_of(b, &c), 1);
    assert_contains(read_line(b, c.stderr_fd), "session 5");
    os_kill(&c, NULL);
    SPAWN(b, &c, "tune", flow_path(b, "small.lua"), "--source",
          "synthetic:bowl:invalid=0.999999999", "--trials", "5", "--seed", "1", "--attached");
    assert_int_equal(exit_code_of(b, &c), 3);
    os_kill(&c, NULL);
}

static void test_terminated(void **state)
{
    struct box *b = *state;
    struct child c;
    spawn_long(b, &c);
    assert_string_equal(read_line(b, c.socket), "session 1\n");
    assert_int_equal(kill(c.pid, SIGTERM), 0);
    assert_int_equal(exit_code_of(b, &c), 143);
    os_kill(&c, NULL);
    assert_string_equal(state_of(b, 1), "paused");
}

// Nobody listens any more: the run continues, also when it is detached then.
static void test_closed_descriptors(void **state)
{
    struct box *b = *state;
    struct child c;
    spawn_long(b, &c);
    assert_string_equal(read_line(b, c.socket), "session 1\n");
    close(c.socket);
    close(c.stderr_fd);
    c.socket = c.stderr_fd = -1;
    assert_int_equal(kill(c.pid, SIGUSR1), 0);
    wait_for_trials(b, 1, trials_of(b, 1) + 10);
    RUN(b, "stop", "1");
    assert_int_equal(exit_code_of(b, &c), 0);
    assert_string_equal(state_of(b, 1), "stopped");
}

// Workers talk over their own descriptor 3: none of that reaches ours, also on a device.
static void test_with_workers(void **state)
{
    struct box *b = *state;
    struct child c;
    if (!strstr(RUN(b, "devices", "--json").out, "\"index\"")) {
        print_message("no Vulkan device: no workers\n");
        return;
    }
    SPAWN(b, &c, "tune", flow_path(b, "small.lua"), "--trials", "30", "--workers", "2",
          "--attached");
    assert_string_equal(read_line(b, c.socket), "session 1\n");
    assert_int_equal(kill(c.pid, SIGUSR1), 0);
    assert_string_equal(read_line(b, c.socket), "detached\n");
    assert_string_equal(read_line(b, c.socket), "");
    assert_int_equal(exit_code_of(b, &c), 0);
    os_kill(&c, NULL);
    assert_string_equal(state_of(b, 1), "done");
}

// --- a parent that dies ---

struct parent {
    pid_t pid;
    int lines; // what its child said
};

static void copy_line(struct box *b, int from, int to)
{
    const char *line = read_line(b, from);
    if (write(to, line, strlen(line)) != (ssize_t)strlen(line))
        _exit(1);
}

// A process between us and the run. It passes on the output of the run.
static struct parent start_parent(struct box *b, bool lets_go)
{
    int ends[2];
    struct child c;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    struct parent p = {fork(), ends[0]};
    assert_true(p.pid >= 0);
    if (p.pid == 0) {
        spawn_long(b, &c);
        copy_line(b, c.socket, ends[1]);
        if (lets_go && kill(c.pid, SIGUSR1) == 0)
            copy_line(b, c.socket, ends[1]);
        for (;;)
            pause();
    }
    close(ends[1]);
    return p;
}

static void kill_parent(struct parent *p)
{
    kill(p->pid, SIGKILL);
    waitpid(p->pid, NULL, 0);
    close(p->lines);
}

static void test_parent_dies(void **state)
{
    struct box *b = *state;
    struct parent p = start_parent(b, false);
    assert_string_equal(read_line(b, p.lines), "session 1\n");
    wait_for_trials(b, 1, 5);
    kill_parent(&p);
    wait_for_no_runner(b, 1);
    const cJSON *session = listed_session(b, 1);
    assert_string_equal(text_of(session, "state"), "paused");
    assert_string_equal(text_of(session, "message"), "interrupted"); // by itself, in good order
    int64_t trials = trials_of(b, 1);
    char *more = arena_printf(&b->arena, "%d", (int)trials + 20);
    struct result r = RUN(b, "resume", "1", "--trials", more);
    assert_ok(&r);
    r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", LONG_SOURCE, "--strategy", "random",
            "--trials", more, "--seed", "7");
    assert_ok(&r);
    assert_string_equal(sequence(b, 1), sequence(b, 2));
}

static void test_let_go(void **state)
{
    struct box *b = *state;
    struct parent p = start_parent(b, true);
    assert_string_equal(read_line(b, p.lines), "session 1\n");
    assert_string_equal(read_line(b, p.lines), "detached\n");
    kill_parent(&p);
    wait_for_trials(b, 1, trials_of(b, 1) + 20);
    assert_true(runner_of(b, 1) > 0);
    struct result r = RUN(b, "stop", "1");
    assert_ok(&r);
    wait_for_no_runner(b, 1);
    assert_string_equal(state_of(b, 1), "stopped");
}

// --- without the workbench ---

static void test_usage(void **state)
{
    struct box *b = *state;
    struct result r =
        RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl", "--attached");
    assert_refused(&r, 2, "--attached", "descriptor 3");
    r = RUN(b, "resume", "1", "--attached");
    assert_refused(&r, 2, "--attached", "descriptor 3");
    r = RUN(b, "tune", flow_path(b, "small.lua"), "--attached", "--detach");
    assert_refused(&r, 2, "--attached", "--detach");
    assert_null(strstr(RUN(b, "tune", "--help").out, "--attached"));
    assert_int_equal(cJSON_GetArraySize(listed_sessions(b)), 0);
}

TEST_GROUP(attached)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_normal_end),         FLOW_TEST(test_errors),      FLOW_TEST(test_terminated),
        FLOW_TEST(test_closed_descriptors), FLOW_TEST(test_parent_dies), FLOW_TEST(test_let_go),
        FLOW_TEST(test_with_workers),       FLOW_TEST(test_usage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
