// Outcomes of a search, as `tune`, `show` and `ls` print them for programs and for people.
#include "group.h"
#include "sessions.h"

#include "base/str.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

static char *without_event(const cJSON *line)
{
    cJSON *copy = cJSON_Duplicate(line, true);
    cJSON_DeleteItemFromObject(copy, "event");
    char *text = cJSON_PrintUnformatted(copy);
    cJSON_Delete(copy);
    return text;
}

// `show --trials` gives the very objects that tune printed.
static void test_show_equals_tune(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--source",
                          "synthetic:rugged:invalid=0.2:delay_us=200", "--trials", "50", "--seed",
                          "5", "--json", "--workers=3");
    struct events e = events_of(b, r.out);
    struct result shown = RUN(b, "show", "1", "--trials", "--json");
    const cJSON *show = json_of(b, shown.out), *trial, *trials = member(show, "trials");
    int at = 0;
    assert_int_equal(cJSON_GetArraySize(trials), 50);
    cJSON_ArrayForEach(trial, trials)
    {
        while (strcmp(text_of(e.line[at], "event"), "trial") != 0)
            at++;
        char *wanted = without_event(e.line[at++]);
        char *found = cJSON_PrintUnformatted(trial);
        assert_string_equal(wanted, found);
        cJSON_free(wanted);
        cJSON_free(found);
    }
    const cJSON *session = member(show, "session");
    assert_true(cJSON_Compare(member(session, "best"), member(end_event(&e), "best"), true));
    assert_string_equal(text_of(session, "state"), "done");
    assert_null(cJSON_GetObjectItem(json_of(b, RUN(b, "show", "1", "--json").out), "trials"));
}

static void test_plain_text(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl",
                          "--trials", "30", "--seed", "5");
    assert_int_equal(r.code, 0);
    assert_string_equal(r.err, ""); // no progress line where there is no terminal
    assert_contains(r.out, "session 1  small");
    assert_contains(r.out, "1 done: ");
    assert_contains(r.out, " tile=");
    assert_null(strchr(r.out, '\r'));
    r = RUN(b, "show", "1", "--trials");
    assert_int_equal(r.code, 0);
    assert_contains(r.out, "30 of 30");
    r = RUN(b, "ls");
    assert_contains(r.out, "synthetic:bowl  "); // what the times are from, and the strategy
    assert_contains(r.out, "  walk  ");
    assert_contains(r.out, "30/30");
    assert_contains(r.out, "done");
}

static const char *line_of(struct box *b, const char *text, const char *start)
{
    const char *at = strstr(text, start);
    assert_non_null(at);
    return arena_printf(&b->arena, "%.*s", (int)strcspn(at, "\n"), at);
}

static void test_one_of_it(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl",
                          "--trials", "1", "--seed", "5");
    assert_ok(&r);
    assert_contains(r.out, "  1 trial  workers");
    assert_contains(r.out, "session 1 done: its one trial is done\n");
    assert_contains(RUN(b, "set", "1", "trials=1").out, "a budget of 1 trial\n");
    assert_contains(RUN(b, "export", "1", "--as", "warm-start", "--out", box_path(b, "t.json")).out,
                    ": 1 configuration ");
    assert_contains(RUN(b, "export", "1", "--as", "recording", "--out", b->folder).out,
                    ": 1 configuration, 1 valid");
}

static void test_curve_of_locale(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl",
                          "--trials", "30", "--seed", "5");
    assert_ok(&r);
    box_set(b, "LC_ALL", "C.UTF-8");
    assert_contains(line_of(b, RUN(b, "resume", "1", "--trials", "31").out, "curve"), "█");
    box_set(b, "LC_ALL", "C");
    r = RUN(b, "resume", "1", "--trials", "32");
    assert_contains(line_of(b, r.out, "curve"), "#");
    for (const char *c = r.out; *c; c++)
        assert_true((unsigned char)*c < 0x80);
}

// The last lines of a resumed session are those of one that was never paused, but for its number.
static void test_resumed_lines(void **state)
{
    struct box *b = *state;
    static const char *const starts[] = {"trials  ", "curve   ", "best    "};
    static const char *const counting[] = {"--plain", "--count-rejected"};
    for (int i = 0; i < 2; i++) {
        struct result whole =
            RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:rugged:invalid=0.2",
                "--trials", "150", "--seed", "5", "--strategy", "opevo", counting[i]);
        assert_ok(&whole);
        struct result r =
            RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:rugged:invalid=0.2",
                "--trials", "70", "--seed", "5", "--strategy", "opevo", counting[i]);
        assert_ok(&r);
        r = RUN(b, "resume", i == 0 ? "2" : "4", "--trials", "150");
        assert_ok(&r);
        for (size_t s = 0; s < COUNT(starts); s++)
            assert_string_equal(line_of(b, r.out, starts[s]), line_of(b, whole.out, starts[s]));
        const char *rejected = strstr(line_of(b, r.out, "trials  150  ok "), "  rejected ");
        assert_true(i == 0 ? !rejected : rejected != NULL);
    }
}

// --- where output goes ---

static void print_to_full_disk(const struct box *b)
{
    (void)b;
    dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
}

// Output that cannot be printed is an error, and a search whose output nobody reads is paused.
static void test_full_output(void **state)
{
    struct box *b = *state;
    struct result r =
        RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl", "--trials", "8");
    assert_ok(&r);
    b->prepare = print_to_full_disk;
    static const char *const commands[][2] = {
        {"ls", "--json"}, {"show", "1"}, {"strategies", NULL}, {"--version", NULL}};
    for (size_t i = 0; i < COUNT(commands); i++) {
        r = RUN(b, commands[i][0], commands[i][1]);
        assert_refused(&r, 1, "output cannot be written", NULL);
    }
    r = RUN(b, "ls", "--bogus");
    assert_refused(&r, 2, "--bogus", NULL); // one line, the first thing that went wrong
    static const char *const modes[] = {"--json", "--plain"};
    for (size_t i = 0; i < COUNT(modes); i++) {
        r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl:delay_us=5000",
                "--trials", "100000", "--export", box_path(b, "kernels"), modes[i]);
        assert_int_equal(r.code, 1);
        assert_one_line(r.err);
    }
    b->prepare = NULL;
    assert_string_equal(state_of(b, 2), "paused");
    assert_string_equal(state_of(b, 3), "paused");
    assert_int_equal(rmdir(box_path(b, "kernels")), 0); // made, and empty: nothing was exported
}

// --- on a terminal ---

static const char *terminal; // its name, for the child

static void use_terminal(const struct box *b)
{
    (void)b;
    dup2(open(terminal, O_RDWR | O_NOCTTY), STDERR_FILENO);
}

// The progress line is drawn over itself: trials, rate, best, time left.
static void test_terminal(void **state)
{
    struct box *b = *state;
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    terminal = arena_strdup(&b->arena, ptsname(master));
    int slave = open(terminal, O_RDWR | O_NOCTTY); // keeps what is written until it is read
    b->prepare = use_terminal;
    box_set(b, "TERM", "xterm");
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--source",
                          "synthetic:bowl:delay_us=5000", "--trials", "60", "--seed", "5");
    const char *drawn = read_terminal(b, master, slave), *last = NULL;
    close(slave);
    close(master);
    assert_int_equal(r.code, 0);
    for (const char *at = drawn; (at = strstr(at, "/60 trials")); at++)
        last = at;
    assert_non_null(last);
    assert_contains(drawn, "\r\033[K");
    assert_contains(last, " left");
    assert_contains(last, "best ");
    double rate = 0;
    assert_int_equal(sscanf(last, "/60 trials %lf/s", &rate), 1);
    assert_true(rate > 0);
    assert_contains(r.out, " 60 trials"); // without a trace of the progress line
    assert_null(strchr(r.out, '\r'));
}

// Everything fails: the search ends properly, and the exit code reports that no result was found.
static void test_nothing_valid(void **state)
{
    struct box *b = *state;
    struct result r =
        RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl:invalid=0.999999999",
            "--trials", "10", "--seed", "5", "--json");
    assert_int_equal(r.code, 3);
    struct events e = events_of(b, r.out);
    assert_true(is_null(end_event(&e), "best"));
    assert_int_equal(count_events(&e, "best"), 0);
    assert_string_equal(text_of(end_event(&e), "state"), "done");
    assert_true(is_null(listed_session(b, 1), "best_tflops"));
}

static void test_exhausted(void **state)
{
    struct box *b = *state;
    box_write(b, "small.comp", box_read(b, flow_path(b, "small.comp")));
    const char *path = box_write(b, "tiny.lua",
                                 "operator.matmul { N = 8, M = 8, K = 8 }\n"
                                 "param.a = discrete { 1, 2, 4 }\n"
                                 "param.b = categorical { \"x\", \"y\" }\n"
                                 "kernel { template = \"small.comp\", groups = function(c) return "
                                 "{ 1 } end }\n");
    static const char *const strategies[] = {"opevo", "random"};
    for (size_t i = 0; i < COUNT(strategies); i++) {
        struct result r = RUN(b, "tune", path, "--source", "synthetic:bowl", "--strategy",
                              strategies[i], "--json");
        assert_int_equal(r.code, 0);
        struct events e = events_of(b, r.out);
        assert_int_equal(number_of(end_event(&e), "trials"), 6);
        assert_float_equal(number_of(member(end_event(&e), "best"), "tflops"), 1, 1e-9);
        assert_contains(text_of(end_event(&e), "message"), "exhausted");
    }
}

// The statistics are like those of a GPU driver, here of one trial.
static void test_statistics(void **state)
{
    struct box *b = *state;
    struct result r =
        RUN(b, "tune", "mm1", "--source", "synthetic:bowl", "--trials", "3", "--plain");
    assert_ok(&r);
    r = RUN(b, "show", "1", "--csv");
    assert_ok(&r);
    // No trial has statistics.
    assert_null(strstr(r.out, "statistics"));
    tamper(b,
           "UPDATE trial SET statistics = '{\"VGPRs\":96,\"Spilled VGPRs\":2}' WHERE number = 2");
    r = RUN(b, "show", "1", "--csv");
    assert_contains(r.out, "race_seconds,statistics\r\n");
    assert_contains(r.out, ",\"{\"\"VGPRs\"\":96,\"\"Spilled");
    r = RUN(b, "show", "1", "--trial", "2");
    assert_ok(&r);
    assert_contains(r.out, "VGPRs 96  Spilled");
    r = RUN(b, "show", "1", "--trial", "2", "--json");
    const cJSON *told = member(member(json_of(b, r.out), "trial"), "statistics");
    assert_true(number_of(told, "VGPRs") == 96 && number_of(told, "Spilled VGPRs") == 2);
    r = RUN(b, "show", "1", "--trial", "1", "--json");
    assert_null(strstr(r.out, "statistics"));
    tamper(b, "UPDATE trial SET statistics = '[1' WHERE number = 2");
    r = RUN(b, "show", "1", "--trial", "2");
    assert_refused(&r, 1, "damaged", "statistics");
}

TEST_GROUP(show)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_show_equals_tune), FLOW_TEST(test_plain_text),
        FLOW_TEST(test_resumed_lines),    FLOW_TEST(test_full_output),
        FLOW_TEST(test_terminal),         FLOW_TEST(test_nothing_valid),
        FLOW_TEST(test_exhausted),        FLOW_TEST(test_curve_of_locale),
        FLOW_TEST(test_one_of_it),        FLOW_TEST(test_statistics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
