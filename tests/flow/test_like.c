// `tune --like`: a new session from what another one stored.
#include "group.h"
#include "sessions.h"

#include <string.h>
#include <unistd.h>

#define SOURCE "synthetic:rugged:invalid=0.1:seed=2"

// Session 1, of a copy of the small space that lies in the box.
static void make_original(struct box *b)
{
    box_write(b, "small.comp", box_read(b, flow_path(b, "small.comp")));
    const char *path = box_write(b, "mine.lua", box_read(b, flow_path(b, "small.lua")));
    struct result r =
        RUN(b, "tune", path, "--set", "N=48", "--source", SOURCE, "--strategy", "opevo:lambda=5",
            "--trials", "60", "--seconds", "500", "--seed", "7", "--count-rejected");
    assert_ok(&r);
}

static void lose_files(struct box *b)
{
    assert_int_equal(unlink(box_path(b, "mine.lua")), 0);
    assert_int_equal(unlink(box_path(b, "small.comp")), 0);
}

static void same_text(struct box *b, int64_t a, int64_t c, const char *name)
{
    assert_string_equal(text_of(listed_session(b, a), name), text_of(listed_session(b, c), name));
}

static void test_same_seed(void **state)
{
    struct box *b = *state;
    make_original(b);
    lose_files(b);
    struct result r = RUN(b, "tune", "--like", "1", "--seed", "7");
    assert_ok(&r);
    assert_string_equal(sequence(b, 2), sequence(b, 1));
    static const char *const names[] = {"space", "title", "source", "strategy", "size", "operator"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        same_text(b, 1, 2, names[i]);
    const cJSON *first = listed_session(b, 1), *second = listed_session(b, 2);
    assert_true(cJSON_Compare(member(first, "settings"), member(second, "settings"), true));
    assert_int_equal(number_of(second, "budget_trials"), 60);
    assert_int_equal(number_of(second, "budget_seconds"), 500);
    r = RUN(b, "tune", "--like", "2", "--seed", "7"); // a copy is as good as the original
    assert_ok(&r);
    assert_string_equal(sequence(b, 3), sequence(b, 1));
}

static void start_in_the_box(const struct box *b)
{
    if (chdir(b->folder) != 0)
        abort();
}

// The session may be read from another folder.
static void test_paths_are_stored_whole(void **state)
{
    struct box *b = *state;
    box_write(b, "small.comp", box_read(b, flow_path(b, "small.comp")));
    box_write(b, "mine.lua", box_read(b, flow_path(b, "small.lua")));
    b->prepare = start_in_the_box;
    struct result r = RUN(b, "tune", "mine.lua", "--source", SOURCE, "--trials", "3");
    assert_ok(&r);
    const char *count = "SELECT count(*) FROM text WHERE path LIKE '/%/' || name";
    assert_int_equal(tamper(b, count), 2);
    b->prepare = NULL;
    r = RUN(b, "tune", "--like", "1", "--trials", "3");
    assert_ok(&r);
    assert_int_equal(tamper(b, count), 4);
}

static void test_new_seed(void **state)
{
    struct box *b = *state;
    make_original(b);
    struct result r = RUN(b, "tune", "--like", "1");
    assert_ok(&r);
    assert_string_not_equal(sequence(b, 2), sequence(b, 1));
    assert_true(number_of(listed_session(b, 2), "seed") != 7);
    assert_int_equal(trials_of(b, 2), 60);
}

static void expect_ahead(struct box *b, int64_t id, const char *ahead)
{
    assert_contains(text_of(listed_session(b, id), "strategy"), ahead);
}

// The number of open proposals of walk follows the workers that are named, and is kept where none
// are.
static void test_other_workers(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", SOURCE, "--trials", "5",
                          "--workers", "2");
    assert_ok(&r);
    r = RUN(b, "tune", "--like", "1");
    assert_ok(&r);
    r = RUN(b, "tune", "--like", "1", "--workers", "4");
    assert_ok(&r);
    expect_ahead(b, 1, ":ahead=1");
    expect_ahead(b, 2, ":ahead=1");
    expect_ahead(b, 3, ":ahead=3");
}

// The stored texts count, not the present file.
static void test_changed_file(void **state)
{
    struct box *b = *state;
    make_original(b);
    box_write(b, "mine.lua", "this is no space any more");
    struct result r = RUN(b, "tune", "--like", "1", "--seed", "7");
    assert_ok(&r);
    assert_string_equal(sequence(b, 2), sequence(b, 1));
}

static void test_overridden(void **state)
{
    struct box *b = *state;
    make_original(b);
    lose_files(b);
    struct result r = RUN(b, "tune", "--like", "1", "--strategy", "random", "--trials", "20",
                          "--source", "synthetic:bowl", "--set", "N=32");
    assert_ok(&r);
    const cJSON *session = listed_session(b, 2);
    assert_string_equal(text_of(session, "strategy"), "random");
    assert_string_equal(text_of(session, "source"), "synthetic:bowl");
    assert_int_equal(number_of(session, "budget_trials"), 20);
    assert_int_equal(number_of(member(session, "settings"), "N"), 32);
    assert_contains(text_of(session, "title"), "32");
    r = RUN(b, "tune", "--like", "2", "--set", "NN=32");
    assert_refused(&r, 2, "NN=32", "'N'");
}

// It stands on its own: the original may go, and it is resumed like any other.
static void test_independent(void **state)
{
    struct box *b = *state;
    make_original(b);
    lose_files(b);
    struct result r = RUN(b, "tune", "--like", "1", "--trials", "10");
    assert_ok(&r);
    r = RUN(b, "rm", "1");
    assert_ok(&r);
    r = RUN(b, "resume", "2", "--trials", "25");
    assert_ok(&r);
    assert_int_equal(trials_of(b, 2), 25);
}

static void test_wrong_words(void **state)
{
    struct box *b = *state;
    make_original(b);
    struct result r = RUN(b, "tune", "gemm", "--like", "1");
    assert_refused(&r, 2, "'gemm'", "--like");
    r = RUN(b, "tune");
    assert_refused(&r, 2, "missing", "--like ID");
    r = RUN(b, "tune", "--like", "9");
    assert_refused(&r, 1, "session 9", NULL);
    r = RUN(b, "tune", "--like", "first");
    assert_refused(&r, 2, "--like", "'first'");
    assert_int_equal(cJSON_GetArraySize(listed_sessions(b)), 1);
}

TEST_GROUP(like)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_same_seed),   FLOW_TEST(test_paths_are_stored_whole),
        FLOW_TEST(test_new_seed),    FLOW_TEST(test_changed_file),
        FLOW_TEST(test_overridden),  FLOW_TEST(test_other_workers),
        FLOW_TEST(test_independent), FLOW_TEST(test_wrong_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
