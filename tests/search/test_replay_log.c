// Searches that go on after they were cut, anywhere.
#include "group.h"
#include "play.h"
#include "wording.h"

#include <string.h>

#include <stddef.h>

// As a database has it that was written at each tell: with what was open then, if `opens`.
static struct replay_log *log_of(const struct play *p, int64_t tells, bool opens)
{
    const char *at = p->strategy.log;
    struct replay_log *log = replay_log_create();
    struct replay_trial trial[PLAY_MOST] = {{.ask = 0}};
    int64_t asked = 0, told = 0;
    for (; told < tells; at = strchr(at, ' ') + 1) {
        int ask = atoi(at + 1);
        if (*at == 'a')
            trial[asked++] = (struct replay_trial){
                .ask = ask, .asked_after = told, .config = p->trial[ask - 1].config};
        else
            trial[ask - 1].told = ++told;
    }
    for (int i = 0; i < asked; i++) {
        trial[i].answered = trial[i].told > 0;
        trial[i].outcome = trial[i].answered ? p->outcome[i] : OUTCOME_OK;
        trial[i].seconds = trial[i].outcome == OUTCOME_OK ? play_seconds(i + 1) : 0;
        if (trial[i].answered || opens)
            assert_true(replay_log_add(log, &trial[i], NULL));
    }
    assert_true(replay_log_close(log));
    return log;
}

// Cut after any number of tells, it asks and is told the same up to there again, the rest as
// results come in now, and each once.
static void check_cut(const struct play *whole, int64_t tells, uint64_t order)
{
    static struct play again;
    char upto[sizeof whole->strategy.log];
    int64_t told = 0;
    const char *at = whole->strategy.log;
    for (; told < tells; at = strchr(at, ' ') + 1)
        told += *at == 't';
    memcpy(upto, whole->strategy.log, (size_t)(at - whole->strategy.log));
    upto[at - whole->strategy.log] = '\0';
    play_begin(&again, noter(whole->strategy.is_async, whole->strategy.count), whole->outcome,
               whole->budget);
    again.cycle.replay = log_of(whole, tells, whole->strategy.is_async);
    assert_true(cycle_is_replaying(&again.cycle) == (tells > 0));
    play_drawn(&again, order);
    if (strncmp(again.strategy.log, upto, strlen(upto)) != 0 && whole->strategy.is_async)
        fail_msg("%s\nis not begun by %s", again.strategy.log, upto);
    assert_int_equal(again.cycle.told, whole->cycle.told);
    assert_int_equal(again.cycle.trials, whole->cycle.trials);
    if (!whole->strategy.is_async)
        assert_int_equal(again.cycle.best.ask, whole->cycle.best.ask);
    cycle_finish(&again.cycle);
}

static void it_goes_on_where_it_was_cut(void **state)
{
    enum { COUNT = 8, BUDGET = 5 };
    static struct play whole;
    enum outcome outcome[COUNT];
    (void)state;
    for (int is_async = 0; is_async < 2; is_async++)
        for (long pattern = 0; pattern < 6561; pattern += 37)
            for (uint64_t order = 1; order < 15; order++) {
                draw_outcomes(pattern, COUNT, outcome);
                play_begin(&whole, noter(is_async, COUNT), outcome, BUDGET);
                play_drawn(&whole, order);
                for (int64_t tells = 0; tells <= whole.cycle.told; tells++)
                    check_cut(&whole, tells, order + 100);
            }
}

static void a_replay_log_may_be_damaged(void **state)
{
    struct replay_log *p = replay_log_create();
    struct err e = {0};
    (void)state;
    assert_true(
        replay_log_add(p, &(struct replay_trial){.ask = 1, .answered = true, .told = 2}, &e));
    assert_false(replay_log_close(p)); // nothing was told first
    replay_log_destroy(p);
    p = replay_log_create();
    assert_false(replay_log_add(p, &(struct replay_trial){.ask = 100000}, &e));
    wording_is("search", "replay log: a gap", e.text);
    replay_log_destroy(p);
    replay_log_destroy(NULL);
    assert_null(replay_log_find(NULL, 1));
}

static void another_proposal_is_refused(void **state)
{
    static struct play p;
    enum outcome outcome[2] = {0};
    struct err e = {0};
    enum ask asked;
    (void)state;
    play_begin(&p, noter(false, 2), outcome, 2);
    p.cycle.replay = replay_log_create();
    assert_true(
        replay_log_add(p.cycle.replay, &(struct replay_trial){.ask = 1, .config = {{9}}}, &e));
    assert_true(replay_log_close(p.cycle.replay));
    assert_false(cycle_ask(&p.cycle, &p.trial[0], &asked, &e));
    wording_is("search", "replay log: another configuration", e.text);
    assert_null(p.cycle.open);
    cycle_finish(&p.cycle);
}

TEST_GROUP(replay_log)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_goes_on_where_it_was_cut),
        cmocka_unit_test(a_replay_log_may_be_damaged),
        cmocka_unit_test(another_proposal_is_refused),
    };
    return cmocka_run_group_tests_name("replay_log", tests, NULL, NULL);
}
