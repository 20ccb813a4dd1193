// Spaces whose rules leave hardly a point: check, every kind of search, and ends by patience.
#include "group.h"
#include "sessions.h"

#include "base/str.h"

#include <string.h>

#define HEAD                                                                                       \
    "operator.matmul { N = 64, M = 64, K = 64 }\n"                                                 \
    "local function upto(n) local t = {} for i = 1, n do t[i] = i end return t end\n"
#define TAIL "\nkernel { template = 'sparse.comp', groups = function(c) return { 1 } end }\n"

static const char glsl[] = "#version 450\n"
                           "layout(local_size_x = 64) in;\n"
                           "layout(binding = 0) readonly buffer InputA { float a[]; };\n"
                           "layout(binding = 1) readonly buffer InputB { float b[]; };\n"
                           "layout(binding = 2) writeonly buffer OutputC { float result[]; };\n"
                           "void main() { result[0] = a[0] + b[0]; }\n";

// 300 x 300 x 2 points, of which 2 x 13 are legal.
#define PRODUCT                                                                                    \
    "param.threads = discrete(upto(300))\nparam.registers = discrete(upto(300))\n"                 \
    "param.unroll = discrete { 1, 2 }\n"                                                           \
    "constraint('product', function(c) return c.threads * c.registers == 4096 * 3 end)\n"

// 32^7 points; tile sizes must be divided by thread shapes.
#define TILES                                                                                      \
    "for _, name in ipairs { 'mwg', 'nwg', 'kwg', 'mdimc', 'ndimc', 'mdima', 'ndimb' } do\n"       \
    "  param[name] = discrete(upto(32))\nend\n"                                                    \
    "constraint('m', function(c) return 1024 % c.mwg == 0 and c.mwg % c.mdimc == 0 end)\n"         \
    "constraint('n', function(c) return 1024 % c.nwg == 0 and c.nwg % c.ndimc == 0 end)\n"         \
    "constraint('k', function(c) return 1024 % c.kwg == 0 end)\n"                                  \
    "constraint('a', function(c) return c.mdimc * c.ndimc % c.mdima == 0 end)\n"                   \
    "constraint('b', function(c) return c.mdimc * c.ndimc % c.ndimb == 0 end)\n"                   \
    "constraint('ka', function(c) return c.kwg % (c.mdimc * c.ndimc // c.mdima) == 0 end)\n"       \
    "constraint('kb', function(c) return c.kwg % (c.mdimc * c.ndimc // c.ndimb) == 0 end)\n"       \
    "constraint('warps', function(c) return c.mdimc * c.ndimc >= 32 end)\n"

static const char *space(struct box *b, const char *name, const char *rules)
{
    box_write(b, "sparse.comp", glsl);
    return box_write(b, name, arena_printf(&b->arena, "%s%s%s", HEAD, rules, TAIL));
}

static const cJSON *check(struct box *b, const char *file)
{
    struct result r = RUN(b, "check", file, "--device", "none", "--json");
    assert_ok(&r);
    return json_of(b, r.out);
}

// Returns the last event of a run.
static const cJSON *tune(struct box *b, const char *file, const char *strategy, const char *seed,
                         const char *trials)
{
    struct result r = RUN(b, "tune", file, "--source", "synthetic:bowl", "--strategy", strategy,
                          "--seed", seed, "--trials", trials, "--json");
    cJSON **line;
    assert_true(r.code == 0 || r.code == 3); // 3: nothing was valid
    int lines = json_lines(b, r.out, &line);
    return line[lines - 1];
}

static void test_check_counts(void **state)
{
    struct box *b = *state;
    const cJSON *c = check(b, space(b, "product.lua", PRODUCT));
    const cJSON *example = member(c, "example");
    assert_string_equal(text_of(c, "legal"), "12");
    assert_true(cJSON_IsTrue(member(c, "legal_exact")));
    assert_true(number_of(example, "threads") * number_of(example, "registers") == 4096 * 3);
    double removes = number_of(cJSON_GetArrayItem(member(c, "constraints"), 0), "removes");
    assert_true(removes > 1 - 6.1 / 90000 && removes < 1 - 5.9 / 90000);
    assert_int_equal(cJSON_GetArraySize(member(c, "conflict")), 0);
    c = check(b, space(b, "tiles.lua", TILES));
    assert_true(cJSON_IsTrue(member(c, "legal_exact")));
    assert_true(atoi(text_of(c, "legal")) > 1000);
    struct result r = RUN(b, "check", space(b, "product.lua", PRODUCT), "--device", "none");
    assert_ok(&r);
    assert_contains(r.out, "12 legal points, exactly");
}

static void test_every_search_finds_legal_points(void **state)
{
    static const char *const strategies[] = {"walk",  "random", "opevo", "tpe",
                                             "local", "ga",     "grid"};
    struct box *b = *state;
    const char *const files[] = {space(b, "product.lua", PRODUCT), space(b, "tiles.lua", TILES)};
    for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++)
        for (int k = 0; k < 4; k++) {
            const cJSON *end = tune(b, files[k % 2], strategies[i], k < 2 ? "1" : "2", "12");
            assert_int_equal(number_of(end, "trials"), 12);
            assert_int_equal(number_of(end, "rejected"), 0);
        }
    const cJSON *end = tune(b, files[0], "grid", "1", "100");
    assert_int_equal(number_of(end, "trials"), 12);
    assert_string_equal(text_of(end, "ended_by"), "exhausted");
    assert_contains(text_of(end, "message"), "all 12 legal");
}

// A session that goes on proposes what it would have proposed in one run.
static void test_resume(void **state)
{
    struct box *b = *state;
    const char *file = space(b, "tiles.lua", TILES);
    tune(b, file, "walk", "5", "30");
    tune(b, file, "walk", "5", "12");
    struct result r = RUN(b, "resume", "2", "--trials", "30", "--json");
    assert_ok(&r);
    assert_string_equal(sequence(b, 1), sequence(b, 2));
}

static void test_rules_that_exclude_each_other(void **state)
{
    struct box *b = *state;
    const char *file = space(b, "empty.lua",
                             "param.a = discrete(upto(300))\nparam.b = discrete(upto(300))\n"
                             "constraint('odd', function(c) return c.a % 2 == 1 end)\n"
                             "constraint('other', function(c) return c.b > 3 end)\n"
                             "constraint('even', function(c) return c.a % 4 == 0 end)\n");
    struct result r = RUN(b, "check", file, "--device", "none", "--json");
    assert_int_equal(r.code, 3);
    assert_one_line(r.err);
    assert_contains(r.err, "'odd', 'even' exclude each other");
    const cJSON *c = json_of(b, r.out), *conflict = member(c, "conflict");
    assert_string_equal(text_of(c, "legal"), "0");
    assert_int_equal(cJSON_GetArraySize(conflict), 2);
    assert_string_equal(cJSON_GetArrayItem(conflict, 0)->valuestring, "odd");
    const cJSON *end = tune(b, file, "walk", "1", "12");
    assert_int_equal(number_of(end, "trials"), 0);
    assert_contains(text_of(end, "message"), "'odd', 'even' exclude each other");
}

// Rules that are wrong somewhere, or cost much: one line, and an end.
static void test_bad_rules(void **state)
{
    static const struct {
        const char *name, *rule, *says;
    } bad[] = {
        {"typo", "return c.a * c.b == 5040 and (c.a ~= 240 or c.bb == 1)",
         "unknown parameter 'bb'"},
        {"raises", "return c.a * c.b == 5040 and (c.a ~= 240 or error('boom'))", "boom"},
        {"nil", "if c.a * c.b == 5040 then return c.a ~= 240 or nil end return false",
         "returned nothing"},
    };
    struct box *b = *state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *file =
            space(b, "bad.lua",
                  arena_printf(&b->arena,
                               "param.a = discrete(upto(500))\nparam.b = discrete(upto(500))\n"
                               "constraint('%s', function(c) %s end)\n",
                               bad[i].name, bad[i].rule));
        struct result r = RUN(b, "check", file, "--device", "none");
        assert_refused(&r, 1, bad[i].says, bad[i].name);
        r = RUN(b, "tune", file, "--source", "synthetic:bowl", "--trials", "12");
        assert_refused(&r, 1, bad[i].says, bad[i].name);
    }
    const char *slow = space(b, "slow.lua",
                             "param.a = discrete(upto(500))\nparam.b = discrete(upto(500))\n"
                             "constraint('slow', function(c) local n = 0\n"
                             "  for i = 1, 200000 do n = n + i % 3 end\n"
                             "  return c.a * c.b == 5040 and n > 0 end)\n");
    struct result r = RUN(b, "check", slow, "--device", "none", "--json");
    assert_true(r.code == 0 || r.code == 3);
    assert_true(cJSON_IsFalse(member(json_of(b, r.out), "legal_exact")));
}

static void test_patience(void **state)
{
    struct box *b = *state;
    const char *file =
        space(b, "easy.lua", "param.a = discrete(upto(300))\nparam.b = discrete(upto(300))\n");
    struct result r = RUN(b, "tune", file, "--source", "synthetic:bowl", "--strategy", "random",
                          "--seed", "1", "--trials", "5000", "--patience", "40", "--json");
    cJSON **line;
    assert_ok(&r);
    int lines = json_lines(b, r.out, &line), trials = 0, gained = 0;
    assert_int_equal(number_of(line[0], "patience"), 40);
    for (int i = 0; i < lines; i++) {
        const char *event = text_of(line[i], "event");
        trials += strcmp(event, "trial") == 0;
        gained = strcmp(event, "best") == 0 ? trials : gained;
    }
    assert_int_equal(trials, gained + 40);
    assert_string_equal(text_of(line[lines - 1], "ended_by"), "patience");
    assert_true(is_null(line[lines - 1], "ended_by") == 0);

    // It is kept: the session is at its end, until it gets more of it.
    r = RUN(b, "resume", "1", "--json");
    assert_ok(&r);
    lines = json_lines(b, r.out, &line);
    assert_int_equal(number_of(line[lines - 1], "trials"), trials);
    r = RUN(b, "resume", "1", "--patience", "60", "--json");
    assert_ok(&r);
    lines = json_lines(b, r.out, &line);
    assert_true(number_of(line[lines - 1], "trials") >= trials + 20);
    assert_string_equal(text_of(line[lines - 1], "ended_by"), "patience");

    r = RUN(b, "tune", file, "--source", "synthetic:bowl", "--trials", "5", "--json");
    lines = json_lines(b, r.out, &line);
    assert_true(is_null(line[0], "patience"));
    assert_string_equal(text_of(line[lines - 1], "ended_by"), "trials");
    r = RUN(b, "tune", "bert-base", "--patience", "3");
    assert_refused(&r, 2, "--patience", "--only");
}

// The rules of a definition are judged when all values are chosen: constructed points may be few.
static void test_rules_of_a_definition(void **state)
{
    struct box *b = *state;
    if (!has_device())
        return;
    struct result r = RUN(b, "tune", "winograd", "--set", "N=2", "--set", "H=5", "--set", "W=7",
                          "--set", "CI=3", "--set", "CO=5", "--set", "type=f16", "--trials", "3",
                          "--strategy", "random", "--seed", "2", "--json");
    assert_ok(&r);
    assert_int_equal(count_trials(r.out), 3);
}

TEST_GROUP(sparse)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_check_counts),
        FLOW_TEST(test_every_search_finds_legal_points),
        FLOW_TEST(test_resume),
        FLOW_TEST(test_rules_that_exclude_each_other),
        FLOW_TEST(test_bad_rules),
        FLOW_TEST(test_patience),
        FLOW_TEST(test_rules_of_a_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
