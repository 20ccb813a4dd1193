// Several devices: tune --device all, on the device that is here and on lavapipe and SwiftShader
// together where both are; and compare --portability.
#include "group.h"
#include "sessions.h"

#include "base/file.h"
#include "base/str.h"

#include <glob.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define LAVAPIPE "/usr/share/vulkan/icd.d/lvp_icd*.json"

// Selects both drivers and nothing else. Returns false where one of them is not here.
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

// Every line names its device; each device has one session from its first line to its last.
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
    return stored_trials(b, 1) > 0 && stored_trials(b, 2) > 0;
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

// A killed run leaves no runner behind: its sessions are paused.
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

// Agents on the device of this machine measure like a run here, on a line that breaks, too; and
// their work continues without them.
static void test_agents(void **state)
{
    struct box *b = *state;
    const char *bin = box_path(b, "bin"), *count = box_path(b, "connections");
    struct err e;
    assert_true(file_make_folders(bin, &e));
    assert_int_equal(symlink(getenv("TILEWALK_TEST_RELAY"), arena_printf(&b->arena, "%s/ssh", bin)),
                     0);
    box_set(b, "PATH", arena_printf(&b->arena, "%s:%s", bin, getenv("PATH")));
    box_set(b, "TILEWALK_PROGRAM", getenv("TILEWALK_PROGRAM"));
    box_set(b, "TILEWALK_RELAY", arena_printf(&b->arena, "kill=2 lives=2 count=%s", count));
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--on", "ssh:far", "--on",
                          "local:", "--trials", "6", "--json");
    assert_ok(&r);
    struct events events = events_of(b, r.out);
    assert_int_equal(count_events(&events, "trial"), 6);
    for (int i = 0; i < events.count; i++)
        if (str_equal(text_of(events.line[i], "event"), "trial"))
            assert_true(strlen(text_of(events.line[i], "machine")) > 0);
    assert_string_equal(text_of(listed_session(b, 1), "state"), "done");
    r = RUN(b, "resume", "1", "--trials", "7", "--json");
    assert_ok(&r);
    events = events_of(b, r.out);
    assert_true(is_null(first_event(&events, "trial"), "machine"));
}

// A machine that differs from the others is set aside, and its trials are measured again.
static void test_calibration(void **state)
{
    struct box *b = *state;
    box_set(b, "TILEWALK_FLEET_MARGIN", "1e-9");
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--on", "local:", "--on",
                          "local:", "--trials", "6", "--json");
    assert_ok(&r);
    struct events events = events_of(b, r.out);
    assert_int_equal(count_events(&events, "trial"), 6);
    const char *machine = NULL;
    for (int i = 0; i < events.count; i++)
        if (str_equal(text_of(events.line[i], "event"), "trial")) {
            machine = machine ? machine : text_of(events.line[i], "machine");
            assert_string_equal(text_of(events.line[i], "machine"), machine);
        }
    assert_contains(r.out, "is refused: a fixed kernel takes ");
    const cJSON *fleet = member(json_of(b, RUN(b, "fleet", "--json").out), "machines"), *one;
    int refused = 0;
    cJSON_ArrayForEach(one, fleet)
    {
        assert_true(number_of(one, "calibration_ms") > 0);
        if (str_equal(text_of(one, "state"), "refused")) {
            refused++;
            assert_true(number_of(one, "drift") != 0);
            assert_contains(r.out, text_of(one, "message"));
        }
    }
    assert_int_equal(refused, 1);
}

// Counts the trials with this outcome whose reason begins so.
static int count_reasons(struct box *b, const char *out, const char *outcome, const char *reason)
{
    struct events events = events_of(b, out);
    int count = 0;
    for (int i = 0; i < events.count; i++) {
        const cJSON *why = cJSON_GetObjectItem(events.line[i], "reason"); // none: no word
        count += str_equal(text_of(events.line[i], "event"), "trial") &&
                 str_equal(text_of(events.line[i], "outcome"), outcome) &&
                 str_starts(why ? why->valuestring : "", reason);
    }
    return count;
}

// A time that no device has is a wrong result. One above the measured peak, which here is a peak of
// one operation a second, is marked.
static void test_hard_to_believe(void **state)
{
    struct box *b = *state;
    static const char roof[] = "INSERT OR REPLACE INTO roof SELECT device_id, device, driver, "
                               "'{\"f32\":1,\"bytes\":1}', 0 FROM session";
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--on", "local:", "--trials", "4",
                          "--json", "--fault", "wrong@time:3");
    assert_ok(&r);
    assert_int_equal(count_reasons(b, r.out, "wrong", "it was said "), 1);
    assert_int_equal(count_reasons(b, r.out, "ok", "unconfirmed"), 0);
    assert_contains(r.out, "empty dispatch");
    tamper(b, roof);
    r = RUN(b, "tune", flow_path(b, "small.lua"), "--on", "local:", "--trials", "4", "--json");
    assert_ok(&r);
    assert_int_equal(count_reasons(b, r.out, "ok", ""),
                     count_reasons(b, r.out, "ok", "unconfirmed"));
    assert_true(count_reasons(b, r.out, "ok", "unconfirmed") > 0);
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

// Errors of a child about its own arguments come through, with its exit code.
static void test_usage(void **state)
{
    struct box *b = *state;
    if (!take_two_devices(b))
        return;
    struct result r = RUN(b, "tune", "gemm", "--device", "all", "--set", "X=3");
    assert_int_equal(r.code, 2);
    assert_string_equal(r.out, "");
    assert_contains(r.err, "[0] tilewalk: ");
    assert_contains(r.err, "[1] tilewalk: ");
}

// The fastest of two points has more invocations than SwiftShader takes.
static const char *space_of_two(struct box *b)
{
    box_write(b, "two.comp",
              "#version 450\n"
              "layout(local_size_x = ${c.threads}) in;\n"
              "layout(binding = 0) buffer A { float a[]; };\n"
              "layout(binding = 1) buffer B { float b[]; };\n"
              "layout(binding = 2) buffer C { float c[]; };\n"
              "void main() {\n"
              "    uint at = gl_GlobalInvocationID.x;\n"
              "    float sum = 0.0;\n"
              "    if (at >= 64) return;\n"
              "    for (uint r = 0; r < ${c.threads == 64 and 2000 or 1}; ++r) {\n"
              "        sum *= 0.0;\n"
              "        for (uint k = 0; k < 8; ++k) sum += a[at / 8 * 8 + k] * b[k * 8 + at % 8];\n"
              "    }\n"
              "    c[at] = sum;\n"
              "}\n");
    return box_write(b, "two.lua",
                     "operator.matmul { N = 8, M = 8, K = 8 }\n"
                     "param.threads = discrete { 64, 512 }\n"
                     "resources(function(c) return { invocations = { c.threads } } end)\n"
                     "kernel { template = \"two.comp\", groups = function(c) return { 1 } end }\n");
}

static const cJSON *cell(const cJSON *rows, int64_t session, bool own)
{
    const cJSON *row, *on;
    cJSON_ArrayForEach(row, rows)
    {
        if ((int64_t)number_of(row, "session") != session)
            continue;
        cJSON_ArrayForEach(on,
                           member(row, "on")) if (cJSON_IsTrue(member(on, "own")) == own) return on;
    }
    fail_msg("no such cell");
    return NULL;
}

static void test_portability(void **state)
{
    struct box *b = *state;
    if (!take_two_devices(b))
        return;
    const char *space = space_of_two(b);
    struct result r =
        RUN(b, "tune", space, "--strategy", "grid", "--device", "llvmpipe", "--plain");
    assert_ok(&r);
    r = RUN(b, "tune", space, "--strategy", "grid", "--device", "swiftshader", "--plain");
    assert_ok(&r);
    r = RUN(b, "compare", "1", "2");
    assert_refused(&r, 1, "different devices", "compare --portability");
    r = RUN(b, "compare", "1", "2", "--portability", "--json");
    assert_ok(&r);
    const cJSON *rows = member(json_of(b, r.out), "portability");
    assert_int_equal(cJSON_GetArraySize(rows), 2);
    const cJSON *rejected = cell(rows, 1, false);
    assert_string_equal(text_of(rejected, "outcome"), "rejected");
    assert_string_equal(text_of(rejected, "reason"), "invocations 512 > 256");
    assert_true(is_null(rejected, "tflops") && is_null(rejected, "share"));
    assert_float_equal(number_of(cell(rows, 1, true), "share"), 1, 0);
    assert_float_equal(number_of(cell(rows, 2, true), "share"), 1, 0);
    const cJSON *slower = cell(rows, 2, false);
    assert_string_equal(text_of(slower, "outcome"), "ok");
    assert_true(number_of(slower, "tflops") > 0 && number_of(slower, "share") < 1);
    assert_contains(RUN(b, "compare", "1", "2", "--portability").out,
                    arena_printf(&b->arena, ": %s", text_of(rejected, "reason")));
    assert_contains(RUN(b, "compare", "1", "2", "--portability", "--csv").out,
                    ",rejected,,,invocations 512 > 256\r\n");
    assert_contains(RUN(b, "compare", "2", "1", "--portability", "--markdown").out,
                    ": invocations 512 &gt; 256 |");
}

static void test_no_portability(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", "gemm", "--source", "synthetic:bowl", "--trials", "3");
    assert_ok(&r);
    r = RUN(b, "compare", "1", "--portability");
    assert_refused(&r, 1, "session 1 was not measured on a device", NULL);
    r = RUN(b, "compare", "1", "--portability", "--plot", "x.svg");
    assert_refused(&r, 2, "--plot", "--portability");
    r = RUN(b, "compare", flow_path(b, "small.lua"), "--portability");
    assert_refused(&r, 2, "--portability", "recordings");
}

static void limit_descriptors(const struct box *b)
{
    const struct rlimit limit = {6, 6};
    (void)b;
    setrlimit(RLIMIT_NOFILE, &limit);
}

// Too few for any child, the one that lists the devices is the first.
static void test_no_descriptors(void **state)
{
    struct box *b = *state;
    b->prepare = limit_descriptors;
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--device", "all");
    assert_refused(&r, 1, "cannot start", "files");
}

// Lists lavapipe by two names: two cards of one model. Returns false where it is not here.
static bool take_two_cards(struct box *b)
{
    glob_t found;
    bool is_here = glob(LAVAPIPE, 0, NULL, &found) == 0;
    if (is_here) {
        const char *second = box_write(b, "second.json", box_read(b, found.gl_pathv[0]));
        const char *drivers = arena_printf(&b->arena, "%s:%s", found.gl_pathv[0], second);
        box_set(b, "VK_ICD_FILENAMES", drivers);
        box_set(b, "VK_DRIVER_FILES", drivers);
    } else {
        print_message("lavapipe is not here\n");
    }
    globfree(&found);
    return is_here;
}

// One session; it goes on, on both, and on the one that is left.
static void test_cards(void **state)
{
    struct box *b = *state;
    if (!take_two_cards(b))
        return;
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--device", "0+1", "--workers", "2",
                          "--strategy", "random", "--seed", "1", "--trials", "4", "--json");
    assert_ok(&r);
    cJSON *session = listed_session(b, 1);
    assert_int_equal(cJSON_GetArraySize(listed_sessions(b)), 1);
    assert_int_equal(number_of(session, "cards"), 2);
    assert_int_equal(number_of(session, "ok"), 4);
    r = RUN(b, "resume", "1", "--trials", "5", "--plain");
    assert_ok(&r);
    assert_contains(r.out, " 2 cards");
    box_set(b, "VK_ICD_FILENAMES", box_path(b, "second.json"));
    box_set(b, "VK_DRIVER_FILES", box_path(b, "second.json"));
    r = RUN(b, "resume", "1", "--trials", "6", "--plain");
    assert_ok(&r);
    r = RUN(b, "tune", flow_path(b, "small.lua"), "--device", "0+1");
    assert_refused(&r, 2, "'1'", "llvmpipe");
}

TEST_GROUP(fleet)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_what_is_here),
        FLOW_TEST(test_two),
        FLOW_TEST(test_lines_and_exports),
        FLOW_TEST(test_interrupted),
        FLOW_TEST(test_killed),
        FLOW_TEST(test_agents),
        FLOW_TEST(test_calibration),
        FLOW_TEST(test_refused),
        FLOW_TEST(test_usage),
        FLOW_TEST(test_hard_to_believe),
        FLOW_TEST(test_no_descriptors),
        FLOW_TEST(test_cards),
        FLOW_TEST(test_portability),
        FLOW_TEST(test_no_portability),
    };
    return has_device() ? cmocka_run_group_tests(tests, NULL, NULL) : EXIT_SKIPPED;
}
