// Sessions whose strategy fits a model beside the engine: they stay steerable while it does, and go
// on from where they stood whatever interrupted them.
#include "base/task.h"
#include "group.h"
#include "learner.h"
#include "run.h"

#include <assert.h>
#include <poll.h>
#include <sqlite3.h>

enum { TRIALS = 40 };

static int setup(void **state)
{
    struct run *r = mem_zero(1, sizeof *r);
    run_init(r);
    atomic_store(&learner.hold, 0);
    atomic_store(&learner.started, 0);
    atomic_store(&learner.stopped, 0);
    *state = r;
    return 0;
}

static int teardown(void **state)
{
    run_finish(*state);
    free(*state);
    return 0;
}

static void assert_same(struct run *r, int64_t a, int64_t b)
{
    char *one = run_sequence(r, a), *other = run_sequence(r, b);
    assert_string_equal(one, other);
    free(one);
    free(other);
    one = run_refits(r, a);
    other = run_refits(r, b);
    assert_string_equal(one, other);
    free(one);
    free(other);
}

static void each_fit_is_recorded_once(void **state)
{
    struct run *r = *state;
    struct session_options o = run_options(TRIALS);
    int64_t one = run_tune(r, &o);
    char *refits = run_refits(r, one);
    assert_string_equal(refits, "8/16 16/32 24/48 32/64 ");
    free(refits);
    assert_int_equal(r->messages, 4);
    o.workers = 3; // changes nothing
    assert_same(r, one, run_tune(r, &o));
    run_resume(r, one, TRIALS + LEARNER_BATCH); // fits all of them again, to go on
    refits = run_refits(r, one);
    assert_string_equal(refits, "8/16 16/32 24/48 32/64 40/80 ");
    free(refits);
    assert_int_equal(r->messages, 9);
}

// --- another process, while the engine runs ---

struct visitor {
    struct run *run;
    struct engine *engine;
    int64_t id;
    struct task *task;
    int asked_while_paused;
};

static void wait_for_fit(int number)
{
    while (atomic_load(&learner.started) < number)
        poll(NULL, 0, 1);
}

static void wait_for_state(struct store *s, int64_t id, enum session_state wanted)
{
    bool reached = false;
    while (!reached) {
        struct arena a;
        struct session_record r;
        struct err e;
        arena_init(&a);
        assert(store_get_session(s, id, &a, &r, &e));
        reached = r.state == wanted;
        arena_finish(&a);
        poll(NULL, 0, 1);
    }
}

static void push(struct store *s, int64_t id, const char *verb)
{
    struct err e;
    assert(store_push_command(s, id, verb, NULL, &e));
}

// The pause must come while the second fit does not end. The fit ends while the session is paused:
// that must have no effect.
static void pause_at_the_second_fit(void *context, const atomic_bool *stop)
{
    struct visitor *v = context;
    struct err e;
    (void)stop;
    struct store *s = store_open(v->run->path, STORE_WRITE, &e);
    assert(s);
    wait_for_fit(2);
    push(s, v->id, "pause");
    wait_for_state(s, v->id, STATE_PAUSED);
    int asked = atomic_load(&learner.asked);
    atomic_store(&learner.hold, 0);
    poll(NULL, 0, 300);
    v->asked_while_paused = atomic_load(&learner.asked) - asked;
    push(s, v->id, "resume");
    store_close(s);
}

static void interrupt_at_the_second_fit(void *context, const atomic_bool *stop)
{
    struct visitor *v = context;
    (void)stop;
    wait_for_fit(2);
    engine_interrupt(v->engine);
}

static void stop_at_the_first_fit(void *context, const atomic_bool *stop)
{
    struct visitor *v = context;
    struct err e;
    (void)stop;
    struct store *s = store_open(v->run->path, STORE_WRITE, &e);
    assert(s);
    wait_for_fit(1);
    push(s, v->id, "stop");
    store_close(s);
}

// Runs the engine together with a visitor, and destroys it.
static void run_with(struct visitor *v, void (*visit)(void *context, const atomic_bool *stop))
{
    struct err e;
    v->task = task_start(visit, v);
    assert_non_null(v->task);
    run_must(engine_run(v->engine, &e), &e);
    task_finish(v->task, false);
    engine_destroy(v->engine);
}

static struct visitor begin(struct run *r, const struct session_options *o)
{
    struct err e;
    struct visitor v = {.run = r, .engine = run_engine(r)};
    run_must(engine_start(v.engine, o, &v.id, &e), &e);
    return v;
}

// A strategy that goes on gets the time of each trial: compiling, its pipeline and measuring
// together.
static void durations_of_trials_are_replayed(void **state)
{
    struct run *r = *state;
    struct session_options o = run_options(TRIALS);
    int64_t id = run_tune(r, &o);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(r->path, &db), SQLITE_OK);
    const char *sql = "UPDATE trial SET compile_s = 1, pipeline_s = 2, device_s = 4";
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    atomic_store(&learner.took_s, 0);
    run_resume(r, id,
               TRIALS + LEARNER_BATCH); // the new ones, which are made up, take next to nothing
    assert_int_equal((int)atomic_load(&learner.took_s), 7 * TRIALS);
}

static void a_pause_does_not_wait_for_a_fit(void **state)
{
    struct run *r = *state;
    struct session_options o = run_options(TRIALS);
    int64_t whole = run_tune(r, &o);
    atomic_store(&learner.started, 0);
    atomic_store(&learner.hold, 2);
    struct visitor v = begin(r, &o);
    run_with(&v, pause_at_the_second_fit);
    assert_int_equal(v.asked_while_paused, 0);
    assert_int_equal(r->last.state, STATE_DONE);
    assert_same(r, whole, v.id);
}

static void an_interrupt_ends_a_fit(void **state)
{
    struct run *r = *state;
    struct session_options o = run_options(TRIALS);
    int64_t whole = run_tune(r, &o);
    atomic_store(&learner.started, 0);
    atomic_store(&learner.hold, 2);
    struct visitor v = begin(r, &o);
    run_with(&v, interrupt_at_the_second_fit);
    assert_int_equal(atomic_load(&learner.stopped), 1);
    assert_int_equal(r->last.state, STATE_PAUSED);
    assert_int_equal(r->last.trials, 2 * LEARNER_BATCH);
    atomic_store(&learner.hold, 0);
    run_resume(r, v.id, 0);
    assert_same(r, whole, v.id);
}

// Stops a session that is still replaying.
static void a_stop_does_not_wait_for_the_replay(void **state)
{
    struct run *r = *state;
    struct err e;
    struct session_options o = run_options(TRIALS);
    int64_t id = run_tune(r, &o);
    struct visitor v = {.run = r, .engine = run_engine(r), .id = id};
    struct session_options more = {.trials = 2 * TRIALS};
    atomic_store(&learner.started, 0);
    atomic_store(&learner.hold, 1);
    run_must(engine_resume(v.engine, id, &more, &e), &e);
    run_with(&v, stop_at_the_first_fit);
    assert_int_equal(r->last.state, STATE_STOPPED);
    assert_int_equal(r->last.trials, TRIALS); // what there is, not what was told again
    assert_true(r->last.best_ask > 0);
    assert_int_equal(atomic_load(&learner.stopped), 1);
}

static void a_session_killed_at_a_fit_resumes(void **state)
{
    struct run *r = *state;
    static const char *const points[] = {"refit:1", "refit:3", "commit:8", "told:16", "ask:17"};
    struct session_options o = run_options(TRIALS);
    int64_t whole = run_tune(r, &o);
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        run_killed(r, points[i], 0, &o);
        run_killed(r, "refit:1", whole + 1 + (int64_t)i, NULL); // and again, at the first new one
        run_resume(r, whole + 1 + (int64_t)i, 0);
        assert_same(r, whole, whole + 1 + (int64_t)i);
    }
}

TEST_GROUP(model)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_fit_is_recorded_once, setup, teardown),
        cmocka_unit_test_setup_teardown(durations_of_trials_are_replayed, setup, teardown),
        cmocka_unit_test_setup_teardown(a_pause_does_not_wait_for_a_fit, setup, teardown),
        cmocka_unit_test_setup_teardown(an_interrupt_ends_a_fit, setup, teardown),
        cmocka_unit_test_setup_teardown(a_stop_does_not_wait_for_the_replay, setup, teardown),
        cmocka_unit_test_setup_teardown(a_session_killed_at_a_fit_resumes, setup, teardown),
    };
    return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
