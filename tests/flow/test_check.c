// check: parameters and size of a space file, the fraction that is left of it, and its errors.
#include "group.h"
#include "sessions.h"

#include "base/str.h"

#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

static cJSON *check(struct box *b, const char *space)
{
    struct result r = RUN(b, "check", space, "--device", "none", "--json");
    if (r.code != 0)
        fail_msg("check %s: %s", space, r.err);
    return json_of(b, r.out);
}

static const char *space_file(struct box *b, const char *rest)
{
    const char *text = arena_printf(&b->arena,
                                    "local N = size(\"N\", 64)\n"
                                    "operator.matmul { N = N, M = 64, K = 64 }\n"
                                    "%s\n",
                                    rest);
    return box_write(b, "mine.lua", text);
}

// Every space needs a kernel; its content does not matter here.
#define WITH_KERNEL(text)                                                                          \
    text "\nkernel { template = \"small.comp\", groups = function(c) return { 1 } end }"

static const char *whole_space(struct box *b, const char *rest)
{
    box_write(b, "small.comp", box_read(b, flow_path(b, "small.comp")));
    return space_file(b, rest);
}

static void test_sizes_of_the_paper(void **state)
{
    struct box *b = *state;
    static const char *const sizes[][2] = {
        {"mm1", "4152720"}, {"mm2", "6606600"}, {"mm3", "5725720"}};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        const cJSON *c = check(b, sizes[i][0]);
        assert_string_equal(text_of(c, "size"), sizes[i][1]);
        assert_string_equal(text_of(c, "operator"), "matmul");
        assert_string_equal(text_of(c, "space"), sizes[i][0]);
        assert_true(is_null(c, "device"));
        assert_int_equal(cJSON_GetArraySize(member(c, "parameters")), 3);
        assert_true(number_of(c, "samples") > 0);
    }
}

static void test_sketches(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "check", "nrm", "--device", "none", "--sketches", "--json");
    assert_int_equal(r.code, 0);
    const cJSON *list = member(json_of(b, r.out), "sketches");
    assert_int_equal(cJSON_GetArraySize(list), 3);
    const cJSON *shared = cJSON_GetArrayItem(list, 1), *rules = member(shared, "rules");
    assert_string_equal(text_of(shared, "name"), "cross-thread(Y_sum1)");
    assert_int_equal(cJSON_GetArraySize(rules), 3);
    assert_string_equal(cJSON_GetArrayItem(rules, 1)->valuestring, "cross-thread reduction");
    assert_non_null(strstr(text_of(shared, "text"), "invocations that share i_j.1\n"));
    const cJSON *split = cJSON_GetArrayItem(list, 2);
    assert_string_equal(text_of(split, "name"), "split(Y_sum1)");
    assert_contains(text_of(split, "text"), "share i_j.0");
    assert_contains(text_of(split, "text"), "second pass:");
    r = RUN(b, "check", "gmm", "--device", "none", "--sketches", "--json");
    assert_int_equal(r.code, 0);
    const cJSON *tiled = member(json_of(b, r.out), "sketches")->child;
    assert_string_equal(text_of(tiled, "name"), "tiled");
    assert_string_equal(member(tiled, "rules")->child->valuestring, "cache write");
    r = RUN(b, "check", "gmm", "--device", "none", "--sketches");
    assert_int_equal(r.code, 0);
    assert_contains(r.out, text_of(tiled, "text"));
    r = RUN(b, "check", "mm1", "--sketches");
    assert_int_equal(r.code, 2);
    assert_non_null(strstr(r.err, "its kernels are templates, which have no sketches"));
    r = RUN(b, "check", "alexnet", "--sketches");
    assert_int_equal(r.code, 2);
}

// One preset with definitions at one of its shapes: each sketch has a name of its own, rules, and
// text with its loops.
static void check_listed(struct box *b, const char *preset, int shape)
{
    const char *set = arena_printf(&b->arena, "shape=%d", shape);
    struct result r =
        RUN(b, "check", preset, "--device", "none", "--set", set, "--sketches", "--json");
    if (r.code != 0)
        fail_msg("%s %s: %s", preset, set, r.err);
    const cJSON *list = member(json_of(b, r.out), "sketches"), *one, *rule;
    assert_true(cJSON_GetArraySize(list) >= 1);
    cJSON_ArrayForEach(one, list)
    {
        assert_int_equal(cJSON_GetArraySize(one), 3);
        for (const cJSON *other = one->next; other; other = other->next)
            assert_string_not_equal(text_of(one, "name"), text_of(other, "name"));
        assert_true(cJSON_GetArraySize(member(one, "rules")) >= 1);
        cJSON_ArrayForEach(rule, member(one, "rules"))
        {
            assert_true(cJSON_IsString(rule) && *rule->valuestring);
        }
        assert_non_null(strstr(text_of(one, "text"), "] = "));
    }
}

static void test_sketches_of_all(void **state)
{
    static const char *const presets[] = {
        "c1d", "c2d", "c3d", "gmm",      "grp",        "dil",      "dep",  "t2d",       "cap",
        "nrm", "cbr", "tbg", "winograd", "layer-norm", "rms-norm", "rope", "attention", "gemv"};
    struct box *b = *state;
    for (size_t i = 0; i < COUNT(presets); i++)
        for (int shape = 0; shape <= 4; shape++)
            check_listed(b, presets[i], shape);
    struct result r =
        RUN(b, "check", "gmm", "--device", "none", "--set", "shape=5", "--sketches", "--json");
    assert_int_equal(r.code, 1);
    assert_non_null(strstr(r.err, "there are shapes 0 to 4, not 5"));
}

static void test_name_with_a_quote(void **state)
{
    struct box *b = *state;
    const char *path = box_write(b, "a\"b.lua", box_read(b, flow_path(b, "small.lua")));
    box_write(b, "small.comp", box_read(b, flow_path(b, "small.comp")));
    assert_string_equal(text_of(check(b, path), "space"), "a\"b");
}

static void test_parameters(void **state)
{
    struct box *b = *state;
    const cJSON *c = check(b, flow_path(b, "small.lua"));
    static const char *const wanted[][3] = {{"tile", "factorization", "84"},
                                            {"unroll", "discrete", "4"},
                                            {"order", "permutation", "6"},
                                            {"stage", "categorical", "3"}};
    const cJSON *p, *parameters = member(c, "parameters");
    size_t i = 0;
    assert_int_equal(cJSON_GetArraySize(parameters), COUNT(wanted));
    cJSON_ArrayForEach(p, parameters)
    {
        assert_string_equal(text_of(p, "name"), wanted[i][0]);
        assert_string_equal(text_of(p, "kind"), wanted[i][1]);
        assert_string_equal(text_of(p, "size"), wanted[i++][2]);
        assert_int_equal(cJSON_GetArraySize(member(p, "degree")), 2);
    }
    assert_string_equal(text_of(c, "size"), "6048");
    assert_true(cJSON_IsTrue(member(c, "exact")));
    assert_int_equal(number_of(c, "samples"), 6048);
}

// 1/3 * 1/4 of the points are double without unrolling; of the 84 factorizations of 2^6 into 4
// parts, those with the second one 2^b are the (8-b)(7-b)/2 of the rest: 20 with b > 2.
static void test_shares(void **state)
{
    struct box *b = *state;
    const cJSON *c = check(b, flow_path(b, "small.lua"));
    const cJSON *constraints = member(c, "constraints");
    assert_int_equal(cJSON_GetArraySize(constraints), 2);
    const cJSON *first = cJSON_GetArrayItem(constraints, 0),
                *second = cJSON_GetArrayItem(constraints, 1);
    const char *lua = box_read(b, flow_path(b, "small.lua"));
    const char *declared = strstr(lua, text_of(first, "name")); // under the names given there
    assert_non_null(declared);
    assert_non_null(strstr(declared, text_of(second, "name")));
    assert_string_not_equal(text_of(first, "name"), text_of(second, "name"));
    assert_float_equal(number_of(first, "removes"), 1.0 / 12, 1e-9);
    assert_float_equal(number_of(second, "removes"), 20.0 / 84, 1e-9);
    assert_float_equal(number_of(c, "valid_fraction"), 11.0 / 12 * 64 / 84, 1e-9);
    assert_true(cJSON_IsObject(member(c, "example")));
}

static void test_gemm(void **state)
{
    struct box *b = *state;
    const cJSON *c = check(b, "gemm");
    assert_string_equal(text_of(c, "operator"), "matmul");
    const cJSON *p;
    bool found[4] = {false};
    static const char *const kinds[] = {"factorization", "permutation", "discrete", "categorical"};
    cJSON_ArrayForEach(p, member(c, "parameters")) for (int i = 0; i < 4; i++) found[i] |=
        strcmp(text_of(p, "kind"), kinds[i]) == 0;
    for (int i = 0; i < 4; i++)
        assert_true(found[i]);
    assert_true(number_of(c, "valid_fraction") > 0);
    assert_false(cJSON_IsTrue(member(c, "exact")));
}

static void test_text(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "check", flow_path(b, "small.lua"), "--device", "none");
    assert_int_equal(r.code, 0);
    assert_string_equal(r.err, "");
    static const char *const parts[] = {"small",
                                        "64x64x64",
                                        "6048 points",
                                        "factorization",
                                        "tile",
                                        "8.33 %",
                                        "23.81 %",
                                        "69.84 %",
                                        "example:",
                                        "no device",
                                        "valid by the rules alone"};
    for (size_t i = 0; i < COUNT(parts); i++)
        assert_contains(r.out, parts[i]);
}

// The GLSL is in the JSON, not around it.
static void test_glsl_in_json(void **state)
{
    struct box *b = *state;
    const char *small = flow_path(b, "small.lua");
    struct result r = RUN(b, "check", small, "--device", "none", "--glsl", "--json");
    assert_ok(&r);
    const cJSON *glsl = member(json_of(b, r.out), "glsl");
    assert_int_equal(cJSON_GetArraySize(glsl), 1);
    const char *text = cJSON_GetArrayItem(glsl, 0)->valuestring;
    assert_true(str_starts(text, "#version 450"));
    struct result plain = RUN(b, "check", small, "--device", "none", "--glsl");
    assert_contains(plain.out, text);
    // Without --glsl there is none.
    assert_null(cJSON_GetObjectItem(check(b, small), "glsl"));
    const char *path =
        whole_space(b, WITH_KERNEL("param.unroll = discrete { 1, 2 }\n"
                                   "constraint(\"never\", function(c) return false end)"));
    r = RUN(b, "check", path, "--device", "none", "--glsl", "--json");
    assert_int_equal(r.code, 3);
    assert_true(is_null(json_of(b, r.out), "glsl"));
}

static void test_set(void **state)
{
    struct box *b = *state;
    const char *small = flow_path(b, "small.lua");
    struct result r = RUN(b, "check", small, "--device", "none", "--json", "--set", "N=32");
    assert_int_equal(r.code, 0);
    assert_string_equal(text_of(json_of(b, r.out), "size"), "4032");
    r = RUN(b, "check", small, "--device", "none", "--json", "--set=N=8", "--set", "N=32");
    assert_string_equal(text_of(json_of(b, r.out), "size"), "4032"); // the last one counts
    static const char *const wrong[] = {"N=0",          "N=-64", "N=99999999999999999999",
                                        "N=2147483648", "N=1e3", "N=64x"};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        r = RUN(b, "check", small, "--device", "none", "--set", wrong[i]);
        assert_refused(&r, 2, wrong[i], "N");
    }
    r = RUN(b, "check", "mm1", "--device", "none", "--set", "n=64");
    assert_refused(&r, 2, "n=64", "'N'");
    static const char *const malformed[] = {"N", "N=", "=64", ""};
    for (size_t i = 0; i < COUNT(malformed); i++) {
        r = RUN(b, "check", small, "--device", "none", "--set", malformed[i]);
        assert_refused(&r, 2, "NAME=VALUE", NULL);
    }
}

static void test_empty_space(void **state)
{
    struct box *b = *state;
    const char *path =
        whole_space(b, WITH_KERNEL("param.unroll = discrete { 1, 2, 4, 8 }\n"
                                   "constraint(\"large\", function(c) return c.unroll > 2 end)\n"
                                   "constraint(\"small\", function(c) return c.unroll < 3 end)"));
    struct result r = RUN(b, "check", path, "--device", "none");
    assert_int_equal(r.code, 3);
    assert_one_line(r.err);
    assert_contains(r.err, "mine.lua: no configuration is possible");
    assert_contains(r.err, "'large' 50 %");
    assert_contains(r.err, "'small' 50 %");
    r = RUN(b, "check", path, "--device", "none", "--json");
    assert_int_equal(r.code, 3);
    assert_float_equal(number_of(json_of(b, r.out), "valid_fraction"), 0, 0);
    assert_string_equal(text_of(json_of(b, r.out), "template"), "none");
    assert_true(is_null(json_of(b, r.out), "example"));
}

static void test_empty_space_is_not_tuned(void **state)
{
    struct box *b = *state;
    const char *path =
        whole_space(b, WITH_KERNEL("param.unroll = discrete { 1, 2, 4, 8 }\n"
                                   "constraint(\"never\", function(c) return c.unroll < 0 end)"));
    struct result r = RUN(b, "tune", path, "--source", "synthetic:bowl");
    assert_int_equal(r.code, 3);
    assert_contains(r.out, "'never'");
    assert_string_equal(state_of(b, 1), "done");
    r = RUN(b, "tune", path, "--source", "synthetic:bowl", "--json");
    assert_int_equal(r.code, 3);
    r = RUN(b, "resume", "1");
    assert_int_equal(r.code, 3);
}

// Four of four million points are legal: no draw meets one, and all are found.
static void test_needle_in_a_haystack(void **state)
{
    struct box *b = *state;
    const char *path = whole_space(
        b, WITH_KERNEL(
               "local v = {}\nfor i = 1, 2000 do v[i] = i end\n"
               "param.a = discrete(v)\nparam.b = discrete(v)\n"
               "constraint(\"tight\", function(c) return c.a == 1237 and c.b % 500 == 7 end)"));
    box_write(b, "small.comp", "#version 450\nlayout(local_size_x = 1) in;\nvoid main() {}\n");
    struct result r =
        RUN(b, "tune", path, "--source", "synthetic:bowl", "--strategy", "walk", "--seed", "1");
    assert_ok(&r);
    assert_contains(r.out, "4000000 points");
    assert_contains(r.out, "all 4 legal configurations were proposed");
    assert_int_equal(trials_of(b, 1), 4);
    r = RUN(b, "check", path, "--device", "none");
    assert_ok(&r);
    assert_contains(r.out, "4 legal points, exactly");
    r = RUN(b, "tune", path, "--source", "synthetic:bowl", "--strategy", "grid", "--seed", "1");
    assert_ok(&r);
    assert_contains(r.out, "all 4 legal configurations were proposed");
    assert_int_equal(trials_of(b, 2), 4);
}

static void test_failing_constraint(void **state)
{
    struct box *b = *state;
    const char *path =
        whole_space(b, WITH_KERNEL("param.unroll = discrete { 1, 2 }\n"
                                   "constraint(\"typo\", function(c) return c.unrol > 1 end)"));
    struct result r = RUN(b, "check", path, "--device", "none");
    assert_refused(&r, 1, "mine.lua:4:", "'unrol'");
    assert_contains(r.err, "'unroll'");
    r = RUN(b, "tune", path, "--source", "synthetic:bowl", "--strategy", "random");
    assert_refused(&r, 1, "mine.lua:4:", "constraint 'typo'");
}

// Rules that are only called for a candidate, and the template: errors of Lua and of GLSL.
static void test_a_candidate_is_compiled(void **state)
{
    struct box *b = *state;
#define KERNEL " kernel { template = \"mine.comp\", groups = function(c) return { 1 } end }"
#define VALID  "#version 450\nlayout(local_size_x = 8) in;\nvoid main() {}\n"
    static const char *const wrong[][4] = {
        {"resources(function(c) return { invocations = { c.unrol } } end)" KERNEL, VALID,
         "mine.lua:4:", "'unrol'"},
        {"scratch(function(c) return c.unrol end)" KERNEL, VALID, "mine.lua:4:", "'unrol'"},
        {"local d = derived(function(c) return c.unrol end)\n"
         "constraint(\"d\", function(c) return d(c) > 0 end)" KERNEL,
         VALID, "mine.lua:4:", "'unrol'"},
        {"kernel { template = \"mine.comp\", groups = function(c) return { c.unrol } end }", VALID,
         "mine.lua:4:", "'unrol'"},
        {"kernel { template = \"mine.comp\", groups = function(c) return { 1 } end,"
         " values = function(c) return { x = c.unrol } end }",
         VALID, "mine.lua:4:", "'unrol'"},
        {KERNEL, VALID "// ${c.unrol}\n", "mine.comp:4:", "'unrol'"},
        {KERNEL, VALID "\nint f() { return unknown; }\n", "mine.comp:5:", "unknown"},
        {KERNEL, "#version 450\nvoid main() { x = 1; }\n", "mine.comp:2:", "'x'"},
    };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        const char *text =
            arena_printf(&b->arena, "param.unroll = discrete { 1, 2 }\n%s", wrong[i][0]);
        const char *path = space_file(b, text);
        box_write(b, "mine.comp", wrong[i][1]);
        struct result r = RUN(b, "check", path, "--device", "none");
        assert_refused(&r, 1, wrong[i][2], wrong[i][3]);
        r = RUN(b, "check", path, "--device", "none", "--json");
        assert_refused(&r, 1, wrong[i][2], wrong[i][3]);
    }
    const char *path = space_file(b, "param.unroll = discrete { 1, 2 }\n" KERNEL);
    box_write(b, "mine.comp", VALID);
    assert_string_equal(text_of(check(b, path), "template"), "ok");
    struct result r = RUN(b, "check", path, "--device", "none");
    assert_contains(r.out, "template: ok");
#undef KERNEL
#undef VALID
}

// One of 20000 points is legal: the survey finds it, but drawing another would not.
static void test_the_only_candidate_is_compiled(void **state)
{
    struct box *b = *state;
    const char *path =
        space_file(b, WITH_KERNEL("local v = {}\nfor i = 1, 20000 do v[i] = i end\n"
                                  "param.a = discrete(v)\n"
                                  "constraint(\"one\", function(c) return c.a == 12345 end)"));
    box_write(b, "small.comp", "#version 450\nlayout(local_size_x = 8) in;\nvoid main() {}\n");
    assert_string_equal(text_of(check(b, path), "template"), "ok");
    box_write(b, "small.comp", "nonsense\n");
    struct result r = RUN(b, "check", path, "--device", "none");
    assert_refused(&r, 1, "small.comp:1:", NULL);
}

static void test_errors_of_space_files(void **state)
{
    struct box *b = *state;
    static const char *const wrong[][3] = {
        {"param.tile = factors(N, 0)", ":3:", "at least one part"},
        {"param.tile = factors(0, 2)", ":3:", "at least 1"},
        {"\nparam.a = discrete {}", ":4:", "empty"},
        {"param.a = discrete { 1 }\nparam.a = discrete { 2 }", ":4:", "'a'"},
        {"param.a = factor(N, 2)", ":3:", "'factors'"},
        {"x = = 1", ":3:", NULL},
        {"while true do end", ":3:", NULL},
        {"local s = (\"x\"):rep(1 << 40)", ":3:", NULL},
        {"io.open(\"/etc/passwd\")", ":3:", "'io'"},
        {"error(\"enough\")", ":3:", "enough"},
    };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        const char *path = space_file(b, wrong[i][0]);
        struct result r = RUN(b, "check", path, "--device", "none");
        const char *place = arena_printf(&b->arena, "mine.lua%s", wrong[i][1]);
        assert_refused(&r, 1, place, wrong[i][2]);
    }
    struct result r = RUN(b, "check", b->folder, "--device", "none");
    assert_refused(&r, 2, b->folder, NULL);
    r = RUN(b, "check", box_path(b, "missing.lua"), "--device", "none");
    assert_refused(&r, 2, "missing.lua", NULL);
}

// A preset that needs a feature that a device lacks names it, and how it runs all the same.
static void test_matrix_units(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "check", "gemm-coop", "--device", "none");
    assert_refused(&r, 1, "f16", "units=emulated");
    r = RUN(b, "check", "gemm-coop", "--device", "none", "--set", "units=emulated", "--set",
            "type=f32");
    assert_ok(&r);
}

TEST_GROUP(check)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_sketches),
        FLOW_TEST(test_sketches_of_all),
        FLOW_TEST(test_sizes_of_the_paper),
        FLOW_TEST(test_parameters),
        FLOW_TEST(test_name_with_a_quote),
        FLOW_TEST(test_shares),
        FLOW_TEST(test_gemm),
        FLOW_TEST(test_text),
        FLOW_TEST(test_glsl_in_json),
        FLOW_TEST(test_set),
        FLOW_TEST(test_empty_space),
        FLOW_TEST(test_empty_space_is_not_tuned),
        FLOW_TEST(test_needle_in_a_haystack),
        FLOW_TEST(test_failing_constraint),
        FLOW_TEST(test_a_candidate_is_compiled),
        FLOW_TEST(test_the_only_candidate_is_compiled),
        FLOW_TEST(test_errors_of_space_files),
        FLOW_TEST(test_matrix_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
