// Notes on sessions, the trash, and deleting them.
#include "group.h"
#include "sessions.h"

#include <string.h>

static void make_session(struct box *b)
{
    struct result r =
        RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl", "--trials", "5");
    assert_ok(&r);
}

static int count_sessions(struct box *b)
{
    return cJSON_GetArraySize(listed_sessions(b));
}

// --- notes ---

static void test_note(void **state)
{
    struct box *b = *state;
    make_session(b);
    make_session(b);
    assert_true(is_null(listed_session(b, 1), "note"));
    assert_null(strstr(RUN(b, "ls").out, "note"));
    struct result r = RUN(b, "set", "1", "note=before \"swizzle\", 50 %s");
    assert_ok(&r);
    assert_string_equal(text_of(listed_session(b, 1), "note"), "before \"swizzle\", 50 %s");
    assert_true(is_null(listed_session(b, 2), "note"));
    const cJSON *shown = member(json_of(b, RUN(b, "show", "1", "--json").out), "session");
    assert_string_equal(text_of(shown, "note"), "before \"swizzle\", 50 %s");
    assert_contains(RUN(b, "show", "1").out, "\nnote     before \"swizzle\", 50 %s\n");
    assert_contains(RUN(b, "ls").out, "  before \"swizzle\", 50 %s\n");
    r = RUN(b, "set", "1", "note=");
    assert_ok(&r);
    assert_true(is_null(listed_session(b, 1), "note"));
    assert_null(strstr(RUN(b, "show", "1").out, "note"));
}

static void test_long_problem_is_seen_to_be_cut(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", "conv-implicit", "--source", "synthetic:bowl", "--trials", "2",
                          "--set", "batch=100", "--set", "in_channels=512", "--set", "stride=2");
    assert_ok(&r);
    const char *all = RUN(b, "ls").out;
    assert_contains(all, "nchw 100x512x");
    assert_contains(all, "..  ");
    assert_null(strstr(all, "stride=2"));
}

static void test_note_of_a_running_session(void **state)
{
    struct box *b = *state;
    struct running *r = start_long_session(b);
    struct result noted = RUN(b, "set", "1", "note=mine");
    assert_ok(&noted);
    RUN(b, "stop", "1");
    noted = finish(b, r);
    assert_ok(&noted);
    assert_string_equal(text_of(listed_session(b, 1), "note"), "mine"); // its end left it alone
}

static void test_wrong_notes(void **state)
{
    struct box *b = *state;
    make_session(b);
    struct result r = RUN(b, "set", "1", "note=two\nlines");
    assert_refused(&r, 2, "one line", NULL);
    r = RUN(b, "set", "1", "note=\033[2J");
    assert_refused(&r, 2, "control characters", NULL);
    r = RUN(b, "note", "1");
    assert_refused(&r, 2, "missing", "ID TEXT");
    r = RUN(b, "set", "first", "note=x");
    assert_refused(&r, 2, "'first'", "tilewalk ls");
    r = RUN(b, "set", "7", "note=x");
    assert_refused(&r, 1, "session 7", NULL);
    assert_true(is_null(listed_session(b, 1), "note"));
}

// --- removing ---

static void test_remove(void **state)
{
    struct box *b = *state;
    for (int i = 0; i < 4; i++)
        make_session(b);
    struct result r = RUN(b, "rm", "2");
    assert_ok(&r);
    assert_contains(r.out, "restore 2");
    r = RUN(b, "show", "2");
    assert_refused(&r, 1, "trash", "restore 2");
    assert_int_equal(count_sessions(b), 3);
    assert_string_equal(RUN(b, "completion", "sessions").out, "4\n3\n1\n");
    r = RUN(b, "rm", "1", "4", "1", "--json");
    assert_ok(&r);
    assert_string_equal(r.out, "{\"removed\":[1,4]}\n");
    assert_int_equal(count_sessions(b), 1);
    assert_int_equal(trials_of(b, 3), 5);
}

static int64_t rows_for_older_programs(struct box *b)
{
    return count_rows(b, "session", "state IS NOT 'removed'");
}

static void test_trash_gives_back_all(void **state)
{
    struct box *b = *state;
    for (int i = 0; i < 3; i++)
        make_session(b);
    const char *before = sequence(b, 2);
    struct result r = RUN(b, "rm", "2");
    assert_ok(&r);
    r = RUN(b, "rm", "1");
    assert_ok(&r);
    assert_int_equal(count_sessions(b), 1);
    assert_int_equal(rows_for_older_programs(b), 1);
    assert_contains(RUN(b, "ls", "--trash").out, "\n   1  done ");
    const cJSON *trash = member(json_of(b, RUN(b, "ls", "--trash", "--json").out), "sessions");
    assert_int_equal(cJSON_GetArraySize(trash), 2);
    assert_float_equal(number_of(cJSON_GetArrayItem(trash, 0), "id"), 1, 0); // removed last
    assert_string_equal(text_of(cJSON_GetArrayItem(trash, 1), "state"), "done");
    r = RUN(b, "resume", "2");
    assert_refused(&r, 1, "trash", "restore 2");
    r = RUN(b, "rm", "2");
    assert_refused(&r, 1, "trash", NULL);

    r = RUN(b, "restore"); // the last one
    assert_ok(&r);
    assert_string_equal(state_of(b, 1), "done");
    r = RUN(b, "restore", "2", "--json");
    assert_ok(&r);
    assert_string_equal(r.out, "{\"restored\":[2]}\n");
    assert_string_equal(sequence(b, 2), before);
    r = RUN(b, "resume", "2", "--trials", "8");
    assert_ok(&r);
    assert_int_equal(trials_of(b, 2), 8);
    r = RUN(b, "restore");
    assert_refused(&r, 1, "empty", NULL);
    r = RUN(b, "restore", "3");
    assert_refused(&r, 1, "session 3", "trash");
    assert_contains(RUN(b, "ls", "--trash").out, "empty");
}

static void test_purge(void **state)
{
    struct box *b = *state;
    for (int i = 0; i < 4; i++)
        make_session(b);
    struct result r = RUN(b, "rm", "--purge", "4");
    assert_ok(&r);
    RUN(b, "rm", "1", "2", "3");
    r = RUN(b, "rm", "--purge", "2");
    assert_ok(&r);
    r = RUN(b, "restore", "2");
    assert_refused(&r, 1, "session 2", "tilewalk ls");
    r = RUN(b, "rm", "--purge", "--json"); // the rest of the trash
    assert_ok(&r);
    assert_int_equal(count_rows(b, "session", NULL), 0);
    assert_int_equal(count_rows(b, "trial", NULL), 0);
    r = RUN(b, "rm", "--purge");
    assert_refused(&r, 1, "empty", NULL);
}

static void test_remove_all_or_nothing(void **state)
{
    struct box *b = *state;
    make_session(b);
    struct result r = RUN(b, "rm", "1", "9");
    assert_refused(&r, 1, "session 9", NULL);
    r = RUN(b, "rm", "1", "x");
    assert_refused(&r, 2, "'x'", "tilewalk ls");
    r = RUN(b, "rm");
    assert_refused(&r, 2, "missing", "ID...");
    assert_int_equal(count_sessions(b), 1);
}

static void test_remove_a_running_session(void **state)
{
    struct box *b = *state;
    struct running *running = start_long_session(b);
    make_session(b);
    struct result r = RUN(b, "rm", "2", "1");
    assert_refused(&r, 1, "session 1 is running", "pause 1");
    assert_int_equal(count_sessions(b), 2);
    int64_t trials = trials_of(b, 1);
    wait_for_trials(b, 1, trials + 3); // it goes on
    RUN(b, "stop", "1");
    r = finish(b, running);
    assert_ok(&r);
    r = RUN(b, "rm", "2", "1");
    assert_ok(&r);
    assert_int_equal(count_sessions(b), 0);
}

TEST_GROUP(manage)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_note),
        FLOW_TEST(test_note_of_a_running_session),
        FLOW_TEST(test_long_problem_is_seen_to_be_cut),
        FLOW_TEST(test_wrong_notes),
        FLOW_TEST(test_remove),
        FLOW_TEST(test_trash_gives_back_all),
        FLOW_TEST(test_purge),
        FLOW_TEST(test_remove_all_or_nothing),
        FLOW_TEST(test_remove_a_running_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
