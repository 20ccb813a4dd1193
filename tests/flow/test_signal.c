// Sessions and processes: signals, death, a life in the background, several runners.
#include "group.h"
#include "sessions.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

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
    assert_ok(&result);
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

static bool printed_end(struct box *b, void *context)
{
    return strstr(printed_so_far(b, context), "{\"event\":\"end\"") != NULL;
}

// A kernel that takes long to render and to compile.
static const char *slow_space(struct box *b)
{
    box_write(b, "slow.comp",
              "#version 450\n"
              "layout(local_size_x = 1) in;\n"
              "layout(binding = 0) buffer C { float c[]; };\n"
              "void main() {\n"
              "% for i = 1, 20000 do\n"
              "    c[${i}] = sin(c[${i}] + cos(c[${i} + 1] * ${i}.5));\n"
              "% end\n"
              "}\n");
    return box_write(
        b, "slow.lua",
        "operator.matmul { N = 8, M = 8, K = 8 }\n"
        "param.a = discrete { 1, 2 }\n"
        "kernel { template = \"slow.comp\", groups = function(c) return { 1 } end }\n");
}

// The search is over and stored: the rest is ended like any other program.
static void test_interrupted_export(void **state)
{
    struct box *b = *state;
    struct running *r = START(b, "tune", slow_space(b), "--source", "synthetic:bowl", "--json",
                              "--export", box_path(b, "kernels"));
    wait_until(b, "the end of the search", printed_end, r);
    send_signal(r, SIGINT);
    assert_int_equal(finish(b, r).code, 128 + SIGINT);
    assert_int_not_equal(access(box_path(b, "kernels/slow-f32-nn-8x8x8.h"), F_OK), 0);
    assert_string_equal(state_of(b, 1), "done");
}

static void test_second_runner_is_refused(void **state)
{
    struct box *b = *state;
    struct running *r = start_long_session(b);
    struct result second = RUN(b, "resume", "1");
    char *process = arena_printf(&b->arena, "process %d", (int)r->pid);
    assert_refused(&second, 1, "session 1", process);
    int64_t before = trials_of(b, 1);
    wait_for_trials(b, 1, before + 3); // the first one did not notice
    send_signal(r, SIGTERM);
    assert_int_equal(finish(b, r).code, 143);
    second = RUN(b, "pause", "1");
    assert_refused(&second, 1, "not running", "resume 1");
}

static bool printed_best(struct box *b, void *context)
{
    return strstr(printed_so_far(b, context), "\n    1  ") != NULL;
}

static bool printed_paused(struct box *b, void *context)
{
    return strstr(printed_so_far(b, context), "session 1 is paused") != NULL;
}

// A pasted command means the session for which it was printed.
static void test_hints_name_the_database(void **state)
{
    struct box *b = *state;
    const char *path = box_path(b, "my runs.db");
    const char *option = arena_printf(&b->arena, "--db '%s'", path);
    struct running *r = START(b, "tune", flow_path(b, "small.lua"), "--source", LONG_SOURCE,
                              "--trials", "3000", "--db", path);
    wait_until(b, "the first trial", printed_best, r);
    struct result asked = RUN(b, "pause", "1", "--db", path);
    assert_ok(&asked);
    wait_until(b, "the pause", printed_paused, r);
    asked = RUN(b, "resume", "1", "--db", path, "--trials", "4000");
    assert_refused(&asked, 1, "set 1 trials=N", option);
    send_signal(r, SIGINT);
    struct result result = finish(b, r);
    assert_int_equal(result.code, 130);
    assert_contains(result.out, arena_printf(&b->arena, "resume 1 %s\n", option));
    asked = RUN(b, "pause", "1", "--db", path);
    assert_refused(&asked, 1, "resume 1", option);
    asked = RUN(b, "show", "2", "--db", path);
    assert_refused(&asked, 1, "tilewalk ls", option);
    box_set(b, "TILEWALK_DB", path); // then nothing has to be said
    asked = RUN(b, "pause", "1", "--db", path);
    assert_refused(&asked, 1, "resume 1 ", NULL);
    assert_null(strstr(asked.err, "--db"));
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
    assert_ok(&stop);
    assert_string_equal(state_of(b, 1), "stopped");
}

// Returns the output of tune --detach.
static const char *log_of(struct box *b, const char *printed)
{
    static const char before[] = "log: ";
    const char *at = strstr(printed, before);
    assert_non_null(at);
    at += strlen(before);
    return arena_printf(&b->arena, "%.*s", (int)strcspn(at, "\n"), at);
}

struct log_line {
    const char *path, *text;
};

static bool has_line(struct box *b, void *context)
{
    const struct log_line *l = context;
    return strstr(box_read(b, l->path), l->text) != NULL;
}

static void test_detach(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", LONG_SOURCE,
                          "--strategy", "random", "--trials", "3000", "--detach");
    assert_ok(&r);
    assert_contains(r.err, "session 1 ");
    assert_contains(r.err, "/home/.local/state/tilewalk/session-1-");
    int64_t runner = runner_of(b, 1);
    assert_true(runner > 0 && runner != getpid());
    assert_int_equal(getsid((pid_t)runner), runner); // the terminal's signals do not reach it
    wait_for_trials(b, 1, 5);
    RUN(b, "stop", "1");
    wait_for_no_runner(b, 1);
    assert_string_equal(state_of(b, 1), "stopped");
    struct log_line last = {log_of(b, r.err), "session 1 stopped"}; // which is printed after that
    wait_until(b, last.text, has_line, &last);
}

static bool is_closed(struct box *b, void *context)
{
    return access(arena_printf(&b->arena, "%s-wal", (const char *)context), F_OK) != 0 &&
           access(arena_printf(&b->arena, "%s-shm", (const char *)context), F_OK) != 0;
}

// Returns its log, once it holds `text` and the database is closed.
static const char *log_with(struct box *b, struct result r, const char *database, const char *text)
{
    assert_ok(&r);
    struct log_line wanted = {log_of(b, r.err), text};
    wait_until(b, text, has_line, &wanted);
    wait_until(b, "the end of the process", is_closed, arena_strdup(&b->arena, database));
    return wanted.path;
}

// Returns the last lines of a log for so many trials.
static const char *end_of(struct box *b, const char *trials)
{
    return arena_printf(&b->arena, "all %s trials are done", trials);
}

static const char *log_of_new(struct box *b, const char *database, const char *trials)
{
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl",
                          "--trials", trials, "--detach", "--db", database);
    return log_with(b, r, database, end_of(b, trials));
}

// Each database has a session 1.
static void test_logs(void **state)
{
    struct box *b = *state;
    const char *database = box_path(b, "one.db"), *other = box_path(b, "two.db");
    const char *log = log_of_new(b, database, "5");
    assert_string_not_equal(log_of_new(b, other, "6"), log);
    assert_null(strstr(box_read(b, log), end_of(b, "6")));
    struct result r = RUN(b, "resume", "1", "--trials", "7", "--detach", "--db", database);
    assert_string_equal(log_with(b, r, database, end_of(b, "7")), log);
    assert_contains(box_read(b, log), end_of(b, "5")); // it adds to its log
    assert_int_equal(unlink(database), 0);
    assert_string_equal(log_of_new(b, database, "8"), log);
    assert_null(strstr(box_read(b, log), end_of(b, "7"))); // of an older session 1
}

static void test_detach_reports_failure(void **state)
{
    struct box *b = *state;
    struct result r =
        RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bwol", "--detach");
    assert_refused(&r, 2, "'bwol'", NULL);
    r = RUN(b, "resume", "4", "--detach");
    assert_refused(&r, 1, "session 4", NULL);
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
        assert_ok(&result);
        assert_string_equal(result.err, "");
    }
    assert_int_equal(cJSON_GetArraySize(listed_sessions(b)), 4);
    for (int id = 2; id <= 4; id++)
        assert_string_equal(sequence(b, 1), sequence(b, id));
}

TEST_GROUP(signal)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_interrupt),
        FLOW_TEST(test_terminate),
        FLOW_TEST(test_hang_up),
        FLOW_TEST(test_second_interrupt),
        FLOW_TEST(test_interrupted_export),
        FLOW_TEST(test_second_runner_is_refused),
        FLOW_TEST(test_hints_name_the_database),
        FLOW_TEST(test_dead_runner),
        FLOW_TEST(test_detach),
        FLOW_TEST(test_logs),
        FLOW_TEST(test_detach_reports_failure),
        FLOW_TEST(test_many_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
