// Tests who may use the device, and who may compile meanwhile, without a process or a device.
#include "group.h"

#include "base/rng.h"
#include "trial/device_lock.h"

#include <stddef.h>

static int holders(const struct device_lock *t, enum lock_state state)
{
    int n = 0;
    for (int i = 0; i < t->workers; i++)
        n += t->state[i] == state;
    return n;
}

// Makes one random event: a worker compiles, fails, waits, gets the device, ends or dies.
static void random_event(struct device_lock *t, struct rng *r, int *waited)
{
    int worker = (int)rng_below(r, (uint64_t)t->workers);
    switch (t->state[worker]) {
    case LOCK_NONE:
        if (device_lock_may_compile(t))
            device_lock_compile(t, worker);
        break;
    case LOCK_COMPILING:
        if (rng_below(r, 3) == 0) {
            device_lock_release(t, worker);
        } else {
            device_lock_wait(t, worker);
            waited[worker] = 0;
        }
        break;
    case LOCK_WAITING:
        if (rng_below(r, 50) == 0)
            device_lock_release(t, worker);
        break;
    case LOCK_DEVICE: device_lock_release(t, worker); break;
    }
    int granted = device_lock_grant(t);
    if (granted >= 0)
        assert_int_equal(t->state[granted], LOCK_DEVICE);
}

static void timing_is_alone_and_nobody_starves(void **state)
{
    (void)state;
    struct rng r;
    rng_seed(&r, 7);
    for (int workers = 1; workers <= 6; workers++)
        for (int kind = 0; kind < 4; kind++) {
            struct device_lock t;
            int waited[6] = {0}, device = 0, cpu = kind % 2, cards = 1 + kind / 2;
            device_lock_init(&t, &(struct device_lock_options){workers, cpu, 2, cards});
            for (int k = 0; k < 20000; k++) {
                random_event(&t, &r, waited);
                int timing = holders(&t, LOCK_DEVICE), compiling = holders(&t, LOCK_COMPILING);
                assert_true(!cpu || (timing <= 1 && (timing == 0 || compiling == 0)));
                assert_true(!cpu || compiling <= 2);
                device += timing;
                for (int i = 0; i < workers; i++) {
                    waited[i] = t.state[i] == LOCK_WAITING ? waited[i] + 1 : 0;
                    assert_true(waited[i] < 1000 * workers);
                    for (int j = i + cards; j < workers; j += cards) // one at a time on each card
                        assert_true(t.state[i] != LOCK_DEVICE || t.state[j] != LOCK_DEVICE);
                }
            }
            assert_true(device > 100);
            device_lock_finish(&t);
        }
}

static void the_device_goes_to_who_came_first(void **state)
{
    (void)state;
    struct device_lock t;
    device_lock_init(&t, &(struct device_lock_options){3, true, 3, 1});
    for (int i = 0; i < 3; i++)
        device_lock_compile(&t, i);
    device_lock_wait(&t, 1);
    device_lock_wait(&t, 0);
    assert_int_equal(device_lock_grant(&t), -1); // worker 2 compiles
    device_lock_wait(&t, 2);
    assert_int_equal(device_lock_grant(&t), 1);
    assert_int_equal(device_lock_grant(&t), -1);
    device_lock_release(&t, 1);
    assert_true(device_lock_may_compile(&t) && !device_lock_on_card(&t, 0, LOCK_DEVICE));
    assert_int_equal(device_lock_grant(&t), 0);
    assert_false(device_lock_may_compile(&t));
    assert_true(device_lock_on_card(&t, 2, LOCK_DEVICE));
    device_lock_release(&t, 2); // dies while it waits
    device_lock_release(&t, 0);
    assert_int_equal(device_lock_grant(&t), -1);
    device_lock_finish(&t);
}

TEST_GROUP(device_lock)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timing_is_alone_and_nobody_starves),
        cmocka_unit_test(the_device_goes_to_who_came_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
