// Networks of recordings: the curves that a schedule is played on; nothing beats the oracle.
#include "group.h"
#include "made.h"
#include "simulated_network.h"
#include "spaces.h"

#include <math.h>

#define TASKS 3

struct fixture {
    struct recording *recording[TASKS];
    struct simulation task[TASKS];
    double uses[TASKS];
    struct simulated_network network;
};

static void set_up(struct fixture *f, int trials, int round, int64_t most)
{
    static const char *const name[] = {"a", "b", "c"};
    *f = (struct fixture){.uses = {1, 2, 7}};
    for (int i = 0; i < TASKS; i++) {
        struct made m = {.space = space_mixed(), .recorded = 50, .failing = 20, .runs = 1};
        f->recording[i] = made_recording(&m, name[i]);
        f->task[i] = (struct simulation){.recording = f->recording[i],
                                         .strategy = "random",
                                         .trials = most,
                                         .repeats = 5,
                                         .seed = 3};
        run_simulation(&f->task[i], 1);
    }
    f->network = (struct simulated_network){
        .task = f->task, .tasks = TASKS, .uses = f->uses, .trials = trials, .round = round};
}

static void tear_down(struct fixture *f)
{
    for (int i = 0; i < TASKS; i++) {
        simulation_finish(&f->task[i]);
        recording_destroy(f->recording[i]);
    }
}

// Returns the best time of a run after so many trials, without the code that is tested.
static double best_after(const struct simulation *s, int repeat, int64_t trials)
{
    double best = INFINITY;
    for (int i = 0; i < s->run[repeat].count; i++)
        if (s->run[repeat].step[i].trial <= trials)
            best = s->run[repeat].step[i].seconds;
    return best;
}

static void test_turns(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 90, 5, 90);
    double fraction[18], deviation[18];
    assert_int_equal(simulated_network_marks(&f.network), 18);
    assert_true(simulated_network_play(&f.network, "roundrobin", fraction, deviation, NULL));
    for (int m = 0; m < 18; m++) {
        double mean = 0;
        for (int r = 0; r < 5; r++) {
            double sum = 0;
            for (int i = 0; i < TASKS; i++)
                sum += f.uses[i] * best_after(&f.task[i], r, 5 * ((m + TASKS - i) / TASKS));
            mean += simulated_network_optimum(&f.network) / sum / 5;
        }
        assert_true(fabs(mean - fraction[m]) < 1e-12);
    }
    assert_true(fraction[1] == 0 && fraction[2] > 0 && deviation[2] > 0);
    tear_down(&f);
}

// Every way to spend m rounds on three tasks.
static double brute_force(const struct fixture *f, int repeat, int rounds)
{
    double least = INFINITY;
    for (int a = 0; a <= rounds; a++)
        for (int b = 0; a + b <= rounds; b++) {
            const int spent[] = {a, b, rounds - a - b};
            double sum = 0;
            for (int i = 0; i < TASKS; i++)
                sum += f->uses[i] * best_after(&f->task[i], repeat, 4 * spent[i]);
            least = fmin(least, sum);
        }
    return least;
}

static void test_oracle(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 80, 4, 80);
    double oracle[20], other[20], deviation[20];
    assert_true(simulated_network_play(&f.network, SIMULATED_ORACLE, oracle, deviation, NULL));
    for (int m = 0; m < 20; m++) {
        double mean = 0;
        for (int r = 0; r < 5; r++)
            mean += simulated_network_optimum(&f.network) / brute_force(&f, r, m + 1) / 5;
        assert_true(fabs(mean - oracle[m]) < 1e-12);
    }
    static const char *const schedulers[] = {"gradient", "gradient:alpha=1", "roundrobin"};
    for (int i = 0; i < 3; i++) {
        assert_true(simulated_network_play(&f.network, schedulers[i], other, deviation, NULL));
        for (int m = 0; m < 20; m++)
            assert_true(other[m] <= oracle[m] + 1e-12);
        assert_true(other[19] > 0.5);
    }
    tear_down(&f);
}

// Kernels that begin with the same operator are similar tasks, whatever their shapes.
static void test_similar(void **state)
{
    (void)state;
    static const char *const kernel[][TASKS] = {{"mul 1x2", "mul 3x4", "mul 5x6"},
                                                {"mul", "add", "max"}};
    double curve[2][18], deviation[18];
    struct fixture f;
    set_up(&f, 90, 5, 90);
    bool differ = false;
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < TASKS; i++) {
            f.recording[i]->kernel = kernel[k][i];
            f.recording[i]->flop = 1e6;
        }
        assert_true(
            simulated_network_play(&f.network, "gradient:beta=1", curve[k], deviation, NULL));
    }
    for (int m = 0; m < 18; m++)
        differ |= curve[0][m] != curve[1][m];
    assert_true(differ);
    tear_down(&f);
}

// Tasks that have nothing more get no further trials, and in the end all is measured.
static void test_that_it_ends(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, 100000, 50, 10000);
    double *fraction = calloc(2000, sizeof *fraction), *deviation = calloc(2000, sizeof *deviation);
    static const char *const schedulers[] = {"gradient", "gradient:alpha=1", "roundrobin"};
    for (int i = 0; i < 3; i++) {
        assert_true(simulated_network_play(&f.network, schedulers[i], fraction, deviation, NULL));
        assert_true(fabs(fraction[1999] - 1) < 1e-12);
        assert_true(deviation[1999] < 1e-12);
    }
    struct err e;
    assert_false(simulated_network_play(&f.network, "nobody", fraction, deviation, &e));
    free(fraction);
    free(deviation);
    tear_down(&f);
}

TEST_GROUP(network)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_oracle),
        cmocka_unit_test(test_similar),
        cmocka_unit_test(test_that_it_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
