// First guesses: every second proposal, until they are used up or the model gives them no chance.
#include "driver.h"
#include "group.h"
#include "spaces.h"

#include <math.h>

enum { GUESSES = 20, TRIALS = 60, SIDE = 12 };

// Six ladders of 12 values; the optimum is where all are 3.
static struct space *space_ladders(void)
{
    struct space *s = space_create("ladders");
    for (int i = 0; i < 6; i++)
        add_discrete(s, (char[]){(char)('a' + i), '\0'}, SIDE);
    return sealed(s);
}

static double hill(void *context, const struct config *c)
{
    double fitness = 1;
    (void)context;
    for (int i = 0; i < 6; i++)
        fitness *= pow(0.8, abs(c->slot[i] - 3));
    return fitness;
}

struct guessed {
    struct space *space;
    struct config guess[GUESSES];
    struct search_problem problem;
    struct drive drive;
};

// Guesses that are `apart` steps from the optimum in each parameter, and farther in one: each is
// another one.
static void begin(struct guessed *g, const char *spec, int apart, int count)
{
    g->space = space_ladders();
    for (int i = 0; i < GUESSES; i++) {
        g->guess[i] = (struct config){{0}};
        for (int k = 0; k < 6; k++)
            g->guess[i].slot[k] = 3 + apart;
        g->guess[i].slot[i % 6] = (3 + apart + 1 + i / 6) % SIDE;
    }
    g->problem =
        (struct search_problem){.space = g->space, .guess = g->guess, .guess_count = count};
    g->drive = drive_create(spec, &g->problem, 4);
    g->drive.measure = hill;
}

static void end(struct guessed *g)
{
    drive_destroy(&g->drive);
    space_destroy(g->space);
}

static int guess_at(const struct guessed *g, int index)
{
    struct config c;
    config_set_get(&g->drive.asked, index, &c);
    for (int i = 0; i < g->problem.guess_count; i++)
        if (config_equal(&c, &g->guess[i]))
            return i;
    return -1;
}

// Before there is a model, in the order in which they were given.
static void test_every_second(void **state)
{
    struct guessed g;
    (void)state;
    begin(&g, "walk:starts=20", 1, GUESSES);
    drive_run(&g.drive, 20);
    for (int i = 0; i < 20; i++)
        assert_int_equal(guess_at(&g, i), i % 2 ? i / 2 : -1);
    end(&g);
}

// Without a model none is dropped, and all are tried.
static void test_all_are_tried(void **state)
{
    struct guessed g;
    (void)state;
    begin(&g, "walk:points=0", 8, GUESSES);
    drive_run(&g.drive, 2 * GUESSES);
    for (int i = 0; i < GUESSES; i++)
        assert_true(config_set_find(&g.drive.asked, &g.guess[i]) >= 0);
    struct guess_report r = strategy_guesses(g.drive.strategy);
    assert_int_equal(r.count, GUESSES);
    assert_int_equal(r.left, 0);
    assert_int_equal(r.dropped, 0);
    end(&g);
}

static void test_bad_ones_are_dropped(void **state)
{
    struct guessed g;
    (void)state;
    begin(&g, "walk", 8, GUESSES);
    drive_run(&g.drive, TRIALS);
    struct guess_report r = strategy_guesses(g.drive.strategy);
    int tried = 0;
    for (int i = 0; i < TRIALS; i++)
        tried += guess_at(&g, i) >= 0;
    assert_int_equal(r.left, 0);
    assert_true(r.dropped >= GUESSES / 2);
    assert_int_equal(tried + r.dropped, GUESSES);
    end(&g);
}

static void test_good_ones_help(void **state)
{
    struct guessed with, without;
    (void)state;
    begin(&with, "walk", 1, GUESSES);
    begin(&without, "walk", 1, 0);
    drive_run(&with.drive, 16);
    drive_run(&without.drive, 16);
    assert_true(with.drive.best > 1.2 * without.drive.best);
    end(&with);
    end(&without);
}

static void test_who_takes_them(void **state)
{
    (void)state;
    assert_true(strategy_takes_guesses("walk:margin=1"));
    assert_false(strategy_takes_guesses("opevo"));
    assert_false(strategy_takes_guesses("nothing"));
}

TEST_GROUP(guesses)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_second),         cmocka_unit_test(test_all_are_tried),
        cmocka_unit_test(test_bad_ones_are_dropped), cmocka_unit_test(test_good_ones_help),
        cmocka_unit_test(test_who_takes_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
