// Limits of a shell and a strange system: one clear line, an exit code that is not 0, no hang,
// nothing lost.
//
// A system without /proc is tested where the user of the tests may mount something over it in a
// namespace; else the test is skipped with a message.
#include "group.h"
#include "sessions.h"

#include "base/str.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void limit(int resource, rlim_t most)
{
    const struct rlimit l = {most, most};
    setrlimit(resource, &l);
}

static void limit_memory(const struct box *b)
{
    (void)b;
    limit(RLIMIT_AS, 150000 << 10);
}

static void limit_files(const struct box *b)
{
    (void)b;
    limit(RLIMIT_FSIZE, 200000); // SIGXFSZ is the program's to ignore
}

static void forbid_files(const struct box *b)
{
    (void)b;
    limit(RLIMIT_FSIZE, 0);
}

static void limit_descriptors(const struct box *b)
{
    (void)b;
    limit(RLIMIT_NOFILE, 5);
}

static void limit_stack(const struct box *b)
{
    (void)b;
    limit(RLIMIT_STACK, 75 << 10);
}

static void limit_stack_to_enough(const struct box *b)
{
    (void)b;
    limit(RLIMIT_STACK, 256 << 10);
}

static struct result tune(struct box *b, const char *trials)
{
    return RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl", "--strategy",
               "random", "--trials", trials, "--seed", "5", "--json");
}

// OpenBLAS waits for memory for ever, at the end of every command too.
static void test_little_memory(void **state)
{
#ifdef __SANITIZE_ADDRESS__
    skip(); // its shadow alone is larger
#endif
    struct box *b = *state;
    b->prepare = limit_memory;
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"));
    assert_refused(&r, 1, "memory is limited to 146 MiB (ulimit -v)", NULL);
    r = RUN(b, "devices");
    assert_ok(&r);
    assert_contains(r.out, "146 MiB");
    r = RUN(b, "strategies");
    assert_ok(&r);
}

static void test_little_stack(void **state)
{
    struct box *b = *state;
    b->prepare = limit_stack;
    struct result r = RUN(b, "check", flow_path(b, "small.lua"), "--device", "none");
    assert_refused(&r, 1, "the stack is limited to 75 KiB (ulimit -s)", "256");
}

static void test_enough_stack(void **state)
{
#ifdef __SANITIZE_ADDRESS__
    skip(); // its frames are larger
#endif
    struct box *b = *state;
    b->prepare = limit_stack_to_enough;
    const char *file = flow_path(b, "small.lua");
    struct result r = RUN(b, "check", file, "--device", "none");
    assert_ok(&r);
    r = tune(b, "4");
    assert_ok(&r);
    r = RUN(b, "resume", "1", "--trials", "8");
    assert_ok(&r);
    r = RUN(b, "show", "1", "--json");
    assert_ok(&r);
}

static void test_small_files(void **state)
{
    struct box *b = *state;
    b->prepare = limit_files;
    struct result r = tune(b, "4000");
    assert_int_equal(r.code, 1);
    assert_one_line(r.err);
    assert_contains(r.err, "files may not grow past 195 KiB (ulimit -f");
    struct events e = events_of(b, r.out);
    assert_string_equal(text_of(end_event(&e), "state"), "paused");
    int64_t said = count_events(&e, "trial");
    assert_true(said > 0 && trials_of(b, 1) >= said);
    const char *before = sequence(b, 1);
    char *trials = arena_printf(&b->arena, "%d", (int)said + 20);
    b->prepare = NULL;
    r = RUN(b, "resume", "1", "--trials", trials);
    assert_ok(&r);
    assert_true(str_starts(sequence(b, 1), before));
}

static void test_no_files(void **state)
{
    struct box *b = *state;
    b->prepare = forbid_files;
    // What the program prints goes into files here, so there is nothing to read.
    assert_int_equal(RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl").code,
                     1);
}

static void test_few_descriptors(void **state)
{
    struct box *b = *state;
    b->prepare = limit_descriptors;
    struct result r = tune(b, "4");
    assert_refused(&r, 1, "tilewalk.db", "open files");
}

// A home that is a file: nothing is there, and nothing can be put there.
static void test_home_is_a_file(void **state)
{
    struct box *b = *state;
    const char *file = box_write(b, "file", "");
    box_set(b, "TILEWALK_DB", NULL);
    for (int variable = 0; variable < 2; variable++) {
        box_set(b, "XDG_DATA_HOME", variable == 0 ? file : NULL);
        box_set(b, "HOME", file);
        struct result r = tune(b, "4");
        assert_refused(&r, 1, arena_printf(&b->arena, "'%s' is a file", file), NULL);
        r = RUN(b, "ls");
        assert_refused(&r, 1, file, NULL);
        r = RUN(b, "ls", "--json");
        assert_refused(&r, 1, file, NULL);
        r = RUN(b, "show", "1");
        assert_refused(&r, 1, file, NULL);
    }
}

// The session is kept, its log is not: a message reports that.
static void test_no_place_for_a_log(void **state)
{
    struct box *b = *state;
    box_set(b, "XDG_STATE_HOME", box_write(b, "file", ""));
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl",
                          "--trials", "4", "--detach");
    assert_ok(&r);
    assert_contains(r.err, "session 1 runs in the background, without a log: ");
    assert_contains(r.err, "/file");
    wait_for_state(b, 1, "done");
    wait_for_no_runner(b, 1);
}

static bool may_not_mount;

static void test_no_proc(void **state)
{
#ifdef __SANITIZE_ADDRESS__
    skip(); // which reads it itself, and says so
#endif
    struct box *b = *state;
    const char *program = getenv("TILEWALK_PROGRAM");
    b->program = "/usr/bin/unshare";
#define WITHOUT_PROC          "mount -t tmpfs tilewalk-test /proc && exec \"$0\" \"$@\""
#define RUN_WITHOUT_PROC(...) RUN(b, "-rm", "sh", "-c", WITHOUT_PROC, __VA_ARGS__)
    if (access(b->program, X_OK) != 0 || RUN_WITHOUT_PROC("true").code != 0) {
        may_not_mount = true;
        skip();
    }
    static const char *const words[] = {"tune", "check", "doctor", "ls"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        bool takes_space = i < 2;
        struct result r = takes_space ? RUN_WITHOUT_PROC(program, words[i], "gemm")
                                      : RUN_WITHOUT_PROC(program, words[i]);
        assert_refused(&r, 1, "cannot find its own files", "/proc");
    }
    struct result r = RUN_WITHOUT_PROC(program, "--version");
    assert_ok(&r);
}

TEST_GROUP(limits)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_little_memory),  FLOW_TEST(test_little_stack),
        FLOW_TEST(test_enough_stack),   FLOW_TEST(test_small_files),
        FLOW_TEST(test_no_files),       FLOW_TEST(test_few_descriptors),
        FLOW_TEST(test_home_is_a_file), FLOW_TEST(test_no_place_for_a_log),
        FLOW_TEST(test_no_proc),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (may_not_mount)
        fprintf(stderr, "skipped: no right to mount, so /proc is always there\n");
    return failed ? failed : may_not_mount ? EXIT_SKIPPED : 0;
}
