// The life of a session between processes: pausing, stopping, signals, background, death.
#include "group.h"
#include "sessions.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

static int64_t event_count(struct box *b, const struct running *r, const char *kind)
{
    return count_parts(printed_so_far(b, r), arena_printf(&b->arena, "{\"event\":\"%s\"", kind));
}

static const char resuming[] = "resuming session 1\n";

static void test_pause_and_go_on(void **state)
{
    struct box *b = *state;
    struct running *r = start_long_session(b);
    assert_int_equal(runner_of(b, 1), r->pid);
    struct result asked = RUN(b, "pause", "1");
    assert_ok(&asked);
    wait_for_state(b, 1, "paused");
    assert_int_equal(runner_of(b, 1), r->pid); // its process keeps it open
    struct result refused = RUN(b, "resume", "1", "--trials", "5000");
    assert_refused(&refused, 1, "without --trials", "set 1 trials=N");
    asked = RUN(b, "resume", "1");
    assert_ok(&asked);
    assert_string_equal(asked.out, resuming);
    wait_for_state(b, 1, "running");
    wait_for_trials(b, 1, trials_of(b, 1) + 5);
    assert_int_equal(event_count(b, r, "state"), 2);
    asked = RUN(b, "stop", "1");
    assert_ok(&asked);
    struct result result = finish(b, r);
    assert_ok(&result);
    struct events e = events_of(b, result.out);
    assert_string_equal(text_of(end_event(&e), "state"), "stopped");
    assert_string_equal(state_of(b, 1), "stopped");
    assert_int_equal(runner_of(b, 1), 0);
}

// A runner looks for commands now and then: one that has not read the first yet gets both.
static void test_resume_before_the_pause(void **state)
{
    struct box *b = *state;
    struct running *r = start_long_session(b);
    freeze(r);
    struct result asked = RUN(b, "pause", "1");
    assert_ok(&asked);
    asked = RUN(b, "resume", "1");
    assert_ok(&asked);
    assert_string_equal(asked.out, resuming);
    int64_t before = trials_of(b, 1);
    send_signal(r, SIGCONT);
    wait_for_trials(b, 1, before + 5);
    RUN(b, "stop", "1");
    struct result result = finish(b, r);
    assert_ok(&result);
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
    assert_ok(&result);
    assert_true(trials_of(b, 1) <= at_pause + 2);
    assert_string_equal(state_of(b, 1), "stopped");
}

static void test_budget(void **state)
{
    struct box *b = *state;
    struct running *r = start_long_session(b);
    freeze(r); // or it might spend more than that until the command is there
    int64_t budget = trials_of(b, 1) + 50;
    struct result asked = RUN(b, "set", "1", arena_printf(&b->arena, "trials=%" PRId64, budget));
    assert_ok(&asked);
    send_signal(r, SIGCONT);
    struct result result = finish(b, r);
    assert_ok(&result);
    struct events e = events_of(b, result.out);
    assert_string_equal(text_of(end_event(&e), "state"), "done");
    int64_t trials = trials_of(b, 1);
    assert_true(trials >= budget);
    assert_int_equal(number_of(end_event(&e), "trials"), trials);
    assert_int_equal(number_of(listed_session(b, 1), "budget_trials"), budget);
    asked = RUN(b, "set", "1", "trials=4000"); // nobody runs it now
    assert_ok(&asked);
    assert_int_equal(number_of(listed_session(b, 1), "budget_trials"), 4000);
    char *more = arena_printf(&b->arena, "%" PRId64, trials + 20);
    result = RUN(b, "resume", "1", "--trials", more);
    assert_ok(&result);
    assert_true(trials_of(b, 1) >= trials + 20);
}

// The new budget is less than what is spent already: nothing is left to do, and the session stays
// as it is.
static void test_budget_below_what_is_done(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl",
                          "--trials", "12", "--json");
    assert_ok(&r);
    r = RUN(b, "resume", "1", "--trials", "5", "--json");
    assert_ok(&r);
    struct events e = events_of(b, r.out);
    assert_string_equal(text_of(end_event(&e), "state"), "done");
    assert_string_equal(text_of(end_event(&e), "message"), "all 12 trials are done");
    assert_int_equal(number_of(listed_session(b, 1), "budget_trials"), 12);
    assert_int_equal(trials_of(b, 1), 12);
}

// Spent trials cannot be taken back: a smaller budget is refused, exactly that number ends the
// session.
static void test_resuming_below_what_is_spent(void **state)
{
    struct box *b = *state;
    struct running *r = start_long_session(b);
    send_signal(r, SIGTERM);
    assert_int_equal(finish(b, r).code, 143);
    int64_t trials = trials_of(b, 1);
    double budget = number_of(listed_session(b, 1), "budget_trials");
    assert_true(trials > 1);
    struct result refused = RUN(b, "resume", "1", "--trials", "1", "--plain");
    assert_refused(&refused, 1, "session 1", arena_printf(&b->arena, " %d ", (int)trials));
    assert_string_equal(state_of(b, 1), "paused");
    assert_true(number_of(listed_session(b, 1), "budget_trials") == budget);
    assert_int_equal(trials_of(b, 1), trials);
}

static void test_a_budget_that_is_spent(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl",
                          "--trials", "12", "--json");
    assert_ok(&r);
    r = RUN(b, "set", "1", "trials=11");
    assert_refused(&r, 1, "session 1 has spent 12 trials already", " 12 ");
    assert_int_equal(number_of(listed_session(b, 1), "budget_trials"), 12);
    r = RUN(b, "set", "1", "trials=30");
    assert_ok(&r);
    r = RUN(b, "set", "1", "trials=12");
    assert_ok(&r);
    assert_int_equal(number_of(listed_session(b, 1), "budget_trials"), 12);
}

static void test_seconds_survive_a_new_budget(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl",
                          "--trials", "5", "--seconds", "500");
    assert_ok(&r);
    r = RUN(b, "set", "1", "trials=7");
    assert_ok(&r);
    assert_int_equal(number_of(listed_session(b, 1), "budget_seconds"), 500);
}

static void test_stop_keeps_what_is_done(void **state)
{
    struct box *b = *state;
    struct result r =
        RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl", "--trials", "5");
    assert_ok(&r);
    r = RUN(b, "stop", "1");
    assert_ok(&r);
    assert_contains(r.out, "done already");
    assert_string_equal(state_of(b, 1), "done");
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
    char *more = arena_printf(&b->arena, "%" PRId64, trials_of(b, 1) + 20);
    struct result result = RUN(b, "resume", "1", "--trials", more, "--json");
    assert_ok(&result);
    assert_string_equal(state_of(b, 1), "done");
}

static void test_seconds(void **state)
{
    struct box *b = *state;
    struct result r =
        RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl:delay_us=5000",
            "--seconds", "2", "--trials", "100000", "--json");
    assert_ok(&r);
    struct events e = events_of(b, r.out);
    assert_string_equal(text_of(end_event(&e), "state"), "done");
    assert_contains(text_of(end_event(&e), "message"), "seconds");
    double trials = number_of(end_event(&e), "trials");
    assert_true(trials < 100000);
    // its time is spent: resumed, it has what it had and does no more
    r = RUN(b, "resume", "1", "--json");
    assert_ok(&r);
    e = events_of(b, r.out);
    assert_true(number_of(end_event(&e), "trials") == trials);
    assert_true(cJSON_IsObject(cJSON_GetObjectItem(end_event(&e), "best")));
    assert_int_equal(count_events(&e, "trial"), 0);
}

TEST_GROUP(life)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_pause_and_go_on),
        FLOW_TEST(test_resume_before_the_pause),
        FLOW_TEST(test_paused_means_paused),
        FLOW_TEST(test_budget),
        FLOW_TEST(test_budget_below_what_is_done),
        FLOW_TEST(test_a_budget_that_is_spent),
        FLOW_TEST(test_resuming_below_what_is_spent),
        FLOW_TEST(test_seconds_survive_a_new_budget),
        FLOW_TEST(test_stop_keeps_what_is_done),
        FLOW_TEST(test_stale_command),
        FLOW_TEST(test_seconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
