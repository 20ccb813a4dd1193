// One configuration for several shapes: against each shape measured alone in whole, killed and gone
// on with, on the device, and what is refused.
#include "group.h"
#include "sessions.h"

#include "base/str.h"

#include <math.h>
#include <signal.h>
#include <string.h>

enum { SHAPES = 3, POINTS = 375 };

static const char space[] =
    "local N, M, K = size('N', 64), size('M', 64), size('K', 64)\n"
    "operator.matmul { N = N, M = M, K = K, type = 'f32' }\n"
    "param.rows = discrete { 1, 2, 4, 8, 16 }\n"
    "param.columns = discrete { 1, 2, 4, 8, 16 }\n"
    "param.threads = discrete { 8, 16, 32, 64, 128 }\n"
    "param.unroll = discrete { 1, 2, 4 }\n"
    "constraint('fits', function(c) return c.columns * c.threads <= 16 * M end)\n"
    "kernel { template = 'shapes.comp', groups = function(c) return {\n"
    "  (M + c.columns * c.threads - 1) // (c.columns * c.threads), (N + c.rows - 1) // c.rows } "
    "end }\n"
    "nest(function(c, d)\n"
    "  local y = d.loop { 'y', kind = 'block_y', length = d.ceil_div(N, c.rows) }\n"
    "  local x = d.loop { 'x', kind = 'block_x', length = d.ceil_div(M, c.columns * c.threads) }\n"
    "  local t = d.loop { 't', kind = 'thread_x', length = c.threads }\n"
    "  local k = d.loop { 'k', length = K // c.unroll }\n"
    "  local u = d.loop { 'u', kind = 'unrolled', length = c.unroll }\n"
    "  local i = d.loop { 'i', kind = 'unrolled', length = c.rows }\n"
    "  local j = d.loop { 'j', kind = 'unrolled', length = c.columns }\n"
    "  local a, b, out = d.buffer { 'a', N, K }, d.buffer { 'b', K, M }, d.buffer { 'c', N, M }\n"
    "  local sum = d.buffer { 'sum', c.rows, c.columns, memory = 'registers' }\n"
    "  local row, column = y * c.rows + i, (x * c.threads + t) * c.columns + j\n"
    "  d.statement { 'products', loops = { y, x, t, k, u, i, j }, multiply = 1, add = 1,\n"
    "    updates = sum { i, j }, reads = { a { row, k * c.unroll + u }, b { k * c.unroll + u, "
    "column } } }\n"
    "  d.statement { 'store', loops = { y, x, t, i, j }, stores = out { row, column }, reads = { "
    "sum { i, j } } }\n"
    "end)\n";

static const char shipped[] =
    "baseline { shipped = { rows = 2, columns = 2, threads = 64, unroll = 1 } }\n"
    "export('found', function(c, found)\n"
    "  local all = ''\n"
    "  for _, shape in ipairs(found.shapes) do all = all .. shape.N * shape.M .. ',' end\n"
    "  return all .. '\\n' .. found.told\n"
    "end)\n";

static const char shader[] =
    "#version 450\n"
    "layout(local_size_x = ${c.threads}) in;\n"
    "layout(std430, binding = 0) readonly buffer A { float a[]; };\n"
    "layout(std430, binding = 1) readonly buffer B { float b[]; };\n"
    "layout(std430, binding = 2) writeonly buffer C { float c[]; };\n"
    "void main()\n{\n"
    "  for (uint i = 0; i < ${c.rows}; i++)\n"
    "    for (uint j = 0; j < ${c.columns}; j++) {\n"
    "      uint row = gl_WorkGroupID.y * ${c.rows} + i, column = gl_GlobalInvocationID.x * "
    "${c.columns} + j;\n"
    "      if (row >= ${N} || column >= ${M}) continue;\n"
    "      float sum = 0.0;\n"
    "      for (uint k = 0; k < ${K}; k++) sum += a[row * ${K} + k] * b[k * ${M} + column];\n"
    "      c[row * ${M} + column] = sum;\n"
    "    }\n}\n";

// The first is loved by small tiles; weights are 1, 2, 1.
static const char *const size[SHAPES] = {"N=64,M=32,K=64", "N=512,M=256,K=128,weight=2",
                                         "N=8,M=1024,K=256"};
static const char *const alone[SHAPES][3] = {
    {"N=64", "M=32", "K=64"}, {"N=512", "M=256", "K=128"}, {"N=8", "M=1024", "K=256"}};
static const double weight[SHAPES] = {1, 2, 1};

#define MACHINE  "--source", "synthetic:machine", "--seed", "7"
#define TOGETHER "--shape", size[0], "--shape", size[1], "--shape", size[2]
#define ALL      "--strategy", "grid", "--trials", "1000"

static const char *write_space(struct box *b)
{
    box_write(b, "shapes.comp", shader);
    return box_write(b, "shapes.lua", arena_printf(&b->arena, "%s%s", space, shipped));
}

static cJSON *shown(struct box *b, const char *id)
{
    struct result r = RUN(b, "show", id, "--json", "--trials");
    assert_ok(&r);
    return json_of(b, r.out);
}

struct truth {
    int count;
    char *config[POINTS];
    double ms[POINTS][SHAPES]; // 0: not legal there
    double shipped_ms[SHAPES];
};

static int place_of(struct truth *t, char *config)
{
    for (int i = 0; i < t->count; i++)
        if (strcmp(t->config[i], config) == 0)
            return i;
    assert_true(t->count < POINTS);
    t->config[t->count] = config;
    return t->count++;
}

// Each shape alone, all of it.
static void measure_alone(struct box *b, struct truth *t)
{
    *t = (struct truth){0};
    for (int i = 0; i < SHAPES; i++) {
        struct result r = RUN(b, "tune", box_path(b, "shapes.lua"), MACHINE, ALL, "--set",
                              alone[i][0], "--set", alone[i][1], "--set", alone[i][2]);
        assert_ok(&r);
        const cJSON *one = shown(b, arena_printf(&b->arena, "%d", i + 1)), *trial;
        t->shipped_ms[i] = number_of(cJSON_GetArrayItem(member(one, "baselines"), 0), "ms");
        cJSON_ArrayForEach(trial, member(one, "trials"))
        {
            char *config = cJSON_PrintUnformatted(member(trial, "config"));
            t->ms[place_of(t, arena_strdup(&b->arena, config))][i] = number_of(trial, "ms");
            cJSON_free(config);
        }
    }
}

static double goal(const struct truth *t, int i, bool by_worst)
{
    double all = 0, worst = 0, in_use = 0;
    for (int k = 0; k < SHAPES; k++) {
        if (t->ms[i][k] <= 0)
            return INFINITY;
        all += weight[k] * t->ms[i][k];
        in_use += weight[k] * t->shipped_ms[k];
        worst = fmax(worst, t->ms[i][k] / t->shipped_ms[k]);
    }
    return by_worst ? worst * in_use : all;
}

static int best_of(const struct truth *t, bool by_worst)
{
    int best = 0;
    for (int i = 1; i < t->count; i++)
        if (goal(t, i, by_worst) < goal(t, best, by_worst))
            best = i;
    return best;
}

static void check_rows(const struct truth *t, const cJSON *one, int best)
{
    int worst = 0;
    const cJSON *rows = member(one, "shapes");
    assert_int_equal(cJSON_GetArraySize(rows), SHAPES);
    for (int k = 0; k < SHAPES; k++) {
        const cJSON *row = cJSON_GetArrayItem(rows, k);
        assert_true(fabs(number_of(row, "ms") / t->ms[best][k] - 1) < 1e-6);
        assert_true(fabs(number_of(row, "baseline_ms") / t->shipped_ms[k] - 1) < 1e-6);
        assert_true(number_of(row, "weight") == weight[k]);
        if (t->ms[best][k] / t->shipped_ms[k] > t->ms[best][worst] / t->shipped_ms[worst])
            worst = k;
    }
    for (int k = 0; k < SHAPES; k++)
        assert_int_equal(cJSON_IsTrue(member(cJSON_GetArrayItem(rows, k), "worst")), k == worst);
}

// The result is the best there is, with fewer measurements than all of them.
static void test_against_all(void **state)
{
    struct box *b = *state;
    static struct truth truth;
    write_space(b);
    measure_alone(b, &truth);
    for (int by_worst = 0; by_worst < 2; by_worst++) {
        int runs = 0, configurations = 0, all = 0, best = best_of(&truth, by_worst);
        struct result r = RUN(b, "tune", box_path(b, "shapes.lua"), MACHINE, ALL, TOGETHER, "--by",
                              by_worst ? "worst" : "time");
        assert_ok(&r);
        assert_contains(r.out, "worst: ");
        const char *told = strstr(r.err, "shapes: ");
        assert_non_null(told);
        assert_int_equal(sscanf(told,
                                "shapes: %d measurements of %d configurations said which is the "
                                "best, all on all shapes are %d",
                                &runs, &configurations, &all),
                         3);
        assert_int_equal(all, SHAPES * configurations);
        assert_true(runs < all * 2 / 3);
        const cJSON *one = shown(b, by_worst ? "5" : "4");
        const cJSON *found = member(member(one, "session"), "best");
        char *config = cJSON_PrintUnformatted(member(found, "config"));
        assert_string_equal(config, truth.config[best]);
        cJSON_free(config);
        assert_true(fabs(number_of(found, "ms") / goal(&truth, best, by_worst) - 1) < 1e-6);
        check_rows(&truth, one, best);
        r = RUN(b, "export", by_worst ? "5" : "4", "--as", "found", "--anyway");
        assert_ok(&r);
        assert_true(str_starts(r.out, "2048,131072,8192,\n"));
        assert_contains(r.out, "\n| N=512 M=256 K=128 | shipped | ");
        assert_contains(r.out, "worst) |\n");
    }
}

// It continues as it would have, also with the measurements that it had learnt from.
static void test_killed(void **state)
{
    struct box *b = *state;
    const char *file = write_space(b);
    struct result r = RUN(b, "tune", file, MACHINE, TOGETHER, "--trials", "60");
    assert_ok(&r);
    box_set(b, "TILEWALK_KILL", "told:25");
    r = RUN(b, "tune", file, MACHINE, TOGETHER, "--trials", "60");
    assert_int_equal(r.code, 128 + SIGKILL);
    box_set(b, "TILEWALK_KILL", NULL);
    r = RUN(b, "resume", "2");
    assert_ok(&r);
    assert_string_equal(sequence(b, 1), sequence(b, 2));
    assert_int_equal(count_rows(b, "trial AS a JOIN trial AS b USING (ask)",
                                "a.session < b.session AND a.parts IS NOT b.parts"),
                     0);
    assert_true(count_rows(b, "trial", "early_stopped AND instr(parts, 'null')") > 0);
    r = RUN(b, "tune", "--like", "1", "--seed", "7");
    assert_ok(&r);
    assert_string_equal(sequence(b, 1), sequence(b, 3));
}

static void test_refused(void **state)
{
    struct box *b = *state;
    write_space(b);
    copy_small(b);
    const char *file = box_path(b, "shapes.lua"), *small = box_path(b, "small.lua");
    box_write(b, "bare.lua", space);
    struct result r = RUN(b, "tune", file, MACHINE, "--shape", "N=8");
    assert_refused(&r, 2, "--shape", " 1 ");
    r = RUN(b, "tune", file, MACHINE, "--by", "worst");
    assert_refused(&r, 2, "for several shapes", "--by");
    r = RUN(b, "tune", file, MACHINE, "--shape", "N=8", "--shape", "M=8");
    assert_refused(&r, 2, "--shape M=8", " N=8");
    r = RUN(b, "tune", file, MACHINE, "--shape", "N=8,weight=0", "--shape", "N=16");
    assert_refused(&r, 2, "a weight is a number above 0", "--shape N=8,weight=0");
    r = RUN(b, "tune", file, MACHINE, "--shape", "N=8,M", "--shape", "N=16");
    assert_refused(&r, 2, "'M' is no NAME=VALUE", "--shape N=8,M");
    r = RUN(b, "tune", file, MACHINE, "--shape", "N=8", "--shape", "N=x");
    assert_refused(&r, 2, "N=x: ", "--shape N=x");
    r = RUN(b, "tune", small, "--source", "synthetic:rugged", "--shape", "N=64", "--shape",
            "N=128");
    assert_int_equal(r.code, 1);
    assert_one_line(r.err);
    assert_contains(r.err, "N=128: ");
    assert_contains(r.err, "'tile'");
    r = RUN(b, "tune", box_path(b, "bare.lua"), MACHINE, "--shape", "N=8", "--shape", "N=16",
            "--by", "worst");
    assert_refused(&r, 2, "'bare'", "--by worst");
}

static const char *device_word(const cJSON *session, const char *name, struct box *b)
{
    const char *text = text_of(session, name);
    bool vendor = strcmp(name, "driver") == 0;
    return arena_printf(&b->arena, "%.*s", (int)(vendor ? strcspn(text, ",") : strlen(text)), text);
}

// Rows are by vendor, device, driver, space and class: each shape has the one configuration, and
// its ratio.
static void check_tuned(struct box *b, const cJSON *one)
{
    static const char *const classes[SHAPES] = {"N<=64 M<=32 K<=64", "N<=512 M<=256 K<=128",
                                                "N<=8 M<=1024 K<=256"};
    const cJSON *session = member(one, "session");
    struct result r =
        RUN(b, "export", "1", "--as", "tuned", "--anyway", "--out", box_path(b, "tuned.json"));
    assert_ok(&r);
    const cJSON *tree = json_of(b, box_read(b, box_path(b, "tuned.json")));
    tree = member(member(tree, "tuned"), device_word(session, "driver", b));
    tree = member(member(tree, text_of(session, "device")), text_of(session, "driver"));
    tree = member(tree, "shapes");
    assert_int_equal(cJSON_GetArraySize(tree), SHAPES);
    for (int i = 0; i < SHAPES; i++) {
        const cJSON *list = member(tree, classes[i]), *entry = cJSON_GetArrayItem(list, 0);
        const cJSON *row = cJSON_GetArrayItem(member(one, "shapes"), i);
        assert_int_equal(cJSON_GetArraySize(list), 1);
        assert_true(cJSON_Compare(member(entry, "configuration"),
                                  member(member(session, "best"), "config"), true));
        assert_true(fabs(number_of(entry, "ratio") / number_of(row, "ratio") - 1) < 1e-6);
        assert_string_equal(text_of(entry, "baseline"), "shipped");
    }
    r = RUN(b, "tune", box_path(b, "shapes.lua"), MACHINE, "--trials", "3");
    assert_ok(&r);
    r = RUN(b, "export", "1", "2", "--as", "tuned", "--anyway", "--out", box_path(b, "more.json"));
    assert_refused(&r, 1, "session 2", NULL);
}

static void check_card(struct box *b)
{
    struct result r = RUN(b, "card", "1", "--out", box_path(b, "cards"), "--json", "--anyway");
    assert_ok(&r);
    const cJSON *files = member(json_of(b, r.out), "files");
    const char *page = box_read(b, cJSON_GetArrayItem(files, 2)->valuestring);
    assert_contains(page, "'shipped', ");
    assert_contains(page, "| N=8 M=1024 K=256 | shipped | ");
    assert_contains(page, "worst) |\n");
    assert_contains(page, "N=512,M=256,K=128,weight=2");
}

// A baseline that one shape forbids is measured on the others, and check says so before.
static void test_forbidden_on_one(void **state)
{
    struct box *b = *state;
    const cJSON *row;
    int i = 0;
    box_write(b, "shapes.comp", shader);
    const char *file = box_write(
        b, "shapes.lua",
        arena_printf(&b->arena, "%s%s", space,
                     "baseline { wide = { rows = 1, columns = 16, threads = 64, unroll = 1 } }\n"));
    struct result r = RUN(b, "check", file, "--device", "none", TOGETHER);
    assert_ok(&r);
    assert_contains(r.out, "'fits'");
    assert_contains(r.out, "may run");
    r = RUN(b, "tune", file, MACHINE, TOGETHER, "--trials", "3");
    assert_ok(&r);
    cJSON_ArrayForEach(row, member(shown(b, "1"), "shapes"))
    {
        bool is_forbidden = i++ == 0;
        assert_int_equal(cJSON_IsNull(member(row, "baseline")), is_forbidden);
        assert_int_equal(cJSON_IsNumber(member(row, "baseline_ms")), !is_forbidden);
        assert_int_equal(cJSON_IsNumber(member(row, "ratio")), !is_forbidden);
    }
}

// On the device: verified on every shape, raced, each shape's ratio of one race.
static void test_on_device(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", write_space(b), TOGETHER, "--trials", "4", "--seed", "1");
    assert_ok(&r);
    const cJSON *one = shown(b, "1"), *row;
    assert_true(cJSON_IsTrue(member(member(one, "session"), "best_raced")));
    const cJSON *in_use = cJSON_GetArrayItem(member(one, "baselines"), 0);
    assert_true(number_of(in_use, "ratio_low") <= number_of(in_use, "ratio"));
    double all = 0;
    int i = 0;
    cJSON_ArrayForEach(row, member(one, "shapes"))
    {
        all += weight[i++] * number_of(row, "ms");
        assert_true(number_of(row, "ratio") > 0);
        assert_true(number_of(row, "ratio_low") <= number_of(row, "ratio"));
        assert_true(number_of(row, "ratio_high") >= number_of(row, "ratio"));
    }
    const cJSON *session = member(one, "session");
    double best_ms = number_of(session, "flop") / number_of(session, "best_tflops") / 1e9;
    assert_true(fabs(all / best_ms - 1) < 1e-6);
    assert_int_equal(count_rows(b, "retime", "verified AND instr(parts, 'null')"), 0);
    assert_true(count_rows(b, "retime", "verified") > 0);
    check_tuned(b, one);
    check_card(b);
}

TEST_GROUP(shapes)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_against_all),
        FLOW_TEST(test_killed),
        FLOW_TEST(test_refused),
        FLOW_TEST(test_forbidden_on_one),
    };
    const struct CMUnitTest on_device[] = {FLOW_TEST(test_on_device)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed || !has_device() ? failed : cmocka_run_group_tests(on_device, NULL, NULL);
}
