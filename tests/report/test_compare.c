// Comparisons worked out by hand, and against brute force.
#include "group.h"
#include "wording.h"

#include "report/compare_table.h"

#include "base/rng.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define COUNT(list) (int)(sizeof(list) / sizeof *(list))

static void near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-12 * fmax(1, fabs(b))))
        fail_msg("%.17g is not %.17g", a, b);
}

#define CURVE(list)                                                                                \
    {                                                                                              \
        list, COUNT(list)                                                                          \
    }

static const struct plot_point early[] = {{1, 50}, {3, 100}}, late[] = {{4, 50}, {9, 90}},
                               never[] = {{2, 10}};

// B: `early` and `never`; A: `late` alone; ten trials.
static const char *const names[] = {"slow", "quick"};
static const struct comparison_problem one_problem = {0};
static const struct comparison_run three_runs[] = {
    {.group = 1, .pair = 7, .curve = CURVE(early), .end = 10},
    {.group = 0, .pair = 2, .curve = CURVE(late), .end = 8}, // less than its last point
    {.group = 1, .pair = 3, .curve = CURVE(never), .end = 10},
};

static struct comparison_setup three(void)
{
    return (struct comparison_setup){
        .group_name = names,
        .group_count = 2,
        .problem = &one_problem,
        .problem_count = 1,
        .run = three_runs,
        .run_count = 3,
    };
}

// --- one curve ---

static void means_of_curves(void **state)
{
    static const struct steps curve = CURVE(early), none = {NULL, 0};
    (void)state;
    near(comparison_mean(&curve, 1, 11), (2 * 50 + 8 * 100) / 10.0);
    near(comparison_mean(&curve, 0, 2), 25);
    near(comparison_mean(&curve, 2, 4), 75);
    near(comparison_mean(&curve, 5, 6), 100);
    near(comparison_mean(&none, 0, 1), 0);
}

static void where_curves_reach(void **state)
{
    static const struct steps curve = CURVE(early), none = {NULL, 0};
    (void)state;
    near(comparison_reach(&curve, 1), 1);
    near(comparison_reach(&curve, 50), 1);
    near(comparison_reach(&curve, 51), 3);
    assert_true(isinf(comparison_reach(&curve, 101)));
    assert_true(isinf(comparison_reach(&none, 0)));
}

// --- groups ---

static void groups_by_hand(void **state)
{
    struct comparison_setup s = three();
    struct comparison_result r;
    (void)state;
    comparison_make(&s, &r);
    near(r.best[0], 100);
    near(r.horizon, 10);
    near(r.shortest, 9);
    const struct comparison_group *quick = &r.group[0], *slow = &r.group[1];
    assert_string_equal(quick->name, "quick");
    assert_int_equal(quick->letter, 'A');
    assert_int_equal(slow->letter, 'B');
    assert_int_equal(quick->runs, 2);
    assert_int_equal(r.run[quick->first]->pair, 3); // by seed
    near(quick->best, 100);
    near(slow->best, 90);
    near(quick->area.mean, (0.9 + 0.09) / 2);
    near(quick->area.deviation, (0.9 - 0.09) / sqrt(2));
    near(slow->area.mean, (5 * 0.5 + 2 * 0.9) / 10);
    near(slow->area.deviation, 0);
    assert_true(isinf(quick->goal[0].median)); // one of two never does
    assert_int_equal(quick->goal[0].reached, 1);
    near(slow->goal[0].median, 9);
    assert_int_equal(slow->goal[1].reached, 0);
    assert_true(isnan(quick->score));
    comparison_finish(&r);
}

static void trials_are_chosen_or_given(void **state)
{
    static const double chosen[] = {1, 2, 5, 10};
    struct comparison_setup s = three();
    struct comparison_result r;
    (void)state;
    comparison_make(&s, &r);
    assert_int_equal(r.at_count, 4);
    for (int i = 0; i < 4; i++)
        near(r.at[i], chosen[i]);
    near(r.group[0].at[1].mean, (0.5 + 0.1) / 2);
    near(r.group[1].at[1].mean, 0);
    near(r.group[1].at[2].mean, 0.5);
    comparison_finish(&r);
    s.at[0] = 3;
    s.at_count = 1;
    comparison_make(&s, &r);
    assert_int_equal(r.at_count, 1);
    near(r.group[0].at[0].mean, (1 + 0.1) / 2);
    comparison_finish(&r);
}

static void seconds_begin_at_zero(void **state)
{
    struct comparison_setup s = three();
    struct comparison_result r;
    (void)state;
    s.axis = COMPARISON_SECONDS;
    comparison_make(&s, &r);
    near(r.group[1].area.mean, (5 * 0.5 + 1 * 0.9) / 10);
    comparison_finish(&r);
}

static void a_known_optimum_is_the_best(void **state)
{
    const struct comparison_problem known = {.best = 200};
    struct comparison_setup s = three();
    struct comparison_result r;
    (void)state;
    s.problem = &known;
    comparison_make(&s, &r);
    near(r.group[0].at[3].mean, (0.5 + 0.05) / 2);
    assert_int_equal(r.group[0].goal[0].reached, 0);
    comparison_finish(&r);
}

static void nothing_valid_anywhere(void **state)
{
    static const struct comparison_run runs[] = {{.group = 0}, {.group = 1, .end = 5}};
    struct comparison_setup s = three();
    struct comparison_result r;
    struct str out = {0};
    (void)state;
    s.run = runs;
    s.run_count = 2;
    comparison_make(&s, &r);
    near(r.group[0].area.mean, 0);
    assert_int_equal(r.group[0].goal[0].reached, 0);
    near(r.p[1], 1);
    comparison_add_text(&r, &(struct comparison_looks){0}, &out);
    assert_non_null(strstr(str_text(&out), " - "));
    comparison_finish(&r);
    s.run_count = 1;
    s.group_count = 1;
    comparison_make(&s, &r); // no trial at all
    assert_int_equal(r.at_count, 0);
    comparison_finish(&r);
    str_finish(&out);
}

// --- brute force ---

enum { RUNS = 12, GROUPS = 3, HORIZON = 30 };

// Rising curves; some find nothing.
static void make_random(struct rng *rng, struct comparison_run *run,
                        struct plot_point point[RUNS][HORIZON])
{
    for (int i = 0; i < RUNS; i++) {
        int count = 0;
        double level = 0;
        for (int t = 1; t <= HORIZON; t++) {
            if (rng_below(rng, 6))
                continue;
            level += 1 + (double)rng_below(rng, 20);
            point[i][count++] = (struct plot_point){t, level};
        }
        run[i] = (struct comparison_run){.group = i % GROUPS,
                                         .pair = rng_next(rng),
                                         .curve = {point[i], i % 5 ? count : 0},
                                         .end = HORIZON};
    }
}

static double best_of_all(const struct comparison_run *run)
{
    double best = 0;
    for (int i = 0; i < RUNS; i++)
        best = fmax(best, steps_at(&run[i].curve, HORIZON));
    return best;
}

static void check_brute(const struct comparison_result *r, const struct comparison_group *g,
                        double best)
{
    double area = 0, last = 0;
    int reached = 0;
    for (int i = g->first; i < g->first + g->runs; i++) {
        bool there = false;
        for (int t = 1; t <= HORIZON; t++) {
            double share = steps_at(&r->run[i]->curve, t) / best;
            area += share / HORIZON / g->runs;
            there = there || share >= comparison_goals[0];
        }
        reached += there;
        last += steps_at(&r->run[i]->curve, HORIZON) / best / g->runs;
    }
    near(g->area.mean, area);
    near(g->at[r->at_count - 1].mean, last);
    assert_int_equal(g->goal[0].reached, reached);
}

static void random_runs_against_brute_force(void **state)
{
    static const char *const three_names[GROUPS] = {"a", "b", "c"};
    static struct plot_point point[RUNS][HORIZON];
    struct comparison_run run[RUNS];
    struct comparison_result r;
    struct comparison_setup s = three();
    struct rng rng;
    (void)state;
    rng_seed(&rng, 8);
    s.group_name = three_names;
    s.group_count = GROUPS;
    s.run = run;
    s.run_count = RUNS;
    for (int round = 0; round < 200; round++) {
        make_random(&rng, run, point);
        comparison_make(&s, &r);
        double ranks = 0;
        for (int g = 0; g < GROUPS; g++) {
            assert_int_equal(r.group[g].runs, RUNS / GROUPS);
            check_brute(&r, &r.group[g], best_of_all(run));
            ranks += r.group[g].rank;
            assert_true(g == 0 || r.group[g].area.mean <= r.group[g - 1].area.mean);
        }
        near(ranks, 1 + 2 + 3);
        assert_true(r.p[1] == r.p[GROUPS] && r.p[1] >= 0.125 && r.p[1] <= 1); // four pairs
        comparison_finish(&r);
    }
}

// --- scores ---

// Times 1 .. 5, median 3: one trial counts, where random search has 3 (test_score.c).
static void scores_by_hand(void **state)
{
    static const double time[] = {1, 2, 3, 4, 5};
    static const struct plot_point a[] = {{1, 1 / 2.0}}, b[] = {{2, 1 / 1.0}};
    struct score score;
    (void)state;
    assert_true(score_init(&score, time, 5, 5));
    const struct comparison_problem problems[] = {{1, 1, &score}, {1, 1, &score}};
    const struct comparison_run runs[] = {
        {.group = 0, .problem = 0, .curve = CURVE(a), .end = 5},
        {.group = 0, .problem = 0, .curve = CURVE(b), .end = 5}, // nothing after the first: 5
        {.group = 0, .problem = 1, .curve = CURVE(a), .end = 5},
        {.group = 1, .problem = 1, .curve = CURVE(b), .end = 5},
    };
    struct comparison_setup s = three();
    struct comparison_result r;
    s.problem = problems;
    s.problem_count = 2;
    s.run = runs;
    s.run_count = 4;
    comparison_make(&s, &r);
    const struct comparison_group *both = &r.group[r.group[0].index == 0 ? 0 : 1];
    double first = ((2 + 5) / 2.0 - 3) / (1 - 3), second = (2.0 - 3) / (1 - 3);
    near(both->score, (first + second) / 2);
    near(both == r.group ? r.group[1].score : r.group[0].score, (5.0 - 3) / (1 - 3));
    comparison_finish(&r);
    s.axis = COMPARISON_SECONDS;
    comparison_make(&s, &r);
    assert_true(isnan(r.group[0].score));
    comparison_finish(&r);
    score_finish(&score);
}

// --- ranks and tests ---

// Three groups with n runs each: the first always best, the others the same.
static void make_ladder(struct comparison_run *run, struct plot_point *point, int n)
{
    for (int i = 0; i < 3 * n; i++) {
        int group = i / n, k = i % n;
        point[i] = (struct plot_point){1, group == 0 ? 50 + k : 10 + k};
        run[i] = (struct comparison_run){.group = group,
                                         .pair = (uint64_t)(group == 1 ? n - k : k),
                                         .curve = {&point[i], 1},
                                         .end = 4};
    }
}

static void differences_are_tested_over_runs(void **state)
{
    static const char *const three_names[] = {"a", "b", "c"};
    struct comparison_run run[24];
    struct plot_point point[24];
    struct comparison_result r;
    struct comparison_setup s = three();
    (void)state;
    make_ladder(run, point, 8);
    s.group_name = three_names;
    s.group_count = 3;
    s.run = run;
    s.run_count = 24;
    comparison_make(&s, &r);
    assert_int_equal(r.pairs, 8);
    assert_string_equal(r.group[0].name, "a");
    near(r.group[0].rank, 1);
    near(r.group[1].rank, 2.5);
    near(r.p[1], 3 * 2 / 256.0); // the least of 8 pairs, one of three tests
    near(r.p[1], r.p[3]);
    near(r.p[2], 3 * 2 / 256.0);
    near(r.p[5], 1); // b and c
    assert_true(isnan(r.p[0]) && isnan(r.p[4]));
    comparison_finish(&r);
}

// Each of several problems is one pair, however many repeats there are.
static void differences_are_tested_over_problems(void **state)
{
    static const struct comparison_problem problems[5] = {{0}};
    struct comparison_run run[30];
    struct plot_point point[30];
    struct comparison_result r;
    struct comparison_setup s = three();
    (void)state;
    for (int i = 0; i < 30; i++) {
        point[i] = (struct plot_point){1, i < 15 ? 100 : 50 + i % 3};
        run[i] = (struct comparison_run){
            .group = i < 15, .problem = i % 5, .curve = {&point[i], 1}, .end = 4};
    }
    s.problem = problems;
    s.problem_count = 5;
    s.run = run;
    s.run_count = 30;
    comparison_make(&s, &r);
    assert_int_equal(r.pairs, 5);
    near(r.p[1], 2 / 32.0);
    near(r.group[0].rank, 1);
    comparison_finish(&r);
}

// --- tables ---

static void text_by_hand(void **state)
{
    struct comparison_setup s = three();
    struct comparison_result r;
    struct str out = {0};
    struct comparison_looks looks = {.ascii = true, .rate_unit = "FLOPS", .rate_flop = 1e-7};
    (void)state;
    comparison_make(&s, &r);
    comparison_add_text(&r, &looks, &out);
    const char *expected =
        "   runs         best               mean best          at 1          at 2 "
        "         at 5         at 10  "
        "        area  to 90%  to 95%  to 99%  rank      p  strategy\n"
        "A     2  1.00 GFLOPS  0.55 GFLOPS +- 115.7 %  25.0 +- 35.4  30.0 +- "
        "28.3  55.0 +- 63.6  55.0 +- 63.6  "
        "49.5 +- 57.3       -       -       -  2.00      -  quick\n"
        "B     1  0.90 GFLOPS             0.90 GFLOPS           0.0           "
        "0.0          50.0          90.0  "
        "        43.0       9       -       -  1.00  1.000  slow\n";
    assert_memory_equal(str_text(&out), expected, strlen(expected));
    wording_is("report", "compare: unequal runs", str_text(&out));
    str_finish(&out);
    looks.ascii = false;
    comparison_add_markdown(&r, &looks, &out);
    assert_non_null(strstr(str_text(&out), "|---|---:|---:|"));
    assert_non_null(
        strstr(str_text(&out), "| B | 1 | 0.90 GFLOPS | 0.90 GFLOPS | 0.0 | 0.0 | 50.0 | 90.0 |"));
    assert_non_null(strstr(str_text(&out), "| 49.5 ± 57.3 |"));
    str_finish(&out);
    comparison_finish(&r);
}

static void programs_find_every_column(void **state)
{
    static const char *const odd[] = {"slow", "qui\"ck,1"};
    struct comparison_setup s = three();
    struct comparison_result r;
    struct str out = {0};
    (void)state;
    s.group_name = odd;
    s.at[0] = 5;
    s.at_count = 1;
    comparison_make(&s, &r);
    comparison_add_csv(&r, &out);
    const char *head =
        "letter,strategy,runs,best,mean,mean_std,at_5,at_5_std,area,area_std,to_90,to_95,to_99,"
        "score,rank,p\r\nA,\"qui\"\"ck,1\",2,100,55,63.";
    assert_memory_equal(str_text(&out), head, strlen(head));
    assert_non_null(strstr(str_text(&out), "\r\nB,slow,1,90,90,0,0.5,0,0.43,0,9,,,,1,1\r\n"));
    str_finish(&out);
    struct json_writer w = {.out = &out};
    comparison_add_group_json(&r, 1, COMPARISON_FLOPS, &w);
    assert_string_equal(str_text(&out),
                        "\"letter\":\"B\",\"strategy\":\"slow\",\"runs\":1,\"best_tflops\":9e-11,"
                        "\"mean_tflops\":9e-11,\"mean_tflops_std\":0,"
                        "\"best_fraction\":[0.5],\"std\":[0],\"area\":0.43,\"area_std\":0,\"to\":["
                        "{\"share\":0.9,\"median\":9,\"reached\":1},"
                        "{\"share\":0.95,\"median\":null,\"reached\":0},"
                        "{\"share\":0.99,\"median\":null,\"reached\":0}],"
                        "\"score\":null,\"rank\":1,\"p\":[1,null]");
    str_finish(&out);
    comparison_finish(&r);
}

TEST_GROUP(compare)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_of_curves),
        cmocka_unit_test(where_curves_reach),
        cmocka_unit_test(groups_by_hand),
        cmocka_unit_test(trials_are_chosen_or_given),
        cmocka_unit_test(seconds_begin_at_zero),
        cmocka_unit_test(a_known_optimum_is_the_best),
        cmocka_unit_test(nothing_valid_anywhere),
        cmocka_unit_test(random_runs_against_brute_force),
        cmocka_unit_test(scores_by_hand),
        cmocka_unit_test(differences_are_tested_over_runs),
        cmocka_unit_test(differences_are_tested_over_problems),
        cmocka_unit_test(text_by_hand),
        cmocka_unit_test(programs_find_every_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
