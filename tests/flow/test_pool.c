// Trials that the workers of a pool measure: with a real nats-server, which is killed, is full, or
// lets nobody in; and with workers and runs that come late, are killed, stand still, or lie.
#include "pool_server.h"
#include "sessions.h"

#include "base/file.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUICK "synthetic:rugged:invalid=0.2"
#define SLOW  "synthetic:rugged:invalid=0.2:delay_us=30000"

static const char *const seeds[] = {"--seed", "5", "--trials", "60", "--json"};

struct words {
    const char *word[40];
    int count;
};

static struct words words_of(struct box *b, const char *source, const char *const *more)
{
    struct words w = {.word = {"tune", flow_path(b, "small.lua"), "--source", source}, .count = 4};
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++)
        w.word[w.count++] = seeds[i];
    while (*more)
        w.word[w.count++] = *more++;
    return w;
}

static struct running *begin(struct box *b, const char *source, const char *const *more)
{
    return start_list(b, words_of(b, source, more).word);
}

#define TUNE(b, source, ...)                                                                       \
    run_list(b, words_of(b, source, (const char *const[]){__VA_ARGS__, NULL}).word)
#define BEGIN(b, source, ...) begin(b, source, (const char *const[]){__VA_ARGS__, NULL})

static struct running *start_worker(struct box *b, const struct pool_server *s)
{
    return START(b, "worker", "--pool", s->url, "--device", "none");
}

// Session 1 ran here, undisturbed.
static void begin_with_ours(struct box *b, const char *strategy)
{
    struct result r = TUNE(b, QUICK, "--strategy", strategy);
    assert_ok(&r);
}

static void check_same(struct box *b, const struct result *r, int64_t id)
{
    assert_ok(r);
    assert_string_equal(sequence(b, id), sequence(b, 1));
}

static const cJSON *machines_of(struct box *b, const char *id)
{
    struct result r = RUN(b, "fleet", id, "--json");
    assert_ok(&r);
    return member(json_of(b, r.out), "machines");
}

// How many machines gave trials; all of the session's are theirs.
static int at_work(struct box *b, const char *id)
{
    const cJSON *machine, *machines = machines_of(b, id);
    int count = 0, trials = 0;
    cJSON_ArrayForEach(machine, machines)
    {
        count += number_of(machine, "trials") > 0;
        trials += (int)number_of(machine, "trials");
    }
    assert_int_equal(trials, trials_of(b, atoi(id)));
    return count;
}

static void test_same(void **state)
{
    struct box *b = *state;
    struct pool_server s = pool_start(b, "");
    begin_with_ours(b, "walk");
    start_worker(b, &s);
    struct result r = TUNE(b, QUICK, "--strategy", "walk", "--pool", s.url);
    check_same(b, &r, 2);
    assert_int_equal(at_work(b, "2"), 1);
    struct events events = events_of(b, r.out);
    assert_false(is_null(first_event(&events, "trial"), "machine"));
    start_worker(b, &s);
    r = TUNE(b, QUICK, "--strategy", "walk", "--on", "local:", "--pool", s.url);
    check_same(b, &r, 3);
}

static void test_late(void **state)
{
    struct box *b = *state;
    struct pool_server s = pool_start(b, "");
    begin_with_ours(b, "random");
    struct running *run = BEGIN(b, SLOW, "--strategy", "random", "--pool", s.url);
    start_worker(b, &s);
    wait_for_trials(b, 2, 5);
    start_worker(b, &s);
    struct result r = finish(b, run);
    check_same(b, &r, 2);
    assert_int_equal(at_work(b, "2"), 2);
}

// Finishes, hands back, and says so.
static void test_drained(void **state)
{
    struct box *b = *state;
    struct pool_server s = pool_start(b, "");
    begin_with_ours(b, "random");
    struct running *first = start_worker(b, &s), *second = start_worker(b, &s);
    struct running *run = BEGIN(b, SLOW, "--strategy", "random", "--pool", s.url);
    wait_for_trials(b, 2, 5);
    send_signal(first, SIGTERM);
    struct result r = finish(b, first);
    assert_int_equal(r.code, 0);
    assert_contains(r.out, "has left the pool after ");
    r = finish(b, run);
    check_same(b, &r, 2);
    assert_contains(r.out, "is left: it was ended");
    send_signal(second, SIGINT);
    assert_int_equal(finish(b, second).code, 0);
}

// The same by name, from where the run is; and who is gone can be forgotten.
static void test_drained_by_name(void **state)
{
    struct box *b = *state;
    struct pool_server s = pool_start(b, "");
    begin_with_ours(b, "random");
    struct running *first = start_worker(b, &s), *second;
    struct running *run = BEGIN(b, SLOW, "--strategy", "random", "--pool", s.url);
    wait_for_trials(b, 2, 5);
    const char *said = printed_so_far(b, first), *end = strstr(said, " measures");
    assert_non_null(end);
    const char *name = arena_printf(&b->arena, "%.*s", (int)(end - said), said);
    second = start_worker(b, &s);
    struct result r = RUN(b, "fleet", "forget", name);
    assert_int_equal(r.code, 1);
    assert_contains(r.err, "measures for session 2 now");
    r = RUN(b, "fleet", "drain", name, "--pool", s.url);
    assert_int_equal(r.code, 0);
    assert_contains(r.out, "finishes what it measures, and leaves the pool");
    assert_int_equal(finish(b, first).code, 0);
    r = finish(b, run);
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
    struct result r = RUN(b, "fleet", "drain", "nobody", "--pool", s.url);
    assert_int_equal(r.code, 1);
    assert_contains(r.err, "no worker 'nobody' has answered");
    assert_int_equal(RUN(b, "fleet", "drain", "a.b", "--pool", s.url).code, 2);
    assert_int_equal(RUN(b, "fleet", "dismiss", "nobody").code, 2);
}

// What it was at comes again to the other one.
static void test_killed_worker(void **state)
{
    struct box *b = *state;
    struct pool_server s = pool_start(b, "");
    begin_with_ours(b, "random");
    box_set(b, "TILEWALK_LINK_SECONDS", "0.5");
    struct running *first = start_worker(b, &s);
    start_worker(b, &s);
    struct running *run = BEGIN(b, SLOW, "--strategy", "random", "--pool", s.url);
    wait_for_trials(b, 2, 5);
    send_signal(first, SIGKILL);
    struct result r = finish(b, run);
    check_same(b, &r, 2);
    assert_contains(r.out, "is lost: nothing was heard of it");
}

// It stands still for longer than its lease, and gives late what another one has given.
static void test_late_result(void **state)
{
    struct box *b = *state;
    struct pool_server s = pool_start(b, "");
    begin_with_ours(b, "random");
    box_set(b, "TILEWALK_LINK_SECONDS", "0.5");
    struct running *first = start_worker(b, &s);
    start_worker(b, &s);
    struct running *run = BEGIN(b, SLOW, "--strategy", "random", "--pool", s.url);
    wait_for_trials(b, 2, 5);
    freeze(first);
    wait_for_trials(b, 2, 20);
    send_signal(first, SIGCONT);
    struct result r = finish(b, run);
    check_same(b, &r, 2);
}

static void test_killed_run(void **state)
{
    struct box *b = *state;
    struct pool_server s = pool_start(b, "");
    begin_with_ours(b, "random");
    start_worker(b, &s);
    struct running *run = BEGIN(b, SLOW, "--strategy", "random", "--pool", s.url);
    wait_for_trials(b, 2, 5);
    send_signal(run, SIGKILL);
    finish(b, run);
    struct result r = RUN(b, "resume", "2", "--json", "--pool", s.url);
    check_same(b, &r, 2);
}

// It comes back on the same storage.
static void test_killed_server(void **state)
{
    struct box *b = *state;
    struct pool_server s = pool_start(b, "");
    begin_with_ours(b, "random");
    box_set(b, "TILEWALK_LINK_SECONDS", "2");
    start_worker(b, &s);
    struct running *run = BEGIN(b, SLOW, "--strategy", "random", "--pool", s.url);
    for (int trials = 5; trials < 40; trials += 15) {
        wait_for_trials(b, 2, trials);
        pool_kill(b, &s);
        pool_start_again(b, &s);
    }
    struct result r = finish(b, run);
    check_same(b, &r, 2);
}

// And on none.
static void test_lost_storage(void **state)
{
    struct box *b = *state;
    struct pool_server s = pool_start(b, "");
    begin_with_ours(b, "random");
    box_set(b, "TILEWALK_LINK_SECONDS", "2");
    start_worker(b, &s);
    struct running *run = BEGIN(b, SLOW, "--strategy", "random", "--pool", s.url);
    wait_for_trials(b, 2, 5);
    pool_kill(b, &s);
    assert_int_equal(remove_folder(box_path(b, "nats")), 0);
    pool_start_again(b, &s);
    struct result r = finish(b, run);
    check_same(b, &r, 2);
}

// Both get their trials, in turn: when the first is done, the second is not at its beginning.
static void test_shared(void **state)
{
    struct box *b = *state;
    struct pool_server s = pool_start(b, "");
    begin_with_ours(b, "random");
    start_worker(b, &s);
    struct running *first = BEGIN(b, SLOW, "--strategy", "random", "--pool", s.url);
    wait_for_trials(b, 2, 1);
    struct running *second = BEGIN(b, SLOW, "--strategy", "random", "--pool", s.url);
    struct result r = finish(b, first);
    assert_in_range(trials_of(b, 3), 20, 60);
    check_same(b, &r, 2);
    r = finish(b, second);
    check_same(b, &r, 3);
}

// --- what cannot be, with one line ---

static void test_refused(void **state)
{
    struct box *b = *state;
    struct pool_server s =
        pool_start(b, "authorization { users = [ { user: a, password: right } ] }\n");
    struct result r = TUNE(b, QUICK, "--pool", s.url);
    assert_refused(&r, 1, s.url, "Authorization Violation");
    const char *url = arena_printf(&b->arena, "nats://a:wrong@127.0.0.1:%d", s.port);
    r = TUNE(b, QUICK, "--pool", url);
    assert_refused(&r, 1, s.url, "Authorization Violation");
    assert_null(strstr(r.err, "wrong"));
    r = RUN(b, "worker", "--pool", url);
    assert_refused(&r, 1, "Authorization Violation", NULL);
    r = TUNE(b, QUICK, "--pool", s.url, "--credentials", box_path(b, "none.creds"));
    assert_refused(&r, 1, "none.creds: No such file", NULL);
    assert_int_equal(cJSON_GetArraySize(listed_sessions(b)), 0);
    r = RUN(b, "worker");
    assert_refused(&r, 2, "missing --pool nats://HOST", NULL);
    r = TUNE(b, QUICK, "--pool", "127.0.0.1");
    assert_refused(&r, 2, "neither nats://HOST", NULL);
    pool_kill(b, &s);
    r = TUNE(b, QUICK, "--pool", s.url);
    assert_refused(&r, 1, s.url, "No server available");
}

// Whoever may not do what a run does gets to know it.
static void test_not_permitted(void **state)
{
    struct box *b = *state;
    struct pool_server s =
        pool_start(b, "authorization { users = [ { user: w, password: w, permissions: {\n"
                      "  publish: { deny: [\"$JS.API.STREAM.CREATE.>\"] } } } ] }\n");
    const char *url = arena_printf(&b->arena, "nats://w:w@127.0.0.1:%d", s.port);
    struct result r = TUNE(b, QUICK, "--pool", url);
    assert_int_equal(r.code, 1);
    assert_contains(r.err, "ermissions");
}

static bool says_stuck(struct box *b, void *context)
{
    return strstr(printed_so_far(b, context), "is stuck: its results are not kept: ") != NULL;
}

// The first trial fills it: its result is kept by who has it, and whoever waits is told why.
static void test_full(void **state)
{
    struct box *b = *state;
    struct pool_server s = pool_start(b, "jetstream { max_file_store: 200, max_mem: 200 }\n");
    start_worker(b, &s);
    struct running *run = BEGIN(b, QUICK, "--strategy", "random", "--pool", s.url);
    wait_until(b, "a word about the server", says_stuck, run);
    send_signal(run, SIGINT);
    assert_int_equal(finish(b, run).code, 128 + SIGINT);
    assert_string_equal(state_of(b, 1), "paused");
}

static void test_too_long(void **state)
{
    struct box *b = *state;
    struct pool_server s = pool_start(b, "max_payload: 1100\n");
    start_worker(b, &s);
    struct result r = TUNE(b, QUICK, "--strategy", "random", "--pool", s.url);
    struct events events = events_of(b, r.out);
    const cJSON *trial = first_event(&events, "trial");
    assert_string_equal(text_of(trial, "outcome"), "compile");
    assert_contains(text_of(trial, "reason"), "longer than the pool's server takes");
}

static void test_nobody(void **state)
{
    struct box *b = *state;
    struct pool_server s = pool_start(b, "");
    struct result r = TUNE(b, QUICK, "--pool", s.url, "--wait", "0.5");
    assert_int_equal(r.code, 1);
    assert_contains(r.err, "no machine could be reached for 0.5 s");
    assert_string_equal(state_of(b, 1), "failed");
    r = RUN(b, "tune", flow_path(b, "small.lua"), "--pool", s.url, "--wait", "0.2");
    assert_int_equal(r.code, 1);
    assert_contains(r.err, "no worker that measures came within 0.2 s");
}

// With the rights that docs/fleet.md gives each of both; who measures cannot put trials.
static void test_rights(void **state)
{
    struct box *b = *state;
    struct pool_server s = pool_start(
        b, "accounts { LAB { jetstream: enabled, users [\n"
           "{ user: run, password: r, permissions {\n"
           "  publish [ \"tw.job.>\", \"tw.run.>\", \"tw.who\", \"tw.leave.*\", \"tw.over.*\",\n"
           "    \"$JS.API.>\", \"$JS.ACK.TWRESULTS.>\" ]\n"
           "  subscribe [ \"tw.here.>\", \"_INBOX.>\" ] } }\n"
           "{ user: worker, password: w, permissions {\n"
           "  publish [ \"tw.result.>\", \"tw.here.>\", \"$JS.ACK.TWJOBS.>\",\n"
           "    \"$JS.API.CONSUMER.INFO.TWJOBS.*\", \"$JS.API.CONSUMER.MSG.NEXT.TWJOBS.*\",\n"
           "    \"$JS.API.STREAM.MSG.GET.TWRUNS\" ]\n"
           "  subscribe [ \"tw.who\", \"tw.leave.*\", \"tw.over.*\", \"_INBOX.>\" ] } }\n"
           "] } }\n");
    const char *run = arena_printf(&b->arena, "nats://run:r@127.0.0.1:%d", s.port);
    const char *worker = arena_printf(&b->arena, "nats://worker:w@127.0.0.1:%d", s.port);
    begin_with_ours(b, "random");
    START(b, "worker", "--pool", worker, "--device", "none");
    struct result r = TUNE(b, QUICK, "--strategy", "random", "--pool", run);
    check_same(b, &r, 2);
    r = TUNE(b, QUICK, "--strategy", "random", "--pool", worker);
    assert_int_equal(r.code, 1);
    assert_contains(r.err, "ermissions Violation");
}

// --- who lies ---

// "tw.job.CLASS.RUN.NUMBER", of which a result has the last two words.
static const char *result_subject(struct box *b, const char *job)
{
    const char *run = strchr(job + strlen("tw.job."), '.') + 1;
    return arena_printf(&b->arena, "tw.result.%.*s", (int)strcspn(run, " "), run);
}

// Results that are none, of trials that are waited for; presence that is none; jobs that are none.
static void test_garbage(void **state)
{
    static const char other[] = "{\"type\":\"member\",\"version\":\"77.1\"}";
    struct box *b = *state;
    struct pool_server s = pool_start(b, "");
    begin_with_ours(b, "random");
    start_worker(b, &s);
    int hand = pool_talk(&s);
    struct running *run = BEGIN(b, SLOW, "--strategy", "random", "--pool", s.url);
    for (int i = 0; i < 20; i++) {
        const char *job = pool_listen(b, hand, "tw.job.");
        pool_publish(hand, result_subject(b, job), i % 2 ? "{\"type\":\"ready\"}" : "\x01{{{");
        pool_publish(hand, "tw.here.x", i % 2 ? other : "no member");
        pool_publish(hand, arena_printf(&b->arena, "%.*s9", (int)strcspn(job, " "), job), "[]");
    }
    struct result r = finish(b, run);
    check_same(b, &r, 2);
    close(hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_same),
        FLOW_TEST(test_late),
        FLOW_TEST(test_drained),
        FLOW_TEST(test_killed_worker),
        FLOW_TEST(test_late_result),
        FLOW_TEST(test_killed_run),
        FLOW_TEST(test_killed_server),
        FLOW_TEST(test_lost_storage),
        FLOW_TEST(test_shared),
        FLOW_TEST(test_refused),
        FLOW_TEST(test_not_permitted),
        FLOW_TEST(test_full),
        FLOW_TEST(test_too_long),
        FLOW_TEST(test_nobody),
        FLOW_TEST(test_rights),
        FLOW_TEST(test_garbage),
        FLOW_TEST(test_drained_by_name),
        FLOW_TEST(test_nobody_to_drain),
    };
    if (!pool_server_program()) {
        printf("skipped: there is no nats-server, or the program was built without pools\n");
        return EXIT_SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
