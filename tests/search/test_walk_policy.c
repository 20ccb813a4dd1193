// The training data of N-A2C: given moves, or every move to a measured state.
#include "group.h"
#include "spaces.h"

#include "search/na2c.h"

#include <stddef.h>

// Six states, all measured; to set value 2 pays most. Learned from every move to each state (the
// paper's memory), or from given moves alone.
static void give_all(void *self)
{
    struct batches *b = self;
    for (int32_t v = 0; v < 6; v++)
        batches_add(b, &(struct config){{v}}, NULL);
}

static void check_policy_learns(bool augment)
{
    struct space *s = space_create("six");
    add_categorical(s, "a", 6);
    struct search_problem problem = {.space = sealed(s)};
    struct batches b;
    batches_init(&b, &problem, give_all);
    struct config c;
    for (int i = 0; i < 6; i++)
        assert_int_equal(batches_ask(&b.base, &c), ASK_NEW);
    for (int32_t v = 0; v < 6; v++)
        batches_tell(&b.base, &(struct config){{v}}, OUTCOME_OK, v == 2 ? 8 : 2);

    struct rng r;
    struct walk_policy p;
    rng_seed(&r, 2);
    const struct walk_policy_options options = {.hidden = 32,
                                                .memory = 64,
                                                .minibatch = 16,
                                                .updates = 400,
                                                .rate = 0.003,
                                                .entropy = 0.01,
                                                .clip = 1,
                                                .augment = augment,
                                                .mask = true};
    assert_true(walk_policy_init(&p, s, &options, &r, NULL));
    for (int to = 0; to < 6; to++)
        if (augment)
            walk_policy_remember_arrivals(&p, &b, to);
        else
            walk_policy_remember(&p, &(struct move){{{to ? 0 : 1}}, to, to});
    assert_int_equal(p.remembered, augment ? 30 : 6);
    walk_policy_at(&p, &(struct config){{0}});
    double before = p.policy[2];
    walk_policy_learn(&p, &b, 8, &r);
    walk_policy_at(&p, &(struct config){{0}});
    assert_true(p.policy[0] == 0 && p.legal_count == 5);
    assert_true(p.policy[2] > 0.8 && before < 0.4);
    walk_policy_finish(&p);
    batches_finish(&b);
    space_destroy(s);
}

static void test_policy_learns_what_pays(void **state)
{
    (void)state;
    check_policy_learns(true);
    check_policy_learns(false);
}

// The paper's memory: what a measured state is worth is stored for the move of every neighbour
// there.
static void test_all_moves_to_a_state_are_remembered(void **state)
{
    (void)state;
    struct space *s = space_mixed();
    struct search_problem problem = {.space = s};
    struct batches b;
    batches_init(&b, &problem, NULL);
    struct config to, end;
    space_point(s, 700, &to);
    batches_add(&b, &to, NULL);
    struct rng r;
    struct walk_policy p;
    rng_seed(&r, 2);
    const struct walk_policy_options options = {.hidden = 1, .memory = 1024};
    assert_true(walk_policy_init(&p, s, &options, &r, NULL));
    walk_policy_remember_arrivals(&p, &b, 0);
    assert_int_equal(p.remembered, space_degree(s, &to));
    for (int i = 0; i < p.remembered; i++) {
        assert_true(actions_apply(&p.actions, p.memory[i].action, &p.memory[i].from, &end));
        assert_true(config_equal(&end, &to));
        assert_int_equal(p.memory[i].to, 0);
        for (int j = 0; j < i; j++)
            assert_false(config_equal(&p.memory[i].from, &p.memory[j].from));
    }
    walk_policy_finish(&p);
    batches_finish(&b);
    space_destroy(s);
}

TEST_GROUP(walk_policy)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_policy_learns_what_pays),
        cmocka_unit_test(test_all_moves_to_a_state_are_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
