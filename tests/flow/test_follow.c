// `watch --plain`: the run of another process, in the lines of `tune --plain`.
#include "group.h"
#include "sessions.h"

#include "base/str.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

struct awaited {
    const struct running *who;
    const char *text;
};

static bool is_printed(struct box *b, void *context)
{
    const struct awaited *a = context;
    return strstr(printed_so_far(b, a->who), a->text) != NULL;
}

static void wait_for_text(struct box *b, const struct running *who, const char *text)
{
    struct awaited a = {who, text};
    wait_until(b, text, is_printed, &a);
}

static int count_lines(const char *text, const char *part)
{
    int count = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        count++;
    return count;
}

// The last lines of the front are about all trials, also those before the watching began.
static void assert_end(struct box *b, const struct result *r, const char *state)
{
    assert_ok(r);
    assert_contains(r->out, arena_printf(&b->arena, "\nsession 1 %s: ", state));
    assert_contains(r->out, arena_printf(&b->arena, "\ntrials  %" PRId64 "  ok ", trials_of(b, 1)));
    const char *best = strstr(RUN(b, "show", "1").out, "best     ");
    const char *trial = strstr(best, "  trial ");
    assert_non_null(trial);
    assert_contains(r->out, arena_printf(&b->arena, "%.*s", (int)strcspn(trial, "("), trial));
}

static void test_steered(void **state)
{
    struct box *b = *state;
    struct running *run = start_long_session(b);
    struct running *watch = START(b, "watch", "1", "--plain"),
                   *newest = START(b, "watch", "--plain");
    wait_for_text(b, watch, "session 1  small");
    wait_for_text(b, newest, "session 1  small");
    wait_for_text(b, watch, " tile="); // the best so far
    assert_int_equal(RUN(b, "pause", "1").code, 0);
    wait_for_text(b, watch, "session 1 is paused\n");
    assert_int_equal(RUN(b, "resume", "1").code, 0);
    wait_for_text(b, watch, "session 1 is running\n");
    send_signal(newest, SIGINT); // leaving it changes nothing
    assert_int_equal(finish(b, newest).code, 128 + SIGINT);
    wait_for_trials(b, 1, trials_of(b, 1) + 5);
    assert_int_equal(RUN(b, "stop", "1").code, 0);
    struct result r = finish(b, watch);
    assert_int_equal(finish(b, run).code, 0);
    assert_end(b, &r, "stopped");
    assert_int_equal(count_lines(r.out, "session 1 is "), 2);
    assert_null(strstr(r.err, "stopped: ")); // of the log, and told already
}

static void test_killed(void **state)
{
    struct box *b = *state;
    struct running *run = start_long_session(b), *watch = START(b, "watch", "1", "--plain");
    wait_for_text(b, watch, " tile=");
    send_signal(run, SIGKILL);
    finish(b, run);
    struct result r = finish(b, watch);
    assert_end(b, &r, "paused");
    assert_contains(r.out, "resume 1");
}

// The first and the last lines for a session that has ended are those of the run itself.
static void test_ended(void **state)
{
    struct box *b = *state;
    struct result run =
        RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:rugged:invalid=0.2",
            "--trials", "40", "--seed", "5", "--workers", "1", "--plain");
    struct result watch = RUN(b, "watch", "1", "--plain");
    assert_ok(&run);
    assert_ok(&watch);
    assert_string_equal(strstr(watch.out, "\nsession 1 done: "),
                        strstr(run.out, "\nsession 1 done: "));
    size_t first = strcspn(run.out, "\n");
    assert_int_equal(strncmp(watch.out, run.out, first + 1), 0);
    assert_string_equal(watch.err, "");
    run = RUN(b, "tune", flow_path(b, "small.lua"), "--source",
              "synthetic:bowl:invalid=0.999999999", "--trials", "3", "--seed", "1");
    assert_int_equal(RUN(b, "watch", "2", "--plain").code, run.code);
}

static void test_nothing_to_follow(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "watch", "--plain");
    assert_refused(&r, 1, "no session is running", "tilewalk ls");
    r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl", "--trials", "3");
    assert_ok(&r);
    r = RUN(b, "watch", "--plain");
    assert_refused(&r, 1, "tilewalk ls", NULL);
    r = RUN(b, "watch", "7", "--plain");
    assert_refused(&r, 1, "session 7", NULL);
    r = RUN(b, "watch", "x", "--plain");
    assert_refused(&r, 2, "'x' is not a session number", NULL);
}

TEST_GROUP(follow)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_steered),
        FLOW_TEST(test_killed),
        FLOW_TEST(test_ended),
        FLOW_TEST(test_nothing_to_follow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
