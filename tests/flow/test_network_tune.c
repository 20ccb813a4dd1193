// A network as one session: its rounds, its kill and resume, and tasks that are known already.
#include "group.h"
#include "sessions.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#define SOURCE "synthetic:rugged:seed=3:invalid=0.2"

// Three tasks: two products that follow each other, the first twice, and one of another size.
static const char *make_network(struct box *b)
{
    copy_small(b);
    return box_write(
        b, "three.lua",
        "network 'three products'\n"
        "local N = size('N', 64)\n"
        "local x = input { name = 'x', sizes = { N, 64 } }\n"
        "local function product(name, n, from)\n"
        "  return layer { name = name, preset = 'small.lua', from = from, set = { N = n } }\n"
        "end\n"
        "local y = product('second', N, product('first', N, x))\n"
        "output(y)\n"
        "output(product('wide', 2 * N, input { name = 'z', sizes = { 2 * N, 64 } }))\n"
        "output(product('narrow', 16, input { name = 'v', sizes = { 16, 64 } }))\n");
}

static struct result tune(struct box *b, const char *strategy)
{
    return RUN(b, "tune", make_network(b), "--source", SOURCE, "--strategy", strategy, "--trials",
               "90", "--seed", "7", "--json");
}

static cJSON *shown(struct box *b, const char *id)
{
    struct result r = RUN(b, "show", id, "--json");
    assert_ok(&r);
    return member(json_of(b, r.out), "session");
}

static cJSON *tasks_of(struct box *b, const char *id)
{
    return member(shown(b, id), "tasks");
}

static int64_t session_of(const cJSON *task)
{
    return (int64_t)number_of(task, "session");
}

// Returns all that must not depend on when the process died: the round of each task, and each
// task's sequence.
static const char *history(struct box *b, const char *id)
{
    cJSON *session = shown(b, id);
    const cJSON *sums = member(session, "sum_of_parts"), *one;
    const char *all = "";
    cJSON_ArrayForEach(one, sums) all = arena_printf(
        &b->arena, "%s%g: %.9g\n", all, number_of(one, "trials"), number_of(one, "ms"));
    cJSON_ArrayForEach(one, member(session, "tasks")) all =
        arena_printf(&b->arena, "%s%s %g\n%s", all, text_of(one, "name"), number_of(one, "granted"),
                     sequence(b, session_of(one)));
    return all;
}

static bool has_task(const cJSON *tasks, const char *name)
{
    const cJSON *task;
    cJSON_ArrayForEach(task, tasks)
    {
        if (strcmp(text_of(task, "name"), name) == 0)
            return true;
    }
    return false;
}

static void test_one_session(void **state)
{
    struct box *b = *state;
    struct result r = tune(b, "opevo");
    assert_ok(&r);
    struct events e = events_of(b, r.out);
    assert_int_equal(count_events(&e, "session"), 1);
    assert_int_equal(count_events(&e, "trial"), 90);
    assert_true(count_events(&e, "round") >= 20);
    const cJSON *end = end_event(&e);
    assert_string_equal(text_of(end, "state"), "done");
    assert_int_equal(number_of(end, "trials"), 90);
    double sum = 0, trials = 0, share = 0;
    const cJSON *task, *tasks = tasks_of(b, "1");
    cJSON_ArrayForEach(task, tasks)
    {
        sum += number_of(task, "uses") * number_of(member(task, "best"), "ms");
        trials += number_of(task, "trials");
        share += number_of(task, "share");
        assert_string_equal(text_of(task, "operator"), "matmul");
    }
    char best[16], unit[8];
    const char *list = RUN(b, "ls").out, *as = strstr(list, "  sum  ");
    assert_non_null(as);
    for (int words = 0; words < 2; words++) // back over the unit and the number
        for (as--; as > list && as[-1] != ' ';)
            as--;
    assert_int_equal(sscanf(as, "%15s %7s", best, unit), 2);
    const char *wanted = arena_printf(&b->arena, " %s %s ", best, unit);
    assert_contains(RUN(b, "show", "1").out, wanted);
    assert_int_equal(cJSON_GetArraySize(tasks_of(b, "1")), 3);
    assert_int_equal(number_of(cJSON_GetArrayItem(tasks_of(b, "1"), 0), "uses"), 2);
    assert_true(trials == 90 && share > 0.999 && share < 1.001);
    assert_true(number_of(end, "sum_ms") > 0.999 * sum && number_of(end, "sum_ms") < 1.001 * sum);
    assert_true(is_null(shown(b, "1"), "best") && is_null(shown(b, "1"), "best_tflops"));
    // `ls` lists the network, and its tasks with --tasks.
    assert_int_equal(cJSON_GetArraySize(listed_sessions(b)), 1);
    assert_int_equal(trials_of(b, 1), 90);
    r = RUN(b, "ls", "--tasks", "--json");
    assert_int_equal(cJSON_GetArraySize(member(json_of(b, r.out), "sessions")), 4);
    for (int i = 0; i < e.count; i++)
        if (strcmp(text_of(e.line[i], "event"), "trial") == 0)
            assert_true(has_task(tasks, text_of(e.line[i], "task")));
}

static const char *newest(struct box *b)
{
    return arena_printf(&b->arena, "%.0f",
                        number_of(cJSON_GetArrayItem(listed_sessions(b), 0), "id"));
}

static void remove_newest(struct box *b)
{
    struct result r = RUN(b, "rm", "--purge", newest(b));
    assert_ok(&r);
}

static void test_death(void **state)
{
    static const char *const points[] = {"create:1", "round:1", "create:3",  "round:4",
                                         "commit:1", "told:37", "commit:61", "state:2"};
    static const char *const strategies[] = {"opevo", "walk:starts=6"};
    struct box *b = *state;
    for (size_t s = 0; s < sizeof strategies / sizeof *strategies; s++) {
        struct result r = tune(b, strategies[s]);
        assert_ok(&r);
        const char *wanted = history(b, newest(b));
        for (size_t i = s ? 5 : 0; i < sizeof points / sizeof *points; i++) { // some would do
            remove_newest(b); // or it would be known
            box_set(b, "TILEWALK_KILL", points[i]);
            assert_int_equal(tune(b, strategies[s]).code, 128 + SIGKILL);
            box_set(b, "TILEWALK_KILL", NULL);
            r = RUN(b, "resume", newest(b));
            assert_ok(&r);
            const char *found = history(b, newest(b));
            if (strcmp(wanted, found) != 0)
                fail_msg("%s, %s: another sequence\n--- uninterrupted\n%s--- found\n%s",
                         strategies[s], points[i], wanted, found);
        }
        remove_newest(b);
    }
}

static void test_budget_grows(void **state)
{
    struct box *b = *state;
    struct result r = tune(b, "opevo");
    assert_ok(&r);
    r = RUN(b, "resume", "1", "--trials", "90");
    assert_ok(&r);
    assert_contains(r.out, "nothing is left to do");
    r = RUN(b, "resume", "1", "--trials", "120", "--json");
    assert_ok(&r);
    assert_int_equal(trials_of(b, 1), 120);
    r = RUN(b, "resume", "1", "--trials", "50");
    assert_refused(&r, 1, " 120 trials", NULL);
}

static void test_known(void **state)
{
    struct box *b = *state;
    struct result r = tune(b, "opevo");
    assert_ok(&r);
    r = RUN(b, "tune", make_network(b), "--source", SOURCE, "--trials", "3", "--json");
    assert_ok(&r); // all are known, there is nothing to try
    struct events e = events_of(b, r.out);
    assert_int_equal(number_of(end_event(&e), "trials"), 0);
    // A single session of the narrow task, for longer than a task of a network gets on average.
    r = RUN(b, "tune", make_network(b), "--only", "narrow", "--source", SOURCE, "--trials", "60");
    assert_ok(&r);
    r = RUN(b, "tune", make_network(b), "--source", SOURCE, "--trials", "150", "--seed", "8");
    assert_ok(&r);
    assert_contains(r.err, "narrow: known");
    const cJSON *narrow = cJSON_GetArrayItem(tasks_of(b, "7"), 2);
    assert_int_equal(session_of(narrow), 6);
    assert_int_equal(number_of(narrow, "granted"), 0);
    r = RUN(b, "tune", make_network(b), "--source", SOURCE, "--trials", "60", "--again");
    assert_ok(&r);
    assert_null(strstr(r.err, "known"));
    // Kernels of another compiler are not known.
    tamper(b, "UPDATE session SET compiler = 'another'");
    assert_true(count_rows(b, "session", "compiler = 'another'") > 1);
    r = RUN(b, "tune", make_network(b), "--source", SOURCE, "--trials", "60");
    assert_ok(&r);
    assert_null(strstr(r.err, "known"));
}

static void test_whole(void **state)
{
    struct box *b = *state;
    struct result r = tune(b, "opevo");
    assert_ok(&r);
    r = RUN(b, "rm", "2");
    assert_refused(&r, 1, "session 2 is a task of network 1", "rm 1");
    r = RUN(b, "resume", "2", "--trials", "110"); // means the network
    assert_ok(&r);
    assert_int_equal(trials_of(b, 1), 110);
    static const char *const of_trials[][4] = {
        {"show", "1", "--trials"}, {"card", "1"}, {"tune", "--like", "1"}};
    for (size_t i = 0; i < sizeof of_trials / sizeof *of_trials; i++) {
        r = run_list(b, of_trials[i]);
        assert_refused(&r, 1, "session 1 is a network", "show 1`");
    }
    r = RUN(b, "plot", "1");
    assert_ok(&r);
    assert_null(strstr(r.out, "nothing valid"));
    r = RUN(b, "show", "2");
    assert_ok(&r);
    assert_contains(r.out, "network  1, ");
    r = RUN(b, "rm", "1"); // with its tasks
    assert_ok(&r);
    r = RUN(b, "ls", "--tasks", "--json");
    assert_int_equal(cJSON_GetArraySize(member(json_of(b, r.out), "sessions")), 0);
    r = RUN(b, "restore");
    assert_ok(&r);
    assert_int_equal(trials_of(b, 1), 110);
    r = RUN(b, "rm", "--purge", "1");
    assert_ok(&r);
    assert_int_equal(count_rows(b, "round", NULL), 0);
    assert_int_equal(count_rows(b, "task", NULL), 0);
}

static bool has_pinned_round(struct box *b, void *context)
{
    (void)context;
    return count_rows(b, "round", "pinned AND told") > 0;
}

// A pinned task gets all rounds; the pin is no part of what a run that goes on must repeat.
static void test_pin(void **state)
{
    struct box *b = *state;
    const char *network = make_network(b);
    struct running *run = START(b, "tune", network, "--source", "synthetic:rugged:delay_us=15000",
                                "--strategy", "opevo", "--trials", "1500", "--seed", "7", "--json");
    wait_for_trials(b, 1, 10);
    struct result r = RUN(b, "set", "1", "pin=narow");
    assert_refused(&r, 2, "has no task 'narow'", "'narrow'");
    r = RUN(b, "set", "1", "pin=narrow");
    assert_ok(&r);
    r = RUN(b, "set", "1", "weight=wide:8"); // which is a part of it
    assert_ok(&r);
    wait_until(b, "a round of the pinned task", has_pinned_round, NULL);
    r = RUN(b, "set", "1", "pin=");
    assert_ok(&r);
    send_signal(run, SIGTERM);
    finish(b, run);
    assert_int_equal(count_rows(b, "weight", "(task, weight) = (2, 8)"), 1);
    assert_int_equal(count_rows(b, "round", "pinned AND task != 3"), 0);
    r = RUN(b, "set", "1", "pin=narrow");
    assert_refused(&r, 1, "is not running", NULL);
    r = RUN(b, "resume", "1", "--seconds",
            "1"); // that are over: all rounds are told again, no more
    assert_ok(&r);
    assert_string_equal(state_of(b, 1), "done");
    r = RUN(b, "pin", "2", "narrow", "--off"); // as before
    assert_refused(&r, 2, "name a task", NULL);
}

// Returns the output of a network after a task was weighed, killed at `point` or not at all.
static const char *weighed_history(struct box *b, const char *point)
{
    struct result r = tune(b, "opevo");
    assert_ok(&r);
    r = RUN(b, "set", newest(b), "weight=narrow:64");
    assert_ok(&r);
    box_set(b, "TILEWALK_KILL", point);
    r = RUN(b, "resume", newest(b), "--trials", "180");
    assert_int_equal(r.code, point ? 128 + SIGKILL : 0);
    box_set(b, "TILEWALK_KILL", NULL);
    if (point) {
        r = RUN(b, "resume", newest(b));
        assert_ok(&r);
    }
    return history(b, newest(b));
}

// Returns the share of task 3 in the rounds from the change of its weight on (">="), or before
// ("<").
static double share_of_rounds(struct box *b, const char *compared)
{
    const char *then = arena_printf(&b->arena, "number %s (SELECT round FROM weight)", compared);
    const char *of_it = arena_printf(&b->arena, "%s AND task = 3", then);
    return (double)count_rows(b, "round", of_it) / (double)count_rows(b, "round", then);
}

static void test_weigh(void **state)
{
    struct box *b = *state;
    const char *wanted = weighed_history(b, NULL);
    assert_true(number_of(cJSON_GetArrayItem(tasks_of(b, "1"), 2), "weight") == 64);
    assert_true(share_of_rounds(b, ">=") > 0.8);
    assert_true(share_of_rounds(b, "<") < 0.8);
    struct result r = RUN(b, "show", "1");
    assert_contains(r.out, "weight 64");
    r = RUN(b, "set", "1", "weight=narow:2");
    assert_refused(&r, 2, "'narow'", "'narrow'");
    static const char *const weights[] = {"0", "-1", "nan", "101", "x", ""};
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++) {
        r = RUN(b, "weigh", "1", "--", "narrow", weights[i]);
        assert_refused(&r, 2, "is not a weight", arena_printf(&b->arena, "'%s'", weights[i]));
    }
    remove_newest(b);
    assert_int_equal(count_rows(b, "weight", NULL), 0);
    const char *found = weighed_history(b, "round:9");
    if (strcmp(wanted, found) != 0)
        fail_msg("another sequence\n--- uninterrupted\n%s--- found\n%s", wanted, found);
}

// In a list, rounds go where another program spent its time, if that is known, else to tasks with
// many uses.
static void test_list(void **state)
{
    struct box *b = *state;
    copy_small(b);
    for (int told = 0; told < 2; told++) {
        const char *list = box_write(
            b, "list.lua",
            arena_printf(
                &b->arena,
                "network 'a list'\n"
                "local function product(name, n, uses, seconds)\n"
                "  layer { name = name, preset = 'small.lua', set = { N = n }, uses = uses,\n"
                "    seconds = %s }\n"
                "end\n"
                "product('dear', 64, 1, 1)\n"
                "product('often', 128, 1000, 1e-6)\n",
                told ? "seconds" : "nil"));
        struct result r = RUN(b, "tune", list, "--source", SOURCE, "--strategy", "opevo",
                              "--trials", "60", "--seed", "7", "--again", "--json");
        assert_ok(&r);
        const char *id = newest(b);
        const cJSON *tasks = tasks_of(b, id);
        double dear = number_of(cJSON_GetArrayItem(tasks, 0), "granted");
        assert_int_equal(number_of(cJSON_GetArrayItem(tasks, 1), "uses"), 1000);
        assert_true(told ? dear > 30 : dear < 30);
        r = RUN(b, "resume", id, "--trials", "70", "--json"); // its rounds come out the same
        assert_ok(&r);
        r = RUN(b, "export", id);
        assert_refused(&r, 1, "it is a list of kernels", NULL);
    }
}

// With definitions, the operator is part of the space files, which end before the network.
static void test_definitions(void **state)
{
    struct box *b = *state;
    const char *network = box_write(
        b, "defined.lua",
        "network 'a product and its norm, by definition'\n"
        "local x = input { name = 'x', sizes = { 64, 64 } }\n"
        "local y = layer { name = 'product', preset = 'gmm', from = x, set = { shape = 0 } }\n"
        "local rows = { shape = 0, N = 64 }\n"
        "output(layer { name = 'norm', preset = 'rms-norm', from = y, set = rows })\n");
    struct result r = RUN(b, "tune", network, "--source", "synthetic:machine", "--strategy",
                          XGBOOST ? "ansor" : "walk", "--trials", "20", "--seed", "7", "--json");
    assert_ok(&r);
    const cJSON *tasks = tasks_of(b, newest(b));
    assert_int_equal(cJSON_GetArraySize(tasks), 2);
    assert_string_equal(text_of(cJSON_GetArrayItem(tasks, 0), "operator"), "gmm");
    assert_string_equal(text_of(cJSON_GetArrayItem(tasks, 1), "operator"), "rms_norm");
    r = RUN(b, "resume", newest(b), "--trials", "24", "--json");
    assert_ok(&r);
}

static void test_refused(void **state)
{
    struct box *b = *state;
    const char *network = make_network(b);
    struct result r = RUN(b, "tune", network, "--only", "narow");
    assert_refused(&r, 2, "'narow'", "'narrow'");
    r = RUN(b, "tune", network, "--scheduler", "gradiant", "--source", SOURCE);
    assert_refused(&r, 2, "'gradiant'", "'gradient'");
    r = RUN(b, "tune", flow_path(b, "small.lua"), "--scheduler", "gradient");
    assert_refused(&r, 2, "--scheduler", "for networks");
    r = RUN(b, "tune", flow_path(b, "small.lua"), "--only", "first");
    assert_refused(&r, 2, "--only", "for networks");
    r = RUN(b, "tune", network, "--source", SOURCE, "--export", box_path(b, "out"));
    assert_refused(&r, 2, "--export", NULL);
    r = RUN(b, "tune", network, "--source", SOURCE, "--only", "first", "--again");
    assert_refused(&r, 2, "--only", "--again");
    r = RUN(b, "tune", network, "--source", SOURCE, "--set", "M=3");
    assert_refused(&r, 2, "M=3", NULL);
    r = RUN(b, "ls", "--json");
    assert_int_equal(cJSON_GetArraySize(listed_sessions(b)), 0);
}

TEST_GROUP(network_tune)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_one_session), FLOW_TEST(test_death), FLOW_TEST(test_budget_grows),
        FLOW_TEST(test_known),       FLOW_TEST(test_whole), FLOW_TEST(test_pin),
        FLOW_TEST(test_weigh),       FLOW_TEST(test_list),  FLOW_TEST(test_definitions),
        FLOW_TEST(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
