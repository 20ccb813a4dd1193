// Disks that fill up: one clear line, the right exit code, and nothing lost.
//
// A small disk has to be mounted. Whoever runs the tests may do that in a namespace where they are
// root, so this program starts itself again in one, where such are allowed; else it takes the right
// to mount that it has. With neither only the limit on file sizes is tested, and the test says that
// it is skipped.
#include "group.h"
#include "sessions.h"

#include "base/file.h"
#include "base/str.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define INSIDE "TILEWALK_TEST_INSIDE" // set in the namespace

// Results that were stored when the space ran out are kept, and the session continues when there is
// room.
static void assert_kept(struct box *b, const struct result *full)
{
    if (full->code != 1)
        fail_msg("exit code %d: %s", full->code, full->err);
    assert_one_line(full->err);
    struct events e = events_of(b, full->out);
    assert_string_equal(text_of(end_event(&e), "state"), "paused");
    int64_t said = count_events(&e, "trial");
    assert_true(said > 0);
    assert_true(trials_of(b, 1) >= said);
    const char *before = sequence(b, 1);
    char *trials = arena_printf(&b->arena, "%d", (int)said + 20);
    b->prepare = NULL;
    struct result r = RUN(b, "resume", "1", "--trials", trials);
    assert_ok(&r);
    assert_true(str_starts(sequence(b, 1), before));
}

static void limit_files(const struct box *b)
{
    const struct rlimit limit = {200000, 200000};
    (void)b;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
}

static struct result tune_long(struct box *b)
{
    return RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl", "--strategy",
               "random", "--trials", "4000", "--seed", "5", "--json");
}

static void test_file_limit(void **state)
{
    struct box *b = *state;
    b->prepare = limit_files;
    struct result r = tune_long(b);
    assert_contains(r.err, box_path(b, "tilewalk.db"));
    assert_kept(b, &r);
}

// Returns its exit code, -1 when it could not be started or did not exit.
static int command(const char *const *argv)
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDERR_FILENO);
        execvp(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
#define COMMAND(...) command((const char *const[]){__VA_ARGS__, NULL})

static bool may_not_mount;

static void test_full_disk(void **state)
{
    struct box *b = *state;
    const char *disk = box_path(b, "disk");
    assert_int_equal(mkdir(disk, 0755), 0);
    if (COMMAND("mount", "-t", "tmpfs", "-o", "size=400k", "tilewalk-test", disk) != 0) {
        may_not_mount = true;
        skip();
    }
    box_set(b, "TILEWALK_DB", box_path(b, "disk/t.db"));
    struct result r = tune_long(b);
    const char *kept = box_path(b, "kept"); // where there is room, and a failure leaves no mount
    bool copied = COMMAND("cp", "-r", disk, kept) == 0;
    bool unmounted = COMMAND("umount", disk) == 0;
    assert_true(copied && unmounted);
    assert_contains(r.err, "the disk is full");
    box_set(b, "TILEWALK_DB", box_path(b, "kept/t.db"));
    assert_kept(b, &r);
}

static void enter_namespace(void)
{
    if (getenv(INSIDE) || COMMAND("unshare", "-rm", "true") != 0)
        return;
    setenv(INSIDE, "1", 1);
    char *program = path_program();
    execlp("unshare", "unshare", "-rm", program, "disk", (char *)NULL);
    _exit(1);
}

TEST_GROUP(disk)
{
    const struct CMUnitTest tests[] = {FLOW_TEST(test_file_limit), FLOW_TEST(test_full_disk)};
    enter_namespace();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (may_not_mount)
        fprintf(stderr, "skipped: no right to mount, so no full disk\n");
    return failed ? failed : may_not_mount ? EXIT_SKIPPED : 0;
}
