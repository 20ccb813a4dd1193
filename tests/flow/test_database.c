// Databases that cannot be used, and disks that fill up: each time one clear line, the right exit
// code, and nothing lost.
#include "sessions.h"

#include "base/file.h"
#include "base/str.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define NOBODY      65534

static struct result tune(struct box *b, const char *trials)
{
    return RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl", "--trials",
               trials, "--seed", "5");
}

// --- databases ---

static void become_nobody(const struct box *b)
{
    (void)b;
    if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
        _exit(126);
}

// Root may write anywhere: these runs are somebody else's. That one must be able to read the
// program, wherever the tests are built, so it gets a copy.
static void use_copies(struct box *b)
{
    struct err e;
    char *bytes;
    size_t length;
    const char *program = getenv("TILEWALK_PROGRAM"), *copy = box_path(b, "tilewalk");
    assert_true(file_read(program, &bytes, &length, &e));
    assert_true(file_write(copy, bytes, length, &e));
    assert_int_equal(chmod(copy, 0755), 0);
    free(bytes);
    b->program = copy;
    box_set(b, "LD_PRELOAD", NULL); // a sanitizer's files need not be readable
    box_set(b, "LSAN_OPTIONS", NULL);
    b->prepare = become_nobody;
}

static void test_read_only_database(void **state)
{
    struct box *b = *state;
    const char *folder = box_path(b, "there"), *path = box_path(b, "there/t.db");
    assert_int_equal(mkdir(folder, 0755), 0);
    box_set(b, "TILEWALK_DB", path);
    struct result r = tune(b, "8");
    assert_ok(&r);
    const char *before = sequence(b, 1);
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    use_copies(b);
    box_write(b, "small.lua", box_read(b, flow_path(b, "small.lua")));
    box_write(b, "small.comp", box_read(b, flow_path(b, "small.comp")));
    r = RUN(b, "tune", box_path(b, "small.lua"), "--source", "synthetic:bowl");
    assert_refused(&r, 1, path, "--db");
    r = RUN(b, "resume", "1", "--trials", "9");
    assert_refused(&r, 1, path, "--db");
    r = RUN(b, "stop", "1");
    assert_refused(&r, 1, path, "--db");
    assert_string_equal(sequence(b, 1), before); // reading works all the same
    assert_string_equal(state_of(b, 1), "done");
}

static void test_forbidden_folder(void **state)
{
    struct box *b = *state;
    const char *folder = box_path(b, "secret");
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(mkdir(box_path(b, "closed"), 0555), 0);
    use_copies(b);
    box_set(b, "TILEWALK_DB", box_path(b, "closed/new.db"));
    struct result r = RUN(b, "ls");
    assert_refused(&r, 1, "closed", NULL);
    box_set(b, "TILEWALK_DB", box_path(b, "closed/deep/new.db"));
    r = RUN(b, "ls");
    assert_refused(&r, 1, "closed/deep", NULL);
    if (geteuid() == 0) { // else the folder is ours
        box_set(b, "TILEWALK_DB", box_path(b, "secret/new.db"));
        r = RUN(b, "ls");
        assert_refused(&r, 1, "secret", NULL);
    }
}

static void test_strange_databases(void **state)
{
    struct box *b = *state;
    box_write(b, "text.db",
              "This is not a database, but it is long enough to be taken for one.\n"
              "SQLite reads the first hundred bytes before it says anything.\n");
    struct result r = RUN(b, "ls", "--db", box_path(b, "text.db"));
    assert_refused(&r, 1, "text.db", "not a database");
    r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl", "--db",
            box_path(b, "text.db"));
    assert_refused(&r, 1, "text.db", "not a database");
    r = RUN(b, "ls", "--db", b->folder);
    assert_refused(&r, 1, b->folder, "is a folder");
    r = RUN(b, "tune", "mm1", "--source", "synthetic:bowl", "--db", b->folder);
    assert_refused(&r, 1, b->folder, "is a folder");
    r = RUN(b, "ls", "--db", box_path(b, "text.db/inside.db"));
    assert_refused(&r, 1, "text.db", NULL);
}

// The pages after the first are overwritten: what refers to them is damaged.
static void test_damaged_database(void **state)
{
    struct box *b = *state;
    struct result r = tune(b, "60");
    assert_ok(&r);
    const char *path = box_path(b, "tilewalk.db");
    int fd = open(path, O_WRONLY);
    struct stat st;
    char page[4096];
    assert_true(fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 2 * 4096);
    memset(page, 0xa5, sizeof page);
    for (off_t at = 4096; at < st.st_size; at += 4096)
        assert_int_equal(pwrite(fd, page, sizeof page, at), sizeof page);
    close(fd);
    static const char *const commands[] = {"show", "resume", "stop", "export"};
    for (size_t i = 0; i < COUNT(commands); i++) {
        r = RUN(b, commands[i], "1");
        assert_refused(&r, 1, path, "damaged");
    }
    r = RUN(b, "ls", "--json");
    assert_refused(&r, 1, path, "damaged");
}

// --- disks ---

// What was stored when the space ran out is kept, and the session goes on when there is room.
static void assert_kept(struct box *b, const struct result *full)
{
    if (full->code != 1)
        fail_msg("exit code %d: %s", full->code, full->err);
    assert_one_line(full->err);
    struct events e = events_of(b, full->out);
    assert_string_equal(text_of(end_event(&e), "state"), "failed");
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

static void test_full_disk(void **state)
{
    struct box *b = *state;
    const char *disk = box_path(b, "disk");
    assert_int_equal(mkdir(disk, 0755), 0);
    if (COMMAND("mount", "-t", "tmpfs", "-o", "size=400k", "tilewalk-test", disk) != 0) {
        print_message("no right to mount: a full disk is not tested\n");
        skip();
    }
    box_set(b, "TILEWALK_DB", box_path(b, "disk/t.db"));
    struct result r = tune_long(b);
    bool grown = COMMAND("mount", "-o", "remount,size=40m", disk) == 0;
    const char *kept = box_path(b, "kept"); // checked where a failure leaves no mount behind
    bool copied = COMMAND("cp", "-r", disk, kept) == 0;
    bool unmounted = COMMAND("umount", disk) == 0;
    assert_true(grown && copied && unmounted);
    assert_contains(r.err, "the disk is full");
    box_set(b, "TILEWALK_DB", box_path(b, "kept/t.db"));
    assert_kept(b, &r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_read_only_database), FLOW_TEST(test_forbidden_folder),
        FLOW_TEST(test_strange_databases),  FLOW_TEST(test_damaged_database),
        FLOW_TEST(test_file_limit),         FLOW_TEST(test_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
