// The screen of the machines that measure.
#include "group.h"
#include "look.h"
#include "stage.h"
#include "store/machine.h"

#include <locale.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static int setup(void **state)
{
    setlocale(LC_ALL, "C.UTF-8");
    struct stage *s = mem_alloc(sizeof *s);
    stage_open(s, FIXTURE_SMALL, VIEW_FLEET, CHARSET_BRAILLE);
    app_resize(&s->app, 36, 160);
    stage_rest(s);
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    stage_close(*state);
    free(*state);
    return 0;
}

// The part of the frame from `from` on holds the texts in this order.
static void assert_in_order(struct stage *s, const char *const *texts)
{
    char *frame = stage_frame(s);
    const char *at = frame;
    for (; *texts; texts++) {
        at = strstr(at, *texts);
        if (!at)
            fail_msg("'%s' is not where it should be in\n%s", *texts, frame);
    }
    free(frame);
}

#define SHOWS(s, ...) assert_in_order(s, (const char *const[]){__VA_ARGS__, NULL})

static void test_at_work_first(void **state)
{
    struct stage *s = *state;
    SHOWS(s, "machine", "state", "trials", "rate/s", "calibration", "last error");
    SHOWS(s, "rack2-11b20c77", "stuck", "16", "-0.6 %", "its results are not kept",
          "rack1-5fd0c2a9", "up", "16", "+1.8 %", "board-77aa01f2", "left", "0", "it was ended",
          "rack1-08c1d6ee", "lost", "3", "3.4 ms", "shelf-9ae1f0d3", "refused", "+25.0 %",
          "5 machines", "2 at work");
}

// Each has measured every fourth of 64 trials that are 2.25 s apart.
static void test_rate(void **state)
{
    struct stage *s = *state;
    SHOWS(s, "rack1-5fd0c2a9", "up", " 0.1", "trials/s in the last minute");
    stage_wait(s, 120);
    SHOWS(s, "2 at work", "0 trials/s in the last minute");
}

static void test_below(void **state)
{
    struct stage *s = *state;
    stage_play(s, "j j j");
    SHOWS(s, "─ rack1-08c1d6ee ─", "ssh:rack1, for session 1", "RADV NAVI31", "lost for 1 min",
          "3.4 ms", "the connection was closed");
    stage_play(s, "j");
    SHOWS(s, "─ shelf-9ae1f0d3 ─", "4.2 ms, +25.0 % of the others", "at most 10 %)");
}

static void test_nobody_runs_it(void **state)
{
    struct stage *s = *state;
    fixture_kill_runner(&s->fixture);
    stage_wait(s, 2);
    SHOWS(s, "rack1-5fd0c2a9", "left", "0 at work");
}

// The cursor stays on its machine when another one comes.
static void test_another_one(void **state)
{
    struct stage *s = *state;
    struct err e;
    struct machine_record r = {.name = "late-0", .place = "nats://queue", .state = "up"};
    r.at = FIXTURE_NOW;
    stage_play(s, "j");
    assert_true(store_put_machine(s->fixture.store, s->fixture.session, &r, &e));
    stage_wait(s, 2);
    SHOWS(s, "  late-0", "  rack2-11b20c77", "> rack1-5fd0c2a9");
    assert_true(store_forget_machine(s->fixture.store, "rack1-5fd0c2a9", &e));
    stage_wait(s, 2);
    SHOWS(s, "  late-0", "  rack2-11b20c77", "> board-77aa01f2");
}

static void test_opens(void **state)
{
    struct stage *s = *state;
    stage_play(s, "j y");
    assert_string_equal(s->app.copy, "rack1-5fd0c2a9");
    model_close(&s->app.model);
    stage_play(s, "enter");
    assert_int_equal(s->app.model.open.record.id, 1);
    assert_int_equal(s->app.view, VIEW_MAIN);
}

static void draw(void *context, const struct pane *p)
{
    struct stage *s = context;
    view_fleet.draw(&s->app, s->app.state[VIEW_FLEET], p);
}

static void test_all_sizes(void **state)
{
    struct stage *s = *state;
    look_all_sizes(CHARSET_BRAILLE, draw, s);
    stage_play(s, "G");
    look_all_sizes(CHARSET_ASCII, draw, s);
    fixture_execute(&s->fixture, "DELETE FROM machine");
    stage_wait(s, 2);
    SHOWS(s, "No machines yet");
    stage_play(s, "j k G enter y");
    look_all_sizes(CHARSET_BRAILLE, draw, s);
}

TEST_GROUP(fleet)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_at_work_first, setup, teardown),
        cmocka_unit_test_setup_teardown(test_rate, setup, teardown),
        cmocka_unit_test_setup_teardown(test_below, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nobody_runs_it, setup, teardown),
        cmocka_unit_test_setup_teardown(test_another_one, setup, teardown),
        cmocka_unit_test_setup_teardown(test_opens, setup, teardown),
        cmocka_unit_test_setup_teardown(test_all_sizes, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
