// The life of a pool: its workers begin and end, compile and time, and it with them.
#include "group.h"
#include "pool_fixture.h"

#include "base/os.h"
#include "trial/frame.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

// The phases of workers and their times, by their own clocks (which are one: the machine's).
struct span {
    bool timing; // else compiling
    bool warming;
    int64_t from_ns, to_ns;
};

struct record {
    const struct pool *pool;
    int count;
    struct span span[1000];
    enum trial_phase phase[8];
    int64_t since_ns[8];
};

static void end_span(struct record *r, int worker, bool timing, int64_t at_ns)
{
    assert_true(r->count < 1000);
    r->span[r->count++] = (struct span){.timing = timing,
                                        .warming = worker >= r->pool->first_warmer,
                                        .from_ns = r->since_ns[worker],
                                        .to_ns = at_ns};
}

static void note_phase(void *context, int worker, enum trial_phase phase, int64_t at_ns)
{
    struct record *r = context;
    enum trial_phase before = r->phase[worker];
    for (int i = 0; i < 8; i++) // no worker starts while another one is timed
        assert_false(phase == PHASE_START && r->phase[i] >= PHASE_RUN);
    for (int i = 0; i < r->pool->options.workers; i++)
        assert_false(phase >= PHASE_RUN && r->pool->slot[i].state == SLOT_STARTING);
    bool was_timing = before >= PHASE_RUN, is_timing = phase >= PHASE_RUN;
    bool was_compiling = before == PHASE_COMPILE || before == PHASE_PIPELINE;
    bool is_compiling = phase == PHASE_COMPILE || phase == PHASE_PIPELINE;
    if (was_timing && !is_timing)
        end_span(r, worker, true, at_ns);
    if (was_compiling && !is_compiling)
        end_span(r, worker, false, at_ns);
    if ((!was_timing && is_timing) || (!was_compiling && is_compiling))
        r->since_ns[worker] = at_ns;
    r->phase[worker] = phase;
}

static bool overlap(const struct span *a, const struct span *b)
{
    return a->from_ns < b->to_ns && b->from_ns < a->to_ns;
}

// A warmer, where there is one, holds the device as workers do, and does so in between.
static void check_timing(bool is_cpu, bool keeps_busy)
{
    enum { TRIALS = 24 };
    struct fixture f;
    struct record record = {0};
    int back = 0, timed = 0, together = 0, warmed = 0;
    prepare_pool(&f, 3);
    f.options.is_cpu = is_cpu;
    f.options.keeps_busy = keeps_busy;
    f.options.fault = "exit@compile:4,exit@compile:8,exit@compile:12,exit@compile:16";
    open_pool(&f);
    struct pool *pool = (struct pool *)f.pool;
    record.pool = pool;
    pool->watcher = note_phase;
    pool->watcher_context = &record;
    while (back < TRIALS) {
        while (source_room(f.pool) > 0 && f.tickets < TRIALS)
            submit(&f, 1,
                   (const enum variant[]){f.tickets % 4 == 3 ? GEMM_SYNTAX_ERROR : GEMM_RIGHT}, 0);
        next_result(&f);
        back++;
    }
    for (int i = 0; i < record.count; i++) {
        timed += record.span[i].timing && !record.span[i].warming;
        warmed += record.span[i].warming;
        for (int k = 0; k < i; k++) {
            const struct span *a = &record.span[i], *b = &record.span[k];
            bool forbidden = f.options.is_cpu ? a->timing || b->timing : a->timing && b->timing;
            assert_false(forbidden && overlap(a, b));
            together += overlap(a, b);
        }
    }
    assert_int_equal(timed, TRIALS * 3 / 4);
    assert_int_equal(warmed > 0, keeps_busy);
    if (f.options.is_cpu && os_cores() > 1)
        assert_true(together > 0); // compiling does go on in parallel
    assert_int_equal(pool_respawns(f.pool), 4);
    close_pool(&f);
}

// As on a device of either sort, whichever this machine has.
static void timing_is_never_disturbed(void **state)
{
    (void)state;
    check_timing(true, false);
    check_timing(false, false);
    check_timing(false, true);
}

static const struct slot *await_warming(struct fixture *f)
{
    const struct pool *p = (const struct pool *)f->pool;
    const struct slot *warmer = &p->slot[p->first_warmer];
    submit(f, 1, (const enum variant[]){GEMM_RIGHT}, 0);
    for (int back = 0; warmer->state != SLOT_WARMING; back += source_room(f->pool) > 0) {
        struct trial_result r;
        assert_true(back < 200 && drive(f, NULL));
        if (source_collect(f->pool, &r))
            submit(f, 1, (const enum variant[]){GEMM_RIGHT}, 0);
    }
    return warmer;
}

// A warmer is told to begin and to rest before it looks.
static void what_comes_together_is_seen(void **state)
{
    (void)state;
    int end[2];
    struct link pool;
    struct wire w = {0};
    struct message m;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, end), 0);
    link_init(&pool, end[0], FRAME_MAX_BYTES);
    link_init(&w.link, end[1], FRAME_MAX_BYTES);
    assert_false(wire_has(&w));
    assert_true(link_queue(&pool, "{\"type\":\"go\"}") && link_queue(&pool, "{\"type\":\"rest\"}"));
    assert_true(link_flush(&pool));
    wire_receive(&w, &m);
    assert_int_equal(m.type, MESSAGE_GO);
    assert_true(wire_has(&w));
    wire_receive(&w, &m);
    assert_int_equal(m.type, MESSAGE_REST);
    assert_false(wire_has(&w));
    close(end[0]);
    assert_true(wire_has(&w)); // its end
    close(end[1]);
    link_finish(&pool);
    link_finish(&w.link);
}

// It cannot start, dies, or does not give the device back.
static void a_warmer_that_fails_costs_no_trial(void **state)
{
    (void)state;
    static const int signals[] = {0, SIGKILL, SIGSTOP};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct fixture f;
        prepare_pool(&f, 1);
        f.options.is_cpu = false;
        f.options.keeps_busy = true;
        f.options.deadline_s[PHASE_WAIT] = 1;
        f.options.fault = signals[i] ? NULL : "exit@start:2,exit@start:3,exit@start:4";
        open_pool(&f);
        if (signals[i])
            kill(await_warming(&f)->child.pid, signals[i]);
        int64_t more = f.tickets + 5;
        for (struct trial_result r = {0}; r.ticket < more; r = next_result(&f)) {
            assert_int_equal(r.outcome[0], OUTCOME_OK);
            if (source_room(f.pool) > 0)
                submit(&f, 1, (const enum variant[]){GEMM_RIGHT}, 0);
        }
        close_pool(&f);
    }
}

// One worker starts again while two others always have something to be timed: it gets its moment.
static void a_start_is_not_starved_by_timing(void **state)
{
    (void)state;
    struct fixture f;
    prepare_pool(&f, 3);
    f.options.is_cpu = false;
    open_pool(&f);
    const struct pool *p = (const struct pool *)f.pool;
    measure_one(&f, GEMM_RIGHT);
    while (p->slot[0].state != SLOT_IDLE || p->slot[1].state != SLOT_IDLE ||
           p->slot[2].state != SLOT_IDLE)
        assert_true(drive(&f, NULL));
    slot_kill(&p->slot[0], os_now_ns());
    for (int back = 0; pool_respawns(f.pool) == 0 && back < 200; back++) {
        while (source_room(f.pool) > 0)
            submit(&f, 1, (const enum variant[]){GEMM_RIGHT}, 1e-9); // hopeless: soon over
        next_result(&f);
    }
    assert_int_equal(pool_respawns(f.pool), 1);
    close_pool(&f);
}

static void a_pool_can_be_dropped_at_any_moment(void **state)
{
    (void)state;
    for (int turns = 0; turns < 40; turns += 3) {
        struct fixture f;
        prepare_pool(&f, 2);
        open_pool(&f);
        submit(&f, 1, (const enum variant[]){GEMM_RIGHT}, 0);
        struct trial_result r;
        for (int i = 0; i < turns && !source_collect(f.pool, &r); i++)
            assert_true(drive(&f, NULL));
        close_pool(&f);
    }
}

// A worker that is told to end, and a pool that stands still before it looks again (Ctrl-Z, a
// locked database): however long that is, nobody hangs in the kernel.
static void a_pool_may_stand_still_while_a_worker_ends(void **state)
{
    (void)state;
    const int64_t a_minute_ns = INT64_C(60000000000);
    for (int killed = 0; killed < 2; killed++) {
        struct fixture f;
        siginfo_t info;
        struct err e = {0};
        prepare_pool(&f, 1);
        open_pool(&f);
        expect_trial(&f, GEMM_RIGHT, OUTCOME_OK, PHASE_NONE, "");
        struct slot *s = ((struct pool *)f.pool)->slot;
        if (killed) {
            slot_kill(s, os_now_ns() - a_minute_ns);
            assert_int_equal(waitid(P_PID, (id_t)s->child.pid, &info, WEXITED | WNOWAIT), 0);
        } else {
            slot_let_end(s, os_now_ns() - a_minute_ns); // and it does not
        }
        if (!source_step(f.pool, &e))
            fail_msg("%s", e.text);
        expect_trial(&f, GEMM_RIGHT, OUTCOME_OK, PHASE_NONE, "");
        assert_int_equal(pool_respawns(f.pool), 1);
        close_pool(&f);
    }
}

static void a_program_that_is_not_there_is_an_error(void **state)
{
    (void)state;
    struct fixture f;
    struct err e;
    prepare_pool(&f, 2);
    f.options.program = "/nowhere/tilewalk";
    open_pool(&f);
    expect_no_worker(&f, &e);
    assert_non_null(strstr(e.text, "/nowhere/tilewalk"));
    assert_false(source_step(f.pool, &e)); // and stays one
    close_pool(&f);
}

static void a_device_that_is_not_there_is_an_error(void **state)
{
    (void)state;
    struct fixture f;
    struct err e;
    prepare_pool(&f, 1);
    f.options.device = 77;
    open_pool(&f);
    expect_no_worker(&f, &e);
    close_pool(&f);
}

TEST_GROUP(pool_life)
{
    if (!find_device()) {
        puts("skipped: no Vulkan device");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timing_is_never_disturbed),
        cmocka_unit_test(what_comes_together_is_seen),
        cmocka_unit_test(a_warmer_that_fails_costs_no_trial),
        cmocka_unit_test(a_start_is_not_starved_by_timing),
        cmocka_unit_test(a_pool_can_be_dropped_at_any_moment),
        cmocka_unit_test(a_pool_may_stand_still_while_a_worker_ends),
        cmocka_unit_test(a_program_that_is_not_there_is_an_error),
        cmocka_unit_test(a_device_that_is_not_there_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
