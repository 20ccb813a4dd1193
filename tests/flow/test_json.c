// --json is a contract (docs/reference/json.md): every line parses, every member is there and means
// what it says.
#include "group.h"
#include "sessions.h"

#include "base/str.h"

#include <math.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

static const char *const outcomes[] = {"ok",      "rejected", "compile", "driver",
                                       "timeout", "crash",    "lost",    "wrong"};

static struct result tune(struct box *b, const char *source, const char *trials, const char *more)
{
    return RUN(b, "tune", flow_path(b, "small.lua"), "--source", source, "--trials", trials,
               "--seed", "5", "--json", more ? more : "--workers=1");
}

static bool is_ok(const cJSON *trial)
{
    return strcmp(text_of(trial, "outcome"), "ok") == 0;
}

static void check_config(const cJSON *config)
{
    static const char *const names[] = {"tile", "unroll", "order", "stage"};
    const cJSON *value;
    size_t i = 0;
    assert_int_equal(cJSON_GetArraySize(config), COUNT(names));
    cJSON_ArrayForEach(value, config) assert_string_equal(value->string, names[i++]);
    assert_int_equal(cJSON_GetArraySize(member(config, "tile")), 4);
    double product = 1;
    cJSON_ArrayForEach(value, member(config, "tile")) product *= value->valuedouble;
    assert_int_equal(product, 64);
    number_of(config, "unroll");
    assert_int_equal(cJSON_GetArraySize(member(config, "order")), 3);
    text_of(config, "stage");
}

// One ask of an earlier generation for each parameter, or nothing at all.
static void check_origin(const cJSON *t)
{
    const cJSON *ask, *origin = member(t, "origin");
    if (number_of(t, "generation") == 0)
        assert_true(cJSON_IsNull(origin));
    if (cJSON_IsNull(origin))
        return;
    assert_int_equal(cJSON_GetArraySize(origin), 4);
    cJSON_ArrayForEach(ask, origin)
    {
        assert_true(cJSON_IsNumber(ask));
        assert_true(ask->valuedouble >= 1 && ask->valuedouble < number_of(t, "ask"));
    }
}

static void check_trial(const cJSON *t, double flop)
{
    size_t known = 0;
    while (known < COUNT(outcomes) && strcmp(outcomes[known], text_of(t, "outcome")) != 0)
        known++;
    assert_true(known < COUNT(outcomes));
    assert_int_equal(number_of(t, "session"), 1);
    assert_true(number_of(t, "ask") >= number_of(t, "id"));
    assert_true(number_of(t, "generation") >= 0);
    assert_true(number_of(t, "elapsed_s") >= 0);
    assert_true(cJSON_IsBool(member(t, "early_stopped")));
    check_config(member(t, "config"));
    check_origin(t);
    if (is_ok(t)) {
        assert_true(cJSON_GetArraySize(member(t, "samples")) > 0);
        assert_float_equal(number_of(t, "tflops") * number_of(t, "ms") * 1e9 / flop, 1, 1e-9);
        assert_null(cJSON_GetObjectItem(t, "reason"));
    } else {
        assert_int_equal(cJSON_GetArraySize(member(t, "samples")), 0);
        assert_true(is_null(t, "tflops"));
        assert_true(is_null(t, "ms"));
        assert_true(strlen(text_of(t, "reason")) > 0);
        member(t, "phase");
    }
}

static void check_session(const cJSON *s)
{
    static const char *const texts[] = {"state",  "space",  "title",    "operator", "device",
                                        "driver", "source", "strategy", "size"};
    static const char *const numbers[] = {
        "id",       "seed", "flop",    "budget_trials", "workers",       "trials",
        "rejected", "ok",   "created", "ran_seconds",   "budget_seconds"};
    for (size_t i = 0; i < COUNT(texts); i++)
        text_of(s, texts[i]);
    for (size_t i = 0; i < COUNT(numbers); i++)
        number_of(s, numbers[i]);
    assert_string_equal(text_of(s, "operator"), "matmul");
    assert_string_equal(text_of(s, "size"), "6048");
    assert_string_equal(text_of(member(s, "problem"), "kind"), "matmul");
    assert_true(cJSON_IsObject(member(s, "settings")));
    assert_true(str_starts(text_of(s, "strategy"), "walk:starts=10:"));
    assert_float_equal(number_of(s, "flop"), 2.0 * 64 * 64 * 64, 0);
    assert_int_equal(number_of(s, "seed"), 5);
}

// Every trial event in order; `best` events after the trials that are better than all before.
static void check_stream(const struct events *e, double flop)
{
    double best = 0, id = 0;
    for (int i = 1; i < e->count - 1; i++) {
        const cJSON *line = e->line[i];
        assert_string_equal(text_of(line, "event"), "trial");
        check_trial(line, flop);
        if (strcmp(text_of(line, "outcome"), "rejected") != 0)
            assert_int_equal(number_of(line, "id"), ++id);
        if (!is_ok(line) || number_of(line, "tflops") <= best)
            continue;
        best = number_of(line, "tflops");
        const cJSON *event = e->line[++i];
        assert_string_equal(text_of(event, "event"), "best");
        assert_int_equal(number_of(event, "session"), 1);
        assert_int_equal(number_of(event, "trial"), number_of(line, "id"));
        assert_float_equal(number_of(event, "tflops"), best, best * 1e-12);
    }
    const cJSON *end = end_event(e);
    assert_float_equal(number_of(member(end, "best"), "tflops"), best, best * 1e-12);
    check_trial(member(end, "best"), flop);
}

static void check_run(void **state, const char *source)
{
    struct box *b = *state;
    struct result r = tune(b, source, "60", NULL);
    assert_int_equal(r.code, 0);
    assert_string_equal(r.err, "");
    struct events e = events_of(b, r.out);
    assert_string_equal(text_of(e.line[0], "event"), "session");
    assert_int_equal(number_of(e.line[0], "version"), 1);
    check_session(e.line[0]);
    assert_string_equal(text_of(e.line[0], "state"), "running");
    assert_string_equal(text_of(e.line[0], "source"), source);
    check_stream(&e, number_of(e.line[0], "flop"));
    assert_int_equal(count_events(&e, "trial"), 60);
    const cJSON *end = end_event(&e);
    assert_int_equal(number_of(end, "session"), 1);
    assert_int_equal(number_of(end, "trials"), 60);
    assert_int_equal(number_of(end, "rejected"), 0);
    assert_string_equal(text_of(end, "state"), "done");
    assert_true(strlen(text_of(end, "message")) > 0);
    assert_true(number_of(end, "ran_seconds") > 0);
    assert_true(is_null(end, "busy_seconds")); // a landscape has no workers
}

static void test_bowl(void **state)
{
    check_run(state, "synthetic:bowl");
}

static void test_rugged(void **state)
{
    check_run(state, "synthetic:rugged:invalid=0.2");
}

static void test_failures_are_reported(void **state)
{
    struct box *b = *state;
    struct result r = tune(b, "synthetic:rugged:invalid=0.5", "200", NULL);
    struct events e = events_of(b, r.out);
    static const char *const expected[] = {"ok",    "compile", "driver", "timeout",
                                           "crash", "lost",    "wrong"};
    for (size_t i = 0; i < COUNT(expected); i++) {
        int found = 0;
        for (int k = 0; k < e.count; k++)
            found += strcmp(text_of(e.line[k], "event"), "trial") == 0 &&
                     strcmp(text_of(e.line[k], "outcome"), expected[i]) == 0;
        if (!found)
            fail_msg("no trial was '%s'", expected[i]);
    }
}

static int count_rejected(const struct events *e)
{
    int n = 0;
    for (int i = 0; i < e->count; i++)
        n += strcmp(text_of(e->line[i], "event"), "trial") == 0 &&
             strcmp(text_of(e->line[i], "outcome"), "rejected") == 0;
    return n;
}

// These strategies propose configurations that are not legal.
static void test_rejected(void **state)
{
    struct box *b = *state;
    struct result r = tune(b, "synthetic:bowl", "40", "--strategy=opevo");
    struct events quiet = events_of(b, r.out);
    assert_int_equal(count_rejected(&quiet), 0);
    box_set(b, "TILEWALK_DB", box_path(b, "second.db"));
    r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl", "--trials", "40",
            "--seed", "5", "--json", "--strategy=opevo", "--show-rejected");
    struct events all = events_of(b, r.out);
    int rejected = count_rejected(&all);
    assert_true(rejected > 0);
    assert_int_equal(number_of(end_event(&all), "rejected"), rejected);
    assert_int_equal(number_of(end_event(&quiet), "rejected"), rejected);
    assert_int_equal(count_events(&all, "trial"), 40 + rejected);
    check_stream(&all, number_of(all.line[0], "flop"));
    for (int i = 0; i < all.count; i++)
        if (strcmp(text_of(all.line[i], "event"), "trial") == 0 &&
            strcmp(text_of(all.line[i], "outcome"), "rejected") == 0)
            assert_int_equal(number_of(all.line[i], "id"), 0);
}

static void test_count_rejected(void **state)
{
    struct box *b = *state;
    struct result r =
        RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl", "--trials", "40",
            "--seed", "5", "--strategy", "opevo", "--json", "--count-rejected", "--show-rejected");
    struct events e = events_of(b, r.out);
    assert_int_equal(number_of(end_event(&e), "trials"), 40);
    assert_int_equal(count_events(&e, "trial"), 40);
    assert_int_equal(number_of(end_event(&e), "rejected"), count_rejected(&e));
    assert_true(count_rejected(&e) > 0);
    int id = 0;
    for (int i = 0; i < e.count; i++)
        if (strcmp(text_of(e.line[i], "event"), "trial") == 0)
            assert_int_equal(number_of(e.line[i], "id"), ++id);
}

static void test_ls(void **state)
{
    struct box *b = *state;
    tune(b, "synthetic:bowl", "5", NULL);
    tune(b, "synthetic:rugged", "6", NULL);
    const cJSON *sessions = listed_sessions(b);
    assert_int_equal(cJSON_GetArraySize(sessions), 2);
    for (int i = 0; i < 2; i++) {
        const cJSON *s = cJSON_GetArrayItem(sessions, i);
        check_session(s);
        assert_int_equal(number_of(s, "id"), 2 - i); // newest first
        assert_int_equal(number_of(s, "trials"), 6 - i);
        assert_int_equal(number_of(s, "runner"), 0);
        assert_string_equal(text_of(s, "state"), "done");
        assert_true(number_of(s, "best_tflops") > 0);
    }
}

TEST_GROUP(json)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_bowl),
        FLOW_TEST(test_rugged),
        FLOW_TEST(test_failures_are_reported),
        FLOW_TEST(test_rejected),
        FLOW_TEST(test_count_rejected),
        FLOW_TEST(test_ls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
