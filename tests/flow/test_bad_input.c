// What goes wrong outside the program: databases, disks, space files, templates, devices. Each time
// one clear line, the right exit code, and nothing lost.
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

// --- space files and templates ---

static const char *space_with_template(struct box *b, const char *template)
{
    box_write(b, "mine.comp", template);
    return box_write(
        b, "mine.lua",
        "operator.matmul { N = 8, M = 8, K = 8 }\n"
        "param.unroll = discrete { 1, 2, 4 }\n"
        "kernel { template = \"mine.comp\", groups = function(c) return { 1 } end }\n");
}

static void test_templates(void **state)
{
    struct box *b = *state;
    static const char *const wrong[][3] = {
        {"#version 450\n\nfloat x = ${c.unrol};\n", "mine.comp:3:", "'unrol'"},
        {"#version 450\n% for i = 1, 2 do\nfloat x;\n", "mine.comp:", "'end'"},
        {"#version 450\nfloat x = ${1 +};\n", "mine.comp:2:", NULL},
        {"#version 450\nfloat x = ${1;\n", "mine.comp:2:", "not closed"},
        {"#version 450\n% while true do end\n", "mine.comp:2:", NULL},
        {"#version 450\n\n\n% error(\"enough\")\n", "mine.comp:4:", "enough"},
    };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        const char *path = space_with_template(b, wrong[i][0]);
        struct result r = RUN(b, "check", path, "--device", "none", "--glsl");
        assert_refused(&r, 1, wrong[i][1], wrong[i][2]);
    }
    const char *path =
        space_with_template(b, "#version 450\nvoid main() { int a[${c.unroll}]; }\n");
    struct result r = RUN(b, "check", path, "--device", "none", "--glsl");
    assert_ok(&r);
    assert_contains(r.out, "void main() { int a[");
    assert_int_equal(unlink(box_path(b, "mine.comp")), 0);
    r = RUN(b, "check", path, "--device", "none");
    assert_refused(&r, 1, "mine.lua:3:", "mine.comp");
}

// A session is pinned to the text it began with.
static void test_edited_space_file(void **state)
{
    struct box *b = *state;
    const char *path = box_write(b, "own.lua", box_read(b, flow_path(b, "small.lua")));
    box_write(b, "small.comp", box_read(b, flow_path(b, "small.comp")));
    struct result r =
        RUN(b, "tune", path, "--source", "synthetic:bowl", "--trials", "10", "--seed", "5");
    assert_ok(&r);
    box_write(b, "own.lua", "this is no space file any more");
    r = RUN(b, "resume", "1", "--trials", "20");
    assert_ok(&r);
    r = tune(b, "20");
    assert_string_equal(sequence(b, 1), sequence(b, 2));
}

// --- devices ---

static void test_no_device(void **state)
{
    struct box *b = *state;
    box_set(b, "VK_ICD_FILENAMES", "/nonexistent");
    box_set(b, "VK_DRIVER_FILES", "/nonexistent");
    struct result r = RUN(b, "tune", "gemm");
    assert_refused(&r, 1, "no Vulkan device", "install");
    r = RUN(b, "check", "gemm", "--device", "0");
    assert_refused(&r, 1, "no Vulkan device", NULL);
    r = RUN(b, "check", "mm1", "--json"); // needs none
    assert_ok(&r);
    assert_true(is_null(json_of(b, r.out), "device"));
    r = RUN(b, "devices", "--json");
    assert_ok(&r);
    assert_int_equal(cJSON_GetArraySize(member(json_of(b, r.out), "devices")), 0);
    r = RUN(b, "tune", "mm1", "--source", "synthetic:bowl", "--trials", "3");
    assert_ok(&r);
    assert_string_equal(RUN(b, "ls", "--json").err, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_read_only_database), FLOW_TEST(test_forbidden_folder),
        FLOW_TEST(test_strange_databases),  FLOW_TEST(test_damaged_database),
        FLOW_TEST(test_file_limit),         FLOW_TEST(test_full_disk),
        FLOW_TEST(test_templates),          FLOW_TEST(test_edited_space_file),
        FLOW_TEST(test_no_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
