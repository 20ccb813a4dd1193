// prove: the report holds all findings, however the run ends, and nothing that is private.
#include "group.h"
#include "sessions.h"

#include "record/unpack.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const char *const parts[] = {"limits",     "correctness", "timing", "roof",
                                    "statistics", "tuning",      "spaces"};
enum { PARTS = 7 };

// Returns all of the archive: a tar of texts has them as they are, between zeros, which become
// blanks.
static const char *archive_text(struct box *b, const char *path)
{
    struct err e;
    char *text;
    size_t length;
    if (!unpack_file(path, &unpack_standard, &text, &length, &e))
        fail_msg("%s", e.text);
    assert_int_equal(length % 512, 0);
    assert_memory_equal(text + 257, "ustar", 6);
    for (size_t i = 0; i < length; i++)
        if (!text[i])
            text[i] = ' ';
    const char *kept = arena_strdup(&b->arena, text);
    free(text);
    return kept;
}

static cJSON *part_of(cJSON *report, const char *name)
{
    cJSON *part;
    cJSON_ArrayForEach(part, member(report, "parts")) if (strcmp(text_of(part, "name"), name) ==
                                                          0) return part;
    fail_msg("the report has no part %s", name);
    return NULL;
}

static void assert_nothing_private(struct box *b, const char *text)
{
    char host[256] = "";
    cJSON *device = member(json_of(b, RUN(b, "devices", "--json").out), "devices")->child;
    assert_null(strstr(text, text_of(device, "identity")));
    assert_null(strstr(text, b->folder));
    gethostname(host, sizeof host - 1);
    assert_true(strlen(host) < 4 || !strstr(text, host));
}

// A second or two is not enough for most of it: the report names each part that is left out.
static void test_short(void **state)
{
    struct box *b = *state;
    const char *path = box_path(b, "report.tar.xz");
    box_set(b, "TMPDIR", b->folder);
    struct result r = RUN(b, "prove", "--minutes", "0.01", "--seed", "7", "--out", path, "--json");
    assert_ok(&r);
    cJSON *report = json_of(b, r.out);
    assert_string_equal(text_of(report, "format"), "tilewalk-report");
    for (int i = 0; i < PARTS; i++)
        assert_non_null(part_of(report, parts[i]));
    assert_string_equal(text_of(part_of(report, "limits"), "state"), "done");
    cJSON *correct = part_of(report, "correctness");
    if (strcmp(text_of(correct, "state"), "did not fit") != 0) {
        assert_string_equal(text_of(correct, "state"), "cut short");
        assert_contains(text_of(correct, "left_out"), " cells (");
    }
    assert_string_equal(text_of(part_of(report, "spaces"), "state"), "did not fit");
    const char *text = archive_text(b, path);
    assert_contains(text, "<!-- record: | ");
    const char *state_of_spaces = text_of(part_of(report, "spaces"), "state");
    assert_contains(text, arena_printf(&b->arena, "| spaces | %s | ", state_of_spaces));
    assert_contains(text, r.out);
    assert_nothing_private(b, text);
}

static void test_recorded(void **state)
{
    struct box *b = *state;
    const char *path = box_path(b, "report.tar.xz");
    struct result r = RUN(b, "prove", "--minutes", "60", "--only", "spaces", "--trials", "1",
                          "--seed", "7", "--out", path, "--json");
    assert_ok(&r);
    cJSON *sessions = member(part_of(json_of(b, r.out), "spaces"), "sessions");
    assert_int_equal(cJSON_GetArraySize(sessions), 1);
    assert_true(number_of(member(sessions->child, "outcomes"), "ok") == 1);
    assert_true(number_of(sessions->child, "best_gflops") > 0);
    const char *text = archive_text(b, path);
    assert_contains(text, "/recordings/gemm-f32-random.json");
    assert_contains(text, "\"format\":\"tilewalk-recording\"");
    assert_nothing_private(b, text);
}

static struct result prove_with(struct box *b, const char *fault)
{
    return RUN(b, "prove", "--minutes", "0.01", "--only", "correctness", "--seed", "7", "--out",
               box_path(b, "report.tar.xz"), "--fault", fault);
}

// The faults strike in every cell of the space, and the machine decides how many fit in the time.
static void test_wrong_and_lost(void **state)
{
    struct box *b = *state;
    struct result r = prove_with(b, "wrong@run:1,lost@run:2");
    int wrong = 0, failed = 0;
    assert_int_equal(r.code, 1);
    assert_one_line(r.err);
    assert_contains(r.err, "; 0 parts");
    int read = sscanf(r.err, "tilewalk: kernels: %d wrong, %d", &wrong, &failed);
    assert_true(read == 2 && wrong > 0 && failed > 0);
    const char *text = archive_text(b, box_path(b, "report.tar.xz"));
    assert_contains(text, "\n* wrong: `");
    assert_contains(text, "\n* lost: `");
}

// A worker that cannot start any more is a device that is gone.
static void test_gone(void **state)
{
    struct box *b = *state;
    struct result r = prove_with(b, "exit@start:*");
    assert_int_equal(r.code, 1);
    assert_contains(r.err, "kernels: 0 wrong, 0 failed; 1 part");
    assert_contains(archive_text(b, box_path(b, "report.tar.xz")), "| correctness | failed | ");
}

static bool has_begun(struct box *b, void *running)
{
    return strstr(printed_so_far(b, running), "limits ") != NULL;
}

static void test_interrupted(void **state)
{
    struct box *b = *state;
    const char *path = box_path(b, "report.tar.xz");
    struct running *run = START(b, "prove", "--minutes", "60", "--seed", "7", "--out", path);
    wait_until(b, "the first part is done", has_begun, run);
    send_signal(run, SIGINT);
    struct result r = finish(b, run);
    assert_int_equal(r.code, 130);
    assert_contains(archive_text(b, path), "| tuning | did not fit | ");
}

static void limit_files(const struct box *b)
{
    const struct rlimit limit = {20000, 20000};
    (void)b;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
}

static void test_refused(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "prove", "--out", box_path(b, "nowhere/report.tar.xz"));
    assert_refused(&r, 1, "cannot write the archive to", "/nowhere'");
    r = RUN(b, "prove", "--only", "limits,tunning");
    assert_refused(&r, 2, "'tunning'", "statistics");
    b->prepare = limit_files;
    box_set(b, "TMPDIR", b->folder);
    r = RUN(b, "prove", "--only", "limits");
    assert_refused(&r, 1, "prove.db", "KiB");
}

TEST_GROUP(prove)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_short), FLOW_TEST(test_recorded),    FLOW_TEST(test_wrong_and_lost),
        FLOW_TEST(test_gone),  FLOW_TEST(test_interrupted), FLOW_TEST(test_refused),
    };
    if (!has_device())
        return EXIT_SKIPPED;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
