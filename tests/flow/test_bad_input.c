// Space files, templates and devices that fail: each time one clear line and the right exit code.
#include "group.h"
#include "sessions.h"

#include <string.h>
#include <unistd.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

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
    assert_contains(r.out, "int a[");
    assert_int_equal(unlink(box_path(b, "mine.comp")), 0);
    r = RUN(b, "check", path, "--device", "none");
    assert_refused(&r, 1, "mine.lua:3:", "mine.comp");
}

// A large space in which nothing is possible: the search ends with a reason, and with the same
// reason when it is resumed.
static void test_nothing_is_possible(void **state)
{
    struct box *b = *state;
    box_write(b, "mine.comp", "#version 450\nvoid main() {}\n");
    const char *path =
        box_write(b, "mine.lua",
                  "operator.matmul { N = 8, M = 8, K = 8 }\n"
                  "local v = {} for i = 1, 3000 do v[i] = i end\n"
                  "param.a, param.b = discrete(v), discrete(v)\n"
                  "constraint(\"never\", function(c) return false end)\n"
                  "kernel { template = \"mine.comp\", groups = function(c) return { 1 } end }\n");
    const char *why = "no configuration is possible: 'never' forbids every point";
    struct result r =
        RUN(b, "tune", path, "--source", "synthetic:bowl", "--strategy", "opevo", "--json");
    for (int run = 0; run < 2; run++) {
        struct events e = events_of(b, r.out);
        assert_int_equal(r.code, 3);
        assert_string_equal(text_of(end_event(&e), "message"), why);
        assert_int_equal(number_of(end_event(&e), "trials"), 0);
        assert_int_equal(number_of(end_event(&e), "rejected"), 0);
        r = RUN(b, "resume", "1", "--json");
    }
}

// A rule that fails for a configuration does not exclude it: whatever the strategy, the search ends
// with the rule's line.
static void test_rule_fails(void **state)
{
    struct box *b = *state;
    box_write(b, "mine.comp", "#version 450\nvoid main() {}\n");
    const char *path = box_write(
        b, "mine.lua",
        "operator.matmul { N = 8, M = 8, K = 8 }\n"
        "param.vec = discrete { 1, 2, 4 }\n"
        "param.unroll = discrete { 1, 2, 4, 8, 16 }\n"
        "constraint(\"some\", function(c) return c.vec * c.unroll < 64 or c.vex == 2 end)\n"
        "kernel { template = \"mine.comp\", groups = function(c) return { 1 } end }\n");
    struct result list = RUN(b, "strategies", "--json");
    const cJSON *strategy;
    int count = 0;
    cJSON_ArrayForEach(strategy, cJSON_GetObjectItem(json_of(b, list.out), "strategies"))
    {
        const char *name = text_of(strategy, "name");
        struct result r = RUN(b, "tune", path, "--source", "synthetic:bowl", "--strategy", name,
                              "--seed", "1", "--trials", "100", "--json");
        assert_int_equal(r.code, 1);
        assert_one_line(r.err);
        assert_contains(r.err, "mine.lua:4: ");
        assert_contains(r.err, "'vex'");
        assert_string_equal(state_of(b, ++count), "failed");
    }
    assert_true(count > 10);
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
    r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl", "--trials", "20",
            "--seed", "5");
    assert_ok(&r);
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
    assert_refused(&r, 1, "install", NULL);
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

TEST_GROUP(bad_input)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_templates),  FLOW_TEST(test_nothing_is_possible),
        FLOW_TEST(test_rule_fails), FLOW_TEST(test_edited_space_file),
        FLOW_TEST(test_no_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
