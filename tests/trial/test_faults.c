// Every injected fault in every phase: one lost trial, at most one worker, and the next trial is
// fine.
#include "group.h"
#include "pool_fixture.h"

#include "base/mem.h"
#include "base/rng.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct expectation {
    const char *kind;
    enum outcome outcome;
    bool kills; // the worker is gone afterwards
    const char *reason;
};

static const struct expectation expectations[] = {
    {"sleep", OUTCOME_TIMEOUT, true, "no end of phase"},
    {"abort", OUTCOME_CRASH, true, "SIGABRT"},
    {"segv", OUTCOME_CRASH, true, "SIGSEGV"},
    {"exit", OUTCOME_CRASH, true, "exited with status 7"},
    {"garbage", OUTCOME_CRASH, true, "garbage from worker"},
    {"half", OUTCOME_CRASH, true, "garbage from worker"},
    {"memory", OUTCOME_CRASH, true, ""},
    {"lost", OUTCOME_LOST, true, "lost"},
    {"wrong", OUTCOME_WRONG, false, ""},
};

static void open_faulty(struct fixture *f, int workers, const char *fault)
{
    prepare_pool(f, workers);
    f->options.fault = fault;
    for (int p = PHASE_COMPILE; p < PHASE_COUNT; p++)
        f->options.deadline_s[p] = strstr(fault, "sleep") ? 4 : 0;
    f->options.deadline_s[PHASE_NONE] = f->options.deadline_s[PHASE_RUN];
    open_pool(f);
}

static void check_phases(const struct expectation *x)
{
    struct fixture f;
    struct str spec = {0};
    for (int p = PHASE_COMPILE; p < PHASE_COUNT; p++)
        str_printf(&spec, "%s%s@%s:%d", p > PHASE_COMPILE ? "," : "", x->kind,
                   trial_phase_name((enum trial_phase)p), 2 * (p - PHASE_COMPILE) + 1);
    open_faulty(&f, 1, str_text(&spec));
    for (int p = PHASE_COMPILE; p < PHASE_COUNT; p++) {
        struct trial_result r = measure_one(&f, GEMM_RIGHT);
        bool is_wrong = x->outcome == OUTCOME_WRONG;
        // After the comparison there is nothing left to corrupt.
        enum outcome expected = is_wrong && p == PHASE_TIME ? OUTCOME_OK : x->outcome;
        if (r.outcome[0] != expected || !strstr(r.reason[0], x->reason))
            print_error("%s@%s: %s in %s: %s\n%s", x->kind, trial_phase_name((enum trial_phase)p),
                        outcome_name(r.outcome[0]), trial_phase_name(r.phase[0]), r.reason[0],
                        f.log);
        assert_int_equal(r.outcome[0], expected);
        if (expected != OUTCOME_OK) {
            assert_int_equal(r.phase[0], is_wrong ? PHASE_VERIFY : p);
            assert_non_null(strstr(r.reason[0], x->reason));
        }
        submit(&f, 1, (const enum variant[]){GEMM_RIGHT}, 1e-9); // hopeless: not timed for long
        r = next_result(&f);
        if (r.outcome[0] != OUTCOME_OK)
            print_error("after %s@%s: %s\n", x->kind, trial_phase_name((enum trial_phase)p),
                        r.reason[0]);
        assert_int_equal(r.outcome[0], OUTCOME_OK);
    }
    assert_int_equal(pool_respawns(f.pool), x->kills ? PHASE_COUNT - PHASE_COMPILE : 0);
    close_pool(&f);
    str_finish(&spec);
}

static const struct expectation *find_expectation(const char *kind)
{
    for (size_t i = 0; i < sizeof expectations / sizeof *expectations; i++)
        if (str_equal(expectations[i].kind, kind))
            return &expectations[i];
    return NULL;
}

static void fault_in_every_phase(void **state)
{
    check_phases(find_expectation(*state));
}

// A worker that dies with a trial it has not begun: nobody's fault, another one does it.
static void a_trial_not_begun_is_sent_once_more(void **state)
{
    (void)state;
    static const char *const kinds[] = {"abort", "exit", "half", "garbage", "sleep"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct fixture f;
        char fault[80];
        snprintf(fault, sizeof fault, "%s@none:1", kinds[i]);
        open_faulty(&f, 2, fault);
        struct trial_result r = measure_one(&f, GEMM_RIGHT);
        assert_int_equal(r.outcome[0], OUTCOME_OK);
        close_pool(&f);
    }
}

static void and_only_once(void **state)
{
    (void)state;
    struct fixture f;
    open_faulty(&f, 1, "abort@none:*");
    struct trial_result r = measure_one(&f, GEMM_RIGHT);
    assert_int_equal(r.outcome[0], OUTCOME_CRASH);
    assert_int_equal(r.phase[0], PHASE_NONE);
    assert_non_null(strstr(r.reason[0], "SIGABRT"));
    close_pool(&f);
}

static void starts_may_fail_twice(void **state)
{
    (void)state;
    static const char *const faults[] = {"exit@start:1,abort@start:2", "segv@prepare:1",
                                         "garbage@start:1", "half@prepare:1,exit@start:2"};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct fixture f;
        open_faulty(&f, 1, faults[i]);
        assert_int_equal(measure_one(&f, GEMM_RIGHT).outcome[0], OUTCOME_OK);
        close_pool(&f);
    }
}

static void after_three_the_pool_gives_up(void **state)
{
    (void)state;
    static const char *const faults[] = {"exit@start:*", "abort@prepare:*"};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct fixture f;
        struct err e;
        open_faulty(&f, 2, faults[i]);
        submit(&f, 1, (const enum variant[]){GEMM_RIGHT}, 0);
        expect_no_worker(&f, &e);
        assert_non_null(strstr(e.text, "no worker can be started: the worker "));
        close_pool(&f);
    }
}

// Whoever prepared anew would take as long.
static void preparing_without_end_is_not_tried_again(void **state)
{
    (void)state;
    struct fixture f;
    struct err e;
    prepare_pool(&f, 1);
    f.options.fault = "sleep@prepare:1";
    f.options.deadline_s[PHASE_PREPARE] = 1;
    open_pool(&f);
    submit(&f, 1, (const enum variant[]){GEMM_RIGHT}, 0);
    expect_no_worker(&f, &e);
    assert_non_null(strstr(e.text, "phase prepare"));
    close_pool(&f);
}

// There is not enough for two, from the beginning or since one of them died: the other goes on.
static void one_that_cannot_start_is_given_up_while_another_is_up(void **state)
{
    (void)state;
    enum { STARTS = 20 }; // more than it is tried
    for (int since = 2; since <= 3; since++) {
        struct fixture f;
        struct str spec = {0};
        str_printf(&spec, "exit@compile:%d", since == 2 ? 1000 : 1);
        for (int i = since; i <= STARTS; i++)
            str_printf(&spec, ",exit@start:%d", i);
        open_faulty(&f, 2, str_text(&spec));
        const struct slot *slot = ((const struct pool *)f.pool)->slot;
        while (slot[0].start_ns != SLOT_NEVER && slot[1].start_ns != SLOT_NEVER)
            measure_one(&f, GEMM_RIGHT);
        for (int k = 0; k < 3; k++)
            assert_int_equal(measure_one(&f, GEMM_RIGHT).outcome[0], OUTCOME_OK);
        assert_in_range(slot[0].spawns + slot[1].spawns, 4, STARTS - 1);
        close_pool(&f);
        str_finish(&spec);
    }
}

static void a_sleeping_start_is_killed(void **state)
{
    (void)state;
    struct fixture f;
    prepare_pool(&f, 1);
    f.options.fault = "sleep@start:1";
    f.options.deadline_s[PHASE_START] = 4;
    open_pool(&f);
    assert_int_equal(measure_one(&f, GEMM_RIGHT).outcome[0], OUTCOME_OK);
    assert_int_equal(pool_respawns(f.pool), 1);
    close_pool(&f);
}

// Requests that only compile do not wait for ever either: one clear reason, and the next one
// compiles.
static void a_compiler_that_hangs_is_killed(void **state)
{
    (void)state;
    struct fixture f;
    prepare_pool(&f, 1);
    f.options.only_compiles = true;
    f.options.fault = "sleep@pipeline:1";
    f.options.deadline_s[PHASE_PIPELINE] = 4;
    open_pool(&f);
    for (int i = 0; i < 2; i++) {
        struct trial_request r = {.ticket = ++f.tickets, .count = 1, .only_compiles = true};
        r.job[0] = gemm_job(GEMM_RIGHT);
        source_submit(f.pool, &r);
        struct trial_result result = next_result(&f);
        assert_int_equal(result.outcome[0], i ? OUTCOME_OK : OUTCOME_TIMEOUT);
        assert_string_equal(result.reason[0], i ? "" : "no end of phase pipeline after 4 s");
    }
    assert_int_equal(pool_respawns(f.pool), 1);
    close_pool(&f);
}

// Once enough has compiled, the next one has as long as that suggests, and is told so.
static void compiling_has_a_limit_of_its_own(void **state)
{
    (void)state;
    struct fixture f;
    prepare_pool(&f, 1);
    f.options.fault = "sleep@pipeline:9";
    f.options.compile_least_s = 0.2;
    open_pool(&f);
    for (int i = 0; i < 9; i++) {
        submit(&f, 1, (const enum variant[]){GEMM_RIGHT}, 1e-9);
        struct trial_result r = next_result(&f);
        assert_int_equal(r.outcome[0], i < 8 ? OUTCOME_OK : OUTCOME_TIMEOUT);
        if (i < 8)
            continue;
        assert_int_equal(r.phase[0], PHASE_PIPELINE);
        assert_non_null(strstr(r.reason[0], "not compiled after "));
        assert_non_null(strstr(r.reason[0], "the limit follows what compiled before: median "));
    }
    close_pool(&f);
}

// A racer that kills its worker loses; the others race again without it.
static void a_race_goes_on_without_the_dead(void **state)
{
    (void)state;
    static const char *const faults[] = {"segv@pipeline:1", "lost@time:1", "abort@run:1"};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct fixture f;
        open_faulty(&f, 1, faults[i]);
        submit(&f, 3, (const enum variant[]){GEMM_RIGHT, GEMM_SPLIT, GEMM_OFF_BY_ONE}, 0);
        struct trial_result r = next_result(&f);
        assert_int_equal(r.count, 3);
        // The fault strikes every time the trial comes to that phase: each racer that gets there
        // dies of it.
        const enum outcome fatal = faults[i][0] == 'l' ? OUTCOME_LOST : OUTCOME_CRASH;
        assert_int_equal(r.outcome[0], fatal);
        assert_int_equal(r.outcome[1], fatal);
        assert_int_equal(r.outcome[2], faults[i][0] == 'l' ? OUTCOME_WRONG : fatal);
        assert_non_null(strstr(r.reason[1], fatal == OUTCOME_LOST ? "lost" : "SIG"));
        assert_non_null(strstr(r.reason[2], fatal == OUTCOME_LOST ? "C[3,5] = " : "SIG"));
        assert_int_equal(measure_one(&f, GEMM_RIGHT).outcome[0], OUTCOME_OK);
        close_pool(&f);
    }
}

static void the_log_says_what_workers_said(void **state)
{
    (void)state;
    struct fixture f;
    open_faulty(&f, 1, "memory@compile:1");
    struct trial_result r = measure_one(&f, GEMM_RIGHT);
    assert_int_equal(r.outcome[0], OUTCOME_CRASH);
    assert_non_null(strstr(f.log, "0: "));
    assert_true(strstr(f.log, "memory") || strstr(f.log, "mmap")); // ours, or a sanitizer's
    assert_non_null(strstr(r.reason[0], "("));
    close_pool(&f);
}

static void every_ticket_comes_back_once(void **state)
{
    (void)state;
    enum { TRIALS = 24, FAULTS = 9 };
    static const char *const kinds[] = {"abort", "segv", "exit", "garbage",
                                        "half",  "lost", "wrong"};
    struct rng r;
    rng_seed(&r, 11);
    struct str spec = {0};
    for (int i = 0; i < FAULTS; i++)
        str_printf(&spec, "%s%s@%s:%d", i ? "," : "", kinds[rng_below(&r, 7)],
                   trial_phase_name((enum trial_phase)(PHASE_COMPILE + (int)rng_below(&r, 6))),
                   1 + (int)rng_below(&r, TRIALS));
    struct fixture f;
    int seen[TRIALS + 1] = {0}, failed = 0;
    open_faulty(&f, 3, str_text(&spec));
    for (int back = 0; back < TRIALS; back++) {
        while (source_room(f.pool) > 0 && f.tickets < TRIALS)
            submit(&f, 1, (const enum variant[]){GEMM_RIGHT}, 1e-9); // as above
        struct trial_result result = next_result(&f);
        assert_in_range(result.ticket, 1, TRIALS);
        seen[result.ticket]++;
        failed += result.outcome[0] != OUTCOME_OK;
    }
    for (int i = 1; i <= TRIALS; i++)
        assert_int_equal(seen[i], 1);
    assert_in_range(failed, 1, FAULTS);
    struct trial_result none;
    assert_false(source_collect(f.pool, &none));
    assert_int_equal(source_room(f.pool), 3);
    close_pool(&f);
    str_finish(&spec);
}

static void a_device_that_is_another_is_refused(void **state)
{
    (void)state;
    struct fixture f;
    struct err e = {0};
    prepare_pool(&f, 1);
    f.device_id[0] = f.device_id[0] == '0' ? '1' : '0';
    open_pool(&f);
    while (drive(&f, &e))
        continue;
    assert_non_null(strstr(e.text, "not the one this session was opened on"));
    close_pool(&f);
}

static void bad_fault_texts_are_refused(void **state)
{
    (void)state;
    struct fixture f;
    struct err e = {0};
    prepare_pool(&f, 1);
    f.options.fault = "explode@run:1";
    assert_null(pool_create(&f.options, &e));
    assert_non_null(strstr(e.text, "explode"));
}

#define FAULT(kind) cmocka_unit_test_prestate(fault_in_every_phase, kind)

TEST_GROUP(faults)
{
    if (!find_device()) {
        puts("skipped: no Vulkan device");
        return 77;
    }
    static char sleeps[] = "sleep", aborts[] = "abort", segv[] = "segv", exits[] = "exit",
                garbage[] = "garbage", half[] = "half", memory[] = "memory", lost[] = "lost",
                wrong[] = "wrong";
    const struct CMUnitTest tests[] = {
        FAULT(sleeps),
        FAULT(aborts),
        FAULT(segv),
        FAULT(exits),
        FAULT(garbage),
        FAULT(half),
        FAULT(memory),
        FAULT(lost),
        FAULT(wrong),
        cmocka_unit_test(a_trial_not_begun_is_sent_once_more),
        cmocka_unit_test(and_only_once),
        cmocka_unit_test(starts_may_fail_twice),
        cmocka_unit_test(after_three_the_pool_gives_up),
        cmocka_unit_test(preparing_without_end_is_not_tried_again),
        cmocka_unit_test(one_that_cannot_start_is_given_up_while_another_is_up),
        cmocka_unit_test(a_sleeping_start_is_killed),
        cmocka_unit_test(a_compiler_that_hangs_is_killed),
        cmocka_unit_test(compiling_has_a_limit_of_its_own),
        cmocka_unit_test(a_race_goes_on_without_the_dead),
        cmocka_unit_test(the_log_says_what_workers_said),
        cmocka_unit_test(every_ticket_comes_back_once),
        cmocka_unit_test(a_device_that_is_another_is_refused),
        cmocka_unit_test(bad_fault_texts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
