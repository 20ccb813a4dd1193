// The actor-critic's gradients against finite differences, its masks, and which way its losses
// pull.
#include "group.h"

#include "model/actor_critic.h"

#include "base/mem.h"

#include <math.h>
#include <stddef.h>

enum { INPUTS = 5, HIDDEN = 16, ACTIONS = 6 };

static const double x[INPUTS] = {0.3, -0.5, 0.1, 1, 0};
static const bool legal[ACTIONS] = {true, false, true, true, false, true};

// One sample, and the inputs of its loss.
struct sample {
    const bool *legal;
    size_t action;
    double goal, weight, beta;
    bool published;
};

static double entropy_of(const double *policy)
{
    double entropy = 0;
    for (int k = 0; k < ACTIONS; k++)
        entropy -= policy[k] > 0 ? policy[k] * log(policy[k]) : 0;
    return entropy;
}

// Computes the formulas of the header a second time. `advantage` is held constant by the sound
// loss.
static double loss(struct actor_critic *n, const struct sample *s, double advantage)
{
    double policy[ACTIONS], value = actor_critic_forward(n, x, s->legal, policy);
    double error = s->goal - value;
    if (s->published)
        return log(policy[s->action]) * error + error * error;
    return -s->weight * log(policy[s->action]) * advantage + 0.5 * error * error -
           s->beta * entropy_of(policy);
}

static double add_gradient(struct actor_critic *n, const struct sample *s)
{
    double policy[ACTIONS], by_logit[ACTIONS];
    double value = actor_critic_forward(n, x, s->legal, policy);
    const struct actor_critic_sample step = {s->action, value, s->goal, s->weight};
    double by_value = s->published
                          ? actor_critic_published_loss(ACTIONS, policy, &step, by_logit)
                          : actor_critic_sound_loss(ACTIONS, policy, &step, s->beta, by_logit);
    actor_critic_backward(n, x, by_value, by_logit);
    return s->goal - value;
}

static void check_gradient(const struct sample *s, uint64_t seed)
{
    struct rng r;
    struct actor_critic n;
    rng_seed(&r, seed);
    actor_critic_init(&n, INPUTS, HIDDEN, ACTIONS, &r);
    double advantage = add_gradient(&n, s);
    int not_0 = 0;
    for (size_t i = 0; i < n.count; i++) {
        const double h = 1e-5, w = n.weight[i];
        n.weight[i] = w + h;
        double above = loss(&n, s, advantage);
        n.weight[i] = w - h;
        double below = loss(&n, s, advantage);
        n.weight[i] = w;
        double expected = (above - below) / (2 * h), got = n.gradient[i];
        assert_true(fabs(expected - got) <= 1e-4 * fmax(fabs(expected), 1e-4));
        not_0 += fabs(got) > 1e-6;
    }
    assert_true(not_0 > 30); // units that are off have none
    actor_critic_finish(&n);
}

static void test_gradient_of_sound_loss(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        check_gradient(&(struct sample){NULL, 4, 0.9, 1, 0}, seed);
        check_gradient(&(struct sample){legal, 3, 0.9, 1, 0.01}, seed);
        check_gradient(&(struct sample){legal, 0, -2, 0.3, 0.5}, seed);
    }
}

static void test_gradient_of_published_loss(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++)
        check_gradient(&(struct sample){NULL, 2, 1.7, .published = true}, seed);
}

static void test_shape_and_first_weights(void **state)
{
    (void)state;
    struct rng r;
    struct actor_critic n;
    rng_seed(&r, 1);
    actor_critic_init(&n, 11, 128, 30, &r); // NNI's on 4/3/4
    assert_int_equal(n.count, 11 * 128 + 128 + 128 + 1 + 128 * 30 + 30);
    double largest[2] = {0};
    for (size_t i = 0; i < n.count; i++) {
        double *most = &largest[i >= 12 * 128];
        *most = fmax(*most, fabs(n.weight[i]));
    }
    assert_true(largest[0] <= 1 / sqrt(11) && largest[0] > 0.99 / sqrt(11));
    assert_true(largest[1] <= 1 / sqrt(128) && largest[1] > 0.99 / sqrt(128));
    actor_critic_finish(&n);
}

static void test_masked_policy(void **state)
{
    (void)state;
    static const bool none[ACTIONS] = {false};
    struct rng r;
    struct actor_critic n;
    double policy[ACTIONS], sum = 0;
    rng_seed(&r, 3);
    actor_critic_init(&n, INPUTS, HIDDEN, ACTIONS, &r);
    for (size_t i = 0; i < n.count; i++)
        n.weight[i] *= 5000; // logits far beyond what exp bears
    actor_critic_forward(&n, x, legal, policy);
    for (int k = 0; k < ACTIONS; k++) {
        assert_true(legal[k] ? policy[k] >= 0 && policy[k] <= 1 : policy[k] == 0);
        sum += policy[k];
    }
    assert_true(fabs(sum - 1) < 1e-12);
    actor_critic_forward(&n, x, none, policy);
    for (int k = 0; k < ACTIONS; k++)
        assert_true(policy[k] == 0);
    actor_critic_finish(&n);
}

// Action 2 always pays 1, every other 0.2; actions are drawn from the policy.
static double chance_after_training(bool published, uint64_t seed)
{
    struct rng r;
    struct actor_critic n;
    double policy[ACTIONS];
    rng_seed(&r, seed);
    actor_critic_init(&n, INPUTS, HIDDEN, ACTIONS, &r);
    for (int step = 0; step < 2000; step++) {
        for (int i = 0; i < 4; i++) {
            actor_critic_forward(&n, x, legal, policy);
            size_t action = rng_weighted(&r, ACTIONS, policy);
            struct sample s = {legal, action, action == 2 ? 1 : 0.2, 1, 0.01, published};
            add_gradient(&n, &s);
        }
        actor_critic_step(&n, 0.003, 4, 1);
    }
    actor_critic_forward(&n, x, legal, policy);
    double chance = policy[2];
    actor_critic_finish(&n);
    return chance;
}

static void test_action_that_pays_becomes_likely(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++)
        assert_true(chance_after_training(false, seed) > 0.9);
}

static void test_nni_defect_1_action_that_pays_becomes_unlikely(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++)
        assert_true(chance_after_training(true, seed) < 0.1);
}

// NNI's defect 2: the actor's loss pulls at the critic; ours only by its own error.
static void test_nni_defect_2_advantage_is_not_constant(void **state)
{
    (void)state;
    double policy[ACTIONS] = {0.5, 0.1, 0.1, 0.1, 0.1, 0.1}, by_logit[ACTIONS];
    const struct actor_critic_sample s = {.action = 1, .value = 0.7, .goal = 0.7, .weight = 1};
    assert_true(actor_critic_sound_loss(ACTIONS, policy, &s, 0.01, by_logit) == 0);
    double pull = actor_critic_published_loss(ACTIONS, policy, &s, by_logit);
    assert_true(fabs(pull + log(0.1)) < 1e-12);
}

static void test_step_takes_the_mean_and_clips(void **state)
{
    (void)state;
    double moved[3];
    const struct {
        int samples;
        double clip;
    } cases[] = {{1, INFINITY}, {8, INFINITY}, {1, 1e-9}};
    for (int c = 0; c < 3; c++) {
        struct rng r;
        struct actor_critic n;
        rng_seed(&r, 9);
        actor_critic_init(&n, INPUTS, HIDDEN, ACTIONS, &r);
        struct sample s = {NULL, 1, 3, 1, 0.01};
        for (int i = 0; i < cases[c].samples; i++)
            add_gradient(&n, &s);
        size_t bias = n.count - ACTIONS + 1; // of the chosen action's logit
        double before = n.weight[bias];
        actor_critic_step(&n, 0.001, cases[c].samples, cases[c].clip);
        moved[c] = n.weight[bias] - before;
        for (size_t i = 0; i < n.count; i++)
            assert_true(n.gradient[i] == 0);
        actor_critic_finish(&n);
    }
    assert_true(fabs(moved[0] - 0.001) < 1e-8); // Adam's first step has the length of the rate,
    assert_true(fabs(moved[1] - moved[0]) < 1e-12);
    assert_true(moved[2] > 0 && moved[2] < 1e-4); // but for gradients of epsilon's size
}

TEST_GROUP(actor_critic)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient_of_sound_loss),
        cmocka_unit_test(test_gradient_of_published_loss),
        cmocka_unit_test(test_shape_and_first_weights),
        cmocka_unit_test(test_masked_policy),
        cmocka_unit_test(test_action_that_pays_becomes_likely),
        cmocka_unit_test(test_nni_defect_1_action_that_pays_becomes_unlikely),
        cmocka_unit_test(test_nni_defect_2_advantage_is_not_constant),
        cmocka_unit_test(test_step_takes_the_mean_and_clips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
