// The command line: help, usage errors, and what they suggest. Exit code 2 means that the line
// itself is wrong; 1 that it was understood and failed.
#include "group.h"
#include "program.h"
#include "sessions.h"

#include "base/str.h"

#include <string.h>

static const char *const commands[] = {"tune",   "resume",     "pause",      "stop",   "set",
                                       "check",  "ls",         "show",       "export", "devices",
                                       "doctor", "strategies", "completion", "man",    "compare",
                                       "rm",     "compare",    "plot",       "card"};
#define COUNT(list) (sizeof(list) / sizeof *(list))

static void test_help(void **state)
{
    struct box *b = *state;
    struct result overview = RUN(b, "--help");
    assert_int_equal(overview.code, 0);
    assert_string_equal(overview.out, RUN(b, "help").out);
    for (size_t i = 0; i < COUNT(commands); i++) {
        struct result r = RUN(b, commands[i], "--help");
        assert_int_equal(r.code, 0);
        assert_string_equal(r.err, "");
        assert_true(str_starts(r.out, "usage: tilewalk"));
        assert_contains(r.out, commands[i]);
        assert_contains(overview.out, arena_printf(&b->arena, "\n  %s ", commands[i]));
        assert_string_equal(r.out, RUN(b, "help", commands[i]).out);
    }
    assert_null(strstr(RUN(b, "tune", "--help").out, "--fault")); // for tests only
}

static void test_version(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "--version");
    assert_int_equal(r.code, 0);
    // A checkout's commit, or a packager's words, are behind the version.
    assert_true(str_starts(r.out, "tilewalk " TILEWALK_VERSION));
    const char *build = r.out + strlen("tilewalk " TILEWALK_VERSION);
    if (str_starts(build, " ("))
        assert_string_equal(strchr(build, ')'), ")\n");
    else
        assert_string_equal(build, "\n");
}

static void test_commands(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tuen");
    assert_refused(&r, 2, "'tuen'", "'tune'");
    r = RUN(b, "frobnicate");
    assert_refused(&r, 2, "'frobnicate'", "--help");
    r = RUN(b, "help", "chek");
    assert_refused(&r, 2, "'chek'", "'check'");
    r = RUN(b, "--frobnicate");
    assert_refused(&r, 2, "unknown option '--frobnicate'", "--help");
}

static void test_options(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", "mm1", "--trails", "5");
    assert_refused(&r, 2, "--trails", "--trials");
    r = RUN(b, "ls", "--frobnicate");
    assert_refused(&r, 2, "--frobnicate", "ls --help");
    r = RUN(b, "ls", "-x");
    assert_refused(&r, 2, "'-x'", NULL);
    r = RUN(b, "tune", "mm1", "--trials");
    assert_refused(&r, 2, "--trials", "needs a value");
    r = RUN(b, "ls", "--json=yes");
    assert_refused(&r, 2, "--json", "value");
}

static void test_operands(void **state)
{
    struct box *b = *state;
    static const char *const wanting[] = {"tune", "resume", "pause",   "stop", "check",
                                          "show", "export", "compare", "plot", "card"};
    for (size_t i = 0; i < COUNT(wanting); i++) {
        struct result r = RUN(b, wanting[i]);
        assert_refused(&r, 2, "missing", "usage: tilewalk");
    }
    struct result r = RUN(b, "budget", "1");
    assert_refused(&r, 2, "missing", "ID TRIALS");
    r = RUN(b, "check", "mm1", "mm2");
    assert_refused(&r, 2, "'mm2'", "too many");
    r = RUN(b, "ls", "1");
    assert_refused(&r, 2, "'1'", "tilewalk ls)");
}

static void test_numbers(void **state)
{
    struct box *b = *state;
    static const char *const wrong[][2] = {
        {"--trials", "0"},
        {"--trials", "-3"},
        {"--trials", "ten"},
        {"--trials", "1.5"},
        {"--trials", ""},
        {"--trials", "99999999999999999999"},
        {"--seconds", "0"},
        {"--seconds", "inf"},
        {"--seconds", "1e10"},
        {"--workers", "0"},
        {"--workers", "65"},
        {"--seed", "-1"},
        {"--seed", "18446744073709551616"},
    };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct result r = RUN(b, "tune", "mm1", wrong[i][0], wrong[i][1]);
        assert_refused(&r, 2, wrong[i][0], arena_printf(&b->arena, "'%s'", wrong[i][1]));
    }
    struct result r = RUN(b, "tune", "mm1", "--workers", "1000");
    assert_refused(&r, 2, "--workers", "from 1 to 64,");
}

// Help names every option of the synthetic source.
static void test_help_names_synthetic_options(void **state)
{
    struct box *b = *state;
    static const char *const names[] = {"bowl", "rugged",  "machine",  "trap",
                                        "seed", "invalid", "delay_us", "statistics"};
    const char *help = RUN(b, "tune", "--help").out;
    for (size_t i = 0; i < COUNT(names); i++)
        assert_contains(help, names[i]);
    struct result r = RUN(b, "tune", "mm1", "--trials", "2", "--source",
                          "synthetic:machine:seed=1:invalid=0.1:delay_us=1:statistics=1");
    assert_ok(&r);
    r = RUN(b, "tune", "mm1", "--source", "synthetic:bowl:sed=1");
    assert_refused(&r, 2, "synthetic:bowl:sed=1", "seed");
}

static void test_session_numbers(void **state)
{
    struct box *b = *state;
    static const char *const takers[] = {"resume", "pause", "stop",   "show",
                                         "export", "rm",    "restore"};
    for (size_t i = 0; i < COUNT(takers); i++) {
        struct result r = RUN(b, takers[i], "first");
        assert_refused(&r, 2, "'first'", "tilewalk ls");
        r = RUN(b, takers[i], "0");
        assert_refused(&r, 2, "'0'", "tilewalk ls");
        r = RUN(b, takers[i], "3");
        assert_refused(&r, 1, "session 3", "tilewalk ls");
    }
    struct result r = RUN(b, "set", "1", "trials=none");
    assert_refused(&r, 2, "'none'", NULL);
}

static struct result tune(struct box *b, const char *option, const char *value)
{
    return RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl", option, value);
}

static int64_t budget_of(struct box *b)
{
    return (int64_t)number_of(listed_session(b, 1), "budget_trials");
}

// Scripts go on: what was joined into another option or command is still taken, and shown nowhere.
static void test_old_spellings(void **state)
{
    struct box *b = *state;
    struct result r = tune(b, "--trials", "20");
    assert_ok(&r);
    assert_string_equal(RUN(b, "budget", "1", "50").out, RUN(b, "set", "1", "trials=50").out);
    assert_int_equal(budget_of(b), 50);
    r = RUN(b, "note", "1", "a = b: c");
    assert_ok(&r);
    assert_string_equal(text_of(listed_session(b, 1), "note"), "a = b: c");
    r = RUN(b, "set", "1", "note=two words", "trials=60");
    assert_ok(&r);
    assert_int_equal(budget_of(b), 60);
    r = RUN(b, "set", "1", "note=x", "trial=60");
    assert_refused(&r, 2, "'trial=60'", "trials=N");
    assert_string_equal(text_of(listed_session(b, 1), "note"), "two words"); // all or nothing
    r = RUN(b, "pin", "1", "--off");
    assert_refused(&r, 2, "no network", NULL);
    r = RUN(b, "weigh", "1", "wide", "2");
    assert_refused(&r, 2, "no network", NULL);
    r = RUN(b, "pause", "1", "--off");
    assert_refused(&r, 1, "not running", NULL);
    assert_string_equal(RUN(b, "show", "1", "--ask", "3").out,
                        RUN(b, "show", "1", "--trial", "ask:3").out);
    static const char *const pairs[][2] = {{"--format", "--recording"},
                                           {"--recording", "--format"}};
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "one" : "two";
        if (i)
            r = RUN(b, "export", "1", "--out", b->folder, "--name", name, pairs[i][0], pairs[i][1],
                    "t4");
        else
            r = RUN(b, "export", "1", "--out", b->folder, "--name", name, pairs[i][0], "t4",
                    pairs[i][1]);
        assert_ok(&r);
        r = RUN(b, "import", arena_printf(&b->arena, "%s/%s.json", b->folder, name), "--json");
        assert_string_equal(text_of(json_of(b, r.out), "format"), "t4");
    }
    r = RUN(b, "export", "1", "--warm-start", box_path(b, "old.json"));
    assert_ok(&r);
    r = RUN(b, "export", "1", "--as", "warm-start", "--out", box_path(b, "new.json"));
    assert_ok(&r);
    assert_string_equal(box_read(b, box_path(b, "old.json")), box_read(b, box_path(b, "new.json")));
    r = RUN(b, "export", "1", "--as", "warm-start");
    assert_refused(&r, 2, "--out FILE", NULL);
    r = RUN(b, "export", "1", "--as", "table", "--as", "t4");
    assert_refused(&r, 2, "choose one", NULL);
    r = RUN(b, "export", "1", "--csv", "x.csv");
    assert_refused(&r, 2, "--csv is gone", "show ID --csv");
    const char *help = RUN(b, "export", "--help").out;
    assert_null(strstr(help, "--recording"));
    assert_null(strstr(RUN(b, "--help").out, "budget ID"));
}

static void test_names(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", "gemn", "--source", "synthetic:bowl");
    assert_refused(&r, 2, "'gemn'", "'gemm'");
    r = RUN(b, "check", "mm11", "--device", "none");
    assert_refused(&r, 2, "'mm11'", "'mm1'");
    r = tune(b, "--strategy", "opevvo");
    assert_refused(&r, 2, "'opevvo'", "'opevo'");
    r = tune(b, "--strategy", "opevo:lamda=4");
    assert_refused(&r, 2, "'lamda'", "'lambda'");
    r = tune(b, "--strategy", "opevo:lambda=0");
    assert_refused(&r, 2, "lambda=0", "1..4096");
    r = tune(b, "--strategy", "opevo:q=x");
    assert_refused(&r, 2, "q=x", NULL);
    r = tune(b, "--set", "NN=64");
    assert_refused(&r, 2, "NN=64", "'N'");
    r = RUN(b, "tune", flow_path(b, "small.lua"), "--device", "none");
    assert_refused(&r, 2, "--device none", "--source synthetic:");
    r = tune(b, "--set", "64");
    assert_refused(&r, 2, "NAME=VALUE", "'64'");
    assert_string_equal(RUN(b, "ls", "--json").out, "{\"sessions\":[]}\n"); // nothing was begun
}

// Also where there is no workbench to look so.
static void test_looks(void **state)
{
    struct box *b = *state;
    static const char *const wrong[][2] = {
        {"--charset", "foo"}, {"--color", "sometimes"}, {"--theme", "blue"}, {"--theme", "dark|"}};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        const char *said = arena_printf(&b->arena, "not '%s'", wrong[i][1]);
        struct result r = tune(b, wrong[i][0], wrong[i][1]);
        assert_refused(&r, 2, wrong[i][0], said);
        r = RUN(b, "resume", "1", wrong[i][0], wrong[i][1]);
        assert_refused(&r, 2, wrong[i][0], said);
    }
    struct result r = RUN(b, "ls");
    assert_refused(&r, 1, "tilewalk.db", NULL); // nothing was begun
    r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl", "--trials", "3",
            "--charset", "ascii", "--theme", "light");
    assert_ok(&r);
}

static void test_sources(void **state)
{
    struct box *b = *state;
    static const char *const wrong[][3] = {
        {"synthetic:bwol", "'bwol'", "bowl"},
        {"synthetic", "synthetic:bowl", NULL},
        {"sintetic:bowl", "'sintetic:bowl'", "synthetic"},
        {"synthetic:bowl:invald=0.1", "'invald'", "invalid"},
        {"synthetic:bowl:invalid=1", "[0, 1)", NULL},
        {"synthetic:bowl:delay_us=-1", "delay_us", "'-1'"},
        {"synthetic:bowl:seed", "'seed'", "key=value"},
    };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct result r = tune(b, "--source", wrong[i][0]);
        assert_refused(&r, 2, wrong[i][1], wrong[i][2]);
    }
}

static void test_generated(void **state)
{
    struct box *b = *state;
    struct result man = RUN(b, "man");
    assert_int_equal(man.code, 0);
    assert_contains(man.out, ".TH ");
    for (size_t i = 0; i < COUNT(commands); i++) { // each has a page, with an example of its own
        assert_contains(man.out, arena_printf(&b->arena, "\n.BR tilewalk\\-%s (1)\n", commands[i]));
        struct result page = RUN(b, "man", commands[i]);
        assert_int_equal(page.code, 0);
        assert_contains(page.out, ".SH EXAMPLES\n.TP\n");
    }
    struct result wrong = RUN(b, "man", "tuen");
    assert_refused(&wrong, 2, "'tuen'", NULL);
    wrong = RUN(b, "man", "tune", "--out", box_path(b, "pages"));
    assert_refused(&wrong, 2, "--out", NULL);
    static const char *const shells[] = {"bash", "zsh", "fish"};
    for (size_t i = 0; i < COUNT(shells); i++) {
        struct result r = RUN(b, "completion", shells[i]);
        assert_int_equal(r.code, 0);
        assert_contains(r.out, "tilewalk");
        assert_contains(r.out, "mm1");
    }
    struct result r = RUN(b, "completion", "tcsh");
    assert_refused(&r, 2, "'tcsh'", NULL);
}

static void test_strategies(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "strategies", "--json");
    assert_int_equal(r.code, 0);
    const cJSON *list = member(json_of(b, r.out), "strategies");
    static const char *const names[] = {"opevo", "random",    "gbfs",  "na2c", "rnn",
                                        "ga",    "annealing", "local", "de",   "grid",
                                        "tpe",   "autotvm",   "walk"};
    assert_string_equal(text_of(cJSON_GetArrayItem(list, 0), "name"), "walk");
    for (size_t i = 0; i < COUNT(names); i++) {
        const cJSON *s = NULL;
        cJSON_ArrayForEach(s, list) if (str_equal(text_of(s, "name"), names[i])) break;
        if (!s)
            fail_msg("strategy '%s' is not listed", names[i]);
        assert_true(is_null(s, "missing") == (XGBOOST || !str_equal(names[i], "autotvm")));
    }
    list = member(json_of(b, r.out), "schedulers");
    assert_string_equal(text_of(cJSON_GetArrayItem(list, 0), "name"), "gradient");
    assert_true(cJSON_IsTrue(member(cJSON_GetArrayItem(list, 0), "default")));
    assert_string_equal(text_of(cJSON_GetArrayItem(list, 1), "name"), "roundrobin");
    r = RUN(b, "strategies");
    assert_contains(r.out, "opevo");
    assert_contains(r.out, "lambda");
    const char *first = strstr(r.out, "(default)"), *schedulers = strstr(r.out, "\nschedulers");
    assert_true(first && schedulers > first && strstr(first + 1, "(default)") > schedulers);
    assert_contains(schedulers, "objective=sum");
}

TEST_GROUP(cli)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_help),          FLOW_TEST(test_version),
        FLOW_TEST(test_commands),      FLOW_TEST(test_options),
        FLOW_TEST(test_operands),      FLOW_TEST(test_numbers),
        FLOW_TEST(test_names),         FLOW_TEST(test_session_numbers),
        FLOW_TEST(test_old_spellings), FLOW_TEST(test_help_names_synthetic_options),
        FLOW_TEST(test_sources),       FLOW_TEST(test_generated),
        FLOW_TEST(test_strategies),    FLOW_TEST(test_looks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
