// A sandbox, by trying: what is refused is attempted by a child that has entered it.
#include "group.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// The data of the attempts. The folder holds `given` (allowed), `kept` (not) and files in both.
struct place {
    char folder[64];
    int port; // something listens there
    pid_t sleeper;
};

static void put(const struct place *p, const char *name)
{
    struct err e;
    char *path = path_join(p->folder, name);
    assert_true(file_write(path, "text", 4, &e));
    free(path);
}

static int listen_somewhere(int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

static int setup(void **state)
{
    static struct place p;
    struct err e;
    snprintf(p.folder, sizeof p.folder, "/tmp/tilewalk-sandbox-XXXXXX");
    assert_non_null(mkdtemp(p.folder));
    for (int i = 0; i < 2; i++) {
        char *path = path_join(p.folder, i ? "kept" : "given");
        assert_true(file_make_folders(path, &e));
        free(path);
    }
    put(&p, "given/file");
    put(&p, "kept/file");
    listen_somewhere(&p.port);
    p.sleeper = fork();
    if (p.sleeper == 0)
        for (;;)
            pause();
    *state = &p;
    return 0;
}

static int teardown(void **state)
{
    const struct place *p = *state;
    static const char *const names[] = {"given/file", "given/new", "given", "kept/file",
                                        "kept/new",   "kept",      ""};
    kill(p->sleeper, SIGKILL);
    waitpid(p->sleeper, NULL, 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = path_join(p->folder, names[i]);
        remove(path);
        free(path);
    }
    return 0;
}

// --- attempts: 0, or an errno ---

static int result(bool ok)
{
    return ok ? 0 : errno;
}

static int open_below(const struct place *p, const char *name, int flags)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", p->folder, name);
    return result(open(path, flags, 0600) >= 0);
}

static int try_read_given(const struct place *p)
{
    return open_below(p, "given/file", O_RDONLY);
}

static int try_write_given(const struct place *p)
{
    return open_below(p, "given/new", O_WRONLY | O_CREAT);
}

static int try_read_kept(const struct place *p)
{
    return open_below(p, "kept/file", O_RDONLY);
}

static int try_write_kept(const struct place *p)
{
    return open_below(p, "kept/new", O_WRONLY | O_CREAT);
}

static int try_remove_kept(const struct place *p)
{
    char path[128];
    snprintf(path, sizeof path, "%s/kept/file", p->folder);
    return result(rename(path, path) == 0 && unlink(path) == 0);
}

static int try_read_users(const struct place *p)
{
    (void)p;
    return result(open("/etc/passwd", O_RDONLY) >= 0);
}

static int try_list_settings(const struct place *p)
{
    DIR *d = opendir("/etc");
    (void)p;
    int found = result(d && readdir(d));
    if (d)
        closedir(d);
    return found;
}

static int try_connect(const struct place *p)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)p->port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    return result(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
}

static int try_local_socket(const struct place *p)
{
    (void)p;
    return result(socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
}

static int try_datagram_pair(const struct place *p)
{
    int ends[2];
    (void)p;
    return result(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
}

static int try_stream_pair(const struct place *p)
{
    int ends[2];
    (void)p;
    return result(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
}

static int try_trace(const struct place *p)
{
    return result(ptrace(PTRACE_ATTACH, p->sleeper, 0, 0) == 0);
}

static int try_kill(const struct place *p)
{
    return result(kill(p->sleeper, SIGCONT) == 0);
}

static int try_kill_itself(const struct place *p)
{
    (void)p;
    return result(kill(getpid(), SIGCONT) == 0 && raise(SIGCONT) == 0);
}

// 126: the fork itself was refused, as it may be.
static int try_program(const char *path)
{
    int status;
    pid_t child = fork();
    if (child < 0)
        return errno;
    if (child == 0) {
        execl(path, path, (char *)NULL);
        _exit(errno);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int try_true(const struct place *p)
{
    (void)p;
    return try_program("/bin/true");
}

static int try_typing(const struct place *p)
{
    (void)p;
    return result(ioctl(STDIN_FILENO, TIOCSTI, "x") == 0) == EPERM ? EPERM : 0;
}

static int try_mode(const struct place *p)
{
    char path[128];
    snprintf(path, sizeof path, "%s/given/file", p->folder);
    int fd = open(path, O_RDONLY);
    return fd < 0 ? errno : result(fchmod(fd, 04755) == 0 && fchown(fd, 0, 0) == 0);
}

static int try_folder(const struct place *p)
{
    char path[128];
    snprintf(path, sizeof path, "%s/given/folder", p->folder);
    return result(mkdir(path, 0755) == 0 && rmdir(path) == 0);
}

static void *nothing(void *context)
{
    return context;
}

static int try_thread(const struct place *p)
{
    pthread_t thread;
    (void)p;
    int error = pthread_create(&thread, NULL, nothing, NULL);
    return error ? error : pthread_join(thread, NULL);
}

static int try_unlimited(const struct place *p)
{
    struct rlimit files;
    (void)p;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_max += 1;
    return result(setrlimit(RLIMIT_NOFILE, &files) == 0);
}

// --- in a child that has entered ---

static int after_entering(const struct place *p, const struct sandbox *s,
                          int (*attempt)(const struct place *p))
{
    int ends[2], answer = -1;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        sandbox_enter(s);
        answer = attempt(p);
        _exit(write(ends[1], &answer, sizeof answer) != sizeof answer);
    }
    close(ends[1]);
    ssize_t got = read(ends[0], &answer, sizeof answer);
    close(ends[0]);
    waitpid(child, NULL, 0);
    return got == sizeof answer ? answer : -1;
}

static void allow_given(const struct place *p, struct sandbox *s)
{
    char *given = path_join(p->folder, "given");
    sandbox_allow(s, SANDBOX_WRITE, given);
    sandbox_allow(s, SANDBOX_READ, "/usr");
    sandbox_allow(s, SANDBOX_READ, "/proc");
    sandbox_allow(s, SANDBOX_READ, "/there/is/no/such/file");
    free(given);
}

static struct sandbox_state state_here(const struct sandbox *s)
{
    struct sandbox_state here = sandbox_try(NULL, s);
    if (here.landlock != SANDBOX_HOLDS)
        print_message("landlock: skipped, it does not hold here\n");
    if (here.seccomp != SANDBOX_HOLDS)
        print_message("seccomp: skipped, it does not hold here\n");
    return here;
}

#ifdef __SANITIZE_ADDRESS__
static const bool is_sanitized = true; // tracing and processes are what looks for leaks
#else
static const bool is_sanitized = false;
#endif

static void test_of_what_starts_nothing(void **state)
{
    const struct place *p = *state;
    struct sandbox s = {.starts = false};
    allow_given(p, &s);
    struct sandbox_state here = state_here(&s);
    assert_int_equal(here.no_new_privs, SANDBOX_HOLDS);
    assert_int_equal(after_entering(p, &s, try_read_given), 0);
    assert_int_equal(after_entering(p, &s, try_write_given), 0);
    assert_int_equal(after_entering(p, &s, try_thread), 0);
    assert_int_equal(after_entering(p, &s, try_stream_pair), 0);
    assert_int_equal(after_entering(p, &s, try_kill_itself), 0);
    assert_int_equal(after_entering(p, &s, try_unlimited), EPERM);
    if (here.landlock == SANDBOX_HOLDS) {
        assert_int_equal(after_entering(p, &s, try_read_kept), EACCES);
        assert_int_equal(after_entering(p, &s, try_write_kept), EACCES);
        assert_int_not_equal(after_entering(p, &s, try_remove_kept), 0);
        assert_int_equal(after_entering(p, &s, try_read_users), EACCES);
    }
    if (here.seccomp == SANDBOX_HOLDS) {
        assert_int_equal(after_entering(p, &s, try_connect), EPERM);
        assert_int_equal(after_entering(p, &s, try_local_socket), EPERM);
        assert_int_equal(after_entering(p, &s, try_datagram_pair), ENOSYS);
        assert_int_equal(after_entering(p, &s, try_kill), EPERM);
        assert_int_equal(after_entering(p, &s, try_typing), EPERM);
        if (!is_sanitized)
            assert_int_equal(after_entering(p, &s, try_true), EPERM);
    }
    if (!is_sanitized || here.landlock == SANDBOX_HOLDS)
        assert_int_equal(after_entering(p, &s, try_trace), EPERM);
    sandbox_finish(&s);
}

static int try_itself(const struct place *p)
{
    (void)p;
    return try_program("/proc/self/exe");
}

static void test_of_what_starts_programs(void **state)
{
    const struct place *p = *state;
    struct sandbox s = {.starts = true};
    allow_given(p, &s);
    struct sandbox_state here = state_here(&s);
    if (here.seccomp == SANDBOX_HOLDS) {
        assert_int_equal(after_entering(p, &s, try_connect), EPERM);
        assert_int_equal(after_entering(p, &s, try_kill_itself), 0);
    }
    if (here.landlock == SANDBOX_HOLDS) {
        assert_int_equal(after_entering(p, &s, try_trace), EPERM);
        assert_int_equal(after_entering(p, &s, try_true), EACCES);
        assert_int_equal(after_entering(p, &s, try_read_users), EACCES);
    }
    sandbox_allow(&s, SANDBOX_RUN, "/bin/true");
    sandbox_allow(&s, SANDBOX_RUN, "/lib64/ld-linux-x86-64.so.2");
    sandbox_allow(&s, SANDBOX_READ, "/lib");
    sandbox_allow(&s, SANDBOX_READ, "/etc/ld.so.cache");
    if (access("/lib64/ld-linux-x86-64.so.2", X_OK) == 0)
        assert_int_equal(after_entering(p, &s, try_true), 0);
    if (here.landlock == SANDBOX_HOLDS)
        assert_int_equal(after_entering(p, &s, try_itself), EACCES);
    sandbox_finish(&s);
}

// The owner of a file that may be read or written can only be changed with keeps_files.
static void test_of_what_keeps_files(void **state)
{
    const struct place *p = *state;
    struct sandbox s = {.starts = true};
    allow_given(p, &s);
    struct sandbox_state here = state_here(&s);
    if (here.seccomp == SANDBOX_HOLDS) {
        assert_int_equal(after_entering(p, &s, try_mode), ENOSYS);
        assert_int_equal(after_entering(p, &s, try_folder), ENOSYS);
    }
    s.keeps_files = true;
    assert_int_equal(after_entering(p, &s, try_folder), 0);
    if (geteuid() == 0)
        assert_int_equal(after_entering(p, &s, try_mode), 0);
    s.starts = false;
    assert_int_equal(after_entering(p, &s, try_folder), 0);
    sandbox_finish(&s);
}

// A process that starts in the sandbox of another gives up what root left to that one.
static void test_of_capabilities(void **state)
{
    const struct place *p = *state;
    struct sandbox outer = {.starts = true, .keeps_files = true}, inner = {.starts = false};
    allow_given(p, &outer);
    allow_given(p, &inner);
    if (sandbox_try(NULL, &inner).no_new_privs == SANDBOX_HOLDS) {
        assert_int_equal(sandbox_try(NULL, &outer).capabilities, SANDBOX_HOLDS);
        assert_int_equal(sandbox_try(&outer, &inner).capabilities, SANDBOX_HOLDS);
    }
    sandbox_finish(&outer);
    sandbox_finish(&inner);
}

static void test_of_what_lists(void **state)
{
    const struct place *p = *state;
    struct sandbox s = {.starts = false};
    allow_given(p, &s);
    if (state_here(&s).landlock == SANDBOX_HOLDS)
        assert_int_equal(after_entering(p, &s, try_list_settings), EACCES);
    sandbox_allow(&s, SANDBOX_LIST, "/etc");
    assert_int_equal(after_entering(p, &s, try_list_settings), 0);
    if (state_here(&s).landlock == SANDBOX_HOLDS)
        assert_int_equal(after_entering(p, &s, try_read_users), EACCES);
    sandbox_finish(&s);
}

// Threads that already run are not in landlock, and the state reports it.
static void *sleep_on(void *context)
{
    char byte;
    ssize_t ignored = read(*(int *)context, &byte, 1);
    (void)ignored;
    return NULL;
}

static void test_thread_that_stays(void **state)
{
    struct sandbox s = {.starts = false};
    struct sandbox_state alone = sandbox_try(NULL, &s);
    int ends[2], status;
    (void)state;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, sleep_on, &ends[0]);
        sandbox_allow(&s, SANDBOX_READ, "/proc");
        _exit((int)sandbox_enter(&s).landlock);
    }
    waitpid(child, &status, 0);
    close(ends[0]);
    close(ends[1]);
    if (alone.landlock == SANDBOX_HOLDS)
        assert_int_equal(WEXITSTATUS(status), SANDBOX_REFUSED);
}

static void test_off(void **state)
{
    const struct place *p = *state;
    struct sandbox s = {.starts = false};
    setenv("TILEWALK_SANDBOX", "0", 1);
    assert_true(sandbox_is_off());
    assert_int_equal(sandbox_try(NULL, &s).seccomp, SANDBOX_REFUSED);
    assert_int_equal(after_entering(p, &s, try_read_users), 0);
    assert_int_equal(after_entering(p, &s, try_connect), 0);
    unsetenv("TILEWALK_SANDBOX");
    assert_false(sandbox_is_off());
}

TEST_GROUP(sandbox)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_of_what_starts_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_of_what_starts_programs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_of_what_keeps_files, setup, teardown),
        cmocka_unit_test_setup_teardown(test_of_capabilities, setup, teardown),
        cmocka_unit_test_setup_teardown(test_of_what_lists, setup, teardown),
        cmocka_unit_test(test_thread_that_stays),
        cmocka_unit_test_setup_teardown(test_off, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
