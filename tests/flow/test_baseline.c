// Kernels that a space declares as in use: measured first, used as a start, raced, compared by
// ratio.
#include "group.h"
#include "sessions.h"

#include <math.h>
#include <signal.h>
#include <string.h>

#define SOURCE "--source", "synthetic:rugged:seed=3", "--trials", "20", "--seed", "5"

static const char declared[] = "baseline {\n"
                               "  shipped = { tile = { 32, 1, 2, 1 }, unroll = 0, order = { 'n', "
                               "'m', 'k' }, stage = 'none' },\n"
                               "  large   = { tile = { 1, 1, 64, 1 }, unroll = 16, order = { 'n', "
                               "'m', 'k' }, stage = 'none' },\n"
                               "  misfit  = { tile = { 4, 4, 4, 1 }, unroll = 17, order = { 'n', "
                               "'m', 'k' }, stage = 'none' },\n"
                               "  rule    = { tile = { 4, 4, 4, 1 }, unroll = 0, order = { 'n', "
                               "'m', 'k' }, stage = 'double' },\n"
                               "}\n"
                               "export('found', function(c, found) return #found.shapes .. ' "
                               "shape\\n' .. found.told end)\n";

// In the order of their names.
enum { LARGE, MISFIT, RULE, SHIPPED, COUNT };

// small.lua with baselines, as base.lua in the box.
static const char *write_space(struct box *b)
{
    copy_small(b);
    return box_write(
        b, "base.lua",
        arena_printf(&b->arena, "%s%s", box_read(b, box_path(b, "small.lua")), declared));
}

static cJSON *shown(struct box *b, const char *id)
{
    struct result r = RUN(b, "show", id, "--json");
    assert_ok(&r);
    return json_of(b, r.out);
}

static const cJSON *baseline(const cJSON *shown, int i)
{
    const cJSON *list = member(shown, "baselines");
    assert_int_equal(cJSON_GetArraySize(list), COUNT);
    return cJSON_GetArrayItem(list, i);
}

static void check_rejected(const cJSON *one, const char *name, const char *reason)
{
    assert_string_equal(text_of(one, "name"), name);
    assert_string_equal(text_of(one, "outcome"), "rejected");
    assert_string_equal(text_of(one, "reason"), reason);
    assert_true(is_null(one, "ms") && is_null(one, "tflops") && is_null(one, "ratio"));
}

// The times of a synthetic device are exact, and so is what compares them.
static void check_ratio(const cJSON *one, double best_tflops)
{
    double ratio = number_of(one, "ratio");
    assert_string_equal(text_of(one, "outcome"), "ok");
    assert_true(is_null(one, "reason"));
    assert_true(number_of(one, "ms") > 0);
    assert_true(fabs(ratio * number_of(one, "tflops") / best_tflops - 1) < 1e-6);
    assert_true(number_of(one, "ratio_low") == ratio && number_of(one, "ratio_high") == ratio);
    assert_string_equal(text_of(one, "verdict"), ratio > 1   ? "faster"
                                                 : ratio < 1 ? "slower"
                                                             : "no difference shown");
}

// What was timed in pairs has an interval, and the verdict is its.
static void check_interval(const cJSON *one)
{
    double ratio = number_of(one, "ratio"), low = number_of(one, "ratio_low"),
           high = number_of(one, "ratio_high");
    assert_true(low > 0 && low <= ratio && ratio <= high);
    assert_string_equal(text_of(one, "verdict"), low > 1    ? "faster"
                                                 : high < 1 ? "slower"
                                                            : "no difference shown");
}

static double best_of(const cJSON *shown)
{
    return number_of(member(shown, "session"), "best_tflops");
}

// With an option the search proposes the same as without them.
static void test_outside_the_search(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", write_space(b), SOURCE, "--warm-start", "none");
    assert_ok(&r);
    assert_contains(r.err, "'large': ");
    assert_contains(r.err,
                    "baseline 'misfit' does not run here: rejected (unroll has no value 17)");
    assert_contains(r.out, "baseline large");
    assert_contains(r.out, " times as fast");
    r = RUN(b, "tune", box_path(b, "small.lua"), SOURCE);
    assert_ok(&r);
    assert_string_equal(sequence(b, 1), sequence(b, 2));
    const cJSON *one = shown(b, "1");
    check_ratio(baseline(one, LARGE), best_of(one));
    check_ratio(baseline(one, SHIPPED), best_of(one));
    check_rejected(baseline(one, MISFIT), "misfit", "unroll has no value 17");
    check_rejected(baseline(one, RULE), "rule", "constraint 'double buffers are unrolled'");
    assert_null(cJSON_GetObjectItem(shown(b, "2"), "baselines"));
    r = RUN(b, "check", box_path(b, "base.lua"), "--device", "none", "--json");
    assert_ok(&r);
    const cJSON *checked = json_of(b, r.out);
    assert_string_equal(text_of(baseline(checked, MISFIT), "reason"),
                        text_of(baseline(one, MISFIT), "reason"));
    assert_true(is_null(baseline(checked, SHIPPED), "reason"));
    r = RUN(b, "export", "1", "--as", "found", "--anyway");
    assert_ok(&r);
    assert_contains(r.out, "Not measured, and not verified: ");
    assert_contains(r.out, "synthetic:rugged:seed=3.\n\n| shape | ");
    assert_contains(r.out, "large: tile=1,1,64,1");
    assert_contains(r.out, "\n* misfit: ");
}

// Killed between two of them: each is measured once in the end, and the search is the same.
static void test_killed(void **state)
{
    struct box *b = *state;
    const char *space = write_space(b);
    box_set(b, "TILEWALK_KILL", "baseline:2");
    struct result r = RUN(b, "tune", space, SOURCE, "--warm-start", "none");
    assert_int_equal(r.code, 128 + SIGKILL);
    box_set(b, "TILEWALK_KILL", "told:6");
    r = RUN(b, "resume", "1");
    assert_int_equal(r.code, 128 + SIGKILL);
    box_set(b, "TILEWALK_KILL", NULL);
    r = RUN(b, "resume", "1");
    assert_ok(&r);
    assert_null(strstr(r.err, "baseline")); // all are known
    r = RUN(b, "tune", box_path(b, "small.lua"), SOURCE);
    assert_ok(&r);
    assert_string_equal(sequence(b, 1), sequence(b, 2));
    const cJSON *one = shown(b, "1");
    check_ratio(baseline(one, SHIPPED), best_of(one));
}

// By default they are the first trials, so that no result is slower.
static void test_warm_start(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", write_space(b), SOURCE);
    assert_ok(&r);
    assert_int_equal(number_of(listed_session(b, 1), "warm_start"), 3);
    assert_non_null(strstr(sequence(b, 1), "1,1,64,1"));
    assert_true(number_of(baseline(shown(b, "1"), LARGE), "ratio") >= 1);
    assert_true(number_of(baseline(shown(b, "1"), SHIPPED), "ratio") >= 1);
    r = RUN(b, "tune", box_path(b, "base.lua"), SOURCE, "--warm-start", "baseline");
    assert_ok(&r);
    assert_string_equal(sequence(b, 1), sequence(b, 2));
    r = RUN(b, "tune", box_path(b, "small.lua"), SOURCE, "--warm-start", "baseline");
    assert_refused(&r, 2, "'small' declares no baseline", "--warm-start baseline");
}

// Where a space begins: on a device the first trials are the points that can run there.
static void test_begin(void **state)
{
    static const char begins[] =
        "begin('a person', {\n"
        "  { tile = { 32, 1, 2, 1 }, unroll = 0, order = { 'n', 'm', 'k' }, stage = 'none' },\n"
        "  { tile = { 1, 1, 64, 1 }, unroll = 16, order = { 'n', 'm', 'k' }, stage = 'none' },\n"
        "  { tile = { 4, 4, 4, 1 }, unroll = 17, order = { 'n', 'm', 'k' }, stage = 'none' },\n"
        "  { tile = { 4, 4, 4, 1 }, unroll = 0, order = { 'n', 'm', 'k' }, stage = 'double' },\n"
        "})\n";
    struct box *b = *state;
    copy_small(b);
    const char *file =
        box_write(b, "begun.lua",
                  arena_printf(&b->arena, "%s%s", box_read(b, box_path(b, "small.lua")), begins));
    struct result r = RUN(b, "tune", file, "--trials", "2", "--seed", "1", "--plain");
    assert_ok(&r);
    assert_contains(r.err, "3 skipped");
    assert_int_equal(number_of(listed_session(b, 1), "warm_start"), 1);
    assert_non_null(strstr(sequence(b, 1), "32,1,2,1"));
    r = RUN(b, "tune", file, "--trials", "2", "--seed", "1", "--warm-start", "none");
    assert_ok(&r);
    assert_int_equal(number_of(listed_session(b, 2), "warm_start"), 0);
    r = RUN(b, "tune", file, SOURCE);
    assert_ok(&r);
    assert_int_equal(number_of(listed_session(b, 3), "warm_start"), 0);
}

// On the device they are in the race: verified, and timed beside the winner.
static void test_raced(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", write_space(b), "--trials", "8", "--seed", "1", "--export",
                          box_path(b, "out"));
    assert_ok(&r);
    const cJSON *one = shown(b, "1"), *session = member(one, "session");
    assert_string_equal(text_of(baseline(one, LARGE), "outcome"), "rejected");
    assert_contains(text_of(baseline(one, LARGE), "reason"), "invocations 4096 > ");
    check_interval(baseline(one, SHIPPED));
    check_interval(one); // the fastest baseline is the only one that runs
    assert_true(cJSON_IsTrue(member(session, "best_raced")));
    assert_int_equal(count_rows(b, "baseline", "paired_ask > 0"), 1);
    assert_true(number_of(session, "soaked") > 0);
    assert_int_equal(count_rows(b, "baseline", "race_seconds > 0"), 1);
    r = RUN(b, "export", "1", "--as", "found", "--anyway");
    assert_ok(&r);
    assert_contains(r.out, text_of(session, "device"));
    assert_contains(r.out, text_of(session, "driver"));
    assert_contains(r.out, "Verified: the whole result was right");
    bool level = strcmp(text_of(one, "verdict"), "no difference shown") == 0;
    bool faster = strcmp(text_of(one, "verdict"), "faster") == 0;
    struct result plain = RUN(b, "export", "1", "--as", "found");
    assert_int_equal(plain.code, faster ? 0 : 1);
    assert_true(faster || strstr(plain.err, "--anyway"));
    // The best may be what ships.
    assert_contains(r.out, level ? " | no difference" : " times as fast (");
    char *json = box_read(b, box_path(b, "out/base-f32-nn-64x64x64.json"));
    check_interval(baseline(json_of(b, json), SHIPPED));
}

// A session that goes on has the baselines of the database: it does not measure them again, and its
// race leaves nothing out of their rows.
static void test_raced_after_resume(void **state)
{
    // A number that any other time, name, configuration, outcome or reason would change.
    static const char kept[] =
        "SELECT sum(cast(seconds * 1e12 AS INTEGER) + position * 7 + 1000003 * "
        "length(name || outcome || ifnull(config, '') || ifnull(reason, ''))) FROM baseline";
    struct box *b = *state;
    box_set(b, "TILEWALK_KILL", "told:4");
    struct result r =
        RUN(b, "tune", write_space(b), "--trials", "8", "--seed", "1", "--warm-start", "none");
    assert_int_equal(r.code, 128 + SIGKILL);
    const int64_t before = tamper(b, kept);
    assert_int_equal(count_rows(b, "baseline", NULL), COUNT);
    assert_int_equal(count_rows(b, "baseline", "race_seconds > 0"), 0);
    box_set(b, "TILEWALK_KILL", NULL);
    r = RUN(b, "resume", "1");
    assert_ok(&r);
    assert_null(strstr(r.err, "baseline '"));
    assert_int_equal(tamper(b, kept), before);
    assert_int_equal(count_rows(b, "baseline", "race_seconds > 0"), 1);
    const cJSON *one = shown(b, "1");
    check_interval(baseline(one, SHIPPED));
    assert_string_equal(text_of(baseline(one, LARGE), "outcome"), "rejected");
}

TEST_GROUP(baseline)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_outside_the_search),
        FLOW_TEST(test_killed),
        FLOW_TEST(test_warm_start),
    };
    const struct CMUnitTest on_device[] = {FLOW_TEST(test_begin), FLOW_TEST(test_raced),
                                           FLOW_TEST(test_raced_after_resume)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed || !has_device() ? failed : cmocka_run_group_tests(on_device, NULL, NULL);
}
