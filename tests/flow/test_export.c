// `tilewalk export`: the files of --dry-run, files that it does not replace, and --verify.
#include "group.h"
#include "sessions.h"

#include "base/file.h"

#include <string.h>

#define LENIENT "--slower", "1000000" // nobody's clock decides here

static void make_synthetic(struct box *b, const char *seed)
{
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl",
                          "--trials", "12", "--seed", seed);
    assert_ok(&r);
}

static void make_measured(struct box *b)
{
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--trials", "4", "--seed", "1");
    assert_ok(&r);
}

// --- dry runs ---

static void test_dry_run(void **state)
{
    struct box *b = *state;
    const char *out = box_path(b, "out");
    make_synthetic(b, "5");
    struct result r =
        RUN(b, "export", "1", "--best", "2", "--out", out, "--name", "k", "--dry-run");
    assert_ok(&r);
    assert_contains(r.out, "GFLOPS  (k, ");
    assert_contains(r.out, "(k-2, ");
    assert_contains(r.out, arena_printf(&b->arena, "%s/k.comp  15 lines\n", out));
    assert_contains(r.out, " bytes\n");
    assert_false(file_exists(out));
    r = RUN(b, "export", "1", "--best", "2", "--out", out, "--name", "k", "--dry-run", "--json");
    assert_ok(&r);
    const cJSON *would = json_of(b, r.out), *file;
    assert_false(file_exists(out));
    r = RUN(b, "export", "1", "--best", "2", "--out", out, "--name", "k", "--json");
    assert_ok(&r);
    const cJSON *did = json_of(b, r.out);
    assert_true(cJSON_Compare(member(would, "files"), member(did, "files"), true));
    assert_true(cJSON_Compare(member(would, "kernels"), member(did, "kernels"), true));
    assert_null(cJSON_GetObjectItem(did, "would_write"));
    assert_int_equal(cJSON_GetArraySize(member(would, "would_write")), 8);
    cJSON_ArrayForEach(file, member(would, "would_write"))
    {
        struct err e;
        char *bytes;
        size_t length;
        assert_true(file_read(text_of(file, "path"), &bytes, &length, &e));
        free(bytes);
        assert_int_equal(number_of(file, "bytes"), length);
        assert_true(cJSON_IsFalse(member(file, "exists")));
        assert_int_equal(is_null(file, "lines"), strstr(text_of(file, "path"), ".spv") != NULL);
    }
    r = RUN(b, "export", "1", "--out", out, "--name", "k", "--dry-run", "--json");
    assert_ok(&r);
    cJSON_ArrayForEach(file, member(json_of(b, r.out), "would_write"))
        assert_true(cJSON_IsTrue(member(file, "exists")));
}

// --- what is there already ---

static void test_other_session(void **state)
{
    struct box *b = *state;
    const char *out = box_path(b, "out");
    const char *json = arena_printf(&b->arena, "%s/k.json", out);
    make_synthetic(b, "5");
    make_synthetic(b, "6");
    struct result r = RUN(b, "export", "1", "--out", out, "--name", "k");
    assert_ok(&r);
    r = RUN(b, "export", "1", "--out", out, "--name", "k"); // again, from the same session
    assert_ok(&r);
    const char *before = box_read(b, json);
    r = RUN(b, "export", "2", "--out", out, "--name", "k");
    assert_refused(&r, 1, "k.comp' is there already", "--force");
    r = RUN(b, "export", "2", "--out", out, "--name", "k", "--dry-run");
    assert_refused(&r, 1, "k.comp'", "--force");
    assert_string_equal(box_read(b, json), before);
    r = RUN(b, "export", "2", "--out", out, "--name", "k", "--force");
    assert_ok(&r);
    assert_int_equal(number_of(json_of(b, box_read(b, json)), "session"), 2);
}

// `tune --export` cannot ask: a faster kernel stays, a slower one is replaced, and one that cannot
// be compared is an error.
static void test_faster_stays(void **state)
{
    struct box *b = *state;
    const char *out = box_path(b, "out"), *name = "small-f32-nn-64x64x64.json";
    const char *json = arena_printf(&b->arena, "%s/%s", out, name);
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl",
                          "--seed", "5", "--trials", "60", "--export", out);
    assert_ok(&r);
    r = RUN(b, "tune", "--like", "1", "--seed", "6", "--trials", "1", "--export", out);
    assert_ok(&r);
    assert_contains(r.err, "stays, session 1 found it");
    assert_contains(r.err, "export 2");
    assert_int_equal(number_of(json_of(b, box_read(b, json)), "session"), 1);
    r = RUN(b, "export", "2", "--out", out, "--force");
    assert_ok(&r);
    r = RUN(b, "tune", "--like", "1", "--export", out);
    assert_ok(&r);
    assert_int_equal(number_of(json_of(b, box_read(b, json)), "session"), 3);
    box_write(b, arena_printf(&b->arena, "out/%s", name), "mine");
    r = RUN(b, "tune", "--like", "1", "--export", out);
    assert_int_equal(r.code, 1);
    assert_contains(r.err, "/out/small-f32-nn-64x64x64.");
    assert_string_equal(box_read(b, json), "mine");
}

// Files that no export wrote are not replaced either, and neighbours with like names do not count.
static void test_foreign_files(void **state)
{
    struct box *b = *state;
    make_synthetic(b, "5");
    const char *mine = box_write(b, "k.h", "mine");
    struct result r = RUN(b, "export", "1", "--out", b->folder, "--name", "k");
    assert_refused(&r, 1, "k.h'", "--force");
    assert_string_equal(box_read(b, mine), "mine");
    assert_false(file_exists(box_path(b, "k.comp")));
    box_write(b, "k.json", "{\n  \"session\": 1,\n}\n"); // somebody else's, with such a member
    r = RUN(b, "export", "1", "--out", b->folder, "--name", "k");
    assert_refused(&r, 1, "k.json'", "--force");
    box_write(b, "x-2.h", "mine");
    r = RUN(b, "export", "1", "--out", b->folder, "--name", "x");
    assert_ok(&r);
    r = RUN(b, "export", "1", "--out", b->folder, "--name", "x", "--best", "2");
    assert_refused(&r, 1, "x-2.h'", "--force");
}

// --- verified again ---

static void test_verified(void **state)
{
    struct box *b = *state;
    const char *out = box_path(b, "out");
    make_measured(b);
    struct result r = RUN(b, "export", "1", "--out", out, "--verify", LENIENT);
    assert_ok(&r);
    assert_contains(r.out, "verified: ");
    assert_contains(r.out, "(small-f32-nn-64x64x64, ");
    r = RUN(b, "export", "1", "--out", out, "--best", "2", "--verify", LENIENT, "--json");
    assert_ok(&r);
    const cJSON *kernel, *kernels = member(json_of(b, r.out), "kernels");
    assert_int_equal(cJSON_GetArraySize(kernels), 2);
    cJSON_ArrayForEach(kernel, kernels)
    {
        assert_true(number_of(kernel, "tflops") > 0);
        assert_true(number_of(kernel, "verified_tflops") > 0);
        assert_true(number_of(kernel, "verified_ms") > 0);
    }
    r = RUN(b, "export", "1", "--out", box_path(b, "dry"), "--verify", LENIENT, "--dry-run");
    assert_ok(&r);
    assert_contains(r.out, "verified: ");
    assert_false(file_exists(box_path(b, "dry")));
}

static void test_not_verified(void **state)
{
    struct box *b = *state;
    const char *out = box_path(b, "out");
    make_measured(b);
    struct result r =
        RUN(b, "export", "1", "--out", out, "--verify", LENIENT, "--fault", "wrong@verify:1");
    assert_refused(&r, 1, "does not pass: wrong", "small-f32-nn-64x64x64");
    assert_false(file_exists(out));
    // Wrong in 7 of 60 runs: two verifications pass in 78 of 100 cases, the 80 of the soak never.
    r = RUN(b, "export", "1", "--out", out, "--verify", LENIENT, "--fault", "wrong@verify:7/60");
    assert_refused(&r, 1, "wrong", NULL);
    r = RUN(b, "export", "1", "--out", out, "--verify", LENIENT, "--fault", "segv@time:*");
    assert_refused(&r, 1, " crash", "small-f32-nn-64x64x64");
    assert_false(file_exists(out));
}

static void test_nothing_to_verify(void **state)
{
    struct box *b = *state;
    const char *out = box_path(b, "out");
    make_synthetic(b, "5");
    struct result r = RUN(b, "export", "1", "--out", out, "--verify");
    assert_refused(&r, 1, "synthetic", "without --verify");
    assert_false(file_exists(out));
    r = RUN(b, "export", "1", "--out", out, "--slower", "3");
    assert_refused(&r, 2, "--slower", "--verify");
}

// One trial, which need not be the best, under a name of its own.
static void test_one_trial(void **state)
{
    struct box *b = *state;
    const char *out = box_path(b, "out");
    make_synthetic(b, "5");
    const cJSON *best =
        member(member(json_of(b, RUN(b, "show", "1", "--json").out), "session"), "best");
    int other = number_of(best, "id") == 1 ? 2 : 1;
    const char *number = arena_printf(&b->arena, "%d", other);
    struct result r = RUN(b, "export", "1", "--out", out, "--trial", number, "--json");
    assert_ok(&r);
    const cJSON *kernels = member(json_of(b, r.out), "kernels");
    assert_int_equal(cJSON_GetArraySize(kernels), 1);
    assert_float_equal(number_of(cJSON_GetArrayItem(kernels, 0), "trial"), other, 0);
    assert_true(
        file_exists(arena_printf(&b->arena, "%s/small-f32-nn-64x64x64-trial-%d.comp", out, other)));
    assert_false(file_exists(arena_printf(&b->arena, "%s/small-f32-nn-64x64x64.comp", out)));
    r = RUN(b, "export", "1", "--out", out, "--trial", "600");
    assert_refused(&r, 1, "session 1", "600");
    r = RUN(b, "export", "1", "--trial", "1", "--best", "2");
    assert_refused(&r, 2, "--trial", "--best");
}

// The device of the original is found again by what it is, not by its place in a list.
static void test_like_on_the_device(void **state)
{
    struct box *b = *state;
    make_measured(b);
    struct result r = RUN(b, "tune", "--like", "1", "--trials", "3");
    assert_ok(&r);
    const cJSON *first = listed_session(b, 1), *second = listed_session(b, 2);
    assert_string_equal(text_of(first, "device"), text_of(second, "device"));
    assert_string_equal(text_of(first, "title"), text_of(second, "title"));
    assert_string_equal(text_of(second, "source"), "device");
    assert_int_equal(trials_of(b, 2), 3);
}

TEST_GROUP(export)
{
    const struct CMUnitTest anywhere[] = {
        FLOW_TEST(test_dry_run),           FLOW_TEST(test_other_session),
        FLOW_TEST(test_faster_stays),      FLOW_TEST(test_foreign_files),
        FLOW_TEST(test_nothing_to_verify), FLOW_TEST(test_one_trial),
    };
    const struct CMUnitTest on_device[] = {
        FLOW_TEST(test_verified),
        FLOW_TEST(test_not_verified),
        FLOW_TEST(test_like_on_the_device),
    };
    int failed = cmocka_run_group_tests(anywhere, NULL, NULL);
    if (has_device())
        failed += cmocka_run_group_tests(on_device, NULL, NULL);
    else
        print_message("no Vulkan device: nothing was verified\n");
    return failed;
}
