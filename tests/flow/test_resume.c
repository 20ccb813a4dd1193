// A run that is killed at any moment and resumed is the run that was never killed: the same
// configurations in the same order with the same outcomes, whatever the number of workers.
#include "group.h"
#include "sessions.h"

#include "base/rng.h"
#include "base/str.h"

#include <signal.h>
#include <string.h>
#include <time.h>

#define TRIALS "60"

static const char *const strategies[] = {"opevo", "walk:starts=6:ahead=2",
                                         "autotvm:plan=16:chains=8:steps=20"};
static const char *const worker_counts[] = {"1", "2", "5"};
#define COUNT(list) (sizeof(list) / sizeof *(list))
#define STRATEGIES  (COUNT(strategies) - !XGBOOST) // the last one needs it

// A fifth fails in some way, a third is rejected, and with several workers results arrive out of
// order.
static struct running *start_tune(struct box *b, const char *strategy, const char *workers,
                                  int delay_us)
{
    const char *source =
        arena_printf(&b->arena, "synthetic:rugged:seed=3:invalid=0.2:delay_us=%d", delay_us);
    return START(b, "tune", flow_path(b, "small.lua"), "--source", source, "--strategy", strategy,
                 "--workers", workers, "--trials", TRIALS, "--seed", "11", "--json");
}

static int tune(struct box *b, const char *strategy, const char *workers)
{
    return finish(b, start_tune(b, strategy, workers, 300)).code;
}

static int resume(struct box *b, const char *id)
{
    return RUN(b, "resume", id, "--json").code;
}

static void die_at(struct box *b, const char *point, int visit)
{
    box_set(b, "TILEWALK_KILL", arena_printf(&b->arena, "%s:%d", point, visit));
}

static void live(struct box *b)
{
    box_set(b, "TILEWALK_KILL", NULL);
}

static void assert_same(const char *wanted, const char *found, const char *what)
{
    if (strcmp(wanted, found) != 0)
        fail_msg("%s: another sequence\n--- uninterrupted\n%s--- found\n%s", what, wanted, found);
}

static void test_workers_do_not_matter(void **state)
{
    struct box *b = *state;
    int64_t id = 0;
    for (size_t s = 0; s < STRATEGIES; s++) {
        const char *one = NULL;
        for (size_t w = 0; w < COUNT(worker_counts); w++) {
            assert_int_equal(tune(b, strategies[s], worker_counts[w]), 0);
            const char *all = sequence(b, ++id);
            one = one ? one : all;
            assert_same(one, all, worker_counts[w]);
        }
        // Otherwise the test would show less than it seems to; but a strategy that proposes legal
        // points alone has none.
        assert_true(!strstr(one, "\"rejected\"") == (strategies[s] != strategies[0]));
        assert_non_null(strstr(one, "\"ok\""));
        assert_non_null(strstr(one, "the landscape says"));
    }
}

static void test_seeds_matter(void **state)
{
    struct box *b = *state;
    for (int seed = 1; seed <= 2; seed++) {
        const char *text = seed == 1 ? "1" : "2";
        assert_int_equal(RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl",
                             "--trials", "5", "--seed", text)
                             .code,
                         0);
    }
    assert_string_not_equal(sequence(b, 1), sequence(b, 2));
}

// Returns the present population; null for a strategy without.
static const char *population(struct box *b, const cJSON *session)
{
    char *text = cJSON_PrintUnformatted(member(session, "population"));
    const char *kept = arena_strdup(&b->arena, text);
    cJSON_free(text);
    return kept;
}

// Dies at visit `first` of a point, then, resumed, at visit `second`, then runs to its end.
static void assert_survives(struct box *b, const char *wanted, const char *breeding,
                            const char *strategy, const char *workers, const char *point, int first,
                            int second)
{
    const char *what = arena_printf(&b->arena, "%s, %s workers, killed at %s:%d and %d", strategy,
                                    workers, point, first, second);
    box_set(
        b, "TILEWALK_DB",
        arena_printf(&b->arena, "%s/%s-%s-%s-%d.db", b->folder, strategy, workers, point, first));
    die_at(b, point, first);
    struct result killed = finish(b, start_tune(b, strategy, workers, 300));
    if (killed.code != 128 + SIGKILL)
        fail_msg("%s: it was not killed", what);
    live(b);
    assert_true(count_trials(killed.out) <= stored_trials(b, 1)); // stored before it is said
    assert_string_equal(state_of(b, 1), "paused");
    if (second) {
        die_at(b, point, second);
        if (resume(b, "1") != 128 + SIGKILL)
            fail_msg("%s: it was not killed again", what);
        live(b);
    }
    assert_int_equal(resume(b, "1"), 0);
    assert_same(wanted, sequence(b, 1), what);
    const cJSON *session = listed_session(b, 1);
    assert_same(breeding, population(b, session), what);
    assert_string_equal(text_of(session, "state"), "done");
}

struct point {
    const char *name;
    int visit[4]; // 0: none
};

// Replayed asks are visits too; answers that come from the database are neither submitted nor
// stored again.
static const struct point points[] = {
    {"ask", {1, 2, 13, 60}},
    {"submit", {1, 2, 9, 60}},
    {"collect", {1, 2, 9, 60}},
    {"begin", {1, 2, 13, 60}},
    {"put", {1, 2, 13, 60}},
    {"commit", {1, 2, 13, 60}},
    {"told", {1, 2, 13, 60}},
    {"state", {1}},
    {"create", {1}},
};

// Kills at each visit; or, as points belong to the engine and not to strategies, at one for each,
// in turns.
static void test_kill_points(void **state, const char *strategy, bool at_each)
{
    struct box *b = *state;
    assert_int_equal(tune(b, strategy, "1"), 0);
    const char *wanted = sequence(b, 1), *breeding = population(b, listed_session(b, 1));
    assert_true((*breeding == '[') == !strcmp(strategy, "opevo"));
    for (size_t i = 0; i < COUNT(points); i++)
        for (int v = 0; v < 4 && points[i].visit[v]; v++) {
            int visit = points[i].visit[v];
            if (!at_each && points[i].visit[1] && v != (int)i % 4)
                continue;
            const char *workers = worker_counts[(i + (size_t)v) % COUNT(worker_counts)];
            assert_survives(b, wanted, breeding, strategy, workers, points[i].name, visit,
                            visit == 13  ? 20
                            : visit == 9 ? 3
                                         : 0);
        }
}

static void test_kill_points_opevo(void **state)
{
    test_kill_points(state, "opevo", true);
}

static void test_kill_points_random(void **state)
{
    test_kill_points(state, "random", false);
}

// The driver has compiler statistics: some kernels are compiled and not chosen.
static int tune_looking(struct box *b, const char *strategy, const char *workers)
{
    return RUN(b, "tune", "gemm", "--source", "synthetic:machine:statistics=1:invalid=0.2",
               "--strategy", strategy, "--workers", workers, "--trials", "30", "--seed", "11",
               "--json")
        .code;
}

static void test_kill_points_looking(void **state, const char *strategy)
{
    static const struct {
        const char *point;
        int visit;
    } at[] = {{"look", 1}, {"look", 20}, {"commit", 9}, {"told", 12}, {"submit", 10}};
    struct box *b = *state;
    assert_int_equal(tune_looking(b, strategy, "1"), 0);
    const char *wanted = sequence(b, 1);
    assert_true(count_rows(b, "look", NULL) > 30);
    for (size_t i = 0; i < COUNT(at); i++) {
        const char *id = arena_printf(&b->arena, "%d", (int)i + 2);
        die_at(b, at[i].point, at[i].visit);
        assert_int_not_equal(tune_looking(b, strategy, worker_counts[i % COUNT(worker_counts)]), 0);
        live(b);
        assert_int_equal(resume(b, id), 0);
        assert_same(wanted, sequence(b, (int64_t)i + 2), at[i].point);
    }
}

static void test_kill_points_walk_looking(void **state)
{
    test_kill_points_looking(state, "walk:starts=6:ahead=2");
}

static void test_kill_points_learner_looking(void **state)
{
    if (!XGBOOST)
        skip();
    test_kill_points_looking(state, "autotvm:plan=8:chains=8:steps=20");
}

static void sleep_us(uint64_t us)
{
    nanosleep(&(struct timespec){.tv_sec = (time_t)(us / 1000000),
                                 .tv_nsec = (long)(us % 1000000) * 1000},
              NULL);
}

static struct running *start_again(struct box *b, const char *strategy, const char *workers)
{
    return is_stored(b, 1) ? START(b, "resume", "1", "--json")
                           : start_tune(b, strategy, workers, 1000);
}

// Kills a run and its resumptions somewhere, for a while, then lets it come to its end.
static void kill_at_random(struct box *b, struct rng *rng, const char *strategy,
                           const char *workers)
{
    for (int i = 0; i < 8; i++) {
        int64_t before = stored_trials(b, 1);
        struct running *r = start_again(b, strategy, workers);
        sleep_us(rng_below(rng, 60000));
        send_signal(r, SIGKILL);
        struct result result = finish(b, r);
        assert_true(stored_trials(b, 1) >= before + count_trials(result.out)); // stored, then said
        if (result.code == 0)
            return;
    }
    assert_int_equal(finish(b, start_again(b, strategy, workers)).code, 0);
}

static void test_random_kills(void **state)
{
    struct box *b = *state;
    struct rng rng;
    rng_seed(&rng, 2024);
    for (size_t s = 0; s < STRATEGIES; s++) {
        box_set(b, "TILEWALK_DB", arena_printf(&b->arena, "%s/%s.db", b->folder, strategies[s]));
        assert_int_equal(tune(b, strategies[s], "1"), 0);
        const char *wanted = sequence(b, 1);
        for (size_t w = 0; w < COUNT(worker_counts); w++) {
            box_set(
                b, "TILEWALK_DB",
                arena_printf(&b->arena, "%s/%s-%s.db", b->folder, strategies[s], worker_counts[w]));
            kill_at_random(b, &rng, strategies[s], worker_counts[w]);
            assert_same(wanted, sequence(b, 1), worker_counts[w]);
        }
    }
}

static void assert_each_line_in(struct box *b, const char *lines, const char *text)
{
    for (char *rest, *line = strtok_r(arena_strdup(&b->arena, lines), "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest))
        assert_contains(text, line);
}

// An asynchronous search depends on the order in which results arrive: a resumed one goes on from
// the stored order, so it keeps every trial and proposes what it would have proposed.
static void test_asynchronous(void **state)
{
    struct box *b = *state;
    static const int visits[] = {3, 17, 50};
    for (size_t i = 0; i < COUNT(visits); i++) {
        int64_t id = (int64_t)i + 1;
        const char *text = arena_printf(&b->arena, "%d", (int)id);
        die_at(b, points[i + 4].name, visits[i]);
        assert_int_equal(tune(b, "opevo:async=1", "5"), 128 + SIGKILL);
        live(b);
        const char *before = sequence_with_gaps(b, id);
        die_at(b, "told", 60);
        assert_int_equal(resume(b, text), 128 + SIGKILL);
        live(b);
        const char *middle = sequence_with_gaps(b, id);
        assert_each_line_in(b, before, middle);
        assert_int_equal(resume(b, text), 0);
        assert_each_line_in(b, middle, sequence(b, id));
        assert_int_equal(trials_of(b, id), atoi(TRIALS));
    }
}

static void test_killed_while_resuming(void **state)
{
    struct box *b = *state;
    assert_int_equal(tune(b, "opevo", "1"), 0);
    die_at(b, "told", 40);
    assert_int_equal(tune(b, "opevo", "1"), 128 + SIGKILL);
    for (int i = 0; i < 2; i++) {
        die_at(b, "resume", 1);
        assert_int_equal(resume(b, "2"), 128 + SIGKILL);
    }
    live(b);
    assert_int_equal(resume(b, "2"), 0);
    assert_same(sequence(b, 1), sequence(b, 2), "killed twice");
}

static void test_more_workers_and_trials(void **state)
{
    struct box *b = *state;
    assert_int_equal(tune(b, "opevo", "1"), 0);
    assert_int_equal(RUN(b, "resume", "1", "--trials", "80", "--workers", "3").code, 0);
    assert_int_equal(RUN(b, "tune", flow_path(b, "small.lua"), "--source",
                         "synthetic:rugged:seed=3:invalid=0.2", "--strategy", "opevo", "--trials",
                         "80", "--seed", "11")
                         .code,
                     0);
    assert_int_equal(trials_of(b, 1), 80);
    assert_same(sequence(b, 2), sequence(b, 1), "longer budget");
}

// What a resumed session prints begins where the killed one's rows end.
static void test_resume_reports_only_new_trials(void **state)
{
    struct box *b = *state;
    die_at(b, "told", 40);
    assert_int_equal(tune(b, "random", "1"), 128 + SIGKILL);
    live(b);
    int64_t stored = trials_of(b, 1);
    const cJSON *trials =
        member(json_of(b, RUN(b, "show", "1", "--trials", "--json").out), "trials");
    double elapsed = number_of(cJSON_GetArrayItem(trials, (int)stored - 1), "elapsed_s");
    assert_true(elapsed > 0);
    assert_float_equal(number_of(listed_session(b, 1), "ran_seconds"), elapsed, 1e-9);
    struct result r = RUN(b, "resume", "1", "--json");
    struct events e = events_of(b, r.out);
    assert_int_equal(number_of(first_event(&e, "session"), "trials"), stored);
    assert_contains(RUN(b, "show", "1").out, arena_printf(&b->arena, ", %d of 60", (int)stored));
    assert_int_equal(number_of(first_event(&e, "trial"), "id"), stored + 1);
    assert_int_equal(count_events(&e, "trial"), atoi(TRIALS) - stored);
    assert_int_equal(number_of(end_event(&e), "trials"), atoi(TRIALS));
}

// The running time is kept when no process is left to store it.
static void test_stopped_after_a_kill(void **state)
{
    struct box *b = *state;
    die_at(b, "told", 40);
    assert_int_equal(tune(b, "random", "1"), 128 + SIGKILL);
    live(b);
    double ran = number_of(listed_session(b, 1), "ran_seconds");
    assert_true(ran > 0);
    struct result r = RUN(b, "stop", "1");
    assert_ok(&r);
    assert_float_equal(number_of(listed_session(b, 1), "ran_seconds"), ran, 1e-9);
}

// The reason for its end does not make it run again.
static void test_message_is_of_this_run(void **state)
{
    struct box *b = *state;
    assert_int_equal(tune(b, "random", "1"), 0);
    assert_false(is_null(listed_session(b, 1), "message"));
    struct result r = RUN(b, "resume", "1", "--trials", "62", "--json");
    struct events e = events_of(b, r.out);
    assert_true(is_null(first_event(&e, "session"), "message"));
    const char *log = RUN(b, "show", "1").out;
    assert_null(strstr(log, "running: all"));
    assert_contains(log, "seed 11, 60 of 62 trials");
}

// A budget is left, but nothing to spend it on.
static void test_exhausted_stays_as_it_is(void **state)
{
    struct box *b = *state;
    static const char space[] =
        "operator.matmul { N = 8, M = 8, K = 8 }\n"
        "param.p = factors(8, 2)\n"
        "kernel { template = 'k.comp', groups = function() return { 1 } end }\n";
    box_write(b, "k.comp", "void main() {}\n");
    const char *file = box_write(b, "few.lua", space);
    struct result r = RUN(b, "tune", file, "--source", "synthetic:rugged", "--trials", "100");
    assert_ok(&r);
    assert_contains(text_of(listed_session(b, 1), "message"), "exhausted");
    const char *told = RUN(b, "show", "1").out, *json = RUN(b, "show", "1", "--json").out;
    int64_t messages = count_rows(b, "message", NULL);
    for (int i = 0; i < 2; i++) {
        r = RUN(b, "resume", "1", "--json");
        assert_ok(&r);
        assert_int_equal(events_of(b, r.out).count, 2);
    }
    assert_int_equal(count_rows(b, "message", NULL), messages);
    assert_string_equal(RUN(b, "show", "1").out, told);
    assert_string_equal(RUN(b, "show", "1", "--json").out, json);
}

TEST_GROUP(resume)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_workers_do_not_matter),
        FLOW_TEST(test_seeds_matter),
        FLOW_TEST(test_kill_points_opevo),
        FLOW_TEST(test_kill_points_random),
        FLOW_TEST(test_kill_points_walk_looking),
        FLOW_TEST(test_kill_points_learner_looking),
        FLOW_TEST(test_random_kills),
        FLOW_TEST(test_asynchronous),
        FLOW_TEST(test_killed_while_resuming),
        FLOW_TEST(test_more_workers_and_trials),
        FLOW_TEST(test_resume_reports_only_new_trials),
        FLOW_TEST(test_stopped_after_a_kill),
        FLOW_TEST(test_message_is_of_this_run),
        FLOW_TEST(test_exhausted_stays_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
