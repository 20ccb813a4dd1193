// `compare` on recordings: the numbers of `replay`, ranks over repeats and over recordings, and
// errors.
#include "group.h"
#include "program.h"

#include "base/str.h"

#include <math.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define WORDS       "--trials", "30", "--repeats", "12", "--seed", "5"

enum { SIDE = 8 };

// A bowl on 8 x 8 of which some points fail, in our own format; `costs`: with compile times.
static const char *write_recording(struct box *b, const char *name, int optimum, bool costs)
{
    struct str text = {0};
    str_add(&text, "{\"format\":\"tilewalk-recording\",\"version\":1,\"kernel\":\"k\","
                   "\"device\":\"Toaster 9\",\"unit\":\"s\",\"params\":["
                   "{\"name\":\"x\",\"kind\":\"discrete\",\"values\":[0,1,2,3,4,5,6,7]},"
                   "{\"name\":\"y\",\"kind\":\"discrete\",\"values\":[0,1,2,3,4,5,6,7]}],"
                   "\"entries\":[");
    for (int i = 0; i < SIDE * SIDE; i++) {
        int x = i % SIDE, y = i / SIDE;
        str_printf(&text, "%s\n{\"config\":[%d,%d],", i ? "," : "", x, y);
        if ((3 * x + y) % 5 == 0)
            str_add(&text, "\"outcome\":\"crash\"");
        else
            str_printf(&text, "\"outcome\":\"ok\",\"seconds\":%d",
                       1 + (x - optimum) * (x - optimum) + (y - 2) * (y - 2));
        str_add(&text, costs ? ",\"compile_s\":0.5}" : "}");
    }
    str_add(&text, "]}\n");
    const char *path = box_write(b, name, str_text(&text));
    str_finish(&text);
    return path;
}

static double item(const cJSON *object, const char *name, int i)
{
    const cJSON *value = cJSON_GetArrayItem(member(object, name), i);
    assert_true(cJSON_IsNumber(value));
    return value->valuedouble;
}

static const cJSON *group_of(const cJSON *all, const char *strategy)
{
    const cJSON *group;
    cJSON_ArrayForEach(group, member(all, "strategies"))
    {
        if (strcmp(text_of(group, "strategy"), strategy) == 0)
            return group;
    }
    fail_msg("no strategy %s", strategy);
    return NULL;
}

// --- numbers ---

static void check_like_replay(const cJSON *all, const cJSON *replayed)
{
    const cJSON *group = group_of(all, text_of(replayed, "strategy"));
    double area = 0;
    for (int i = 0; i < 30; i++)
        area += item(replayed, "best_fraction", i) / 30;
    assert_float_equal(number_of(group, "area"), area, 1e-6);
    for (int i = 0; i < 3; i++) {
        int at = (int)item(all, "at", i);
        assert_float_equal(item(group, "best_fraction", i), item(replayed, "best_fraction", at - 1),
                           1e-6);
        assert_float_equal(item(group, "std", i), item(replayed, "std", at - 1), 1e-6);
    }
    assert_float_equal(number_of(group, "score"), number_of(replayed, "score"), 1e-6);
    assert_int_equal(number_of(group, "runs"), 12);
}

static void test_same_numbers_as_replay(void **state)
{
    struct box *b = *state;
    const char *file = write_recording(b, "bowl.json", 5, false);
    struct result r = RUN(b, "compare", file, "--strategy", "random,local,ga:pop=10", WORDS, "--at",
                          "3,10,30", "--json");
    assert_ok(&r);
    const cJSON *all = json_of(b, r.out);
    r = RUN(b, "replay", file, "--strategy", "random,local,ga:pop=10", WORDS, "--json");
    cJSON **line;
    int count = json_lines(b, r.out, &line);
    assert_int_equal(count, 3);
    for (int i = 0; i < count; i++)
        check_like_replay(all, line[i]);
    const cJSON *recording = cJSON_GetArrayItem(member(all, "recordings"), 0);
    assert_string_equal(text_of(recording, "name"), "bowl");
    assert_int_equal(number_of(recording, "size"), SIDE * SIDE);
    assert_float_equal(number_of(recording, "optimum"), 1, 0);
    assert_float_equal(number_of(group_of(all, "local"), "best_ms"), 1000, 1e-9);
    assert_int_equal(number_of(all, "pairs"), 12); // repeats
    assert_int_equal(number_of(all, "seed"), 5);
    assert_null(cJSON_GetObjectItem(all, "best_tflops"));
}

static void test_several_are_problems(void **state)
{
    struct box *b = *state;
    const char *file[] = {write_recording(b, "a.json", 1, false),
                          write_recording(b, "b.json", 5, false),
                          write_recording(b, "c.json", 7, false)};
    struct result r = RUN(b, "compare", file[0], file[1], file[2], "--strategy", "random,local",
                          WORDS, "--at", "10,30", "--json");
    assert_ok(&r);
    const cJSON *all = json_of(b, r.out), *local = group_of(all, "local");
    double mean = 0, score = 0;
    for (int i = 0; i < 3; i++) {
        const cJSON *one =
            json_of(b, RUN(b, "replay", file[i], "--strategy", "local", WORDS, "--json").out);
        mean += item(one, "best_fraction", 9) / 3;
        score += number_of(one, "score") / 3;
    }
    assert_float_equal(item(local, "best_fraction", 0), mean, 1e-6);
    assert_float_equal(number_of(local, "score"), score, 1e-6);
    assert_int_equal(number_of(all, "pairs"), 3); // recordings
    assert_int_equal(number_of(local, "runs"), 36);
    assert_true(is_null(local, "best_ms"));
}

static void test_time(void **state)
{
    struct box *b = *state;
    const char *file = write_recording(b, "bowl.json", 5, true);
    struct result r =
        RUN(b, "compare", file, "--strategy", "random", WORDS, "--against", "time", "--json");
    assert_ok(&r);
    const cJSON *all = json_of(b, r.out);
    assert_true(number_of(all, "shortest") >= 15); // 30 compilations, and what the strategy took
    assert_true(is_null(group_of(all, "random"), "score"));
    r = RUN(b, "compare", write_recording(b, "free.json", 5, false), "--against", "time");
    assert_refused(&r, 1, "free.json: ", NULL);
}

// Its trials take no time; their times are those of the recording.
static void test_time_of_a_session(void **state)
{
    struct box *b = *state;
    char source[512];
    const char *file = write_recording(b, "bowl.json", 5, true);
    snprintf(source, sizeof source, "replay:%s", file);
    struct result r = RUN(b, "tune", "--source", source, "--device", "none", "--strategy", "random",
                          "--trials", "30", "--seed", "1", "--plain");
    assert_ok(&r);
    r = RUN(b, "compare", "1", "--against", "time", "--json");
    assert_ok(&r);
    double ran =
        number_of(member(json_of(b, RUN(b, "show", "1", "--json").out), "session"), "ran_seconds");
    assert_float_equal(number_of(json_of(b, r.out), "horizon"), ran + 30 * 0.5, 1e-6);
    r = RUN(b, "compare", "1", "--against", "space", "--json");
    assert_float_equal(number_of(json_of(b, r.out), "horizon"), 100 * 30. / 64, 1e-9);
}

// --- formats ---

static void test_formats(void **state)
{
    struct box *b = *state;
    const char *one = write_recording(b, "one.json", 1, false), *svg = box_path(b, "c.svg");
    const char *two = write_recording(b, "two.json", 6, false);
    box_set(b, "LC_ALL", "C");
    struct result r = RUN(b, "compare", one, "--strategy", "random,local", WORDS, "--plot", svg);
    assert_ok(&r);
    assert_contains(r.out, "one: 64 configurations, ");
    assert_contains(r.out, "optimum 2");
    assert_contains(r.out, " 12)");
    assert_null(strstr(r.out, "sessions"));
    assert_contains(box_read(b, svg), "stroke-dasharray");
    struct result again =
        RUN(b, "compare", one, "--strategy", "random,local", WORDS, "--plot", svg);
    assert_string_equal(again.out, r.out);
    r = RUN(b, "compare", one, two, "--strategy", "random,local", WORDS);
    assert_ok(&r);
    assert_contains(r.out, "one, two;");
    assert_contains(r.out, " 2)");
    r = RUN(b, "compare", one, "--strategy", "random,local", WORDS, "--csv");
    assert_contains(r.out, "letter,strategy,runs,best,mean,mean_std,at_");
    r = RUN(b, "compare", one, "--strategy", "random,local", WORDS, "--markdown");
    assert_true(str_starts(r.out, "|"));
    assert_contains(r.out, "| score |");
}

// --- what is refused ---

static void test_words(void **state)
{
    struct box *b = *state;
    const char *file = write_recording(b, "bowl.json", 5, false);
    static const char *const of_recordings[][2] = {
        {"--strategy", "random"}, {"--trials", "5"}, {"--repeats", "5"}, {"--seed", "0"}};
    for (size_t i = 0; i < COUNT(of_recordings); i++) {
        struct result r = RUN(b, "compare", "1", of_recordings[i][0], of_recordings[i][1]);
        assert_refused(&r, 2, of_recordings[i][0], "is for recordings");
    }
    struct result r = RUN(b, "compare", file, "1");
    assert_refused(&r, 2, "1 is a session and '", "./1");
    r = RUN(b, "compare", file, file);
    assert_refused(&r, 2, "bowl.json'", NULL);
    r = RUN(b, "compare", file, "--db", "x.db");
    assert_refused(&r, 2, "--db", NULL);
    r = RUN(b, "compare", box_path(b, "nowhere.json"));
    assert_refused(&r, 2, "nowhere.json", NULL);
    r = RUN(b, "compare", file, "--strategy", "random,locale");
    assert_refused(&r, 2, "locale", "'local'");
    r = RUN(b, "compare", file, "--strategy", "random,");
    assert_refused(&r, 2, "strategy", NULL);
    r = RUN(b, "compare", file, "--trials", "0");
    assert_refused(&r, 2, "--trials", "from 1");
    r = RUN(b, "compare", box_write(b, "text.json", "hello"));
    assert_refused(&r, 1, "text.json", NULL);
    r = RUN(b, "compare", file, "--against", "seconds");
    assert_refused(&r, 2, "--against", "'seconds'");
}

TEST_GROUP(compare_recordings)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_same_numbers_as_replay),
        FLOW_TEST(test_several_are_problems),
        FLOW_TEST(test_time),
        FLOW_TEST(test_time_of_a_session),
        FLOW_TEST(test_formats),
        FLOW_TEST(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
