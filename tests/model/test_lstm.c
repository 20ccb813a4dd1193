// The LSTM policy: gradients, masks, and learning by REINFORCE.
#include "group.h"

#include "model/reinforce.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

enum { STEPS = 5, HIDDEN = 4, EMBEDDING = 3, ALL = 3 + 2 + 4 + 1 + 3 };

static const int values[STEPS] = {3, 2, 4, 1, 3};
static const int choice[STEPS] = {2, 0, 1, 0, 2};
// The third decision has two values, the last a single one.
static const bool allowed[ALL] = {1, 1, 1, 1, 1, 0, 1, 1, 0, 1, 0, 0, 1};

static struct sequence sequence(double range, uint64_t seed)
{
    struct sequence s;
    struct rng rng;
    rng_seed(&rng, seed);
    sequence_init(&s, STEPS, values, EMBEDDING, HIDDEN);
    sequence_randomise(&s, range, &rng);
    return s;
}

// Returns the loss with weight i moved by `delta`.
static double loss_at(struct sequence *s, size_t i, double delta, double praise, double entropy)
{
    double kept = s->weight[i];
    s->weight[i] += delta;
    double loss = sequence_gradient(s, choice, allowed, praise, entropy);
    s->weight[i] = kept;
    return loss;
}

// Compares the gradient of every weight with central differences.
static void check_gradient(double praise, double entropy)
{
    struct sequence s = sequence(0.9, 7);
    size_t size = s.weights * sizeof(double);
    double *gradient = mem_alloc(size);
    memset(s.gradient, 0, size);
    sequence_gradient(&s, choice, allowed, praise, entropy);
    memcpy(gradient, s.gradient, size);

    const double delta = 1e-5;
    size_t moved = 0;
    for (size_t i = 0; i < s.weights; i++) {
        double more = loss_at(&s, i, delta, praise, entropy);
        double less = loss_at(&s, i, -delta, praise, entropy);
        double expected = (more - less) / (2 * delta);
        assert_true(fabs(gradient[i] - expected) <= 1e-4 * fabs(expected) + 1e-9);
        moved += fabs(expected) > 1e-6;
    }
    // Choices that were not made, or were not allowed, get no gradient.
    assert_true(moved > lstm_weights(&s.lstm) * 9 / 10);
    free(gradient);
    sequence_finish(&s);
}

static void test_gradient_by_finite_differences(void **state)
{
    (void)state;
    check_gradient(1, 0);
    check_gradient(0, 1);
    check_gradient(-0.7, 0.3);
}

static void test_gradients_add_up(void **state)
{
    (void)state;
    struct sequence s = sequence(0.5, 3);
    sequence_gradient(&s, choice, allowed, 0.4, 0.1);
    double once = s.gradient[s.at_lstm];
    sequence_gradient(&s, choice, allowed, 0.4, 0.1);
    assert_true(once != 0 && fabs(s.gradient[s.at_lstm] - 2 * once) < 1e-15);
    sequence_finish(&s);
}

static void test_probabilities_sum_to_1_under_masks(void **state)
{
    (void)state;
    struct sequence s = sequence(30, 5); // saturated: some probabilities vanish
    const double *state_of = NULL;
    double p[4];
    const bool *may = allowed;
    for (int t = 0; t < STEPS; t++) {
        state_of = sequence_step(&s, t, t ? choice[t - 1] : 0, state_of, may, p);
        double sum = 0;
        for (int i = 0; i < values[t]; i++) {
            assert_true(may[i] ? p[i] >= 0 : p[i] == 0);
            sum += p[i];
        }
        assert_true(fabs(sum - 1) < 1e-12);
        may += values[t];
    }
    assert_true(p[2] == 1); // the only one
    sequence_finish(&s);
}

static void test_steps_are_the_sequence(void **state)
{
    (void)state;
    struct sequence s = sequence(0.5, 9);
    const double *state_of = NULL;
    double p[4], log_probability = 0;
    const bool *may = allowed;
    for (int t = 0; t < STEPS; t++) {
        state_of = sequence_step(&s, t, t ? choice[t - 1] : 0, state_of, may, p);
        log_probability += log(p[choice[t]]);
        may += values[t];
    }
    double loss = sequence_gradient(&s, choice, allowed, 1, 0);
    assert_true(fabs(loss + log_probability) < 1e-12);
    sequence_finish(&s);
}

static void test_first_weights(void **state)
{
    (void)state;
    struct sequence s = sequence(0.08, 1);
    size_t forget = s.at_lstm + lstm_weights(&s.lstm) - 3 * (size_t)HIDDEN;
    double low = 1, high = -1;
    for (size_t i = 0; i < s.weights; i++) {
        double w = s.weight[i] - (i >= forget && i < forget + HIDDEN);
        low = w < low ? w : low;
        high = w > high ? w : high;
    }
    assert_true(low >= -0.08 && low < -0.07 && high < 0.08 && high > 0.07);
    // With a constant state and gates at 0, only the forget gate keeps more than half.
    memset(s.weight + s.at_lstm, 0, lstm_weights(&s.lstm) * sizeof *s.weight);
    for (size_t k = 0; k < HIDDEN; k++)
        s.weight[forget + k] = 1;
    double row[7 * HIDDEN], before[2 * HIDDEN] = {[HIDDEN] = 1}, x[EMBEDDING] = {0};
    lstm_forward(&s.lstm, s.weight + s.at_lstm, x, before, row);
    assert_true(fabs(row[HIDDEN] - 1 / (1 + exp(-1))) < 1e-12);
    assert_true(fabs(row[0] - 0.5 * tanh(row[HIDDEN])) < 1e-12);
    sequence_finish(&s);
}

static const struct reinforce_settings defaults = {
    .hidden = 64,
    .embedding = 32,
    .rate = 3.5e-3,
    .range = 0.08,
    .decay = 0.9,
    .entropy = 0.01,
    .clip = 5,
};

enum { ARMS = 8, PULLS = 6, BATCH = 8 };

static const int arms[PULLS] = {ARMS, ARMS, ARMS, ARMS, ARMS, ARMS};

// Draws one sequence and returns its probability; without `rng`, that of `out`.
static double draw(struct sequence *s, struct rng *rng, const bool *may, int *out)
{
    const double *state_of = NULL;
    double p[ARMS], probability = 1;
    for (int t = 0; t < s->steps; t++) {
        state_of = sequence_step(s, t, t ? out[t - 1] : 0, state_of, may + t * ARMS, p);
        if (rng)
            out[t] = (int)rng_weighted(rng, ARMS, p);
        probability *= p[out[t]];
    }
    return probability;
}

static double share_of_good(const int *pulled)
{
    double good = 0;
    for (int t = 0; t < PULLS; t++)
        good += pulled[t] == (3 * t + 1) % ARMS;
    return good / PULLS;
}

static double constant(const int *pulled)
{
    (void)pulled;
    return 0.5;
}

static void train(struct reinforce *r, int updates, double (*reward)(const int *), uint64_t seed)
{
    struct rng rng;
    rng_seed(&rng, seed);
    bool may[PULLS * ARMS];
    memset(may, 1, sizeof may);
    for (int u = 0; u < updates; u++) {
        int pulled[BATCH][PULLS];
        struct reinforce_sample sample[BATCH];
        for (int k = 0; k < BATCH; k++) {
            draw(&r->policy, &rng, may, pulled[k]);
            sample[k] = (struct reinforce_sample){pulled[k], may, reward(pulled[k]), 1};
        }
        reinforce_update(r, BATCH, sample);
    }
}

// Each decision has one good value.
static void test_bandit_is_learned(void **state)
{
    (void)state;
    bool may[PULLS * ARMS];
    memset(may, 1, sizeof may);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct reinforce r;
        reinforce_init(&r, PULLS, arms, &defaults, seed);
        int good[PULLS];
        for (int t = 0; t < PULLS; t++)
            good[t] = (3 * t + 1) % ARMS;
        assert_true(draw(&r.policy, NULL, may, good) < 0.001);
        train(&r, 200, share_of_good, seed);
        assert_true(draw(&r.policy, NULL, may, good) > 0.9);
        reinforce_finish(&r);
    }
}

// The baseline takes equal rewards away, from the first batch on.
static void test_equal_rewards_teach_nothing(void **state)
{
    (void)state;
    struct reinforce_settings s = defaults;
    s.entropy = 0;
    struct reinforce r, fresh;
    reinforce_init(&r, PULLS, arms, &s, 4);
    reinforce_init(&fresh, PULLS, arms, &s, 4);
    train(&r, 5, constant, 4);
    assert_memory_equal(r.policy.weight, fresh.policy.weight, r.policy.weights * sizeof(double));
    assert_true(r.baseline == 0.5);
    train(&r, 1, share_of_good, 4);
    assert_memory_not_equal(r.policy.weight, fresh.policy.weight,
                            r.policy.weights * sizeof(double));
    assert_true(r.baseline < 0.5 && r.baseline > 0.45); // 0.9 of the old one
    reinforce_finish(&r);
    reinforce_finish(&fresh);
}

static double entropy_of_first(struct sequence *s)
{
    bool may[ARMS];
    memset(may, 1, sizeof may);
    double p[ARMS], sum = 0;
    sequence_step(s, 0, 0, NULL, may, p);
    for (int i = 0; i < ARMS; i++)
        sum -= p[i] * log(p[i]);
    return sum;
}

static void test_entropy_bonus_spreads(void **state)
{
    (void)state;
    struct reinforce_settings s = defaults;
    s.range = 2;
    struct reinforce r;
    reinforce_init(&r, PULLS, arms, &s, 8);
    double before = entropy_of_first(&r.policy);
    train(&r, 100, constant, 8);
    double after = entropy_of_first(&r.policy);
    assert_true(before < 0.9 * log(ARMS) && after > 0.99 * log(ARMS));
    reinforce_finish(&r);
}

// A sample that counts twice has the effect of two equal samples.
static void test_times(void **state)
{
    (void)state;
    struct reinforce a, b;
    reinforce_init(&a, STEPS, values, &defaults, 6);
    reinforce_init(&b, STEPS, values, &defaults, 6);
    const int other[STEPS] = {0, 0, 3, 0, 2};
    const struct reinforce_sample twice[] = {{choice, allowed, 1, 2}, {other, allowed, 0.25, 1}};
    const struct reinforce_sample apart[] = {
        {choice, allowed, 1, 1}, {choice, allowed, 1, 1}, {other, allowed, 0.25, 1}};
    reinforce_update(&a, 2, twice);
    reinforce_update(&b, 3, apart);
    assert_true(a.baseline == 0.75 && b.baseline == 0.75);
    for (size_t i = 0; i < a.policy.weights; i++)
        assert_true(fabs(a.policy.weight[i] - b.policy.weight[i]) < 1e-9);
    reinforce_finish(&a);
    reinforce_finish(&b);
}

static void test_nothing_to_decide(void **state)
{
    (void)state;
    struct reinforce r;
    reinforce_init(&r, 0, NULL, &defaults, 1);
    const struct reinforce_sample sample = {NULL, NULL, 1, 1};
    reinforce_update(&r, 1, &sample);
    reinforce_update(&r, 0, NULL);
    reinforce_finish(&r);
}

static void test_adam(void **state)
{
    (void)state;
    struct adam a;
    adam_init(&a, 2);
    double w[2] = {3, -4}, g[2] = {1e-3, -5e4};
    adam_step(&a, 0.1, w, g); // the first step is the rate, whatever the gradient
    assert_true(fabs(w[0] - 2.9) < 1e-5 && fabs(w[1] + 3.9) < 1e-5);
    adam_finish(&a);

    adam_init(&a, 2);
    for (int i = 0; i < 2000; i++) {
        g[0] = 2 * (w[0] - 1);
        g[1] = 20 * (w[1] - 2);
        adam_step(&a, 0.01, w, g);
    }
    assert_true(fabs(w[0] - 1) < 1e-3 && fabs(w[1] - 2) < 1e-3);
    adam_finish(&a);

    double v[2] = {3, 4};
    assert_true(adam_clip(2, v, 5) == 5 && v[0] == 3 && v[1] == 4);
    assert_true(adam_clip(2, v, 1) == 5 && fabs(v[0] - 0.6) < 1e-15 && fabs(v[1] - 0.8) < 1e-15);
}

TEST_GROUP(lstm)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient_by_finite_differences),
        cmocka_unit_test(test_gradients_add_up),
        cmocka_unit_test(test_probabilities_sum_to_1_under_masks),
        cmocka_unit_test(test_steps_are_the_sequence),
        cmocka_unit_test(test_first_weights),
        cmocka_unit_test(test_bandit_is_learned),
        cmocka_unit_test(test_equal_rewards_teach_nothing),
        cmocka_unit_test(test_entropy_bonus_spreads),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_nothing_to_decide),
        cmocka_unit_test(test_adam),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
