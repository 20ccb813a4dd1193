// Trials that the workers of a pool measure: with a real nats-server, which is killed, and with
// workers and runs that come late, are killed, stand still, drift, or lie.
#include "group.h"
#include "patience.h"
#include "pool_run.h"

#include "base/file.h"
#include "base/str.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static void test_same(void **state)
{
    struct box *b = *state;
    struct pool_server s = pool_start(b, "");
    begin_with_ours(b, "walk");
    start_worker(b, &s);
    struct result r = TUNE(b, QUICK, "--strategy", "walk", "--on", s.url);
    check_same(b, &r, 2);
    assert_int_equal(at_work(b, "2"), 1);
    struct events events = events_of(b, r.out);
    assert_false(is_null(first_event(&events, "trial"), "machine"));
    start_worker(b, &s);
    r = TUNE(b, QUICK, "--strategy", "walk", "--on", "local:", "--on", s.url);
    check_same(b, &r, 3);
}

static void test_late(void **state)
{
    struct box *b = *state;
    box_set(b, "TILEWALK_LINK_SECONDS", "0.5");
    struct scene s = begin_scene(b, 1);
    struct running *second = start_worker(b, &s.server);
    wait_for_worker(b, second);
    freeze(s.worker[0]); // what it is at comes again, to the second like all else
    go_on(s.run);
    wait_for_trials(b, 2, stored_trials(b, 2) + 10);
    go_on(s.worker[0]);
    struct result r = finish(b, s.run);
    check_same(b, &r, 2);
    assert_int_equal(at_work(b, "2"), 2);
}

// The worker finishes, hands its work back, and announces that it leaves.
static void test_drained(void **state)
{
    struct box *b = *state;
    struct scene s = begin_scene(b, 2);
    send_signal(s.worker[0], SIGTERM);
    struct result r = finish(b, s.worker[0]);
    assert_int_equal(r.code, 0);
    assert_contains(r.out, "has left the pool after ");
    go_on(s.run);
    r = finish(b, s.run);
    check_same(b, &r, 2);
    assert_contains(r.out, "is left: it was ended");
    send_signal(s.worker[1], SIGINT);
    assert_int_equal(finish(b, s.worker[1]).code, 0);
}

static bool has_agent(struct box *b, void *context)
{
    pid_t found;
    (void)b;
    return processes_below(((const struct running *)context)->pid, &found, 1) > 0;
}

// Workers that are to leave: one that has nothing to do, and two whose trials do not end in time,
// by themselves and after SIGTERM.
static void test_limited(void **state)
{
    struct box *b = *state;
    struct pool_server s = pool_start(b, "");
    struct running *idle =
        START(b, "worker", "--pool", s.url, "--device", "none", "--idle-exit", "0.5");
    struct result r = finish(b, idle);
    assert_int_equal(r.code, 0);
    assert_contains(r.out, "has left the pool after 0 trials");
    struct running *const worker[] = {
        START(b, "worker", "--pool", s.url, "--device", "none", "--lifetime", "1"),
        start_worker(b, &s)};
    wait_for_worker(b, worker[0]);
    wait_for_worker(b, worker[1]);
    struct running *run =
        BEGIN(b, "synthetic:bowl:delay_us=300000000", "--strategy", "random", "--pool", s.url);
    wait_until(b, "an agent of the second worker", has_agent, worker[1]);
    send_signal(worker[1], SIGTERM);
    for (int i = 0; i < 2; i++) {
        r = finish(b, worker[i]);
        assert_int_equal(r.code, 0);
        assert_contains(r.out, "has left the pool after 0 trials");
    }
    send_signal(run, SIGKILL);
    finish(b, run);
}

// `fleet drain` does the same by name, from where the run is; a machine that is gone can be
// forgotten.
static void test_drained_by_name(void **state)
{
    struct box *b = *state;
    struct scene s = begin_scene(b, 1);
    const char *said = printed_so_far(b, s.worker[0]), *end = strstr(said, " measures");
    assert_non_null(end);
    const char *name = arena_printf(&b->arena, "%.*s", (int)(end - said), said);
    struct result r = RUN(b, "fleet", "forget", name);
    assert_int_equal(r.code, 1);
    assert_contains(r.err, "session 2");
    r = RUN(b, "fleet", "drain", name, "--on", s.server.url);
    assert_ok(&r);
    assert_contains(r.out, name);
    struct running *second = start_worker(b, &s.server);
    assert_int_equal(finish(b, s.worker[0]).code, 0);
    go_on(s.run);
    r = finish(b, s.run);
    check_same(b, &r, 2);
    assert_int_equal(RUN(b, "fleet", "forget", name).code, 0);
    assert_null(strstr(RUN(b, "fleet").out, name));
    assert_int_equal(RUN(b, "fleet", "forget", name).code, 2);
    assert_int_equal(RUN(b, "fleet", "drain", name).code, 2);
    send_signal(second, SIGINT);
    assert_int_equal(finish(b, second).code, 0);
}

static void test_nobody_to_drain(void **state)
{
    struct box *b = *state;
    struct pool_server s = pool_start(b, "");
    box_set(b, "TILEWALK_LINK_SECONDS", "1");
    struct result r = RUN(b, "fleet", "drain", "nobody", "--on", s.url);
    assert_int_equal(r.code, 1);
    assert_contains(r.err, "'nobody'");
    assert_int_equal(RUN(b, "fleet", "drain", "a.b", "--on", s.url).code, 2);
    assert_int_equal(RUN(b, "fleet", "dismiss", "nobody").code, 2);
}

// Its unfinished trials go to the other worker.
static void test_killed_worker(void **state)
{
    struct box *b = *state;
    box_set(b, "TILEWALK_LINK_SECONDS", "0.5");
    struct scene s = begin_scene(b, 2);
    freeze(s.worker[0]);
    go_on(s.run);
    wait_for_trials(b, 2, stored_trials(b, 2) + 5); // so that it has been given one
    send_signal(s.worker[0], SIGKILL);
    struct result r = finish(b, s.run);
    check_same(b, &r, 2);
    assert_contains(r.out, "is lost: nothing was heard of it");
}

// It stands still for longer than its lease, and gives late what another one has given.
static void test_late_result(void **state)
{
    struct box *b = *state;
    box_set(b, "TILEWALK_LINK_SECONDS", "0.5");
    struct scene s = begin_scene(b, 2);
    freeze(s.worker[0]);
    go_on(s.run);
    wait_for_trials(b, 2, stored_trials(b, 2) + 15);
    go_on(s.worker[0]);
    struct result r = finish(b, s.run);
    check_same(b, &r, 2);
}

static void test_killed_run(void **state)
{
    struct box *b = *state;
    struct scene s = begin_scene(b, 1);
    send_signal(s.run, SIGKILL);
    finish(b, s.run);
    struct result r = RUN(b, "resume", "2", "--json", "--on", s.server.url);
    check_same(b, &r, 2);
}

// It comes back on the same storage.
static void test_killed_server(void **state)
{
    struct box *b = *state;
    box_set(b, "TILEWALK_LINK_SECONDS", "2");
    struct scene s = begin_scene(b, 1);
    go_on(s.run);
    for (int trials = 5; trials < 40; trials += 15) {
        wait_for_trials(b, 2, trials);
        pool_kill(b, &s.server);
        pool_start_again(b, &s.server);
    }
    struct result r = finish(b, s.run);
    check_same(b, &r, 2);
}

// The server comes back without its storage.
static void test_lost_storage(void **state)
{
    struct box *b = *state;
    box_set(b, "TILEWALK_LINK_SECONDS", "2");
    struct scene s = begin_scene(b, 1);
    pool_kill(b, &s.server);
    assert_int_equal(remove_folder(box_path(b, "nats")), 0);
    pool_start_again(b, &s.server);
    go_on(s.run);
    struct result r = finish(b, s.run);
    check_same(b, &r, 2);
}

// Both get their trials, in turn: when the first is done, the second is not at its beginning. It
// has begun when the first had `lead` trials.
static void test_shared(void **state)
{
    struct box *b = *state;
    struct pool_server s = pool_start(b, "");
    begin_with_ours(b, "random");
    start_worker(b, &s);
    struct running *first = BEGIN(b, SLOW, "--strategy", "random", "--on", s.url);
    wait_for_trials(b, 2, 1);
    struct running *second = BEGIN(b, SLOW, "--strategy", "random", "--on", s.url);
    wait_for_trials(b, 3, 1);
    int64_t left = 60 - trials_of(b, 2); // a busy machine may have let the second begin late
    struct result r = finish(b, first);
    assert_in_range(trials_of(b, 3), left / 3, 60);
    check_same(b, &r, 2);
    r = finish(b, second);
    check_same(b, &r, 3);
}

// Signals the processes that a process has started, and what they have started.
static void signal_below(pid_t pid, int signal_number)
{
    char path[64], *list, *rest;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    assert_true(file_read(path, &list, NULL, NULL));
    for (char *word = strtok_r(list, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
        assert_int_equal(kill(atoi(word), signal_number), 0);
        signal_below(atoi(word), signal_number);
    }
    free(list);
}

// A run that stands still, with what it has started, holds up no other run.
static void test_stopped_run(void **state)
{
    struct box *b = *state;
    struct pool_server s = pool_start(b, "");
    begin_with_ours(b, "random");
    start_worker(b, &s);
    struct running *first = BEGIN(b, SLOW, "--strategy", "random", "--pool", s.url);
    wait_for_trials(b, 2, 1);
    freeze(first);
    struct result r = TUNE(b, QUICK, "--strategy", "random", "--pool", s.url);
    check_same(b, &r, 3);
    signal_below(first->pid, SIGSTOP);
    r = TUNE(b, QUICK, "--strategy", "random", "--pool", s.url);
    check_same(b, &r, 4);
    assert_true(trials_of(b, 2) < 60);
    signal_below(first->pid, SIGCONT);
    send_signal(first, SIGCONT);
    r = finish(b, first);
    check_same(b, &r, 2);
}

// An agent that stands still is ended: its trials are measured by another one, and those of the
// other runs do not wait for it.
static void test_stopped_agent(void **state)
{
    struct box *b = *state;
    struct pool_server s = pool_start(b, "");
    box_set(b, "TILEWALK_LINK_SECONDS", "1");
    begin_with_ours(b, "random");
    struct running *worker = start_worker(b, &s);
    struct running *first = BEGIN(b, SLOW, "--strategy", "random", "--pool", s.url);
    wait_for_trials(b, 2, 1);
    signal_below(worker->pid, SIGSTOP);
    struct result r = TUNE(b, QUICK, "--strategy", "random", "--pool", s.url);
    check_same(b, &r, 3);
    r = finish(b, first);
    check_same(b, &r, 2);
}

// --- who lies ---

// "tw.job.CLASS.RUN.NUMBER", of which a result has the last two words.
static const char *result_subject(struct box *b, const char *job)
{
    const char *run = strchr(job + strlen("tw.job."), '.') + 1;
    return arena_printf(&b->arena, "tw.result.%.*s", (int)strcspn(run, " "), run);
}

// Messages that are wrong: results of trials that are waited for, by somebody who did not take them
// (the trial itself as its result, a crash, no result), presence, and jobs. They use up no tries.
static void test_garbage(void **state)
{
    static const char *const lies[] = {"{\"type\":\"ready\"}", "\x01{{{", NULL};
    static const char other[] = "{\"type\":\"member\",\"version\":\"77.1\"}";
    struct box *b = *state;
    struct scene s = begin_scene(b, 1);
    int hand = pool_talk(&s.server);
    go_on(s.run);
    for (int i = 0; i < 20; i++) {
        const char *job = pool_listen(b, hand, "tw.job."), *text = strstr(job, "\r\n\r\n{");
        const char *own =
            text ? arena_printf(&b->arena, "%.*s", (int)strcspn(text + 4, "\r"), text + 4) : "{}";
        for (int k = 0; k < 4; k++)
            pool_publish(hand, result_subject(b, job), lies[k % 3] ? lies[k % 3] : own);
        pool_publish(hand, "tw.here.x", i % 2 ? other : "no member");
        pool_publish(hand, arena_printf(&b->arena, "%.*s9", (int)strcspn(job, " "), job), "[]");
    }
    struct result r = finish(b, s.run);
    check_same(b, &r, 2);
    assert_contains(r.out, "1 result");
    close(hand);
}

// --- who is not as the others ---

// Two workers that are compared have two trials at once: a second job comes before a result.
static void test_compared_at_once(void **state)
{
    enum { TRIALS = 12 };
    struct box *b = *state;
    if (!has_device())
        return;
    struct pool_server s = pool_start(b, "");
    int hand = pool_talk(&s), jobs = 0, results = 0;
    box_set(b, "TILEWALK_FLEET_MARGIN", "1000");
    for (int i = 0; i < 2; i++)
        wait_for_worker(b, START(b, "worker", s.url, "--workers", "1"));
    struct running *run = START(b, "tune", flow_path(b, "small.lua"), "--strategy", "random",
                                "--trials", "12", "--on", s.url, "--json");
    while (jobs - results < 2) {
        const char *message = pool_listen(b, hand, "tw.");
        jobs += str_starts(message, "tw.job.");
        results += str_starts(message, "tw.result.");
        if (results == TRIALS)
            fail_msg("one trial at a time");
    }
    close(hand);
    struct result r = finish(b, run);
    assert_ok(&r);
}

static bool has_left(struct box *b, void *context)
{
    return strstr(printed_so_far(b, context), "has left the pool") != NULL;
}

// Its trials are measured by another worker, and both it and `fleet` get the reason.
static void test_set_aside(void **state)
{
    struct box *b = *state;
    if (!has_device())
        return;
    struct pool_server s = pool_start(b, "");
    struct running *worker[2];
    box_set(b, "TILEWALK_FLEET_MARGIN", "1e-9");
    for (int i = 0; i < 2; i++) {
        worker[i] = START(b, "worker", s.url, "--workers", "1");
        wait_for_worker(b, worker[i]);
    }
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--strategy", "random", "--trials",
                          "8", "--on", s.url, "--json");
    assert_ok(&r);
    const cJSON *machine, *refused = NULL;
    cJSON_ArrayForEach(machine, machines_of(b, "1"))
    {
        assert_true(number_of(machine, "calibration_ms") > 0);
        if (str_equal(text_of(machine, "state"), "refused"))
            refused = machine;
    }
    assert_non_null(refused);
    assert_contains(r.out, text_of(refused, "message"));
    bool first = strstr(printed_so_far(b, worker[0]), text_of(refused, "name")) != NULL;
    wait_until(b, "its leaving", has_left, worker[!first]);
    r = finish(b, worker[!first]);
    assert_int_equal(r.code, 1);
    assert_one_line(r.err);
}

TEST_GROUP(pool)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_same),
        FLOW_TEST(test_late),
        FLOW_TEST(test_drained),
        FLOW_TEST(test_limited),
        FLOW_TEST(test_drained_by_name),
        FLOW_TEST(test_nobody_to_drain),
        FLOW_TEST(test_killed_worker),
        FLOW_TEST(test_late_result),
        FLOW_TEST(test_killed_run),
        FLOW_TEST(test_killed_server),
        FLOW_TEST(test_lost_storage),
        FLOW_TEST(test_shared),
        FLOW_TEST(test_stopped_run),
        FLOW_TEST(test_stopped_agent),
        FLOW_TEST(test_garbage),
        FLOW_TEST(test_compared_at_once),
        FLOW_TEST(test_set_aside),
    };
    if (!pool_server_program()) {
        printf("skipped: there is no nats-server, or the program was built without pools\n");
        return EXIT_SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
