// `replay`, sessions on a recording, and sessions as recordings.
#include "group.h"
#include "sessions.h"

#include "base/str.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { SIDE = 8, POINTS = SIDE * SIDE };

static bool is_absent(int x, int y)
{
    return (x + 2 * y) % 7 == 0;
}

static bool is_failed(int x, int y)
{
    return (3 * x + y) % 5 == 0;
}

// A bowl on 8 x 8, with holes and failures: in our own format.
static const char *write_recording(struct box *b, const char *name, double scale)
{
    struct str text = {0};
    const char *comma = "";
    str_add(&text, "{\"format\":\"tilewalk-recording\",\"version\":1,"
                   "\"kernel\":\"k\",\"device\":\"Toaster 9\",\"unit\":\"s\",\"params\":["
                   "{\"name\":\"x\",\"kind\":\"discrete\",\"values\":[1,2,4,8,16,32,64,128]},"
                   "{\"name\":\"y\",\"kind\":\"discrete\",\"values\":[1,2,4,8,16,32,64,128]}],"
                   "\"entries\":[");
    for (int x = 0; x < SIDE; x++)
        for (int y = 0; y < SIDE; y++) {
            double seconds = scale * (1 + (x - 5) * (x - 5) + (y - 2) * (y - 2));
            if (is_absent(x, y))
                continue;
            str_printf(&text, "%s\n{\"config\":[%d,%d],", comma, 1 << x, 1 << y);
            if (is_failed(x, y))
                str_add(&text, "\"outcome\":\"crash\",\"compile_s\":0.5}");
            else
                str_printf(&text,
                           "\"outcome\":\"ok\",\"seconds\":%.17g,\"runs\":[%.17g,%.17g],"
                           "\"compile_s\":0.5,\"benchmark_s\":0.25}",
                           seconds, seconds * 0.9, seconds * 1.1);
            comma = ",";
        }
    str_add(&text, "]}\n");
    const char *path = box_write(b, name, str_text(&text));
    str_finish(&text);
    return path;
}

static int trials_there(void)
{
    int count = 0;
    for (int i = 0; i < POINTS; i++)
        count += !is_absent(i / SIDE, i % SIDE);
    return count;
}

// --- replay ---

static const cJSON *array(const cJSON *object, const char *name, int length)
{
    const cJSON *list = member(object, name);
    assert_true(cJSON_IsArray(list));
    assert_int_equal(cJSON_GetArraySize(list), length);
    return list;
}

static double last_of(const cJSON *list)
{
    return cJSON_GetArrayItem(list, cJSON_GetArraySize(list) - 1)->valuedouble;
}

static void test_objects(void **state)
{
    struct box *b = *state;
    cJSON **line;
    const char *one = write_recording(b, "one.json", 1e-3);
    const char *two = write_recording(b, "two.json", 2e-3);
    struct result r = RUN(b, "replay", one, two, "--strategy", "random,opevo:lambda=4", "--trials",
                          "100", "--repeats", "7", "--seed", "5", "--json");
    assert_ok(&r);
    assert_int_equal(json_lines(b, r.out, &line), 4);
    static const char *const names[] = {"one", "one", "two", "two"};
    static const char *const specs[] = {"random", "opevo:lambda=4"};
    for (int i = 0; i < 4; i++) {
        assert_string_equal(text_of(line[i], "recording"), names[i]);
        assert_string_equal(text_of(line[i], "strategy"), specs[i % 2]);
        assert_true(number_of(line[i], "trials") == 100 && number_of(line[i], "repeats") == 7);
        assert_true(number_of(line[i], "size") == trials_there());
        const cJSON *fraction = array(line[i], "best_fraction", 100), *v;
        double before = 0;
        cJSON_ArrayForEach(v, fraction)
        {
            assert_true(v->valuedouble >= before && v->valuedouble <= 1);
            before = v->valuedouble;
        }
        array(line[i], "std", 100);
        assert_true(number_of(line[i], "score") < 1);
        assert_true(number_of(line[i], "seconds_per_trial") > 0);
    }
    // More trials than there are configurations: the search ends with the best, and stays there.
    assert_true(last_of(member(line[0], "best_fraction")) == 1);
    assert_true(last_of(member(line[0], "std")) == 0);
    assert_true(number_of(line[0], "trials_done") == trials_there());
}

static const char *replayed(struct box *b, const char *path, const char *noise)
{
    struct result r = RUN(b, "compare", path, "--strategy", "random,opevo,local", "--trials", "20",
                          "--repeats", "30", "--curves", "--seed", "5", noise);
    assert_ok(&r);
    // Members that depend on the machine are left out.
    struct str kept = {0};
    const char *at = r.out, *cut;
    while ((cut = strstr(at, "\"seconds_per_trial\":"))) {
        str_add_bytes(&kept, at, (size_t)(cut - at));
        at = cut + strcspn(cut, "}");
    }
    str_add(&kept, at);
    const char *text = arena_strdup(&b->arena, str_text(&kept));
    str_finish(&kept);
    return text;
}

static void test_noise(void **state)
{
    struct box *b = *state;
    const char *path = write_recording(b, "one.json", 1e-3);
    const char *quiet = replayed(b, path, NULL), *noisy = replayed(b, path, "--noise");
    assert_string_equal(replayed(b, path, NULL), quiet);
    assert_string_equal(replayed(b, path, "--noise"), noisy);
    assert_string_not_equal(noisy, quiet);
}

// `replay` is an old spelling of `compare`; what it had alone is gone, with a word on it.
static void test_old_spelling(void **state)
{
    struct box *b = *state;
    const char *path = write_recording(b, "one.json", 1e-3);
    struct result r =
        RUN(b, "replay", path, "--strategy", "random,ga", "--trials", "30", "--repeats", "5");
    assert_ok(&r);
    assert_string_equal(
        r.out,
        RUN(b, "compare", path, "--strategy", "random,ga", "--trials", "30", "--repeats", "5").out);
    assert_contains(r.out, "  random\n");
    assert_contains(r.out, "  ga\n");
    static const char *const gone[][2] = {{"--threads", "2"}, {"--scheduler", "gradient"}};
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) {
        r = RUN(b, "replay", path, gone[i][0], gone[i][1]);
        assert_refused(&r, 2, gone[i][0], "is gone: ");
    }
    r = RUN(b, "compare", path, "--curves", "--csv");
    assert_refused(&r, 2, "--curves", NULL);
}

static void test_time(void **state)
{
    struct box *b = *state;
    const char *path = write_recording(b, "one.json", 1e-3);
    struct result r = RUN(b, "replay", path, "--strategy", "random", "--trials", "40", "--repeats",
                          "5", "--time", "--json");
    assert_ok(&r);
    const cJSON *object = json_of(b, r.out), *by_time = member(object, "by_time");
    double end = last_of(array(by_time, "seconds", 100));
    assert_true(end > 0.5 * 40 && end < 0.8 * 40);
    assert_true(last_of(array(by_time, "best_fraction", 100)) ==
                last_of(member(object, "best_fraction")));
    array(by_time, "std", 100);
}

static bool first_is_there(struct box *b, void *context)
{
    return strstr(printed_so_far(b, context), "\"random\"") != NULL;
}

// The second strategy would take minutes; the results of the first one are printed already.
static void test_interrupted(void **state)
{
    struct box *b = *state;
    const char *path = write_recording(b, "one.json", 1e-3);
    struct running *r = START(b, "replay", path, "--strategy", "random,rnn", "--trials", "5",
                              "--repeats", "100000", "--json");
    wait_until(b, "the first strategy is printed", first_is_there, r);
    send_signal(r, SIGINT);
    struct result ended = finish(b, r);
    if (ended.code != 130)
        fail_msg("exit code %d: %s", ended.code, ended.err);
    assert_string_equal(ended.err, "");
    cJSON **line;
    assert_int_equal(json_lines(b, ended.out, &line), 1);
}

static void test_bad_input(void **state)
{
    struct box *b = *state;
    const char *path = write_recording(b, "one.json", 1e-3);
    struct result r = RUN(b, "replay", path, "--strategy", "random,opvo");
    assert_refused(&r, 2, "unknown strategy 'opvo'", "opevo");
    r = RUN(b, "replay", path, "--strategy", "opevo:lamda=3");
    assert_refused(&r, 2, "no option 'lamda'", "lambda");
    r = RUN(b, "replay", path, "--strategy", "opevo:lambda=-3");
    assert_refused(&r, 2, "lambda=-3", NULL);
    r = RUN(b, "replay", path, "--strategy", "random,");
    assert_refused(&r, 2, "strategy ''", NULL);
    r = RUN(b, "replay", path, "--trials", "0");
    assert_refused(&r, 2, "--trials", "1000000");
    r = RUN(b, "replay", path, "--trials", "1000001");
    assert_refused(&r, 2, "--trials", "1000000");
    r = RUN(b, "replay", path, "--repeats", "0");
    assert_refused(&r, 2, "--repeats", "100000");
    r = RUN(b, "replay", path, "--repeats", "2.5");
    assert_refused(&r, 2, "--repeats", "2.5");
    r = RUN(b, "replay");
    assert_refused(&r, 2, "missing", NULL);
    r = RUN(b, "replay", path, box_path(b, "two.json"));
    assert_refused(&r, 2, "two.json", NULL);
    r = RUN(b, "replay", box_write(b, "text.json", "# not JSON\n"));
    assert_refused(&r, 1, "text.json", NULL);
}

static void test_declarations_are_refused(void **state)
{
    struct box *b = *state;
    const char *path =
        box_write(b, "t1.json",
                  "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"a\", \"Type\": "
                  "\"int\", \"Values\": \"[1, 2]\"}], \"Conditions\": []}, "
                  "\"KernelSpecification\": {\"KernelName\": \"k\"}}");
    char *source = mem_printf("replay:%s", path);
    struct result r = RUN(b, "replay", path);
    assert_refused(&r, 1, "t1.json", "nothing to replay");
    r = RUN(b, "tune", "--source", source);
    assert_refused(&r, 1, "t1.json", NULL);
    free(source);
}

static void test_no_costs(void **state)
{
    struct box *b = *state;
    const char *path = box_write(
        b, "bare.json",
        "{\"format\":\"tilewalk-recording\",\"version\":1,\"params\":[{\"name\":\"a\",\"kind\":"
        "\"discrete\",\"values\":[1,2]}],\"entries\":[{\"config\":[1],\"outcome\":\"ok\","
        "\"seconds\":1},{\"config\":[2],\"outcome\":\"ok\",\"seconds\":1}]}");
    struct result r = RUN(b, "replay", path, "--time");
    assert_refused(&r, 1, "bare.json", "--against time");
    // All times are the same: there is nothing to score.
    r = RUN(b, "replay", path, "--json", "--trials", "2", "--strategy", "random");
    assert_ok(&r);
    assert_true(is_null(json_of(b, r.out), "score"));
}

// --- sessions on a recording ---

static const char *source_of(struct box *b, const char *path, const char *rest)
{
    return arena_printf(&b->arena, "replay:%s%s", path, rest);
}

static void test_session(void **state)
{
    struct box *b = *state;
    const char *source = source_of(b, write_recording(b, "one.json", 1e-3), "");
    struct result r = RUN(b, "tune", "--source", source, "--strategy", "random", "--trials", "200",
                          "--seed", "3", "--json");
    assert_ok(&r);
    struct events e = events_of(b, r.out);
    const cJSON *end = end_event(&e), *best = member(end, "best");
    assert_string_equal(text_of(end, "message"), "the space is exhausted");
    assert_int_equal(number_of(end, "trials"), trials_there());
    assert_int_equal(number_of(end, "rejected"), POINTS - trials_there());
    assert_int_equal(number_of(member(best, "config"), "x"), 32);
    assert_true(fabs(number_of(best, "ms") - 1) < 1e-9);
    assert_true(fabs(number_of(best, "tflops") - 1) < 1e-9); // the fastest that is recorded
    assert_int_equal(cJSON_GetArraySize(member(best, "samples")), 2);
    const cJSON *session = listed_session(b, 1);
    assert_string_equal(text_of(session, "device"), "Toaster 9");
    assert_string_equal(text_of(session, "space"), "one");
    assert_string_equal(text_of(session, "title"), "replay one");
    assert_string_equal(text_of(session, "operator"), "replay");
    assert_string_equal(text_of(session, "state"), "done");
    r = RUN(b, "show", "1", "--trials");
    assert_ok(&r);
    assert_contains(r.out, "x=32 y=4");
}

static void test_session_goes_on(void **state)
{
    struct box *b = *state;
    const char *path = write_recording(b, "one.json", 1e-3);
    const char *source = source_of(b, path, "");
    struct result r = RUN(b, "tune", "--source", source, "--trials", "40", "--seed", "3");
    assert_ok(&r);
    r = RUN(b, "tune", "--source", source, "--trials", "13", "--seed", "3");
    assert_ok(&r);
    r = RUN(b, "resume", "2", "--trials", "40");
    assert_ok(&r);
    assert_string_equal(sequence(b, 2), sequence(b, 1));
    r = RUN(b, "tune", "--like", "1", "--seed", "3");
    assert_ok(&r);
    assert_string_equal(sequence(b, 3), sequence(b, 1));
    write_recording(b, "one.json", 2e-3);
    r = RUN(b, "resume", "2", "--trials", "45");
    assert_refused(&r, 1, "one.json", "not what it was");
    assert_int_equal(unlink(path), 0);
    r = RUN(b, "resume", "2", "--trials", "45");
    assert_refused(&r, 1, "one.json", "session 2");
    r = RUN(b, "show", "2", "--trials"); // what is stored is there
    assert_ok(&r);
}

// Slowed down, and from another folder than the file's name was given in.
static void test_rhythm(void **state)
{
    struct box *b = *state;
    const char *path = write_recording(b, "one.json", 1e-3);
    const char *slow = source_of(b, path, ":speed=100");
    struct result r = RUN(b, "tune", "--source", slow, "--trials", "12", "--seed", "3");
    assert_ok(&r);
    assert_string_equal(text_of(listed_session(b, 1), "source"), slow);
    assert_true(number_of(listed_session(b, 1), "ran_seconds") >= 12 * 0.005);
    r = RUN(b, "tune", "--source", source_of(b, path, ""), "--trials", "12", "--seed", "3");
    assert_ok(&r);
    assert_string_equal(sequence(b, 2), sequence(b, 1));
}

static void test_bad_sessions(void **state)
{
    struct box *b = *state;
    const char *path = write_recording(b, "one.json", 1e-3), *source = source_of(b, path, "");
    struct result r = RUN(b, "tune", "mm1", "--source", source);
    assert_refused(&r, 2, "'mm1' is one argument too many", "recording");
    r = RUN(b, "tune", "--source", source, "--set", "N=3");
    assert_refused(&r, 2, "--set", "recording");
    r = RUN(b, "tune", "--source", source, "--export", box_path(b, "out"));
    assert_refused(&r, 2, "--export", "recording");
    r = RUN(b, "tune", "--source", "replay:");
    assert_refused(&r, 2, "which file", NULL);
    r = RUN(b, "tune", "--source", source_of(b, path, ":speed=0"));
    assert_refused(&r, 2, "speed '0'", NULL);
    r = RUN(b, "tune", "--source", source_of(b, path, ":sped=2"));
    assert_refused(&r, 2, "'sped'", NULL);
    r = RUN(b, "tune", "--source", "replay:/nowhere/x.json");
    assert_refused(&r, 1, "/nowhere/x.json", NULL);
    r = RUN(b, "tune", "--source", source, "--trials", "5");
    assert_ok(&r);
    r = RUN(b, "export", "1", "--out", box_path(b, "out"));
    assert_refused(&r, 1, "no kernel to export", "--as recording");
    r = RUN(b, "tune", "--like", "1", "--source", "synthetic:bowl");
    assert_refused(&r, 2, "session 1", "recording");
    assert_int_equal(cJSON_GetArraySize(listed_sessions(b)), 1);
}

// --- sessions as recordings ---

static void test_export(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--set", "N=8", "--source",
                          "synthetic:rugged:invalid=0.2", "--strategy", "random", "--trials",
                          "2000", "--seed", "3");
    assert_ok(&r);
    const char *folder = box_path(b, "out"), *file = box_path(b, "out/small-1.json");
    r = RUN(b, "export", "1", "--as", "recording", "--out", folder, "--json");
    assert_ok(&r);
    const cJSON *written = json_of(b, r.out), *session = listed_session(b, 1);
    assert_string_equal(cJSON_GetArrayItem(member(written, "files"), 0)->valuestring, file);
    assert_true(number_of(written, "entries") == number_of(session, "trials"));
    assert_true(number_of(written, "valid") == number_of(session, "ok"));
    r = RUN(b, "export", "1", "--as", "recording", "--out", folder);
    assert_refused(&r, 1, "there already", "--force");
    r = RUN(b, "export", "1", "--as", "recording", "--verify");
    assert_refused(&r, 2, "--as recording", "--verify");

    // The whole space was searched: a replay has the same trials, points and best.
    r = RUN(b, "replay", file, "--strategy", "random", "--trials", "2000", "--repeats", "2",
            "--json");
    assert_ok(&r);
    const cJSON *replay = json_of(b, r.out);
    assert_true(number_of(replay, "size") == number_of(session, "trials"));
    assert_true(number_of(replay, "trials_done") == number_of(session, "trials"));
    assert_true(last_of(member(replay, "best_fraction")) == 1);
    r = RUN(b, "tune", "--source", source_of(b, file, ""), "--strategy", "random", "--trials",
            "2000", "--seed", "3");
    assert_ok(&r);
    const cJSON *again = listed_session(b, 2);
    assert_string_equal(text_of(again, "size"), text_of(session, "size"));
    assert_true(number_of(again, "ok") == number_of(session, "ok"));
    assert_true(number_of(again, "rejected") == number_of(session, "rejected"));
    r = RUN(b, "export", "2", "--as", "recording", "--out", folder, "--name", "again", "--json");
    assert_ok(&r);
    assert_true(number_of(json_of(b, r.out), "valid") == number_of(session, "ok"));
}

// A session of a few trials in a large space replays as well: searches draw from what is there.
static void test_export_of_a_sample(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", "mm1", "--source", "synthetic:bowl", "--device", "none",
                          "--strategy", "random", "--trials", "60", "--seed", "3");
    assert_ok(&r);
    const char *file = box_path(b, "out/sample.json");
    r = RUN(b, "export", "1", "--as", "recording", "--out", box_path(b, "out"), "--name", "sample");
    assert_ok(&r);
    r = RUN(b, "replay", file, "--strategy", "random,opevo", "--trials", "60", "--repeats", "3",
            "--json");
    assert_ok(&r);
    cJSON **line;
    assert_int_equal(json_lines(b, r.out, &line), 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(number_of(line[i], "trials_done"), 60);
        assert_true(last_of(member(line[i], "best_fraction")) == 1);
    }
    r = RUN(b, "tune", "--source", source_of(b, file, ""), "--trials", "50", "--seed", "3");
    assert_ok(&r);
    assert_int_equal(trials_of(b, 2), 50);
}

static void expect_cost(struct box *b, int64_t id, const char *file, const char *limit,
                        const char *value, const char *cost)
{
    struct result r = RUN(b, "tune", "--source", source_of(b, file, ""), limit, value, "--trials",
                          "12", "--seed", "3");
    assert_ok(&r);
    assert_contains(text_of(listed_session(b, id), "strategy"), cost);
}

// Only where the budget is of seconds walk divides by them, and never a rate.
static void test_what_counts(void **state)
{
    struct box *b = *state;
    const char *times = write_recording(b, "times.json", 1e-3);
    char *text = box_read(b, times), *unit = strstr(text, "\"unit\":\"s\"");
    assert_non_null(unit);
    const char *rates =
        box_write(b, "rates.json",
                  arena_printf(&b->arena, "%.*s\"unit\":\"s/GFLOP\"%s", (int)(unit - text), text,
                               unit + strlen("\"unit\":\"s\"")));
    expect_cost(b, 1, times, "--workers", "1", ":cost=0:");
    expect_cost(b, 2, times, "--seconds", "60", ":cost=1:");
    expect_cost(b, 3, times, "--patience", "5", ":cost=1:");
    expect_cost(b, 4, rates, "--seconds", "60", ":cost=0:");
}

TEST_GROUP(replay)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_objects),
        FLOW_TEST(test_noise),
        FLOW_TEST(test_old_spelling),
        FLOW_TEST(test_time),
        FLOW_TEST(test_interrupted),
        FLOW_TEST(test_bad_input),
        FLOW_TEST(test_declarations_are_refused),
        FLOW_TEST(test_no_costs),
        FLOW_TEST(test_session),
        FLOW_TEST(test_session_goes_on),
        FLOW_TEST(test_rhythm),
        FLOW_TEST(test_bad_sessions),
        FLOW_TEST(test_export),
        FLOW_TEST(test_export_of_a_sample),
        FLOW_TEST(test_what_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
