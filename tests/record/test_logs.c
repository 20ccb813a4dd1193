// Reads logs of AutoTVM and tuning records of MetaSchedule, all written here.
#include "group.h"
#include "help.h"
#include "wording.h"

#include "base/str.h"

#include <math.h>
#include <string.h>

#define KNOBS(k, step) "[[\"tile_k\",\"sp\",[-1," #k "]],[\"step\",\"ot\"," step "]]"
#define LINE(task, knobs, costs, error)                                                            \
    "{\"input\":[\"vulkan\",\"" task "\",[[\"TENSOR\",[1,512],\"float32\"]],{}],\"config\":"       \
    "{\"index\":3,\"code_hash\":null,\"entity\":" knobs "},\"result\":[" costs "," #error          \
    ",1.5,17e8],\"version\":0.2}\n"

static void test_autotvm(void **state)
{
    struct recording *r =
        must_read("x.log", LINE("dense", KNOBS(16, "0"), "[1e-3,3e-3]", 0)
                               LINE("dense", KNOBS(32, "null"), "[1e9]",
                                    6) "\n" LINE("dense", KNOBS(16, "0"), "[9e-3]", 0));
    (void)state;
    assert_string_equal(r->format, "autotvm");
    assert_string_equal(r->kernel, "dense 1x512");
    assert_string_equal(r->device, "vulkan");
    assert_int_equal(r->space->param_count, 2); // a split's first part follows from the others
    assert_string_equal(r->space->param[0].name, "tile_k_1");
    assert_string_equal(r->space->param[1].label[1], "None");
    assert_int_equal(r->count, 2); // what was measured again keeps its first result
    assert_close(r->entry[0].seconds, 2e-3);
    assert_close(r->entry[0].benchmark_s, 1.5);
    assert_int_equal(r->entry[1].outcome, OUTCOME_TIMEOUT);
    recording_destroy(r);
}

static void test_autotvm_failures(void **state)
{
    static const enum outcome outcomes[] = {
        OUTCOME_OK,    OUTCOME_REJECTED, OUTCOME_COMPILE, OUTCOME_COMPILE, OUTCOME_CRASH,
        OUTCOME_WRONG, OUTCOME_TIMEOUT,  OUTCOME_TIMEOUT, OUTCOME_CRASH,
    };
    struct str text = {0};
    (void)state;
    for (int i = 0; i < 9; i++)
        str_printf(&text,
                   "{\"i\":[\"cuda\",\"conv\",[],{},[\"conv\"],{\"i\":%d,\"t\":\"direct\",\"c\":"
                   "null,\"e\":[[\"tile\",\"sp\",[-1,%d]]]}],\"r\":[[%s],%d,1,1],\"v\":0.1}\n",
                   i, i + 1, i ? "1e9" : "2", i);
    str_add(&text, "{\"i\":[\"cuda\",\"conv\",[],{},0,{\"e\":[[\"tile\",\"sp\",[-1,99]]]}],"
                   "\"r\":[[1e9],0,1,1],\"v\":0.1}"); // a mark without an error
    struct recording *r = must_read("x.log", str_text(&text));
    for (int i = 0; i < 9; i++)
        assert_int_equal(r->entry[i].outcome, outcomes[i]);
    assert_int_equal(r->entry[9].outcome, OUTCOME_CRASH);
    recording_destroy(r);
    str_finish(&text);
}

#define INSTRUCTIONS(more)                                                                         \
    "[[\"GetLoops\",[],[],[]],[\"SamplePerfectTile\",[\"l1\"],[2,64],[]],[\"SampleCategorical\","  \
    "[],[[0,16,64],[0.3,0.3,0.4]],[]],[\"SampleComputeLocation\",[],[],[]]" more                   \
    ",[\"EnterPostproc\",[],[],[]],[\"Unroll\",[],[],[]]]"
#define RECORD(workload, more, tile, choice, times)                                                \
    "[" #workload                                                                                  \
    ",[[" INSTRUCTIONS(more) ",[[1," tile "],[2," #choice "],[3,-1]]]," times                      \
                             ",{\"kind\":\"cuda\"},[[\"TENSOR\",\"float32\",[8,4]]]]]\n"

static void test_meta_schedule(void **state)
{
    struct recording *r =
        must_read("x.json", RECORD(0, "", "[4,2]", 1, "[1e-3]") RECORD(0, "", "[8,1]", 2, "[1e10]")
                                RECORD(0, "", "[2,4]", 0, "null"));
    (void)state;
    assert_string_equal(r->format, "metaschedule");
    assert_string_equal(r->kernel, "workload 0 8x4");
    assert_string_equal(r->device, "cuda");
    assert_int_equal(r->space->param_count, 3);
    assert_int_equal(r->space->param[0].kind, PARAM_FACTORIZATION);
    assert_int_equal(r->space->param[0].product, 8);
    assert_string_equal(r->space->param[1].name, "choice_0");
    assert_int_equal(r->space->param[1].number[1], 16); // the candidate, not its index
    assert_string_equal(r->space->param[2].name, "location_0");
    assert_int_equal(r->outcomes[OUTCOME_OK], 1);
    assert_int_equal(r->outcomes[OUTCOME_CRASH], 2);
    recording_destroy(r);
    // Parts whose product differs are parameters on their own.
    r = must_read("x.json",
                  RECORD(0, "", "[4,2]", 1, "[1e-3]") RECORD(0, "", "[8,2]", 1, "[2e-3]"));
    assert_int_equal(r->space->param_count, 4);
    assert_string_equal(r->space->param[1].name, "tile_0_1");
    recording_destroy(r);
}

static void test_tasks(void **state)
{
    static const char sketches[] = RECORD(0, "", "[4,2]", 1, "[1e-3]")
        RECORD(0, ",[\"CacheWrite\",[],[],[]]", "[2,4]", 1, "[2e-3]")
            RECORD(1, "", "[1,8]", 1, "[3e-3]");
    struct recording *r;
    struct err e;
    char message[400];
    (void)state;
    const char *path = put_file("x.json", sketches, strlen(sketches));
    assert_false(recording_read(path, &r, &e));
    err_format(&e, message, sizeof message);
    assert_non_null(strstr(message, "3 tasks"));
    wording_is("record", "log: several tasks", strstr(message, "it holds"));
    assert_true(recording_read_task(path, 2, &r, &e));
    assert_int_equal(r->count, 1);
    assert_close(r->best < 0 ? NAN : r->entry[r->best].seconds, 2e-3);
    recording_destroy(r);
    assert_false(recording_read_task(path, 4, &r, &e));
    assert_false(recording_read_task(put_file("y.json", "{}", 2), 1, &r, &e));
}

static void test_wrong_lines(void **state)
{
    (void)state;
    refuse(LINE("dense", KNOBS(1, "0"), "[1]", 0) "{\"a\": 1}", "x.json:2: the line");
    refuse(LINE("dense", KNOBS(1, "0"), "[1]", 0) "{\"input\":", "x.json:2: broken JSON");
    refuse(LINE("dense", KNOBS(1, "0"), "[1]", 0) LINE("dense", "[[\"x\",\"ot\",1]]", "[1]", 0),
           "x.json:2: the first");
    refuse(LINE("dense", "[[\"x\",\"ot\",1],[\"x\",\"ot\",1]]", "[1]", 0),
           "x.json:1: parameter 'x'");
    refuse(LINE("dense", "[[\"x\"]]", "[1]", 0), "x.json:1: a knob");
    refuse(LINE("dense", "[[\"x\",\"ot\",{}]]", "[1]", 0), "x.json:1: parameter");
    refuse(LINE("dense", "3", "[1]", 0), "x.json:1: there");
    refuse(LINE("dense", "[]", "[1]", 0), "x.json:1: there");
    refuse(LINE("dense", KNOBS(1, "0"), "[1]", 9), "x.json:1: the second");
    refuse(LINE("dense", KNOBS(1, "0"), "[\"a\"]", 0), "x.json:1: a run");
    refuse(LINE("dense", KNOBS(1, "0"), "[]", 0), "x.json:1: there");
    refuse("{\"input\": [], \"config\": {}, \"result\": [[1], 0], \"version\": 0.2}\n",
           "x.json:1: there");
    refuse("{\"i\": [[]], \"r\": [[1], 0], \"v\": \"v0.6\"}", "x.json:1: a log");
    refuse("[\"123\", \"aGVsbG8=\"]\n", "x.json:1: workloads");
    refuse("[0.5, [[[], []], [1], 0, []]]", "x.json:1: the number");
    refuse("[0, [[[], [[0, 1]]], [1], 0, []]]", "x.json:1: the decision");
    refuse("[0, [[[], [[-1, 1]]], [1], 0, []]]", "x.json:1: a decision");
}

TEST_GROUP(logs)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_autotvm),       cmocka_unit_test(test_autotvm_failures),
        cmocka_unit_test(test_meta_schedule), cmocka_unit_test(test_tasks),
        cmocka_unit_test(test_wrong_lines),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
