// Who may use the device, and who may compile meanwhile: without a process or a device.
#include "group.h"

#include "base/rng.h"
#include "trial/token.h"

#include <stddef.h>

static int holders(const struct token *t, enum hold hold)
{
    int n = 0;
    for (int i = 0; i < t->workers; i++)
        n += t->hold[i] == hold;
    return n;
}

// One event of a random life: a worker compiles, fails, waits, is granted, ends or dies.
static void random_event(struct token *t, struct rng *r, int *waited)
{
    int worker = (int)rng_below(r, (uint64_t)t->workers);
    switch (t->hold[worker]) {
    case HOLD_NOTHING:
        if (token_may_compile(t))
            token_compile(t, worker);
        break;
    case HOLD_COMPILE:
        if (rng_below(r, 3) == 0) {
            token_release(t, worker);
        } else {
            token_wait(t, worker);
            waited[worker] = 0;
        }
        break;
    case HOLD_WAITING:
        if (rng_below(r, 50) == 0)
            token_release(t, worker);
        break;
    case HOLD_DEVICE: token_release(t, worker); break;
    }
    int granted = token_grant(t);
    if (granted >= 0)
        assert_int_equal(t->hold[granted], HOLD_DEVICE);
}

static void timing_is_alone_and_nobody_starves(void **state)
{
    (void)state;
    struct rng r;
    rng_seed(&r, 7);
    for (int workers = 1; workers <= 6; workers++)
        for (int kind = 0; kind < 4; kind++) {
            struct token t;
            int waited[6] = {0}, device = 0, cpu = kind % 2, cards = 1 + kind / 2;
            token_init(&t, &(struct token_wish){workers, cpu, 2, cards});
            for (int k = 0; k < 20000; k++) {
                random_event(&t, &r, waited);
                int timing = holders(&t, HOLD_DEVICE), compiling = holders(&t, HOLD_COMPILE);
                assert_true(!cpu || (timing <= 1 && (timing == 0 || compiling == 0)));
                assert_true(!cpu || compiling <= 2);
                device += timing;
                for (int i = 0; i < workers; i++) {
                    waited[i] = t.hold[i] == HOLD_WAITING ? waited[i] + 1 : 0;
                    assert_true(waited[i] < 1000 * workers);
                    for (int j = i + cards; j < workers; j += cards) // one at a time on each card
                        assert_true(t.hold[i] != HOLD_DEVICE || t.hold[j] != HOLD_DEVICE);
                }
            }
            assert_true(device > 100);
            token_finish(&t);
        }
}

static void the_device_goes_to_who_came_first(void **state)
{
    (void)state;
    struct token t;
    token_init(&t, &(struct token_wish){3, true, 3, 1});
    for (int i = 0; i < 3; i++)
        token_compile(&t, i);
    token_wait(&t, 1);
    token_wait(&t, 0);
    assert_int_equal(token_grant(&t), -1); // worker 2 compiles
    token_wait(&t, 2);
    assert_int_equal(token_grant(&t), 1);
    assert_int_equal(token_grant(&t), -1);
    token_release(&t, 1);
    assert_true(token_may_compile(&t) && token_may_start(&t, 0));
    assert_int_equal(token_grant(&t), 0);
    assert_false(token_may_compile(&t));
    assert_false(token_may_start(&t, 2));
    token_release(&t, 2); // dies while it waits
    token_release(&t, 0);
    assert_int_equal(token_grant(&t), -1);
    token_finish(&t);
}

TEST_GROUP(token)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timing_is_alone_and_nobody_starves),
        cmocka_unit_test(the_device_goes_to_who_came_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
