// Speeds of sessions on recordings: in FLOP/s where the FLOP are known, else as shares.
#include "group.h"
#include "sessions.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

static const char recorded[] =
    "{\"format\":\"tilewalk-recording\",\"version\":1,\"kernel\":\"k\",\"device\":\"Toaster 9\","
    "\"unit\":\"s\",\"params\":[{\"name\":\"x\",\"kind\":\"discrete\",\"values\":[1,2,4]}],"
    "\"entries\":[{\"config\":[1],\"outcome\":\"ok\",\"seconds\":0.002},"
    "{\"config\":[2],\"outcome\":\"ok\",\"seconds\":0.001},{\"config\":[4],\"outcome\":\"crash\"}]"
    "}";

static const char *source_of(struct box *b, const char *path)
{
    return arena_printf(&b->arena, "replay:%s", path);
}

// Unknown FLOP are not invented: speeds are shares of the fastest.
static void test_unknown_flop(void **state)
{
    struct box *b = *state;
    const char *path = box_write(b, "one.json", recorded), *source = source_of(b, path);
    struct result r = RUN(b, "tune", "--source", source, "--strategy", "random", "--trials", "200",
                          "--seed", "3", "--plain");
    assert_ok(&r);
    assert_contains(r.out, "best    100.0 %  1 ms");
    assert_string_equal(text_of(listed_session(b, 1), "speed_unit"), "fastest");
    struct result all[] = {r, RUN(b, "ls"), RUN(b, "show", "1", "--top", "3"),
                           RUN(b, "compare", "1"), RUN(b, "plot", "1", "--plain")};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        assert_ok(&all[i]);
        assert_contains(all[i].out, "100.0 %");
        assert_null(strstr(all[i].out, "FLOPS"));
    }
    r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl", "--trials", "3");
    assert_ok(&r);
    r = RUN(b, "plot", "1", "2", "--plain");
    assert_int_equal(r.code, 1);
    assert_contains(r.err, "sessions 1 and 2 have no common unit");
}

// Exports for other programs can be read by this program too.
static void test_export_for_others(void **state)
{
    static const char *const formats[] = {"kernel-tuner", "t4"};
    struct box *b = *state;
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--source",
                          "synthetic:bowl:invalid=0.2", "--trials", "40", "--seed", "3");
    assert_ok(&r);
    const cJSON *session = listed_session(b, 1);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const char *file = arena_printf(&b->arena, "%s/%s.json", b->folder, formats[i]);
        r = RUN(b, "export", "1", "--as", formats[i], "--name", formats[i], "--out", b->folder);
        assert_ok(&r);
        r = RUN(b, "import", file, "--json");
        assert_ok(&r);
        const cJSON *read = json_of(b, r.out);
        assert_string_equal(text_of(read, "format"), formats[i]);
        assert_true(number_of(read, "recorded") == number_of(session, "trials"));
        assert_true(number_of(read, "valid") == number_of(session, "ok"));
    }
}

// Our own recordings know them.
static void test_known_flop(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl",
                          "--trials", "9", "--seed", "5");
    assert_ok(&r);
    r = RUN(b, "export", "1", "--as", "recording", "--out", b->folder, "--name", "own");
    assert_ok(&r);
    r = RUN(b, "import", box_path(b, "own.json"), "--out", box_path(b, "again.json"));
    assert_ok(&r);
    r = RUN(b, "tune", "--source", source_of(b, box_path(b, "again.json")), "--strategy", "random",
            "--trials", "9", "--plain");
    assert_ok(&r);
    assert_contains(r.out, "GFLOPS");
    const cJSON *first = listed_session(b, 1), *second = listed_session(b, 2);
    assert_string_equal(text_of(second, "speed_unit"), "TFLOPS");
    assert_true(number_of(first, "flop") == number_of(second, "flop"));
    assert_true(number_of(first, "best_tflops") == number_of(second, "best_tflops"));
    box_write(b, "bad.json",
              "{\"format\":\"tilewalk-recording\",\"version\":1,\"flop\":0,"
              "\n\"params\":[],\"entries\":[]}");
    r = RUN(b, "import", box_path(b, "bad.json"));
    assert_int_equal(r.code, 1);
    assert_one_line(r.err);
    assert_contains(r.err, "bad.json:1: flop ");
}

// Operations that move bytes are rated by them, everywhere; tflops stay the same.
static void test_bytes(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", "copy", "--set", "rows=64", "--set", "columns=32", "--source",
                          "synthetic:bowl", "--trials", "20", "--seed", "1", "--plain");
    assert_ok(&r);
    struct result all[] = {r,
                           RUN(b, "ls"),
                           RUN(b, "show", "1", "--top", "3"),
                           RUN(b, "compare", "1"),
                           RUN(b, "plot", "1", "--plain"),
                           RUN(b, "show", "1", "--trial", "1")};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        assert_ok(&all[i]);
        assert_contains(all[i].out, "B/s");
        assert_null(strstr(all[i].out, "FLOPS"));
    }
    const cJSON *session = listed_session(b, 1);
    assert_string_equal(text_of(session, "rate_unit"), "GB/s");
    double bytes = 2 * 64 * 32 * 4,
           seconds = number_of(session, "flop") / 1e12 / number_of(session, "best_tflops");
    assert_float_equal(number_of(session, "best_rate"), bytes / seconds / 1e9, 1e-6);
    r = RUN(b, "show", "1", "--json", "--trials");
    const cJSON *trial = cJSON_GetArrayItem(member(json_of(b, r.out), "trials"), 0);
    assert_float_equal(number_of(trial, "rate"), bytes / number_of(trial, "ms") / 1e6, 1e-6);
    r = RUN(b, "show", "1", "--csv");
    assert_contains(r.out, ",race_seconds,GB/s\r\n");
    r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl", "--trials", "3");
    assert_ok(&r);
    r = RUN(b, "show", "2", "--csv");
    assert_contains(r.out, ",race_seconds\r\n");
    r = RUN(b, "plot", "1", "2", "--plain");
    assert_refused(&r, 1, "GB/s, TFLOPS", NULL);
}

// The work that a space file declares rates them too.
static void test_own_unit(void **state)
{
    struct box *b = *state;
    box_write(b, "t.comp", "#version 450\nvoid main() {}\n");
    const char *space =
        box_write(b, "own.lua",
                  "operator.define { name = \"heat\", rate = { 1000, \"cells/s\" "
                  "}, inputs = { { \"X\", 8 } },\n"
                  "  output = { \"Y\", 8 }, reference = { { \"copy\", \"X\", "
                  "\"Y\", rows = 1, columns = 8 } } }\n"
                  "param.x = discrete { 1, 2, 4, 8 }\n"
                  "kernel { template = \"t.comp\", groups = function() return { 1 } end }\n");
    struct result r =
        RUN(b, "tune", space, "--source", "synthetic:bowl", "--trials", "4", "--plain");
    assert_ok(&r);
    assert_contains(r.out, " cells/s");
    assert_string_equal(text_of(listed_session(b, 1), "rate_unit"), "cells/s");
}

// On a synthetic device whose power is made up: the fewest joules are not those of the fastest, and
// the front has both.
static void test_energy(void **state)
{
    static const char *const objectives[] = {"time", "energy", "edp"};
    static const char *const units[] = {"TFLOPS", "J", "J s"};
    struct box *b = *state;
    double best[3];
    for (int i = 0; i < 3; i++) {
        struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--source",
                              "synthetic:rugged:power=1", "--objective", objectives[i],
                              "--strategy", "random", "--seed", "1", "--trials", "300", "--json");
        assert_ok(&r);
        cJSON *listed = listed_session(b, i + 1);
        assert_string_equal(text_of(listed, "objective"), objectives[i]);
        assert_string_equal(text_of(listed, "rate_unit"), units[i]);
        best[i] = number_of(listed, "best_rate");
    }
    cJSON *front[3];
    for (int i = 0; i < 3; i++) {
        char id[8];
        snprintf(id, sizeof id, "%d", i + 1);
        front[i] = member(json_of(b, RUN(b, "show", id, "--pareto", "--json").out), "pareto");
        // The searches draw the same configurations, whatever is sought.
        assert_int_equal(cJSON_GetArraySize(front[i]), cJSON_GetArraySize(front[0]));
    }
    int count = cJSON_GetArraySize(front[0]);
    assert_true(count > 1);
    cJSON *last = cJSON_GetArrayItem(front[0], count - 1), *point;
    double least = INFINITY;
    cJSON_ArrayForEach(point, front[2]) least =
        fmin(least, number_of(point, "joules") * number_of(point, "ms") / 1e3);
    assert_float_equal(best[1], number_of(last, "joules"), 1e-9 * best[1]);
    assert_float_equal(best[2], least, 1e-9 * best[2]);
    struct result r = RUN(b, "compare", "1", "2");
    assert_refused(&r, 1, "objectives", "energy");
    r = RUN(b, "show", "2", "--pareto");
    assert_ok(&r);
    assert_contains(r.out, " uJ ");
    r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:rugged", "--objective",
            "energy");
    assert_refused(&r, 1, "--objective energy", "power");
    r = RUN(b, "tune", "--like", "2", "--seed", "5", "--trials", "5");
    assert_ok(&r);
    assert_string_equal(text_of(listed_session(b, 4), "objective"), "energy");
    r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:rugged", "--trials", "3");
    assert_ok(&r);
    r = RUN(b, "show", "5", "--pareto");
    assert_refused(&r, 1, "no joules", "--objective");
    r = RUN(b, "show", "5", "--pareto", "--trial", "1");
    assert_refused(&r, 2, "--pareto", "--trial");
}

TEST_GROUP(flop)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_unknown_flop), FLOW_TEST(test_export_for_others), FLOW_TEST(test_known_flop),
        FLOW_TEST(test_bytes),        FLOW_TEST(test_own_unit),          FLOW_TEST(test_energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
