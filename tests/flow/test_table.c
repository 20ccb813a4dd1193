// Exports of one file: the landscape as CSV, tables of kernels over many shapes, and lookups in
// them.
#include "group.h"
#include "sessions.h"

#include "base/file.h"
#include "base/str.h"

#include <string.h>

static void make_synthetic(struct box *b)
{
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--source",
                          "synthetic:rugged:invalid=0.2", "--trials", "12", "--seed", "5");
    assert_ok(&r);
}

// --- the landscape ---

static void test_wrong_words(void **state)
{
    struct box *b = *state;
    const char *path = box_path(b, "x");
    make_synthetic(b);
    struct result r = RUN(b, "export", "1", "--as", "tuned", "--as", "table", "--out", path);
    assert_refused(&r, 2, "--as tuned", "--as table");
    r = RUN(b, "export", "1", "--as", "tuned", "--out", path, "--verify");
    assert_refused(&r, 2, "--as tuned", "--verify");
    r = RUN(b, "export", "1", "--as", "table", "--out", path, "--best", "3");
    assert_refused(&r, 2, "--as table", "--best");
    r = RUN(b, "export", "1", "--as", "words", "--out", path);
    assert_refused(&r, 2, "--as words", "--out");
    r = RUN(b, "export", "1", "1");
    assert_refused(&r, 2, "'1'", "--as table");
    r = RUN(b, "export", "9", "--as", "tuned", "--out", path);
    assert_refused(&r, 1, "session 9", NULL);
    assert_false(file_exists(path));
}

// --- forms ---

static void test_form(void **state)
{
    struct box *b = *state;
    const char *space = arena_printf(
        &b->arena,
        "%s\nexport('words', function(c)\n"
        "  if c.unroll > 0 then return nil, 'it is unrolled' end return 'stage ' .. c.stage end)\n",
        box_read(b, flow_path(b, "small.lua")));
    box_write(b, "small.comp", box_read(b, flow_path(b, "small.comp")));
    struct result r = RUN(b, "tune", box_write(b, "words.lua", space), "--source", "synthetic:bowl",
                          "--trials", "50", "--strategy", "random", "--seed", "3");
    assert_ok(&r);
    r = RUN(b, "export", "1", "--as", "words", "--best", "50", "--json");
    assert_ok(&r);
    const cJSON *form = json_of(b, r.out), *kernel;
    assert_string_equal(text_of(form, "form"), "words");
    int made = 0, refused = 0;
    cJSON_ArrayForEach(kernel, member(form, "kernels"))
    {
        made += !is_null(kernel, "text");
        refused += !is_null(kernel, "why_not");
    }
    assert_true(made > 0 && refused > 0);
    r = RUN(b, "export", "1", "--as", "words", "--best", "50");
    assert_ok(&r);
    assert_contains(r.out, "stage none");
    assert_contains(r.out, " has no such form: it is unrolled\n");
    r = RUN(b, "export", "1", "--as", "word");
    assert_refused(&r, 1, "'word'", "words");
    make_synthetic(b);
    r = RUN(b, "export", "2", "--as", "words");
    assert_refused(&r, 1, "small.lua", "'words'");
}

static void test_no_form(void **state)
{
    struct box *b = *state;
    const char *space =
        arena_printf(&b->arena, "%s\nexport('odd', function(c) return nil, 'it is even' end)\n",
                     box_read(b, flow_path(b, "small.lua")));
    box_write(b, "small.comp", box_read(b, flow_path(b, "small.comp")));
    struct result r = RUN(b, "tune", box_write(b, "even.lua", space), "--source", "synthetic:bowl",
                          "--trials", "5");
    assert_ok(&r);
    r = RUN(b, "export", "1", "--as", "odd");
    assert_refused(&r, 1, "'odd'", "(--best N");
    r = RUN(b, "export", "1", "--as", "odd", "--best", "3");
    assert_refused(&r, 1, "'odd'", "even");
}

// --- portfolios ---

static const char shapes_lua[] =
    "local N, M = size('N', 64), size('M', 64)\n"
    "operator.matmul { N = N, M = M, K = 64, type = 'f32' }\n"
    "param.rows = discrete { 1, 2, 4, 8 }\n"
    "param.unroll = discrete { 0, 16, 64, 256 }\n"
    "resources(function(c) return { invocations = { 64, c.rows }, groups = { 1, 1 } } end)\n"
    "kernel { template = 'small.comp' }\n"
    "baseline { usual = { rows = 2, unroll = 0 } }\n";

static const cJSON *portfolio(const cJSON *all, int i)
{
    return cJSON_GetArrayItem(member(all, "portfolios"), i);
}

// Two kinds of shapes, which N tells apart: each of both has a best of its own.
static void test_portfolio(void **state)
{
    struct box *b = *state;
    static const char *const sizes[] = {"N=64", "N=128", "N=512"};
    const char *file = box_write(b, "shapes.lua", shapes_lua);
    box_write(b, "small.comp", box_read(b, flow_path(b, "small.comp")));
    for (int i = 0; i < 3; i++) {
        struct result r = RUN(b, "tune", file, "--set", sizes[i], "--source",
                              i < 2 ? "synthetic:rugged:seed=1" : "synthetic:rugged:seed=2",
                              "--strategy", "grid", "--trials", "16", "--seed", "1");
        assert_ok(&r);
    }
    struct result r = RUN(b, "portfolio", "1", "2", "3", "--json");
    assert_ok(&r);
    const cJSON *all = json_of(b, r.out), *two = portfolio(all, 1), *rule = member(two, "rule");
    assert_true(number_of(portfolio(all, 0), "loss") > number_of(two, "loss"));
    assert_int_equal(number_of(two, "configurations"), 2);
    assert_int_equal(cJSON_GetArraySize(member(all, "portfolios")), 2); // a third is no better
    assert_string_equal(text_of(rule, "size"), "N");
    assert_true(number_of(rule, "most") == 128);
    assert_true(number_of(cJSON_GetArrayItem(member(two, "shapes"), 2), "ratio") > 0);
    r = RUN(b, "portfolio", "1", "3", "--weight", "2=4");
    assert_refused(&r, 2, "--weight 2=4: ", NULL);
    make_synthetic(b);
    r = RUN(b, "portfolio", "1", "4");
    assert_refused(&r, 1, "sessions 1 and 4 ", "spaces");
}

// --- tables ---

static void test_only_measured(void **state)
{
    struct box *b = *state;
    make_synthetic(b);
    struct result r = RUN(b, "export", "1", "--as", "table", "--out", box_path(b, "t.json"));
    assert_refused(&r, 1, "session 1", "synthetic");
    assert_false(file_exists(box_path(b, "t.json")));
    box_write(b, "other.json", "{\"a\": 1}\n");
    r = RUN(b, "export", "1", "--as", "table", "--out", box_path(b, "other.json"));
    assert_refused(&r, 1, "other.json:1", "export --as table");
    assert_string_equal(box_read(b, box_path(b, "other.json")), "{\"a\": 1}\n");
}

// A table that a program or a person may have written.
#define TABLE                                                                                      \
    "{\"format\": \"tilewalk-table\", \"version\": 1, \"entries\": [\n"                            \
    "{\"title\": \"matmul f32 nn 64x64x64\", \"space\": \"gemm\", \"device\": \"Card 1\",\n"       \
    " \"device_type\": \"discrete\", \"driver\": \"Maker, 1\", \"device_identity\": \"c1\",\n"     \
    " \"settings\": {\"N\":64,\"layout\":\"nn\"},\n"                                               \
    " \"problem\": {\"kind\":\"matmul\",\"N\":64,\"M\":64,\"K\":64,\"type\":\"f32\",\"layout\":"   \
    "\"nn\"},\n \"configuration\": {\"pad\":1}, \"timing\": {\"ms\": 1, \"tflops\": 0.5}},\n"      \
    "{\"title\": \"matmul f32 nn 512x64x64\", \"space\": \"mine\", \"device\": \"Card 2\",\n"      \
    " \"device_type\": \"discrete\", \"driver\": \"Other, 1\", \"device_identity\": \"c2\",\n"     \
    " \"problem\": {\"kind\":\"matmul\",\"N\":512,\"M\":64,\"K\":64,\"type\":\"f32\",\"layout\":"  \
    "\"nn\"},\n \"configuration\": {\"pad\":2}, \"timing\": {\"ms\": 1, \"tflops\": 0.25}}]}\n"

#define WANTED "matmul", "--set", "N=128", "--set", "M=64", "--set", "K=64"

static void test_lookup(void **state)
{
    struct box *b = *state;
    const char *path = box_write(b, "t.json", TABLE);
    struct result r = RUN(b, "lookup", path, WANTED, "--device", "none");
    assert_ok(&r);
    assert_contains(r.out, " Card 1\n");
    assert_contains(r.out, "distance 1 ");
    assert_contains(r.out, "pad=1\n");
    struct result json = RUN(b, "lookup", path, WANTED, "--device", "none", "--json");
    const char *command = text_of(json_of(b, json.out), "tune");
    assert_contains(r.out, arena_printf(&b->arena, "%s\n", command));
    assert_contains(command, " gemm ");
    static const char *const sizes[] = {"N=128", "M=64", "K=64", "layout=nn"};
    for (int i = 0; i < 4; i++)
        assert_contains(command, sizes[i]);
    r = RUN(b, "lookup", path, WANTED, "--device", "card 2");
    assert_ok(&r);
    assert_contains(r.out, " Card 2\n");
    assert_contains(r.out, "distance 2");
    // No preset has that name.
    assert_contains(r.out, "mine.lua --set");
    r = RUN(b, "lookup", path, WANTED, "--device", "card 2", "--json");
    assert_ok(&r);
    const cJSON *found = json_of(b, r.out);
    assert_string_equal(text_of(found, "like"), "same");
    assert_true(number_of(found, "distance") == 2);
    assert_true(number_of(found, "expected_tflops") == 0.25);
    double flop = 2.0 * 128 * 64 * 64;
    assert_true(number_of(found, "expected_ms") == flop / 0.25e12 * 1e3);
    assert_int_equal(number_of(member(member(found, "entry"), "configuration"), "pad"), 2);
    assert_int_equal(number_of(member(found, "problem"), "N"), 128);
}

static void test_nothing_found(void **state)
{
    struct box *b = *state;
    const char *path = box_write(b, "t.json", TABLE);
    struct result r = RUN(b, "lookup", path, WANTED, "--set", "layout=nt");
    assert_refused(&r, 1, "128x64x64", "2 kernels");
    r = RUN(b, "lookup", path, WANTED, "--set", "layout=rows");
    assert_refused(&r, 2, "'rows'", NULL);
    r = RUN(b, "lookup", path, WANTED, "--set", "L=3");
    assert_refused(&r, 2, "'L'", NULL);
    r = RUN(b, "lookup", path, WANTED, "--set", "N=-3");
    assert_refused(&r, 2, "N=-3", "whole number");
    r = RUN(b, "lookup", path, "matmul", "--set", "N=128");
    assert_refused(&r, 2, "size M", NULL);
    r = RUN(b, "lookup", path, "matmulk");
    assert_refused(&r, 2, "'matmulk'", "'matmul'");
    r = RUN(b, "lookup", path, WANTED, "--device", "card 7");
    assert_refused(&r, 2, "card 7", "t.json");
    r = RUN(b, "lookup", box_path(b, "none.json"), WANTED);
    assert_refused(&r, 1, "none.json", NULL);
    r = RUN(b, "lookup", box_path(b, "none.json"), "matmul"); // the file comes first
    assert_refused(&r, 1, "none.json", NULL);
}

static struct result tune(struct box *b, const char *size)
{
    return RUN(b, "tune", flow_path(b, "small.lua"), "--set", size, "--trials", "3", "--seed", "1");
}

// The way from sessions to a kernel that is found again.
static void test_measured(void **state)
{
    struct box *b = *state;
    const char *path = box_path(b, "t.json");
    struct result r = tune(b, "N=32");
    assert_ok(&r);
    r = tune(b, "N=96");
    assert_ok(&r);
    r = RUN(b, "export", "1", "2", "--as", "table", "--out", path);
    assert_ok(&r);
    assert_contains(r.out, "t.json: 2 kernels (2 added)\n");
    r = RUN(b, "export", "2", "--as", "table", "--out", path);
    assert_ok(&r);
    assert_contains(r.out, "(1 kept, ");
    const cJSON *entries = member(json_of(b, box_read(b, path)), "entries");
    assert_int_equal(cJSON_GetArraySize(entries), 2);
    r = RUN(b, "lookup", path, "matmul", "--set", "N=90", "--set", "M=64", "--set", "K=64",
            "--json");
    assert_ok(&r);
    const cJSON *found = json_of(b, r.out), *entry = member(found, "entry");
    assert_string_equal(text_of(found, "like"), "same");
    assert_true(cJSON_Compare(entry, cJSON_GetArrayItem(entries, 1), true));
    assert_int_equal(number_of(entry, "session"), 2);
    // The words of the kernel are those of the file.
    r = RUN(b, "export", "2", "--out", b->folder, "--name", "k");
    assert_ok(&r);
    struct err e;
    char *bytes;
    size_t length;
    assert_true(file_read(box_path(b, "k.spv"), &bytes, &length, &e));
    struct str words = {0};
    str_add_base64(&words, bytes, length);
    assert_string_equal(text_of(cJSON_GetArrayItem(member(entry, "passes"), 0), "spirv_base64"),
                        str_text(&words));
    str_finish(&words);
    free(bytes);
}

TEST_GROUP(table)
{
    const struct CMUnitTest anywhere[] = {
        FLOW_TEST(test_form),          FLOW_TEST(test_no_form),       FLOW_TEST(test_portfolio),
        FLOW_TEST(test_wrong_words),   FLOW_TEST(test_only_measured), FLOW_TEST(test_lookup),
        FLOW_TEST(test_nothing_found),
    };
    const struct CMUnitTest on_device[] = {FLOW_TEST(test_measured)};
    int failed = cmocka_run_group_tests(anywhere, NULL, NULL);
    if (has_device())
        failed += cmocka_run_group_tests(on_device, NULL, NULL);
    return failed;
}
