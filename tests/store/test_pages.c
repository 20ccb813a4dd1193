// Reads of a session that is watched: pages by number and by rank, single trials, the best-so-far
// curve, the tally, what others changed. And that each costs the same however many trials there
// are.
#include "group.h"
#include "help.h"

#include "store/db.h"

struct fixture {
    char *path;
    struct store *store;
    int64_t id;
    struct arena arena;
};

static int set_up(void **state)
{
    struct fixture *f = mem_zero(1, sizeof *f);
    f->path = temp_path("x.db");
    f->store = must_open(f->path, STORE_WRITE);
    f->id = must_create(f->store, "gemm");
    arena_init(&f->arena);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    arena_finish(&f->arena);
    store_close(f->store);
    temp_remove(f->path);
    free(f);
    return 0;
}

static void put(struct fixture *f, int ask, int number, enum outcome outcome, double seconds)
{
    struct err e;
    struct trial_record t = {.ask = ask,
                             .number = number,
                             .key = arena_printf(&f->arena, "%d,7", ask),
                             .origin = ask % 2 ? "1,0" : NULL,
                             .outcome = outcome,
                             .seconds = seconds,
                             .elapsed_s = 10 * number,
                             .finished = 1000 + number};
    if (!store_put_trial(f->store, f->id, &t, &e))
        fail_msg("%s", e.text);
}

static void race(struct fixture *f, int ask, double seconds, bool verified)
{
    struct err e;
    struct retime_record r = {.ask = ask, .kind = "race", .seconds = seconds, .verified = verified};
    assert_true(store_put_retime(f->store, f->id, &r, &e));
}

// The records that a callback got, up to `most`.
struct seen {
    int count, most;
    int64_t ask[64];
    double seconds[64];
};

static bool see(void *context, const struct trial_record *t)
{
    struct seen *seen = context;
    seen->ask[seen->count] = t->ask;
    seen->seconds[seen->count++] = t->seconds;
    return seen->count < seen->most;
}

static void assert_asks(const struct seen *seen, int count, const int64_t *ask)
{
    assert_int_equal(seen->count, count);
    for (int i = 0; i < count; i++)
        assert_int_equal(seen->ask[i], ask[i]);
}

#define ASKS(...)                                                                                  \
    (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[])                   \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

// Trials of an asynchronous search: their results came in another order than the proposals, one is
// still open.
static void put_seven(struct fixture *f)
{
    put(f, 1, 2, OUTCOME_OK, 5);
    put(f, 2, 0, OUTCOME_REJECTED, 0);
    put(f, 3, 1, OUTCOME_OK, 7);
    put(f, 4, 4, OUTCOME_WRONG, 0);
    put(f, 5, 3, OUTCOME_OK, 5);
    put(f, 6, 0, OUTCOME_OPEN, 0);
    put(f, 7, 5, OUTCOME_OK, 4);
}

static void test_numbered(void **state)
{
    struct fixture *f = *state;
    struct err e;
    put_seven(f);
    struct seen all = {.most = 64}, two = {.most = 2};
    assert_true(store_each_numbered(f->store, f->id, 0, see, &all, &e));
    assert_asks(&all, ASKS(3, 1, 5, 4, 7));
    assert_true(store_each_numbered(f->store, f->id, 3, see, &two, &e));
    assert_asks(&two, ASKS(5, 4));
}

static void test_ranked(void **state)
{
    struct fixture *f = *state;
    struct err e;
    put_seven(f);
    race(f, 5, 6, true);
    race(f, 3, 1, false);
    struct seen all = {.most = 64}, one = {.most = 1}, rest = {.most = 64}, none = {.most = 64};
    assert_true(store_each_ranked(f->store, f->id, 0, see, &all, &e));
    assert_asks(&all, ASKS(5, 7, 1)); // who raced, then by what was measured
    assert_true(all.seconds[0] == 6 && all.seconds[1] < 5 && all.seconds[2] == 5);
    assert_true(store_each_ranked(f->store, f->id, 1, see, &one, &e));
    assert_asks(&one, ASKS(7));
    assert_true(store_each_ranked(f->store, f->id, 1, see, &rest, &e));
    assert_asks(&rest, ASKS(7, 1));
    assert_true(store_each_ranked(f->store, f->id, 3, see, &none, &e));
    assert_int_equal(none.count, 0);
}

static void test_single(void **state)
{
    struct fixture *f = *state;
    struct err e;
    struct trial_record t;
    put_seven(f);
    race(f, 1, 6, true);
    assert_true(store_get_trial(f->store, f->id, 1, &f->arena, &t, &e));
    assert_true(t.ask == 1 && t.seconds == 5); // its own time, not the race's
    assert_string_equal(t.origin, "1,0");
    assert_true(store_find_trial(f->store, f->id, "6,7", &f->arena, &t, &e));
    assert_true(t.ask == 6); // in flight
    assert_int_equal(t.outcome, OUTCOME_OPEN);
    assert_null(t.origin);
    assert_string_equal(t.key, "6,7");
    assert_true(store_get_trial(f->store, f->id, 8, &f->arena, &t, &e));
    assert_int_equal(t.ask, 0);
    assert_true(store_find_trial(f->store, f->id, "6", &f->arena, &t, &e));
    assert_int_equal(t.ask, 0);
    assert_true(store_get_trial(f->store, f->id + 1, 1, &f->arena, &t, &e));
    assert_int_equal(t.ask, 0);
}

static void test_race(void **state)
{
    struct fixture *f = *state;
    struct err e;
    struct retime_record r, canary = {.ask = 1, .kind = "canary", .seconds = 9};
    put_seven(f);
    assert_true(store_get_race(f->store, f->id, 1, &f->arena, &r, &e));
    assert_int_equal(r.ask, 0);
    race(f, 1, 6, true);
    race(f, 1, 8, false);
    race(f, 3, 7, true);
    assert_true(store_put_retime(f->store, f->id, &canary, &e));
    assert_true(store_get_race(f->store, f->id, 1, &f->arena, &r, &e));
    assert_true(r.ask == 1 && r.seconds == 8 && !r.verified);
    assert_string_equal(r.kind, "race");
}

// A race is decided within itself: those of the one before are as measured again.
static void test_next_race(void **state)
{
    struct fixture *f = *state;
    struct err e;
    struct retime_record r;
    struct ranked_trials fresh;
    put_seven(f);
    assert_true(store_begin_race(f->store, f->id, &e));
    race(f, 7, 8, true);
    race(f, 1, 9, true);
    assert_true(store_best_unraced(f->store, f->id, 9, &f->arena, &fresh, &e));
    assert_true(fresh.count == 2 && fresh.trial[0].ask == 5 && fresh.trial[1].ask == 3);
    assert_true(store_begin_race(f->store, f->id, &e));
    race(f, 3, 100, true);
    race(f, 7, 101, true);
    struct seen all = {.most = 64};
    assert_true(store_each_ranked(f->store, f->id, 0, see, &all, &e));
    assert_asks(&all, ASKS(3, 7, 1, 5));
    assert_true(all.seconds[0] == 100 && all.seconds[1] == 101 && all.seconds[2] == 5);
    assert_true(store_get_race(f->store, f->id, 1, &f->arena, &r, &e));
    assert_int_equal(r.ask, 0);
    assert_true(store_best_unraced(f->store, f->id, 9, &f->arena, &fresh, &e));
    assert_true(fresh.count == 1 && fresh.trial[0].ask == 5);
}

static bool see_step(void *context, const struct best_step *step)
{
    struct seen *seen = context;
    assert_true(step->elapsed_s == 10 * (double)step->number);
    assert_true(step->finished == 1000 + (double)step->number);
    seen->ask[seen->count] = step->ask;
    seen->seconds[seen->count++] = step->seconds;
    return seen->count < seen->most;
}

static void test_curve(void **state)
{
    struct fixture *f = *state;
    struct err e;
    struct seen all = {.most = 64}, later = {.most = 64}, again = {.most = 64};
    put_seven(f);
    race(f, 7, 100, true); // does not rewrite history
    assert_true(store_each_best(f->store, f->id, 0, see_step, &all, &e));
    assert_asks(&all, ASKS(3, 1, 7)); // in the order of results; 5 was only as good
    assert_true(all.seconds[0] == 7 && all.seconds[1] == 5 && all.seconds[2] == 4);
    assert_true(store_each_best(f->store, f->id, 2, see_step, &later, &e));
    assert_asks(&later, ASKS(7));
    put(f, 1, 2, OUTCOME_WRONG, 0); // its place is the other's
    put(f, 7, 5, OUTCOME_OK, 4);    // nothing new, and nothing twice
    assert_true(store_each_best(f->store, f->id, 0, see_step, &again, &e));
    assert_asks(&again, ASKS(3, 5, 7));
}

static void test_tally(void **state)
{
    struct fixture *f = *state;
    struct err e;
    int64_t count[OUTCOME_COUNT], early;
    struct trial_record hopeless = {
        .ask = 8, .number = 6, .outcome = OUTCOME_OK, .early_stopped = true};
    put_seven(f);
    hopeless.seconds = 50;
    assert_true(store_put_trial(f->store, f->id, &hopeless, &e));
    put(f, 4, 4, OUTCOME_CRASH, 0); // again
    put(f, 6, 7, OUTCOME_OK, 9);    // its result arrived
    assert_true(store_get_tally(f->store, f->id, count, &early, &e));
    const int64_t expected[OUTCOME_COUNT] = {
        [OUTCOME_OK] = 6, [OUTCOME_REJECTED] = 1, [OUTCOME_CRASH] = 1};
    assert_memory_equal(count, expected, sizeof count);
    assert_int_equal(early, 1);
    put(f, 8, 6, OUTCOME_OK, 50); // not early after all
    assert_true(store_get_tally(f->store, f->id, count, &early, &e));
    assert_int_equal(early, 0);
    assert_true(store_get_tally(f->store, f->id + 1, count, NULL, &e)); // no such session
    assert_int_equal(count[OUTCOME_OK], 0);
}

static void test_changed(void **state)
{
    struct fixture *f = *state;
    struct store *reader = must_open(f->path, STORE_READ);
    assert_true(store_changed(reader));
    assert_false(store_changed(reader));
    put(f, 1, 1, OUTCOME_OK, 1);
    assert_true(store_changed(reader));
    assert_false(store_changed(reader));
    struct err e;
    assert_true(store_begin(f->store, &e));
    put(f, 2, 2, OUTCOME_OK, 1);
    assert_false(store_changed(reader)); // not yet
    assert_true(store_commit(f->store, &e));
    assert_true(store_changed(reader));
    store_changed(f->store);
    put(f, 3, 3, OUTCOME_OK, 1);
    assert_false(store_changed(f->store)); // its own
    store_close(reader);
}

// --- cost ---

// Virtual machine steps of all statements since the last call.
static int64_t steps(struct store *s)
{
    int64_t sum = 0;
    for (sqlite3_stmt *st = sqlite3_next_stmt(s->db, NULL); st; st = sqlite3_next_stmt(s->db, st))
        sum += sqlite3_stmt_status(st, SQLITE_STMTSTATUS_VM_STEP, 1);
    return sum;
}

enum { CALLS = 12, PAGE = 20 };

// Fills up to `count` trials, with the same best ones whatever the count, and measures every call.
static void measure(struct fixture *f, int from, int count, int64_t cost[CALLS])
{
    struct err e;
    struct trial_record t;
    struct retime_record r;
    struct session_record *session;
    int64_t tally[OUTCOME_COUNT];
    int i = 0, sessions;
    assert_true(store_begin(f->store, &e));
    for (int ask = from; ask <= count; ask++)
        put(f, ask, ask, ask % 5 ? OUTCOME_OK : OUTCOME_WRONG,
            ask % 5 ? 1 + (double)((ask + 7) % 100) : 0);
    assert_true(store_commit(f->store, &e));
    steps(f->store);
    struct seen page = {.most = PAGE}, ranked = page, curve = {.most = 64};
    assert_true(store_each_numbered(f->store, f->id, count - PAGE, see, &page, &e));
    cost[i++] = steps(f->store);
    assert_true(store_each_ranked(f->store, f->id, 10, see, &ranked, &e));
    cost[i++] = steps(f->store);
    assert_true(store_each_best(f->store, f->id, 0, see_step, &curve, &e));
    cost[i++] = steps(f->store);
    assert_true(store_get_tally(f->store, f->id, tally, NULL, &e));
    cost[i++] = steps(f->store);
    assert_true(store_get_trial(f->store, f->id, count / 2, &f->arena, &t, &e));
    cost[i++] = steps(f->store);
    assert_true(store_find_trial(f->store, f->id, t.key, &f->arena, &t, &e) && t.ask);
    cost[i++] = steps(f->store);
    assert_true(store_find_trial(f->store, f->id, "none", &f->arena, &t, &e) && !t.ask);
    cost[i++] = steps(f->store);
    assert_true(store_get_race(f->store, f->id, count, &f->arena, &r, &e));
    cost[i++] = steps(f->store);
    must_get(f->store, f->id, &f->arena);
    cost[i++] = steps(f->store);
    assert_true(store_list_sessions(f->store, &f->arena, &session, &sessions, &e));
    assert_true(store_check_sessions(f->store, &e));
    cost[i++] = steps(f->store);
    put(f, count + 1, 0, OUTCOME_OPEN, 0);
    cost[i++] = steps(f->store);
    put(f, count + 1, count + 1, OUTCOME_OK, 1000);
    cost[i++] = steps(f->store);
    assert_int_equal(i, CALLS);
    assert_int_equal(page.count, PAGE);
    assert_int_equal(ranked.count, PAGE);
}

static void test_cost_does_not_grow(void **state)
{
    struct fixture *f = *state;
    int64_t small[CALLS], large[CALLS];
    measure(f, 1, 2000, small);
    measure(f, 2002, 10000, large);
    for (int i = 0; i < CALLS; i++)
        if (large[i] > small[i] + small[i] / 4)
            fail_msg("call %d: %lld steps with 2000 trials, %lld with 10000", i,
                     (long long)small[i], (long long)large[i]);
}

#define PAGES_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

TEST_GROUP(pages)
{
    const struct CMUnitTest tests[] = {
        PAGES_TEST(test_numbered), PAGES_TEST(test_ranked),    PAGES_TEST(test_single),
        PAGES_TEST(test_race),     PAGES_TEST(test_next_race), PAGES_TEST(test_curve),
        PAGES_TEST(test_tally),    PAGES_TEST(test_changed),   PAGES_TEST(test_cost_does_not_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
