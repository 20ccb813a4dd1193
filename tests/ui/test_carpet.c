// What the best trials had in common, against recomputation from all trials, and its reading of a
// database.
#include "carpet.h"
#include "fixture.h"
#include "group.h"
#include "spaces.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct trial random_trial(const struct space *s, struct rng *rng, int64_t number)
{
    struct trial t = {.ask = 3 * number, .number = number, .has_config = true};
    t.generation = (int)(number / 10);
    t.elapsed_s = 2.0 * (double)number;
    space_sample(s, rng, &t.config);
    if (rng_below(rng, 4) > 0) // of few speeds, so that some are equal
        t.seconds = 1.0 + (double)rng_below(rng, 60);
    return t;
}

// --- the oracle: sorts all trials so far ---

static bool is_better(const struct trial *a, const struct trial *b)
{
    return a->seconds != b->seconds ? a->seconds < b->seconds : a->number < b->number;
}

static int sort_best(const struct trial *trial, int count, const struct trial *best[CARPET_BEST])
{
    int found = 0;
    for (int rank = 0; rank < CARPET_BEST; rank++) {
        const struct trial *next = NULL;
        for (int i = 0; i < count; i++) {
            bool taken = trial[i].seconds <= 0;
            for (int k = 0; k < found; k++)
                taken |= best[k] == &trial[i];
            if (!taken && (!next || is_better(&trial[i], next)))
                next = &trial[i];
        }
        if (next)
            best[found++] = next;
    }
    return found;
}

static void add_value(const struct space *s, struct factor f, const struct config *c,
                      struct str *out)
{
    const struct param *p = &s->param[f.param];
    if (!space_is_live(s, c, f.param))
        str_add(out, "-");
    else if (f.slot >= 0)
        str_add_int(out, c->slot[p->offset + f.slot]);
    else
        param_add_json(p, c->slot + p->offset, out);
}

static void check_factor(const struct carpet *c, int i, const struct moment *m,
                         const struct trial *best[CARPET_BEST], int count)
{
    struct str text[CARPET_BEST] = {{0}}, told = {0};
    int most = 0, which = 0;
    for (int k = 0; k < count; k++)
        add_value(c->space, c->factor[i], &best[k]->config, &text[k]);
    for (int k = 0; k < count; k++) {
        int same = 0;
        for (int j = 0; j < count; j++)
            same += str_equal(str_text(&text[k]), str_text(&text[j]));
        which = same > most ? k : which;
        most = same > most ? same : most;
    }
    assert_int_equal(m->agree[i], most);
    bool absent = str_equal(str_text(&text[which]), "-");
    assert_int_equal(m->absent >> i & 1, absent);
    const struct param *p = &c->space->param[c->factor[i].param];
    if (c->factor[i].slot >= 0)
        str_add_int(&told, m->value.slot[p->offset + c->factor[i].slot]);
    else if (!absent)
        param_add_json(p, m->value.slot + p->offset, &told);
    if (!absent)
        assert_string_equal(str_text(&told), str_text(&text[which]));
    for (int k = 0; k < count; k++)
        str_finish(&text[k]);
    str_finish(&told);
}

static void check_at(const struct carpet *c, const struct trial *trial, int count)
{
    const struct trial *best[CARPET_BEST];
    const struct moment *m = carpet_at(c, count);
    int found = sort_best(trial, count, best);
    if (found == 0) {
        assert_null(m);
        return;
    }
    assert_true(m->number <= count);
    assert_int_equal(m->count, found);
    for (int k = 0; k < found; k++)
        assert_int_equal(m->ask[k], best[k]->ask);
    for (int i = 0; i < c->factors; i++)
        check_factor(c, i, m, best, found);
}

static void test_every_moment_is_that_of_all_trials_so_far(void **state)
{
    enum { TRIALS = 150 };
    static struct trial trial[TRIALS];
    struct space *space[] = {space_mixed(), space_conditional(), space_mm(64, 64, 64), space_24()};
    struct rng rng;
    (void)state;
    rng_seed(&rng, 11);
    for (int round = 0; round < 12; round++) {
        struct carpet c;
        carpet_init(&c, space[round % 4]);
        for (int i = 0; i < TRIALS; i++) {
            trial[i] = random_trial(space[round % 4], &rng, i + 1);
            carpet_add(&c, &trial[i]);
            check_at(&c, trial, i + 1); // as it grows
        }
        for (int i = 0; i <= TRIALS; i++)
            check_at(&c, trial, i); // and afterwards
        carpet_finish(&c);
    }
    for (int i = 0; i < 4; i++)
        space_destroy(space[i]);
}

// Each trial changes the best: more moments than are kept.
static void test_many_moments_are_thinned_out(void **state)
{
    enum { TRIALS = 3 * CARPET_MOST };
    struct trial *trial = mem_zero(TRIALS, sizeof *trial);
    struct space *s = space_24();
    struct carpet c;
    struct rng rng;
    (void)state;
    rng_seed(&rng, 5);
    carpet_init(&c, s);
    for (int i = 0; i < TRIALS; i++) {
        trial[i] = random_trial(s, &rng, i + 1);
        trial[i].seconds = 2.0 * TRIALS - i;
        carpet_add(&c, &trial[i]);
        assert_true(c.count <= CARPET_MOST);
        assert_int_equal(carpet_at(&c, i + 1)->number, i + 1); // the newest is not lost
    }
    assert_true(c.stride > 1);
    for (int number = (int)c.stride; number <= TRIALS; number += 97) {
        const struct moment *m = carpet_at(&c, number);
        assert_true(m->number <= number && m->number > number - c.stride);
        int first = (int)m->number - CARPET_BEST > 0 ? (int)m->number - CARPET_BEST : 0;
        const struct trial *best[CARPET_BEST]; // they get better all the time
        int found = sort_best(trial + first, (int)m->number - first, best);
        for (int k = 0; k < found; k++)
            assert_int_equal(m->ask[k], best[k]->ask);
    }
    carpet_finish(&c);
    space_destroy(s);
    free(trial);
}

static void test_steps_go_through_generations(void **state)
{
    struct space *s = space_24();
    struct carpet c;
    struct rng rng;
    (void)state;
    rng_seed(&rng, 5);
    carpet_init(&c, s);
    assert_int_equal(carpet_step(&c, 0, false), 0);
    for (int i = 1; i <= 40; i++) {
        struct trial t = random_trial(s, &rng, i);
        t.seconds = 100 - i;
        t.generation = (i - 1) / 10; // the last of each: 10, 20, 30, 40
        carpet_add(&c, &t);
    }
    static const int64_t back[] = {30, 20, 10, 10}, on[] = {20, 30, 0, 0};
    int64_t number = 0;
    for (int i = 0; i < 4; i++)
        assert_int_equal(number = carpet_step(&c, number, false), back[i]);
    for (int i = 0; i < 4; i++)
        assert_int_equal(number = carpet_step(&c, number, true), on[i]);
    carpet_finish(&c);
    carpet_init(&c, s);
    for (int i = 1; i <= 3; i++) { // without generations
        struct trial t = random_trial(s, &rng, i);
        t.seconds = 10 - i;
        t.generation = 1;
        carpet_add(&c, &t);
    }
    assert_int_equal(carpet_step(&c, 0, false), 2);
    assert_int_equal(carpet_step(&c, 2, false), 1);
    assert_int_equal(carpet_step(&c, 1, true), 2);
    assert_int_equal(carpet_step(&c, 2, true), 0);
    carpet_finish(&c);
    space_destroy(s);
}

// --- from a database ---

static bool add_one(void *context, const struct trial *t)
{
    carpet_add(context, t);
    return true;
}

static void test_faster_trials_make_the_same_as_all(void **state)
{
    struct fixture f;
    struct model m;
    struct err e;
    struct carpet all, some;
    (void)state;
    fixture_create(&f, FIXTURE_SMALL);
    model_init(&m, f.path);
    assert_true(model_open(&m, f.session, &e));
    carpet_init(&all, m.open.space);
    carpet_init(&some, m.open.space);
    int64_t last = m.open.newest_number;
    for (int64_t n = 1; n <= last; n++)
        carpet_add(&all, model_trial_numbered(&m, n));
    for (int64_t n = 1; n <= last; n += 7) {
        struct faster part = {n, n + 6, carpet_limit(&some)};
        model_each_faster(&m, &part, add_one, &some);
    }
    assert_true(all.count > 8);
    assert_int_equal(some.count, all.count);
    for (int i = 0; i < all.count; i++) {
        assert_int_equal(some.moment[i].number, all.moment[i].number);
        assert_memory_equal(some.moment[i].agree, all.moment[i].agree, sizeof all.moment[i].agree);
    }
    carpet_finish(&all);
    carpet_finish(&some);
    model_finish(&m);
    fixture_destroy(&f);
}

TEST_GROUP(carpet)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_moment_is_that_of_all_trials_so_far),
        cmocka_unit_test(test_many_moments_are_thinned_out),
        cmocka_unit_test(test_steps_go_through_generations),
        cmocka_unit_test(test_faster_trials_make_the_same_as_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
