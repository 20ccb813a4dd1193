// Trials and re-timings: sums and ranking against a plain model.
#include "group.h"
#include "help.h"

#include "base/rng.h"
#include "store/db.h"

struct fixture {
    char *path;
    struct store *store;
    struct arena arena;
    int64_t id;
};

static int set_up(void **state)
{
    struct fixture *f = mem_zero(1, sizeof *f);
    f->path = temp_path("x.db");
    f->store = must_open(f->path, STORE_WRITE);
    arena_init(&f->arena);
    f->id = must_create(f->store, "gemm");
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

static void assert_same_text(const char *a, const char *b)
{
    if (a && b)
        assert_string_equal(a, b);
    else
        assert_ptr_equal(a, b);
}

static void assert_same_trial(const struct trial_record *a, const struct trial_record *b)
{
    assert_int_equal(a->ask, b->ask);
    assert_int_equal(a->number, b->number);
    assert_int_equal(a->told, b->told);
    assert_int_equal(a->asked_after, b->asked_after);
    assert_int_equal(a->generation, b->generation);
    assert_same_text(a->key, b->key);
    assert_same_text(a->config, b->config);
    assert_int_equal(a->outcome, b->outcome);
    assert_same_text(a->phase, b->phase);
    assert_same_text(a->reason, b->reason);
    assert_same_text(a->samples, b->samples);
    assert_same_text(a->origin, b->origin);
    assert_true(a->seconds == b->seconds && a->early_stopped == b->early_stopped);
    assert_true(a->compile_s == b->compile_s && a->pipeline_s == b->pipeline_s);
    assert_true(a->device_s == b->device_s && a->worker == b->worker);
    assert_true(a->elapsed_s == b->elapsed_s && a->finished == b->finished);
}

static const struct trial_record full = {
    .ask = 5,
    .number = 4,
    .told = 6,
    .asked_after = 3,
    .generation = 2,
    .key = "1,2,3",
    .config = "{\"tile_k\":[16,4,16]}",
    .outcome = OUTCOME_OK,
    .phase = "time",
    .reason = "it's \"good\"",
    .seconds = 1.0 / 3,
    .samples = "[0.1,0.2]",
    .early_stopped = true,
    .compile_s = 0.01,
    .pipeline_s = 0.02,
    .device_s = 0.03,
    .worker = 7,
    .elapsed_s = 100.5,
    .finished = 1700000001.5,
    .origin = "3,1,0",
};

static bool compare_each(void *context, const struct trial_record *t)
{
    const struct trial_record **expected = context;
    assert_same_trial(t, *expected);
    ++*expected;
    return true;
}

static void test_round_trip(void **state)
{
    struct fixture *f = *state;
    struct err e;
    struct trial_record in_flight = {.ask = 6, .key = "0", .config = "{}", .outcome = OUTCOME_OPEN};
    assert_true(store_put_trial(f->store, f->id, &in_flight, &e)); // not in the order asked
    assert_true(store_put_trial(f->store, f->id, &full, &e));
    const struct trial_record expected[] = {full, in_flight}, *at = expected;
    assert_true(store_each_trial(f->store, f->id, 1, compare_each, &at, &e));
    assert_int_equal(at - expected, 2);
    at = expected + 1;
    assert_true(store_each_trial(f->store, f->id, 6, compare_each, &at, &e));
    assert_int_equal(at - expected, 2);

    struct ranked_trials best;
    assert_true(store_best_trials(f->store, f->id, 10, &f->arena, &best, &e));
    assert_int_equal(best.count, 1);
    assert_same_trial(best.trial, &full);
}

static void test_put_again(void **state)
{
    struct fixture *f = *state;
    static const struct {
        enum outcome outcome;
        double seconds;
        int trials, rejected, ok;
    } steps[] = {
        {OUTCOME_OPEN, 0, 0, 0, 0},     {OUTCOME_OK, 2, 1, 0, 1},    {OUTCOME_OK, 2, 1, 0, 1},
        {OUTCOME_OK, 3, 1, 0, 1},       {OUTCOME_WRONG, 0, 1, 0, 0}, {OUTCOME_OK, 1, 1, 0, 1},
        {OUTCOME_REJECTED, 0, 1, 1, 0}, {OUTCOME_OPEN, 0, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        must_put(f->store, f->id, 1, steps[i].outcome, steps[i].seconds);
        struct session_record r = must_get(f->store, f->id, &f->arena);
        assert_int_equal(r.trials, steps[i].trials);
        assert_int_equal(r.rejected, steps[i].rejected);
        assert_int_equal(r.ok, steps[i].ok);
        assert_int_equal(r.best_ask, steps[i].ok);
        assert_true(r.best_seconds == steps[i].seconds);
    }
    assert_int_equal(count_rows(f->store, "trial"), 1);
}

static bool stop_at_third(void *context, const struct trial_record *t)
{
    ++*(int *)context;
    return t->ask < 3;
}

struct pairs {
    struct fixture *f;
    int count;
};

static bool count_inner(void *context, const struct trial_record *t)
{
    (void)t;
    ++((struct pairs *)context)->count;
    return true;
}

static bool count_outer(void *context, const struct trial_record *t)
{
    struct pairs *p = context;
    struct err e;
    return store_each_trial(p->f->store, p->f->id, t->ask, count_inner, p, &e);
}

static void test_each(void **state)
{
    struct fixture *f = *state;
    struct err e;
    for (int ask = 1; ask <= 10; ask++)
        must_put(f->store, f->id, ask, OUTCOME_OK, ask);
    int seen = 0;
    assert_true(store_each_trial(f->store, f->id, 1, stop_at_third, &seen, &e));
    assert_int_equal(seen, 3);
    struct pairs p = {.f = f};
    assert_true(store_each_trial(f->store, f->id, 1, count_outer, &p, &e));
    assert_int_equal(p.count, 10 * 11 / 2);
    p.count = 0;
    assert_true(store_each_trial(f->store, f->id + 1, 1, count_inner, &p, &e)); // no such session
    assert_int_equal(p.count, 0);
}

static const struct retime_record retimes[] = {
    {0, 1, "race", 3, "[3]", true, 10},
    {0, 1, "canary", 0.5, NULL, false, 11},
    {0, 1, "canary", 0.25, "[]", true, 12},
};

static bool check_retime(void *context, const struct retime_record *r)
{
    const struct retime_record *expected = &retimes[(*(int *)context)++];
    assert_int_equal(r->ask, expected->ask);
    assert_string_equal(r->kind, expected->kind);
    assert_same_text(r->samples, expected->samples);
    assert_true(r->seconds == expected->seconds && r->at == expected->at);
    assert_int_equal(r->verified, expected->verified);
    return true;
}

static void test_retimes(void **state)
{
    struct fixture *f = *state;
    struct err e;
    must_put(f->store, f->id, 1, OUTCOME_OK, 1);
    must_put(f->store, f->id, 2, OUTCOME_OK, 2);
    int64_t newest = -1, before;
    assert_true(store_newest_retime(f->store, &newest, &e));
    assert_int_equal(newest, 0);
    for (int i = 0; i < 3; i++) {
        before = newest;
        assert_true(store_put_retime(f->store, f->id, &retimes[i], &e));
        assert_true(store_newest_retime(f->store, &newest, &e));
        assert_true(newest > before);
    }
    int seen = 0;
    assert_true(store_each_race(f->store, f->id, check_retime, &seen, &e));
    assert_int_equal(seen, 1); // canaries are kept for whoever looks into the database
    struct session_record r = must_get(f->store, f->id, &f->arena);
    assert_int_equal(r.best_ask, 1); // who was in the race; the canaries don't count
    assert_true(r.best_seconds == 3 && r.best_raced);

    struct retime_record never_asked = {.ask = 9, .kind = "race", .seconds = 1};
    assert_false(store_put_retime(f->store, f->id, &never_asked, &e));
    assert_contains(e.text, "trial 9 of session 1");
    assert_true(sqlite3_get_autocommit(f->store->db));
}

// A plain model of a session: trials as last put, races as last put.
enum { ASKS = 40 };
struct model {
    struct {
        enum outcome outcome; // OUTCOME_OPEN: or not stored
        double seconds, race;
        int number;
        bool raced, verified; // in its latest race,
        bool in_last;         // which was the session's last
    } trial[ASKS + 1];
};

static double rank_of(const struct model *m, int ask) // 0: none
{
    if (m->trial[ask].outcome != OUTCOME_OK)
        return 0;
    if (m->trial[ask].raced && !m->trial[ask].verified)
        return 0;
    return m->trial[ask].in_last ? m->trial[ask].race : m->trial[ask].seconds;
}

// Returns true when x has a better rank than y; both have one.
static bool is_before(const struct model *m, int x, int y)
{
    if (m->trial[x].in_last != m->trial[y].in_last)
        return m->trial[x].in_last;
    double a = rank_of(m, x), b = rank_of(m, y);
    return a < b || (a == b && x < y);
}

// Returns true when it is better than `best`, the best before (0: none).
static bool is_step(const struct model *m, int ask, double best)
{
    return m->trial[ask].outcome == OUTCOME_OK && (best <= 0 || m->trial[ask].seconds < best);
}

// The next after `ask` in the ranking, the first after 0; 0 when there is none.
static int next_best(const struct model *m, int ask)
{
    int best = 0;
    for (int i = 1; i <= ASKS; i++)
        if (rank_of(m, i) > 0 && (!ask || is_before(m, ask, i)) && (!best || is_before(m, i, best)))
            best = i;
    return best;
}

struct curve {
    const struct model *model;
    int at; // the last ask that was looked at
    double best;
};

// Number and ask are the same in these sessions: the next step is the next better trial.
static bool check_step(void *context, const struct best_step *step)
{
    struct curve *c = context;
    while (++c->at < step->ask)
        assert_false(is_step(c->model, c->at, c->best));
    assert_true(is_step(c->model, c->at, c->best));
    assert_int_equal(step->number, c->at);
    assert_true(step->seconds == c->model->trial[c->at].seconds);
    c->best = step->seconds;
    return true;
}

static void check_curve_and_tally(struct fixture *f, const struct model *m)
{
    struct err e;
    struct curve c = {.model = m};
    int64_t tally[OUTCOME_COUNT];
    assert_true(store_each_best(f->store, f->id, 0, check_step, &c, &e));
    while (++c.at <= ASKS)
        assert_false(is_step(m, c.at, c.best));
    assert_true(store_get_tally(f->store, f->id, tally, NULL, &e));
    for (int o = 0; o < OUTCOME_COUNT; o++) {
        for (int i = 1; i <= ASKS; i++)
            tally[o] -= m->trial[i].outcome == (enum outcome)o;
        assert_int_equal(tally[o], 0);
    }
}

struct races {
    const struct model *model;
    bool seen[ASKS + 1];
};

static bool check_race(void *context, const struct retime_record *r)
{
    struct races *races = context;
    assert_false(races->seen[r->ask]);
    races->seen[r->ask] = true;
    assert_true(r->seconds == races->model->trial[r->ask].race);
    return true;
}

// The fields that decide ranks.
static void check_races(struct fixture *f, const struct model *m)
{
    struct err e;
    struct races races = {.model = m};
    assert_true(store_each_race(f->store, f->id, check_race, &races, &e));
    for (int i = 1; i <= ASKS; i++) {
        struct retime_record one;
        assert_true(store_get_race(f->store, f->id, i, &f->arena, &one, &e));
        assert_int_equal(one.ask, races.seen[i] ? i : 0);
        assert_int_equal(one.ask != 0,
                         m->trial[i].raced && (m->trial[i].in_last || !m->trial[i].verified));
    }
}

static void check_model(struct fixture *f, const struct model *m)
{
    int trials = 0, rejected = 0, ok = 0;
    for (int i = 1; i <= ASKS; i++) {
        trials += m->trial[i].outcome != OUTCOME_OPEN && m->trial[i].number > 0;
        rejected += m->trial[i].outcome == OUTCOME_REJECTED;
        ok += m->trial[i].outcome == OUTCOME_OK;
    }
    struct session_record r = must_get(f->store, f->id, &f->arena);
    assert_int_equal(r.trials, trials);
    assert_int_equal(r.rejected, rejected);
    assert_int_equal(r.ok, ok);
    int first = next_best(m, 0);
    assert_int_equal(r.best_ask, first);
    assert_true(r.best_seconds == (first ? rank_of(m, first) : 0));
    assert_int_equal(r.best_raced, first && m->trial[first].in_last);

    check_curve_and_tally(f, m);
    struct ranked_trials best;
    struct err e;
    assert_true(store_best_trials(f->store, f->id, 5, &f->arena, &best, &e));
    int ask = 0;
    for (int i = 0; i < best.count; i++) {
        ask = next_best(m, ask);
        assert_int_equal(best.trial[i].ask, ask);
        assert_true(best.trial[i].seconds == rank_of(m, ask));
        assert_int_equal(best.trial[i].raced, m->trial[ask].in_last);
    }
    assert_true(best.count == 5 || !next_best(m, ask));
    check_races(f, m);
}

static void begin_race(struct fixture *f, struct model *m)
{
    struct err e;
    assert_true(store_begin_race(f->store, f->id, &e));
    for (int i = 1; i <= ASKS; i++)
        m->trial[i].in_last = false;
}

static void put_race(struct fixture *f, struct model *m, int ask, double seconds, bool verified)
{
    struct err e;
    struct retime_record r = {.ask = ask, .kind = "race", .seconds = seconds, .verified = verified};
    assert_true(store_put_retime(f->store, f->id, &r, &e));
    m->trial[ask].raced = true;
    m->trial[ask].race = seconds;
    m->trial[ask].verified = verified;
    m->trial[ask].in_last |= m->trial[ask].outcome == OUTCOME_OK;
}

static void test_against_model(void **state)
{
    struct fixture *f = *state;
    static const enum outcome outcomes[] = {OUTCOME_OK,       OUTCOME_OK,    OUTCOME_OK,
                                            OUTCOME_REJECTED, OUTCOME_WRONG, OUTCOME_OPEN};
    struct model m;
    struct rng rng;
    struct err e;
    rng_seed(&rng, 7);
    for (int i = 0; i <= ASKS; i++)
        m.trial[i].outcome = OUTCOME_OPEN, m.trial[i].raced = m.trial[i].in_last = false;
    for (int step = 0; step < 600; step++) {
        int ask = 1 + (int)rng_below(&rng, ASKS);
        double seconds = 1 + (double)rng_below(&rng, 10); // with ties
        if (rng_below(&rng, 3) || m.trial[ask].outcome == OUTCOME_OPEN) {
            enum outcome outcome = outcomes[rng_below(&rng, 6)];
            int number = outcome != OUTCOME_REJECTED ? ask : (int)rng_below(&rng, 2);
            struct trial_record t = {.ask = ask, .number = number, .seconds = seconds};
            t.outcome = outcome;
            assert_true(store_put_trial(f->store, f->id, &t, &e));
            m.trial[ask].outcome = outcome;
            m.trial[ask].seconds = seconds;
            m.trial[ask].number = number;
        } else {
            if (rng_below(&rng, 4) == 0)
                begin_race(f, &m);
            put_race(f, &m, ask, seconds, rng_below(&rng, 4) != 0);
        }
        check_model(f, &m);
    }
}

static bool fail_to_put(struct store *s, struct err *e)
{
    struct trial_record t = {.ask = 2, .outcome = OUTCOME_OK, .seconds = 1};
    return store_put_trial(s, 9, &t, e);
}

static bool fail_to_change(struct store *s, struct err *e)
{
    return store_set_state(s, 9, STATE_DONE, NULL, 0, e);
}

static bool fail_in_sqlite(struct store *s, struct err *e)
{
    sqlite3_exec(s->db,
                 "CREATE TEMP TRIGGER no BEFORE INSERT ON main.message"
                 " BEGIN SELECT RAISE(FAIL, 'no'); END",
                 NULL, NULL, NULL);
    return store_add_message(s, 1, "info", "hello", e);
}

static void test_failure_undoes_all(void **state)
{
    struct fixture *f = *state;
    static bool (*const failures[])(struct store *, struct err *) = {fail_to_put, fail_to_change,
                                                                     fail_in_sqlite};
    struct err e;
    for (int i = 0; i < 3; i++) {
        assert_true(store_begin(f->store, &e));
        must_put(f->store, f->id, 1, OUTCOME_OK, 1);
        assert_false(failures[i](f->store, &e));
        assert_false(store_commit(f->store, &e));
        assert_contains(e.text, "nothing to commit");
        assert_int_equal(count_rows(f->store, "trial"), 0);
        assert_int_equal(must_get(f->store, f->id, &f->arena).ok, 0);
    }
    assert_true(store_begin(f->store, &e)); // and the store is fit for the next
    must_put(f->store, f->id, 1, OUTCOME_OK, 1);
    assert_true(store_commit(f->store, &e));
    assert_int_equal(must_get(f->store, f->id, &f->arena).ok, 1);
}

#define STORE_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

TEST_GROUP(trial)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_round_trip),    STORE_TEST(test_put_again),
        STORE_TEST(test_each),          STORE_TEST(test_retimes),
        STORE_TEST(test_against_model), STORE_TEST(test_failure_undoes_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
