// Networks that run as a whole while they are tuned, on the device of this machine.
#include "group.h"
#include "sessions.h"

#include <signal.h>
#include <string.h>

// Two products that follow each other, of one task, and one of another size. The last one's inputs
// are not wanted any more when it runs.
static const char *make_network(struct box *b)
{
    copy_small(b);
    return box_write(
        b, "two.lua",
        "network 'two tasks'\n"
        "local x = input { name = 'x', sizes = { 64, 64 } }\n"
        "local function product(name, n, from)\n"
        "  return layer { name = name, preset = 'small.lua', from = from, set = { N = n } }\n"
        "end\n"
        "output(product('second', 64, product('first', 64, x)))\n"
        "output(product('narrow', 16, input { name = 'v', sizes = { 16, 64 } }))\n");
}

static struct result tune(struct box *b, const char *trials, const char *fault)
{
    const char *network = make_network(b);
    return RUN(b, "tune", network, "--trials", trials, "--seed", "7", "--workers", "1",
               "--strategy", "random", "--json", fault ? "--fault" : "--again",
               fault ? fault : NULL);
}

static cJSON *latency_of(struct box *b, const char *id)
{
    struct result r = RUN(b, "show", id, "--json");
    assert_ok(&r);
    return member(member(json_of(b, r.out), "session"), "latency");
}

static const cJSON *last_of(const cJSON *list)
{
    return cJSON_GetArrayItem(list, cJSON_GetArraySize(list) - 1);
}

static void test_runs(void **state)
{
    struct box *b = *state;
    struct result r = tune(b, "16", NULL);
    assert_ok(&r);
    struct events e = events_of(b, r.out);
    const cJSON *runs = latency_of(b, "1"), *one;
    assert_int_equal(count_events(&e, "whole"), cJSON_GetArraySize(runs));
    assert_int_equal(number_of(cJSON_GetArrayItem(runs, 0), "trials"), 8); // both have kernels then
    cJSON_ArrayForEach(one, runs)
    {
        assert_true(cJSON_IsTrue(member(one, "verified")) && number_of(one, "ms") > 0);
        assert_true(number_of(one, "sum_ms") > 0);
        assert_string_equal(text_of(one, "reason"), "");
    }
    assert_true(number_of(last_of(runs), "ms") <= number_of(last_of(runs), "newest_ms"));
    // The last run was with the best kernel of each task.
    r = RUN(b, "show", "1", "--json");
    const cJSON *tasks = member(member(json_of(b, r.out), "session"), "tasks");
    int64_t first = (int64_t)number_of(member(cJSON_GetArrayItem(tasks, 0), "best"), "ask");
    int64_t narrow = (int64_t)number_of(member(cJSON_GetArrayItem(tasks, 1), "best"), "ask");
    const char *kernels =
        arena_printf(&b->arena,
                     "SELECT count(*) FROM whole WHERE number = (SELECT max(number) FROM whole)"
                     " AND kernels = '%lld,%lld'",
                     (long long)first, (long long)narrow);
    assert_int_equal(tamper(b, kernels), 1);
    r = RUN(b, "show", "1");
    assert_contains(r.out, "runs as a whole, every layer right");
    r = RUN(b, "plot", "1");
    assert_contains(r.out, "whole");
    r = RUN(b, "check", box_path(b, "two.lua"));
    assert_ok(&r);
    assert_contains(r.out, " 0.03686 MB ");
    // Nothing is left to do, nor to run.
    int size = cJSON_GetArraySize(runs);
    r = RUN(b, "resume", "1");
    assert_ok(&r);
    assert_int_equal(cJSON_GetArraySize(latency_of(b, "1")), size);
    r = RUN(b, "rm", "--purge", "1");
    assert_ok(&r);
    assert_int_equal(count_rows(b, "whole", NULL), 0);
    assert_int_equal(count_rows(b, "plan", NULL), 0);
}

// A network is not harmed by it, and reports it.
static void test_failures(void **state)
{
    static const struct {
        const char *fault, *reason;
    } cases[] = {
        {"wrong@verify:1000002", "layer 'second': C["},
        {"segv@run:1000003", "SIGSEGV (run of layer 'narrow')"},
    };
    struct box *b = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct result r = tune(b, "8", cases[i].fault);
        assert_ok(&r);
        struct events e = events_of(b, r.out);
        assert_string_equal(text_of(end_event(&e), "state"), "done");
        const char *id = arena_printf(&b->arena, "%g", number_of(end_event(&e), "session"));
        const cJSON *last = last_of(latency_of(b, id));
        assert_true(!cJSON_IsTrue(member(last, "verified")) && is_null(last, "ms"));
        assert_contains(text_of(last, "reason"), cases[i].reason);
        assert_contains(r.out, "run as a whole it gave no time: ");
        r = RUN(b, "rm", id);
        assert_ok(&r);
    }
}

// One that was interrupted runs as a whole later, in the memory of the plan that was stored; one of
// an older version, which has none, does not; a damaged plan is refused.
static void test_plans(void **state)
{
    struct box *b = *state;
    make_network(b);
    box_set(b, "TILEWALK_KILL", "round:3");
    struct result r = tune(b, "16", NULL);
    assert_int_equal(r.code, 128 + SIGKILL);
    box_set(b, "TILEWALK_KILL", NULL);
    tamper(b, "UPDATE plan SET plan = replace(plan, '\"offset\":0', '\"offset\":1')");
    r = RUN(b, "resume", "1");
    assert_refused(&r, 1, "session 1 is damaged: the plan of its runs", NULL);
    tamper(b, "UPDATE plan SET plan = replace(plan, '\"offset\":1,', '\"offset\":0,')");
    tamper(b, "UPDATE plan SET plan = replace(plan, '\"offset\":1}', '\"offset\":0}')");
    r = RUN(b, "resume", "1");
    assert_ok(&r);
    assert_true(cJSON_GetArraySize(latency_of(b, "1")) >= 1);
    tamper(b, "DELETE FROM plan");
    tamper(b, "DELETE FROM whole");
    r = RUN(b, "resume", "1", "--trials", "20");
    assert_ok(&r);
    assert_int_equal(cJSON_GetArraySize(latency_of(b, "1")), 0);
}

static void test_too_large(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "devices", "--json");
    assert_ok(&r);
    const cJSON *device = cJSON_GetArrayItem(member(json_of(b, r.out), "devices"), 0);
    double memory = number_of(device, "memory_bytes");
    copy_small(b);
    const char *network = box_write(
        b, "large.lua",
        arena_printf(&b->arena,
                     "network 'large'\n"
                     "for i = 1, %d do\n"
                     "  local x = input { name = 'x' .. i, sizes = { 262144, 64 } }\n"
                     "  output(layer { name = 'l' .. i, preset = 'small.lua', set = { N = 262144 },"
                     " from = x })\n"
                     "end\n",
                     (int)(memory / (64 << 20)) + 1));
    r = RUN(b, "check", network, "--device", "0");
    assert_ok(&r);
    assert_contains(r.out, "MB of memory, the device has");
    r = RUN(b, "tune", network, "--trials", "4");
    assert_refused(&r, 1, "large", "the device has");
}

// Layers of halves on the device's matrix units, emulated where it has none.
static void test_on_matrix_units(void **state)
{
    struct box *b = *state;
    const char *network = box_write(
        b, "halves.lua",
        "network 'three layers'\n"
        "local layers = include 'layers.lua'\n"
        "local x = input { name = 'image', sizes = { 1, 8, 9, 9 }, type = 'f16' }\n"
        "local y = layers.convolution { 'first', x, channels = 8, kernel = 3, padding = 1,\n"
        "  bias = true, activation = 'relu' }\n"
        "y = layers.convolution { 'second', y, channels = 8, kernel = 3, padding = 1,\n"
        "  residual = x, preset = 'conv-winograd' }\n"
        "output(layers.dense { 'dense', y, outputs = 10, bias = true })\n");
    struct result r = RUN(b, "devices", "--json");
    assert_ok(&r);
    const cJSON *device = cJSON_GetArrayItem(member(json_of(b, r.out), "devices"), 0);
    const char *api = text_of(member(device, "limits"), "matrix_api");
    const char *units =
        arena_printf(&b->arena, "units=%s", strcmp(api, "none") == 0 ? "emulated" : api);
    r = RUN(b, "tune", network, "--set", units, "--trials", "9", "--seed", "1", "--workers", "1",
            "--strategy", "random", "--json");
    assert_ok(&r);
    assert_true(cJSON_IsTrue(member(last_of(latency_of(b, "1")), "verified")));
    r = RUN(b, "show", "1", "--json");
    const cJSON *tasks = member(member(json_of(b, r.out), "session"), "tasks"), *task;
    assert_int_equal(cJSON_GetArraySize(tasks), 3);
    cJSON_ArrayForEach(task, tasks)
    {
        r = RUN(b, "show", arena_printf(&b->arena, "%g", number_of(task, "session")));
        assert_contains(r.out, " matrix=");
    }
}

// What products multiply is rounded before, once for two layers that read it; all else is f32.
static void test_rounded_factors(void **state)
{
    struct box *b = *state;
    static const char *const types[] = {"type=bf16", "type=f8e4m3"};
    const char *network =
        box_write(b, "rounded.lua",
                  "network 'four layers'\n"
                  "local layers = include 'layers.lua'\n"
                  "local x = input { name = 'x', sizes = { 6, 12 }, type = layers.type() }\n"
                  "local function dense(name, from, residual)\n"
                  "  return layers.dense { name, from, rows = 6, outputs = 12, bias = true,\n"
                  "    activation = 'relu', residual = residual }\n"
                  "end\n"
                  "local y = layers.mul { 'mul', dense('left', x), dense('right', x) }\n"
                  "output(layers.softmax { 'softmax', dense('last', y, x) })\n");
    for (int i = 0; i < 2; i++) {
        const char *id = i ? "7" : "1"; // a network and its five tasks
        struct result r = RUN(b, "tune", network, "--set", types[i], "--trials", "20", "--seed",
                              "1", "--workers", "1", "--strategy", "random", "--json");
        assert_ok(&r);
        const cJSON *run = last_of(latency_of(b, id));
        assert_true(run && cJSON_IsTrue(member(run, "verified")));
        r = RUN(b, "show", id, "--json");
        const cJSON *tasks = member(member(json_of(b, r.out), "session"), "tasks");
        assert_int_equal(cJSON_GetArraySize(tasks), 5); // copy, product, mul, product, softmax
        assert_int_equal(number_of(cJSON_GetArrayItem(tasks, 0), "uses"), 2);
        assert_int_equal(number_of(cJSON_GetArrayItem(tasks, 1), "uses"), 2);
    }
}

TEST_GROUP(network_whole)
{
    if (!has_device())
        return 77;
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_runs),      FLOW_TEST(test_failures),        FLOW_TEST(test_plans),
        FLOW_TEST(test_too_large), FLOW_TEST(test_on_matrix_units), FLOW_TEST(test_rounded_factors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
