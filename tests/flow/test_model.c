// Strategies with a model: how good the model is, and how it learns from other sessions.
#include "group.h"
#include "sessions.h"

#include <signal.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define SOURCE      "--source", "synthetic:rugged:seed=1"
#define LEARNING    "--strategy", "autotvm:plan=8:steps=20"

static struct result tune(struct box *b, const char *transfer)
{
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), SOURCE, LEARNING, "--trials", "40",
                          "--seed", "3", "--workers", "2", "--transfer", transfer);
    return r;
}

static const cJSON *refits_of(struct box *b, const char *id)
{
    return member(json_of(b, RUN(b, "show", id, "--json").out), "refits");
}

// Returns the members that do not depend on time.
static void assert_same_refits(struct box *b, const char *one, const char *other)
{
    static const char *const members[] = {"refit", "told",        "rows",  "batch",
                                          "k",     "correlation", "recall"};
    const cJSON *a = refits_of(b, one), *c = refits_of(b, other);
    assert_true(cJSON_GetArraySize(a) > 0);
    assert_int_equal(cJSON_GetArraySize(a), cJSON_GetArraySize(c));
    for (int i = 0; i < cJSON_GetArraySize(a); i++)
        for (size_t k = 0; k < COUNT(members); k++)
            assert_true(cJSON_Compare(member(cJSON_GetArrayItem(a, i), members[k]),
                                      member(cJSON_GetArrayItem(c, i), members[k]), true));
}

static void test_refits(void **state)
{
    struct box *b = *state;
    struct result r = tune(b, "none");
    assert_ok(&r);
    assert_contains(r.err, "model refitted to 32 results: rank correlation ");
    const cJSON *refits = refits_of(b, "1"), *refit;
    int told = 0;
    cJSON_ArrayForEach(refit, refits)
    {
        assert_int_equal(number_of(refit, "told"), told += 8);
        assert_int_equal(number_of(refit, "refit"), told / 8);
        assert_int_equal(number_of(refit, "rows"), told);
        assert_int_equal(number_of(refit, "batch"), told == 8 ? 0 : 8);
        assert_true(is_null(refit, "recall") == (told == 8));
        assert_true(number_of(refit, "seconds") >= 0 && number_of(refit, "bytes") > 0);
    }
    assert_int_equal(told, 32);
    r = RUN(b, "show", "1");
    assert_ok(&r);
    assert_contains(r.out, "model    fitted 4 times, last to 32 results  rank correlation ");
    r = RUN(b, "show", "1", "--refits");
    assert_contains(r.out, "refit     after  results");
    assert_null(strstr(r.out, "fitted 4 times"));
    r = RUN(b, "resume", "1", "--trials", "48"); // fits all of them again: says and stores one
    assert_ok(&r);
    assert_null(strstr(r.err, "to 32 results"));
    assert_contains(r.err, " 40 results");
    assert_int_equal(cJSON_GetArraySize(refits_of(b, "1")), 5);
}

static void test_without(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), SOURCE, "--trials", "20", "--seed",
                          "3", "--strategy", "opevo", "--transfer", "auto");
    assert_ok(&r);
    assert_contains(r.err, "strategy 'opevo' learns nothing from other sessions");
    assert_int_equal(cJSON_GetArraySize(refits_of(b, "1")), 0);
    assert_int_equal(cJSON_GetArraySize(member(listed_session(b, 1), "transfer")), 0);
    r = RUN(b, "show", "1", "--refits");
    assert_ok(&r);
    assert_null(strstr(r.out, "fitted"));
    assert_null(strstr(r.out, "refit "));
}

static void test_killed(void **state)
{
    struct box *b = *state;
    static const char *const points[] = {"refit:1", "refit:3", "told:16", "commit:24"};
    struct result r = tune(b, "none");
    assert_ok(&r);
    for (size_t i = 0; i < COUNT(points); i++) {
        const char *id = arena_printf(&b->arena, "%d", (int)i + 2);
        box_set(b, "TILEWALK_KILL", points[i]);
        r = tune(b, "none");
        assert_int_equal(r.code, 128 + SIGKILL);
        box_set(b, "TILEWALK_KILL", NULL);
        r = RUN(b, "resume", id);
        assert_ok(&r);
        assert_string_equal(sequence(b, (int64_t)i + 2), sequence(b, 1));
        assert_same_refits(b, "1", id);
    }
}

static void test_transfer(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--set", "N=96", SOURCE, "--trials",
                          "80", "--seed", "3");
    assert_ok(&r);
    r = tune(b, "1");
    assert_ok(&r);
    assert_contains(r.err, "the model begins with 80 results of 1 other session");
    const cJSON *from = member(listed_session(b, 2), "transfer");
    assert_int_equal(cJSON_GetArraySize(from), 1);
    assert_int_equal(number_of(cJSON_GetArrayItem(from, 0), "session"), 1);
    assert_true(number_of(cJSON_GetArrayItem(from, 0), "told") >= 80); // rejected ones are told too
    assert_ok(&(struct result){tune(b, "none").code, "", ""});
    assert_string_not_equal(sequence(b, 2), sequence(b, 3));

    box_set(b, "TILEWALK_KILL", "commit:20");
    assert_int_equal(tune(b, "auto").code, 128 + SIGKILL); // 4, from 1 to 3
    box_set(b, "TILEWALK_KILL", NULL);
    from = member(listed_session(b, 4), "transfer");
    assert_int_equal(cJSON_GetArraySize(from), 3);
    r = RUN(b, "rm", "1", "2", "--json");
    assert_ok(&r);
    assert_int_equal(cJSON_GetArraySize(listed_sessions(b)), 2);
    assert_int_equal(RUN(b, "show", "1").code, 1);
    r = RUN(b, "resume", "4");
    assert_ok(&r);
    assert_int_equal(trials_of(b, 4), 40);
}

static int histories_of(struct box *b, int64_t id)
{
    return cJSON_GetArraySize(member(listed_session(b, id), "transfer"));
}

static struct result walk(struct box *b, const char *transfer)
{
    return RUN(b, "tune", flow_path(b, "small.lua"), SOURCE, "--trials", "40", "--seed", "3",
               "--transfer", transfer);
}

// walk weights the results of others: stored, resumed and repeated like initial results of models.
static void test_weighed(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--set", "N=96", SOURCE, "--trials",
                          "40", "--seed", "3");
    assert_ok(&r);
    assert_int_equal(histories_of(b, 1), 0);
    r = walk(b, "1");
    assert_ok(&r);
    assert_int_equal(histories_of(b, 2), 1);
    r = walk(b, "none");
    assert_ok(&r);
    assert_int_equal(histories_of(b, 3), 0);
    assert_string_not_equal(sequence(b, 2), sequence(b, 3));

    box_set(b, "TILEWALK_KILL", "commit:20");
    assert_int_equal(walk(b, "1").code, 128 + SIGKILL); // 4
    box_set(b, "TILEWALK_KILL", NULL);
    r = RUN(b, "resume", "4");
    assert_ok(&r);
    assert_string_equal(sequence(b, 4), sequence(b, 2));
    r = RUN(b, "tune", "--like", "2", "--trials", "40", "--seed", "3"); // 5
    assert_ok(&r);
    assert_string_equal(sequence(b, 5), sequence(b, 2));
    r = RUN(b, "tune", "--like", "3", "--trials", "40", "--seed", "3"); // 6
    assert_ok(&r);
    assert_string_equal(sequence(b, 6), sequence(b, 3));
    r = RUN(b, "compare", "2", "3", "5");
    assert_ok(&r);
    assert_contains(r.out, ", transfer");
}

static const cJSON *learned_from(struct box *b, int64_t id)
{
    struct result r = RUN(b, "show", arena_printf(&b->arena, "%d", (int)id), "--json");
    assert_ok(&r);
    return member(member(json_of(b, r.out), "session"), "transfer");
}

// A task learns from those that began before it.
static void test_network(void **state)
{
    struct box *b = *state;
    copy_small(b);
    const char *network = box_write(b, "two.lua",
                                    "network 'two' for _, n in ipairs { 96, 48 } do output(layer {"
                                    " name = 'n' .. n, preset = 'small.lua', set = { N = n },"
                                    " from = input { name = 'x' .. n, sizes = { n, 64 } } }) end");
    struct result r = RUN(b, "tune", network, SOURCE, LEARNING, "--trials", "60", "--seed", "3");
    assert_ok(&r);
    assert_int_equal(cJSON_GetArraySize(learned_from(b, 2)), 0);
    assert_int_equal(cJSON_GetArraySize(learned_from(b, 3)), 1);
    assert_int_equal(number_of(learned_from(b, 3)->child, "session"), 2);
    r = RUN(b, "tune", network, SOURCE, LEARNING, "--trials", "10", "--seed", "3", "--transfer",
            "none", "--again");
    assert_ok(&r);
    assert_int_equal(cJSON_GetArraySize(learned_from(b, 6)), 0);
    r = RUN(b, "tune", network, SOURCE, "--trials", "10", "--seed", "3", "--again");
    assert_ok(&r);
    assert_string_equal(r.err, ""); // nobody asked for it

    box_set(b, "TILEWALK_KILL", "create:2"); // what was asked holds for tasks that begin later
    r = RUN(b, "tune", network, SOURCE, LEARNING, "--trials", "10", "--seed", "3", "--transfer",
            "none", "--again");
    assert_int_equal(r.code, 128 + SIGKILL);
    box_set(b, "TILEWALK_KILL", NULL);
    r = RUN(b, "resume", "10");
    assert_ok(&r);
    assert_int_equal(cJSON_GetArraySize(learned_from(b, 12)), 0);
}

static void test_refused(void **state)
{
    struct box *b = *state;
    struct result r = tune(b, "all");
    assert_refused(&r, 2, "--transfer", "'all' is not the number of a session");
    r = tune(b, "9");
    assert_refused(&r, 1, "session 9", NULL);
    static const char *const wrong[] = {"9", "all"};
    for (int i = 0; i < 2; i++) { // of no use to this one, and wrong all the same
        r = RUN(b, "tune", flow_path(b, "small.lua"), SOURCE, "--strategy", "random", "--trials",
                "5", "--transfer", wrong[i]);
        assert_refused(&r, i == 0 ? 1 : 2, i == 0 ? "session 9" : "'all'", NULL);
    }
    assert_int_equal(cJSON_GetArraySize(listed_sessions(b)), 0);
}

TEST_GROUP(model)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_refits),   FLOW_TEST(test_without), FLOW_TEST(test_killed),
        FLOW_TEST(test_transfer), FLOW_TEST(test_network), FLOW_TEST(test_refused),
        FLOW_TEST(test_weighed),
    };
    if (!XGBOOST)
        return group_skip("this build has no XGBoost");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
