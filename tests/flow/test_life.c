// The life of a session between processes: pausing, stopping, signals, background, death.
#include "sessions.h"

#include "base/os.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void expect_ok(const struct result *r)
{
    if (r->code != 0)
        fail_msg("exit code %d: %s", r->code, r->err);
}

static int64_t event_count(struct box *b, const struct running *r, const char *kind)
{
    const char *text = printed_so_far(b, r);
    char *wanted = arena_printf(&b->arena, "{\"event\":\"%s\"", kind);
    int64_t n = 0;
    for (const char *at = text; (at = strstr(at, wanted)); at++)
        n++;
    return n;
}

static void test_pause_and_go_on(void **state)
{
    struct box *b = *state;
    struct running *r = start_long_session(b);
    assert_int_equal(runner_of(b, 1), r->pid);
    struct result asked = RUN(b, "pause", "1");
    expect_ok(&asked);
    wait_for_state(b, 1, "paused");
    assert_int_equal(runner_of(b, 1), r->pid); // its process keeps it open
    asked = RUN(b, "pause", "1", "--off");
    expect_ok(&asked);
    wait_for_state(b, 1, "running");
    wait_for_trials(b, 1, trials_of(b, 1) + 5);
    assert_int_equal(event_count(b, r, "state"), 2);
    asked = RUN(b, "stop", "1");
    expect_ok(&asked);
    struct result result = finish(b, r);
    expect_ok(&result);
    struct events e = events_of(b, result.out);
    assert_string_equal(text_of(end_event(&e), "state"), "stopped");
    assert_string_equal(state_of(b, 1), "stopped");
    assert_int_equal(runner_of(b, 1), 0);
}

struct count {
    struct running *running;
    int64_t seen;
};

static bool settled(struct box *b, void *context)
{
    struct count *c = context;
    int64_t now = trials_of(b, 1), before = c->seen;
    c->seen = now;
    return now == before;
}

// A paused session asks for nothing: what was in flight arrives, and that is all.
static void test_paused_means_paused(void **state)
{
    struct box *b = *state;
    struct running *r = start_long_session(b);
    RUN(b, "pause", "1");
    wait_for_state(b, 1, "paused");
    int64_t at_pause = trials_of(b, 1);
    struct count c = {r, -1};
    wait_until(b, "trials in flight", settled, &c);
    assert_true(c.seen <= at_pause + 2); // its workers
    RUN(b, "stop", "1");                 // works on a paused one too
    struct result result = finish(b, r);
    expect_ok(&result);
    assert_true(trials_of(b, 1) <= at_pause + 2);
    assert_string_equal(state_of(b, 1), "stopped");
}

static void test_budget(void **state)
{
    struct box *b = *state;
    struct running *r = start_long_session(b);
    struct result asked = RUN(b, "budget", "1", "40");
    expect_ok(&asked);
    struct result result = finish(b, r);
    expect_ok(&result);
    struct events e = events_of(b, result.out);
    assert_string_equal(text_of(end_event(&e), "state"), "done");
    int64_t trials = trials_of(b, 1);
    assert_true(trials >= 40);
    assert_int_equal(number_of(end_event(&e), "trials"), trials);
    assert_int_equal(number_of(listed_session(b, 1), "budget_trials"), 40);
    asked = RUN(b, "budget", "1", "400"); // nobody runs it now
    expect_ok(&asked);
    assert_int_equal(number_of(listed_session(b, 1), "budget_trials"), 400);
    result = RUN(b, "resume", "1", "--trials", "60");
    expect_ok(&result);
    assert_true(trials_of(b, 1) >= 60);
}

static void test_seconds_survive_a_new_budget(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl",
                          "--trials", "5", "--seconds", "500");
    expect_ok(&r);
    r = RUN(b, "budget", "1", "7");
    expect_ok(&r);
    assert_int_equal(number_of(listed_session(b, 1), "budget_seconds"), 500);
}

static void test_signal(void **state, int number)
{
    struct box *b = *state;
    struct running *r = start_long_session(b);
    send_signal(r, number);
    struct result result = finish(b, r);
    assert_int_equal(result.code, 128 + number);
    struct events e = events_of(b, result.out);
    const cJSON *end = end_event(&e);
    assert_string_equal(text_of(end, "state"), "paused");
    assert_int_equal(number_of(end, "trials"), trials_of(b, 1)); // everything said is stored
    assert_int_equal(count_events(&e, "trial"), trials_of(b, 1));
    assert_string_equal(state_of(b, 1), "paused");
    assert_int_equal(runner_of(b, 1), 0);
    char *more = arena_printf(&b->arena, "%" PRId64, trials_of(b, 1) + 4);
    result = RUN(b, "resume", "1", "--trials", more);
    expect_ok(&result);
    assert_string_equal(state_of(b, 1), "done");
}

static void test_interrupt(void **state)
{
    test_signal(state, SIGINT);
}

static void test_terminate(void **state)
{
    test_signal(state, SIGTERM);
}

static void test_hang_up(void **state)
{
    test_signal(state, SIGHUP);
}

// Returns when it stands still.
static void freeze(const struct running *r)
{
    int status;
    send_signal(r, SIGSTOP);
    assert_int_equal(waitpid(r->pid, &status, WUNTRACED), r->pid);
    assert_true(WIFSTOPPED(status));
}

// Two at once: the second finds the first not yet acted upon, and does not wait for it. (The
// handler of the lower number is entered first, and interrupted by the other before it does
// anything; with more than one thread, another might take it.)
static void test_second_interrupt(void **state)
{
    struct box *b = *state;
    box_set(b, "OPENBLAS_NUM_THREADS", "1");
    struct running *r = start_long_session(b);
    freeze(r);
    send_signal(r, SIGTERM);
    send_signal(r, SIGINT);
    send_signal(r, SIGCONT);
    assert_int_equal(finish(b, r).code, 130);
    assert_string_equal(state_of(b, 1), "paused");
    assert_int_equal(runner_of(b, 1), 0);
}

static void test_second_runner_is_refused(void **state)
{
    struct box *b = *state;
    struct running *r = start_long_session(b);
    struct result second = RUN(b, "resume", "1");
    char *process = arena_printf(&b->arena, "process %d", (int)r->pid);
    assert_refused(&second, 1, "session 1 is running", process);
    int64_t before = trials_of(b, 1);
    wait_for_trials(b, 1, before + 3); // the first one did not notice
    send_signal(r, SIGTERM);
    assert_int_equal(finish(b, r).code, 143);
    second = RUN(b, "pause", "1");
    assert_refused(&second, 1, "not running", "resume 1");
}

static void test_stop_keeps_what_is_done(void **state)
{
    struct box *b = *state;
    struct result r =
        RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl", "--trials", "5");
    expect_ok(&r);
    r = RUN(b, "stop", "1");
    expect_ok(&r);
    assert_contains(r.out, "done already");
    assert_string_equal(state_of(b, 1), "done");
}

static void test_dead_runner(void **state)
{
    struct box *b = *state;
    struct running *r = start_long_session(b);
    send_signal(r, SIGKILL);
    assert_int_equal(finish(b, r).code, 137);
    assert_string_equal(state_of(b, 1), "paused");
    assert_int_equal(runner_of(b, 1), 0);
    struct result stop = RUN(b, "stop", "1");
    expect_ok(&stop);
    assert_string_equal(state_of(b, 1), "stopped");
}

// A command that nobody took does not steer the next runner.
static void test_stale_command(void **state)
{
    struct box *b = *state;
    struct running *r = start_long_session(b);
    freeze(r);
    RUN(b, "pause", "1");
    send_signal(r, SIGKILL);
    finish(b, r);
    char *more = arena_printf(&b->arena, "%" PRId64, trials_of(b, 1) + 100);
    struct result result = RUN(b, "resume", "1", "--trials", more, "--json");
    expect_ok(&result);
    assert_string_equal(state_of(b, 1), "done");
}

static void test_detach(void **state)
{
    struct box *b = *state;
    struct result r =
        RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl:delay_us=5000",
            "--strategy", "random", "--trials", "3000", "--detach");
    expect_ok(&r);
    assert_contains(r.err, "session 1 runs in the background");
    int64_t runner = runner_of(b, 1);
    assert_true(runner > 0 && runner != getpid());
    assert_int_equal(getsid((pid_t)runner), runner); // the terminal's signals do not reach it
    wait_for_trials(b, 1, 5);
    RUN(b, "stop", "1");
    wait_for_no_runner(b, 1);
    assert_string_equal(state_of(b, 1), "stopped");
    const char *log = box_read(b, box_path(b, "home/.local/state/tilewalk/session-1.log"));
    assert_contains(log, "session 1 stopped");
}

static void test_detach_reports_failure(void **state)
{
    struct box *b = *state;
    struct result r =
        RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bwol", "--detach");
    assert_refused(&r, 1, "'bwol'", NULL);
    r = RUN(b, "resume", "4", "--detach");
    assert_refused(&r, 1, "no session 4", NULL);
}

// Four at once on one database that none of them has made yet; each is as if it were alone.
static void test_many_processes(void **state)
{
    struct box *b = *state;
    struct running *r[4];
    for (int i = 0; i < 4; i++)
        r[i] =
            START(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:rugged:delay_us=500",
                  "--trials", "60", "--seed", "3", "--workers", "2", "--json");
    for (int i = 3; i >= 0; i--) {
        struct result result = finish(b, r[i]);
        expect_ok(&result);
        assert_string_equal(result.err, "");
    }
    assert_int_equal(cJSON_GetArraySize(listed_sessions(b)), 4);
    for (int id = 2; id <= 4; id++)
        assert_string_equal(sequence(b, 1), sequence(b, id));
}

static void test_seconds(void **state)
{
    struct box *b = *state;
    struct result r =
        RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl:delay_us=5000",
            "--seconds", "0.05", "--trials", "100000", "--json");
    expect_ok(&r);
    struct events e = events_of(b, r.out);
    assert_string_equal(text_of(end_event(&e), "state"), "done");
    assert_contains(text_of(end_event(&e), "message"), "seconds");
    assert_true(number_of(end_event(&e), "trials") < 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_pause_and_go_on),
        FLOW_TEST(test_paused_means_paused),
        FLOW_TEST(test_budget),
        FLOW_TEST(test_seconds_survive_a_new_budget),
        FLOW_TEST(test_interrupt),
        FLOW_TEST(test_terminate),
        FLOW_TEST(test_hang_up),
        FLOW_TEST(test_second_interrupt),
        FLOW_TEST(test_second_runner_is_refused),
        FLOW_TEST(test_stop_keeps_what_is_done),
        FLOW_TEST(test_dead_runner),
        FLOW_TEST(test_stale_command),
        FLOW_TEST(test_detach),
        FLOW_TEST(test_detach_reports_failure),
        FLOW_TEST(test_many_processes),
        FLOW_TEST(test_seconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
