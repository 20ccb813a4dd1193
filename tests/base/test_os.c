// The program is its own child: `test_base "os child" ROLE` plays one.
#include "group.h"
#include "wording.h"

#include "base/os.h"

#include "base/file.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CHILD_SOCKET = 3, CHILD_SHARED = 4 };

static char *program;

static bool spawn_role(struct child *c, const char *role, const char *const *env, int shared_fd)
{
    const char *const argv[] = {program, "os child", role, NULL};
    return os_spawn(c, argv, env, shared_fd, NULL);
}

// Says on the socket what the child finds: descriptors, environment, signals, limits.
static void play_witness(void)
{
    FILE *out = fdopen(CHILD_SOCKET, "w");
    fprintf(out, "fds");
    DIR *d = opendir("/proc/self/fd");
    for (struct dirent *entry; (entry = readdir(d));)
        if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(d))
            fprintf(out, " %s", entry->d_name);
    closedir(d);

    char null[64] = {0};
    ssize_t length = readlink("/proc/self/fd/0", null, sizeof null - 1);
    const char *added = getenv("TILEWALK_ADDED"), *replaced = getenv("TILEWALK_REPLACED");
    fprintf(out, "; stdin %s; env %s %s %s", length > 0 ? null : "?", added ? added : "-",
            replaced ? replaced : "-", getenv("PATH") ? "PATH" : "-");

    sigset_t mask;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    struct sigaction action;
    sigaction(SIGPIPE, NULL, &action);
    struct rlimit core;
    getrlimit(RLIMIT_CORE, &core);
    fprintf(out, "; masked %d; SIGPIPE %s; core limit %d; session %s\n",
            sigismember(&mask, SIGTERM), action.sa_handler == SIG_DFL ? "default" : "other",
            (int)core.rlim_max, getsid(0) == getpid() ? "own" : "shared");
    fclose(out);
}

// Starts a sleeper that holds descriptor 4 too, reports it, and waits to be killed.
static void play_parent(void)
{
    struct child sleeper;
    if (!spawn_role(&sleeper, "sleep", NULL, CHILD_SHARED))
        _exit(1);
    ssize_t put = write(CHILD_SOCKET, "up", 2);
    for (;;)
        put += pause();
}

static void play_noisy(void)
{
    printf("to stdout\n");
    fflush(stdout);
    fprintf(stderr, "to stderr\n");
}

static void play_memory(void)
{
    uint64_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, CHILD_SHARED, 0);
    shared[1] = shared[0] + 1;
    bool sealed = ftruncate(CHILD_SHARED, 0) != 0 && errno == EPERM;
    _exit(sealed ? 0 : 1);
}

static void play_limited(void)
{
    bool ok = os_limit_memory((uint64_t)1 << 40);
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    _exit(ok && limit.rlim_cur == (rlim_t)1 << 40 ? 0 : 1);
}

static int play(const char *role)
{
    static const struct {
        const char *name;
        void (*play)(void);
    } roles[] = {{"witness", play_witness},
                 {"parent", play_parent},
                 {"noisy", play_noisy},
                 {"memory", play_memory},
                 {"limited", play_limited}};
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (strcmp(role, roles[i].name) == 0)
            roles[i].play();
    if (strcmp(role, "sleep") == 0)
        for (;;)
            pause();
    if (strcmp(role, "abort") == 0)
        abort();
    return strcmp(role, "exit 7") == 0 ? 7 : 0;
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

static void assert_witness(int shared_fd, const char *const *env, const char *expected)
{
    struct child c;
    char text[512];
    assert_true(spawn_role(&c, "witness", env, shared_fd));
    assert_string_equal(read_to_end(c.socket, text, sizeof text), expected);
    int status = -1;
    os_kill(&c, &status);
}

static const char clean[] = "fds 0 1 2 3; stdin /dev/null; env - old PATH; masked 0; "
                            "SIGPIPE default; core limit 1; session own\n";

static void child_sees_only_what_it_should(void **state)
{
    (void)state;
    int stray = open("/dev/null", O_RDONLY), high = fcntl(stray, F_DUPFD, 200); // not close-on-exec
    setenv("TILEWALK_REPLACED", "old", 1);
    sigset_t mask, before;
    sigemptyset(&mask);
    sigaddset(&mask, SIGTERM);
    sigprocmask(SIG_BLOCK, &mask, &before);
    signal(SIGPIPE, SIG_IGN);

    assert_witness(-1, NULL, clean);
    const char *const env[] = {"TILEWALK_ADDED=new", "TILEWALK_REPLACED=newer", NULL};
    assert_witness(stray, env,
                   "fds 0 1 2 3 4; stdin /dev/null; env new newer -; masked 0; "
                   "SIGPIPE default; core limit 1; session own\n");

    sigset_t now;
    sigprocmask(SIG_SETMASK, &before, &now);
    assert_true(sigismember(&now, SIGTERM)); // our own mask is as it was
    signal(SIGPIPE, SIG_DFL);
    assert_true(fcntl(stray, F_GETFD) >= 0); // still ours
    close(stray);
    close(high);
}

// The fixed descriptors of the child are free in the parent: they must not get in each other's way.
static void works_with_low_descriptors_closed(void **state)
{
    (void)state;
    int saved = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 100);
    close(STDIN_FILENO);
    assert_witness(-1, NULL, clean);
    if (saved >= 0) {
        dup2(saved, STDIN_FILENO);
        close(saved);
    }
}

static int count_descriptors(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static void stderr_and_stdout_are_captured(void **state)
{
    (void)state;
    struct child c;
    char text[256];
    assert_true(spawn_role(&c, "noisy", NULL, -1));
    assert_true(fcntl(c.stderr_fd, F_GETFL) & O_NONBLOCK);
    assert_string_equal(read_to_end(c.stderr_fd, text, sizeof text), "to stdout\nto stderr\n");
    os_kill(&c, NULL);
}

static void sleep_ms(int ms)
{
    nanosleep(&(struct timespec){0, ms * 1000000L}, NULL);
}

static void wait_until_reaped(struct child *c, int *status)
{
    char byte;
    assert_int_equal(read(c->socket, &byte, 1), 0); // its end closes when it ends
    while (!os_reap(c, status))
        sleep_ms(1);
    assert_int_equal(c->pid, 0);
}

static void reap_gives_the_status(void **state)
{
    (void)state;
    struct child c;
    int status = 0;
    assert_true(spawn_role(&c, "exit 7", NULL, -1));
    wait_until_reaped(&c, &status);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    assert_false(os_reap(&c, &status));
    os_kill(&c, &status);
    assert_int_equal(c.socket, -1);
    assert_int_equal(c.stderr_fd, -1);

    assert_true(spawn_role(&c, "abort", NULL, -1));
    wait_until_reaped(&c, &status);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
#ifdef WCOREDUMP
    assert_false(WCOREDUMP(status));
#endif
    os_kill(&c, NULL);
}

static void kill_ends_a_running_child(void **state)
{
    (void)state;
    struct child c;
    int status = 0;
    assert_true(spawn_role(&c, "sleep", NULL, -1));
    assert_false(os_reap(&c, &status));
    pid_t pid = c.pid;
    os_kill(&c, &status);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(c.pid, 0);
    assert_int_equal(kill(pid, 0), -1); // reaped: no zombie
    status = 77;
    os_kill(&c, &status);
    struct child zeroed = {0};
    os_kill(&zeroed, &status);
    assert_int_equal(status, 77);
    assert_true(fcntl(STDOUT_FILENO, F_GETFD) >= 0);
}

// The grandchild holds the pipe's end as long as it lives; only the kernel ends it.
static void child_dies_with_its_parent(void **state)
{
    (void)state;
    int ends[2];
    char byte[2];
    struct child c;
    assert_int_equal(pipe(ends), 0);
    assert_true(spawn_role(&c, "parent", NULL, ends[1]));
    close(ends[1]);
    assert_int_equal(read(c.socket, byte, 2), 2);
    struct pollfd open_end = {.fd = ends[0], .events = POLLIN};
    assert_int_equal(poll(&open_end, 1, 0), 0);
    os_kill(&c, NULL);
    assert_int_equal(read(ends[0], byte, 1), 0);
    close(ends[0]);
}

static void a_program_that_cannot_run(void **state)
{
    (void)state;
    struct child c;
    struct err e;
    int before = count_descriptors();
    const char *const none[] = {"/no/such/program", NULL}, *const folder[] = {"/tmp", NULL};
    assert_false(os_spawn(&c, none, NULL, -1, &e));
    wording_is("base", "os: no program", e.text);
    assert_true(c.pid == 0 && c.socket == -1 && c.stderr_fd == -1);
    assert_false(os_spawn(&c, folder, NULL, -1, &e));
    assert_non_null(strstr(e.text, "'/tmp'"));
    assert_non_null(strstr(e.text, strerror(EACCES)));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); // no zombie left
    assert_int_equal(count_descriptors(), before);
}

static void no_descriptors_left_to_open(void **state)
{
    (void)state;
    struct rlimit limit, low;
    getrlimit(RLIMIT_NOFILE, &limit);
    int before = count_descriptors();
    for (rlim_t most = 3; most < 20; most++) { // fails at each step of the set-up in turn
        low = (struct rlimit){most, limit.rlim_max};
        setrlimit(RLIMIT_NOFILE, &low);
        struct child c;
        struct err e = {.text = ""};
        bool ok = spawn_role(&c, "exit 7", NULL, -1);
        os_kill(&c, NULL);
        setrlimit(RLIMIT_NOFILE, &limit);
        assert_int_equal(count_descriptors(), before);
        if (most == 3)
            assert_false(ok);
        (void)e;
    }
}

static void many_children_leave_nothing_behind(void **state)
{
    (void)state;
    int before = count_descriptors();
    for (int i = 0; i < 30; i++) {
        struct child c;
        assert_true(spawn_role(&c, "sleep", NULL, -1));
        os_kill(&c, NULL);
    }
    assert_int_equal(count_descriptors(), before);
}

static void memory_is_shared_and_sealed(void **state)
{
    (void)state;
    struct err e;
    int fd = os_memfd("test", 4096, &e);
    assert_true(fd >= 0);
    uint64_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(shared, MAP_FAILED);
    assert_true(shared[0] == 0 && shared[511] == 0);
    shared[0] = 41;
    struct child c;
    int status = -1;
    assert_true(spawn_role(&c, "memory", NULL, fd));
    wait_until_reaped(&c, &status);
    assert_int_equal(status, 0);
    assert_true(shared[1] == 42);
    os_kill(&c, NULL);
    munmap(shared, 4096);
    close(fd);
    assert_int_equal(os_memfd("test", SIZE_MAX / 2 + 1, &e), -1);
    assert_non_null(strstr(e.text, "shared memory"));
}

static void memory_can_be_limited(void **state)
{
    (void)state;
    struct child c;
    int status = -1;
    assert_true(spawn_role(&c, "limited", NULL, -1));
    wait_until_reaped(&c, &status);
    assert_int_equal(status, 0);
    os_kill(&c, NULL);
}

static void clocks_and_facts(void **state)
{
    (void)state;
    int64_t wall = os_now_ns(), cpu = os_process_cpu_ns(getpid()), own = os_thread_cpu_ns();
    sleep_ms(1);
    assert_true(os_now_ns() >= wall + 1000000);
    volatile unsigned work = 0;
    for (unsigned i = 0; i < 3000000; i++)
        work += i;
    assert_true(os_process_cpu_ns(getpid()) > cpu);
    assert_true(os_thread_cpu_ns() > own);
    assert_true(os_unix_time() > 1.7e9);
    assert_true(os_cores() >= 1);
    assert_true(os_seed() != os_seed());
}

static void the_loader_of_this_program(void **state)
{
    (void)state;
    const char *loader = os_loader();
    assert_true(loader && *loader == '/' && strstr(loader, "ld"));
    assert_int_equal(access(loader, X_OK), 0);
}

TEST_COMMAND(os_child, "os child")
{
    program = path_program();
    return argc == 3 ? play(argv[2]) : 2;
}

TEST_GROUP(os)
{
    program = path_program();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(child_sees_only_what_it_should),
        cmocka_unit_test(works_with_low_descriptors_closed),
        cmocka_unit_test(stderr_and_stdout_are_captured),
        cmocka_unit_test(reap_gives_the_status),
        cmocka_unit_test(kill_ends_a_running_child),
        cmocka_unit_test(child_dies_with_its_parent),
        cmocka_unit_test(a_program_that_cannot_run),
        cmocka_unit_test(no_descriptors_left_to_open),
        cmocka_unit_test(many_children_leave_nothing_behind),
        cmocka_unit_test(memory_is_shared_and_sealed),
        cmocka_unit_test(memory_can_be_limited),
        cmocka_unit_test(clocks_and_facts),
        cmocka_unit_test(the_loader_of_this_program),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(program);
    return failed;
}
