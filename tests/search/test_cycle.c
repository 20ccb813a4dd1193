// The cycle of a search, by brute force: results that come in every order, and budgets.
#include "group.h"
#include "play.h"
#include "spaces.h"
#include "wording.h"

#include <string.h>

#include <stddef.h>

static void check_totals(const struct play *p, int count)
{
    const struct cycle *c = &p->cycle;
    int ok = 0, rejected = 0, best = 0;
    for (int i = 0; i < c->told; i++) {
        ok += p->outcome[i] == OUTCOME_OK;
        rejected += p->outcome[i] == OUTCOME_REJECTED;
        if (p->outcome[i] == OUTCOME_OK && (!best || play_seconds(i + 1) < play_seconds(best)))
            best = i + 1;
    }
    assert_int_equal(c->asked, c->told);
    assert_int_equal(c->ok, ok);
    assert_int_equal(c->rejected, rejected);
    assert_int_equal(c->trials, c->told - (c->count_rejected ? 0 : rejected));
    assert_true(c->trials == p->budget || c->told == count);
    assert_true(p->strategy.is_async ? c->best.seconds == (best ? play_seconds(best) : 0)
                                     : c->best.ask == best);
    assert_null(c->open);
    assert_null(c->last);
    assert_int_equal(c->pending, 0);
    assert_true(cycle_is_over(c, p->budget));
}

// Whatever order results come in, whatever they are: told in the order asked, never over budget.
static void told_in_the_order_asked(void **state)
{
    enum { COUNT = 6, BUDGET = 4, PATTERNS = 729 };
    static struct play p;
    enum outcome outcome[COUNT];
    (void)state;
    for (long pattern = 0; pattern < PATTERNS; pattern++) {
        struct order order = {.count = 0};
        draw_outcomes(pattern, COUNT, outcome);
        do {
            play_begin(&p, noter(false, COUNT), outcome, BUDGET);
            p.cycle.count_rejected = pattern % 2;
            play_order(&p, &order, NULL);
            int told = 0;
            for (const char *at = p.strategy.log; (at = strchr(at, 't')); at++)
                assert_int_equal(atoi(at + 1), ++told);
            check_totals(&p, COUNT);
        } while (next_order(&order));
    }
}

// An asynchronous one is told as results come in, each once.
static void told_in_the_order_answered(void **state)
{
    enum { COUNT = 6 };
    static struct play p;
    enum outcome outcome[COUNT];
    (void)state;
    draw_outcomes(0, COUNT, outcome);
    struct order order = {.count = 0};
    int orders = 0;
    do {
        int came[COUNT];
        play_begin(&p, noter(true, COUNT), outcome, COUNT);
        play_order(&p, &order, came);
        const char *at = p.strategy.log;
        for (int i = 0; i < COUNT; i++, at++) {
            at = strchr(at, 't');
            assert_int_equal(atoi(at + 1), came[i]);
        }
        check_totals(&p, COUNT);
        orders++;
    } while (next_order(&order));
    assert_int_equal(orders, 3 * 3 * 3 * 3 * 2);
}

// --- real strategies: what they ask depends on neither room nor order ---

static double measure(const struct config *c)
{
    return 1 + (double)(config_hash(c) % 1000) / 1000;
}

static enum outcome fate(const struct config *c)
{
    uint64_t h = config_hash(c) / 1000 % 10;
    return h < 6 ? OUTCOME_OK : h < 8 ? OUTCOME_WRONG : OUTCOME_REJECTED;
}

static uint64_t search_hash(const char *spec, const struct search_problem *problem, int room,
                            uint64_t order)
{
    static struct cycle_trial trial[8 * PLAY_MOST], *flying[PLAY_MOST];
    struct cycle c = {.work = 1, .unit = 1};
    struct str asks = {0};
    struct rng rng;
    struct err e;
    int in_flight = 0;
    enum ask asked;
    rng_seed(&rng, order);
    c.strategy = strategy_create(spec, problem, 7, &e);
    while (!cycle_is_over(&c, 80) || in_flight) {
        for (struct cycle_trial *t; (t = cycle_next(&c));)
            cycle_tell(&c, t);
        asked = ASK_NEW;
        while (asked == ASK_NEW && in_flight < room && cycle_may_ask(&c, 80)) {
            struct cycle_trial *t = &trial[c.asked];
            assert_true(cycle_ask(&c, t, &asked, &e));
            if (asked == ASK_WAIT)
                strategy_wait(c.strategy);
            if (asked != ASK_NEW)
                break;
            str_printf(&asks, "%llu ", (unsigned long long)config_hash(&t->config));
            flying[in_flight++] = t;
        }
        if (in_flight) {
            int which = (int)rng_below(&rng, (uint64_t)in_flight);
            struct cycle_trial *t = flying[which];
            flying[which] = flying[--in_flight];
            cycle_answer(&c, t, fate(&t->config), measure(&t->config));
        }
    }
    uint64_t hash = hash_bytes(str_text(&asks), asks.length);
    str_finish(&asks);
    cycle_finish(&c);
    return hash;
}

static void asks_depend_on_no_order(void **state)
{
    static const char *const specs[] = {
        "opevo", "random", "local:batch=4", "de:pop=8", "walk:starts=6:ahead=4", "ga:pop=10"};
    struct space *space = space_mixed();
    struct search_problem problem = {.space = space};
    (void)state;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        uint64_t one = search_hash(specs[i], &problem, 1, 0);
        for (int room = 2; room <= 7; room++)
            for (uint64_t order = 1; order <= 3; order++)
                assert_true(search_hash(specs[i], &problem, room, order) == one);
    }
    space_destroy(space);
}

// --- budgets ---

// Several searches share one budget: each is granted what a scheduler likes, results come in any
// order, and all together have what there was.
static void a_budget_is_shared(void **state)
{
    enum { CYCLES = 4, TOTAL = 60, COUNT = 100 };
    static struct play p[CYCLES];
    static enum outcome outcome[COUNT];
    struct rng rng;
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        int64_t granted = 0, trials = 0;
        rng_seed(&rng, seed);
        for (int i = 0; i < COUNT; i++)
            draw_outcomes((long)rng_below(&rng, 3), 1, &outcome[i]);
        for (int i = 0; i < CYCLES; i++)
            play_begin(&p[i], noter(i % 2, COUNT), outcome, 0);
        for (int idle = 0; idle < 100; idle++) {
            struct play *one = &p[rng_below(&rng, CYCLES)];
            int64_t slice = (int64_t)rng_below(&rng, 4);
            slice = slice < TOTAL - granted ? slice : TOTAL - granted;
            one->budget += slice;
            granted += slice;
            play_advance(one);
            if (one->in_flight) {
                play_answer(one, (int)rng_below(&rng, (uint64_t)one->in_flight));
                idle = 0;
            }
        }
        for (int i = 0; i < CYCLES; i++) {
            play_drawn(&p[i], 1);
            check_totals(&p[i], COUNT);
            trials += p[i].cycle.trials;
        }
        assert_int_equal(granted, TOTAL);
        assert_true(trials <= TOTAL);
    }
}

// Trials that are open when the budget shrinks are finished, and nothing is asked.
static void a_budget_shrinks(void **state)
{
    static struct play p;
    enum outcome outcome[10] = {0};
    (void)state;
    play_begin(&p, noter(false, 10), outcome, 8);
    play_advance(&p);
    assert_int_equal(p.cycle.asked, PLAY_ROOM);
    p.budget = 0;
    play_drawn(&p, 1);
    assert_int_equal(p.cycle.asked, PLAY_ROOM);
    assert_int_equal(p.cycle.trials, PLAY_ROOM);
    p.budget = 5; // and grows again
    play_drawn(&p, 1);
    assert_int_equal(p.cycle.trials, 5);
}

static void rejections_end_a_search(void **state)
{
    struct noter n = noter(false, 2 * CYCLE_MOST_REJECTED);
    struct cycle c = {.strategy = &n.base, .work = 1, .unit = 1};
    struct cycle_trial t;
    enum ask asked;
    struct err e;
    (void)state;
    while (cycle_may_ask(&c, 1)) {
        n.log[0] = '\0';
        assert_true(cycle_ask(&c, &t, &asked, &e) && asked == ASK_NEW);
        cycle_answer(&c, &t, OUTCOME_REJECTED, 0);
        assert_false(cycle_tell(&c, cycle_next(&c)));
    }
    assert_int_equal(c.told, CYCLE_MOST_REJECTED);
    assert_int_equal(c.trials, 0);
    assert_true(cycle_is_over(&c, 1));
}

// --- broken contracts ---

static enum ask always_wait(struct strategy *s, struct config *out)
{
    (void)s, (void)out;
    return ASK_WAIT;
}

static void waiting_for_nothing_is_an_error(void **state)
{
    struct strategy_kind kind = noter_kind;
    struct noter n = noter(false, 1);
    struct cycle c = {.strategy = &n.base};
    struct cycle_trial t;
    enum ask asked;
    struct err e = {0};
    (void)state;
    kind.ask = always_wait;
    n.base.kind = &kind;
    assert_false(cycle_ask(&c, &t, &asked, &e));
    wording_is("search", "cycle: waits for nothing", e.text);
}

static void batches_are_waited_for(void **state)
{
    static struct play p;
    enum outcome outcome[6] = {0};
    (void)state;
    play_begin(&p, noter(false, 6), outcome, 6);
    p.strategy.batch = 2;
    play_drawn(&p, 1);
    assert_string_equal(p.strategy.log, "a1 a2 t1 t2 a3 a4 t3 t4 a5 a6 t5 t6 ");
}

TEST_GROUP(cycle)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(told_in_the_order_asked),
        cmocka_unit_test(told_in_the_order_answered),
        cmocka_unit_test(asks_depend_on_no_order),
        cmocka_unit_test(a_budget_is_shared),
        cmocka_unit_test(a_budget_shrinks),
        cmocka_unit_test(rejections_end_a_search),
        cmocka_unit_test(waiting_for_nothing_is_an_error),
        cmocka_unit_test(batches_are_waited_for),
    };
    return cmocka_run_group_tests_name("cycle", tests, NULL, NULL);
}
