// Programs of the user's own that measure (--source run: and serve:): what they get, what they
// answer, what they do wrong, and that all of them are gone afterwards.
#include "group.h"
#include "sessions.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char space_text[] =
    "param.a = discrete { 1, 2, 4, 8 }\n"
    "param.b = categorical { \"x\", \"y z\" }\n"
    "param.f = factors(8, 2)\n"
    "constraint(\"small\", function(c) return c.a * c.f[1] <= 32 end)\n";

// Writes the space with this objective.
static const char *space(struct box *b, const char *objective)
{
    return box_write(b, "any.lua", arena_printf(&b->arena, "%s%s\n", space_text, objective));
}

// Returns "run:OPTIONSsh FILE REST" of a script in the box.
static const char *source(struct box *b, const char *kind, const char *script, const char *rest)
{
    const char *path = box_write(b, "measure.sh", script);
    return arena_printf(&b->arena, "%ssh '%s' %s", kind, path, rest);
}

static cJSON *trials(struct box *b, const char *id)
{
    return member(json_of(b, RUN(b, "show", id, "--trials", "--json").out), "trials");
}

// The values of all trials of session 1 follow from their configurations, so that what the program
// got is what the trial says.
static void test_words(void **state)
{
    struct box *b = *state;
    const char *run = source(b, "run:", "echo unknown line\necho ms $1$2\necho \"ms\t$1$2\"\n", //
                             "{a} {a} \"{b}\" '{b}'");
    struct result r = RUN(b, "tune", space(b, "minimize \"ms\""), "--source", run, "--trials", "12",
                          "--seed", "1", "--json");
    cJSON *trial;
    assert_ok(&r);
    cJSON_ArrayForEach(trial, trials(b, "1"))
    {
        double a = number_of(member(trial, "config"), "a");
        assert_float_equal(number_of(trial, "ms"), 11 * a, 1e-9);
        assert_float_equal(number_of(trial, "rate"), 11 * a, 1e-9);
        assert_true(is_null(trial, "tflops"));
        assert_int_equal(cJSON_GetArraySize(member(trial, "samples")), 2);
    }
    cJSON *listed = listed_session(b, 1);
    assert_string_equal(text_of(listed, "objective"), "minimize ms");
    assert_string_equal(text_of(listed, "rate_unit"), "ms");
    assert_float_equal(number_of(listed, "best_rate"), 11, 1e-9);
}

// Numbers are numbers and words are words, in one line of JSON.
static void test_json(void **state)
{
    struct box *b = *state;
    const char *run = source(b, "run:", "cat > \"$SEEN\"\necho 3\n", "");
    box_set(b, "SEEN", box_path(b, "seen"));
    struct result r = RUN(b, "tune", space(b, "minimize \"ms\""), "--source", run, "--trials", "1",
                          "--strategy", "random", "--seed", "1", "--json");
    assert_ok(&r);
    const char *seen = box_read(b, box_path(b, "seen"));
    cJSON *config = member(cJSON_GetArrayItem(trials(b, "1"), 0), "config");
    assert_true(cJSON_Compare(json_of(b, seen), config, true));
    assert_true(cJSON_IsNumber(member(config, "a")) && cJSON_IsString(member(config, "b")));
    assert_one_line(seen);
    RUN(b, "tune", "--like", "1", "--source", "run:-x", "--trials", "1", "--json"); // no option
    assert_contains(text_of(cJSON_GetArrayItem(trials(b, "2"), 0), "reason"), "-x");
}

// What llama-bench prints, made up: the greatest rate is sought, and shown in its own unit.
static void test_maximize(void **state)
{
    struct box *b = *state;
    const char *run =
        source(b, "run:",
               "echo '| model | size | backend | threads | test | t/s |'\n"
               "echo '| ----- | ---- | ------- | ------- | ---- | --- |'\n"
               "echo \"| 7B Q4 | 3.5 GiB | CPU | $1 | tg128 | $(($1 * 5)).25 ± 0.11 |\"\n",
               "{a} | awk -F'|' '/tg128/ { split($7, v, \" \"); "
               "print \"tokens/s\", v[1]; print \"watts 12\" }'");
    struct result r = RUN(b, "tune", space(b, "maximize \"tokens/s\""), "--source", run, "--trials",
                          "20", "--seed", "2", "--plain");
    assert_ok(&r);
    assert_contains(r.out, "40.25 tokens/s");
    assert_null(strstr(r.out, "FLOPS"));
    cJSON *listed = listed_session(b, 1);
    assert_float_equal(number_of(listed, "best_rate"), 40.25, 1e-9);
    assert_true(is_null(listed, "best_tflops") && is_null(listed, "flop"));
    cJSON *best = member(member(json_of(b, RUN(b, "show", "1", "--json").out), "session"), "best");
    assert_int_equal(number_of(member(best, "clocks"), "watts"), 12);
    assert_true(is_null(best, "ms"));
    r = RUN(b, "show", "1", "--csv");
    assert_contains(r.out, ",race_seconds,tokens/s");
    r = RUN(b, "plot", "1", "--plain");
    assert_contains(r.out, "tokens/s");
}

// What a program of CUDA kernels does, made up: launches that the device refuses, a compiler that
// finds too little shared memory, samples of several runs, and a program's own check.
static void test_launches(void **state)
{
    struct box *b = *state;
    const char *space_file = box_write(b, "launch.lua",
                                       "param.block_x = discrete { 16, 32, 64, 128, 256 }\n"
                                       "param.block_y = discrete { 1, 2, 4, 8 }\n"
                                       "param.tile = discrete { 1, 2, 4, 8 }\n"
                                       "param.vector = discrete { 1, 2, 4 }\n"
                                       "minimize \"ms\"\n");
    const char *run = source(
        b, "run:",
        "threads=$(($1 * $2)) shared=$(($1 * $2 * $3 * $4 * 16))\n"
        "[ $shared -le 49152 ] || { echo \"compile: $shared bytes of shared memory\"; exit; }\n"
        "[ $threads -le 1024 ] || { echo 'crash: invalid configuration argument'; exit; }\n"
        "[ $4 != 4 ] || [ $1 != 16 ] || { echo 'wrong: max error 0.5 at 17'; exit; }\n"
        "off=$((threads > 256 ? threads - 256 : 256 - threads))\n"
        "echo 'Device 0: made up, 132 multiprocessors'\n"
        "for run in 1 2 3; do echo ms $((1000 + off * 4 + 800 / $3 + 300 / $4)).5; done\n",
        "{block_x} {block_y} {tile} {vector}");
    struct result r = RUN(b, "tune", space_file, "--source", run, "--strategy", "grid", "--trials",
                          "240", "--seed", "1", "--json");
    assert_ok(&r);
    int count[4] = {0};
    double best = 1e9;
    cJSON *trial;
    cJSON_ArrayForEach(trial, trials(b, "1"))
    {
        static const char *const names[] = {"ok", "compile", "crash", "wrong"};
        for (int i = 0; i < 4; i++)
            count[i] += strcmp(text_of(trial, "outcome"), names[i]) == 0;
        if (!is_null(trial, "ms") && number_of(trial, "ms") < best)
            best = number_of(trial, "ms");
    }
    // All 240 by hand: see the rules of the program.
    int expected[4] = {0};
    double least = 1e9;
    for (int x = 16; x <= 256; x *= 2)
        for (int y = 1; y <= 8; y *= 2)
            for (int tile = 1; tile <= 8; tile *= 2)
                for (int vector = 1; vector <= 4; vector *= 2) {
                    int off = abs(x * y - 256);
                    int kind = x * y * tile * vector * 16 > 49152 ? 1
                               : x * y > 1024                     ? 2
                               : vector == 4 && x == 16           ? 3
                                                                  : 0;
                    expected[kind]++;
                    double ms = 1000.5 + off * 4 + 800 / tile + 300 / vector;
                    if (!kind && ms < least)
                        least = ms;
                }
    for (int i = 0; i < 4; i++)
        assert_int_equal(count[i], expected[i]);
    assert_float_equal(best, least, 1e-6);
    r = RUN(b, "tune", "--like", "1", "--strategy", "walk", "--trials", "60", "--seed", "4");
    assert_ok(&r);
    assert_true(number_of(listed_session(b, 2), "best_rate") <= 1.1 * least);
}

// A recording of such a session keeps its objective.
static void test_replay(void **state)
{
    struct box *b = *state;
    const char *run = source(b, "run:", "echo MiB $(($1 + 3))\n", "{a}");
    struct result r = RUN(b, "tune", space(b, "minimize \"MiB\""), "--source", run, "--trials",
                          "40", "--strategy", "grid", "--seed", "1");
    assert_ok(&r);
    const char *recording = box_path(b, "out/any-1.json");
    r = RUN(b, "export", "1", "--as", "recording", "--out", box_path(b, "out"));
    assert_ok(&r);
    r = RUN(b, "tune", "--source", arena_printf(&b->arena, "replay:%s", recording), "--trials",
            "20", "--seed", "3", "--plain");
    assert_ok(&r);
    assert_contains(r.out, " 4 MiB");
    assert_string_equal(text_of(listed_session(b, 2), "objective"), "minimize MiB");
    r = RUN(b, "compare", recording, "--strategy", "random", "--strategy", "opevo", "--repeats",
            "3");
    assert_ok(&r);
    assert_contains(r.out, "4 MiB");
    r = RUN(b, "tune", "--like", "1", "--seed", "5", "--strategy", "random");
    assert_ok(&r);
    r = RUN(b, "compare", "1", "3");
    assert_ok(&r);
    assert_contains(r.out, "4 MiB");
    r = RUN(b, "export", "1", "--out", box_path(b, "none"));
    assert_refused(&r, 1, "no kernel", "any");
}

#define HOW                                                                                        \
    "param.how = categorical { \"nothing\", \"forever\", \"loud\", \"fork\", \"deaf\", \"exit\", " \
    "\"signal\", \"minus\", \"tiny\", \"refused\", \"wrong\", \"behind\" }\nminimize \"ms\"\n"

static const char bad_program[] = "case $1 in\n"
                                  "nothing) ;;\n"
                                  "forever) while :; do echo hello; done ;;\n"
                                  "loud) while :; do echo hello >&2; done ;;\n"
                                  "fork) setsid sleep $2 & sleep $2 & wait ;;\n"
                                  "deaf) trap '' TERM INT HUP; while :; do sleep 0.1; done ;;\n"
                                  "exit) echo it is broken >&2; exit 3 ;;\n"
                                  "signal) kill -SEGV $$ ;;\n"
                                  "minus) echo ms -3 ;;\n"
                                  "tiny) echo ms 1e-320 ;;\n"
                                  "refused) echo compile: no such flag ;;\n"
                                  "wrong) echo 5; echo wrong: row 3 ;;\n"
                                  "behind) setsid sleep $2 & echo 12 ;;\n"
                                  "esac\n";

// The seconds that what is started sleeps: those of no other test that runs at the same time.
static const char *own_sleep(struct box *b)
{
    return arena_printf(&b->arena, "9%d.25", (int)getpid());
}

static bool none_sleeps(struct box *b, void *context)
{
    (void)context;
    const char *command = arena_printf(&b->arena, "pgrep -f '^sleep %s' >/dev/null", own_sleep(b));
    return WEXITSTATUS(system(command)) == 1;
}

// Each fails as one trial with a reason in one line, and nothing of it is left.
static void test_bad_programs(void **state)
{
    static const struct {
        const char *how, *outcome, *reason;
    } wanted[] = {{"nothing", "crash", "no line"},  {"forever", "crash", "more than"},
                  {"loud", "timeout", "not done"},  {"fork", "timeout", "not done"},
                  {"deaf", "timeout", "not done"},  {"exit", "crash", "broken"},
                  {"signal", "crash", "signal 11"}, {"minus", "crash", "above 0"},
                  {"tiny", "crash", "above 0"},     {"refused", "compile", "no such"},
                  {"wrong", "wrong", "row 3"},      {"behind", "ok", ""}};
    struct box *b = *state;
    const char *rest = arena_printf(&b->arena, "{how} %s", own_sleep(b));
    const char *run = source(b, "run:timeout=5:", bad_program, rest);
    struct result r = RUN(b, "tune", box_write(b, "how.lua", HOW), "--source", run, "--strategy",
                          "grid", "--trials", "12", "--workers", "3", "--json");
    assert_ok(&r);
    cJSON *all = trials(b, "1"), *trial;
    assert_int_equal(cJSON_GetArraySize(all), 12);
    cJSON_ArrayForEach(trial, all)
    {
        size_t i = 0;
        while (strcmp(wanted[i].how, text_of(member(trial, "config"), "how")) != 0)
            i++;
        assert_string_equal(text_of(trial, "outcome"), wanted[i].outcome);
        if (*wanted[i].reason) {
            assert_contains(text_of(trial, "reason"), wanted[i].reason);
            assert_null(strchr(text_of(trial, "reason"), '\n'));
        }
    }
    r = RUN(b, "show", "1", "--trials");
    assert_ok(&r);
    wait_until(b, "the end of all that the programs started", none_sleeps, NULL);
}

// The command stays, answers line by line, and is started again after it has ended.
static void test_serve(void **state)
{
    struct box *b = *state;
    const char *serve = source(b, "serve:",
                               "echo started >> \"$SEEN\"\n"
                               "while read -r line; do\n"
                               "  case $line in *'\"a\":8,'*) exit 4 ;; esac\n"
                               "  echo ms 2; echo ms 4; echo\n"
                               "done\n",
                               "");
    box_set(b, "SEEN", box_path(b, "seen"));
    struct result r = RUN(b, "tune", space(b, "minimize \"ms\""), "--source", serve, "--strategy",
                          "grid", "--trials", "40", "--json");
    assert_ok(&r);
    cJSON *trial;
    int ended = 0, starts = 0;
    cJSON_ArrayForEach(trial, trials(b, "1"))
    {
        bool is_last = number_of(member(trial, "config"), "a") == 8;
        ended += is_last;
        assert_string_equal(text_of(trial, "outcome"), is_last ? "crash" : "ok");
        if (!is_last)
            assert_float_equal(number_of(trial, "ms"), 3, 1e-9);
    }
    for (const char *at = box_read(b, box_path(b, "seen")); (at = strchr(at, '\n')); at++)
        starts++;
    assert_true(ended > 0 && starts >= ended && starts <= ended + 1);
}

// What a command that stays prints behind the empty line is nobody's answer: the trial says so.
static void test_out_of_step(void **state)
{
    struct box *b = *state;
    const char *serve =
        source(b, "serve:",
               "while read -r line; do\n"
               "  case $line in *'\"a\":8,'*) printf 'ms 3\\n\\nms 1\\n' ;;\n"
               "  *) printf 'ms 3\\r\\n\\r\\n\\n' ;; esac\n" // blank lines are nothing
               "done\n",
               "");
    struct result r = RUN(b, "tune", space(b, "minimize \"ms\""), "--source", serve, "--strategy",
                          "grid", "--trials", "40", "--json");
    assert_ok(&r);
    cJSON *trial;
    int told = 0;
    cJSON_ArrayForEach(trial, trials(b, "1"))
    {
        bool is_one = number_of(member(trial, "config"), "a") == 8;
        told += is_one;
        assert_string_equal(text_of(trial, "outcome"), is_one ? "crash" : "ok");
        if (is_one)
            assert_contains(text_of(trial, "reason"), "empty line");
    }
    assert_true(told > 0);
}

// A run that is killed goes on, and what it had started is gone.
static void test_killed(void **state)
{
    struct box *b = *state;
    const char *run = source(b, "run:",
                             "if [ $(wc -l < \"$SEEN\") -ge 6 ]; then sleep 1000; fi\n"
                             "echo started >> \"$SEEN\"; echo ms $1\n",
                             "{a}");
    box_set(b, "SEEN", box_write(b, "seen", ""));
    struct running *killed = START(b, "tune", space(b, "minimize \"ms\""), "--source", run,
                                   "--trials", "16", "--seed", "1", "--json");
    wait_for_trials(b, 1, 6);
    send_signal(killed, SIGKILL);
    finish(b, killed);
    box_write(b, "seen", "");
    box_set(b, "SEEN", "/dev/null");
    struct result r = RUN(b, "resume", "1", "--json");
    assert_ok(&r);
    assert_int_equal(trials_of(b, 1), 16);
    assert_string_equal(state_of(b, 1), "done");
}

static void test_refused(void **state)
{
    static const char *const cases[][4] = {
        {"run:", "minimize \"ms\"", "which command", "run:COMMAND"},
        {"run:timeout=x:true", "minimize \"ms\"", "timeout 'x'", "seconds"},
        {"run:echo {zz}", "minimize \"ms\"", "no parameter", "{zz}"},
        {"serve:echo {a}", "minimize \"ms\"", "{a}", "standard input"},
        {"run:true", "minimize \"a b\"", "a b", "no name"},
        {"run:true", "minimize \"ms\" maximize \"x\"", "minimize ms", "one"},
        {"run:true", "", "no operator", "minimize"},
    };
    struct box *b = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct result r = RUN(b, "tune", space(b, cases[i][1]), "--source", cases[i][0]);
        if (r.code != 1 && r.code != 2)
            fail_msg("%s: exit code %d", cases[i][0], r.code);
        assert_refused(&r, r.code, cases[i][2], cases[i][3]);
    }
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", "run:true");
    assert_refused(&r, 2, "neither minimize", "small");
    r = RUN(b, "tune", space(b, "minimize \"ms\""), "--source", "run:true", "--on", "local:");
    assert_refused(&r, 2, "--on", "here");
    r = RUN(b, "check", space(b, "minimize \"ms\""), "--device", "none");
    assert_ok(&r);
    assert_contains(r.out, "minimize ms");
}

TEST_GROUP(benchmark)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_words),    FLOW_TEST(test_json),        FLOW_TEST(test_maximize),
        FLOW_TEST(test_launches), FLOW_TEST(test_replay),      FLOW_TEST(test_bad_programs),
        FLOW_TEST(test_serve),    FLOW_TEST(test_out_of_step), FLOW_TEST(test_killed),
        FLOW_TEST(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
