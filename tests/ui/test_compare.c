// Comparisons against plain loops over every single trial, on runs made at random and by hand.
#include "compare.h"
#include "group.h"

#include "base/rng.h"

#include <math.h>
#include <stddef.h>

enum { MOST_TRIALS = 60, FLOP = 1000 };

// A run as a list of trials: what each measured, 0 for one that failed. Its curve and its record
// are what a database would give.
struct run {
    double seconds[MOST_TRIALS + 1]; // from 1
    int trials, ok;
    struct best_step step[MOST_TRIALS];
};

static void make_curve(struct run *r, struct mark *k)
{
    double best = 0;
    int count = 0;
    r->ok = 0;
    for (int n = 1; n <= r->trials; n++) {
        double s = r->seconds[n];
        r->ok += s > 0;
        if (s > 0 && (best <= 0 || s < best))
            r->step[count++] = (struct best_step){.ask = n, .number = n, .seconds = best = s};
    }
    k->curve = (struct curve){.step = r->step, .count = count};
    k->record.trials = r->trials;
    k->record.ok = r->ok;
    k->record.best_ask = count ? r->step[count - 1].ask : 0;
    k->record.best_seconds = best;
}

static struct mark mark_of(int i, const char *strategy)
{
    return (struct mark){.id = 10 + i,
                         .letter = (char)('A' + i),
                         .record = {.id = 10 + i,
                                    .title = "matmul",
                                    .device = "card",
                                    .source = "device",
                                    .strategy = strategy,
                                    .flop = FLOP}};
}

static void make_run(struct rng *r, struct run *run, struct mark *k)
{
    run->trials = (int)rng_below(r, MOST_TRIALS + 1);
    for (int n = 1; n <= run->trials; n++)
        run->seconds[n] = rng_below(r, 4) ? 1 + (double)rng_below(r, 1000) / 100 : 0;
    make_curve(run, k);
}

// --- the same by plain loops ---

static double level(const struct run *run, int64_t trial)
{
    double best = 0;
    for (int n = 1; n <= run->trials && n <= trial; n++)
        if (run->seconds[n] > 0)
            best = fmax(best, FLOP / run->seconds[n]);
    return best;
}

static double plain_mean(const struct run *run, int64_t horizon)
{
    double sum = 0;
    for (int64_t n = 1; n <= horizon; n++)
        sum += level(run, n);
    return horizon ? sum / (double)horizon : 0;
}

static int64_t plain_goal(const struct run *run, double goal)
{
    for (int n = 1; n <= run->trials; n++)
        if (level(run, n) >= goal && goal > 0)
            return n;
    return 0;
}

static void near(double a, double b)
{
    assert_true(fabs(a - b) <= 1e-9 * fmax(1, fabs(b)));
}

static void check_row(const struct comparison *c, const struct compare_row *row,
                      const struct run *run)
{
    near(row->best, level(run, MOST_TRIALS));
    near(row->mean, plain_mean(run, c->horizon));
    near(row->ok_share, run->trials ? (double)run->ok / run->trials : 0);
    for (int g = 0; g < COMPARISON_GOALS; g++)
        assert_int_equal(row->goal[g], plain_goal(run, comparison_goals[g] * c->reached));
}

static void check_group(const struct comparison *c, const struct compare_group *g,
                        const struct mark *mark, const struct run *run, int count)
{
    double sum = 0, pairs = 0, best = 0;
    int n = 0;
    for (int i = 0; i < count; i++) {
        if (!str_equal(mark[i].record.strategy, g->first->strategy))
            continue;
        double x = level(&run[i], MOST_TRIALS);
        sum += x;
        best = fmax(best, x);
        n++;
        for (int k = 0; k < i; k++) // the variance is half the mean square of differences
            if (str_equal(mark[k].record.strategy, g->first->strategy))
                pairs += pow(x - level(&run[k], MOST_TRIALS), 2);
    }
    assert_int_equal(g->runs, n);
    near(g->mean, sum / n);
    near(g->best, best);
    near(g->deviation, n > 1 ? sqrt(pairs / n / (n - 1)) : 0);
    assert_true(g == c->group || g[-1].mean >= g->mean);
}

static void random_runs_are_as_plain_loops_say(void **state)
{
    static const char *const strategies[] = {"opevo", "random", "walk"};
    struct rng r;
    (void)state;
    rng_seed(&r, 11);
    for (int round = 0; round < 300; round++) {
        struct run run[MODEL_MOST_MARKS];
        struct mark mark[MODEL_MOST_MARKS];
        struct comparison c;
        int count = 1 + (int)rng_below(&r, MODEL_MOST_MARKS), seen = 0;
        for (int i = 0; i < count; i++) {
            mark[i] = mark_of(i, strategies[rng_below(&r, 3)]);
            make_run(&r, &run[i], &mark[i]);
        }
        compare_marks(&c, mark, count);
        assert_int_equal(c.count, count);
        assert_int_equal(c.comparable, count);
        for (int i = 0; i < count; i++) {
            int which = (int)(c.row[i].mark - mark);
            seen |= 1 << which;
            check_row(&c, &c.row[i], &run[which]);
            assert_true(i == 0 || c.row[i - 1].best >= c.row[i].best);
        }
        assert_int_equal(seen, (1 << count) - 1);
        for (int i = 0; i < c.group_count; i++)
            check_group(&c, &c.group[i], mark, run, count);
    }
}

// --- by hand ---

static void numbers_of_a_small_comparison(void **state)
{
    // Speeds 0 500 500 1000, and 0 0 900: bests 1000 and 900, over 4 trials.
    struct run run[2] = {{.seconds = {0, 0, 2, 5, 1}, .trials = 4},
                         {.seconds = {0, 0, 0, 1 / 0.9}, .trials = 3}};
    struct mark mark[2] = {mark_of(0, "a"), mark_of(1, "b")};
    struct comparison c;
    (void)state;
    for (int i = 0; i < 2; i++)
        make_curve(&run[i], &mark[i]);
    compare_marks(&c, mark, 2);
    assert_int_equal(c.horizon, 4);
    near(c.reached, 1000);
    near(c.row[0].share, 1);
    near(c.row[1].share, 0.9);
    near(c.row[0].mean, (500 + 500 + 1000) / 4.0);
    near(c.row[1].mean, (900 + 900) / 4.0);
    assert_int_equal(c.row[0].goal[0], 4);
    assert_int_equal(c.row[1].goal[1], 0);
    near(c.row[0].ok_share, 0.75);
    near(c.row[1].ok_share, 1 / 3.0);
    assert_int_equal(c.group_count, 2);
}

static void a_race_moves_the_best_but_not_the_curve(void **state)
{
    struct run run = {.seconds = {0, 2, 1}, .trials = 2};
    struct mark mark = mark_of(0, "a");
    struct comparison c;
    (void)state;
    make_curve(&run, &mark);
    mark.record.best_seconds = 1.25; // what was fastest is slower in the end
    compare_marks(&c, &mark, 1);
    near(c.reached, 1000);
    near(c.row[0].best, 800);
    near(c.row[0].share, 1);
    near(c.row[0].mean, (500 + 1000) / 2.0);
    assert_int_equal(c.row[0].goal[2], 2);
}

static void what_most_tune_is_compared(void **state)
{
    struct mark mark[5];
    struct comparison c;
    (void)state;
    for (int i = 0; i < 5; i++)
        mark[i] = mark_of(i, "a");
    mark[0].record.title = "another";
    mark[1].record.device = "another card";
    mark[2].record.source = "synthetic:bowl";
    compare_marks(&c, mark, 5);
    assert_int_equal(c.comparable, 2);
    assert_int_equal(c.row[0].mark->letter, 'D');
    assert_int_equal(c.row[1].mark->letter, 'E');
    static const enum compare_fit why[] = {COMPARE_OTHER_PROBLEM, COMPARE_OTHER_DEVICE,
                                           COMPARE_OTHER_SOURCE};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(c.row[2 + i].mark->letter, 'A' + i);
        assert_int_equal(c.row[2 + i].fit, why[i]);
    }
    compare_marks(&c, mark, 2); // one each: the first counts
    assert_int_equal(c.comparable, 1);
    assert_int_equal(c.row[0].mark->letter, 'A');
}

static void what_is_not_the_same_has_no_mean_together(void **state)
{
    struct mark mark[8];
    struct comparison c;
    (void)state;
    for (int i = 0; i < 8; i++)
        mark[i] = mark_of(i, "a");
    mark[0].record.name = "mm";
    mark[1].record.device_id = "newer";
    mark[2].record.text_hash = "edited";
    mark[3].record.settings = "{\"N\":1}";
    mark[4].record.warm = "1 2";
    mark[5].record.history = "3:200";
    compare_marks(&c, mark, 8);
    assert_int_equal(c.comparable, 8);
    assert_int_equal(c.group_count, 7);
    for (int i = 0; i < c.group_count; i++) {
        bool alone = c.group[i].first != &mark[6].record;
        assert_int_equal(c.group[i].runs, alone ? 1 : 2);
    }
    static const char *const apart[] = {"space", "driver", "files", "settings", NULL, NULL};
    for (int i = 0; i < 6; i++) {
        const char *what = compare_apart(&mark[7].record, &mark[i].record);
        assert_true(apart[i] ? str_equal(what, apart[i]) : !what);
    }
}

static void nothing_valid_is_nothing_reached(void **state)
{
    struct mark mark[2] = {mark_of(0, "a"), mark_of(1, "a")};
    struct run run = {.trials = 5};
    struct comparison c;
    (void)state;
    make_curve(&run, &mark[1]);
    compare_marks(&c, mark, 2);
    assert_int_equal(c.comparable, 2);
    assert_int_equal(c.horizon, 5);
    for (int i = 0; i < 2; i++) {
        near(c.row[i].mean, 0);
        assert_int_equal(c.row[i].goal[0], 0);
    }
    compare_marks(&c, mark, 0);
    assert_int_equal(c.count + c.group_count, 0);
}

TEST_GROUP(compare)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_runs_are_as_plain_loops_say),
        cmocka_unit_test(numbers_of_a_small_comparison),
        cmocka_unit_test(a_race_moves_the_best_but_not_the_curve),
        cmocka_unit_test(what_most_tune_is_compared),
        cmocka_unit_test(what_is_not_the_same_has_no_mean_together),
        cmocka_unit_test(nothing_valid_is_nothing_reached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
