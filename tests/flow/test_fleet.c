// tune --device all: on the device that is here, and on lavapipe and SwiftShader together where
// both are.
#include "sessions.h"

#include "base/file.h"
#include "base/str.h"

#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define LAVAPIPE "/usr/share/vulkan/icd.d/lvp_icd*.json"

// Both drivers and nothing else. False: one of them is not here.
static bool take_two_devices(struct box *b)
{
    const char *swiftshader = getenv("TILEWALK_SWIFTSHADER");
    glob_t found;
    bool both = glob(LAVAPIPE, 0, NULL, &found) == 0 && swiftshader && file_exists(swiftshader);
    if (both) {
        const char *drivers = arena_printf(&b->arena, "%s:%s", found.gl_pathv[0], swiftshader);
        box_set(b, "VK_ICD_FILENAMES", drivers);
        box_set(b, "VK_DRIVER_FILES", drivers);
    } else {
        print_message("lavapipe and SwiftShader are not both here\n");
    }
    globfree(&found);
    return both;
}

static int devices_of(struct box *b)
{
    struct result r = RUN(b, "devices", "--json");
    return r.code ? 0 : cJSON_GetArraySize(member(json_of(b, r.out), "devices"));
}

// Every line says its device; each of them has one session from its first line to its last.
static void check_lines(struct box *b, const char *out, int devices)
{
    cJSON **line;
    int count = json_lines(b, out, &line), sessions = 0, ends = 0;
    for (int i = 0; i < count; i++) {
        int index = (int)number_of(line[i], "device_index");
        assert_in_range(index, 0, devices - 1);
        sessions += strcmp(text_of(line[i], "event"), "session") == 0;
        ends += strcmp(text_of(line[i], "event"), "end") == 0;
    }
    assert_int_equal(sessions, devices);
    assert_int_equal(ends, devices);
}

static void check_all(struct box *b, int devices)
{
    struct result r =
        RUN(b, "tune", flow_path(b, "small.lua"), "--device", "all", "--trials", "2", "--json");
    assert_ok(&r);
    check_lines(b, r.out, devices);
    cJSON *session, *list = listed_sessions(b);
    assert_int_equal(cJSON_GetArraySize(list), devices);
    cJSON_ArrayForEach(session, list)
    {
        assert_string_equal(text_of(session, "state"), "done");
        assert_int_equal(number_of(session, "trials"), 2);
    }
}

static void test_what_is_here(void **state)
{
    check_all(*state, devices_of(*state));
}

static void test_two(void **state)
{
    struct box *b = *state;
    if (!take_two_devices(b))
        return;
    check_all(b, 2);
    assert_string_not_equal(text_of(listed_session(b, 1), "device"),
                            text_of(listed_session(b, 2), "device"));
}

// Lines are marked with the device, files lie in a folder of each.
static void test_lines_and_exports(void **state)
{
    struct box *b = *state;
    const char *out = box_path(b, "out");
    if (!take_two_devices(b))
        return;
    struct result r = RUN(b, "tune", "--device=1,0", flow_path(b, "small.lua"), "--trials", "2",
                          "--export", out, "--plain");
    assert_ok(&r);
    assert_contains(r.out, "[0] session ");
    assert_contains(r.out, "[1] session ");
    for (const char *line = r.out; *line; line = strchr(line, '\n') + 1)
        assert_true(str_starts(line, "[0]") || str_starts(line, "[1]"));
    assert_true(file_exists(arena_printf(&b->arena, "%s/0", out)));
    assert_true(file_exists(arena_printf(&b->arena, "%s/1", out)));
}

static bool both_have_trials(struct box *b, void *context)
{
    (void)context;
    cJSON *list = listed_sessions(b);
    return cJSON_GetArraySize(list) == 2 && trials_of(b, 1) > 0 && trials_of(b, 2) > 0;
}

static void test_interrupted(void **state)
{
    struct box *b = *state;
    if (!take_two_devices(b))
        return;
    struct running *r =
        START(b, "tune", flow_path(b, "small.lua"), "--device", "all", "--trials", "5000");
    wait_until(b, "trials on both devices", both_have_trials, NULL);
    send_signal(r, SIGINT);
    assert_int_equal(finish(b, r).code, 130);
    assert_string_equal(state_of(b, 1), "paused");
    assert_string_equal(state_of(b, 2), "paused");
}

// Killed, it leaves no runner behind: what ran is paused.
static void test_killed(void **state)
{
    struct box *b = *state;
    if (!take_two_devices(b))
        return;
    struct running *r =
        START(b, "tune", flow_path(b, "small.lua"), "--device", "all", "--trials", "5000");
    wait_until(b, "trials on both devices", both_have_trials, NULL);
    send_signal(r, SIGKILL);
    finish(b, r);
    wait_for_state(b, 1, "paused");
    wait_for_state(b, 2, "paused");
}

static void test_refused(void **state)
{
    struct box *b = *state;
    const char *space = flow_path(b, "small.lua");
    struct result r = RUN(b, "tune", space, "--device", "0,98");
    assert_refused(&r, 2, "no device '98'", NULL);
    r = RUN(b, "tune", space, "--device", "all", "--source", "synthetic:bowl");
    assert_refused(&r, 2, "--device all", "synthetic:bowl");
}

// What a child says of its own arguments comes through, with its exit code.
static void test_usage(void **state)
{
    struct box *b = *state;
    if (!take_two_devices(b))
        return;
    struct result r = RUN(b, "tune", "gemm", "--device", "all", "--set", "X=3");
    assert_int_equal(r.code, 2);
    assert_string_equal(r.out, "");
    assert_contains(r.err, "[0] tilewalk: --set X=3: unknown size");
    assert_contains(r.err, "[1] tilewalk: --set X=3: unknown size");
}

static bool has_device(void)
{
    void *state = NULL;
    box_setup(&state);
    bool has = devices_of(state) > 0;
    box_teardown(&state);
    return has;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_what_is_here), FLOW_TEST(test_two),    FLOW_TEST(test_lines_and_exports),
        FLOW_TEST(test_interrupted),  FLOW_TEST(test_killed), FLOW_TEST(test_refused),
        FLOW_TEST(test_usage),
    };
    return has_device() ? cmocka_run_group_tests(tests, NULL, NULL) : EXIT_SKIPPED;
}
