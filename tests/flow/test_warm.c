// Warm starts: a session begins with the results of another one, changed to fit it, and is resumed
// with them.
#include "group.h"
#include "sessions.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#define SOURCE      "--source", "synthetic:rugged:seed=3:invalid=0.1"
#define COUNT(list) (int)(sizeof(list) / sizeof *(list))

// Session 1: 40 trials on the small space.
static void make_first(struct box *b)
{
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), SOURCE, "--strategy", "random",
                          "--trials", "40", "--seed", "5");
    assert_ok(&r);
}

static const char *write_record(struct box *b)
{
    const char *path = box_path(b, "best.json");
    struct result r = RUN(b, "export", "1", "--as", "warm-start", "--out", path);
    assert_ok(&r);
    assert_contains(r.out, "best.json: 8 configurations");
    return path;
}

static cJSON *trials_in_order(struct box *b, const char *id)
{
    struct result r = RUN(b, "show", id, "--trials", "--show-rejected", "--json");
    assert_ok(&r);
    return member(json_of(b, r.out), "trials");
}

static cJSON *member_at(cJSON *list, int i, const char *name)
{
    return member(cJSON_GetArrayItem(list, i), name);
}

static int product_of(const cJSON *parts)
{
    const cJSON *part;
    int product = 1;
    cJSON_ArrayForEach(part, parts) product *= part->valueint;
    return product;
}

// A parameter that a sketch lacks has no value, and needs none.
static void test_conditional(void **state)
{
    struct box *b = *state;
    const char *path = box_path(b, "sketch.json");
    struct result r = RUN(b, "tune", "nrm", "--source", "synthetic:machine", "--strategy", "random",
                          "--trials", "20", "--seed", "5");
    assert_ok(&r);
    r = RUN(b, "export", "1", "--as", "warm-start", "--out", path);
    assert_ok(&r);
    r = RUN(b, "tune", "nrm", "--source", "synthetic:machine", "--trials", "3", "--seed", "6",
            "--warm-start", path);
    assert_ok(&r);
    const cJSON *first = cJSON_GetArrayItem(trials_in_order(b, "2"), 0);
    const cJSON *best =
        cJSON_GetArrayItem(member(json_of(b, box_read(b, path)), "configurations"), 0);
    assert_true(cJSON_Compare(member(first, "config"), member(best, "configuration"), true));
}

static void test_record(void **state)
{
    struct box *b = *state;
    make_first(b);
    const cJSON *record = json_of(b, box_read(b, write_record(b))), *entry;
    assert_string_equal(text_of(record, "format"), "tilewalk-start");
    assert_int_equal(number_of(record, "version"), 1);
    assert_string_equal(text_of(record, "space"), "small");
    assert_int_equal(number_of(member(record, "problem"), "N"), 64);
    const cJSON *list = member(record, "configurations");
    double slower = 0;
    assert_int_equal(cJSON_GetArraySize(list), 8);
    cJSON_ArrayForEach(entry, list)
    {
        assert_true(number_of(entry, "ms") >= slower);
        slower = number_of(entry, "ms");
        assert_int_equal(product_of(member(member(entry, "configuration"), "tile")), 64);
    }
    struct result r =
        RUN(b, "export", "1", "--as", "warm-start", "--out", box_path(b, "best.json"));
    assert_refused(&r, 1, "best.json", "--force");
    r = RUN(b, "export", "1", "--as", "warm-start", "--out", box_path(b, "best.json"), "--force",
            "--best", "3", "--json");
    assert_ok(&r);
    assert_int_equal(number_of(json_of(b, r.out), "entries"), 3);
}

// The same space: exactly these, best first, whether from a file or from a session.
static void test_same_space(void **state)
{
    struct box *b = *state;
    make_first(b);
    const char *path = write_record(b);
    cJSON *given = member(json_of(b, box_read(b, path)), "configurations");
    static const char *const strategies[] = {"opevo", "random", "local", "ga", "grid", "gbfs"};
    for (int s = 0; s < COUNT(strategies); s++) {
        struct result r =
            RUN(b, "tune", flow_path(b, "small.lua"), SOURCE, "--strategy", strategies[s],
                "--trials", "20", "--seed", "6", "--warm-start", s % 2 ? "1" : path);
        assert_ok(&r);
        assert_null(strstr(r.err, "moved"));
        cJSON *trials = trials_in_order(b, arena_printf(&b->arena, "%d", s + 2));
        int first = strcmp(strategies[s], "gbfs") == 0; // the untiled state comes before
        for (int i = 0; i < 8; i++)
            assert_true(cJSON_Compare(member_at(trials, first + i, "config"),
                                      member_at(given, i, "configuration"), true));
        assert_int_equal(number_of(listed_session(b, s + 2), "warm_start"), 8);
    }
    assert_int_equal(number_of(listed_session(b, 1), "warm_start"), 0);
    struct result r = RUN(b, "compare", "1", "3"); // random both
    assert_ok(&r);
    assert_contains(r.out, ", warm");
}

// Another shape: the parts change in proportion, all else stays.
static void test_other_shape(void **state)
{
    struct box *b = *state;
    make_first(b);
    const char *path = write_record(b);
    cJSON *given = member(json_of(b, box_read(b, path)), "configurations");
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--set", "N=4096", SOURCE,
                          "--trials", "20", "--seed", "6", "--warm-start", path);
    assert_ok(&r);
    assert_contains(r.err, " 8 moved");
    assert_int_equal(number_of(listed_session(b, 2), "warm_start"), 8);
    cJSON *trials = trials_in_order(b, "2");
    int same = 0;
    for (int i = 0; i < 8; i++) {
        cJSON *from = member_at(given, i, "configuration"), *to = member_at(trials, i, "config");
        assert_int_equal(product_of(member(to, "tile")), 4096);
        assert_string_not_equal(member_at(trials, i, "outcome")->valuestring, "rejected");
        same += cJSON_Compare(member(from, "order"), member(to, "order"), true) &&
                cJSON_Compare(member(from, "stage"), member(to, "stage"), true);
    }
    assert_true(same >= 4); // a rule may have moved some
}

static struct result tune_warm(struct box *b, const char *sources)
{
    return RUN(b, "tune", flow_path(b, "small.lua"), "--set", "N=96", SOURCE, "--trials", "40",
               "--seed", "9", "--workers", "2", "--warm-start", sources);
}

static void test_deterministic(void **state)
{
    struct box *b = *state;
    make_first(b);
    const char *path = write_record(b);
    const char *both = arena_printf(&b->arena, "%s,1", path); // each counts once
    struct result r = tune_warm(b, path);
    assert_ok(&r);
    r = tune_warm(b, both);
    assert_ok(&r);
    assert_string_equal(sequence(b, 2), sequence(b, 3));
    r = RUN(b, "tune", "--like", "2", "--seed", "9"); // takes the start over
    assert_ok(&r);
    assert_string_equal(sequence(b, 2), sequence(b, 4));
    r = RUN(b, "tune", flow_path(b, "small.lua"), "--set", "N=96", SOURCE, "--trials", "40",
            "--seed", "9", "--workers", "2");
    assert_ok(&r);
    assert_string_not_equal(sequence(b, 2), sequence(b, 5));
}

// A resumed session has the start with which it was made, wherever that came from.
static void test_killed(void **state)
{
    struct box *b = *state;
    make_first(b);
    const char *path = write_record(b);
    struct result r = tune_warm(b, path);
    assert_ok(&r);
    static const char *const points[] = {"create:1", "submit:3", "commit:5", "told:8", "put:20"};
    for (int i = 0; i < COUNT(points); i++) {
        const char *id = arena_printf(&b->arena, "%d", i + 3);
        box_set(b, "TILEWALK_KILL", points[i]);
        r = tune_warm(b, path);
        assert_int_equal(r.code, 128 + SIGKILL);
        box_set(b, "TILEWALK_KILL", NULL);
        const char *text = box_read(b, path);
        assert_int_equal(unlink(path), 0);
        r = RUN(b, "resume", id);
        assert_ok(&r);
        assert_string_equal(sequence(b, i + 3), sequence(b, 2));
        box_write(b, "best.json", text);
    }
}

static const char *edited(struct box *b, const char *path, const char *from, const char *to)
{
    const char *text = box_read(b, path), *at = strstr(text, from);
    assert_non_null(at);
    return box_write(
        b, "edited.json",
        arena_printf(&b->arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)));
}

static void expect_refused(struct box *b, const char *source, int code, const char *part,
                           const char *other)
{
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), SOURCE, "--warm-start", source);
    assert_refused(&r, code, part, other);
    assert_int_equal(cJSON_GetArraySize(listed_sessions(b)), 1);
}

static void test_wrong_sources(void **state)
{
    struct box *b = *state;
    make_first(b);
    const char *path = write_record(b);
    struct result r = RUN(b, "tune", "gemm", SOURCE, "--warm-start", path);
    assert_refused(&r, 1, "best.json:", "'tile'");
    expect_refused(b, edited(b, path, "\"tile\"", "\"tiles\""), 1,
                   "edited.json:", "no parameter 'tiles'");
    expect_refused(b, "9", 1, "no session 9", NULL);
    expect_refused(b, "missing.json", 1, "missing.json", NULL);
    expect_refused(b, ",", 2, "--warm-start", NULL);
    expect_refused(b, box_write(b, "x.json", "[1, 2"), 1, "x.json:1", NULL);
    expect_refused(b, box_write(b, "y.json", "{\"format\": \"else\"}"), 1, "y.json:1",
                   "export --as warm-start");
}

// One label that is not known costs one configuration; when all have it, the parameter is named.
static void test_left_out(void **state)
{
    struct box *b = *state;
    make_first(b);
    const char *start = "{\"format\": \"tilewalk-start\", \"version\": 1, \"configurations\": [";
    const char *bad = "{\"configuration\": {\"tile\": [8, 2, 2, 2], \"unroll\": 16, \"order\": "
                      "[\"n\", \"m\", \"k\"], \"stage\": \"texture\"}}";
    const char *good = "{\"configuration\": {\"tile\": [8, 2, 2, 2], \"unroll\": 20, \"order\": "
                       "[\"k\", \"m\", \"n\"], \"stage\": \"none\"}}";
    const char *path = box_write(b, "bad.json", arena_printf(&b->arena, "%s%s]}", start, bad));
    expect_refused(b, path, 1, "none of its configurations fits 'small'", "'stage'");
    path = box_write(b, "mixed.json", arena_printf(&b->arena, "%s%s, %s]}", start, bad, good));
    struct result r =
        RUN(b, "tune", flow_path(b, "small.lua"), SOURCE, "--trials", "3", "--warm-start", path);
    assert_ok(&r);
    assert_contains(r.err, "begins with 1 configuration of");
    assert_contains(r.err, "1 moved to the nearest here, 1 left out");
    const cJSON *config = member_at(trials_in_order(b, "2"), 0, "config");
    assert_int_equal(number_of(config, "unroll"), 16);
}

// Sessions on recordings start warm as well.
static void test_recording(void **state)
{
    struct box *b = *state;
    make_first(b);
    struct result r =
        RUN(b, "export", "1", "--as", "recording", "--out", b->folder, "--name", "space");
    assert_ok(&r);
    const char *source = arena_printf(&b->arena, "replay:%s", box_path(b, "space.json"));
    r = RUN(b, "tune", "--source", source, "--trials", "10", "--warm-start", "1");
    assert_ok(&r);
    assert_int_equal(number_of(listed_session(b, 2), "warm_start"), 8);
    assert_true(number_of(listed_session(b, 2), "best_tflops") > 0);
}

// --- first guesses ---

static const char *write_guesses(struct box *b)
{
    return box_write(b, "guesses.jsonl",
                     "{\"tile\": [8, 2, 2, 2], \"unroll\": 16, \"order\": [\"n\", \"m\", \"k\"], "
                     "\"stage\": \"none\"}\n"
                     "\n"
                     "{\"configuration\": {\"tile\": [4, 4, 2, 2], \"unroll\": 20, \"order\": "
                     "[\"k\", \"m\", \"n\"], \"stage\": \"shared\"}}\n"
                     "{\"tile\": [1, 64, 1, 1], \"unroll\": 0, \"order\": [\"k\", \"m\", \"n\"], "
                     "\"stage\": \"none\"}\n");
}

// Lines become legal configurations, which are the second, fourth and sixth trial; a session that
// goes on has them, too.
static void test_guesses(void **state)
{
    struct box *b = *state;
    const char *path = write_guesses(b), *space = flow_path(b, "small.lua");
    struct result r =
        RUN(b, "tune", space, SOURCE, "--trials", "30", "--seed", "6", "--seed-from", path);
    assert_ok(&r);
    assert_contains(r.err, "2 moved");
    assert_contains(r.err, "0 dropped");
    cJSON *trials = trials_in_order(b, "1");
    const cJSON *first = member_at(trials, 1, "config"), *second = member_at(trials, 3, "config");
    assert_int_equal(number_of(first, "unroll"), 16);
    assert_int_equal(number_of(second, "unroll"), 16);
    assert_string_equal(text_of(second, "stage"), "shared");
    for (int i = 0; i < 30; i++)
        assert_string_not_equal(text_of(cJSON_GetArrayItem(trials, i), "outcome"), "rejected");
    r = RUN(b, "tune", space, SOURCE, "--trials", "3", "--seed", "6", "--seed-from", path);
    assert_ok(&r);
    assert_int_equal(remove(path), 0);
    r = RUN(b, "resume", "2", "--trials", "30");
    assert_ok(&r);
    assert_string_equal(sequence(b, 1), sequence(b, 2));
}

static void test_wrong_guesses(void **state)
{
    struct box *b = *state;
    const char *space = flow_path(b, "small.lua");
    const char *path = box_write(b, "bad.jsonl", "\n{\"tile\": [1, 2}\n");
    struct result r = RUN(b, "tune", space, SOURCE, "--seed-from", path);
    assert_refused(&r, 1, "bad.jsonl:2:", "JSON");
    path = box_write(b, "other.jsonl", "{\"block\": 3}\n");
    r = RUN(b, "tune", space, SOURCE, "--seed-from", path);
    assert_refused(&r, 1, "other.jsonl:1:", "'block'");
    path = box_write(b, "none.jsonl", "\n");
    r = RUN(b, "tune", space, SOURCE, "--seed-from", path);
    assert_refused(&r, 1, "none.jsonl", "fits 'small'");
    r = RUN(b, "tune", space, SOURCE, "--seed-from", write_guesses(b), "--strategy", "opevo");
    assert_refused(&r, 2, "--seed-from", "opevo");
    r = RUN(b, "tune", space, SOURCE, "--strategy", "lfbo:trees=3");
    assert_refused(&r, 2, "'lfbo'", "any more");
}

TEST_GROUP(warm)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_record),        FLOW_TEST(test_same_space),    FLOW_TEST(test_other_shape),
        FLOW_TEST(test_deterministic), FLOW_TEST(test_killed),        FLOW_TEST(test_wrong_sources),
        FLOW_TEST(test_left_out),      FLOW_TEST(test_recording),     FLOW_TEST(test_conditional),
        FLOW_TEST(test_guesses),       FLOW_TEST(test_wrong_guesses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
