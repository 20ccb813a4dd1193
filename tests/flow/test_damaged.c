// A session whose rows are damaged: it is listed as such, commands on it report it in one line, and
// nothing else is harmed. tests/store/test_damaged.c has the kinds of damage that the store finds.
#include "group.h"
#include "sessions.h"

#include "base/str.h"

#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

// Three sessions, the second of which is damaged.
static void make_sessions(struct box *b, const char *sql)
{
    for (int i = 0; i < 3; i++) {
        struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl",
                              "--trials", "6", "--seed", "5");
        assert_ok(&r);
    }
    tamper(b, sql);
}

static void test_listed(void **state)
{
    struct box *b = *state;
    make_sessions(b, "UPDATE session SET title = NULL, workers = 100000000 WHERE id = 2");
    cJSON *hurt = listed_session(b, 2);
    assert_string_equal(text_of(hurt, "state"), "damaged");
    assert_string_equal(text_of(hurt, "reason"), "column title is missing (NULL)");
    assert_string_equal(text_of(hurt, "space"), "small");
    assert_string_equal(state_of(b, 1), "done");
    assert_null(cJSON_GetObjectItem(listed_session(b, 3), "reason"));
    struct result r = RUN(b, "ls");
    assert_ok(&r);
    assert_contains(r.out, "damaged");
    assert_contains(r.out, text_of(hurt, "reason"));
}

static const char *const on_it[][6] = {
    {"show", "2"},
    {"show", "2", "--json"},
    {"show", "2", "--trials", "--csv"},
    {"compare", "1", "2"},
    {"resume", "2", "--trials", "9"},
    {"export", "2", "--warm-start", "warm.json"},
    {"export", "2", "--as", "recording"},
    {"set", "2", "trials=99"},
    {"tune", "--like", "2"},
    {"plot", "2"},
};

static void test_refused(void **state)
{
    struct box *b = *state;
    static const char *const damages[] = {
        "UPDATE session SET title = NULL WHERE id = 2",
        "UPDATE session SET workers = 100000000 WHERE id = 2",
        "UPDATE session SET strategy = NULL WHERE id = 2",
    };
    make_sessions(b, damages[0]);
    for (size_t d = 0; d < COUNT(damages); d++) {
        tamper(b, "UPDATE session SET title = 'matmul', workers = 1, strategy = 'random'");
        tamper(b, damages[d]);
        for (size_t i = 0; i < COUNT(on_it); i++) {
            struct result r = run_list(b, on_it[i]);
            assert_refused(&r, 1, "session 2 is damaged: column ", "rm 2");
        }
    }
    struct result r = RUN(b, "compare", "1", "3");
    assert_ok(&r);
    r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl", "--strategy",
            XGBOOST ? "autotvm" : "walk", "--transfer", "auto", "--trials", "4");
    assert_ok(&r);
    r = RUN(b, "rm", "2");
    assert_ok(&r);
    assert_null(listed_session(b, 2));
}

// Commands that read a damaged trial report it; others work.
#define KEPT                                                                                       \
    "ask, number, told, asked_after, generation, key, config, outcome, phase, reason, seconds,"    \
    " samples, early_stopped, compile_s, pipeline_s, device_s, worker, elapsed_s, finished,"       \
    " rank_seconds, origin, unraced"

static void test_trial(void **state)
{
    struct box *b = *state;
    static const char *const columns[] = {"config", "key", "seconds"};
    make_sessions(b, "UPDATE trial SET reason = reason");
    for (size_t i = 0; i < COUNT(columns); i++) {
        tamper(b, "DELETE FROM trial WHERE session = 2");
        tamper(b, arena_printf(
                      &b->arena,
                      "INSERT INTO trial(session, %s) SELECT 2, %s FROM trial WHERE session = 1",
                      KEPT, KEPT));
        tamper(b,
               arena_printf(&b->arena, "UPDATE trial SET %s = NULL WHERE session = 2 AND ask = 1",
                            columns[i]));
        const char *what = arena_printf(&b->arena, "at ask 1: column %s is missing", columns[i]);
        struct result r = RUN(b, "show", "2", "--trials");
        assert_refused(&r, 1, "session 2", what);
        r = RUN(b, "resume", "2", "--trials", "9");
        assert_refused(&r, 1, "session 2", what);
        cJSON *hurt = listed_session(b, 2);
        assert_string_equal(text_of(hurt, "state"), "damaged");
        assert_contains(text_of(hurt, "reason"), what);
        assert_string_equal(state_of(b, 1), "done");
        r = RUN(b, "show", "1", "--trials");
        assert_ok(&r);
    }
}

// A page of other bytes is reported as damage, not as an absent session.
static void test_lost(void **state)
{
    struct box *b = *state;
    static const char *const more[][6] = {
        {"card", "2"},
        {"set", "2", "note=x"},
        {"pause", "2"},
        {"stop", "2"},
        {"rm", "2"},
        {"show", "2", "--trial", "1"},
        {"watch", "2", "--plain"},
        {"tune", "gemm", "--warm-start", "2"},
    };
    make_sessions(b, "DELETE FROM session WHERE id = 2");
    for (size_t i = 0; i < COUNT(on_it) + COUNT(more); i++) {
        struct result r = run_list(b, i < COUNT(on_it) ? on_it[i] : more[i - COUNT(on_it)]);
        assert_refused(&r, 1, "is damaged: the row of session 2 is gone", "FILE .recover");
    }
    struct result r = RUN(b, "ls");
    assert_ok(&r);
    assert_one_line(r.err);
    assert_contains(r.err, "session 2");
    assert_string_equal(state_of(b, 1), "done");
    r = RUN(b, "show", "3");
    assert_ok(&r);
}

TEST_GROUP(damaged)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_listed),
        FLOW_TEST(test_refused),
        FLOW_TEST(test_trial),
        FLOW_TEST(test_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
