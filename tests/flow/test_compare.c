// `compare` and `plot`, on sessions with synthetic times: their numbers against those of `show`,
// their errors, their pictures.
#include "group.h"
#include "sessions.h"

#include "base/file.h"
#include "base/str.h"

#include <math.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define SOURCE      "synthetic:rugged:invalid=0.3"

static void tune(struct box *b, const char *strategy, const char *seed, const char *trials,
                 const char *source, const char *size)
{
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--strategy", strategy, "--seed",
                          seed, "--trials", trials, "--source", source, "--set", size);
    assert_ok(&r);
}

// Sessions 1 3 5 are random, 2 4 6 opevo; the last one is shorter.
static void tune_six(struct box *b)
{
    static const char *const seeds[] = {"3", "1", "2"};
    for (int i = 0; i < 3; i++) {
        tune(b, "random", seeds[i], "60", SOURCE, "N=64");
        tune(b, "opevo", seeds[i], i < 2 ? "60" : "40", SOURCE, "N=64");
    }
}

// --- numbers ---

static cJSON *trials_shown(struct box *b, int id)
{
    const char *text = arena_printf(&b->arena, "%d", id);
    return member(json_of(b, RUN(b, "show", text, "--trials", "--json").out), "trials");
}

static double best_after(const cJSON *list, int trials)
{
    const cJSON *trial;
    double best = 0;
    cJSON_ArrayForEach(trial,
                       list) if (number_of(trial, "id") <= trials && !is_null(trial, "tflops"))
        best = fmax(best, number_of(trial, "tflops"));
    return best;
}

static double item(const cJSON *object, const char *name, int i)
{
    const cJSON *value = cJSON_GetArrayItem(member(object, name), i);
    assert_true(cJSON_IsNumber(value));
    return value->valuedouble;
}

// `trials` are those of each session, by its number.
static void check_group(cJSON *const *trials, const cJSON *group, double best)
{
    static const int at[] = {5, 25, 60};
    double share[3];
    assert_float_equal(number_of(group, "mean_tflops"), best * item(group, "best_fraction", 2),
                       1e-9);
    assert_float_equal(number_of(group, "mean_tflops_std"), best * item(group, "std", 2), 1e-9);
    for (size_t k = 0; k < COUNT(at); k++) {
        double mean = 0, squares = 0;
        for (int i = 0; i < 3; i++) {
            share[i] = best_after(trials[(int)item(group, "sessions", i)], at[k]) / best;
            mean += share[i] / 3;
        }
        for (int i = 0; i < 3; i++)
            squares += pow(share[i] - mean, 2);
        assert_float_equal(item(group, "best_fraction", (int)k), mean, 1e-9);
        assert_float_equal(item(group, "std", (int)k), sqrt(squares / 2), 1e-9);
    }
    assert_true(is_null(group, "score"));
    assert_int_equal(number_of(group, "runs"), 3);
    assert_in_range((uintmax_t)(100 * number_of(group, "rank")), 100, 200);
    assert_int_equal(cJSON_GetArraySize(member(group, "to")), 3);
}

static void test_numbers(void **state)
{
    struct box *b = *state;
    tune_six(b);
    struct result r = RUN(b, "compare", "1", "2", "3", "4", "5", "6", "--json", "--at", "5,25,60");
    assert_ok(&r);
    const cJSON *all = json_of(b, r.out), *groups = member(all, "strategies");
    cJSON *trials[7];
    double best = 0;
    for (int id = 1; id <= 6; id++) {
        trials[id] = trials_shown(b, id);
        best = fmax(best, best_after(trials[id], 60));
    }
    assert_float_equal(number_of(all, "best_tflops"), best, 1e-9);
    assert_int_equal(number_of(all, "horizon"), 60);
    assert_int_equal(number_of(all, "shortest"), 40);
    assert_int_equal(number_of(all, "pairs"), 3);
    assert_string_equal(text_of(all, "against"), "trials");
    assert_int_equal(cJSON_GetArraySize(groups), 2);
    const cJSON *first = cJSON_GetArrayItem(groups, 0), *second = cJSON_GetArrayItem(groups, 1);
    check_group(trials, first, best);
    check_group(trials, second, best);
    assert_true(number_of(first, "area") >= number_of(second, "area"));
    assert_true(item(first, "p", 1) >= 0.25 && item(first, "p", 1) <= 1); // of three pairs
    // The sessions are in the order of their seeds: 1, 2, 3.
    const cJSON *random = strcmp(text_of(first, "strategy"), "random") == 0 ? first : second;
    assert_int_equal(item(random, "sessions", 0), 3);
    assert_int_equal(item(random, "sessions", 1), 5);
    assert_int_equal(item(random, "sessions", 2), 1);
}

static void test_time(void **state)
{
    struct box *b = *state;
    tune(b, "random", "1", "30", SOURCE, "N=64");
    struct result r = RUN(b, "compare", "1", "--against", "time", "--json");
    assert_ok(&r);
    const cJSON *all = json_of(b, r.out);
    const cJSON *session = member(json_of(b, RUN(b, "show", "1", "--json").out), "session");
    assert_string_equal(text_of(all, "against"), "time");
    assert_float_equal(number_of(all, "horizon"), number_of(session, "ran_seconds"), 1e-3);
    const cJSON *group = cJSON_GetArrayItem(member(all, "strategies"), 0);
    assert_float_equal(
        item(group, "best_fraction", cJSON_GetArraySize(member(group, "best_fraction")) - 1), 1,
        1e-12);
}

// N trials are this share of a space with 21952 points.
static void test_share_of_the_space(void **state)
{
    struct box *b = *state;
    tune_six(b);
    struct result r = RUN(b, "compare", "1", "2", "3", "--json");
    assert_ok(&r);
    double horizon = number_of(json_of(b, r.out), "horizon");
    r = RUN(b, "compare", "1", "2", "3", "--against", "space", "--json");
    assert_ok(&r);
    const cJSON *all = json_of(b, r.out);
    const cJSON *session = member(json_of(b, RUN(b, "show", "1", "--json").out), "session");
    assert_string_equal(text_of(all, "against"), "space");
    assert_float_equal(number_of(all, "horizon"),
                       100 * horizon / strtod(text_of(session, "size"), NULL), 1e-12);
    r = RUN(b, "compare", "1", "2", "3", "--against", "space");
    assert_contains(r.out, "% of the space until the median run");
}

// --- formats ---

static int lines_of(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static void test_formats(void **state)
{
    struct box *b = *state;
    tune_six(b);
    box_set(b, "LC_ALL", "C");
    struct result r = RUN(b, "compare", "1", "2", "3", "4", "5", "6");
    assert_ok(&r);
    assert_contains(r.out, text_of(listed_session(b, 1), "title"));
    assert_contains(r.out, " " SOURCE ", ");
    assert_contains(r.out, " +- ");
    assert_contains(r.out, " 40 to 60 ");
    assert_contains(r.out, " 3 5 1");
    assert_contains(r.out, " 4 6 2");
    box_set(b, "LC_ALL", "C.UTF-8");
    r = RUN(b, "compare", "1", "2", "3", "4", "5", "6", "--markdown");
    assert_ok(&r);
    assert_int_equal(lines_of(r.out), 4);
    assert_contains(r.out, " ± ");
    assert_true(str_starts(r.out, "|"));
    r = RUN(b, "compare", "1", "2", "3", "4", "5", "6", "--csv");
    assert_ok(&r);
    assert_int_equal(lines_of(r.out), 3);
    assert_true(
        str_starts(r.out, "letter,strategy,runs,best,mean,mean_std,at_10,at_10_std,at_20,"));
}

// --- what is refused ---

static void test_what_differs(void **state)
{
    struct box *b = *state;
    tune(b, "random", "1", "5", SOURCE, "N=64");
    tune(b, "random", "1", "5", SOURCE, "N=32");
    tune(b, "random", "1", "5", "synthetic:bowl", "N=64");
    box_write(b, "small.comp", box_read(b, flow_path(b, "small.comp")));
    const char *text = box_read(b, flow_path(b, "small.lua"));
    const char *path = box_write(b, "small.lua", arena_printf(&b->arena, "%s-- changed\n", text));
    struct result r = RUN(b, "tune", path, "--source", SOURCE, "--trials", "5", "--set", "N=64");
    assert_ok(&r);
    r = RUN(b, "compare", "1", "2");
    assert_refused(&r, 1, "sessions 1 and 2 cannot be compared", "different problems");
    r = RUN(b, "compare", "1", "3");
    assert_refused(&r, 1, "different sources", "synthetic:bowl");
    r = RUN(b, "compare", "1", "4");
    assert_refused(&r, 1, "sessions 1 and 4", "files");
    r = RUN(b, "plot", "1", "2", "3", "4", "--charset",
            "ascii"); // which can show them side by side
    assert_ok(&r);
    assert_contains(r.out, "32x64x64");
}

static void test_words(void **state)
{
    struct box *b = *state;
    static const char *const wrong[][3] = {
        {"--against", "seconds", "trials|time|space"},
        {"--at", "0", "ascending numbers above 0"},
        {"--at", "5,3", "5,3"},
        {"--at", "5,x", "5,x"},
        {"--at", ",", "above 0"},
        {"--at", "1,2,3,4,5,6,7,8,9", "at most 8"},
        {"--plot", "curves.gif", ".svg or .png"},
        {"--cost", "1", "--plot says where"},
    };
    struct result r = RUN(b, "compare", "1");
    assert_refused(&r, 1, "tilewalk.db", NULL);
    tune(b, "random", "1", "5", SOURCE, "N=64");
    for (size_t i = 0; i < COUNT(wrong); i++) {
        r = RUN(b, "compare", "1", wrong[i][0], wrong[i][1]);
        assert_refused(&r, 2, wrong[i][2], NULL);
    }
    r = RUN(b, "compare", "1", "1");
    assert_refused(&r, 2, "session 1 is named twice", NULL);
    r = RUN(b, "compare", "1", "7");
    assert_refused(&r, 1, "session 7", NULL);
    r = RUN(b, "compare", "one");
    assert_refused(&r, 2, "'one'", "tilewalk ls");
    r = RUN(b, "compare", "1", "--json", "--csv");
    assert_refused(&r, 2, "choose one", NULL);
    r = RUN(b, "plot", "1", "--charset", "latin");
    assert_refused(&r, 2, "'latin'", "braille");
    r = RUN(b, "plot", "1", "--out", "curves.pdf");
    assert_refused(&r, 2, "'curves.pdf'", ".png");
    r = RUN(b, "plot", "1", "--out", box_path(b, "missing/curves.svg"));
    assert_refused(&r, 1, "missing/curves.svg", NULL);
    r = RUN(b, "compare", "1", "--plot", box_path(b, "missing/curves.svg"));
    assert_refused(&r, 1, "missing/curves.svg", NULL);
}

// --- pictures ---

static void test_pictures(void **state)
{
    struct box *b = *state;
    tune_six(b);
    const char *png = box_path(b, "c.png"), *svg = box_path(b, "c.svg");
    struct result r = RUN(b, "compare", "1", "2", "3", "4", "--plot", png, "--csv");
    assert_ok(&r);
    assert_int_equal(lines_of(r.out), 3);
    assert_memory_equal(box_read(b, png), "\x89PNG", 4);
    r = RUN(b, "compare", "1", "2", "3", "--against", "time", "--plot", svg);
    assert_ok(&r);
    assert_contains(box_read(b, svg), "<svg ");
    r = RUN(b, "compare", "1", "2", "3", "--against", "space", "--cost", "--plot", svg);
    assert_ok(&r);
    r = RUN(b, "compare", "1", "2", "3", "4", "--boxes", "--plot", svg);
    assert_ok(&r);
    r = RUN(b, "plot", "1", "2", "--out", svg);
    assert_ok(&r);
    assert_string_equal(r.out, "");
    assert_contains(box_read(b, svg), "stroke-dasharray"); // of the second line
    r = RUN(b, "plot", "1", "--out", svg, "--plain", "--against", "time");
    assert_ok(&r);
    assert_null(strstr(box_read(b, svg), "stroke-dasharray"));
    assert_contains(r.out, "running time");
}

static void test_text_plot(void **state)
{
    struct box *b = *state;
    tune_six(b);
    box_set(b, "LC_ALL", "C");
    struct result r = RUN(b, "plot", "1", "2", "--plain");
    assert_ok(&r);
    assert_contains(r.out, "FLOPS\n");
    assert_contains(r.out, "AAAA");
    assert_contains(r.out, "\nA  1  random  seed 3  ");
    assert_contains(r.out, "\nB  2  opevo  seed");
    assert_int_equal(lines_of(r.out), 23);
    for (const char *c = r.out; *c; c++)
        assert_true((unsigned char)*c < 0x80);
    box_set(b, "LC_ALL", "C.UTF-8");
    assert_contains(RUN(b, "plot", "1").out, "│");
    assert_null(strstr(RUN(b, "plot", "1", "--charset", "ascii").out, "│"));
}

static void test_nothing_valid(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--source",
                          "synthetic:bowl:invalid=0.999999999", "--trials", "10", "--seed",
                          "1"); // another seed may meet the optimum, which is always valid
    assert_int_equal(r.code, 3);
    r = RUN(b, "compare", "1", "--plot", box_path(b, "c.svg"));
    assert_ok(&r);
    assert_contains(r.out, "nothing valid yet");
    r = RUN(b, "compare", "1", "--json");
    assert_true(is_null(json_of(b, r.out), "best_tflops"));
    r = RUN(b, "plot", "1");
    assert_ok(&r);
    assert_contains(r.out, "nothing valid");
}

TEST_GROUP(compare)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_numbers),       FLOW_TEST(test_time),
        FLOW_TEST(test_formats),       FLOW_TEST(test_share_of_the_space),
        FLOW_TEST(test_words),         FLOW_TEST(test_pictures),
        FLOW_TEST(test_what_differs),  FLOW_TEST(test_text_plot),
        FLOW_TEST(test_nothing_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
