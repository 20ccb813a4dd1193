// The detail of a trial: why it failed, where it comes from, its neighbours.
#include "group.h"
#include "main_screen.h"
#include "text.h"
#include "view_main.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static struct app *const app = &main_stage.app;

// The first trial that is as `wanted` says; 0: none.
static int64_t find_numbered(bool (*wanted)(const struct trial *t))
{
    for (int64_t n = 1; n <= app->model.open.last_number; n++) {
        const struct trial *t = model_trial_numbered(&app->model, n);
        if (t && wanted(t))
            return n;
    }
    return 0;
}

static bool is_failure(const struct trial *t)
{
    return t->outcome != OUTCOME_OK && t->reason[0];
}

static bool has_parents(const struct trial *t)
{
    return t->has_origin && t->origin[0] > 0;
}

static bool was_drawn(const struct trial *t)
{
    return !t->has_origin;
}

static void test_failures_say_why(void **state)
{
    (void)state;
    main_open(FIXTURE_SMALL, 36, 120);
    int64_t number = find_numbered(is_failure);
    assert_true(number > 0);
    main_show(number);
    struct trial t = *model_trial_numbered(&app->model, number);
    char wanted[64];
    snprintf(wanted, sizeof wanted, "│ %s%s%s", outcome_name(t.outcome),
             t.phase[0] ? " in phase " : "", t.phase);
    assert_true(main_has(wanted));
    for (char *word = strtok(t.reason, " \n"); word; word = strtok(NULL, " \n"))
        assert_true(main_has(word));
    main_close();
}

static void test_moved_parameters_are_marked(void **state)
{
    (void)state;
    main_open(FIXTURE_SMALL, 50, 200);
    const struct space *s = app->model.open.space;
    int moved_in_all = 0;
    for (int64_t n = find_numbered(has_parents); n <= app->model.open.last_number; n++) {
        struct trial t = *model_trial_numbered(&app->model, n);
        if (!has_parents(&t))
            continue;
        main_show(n);
        int moved = 0;
        for (int i = 0; i < s->param_count; i++) {
            const struct trial *from =
                t.origin[i] > 0 ? model_trial(&app->model, t.origin[i]) : NULL;
            if (!from || value_equal(&s->param[i], &from->config, &t.config))
                continue;
            struct str text = {0};
            str_printf(&text, "%s ", s->param[i].name);
            value_add_text(&s->param[i], from->config.slot + s->param[i].offset, &text);
            str_add(&text, ">");
            value_add_text(&s->param[i], t.config.slot + s->param[i].offset, &text);
            assert_true(main_has(str_text(&text)));
            str_finish(&text);
            moved++;
        }
        char wanted[64];
        snprintf(wanted, sizeof wanted, "%d parameter%s mutated", moved, moved == 1 ? "" : "s");
        assert_true(main_has(wanted));
        assert_true(main_has("parents #") || main_has("parents ask"));
        moved_in_all += moved;
    }
    assert_true(moved_in_all > 0);
    main_show(find_numbered(was_drawn));
    assert_true(main_has("random sample"));
    assert_false(main_has("choice"));
    app->model.open.record.strategy = "autotvm:plan=8";
    main_show(find_numbered(was_drawn));
    assert_true(main_has("the model's choice"));
    main_close();
}

// Stores the k-th neighbour of `of` as the next trial.
static void tell_neighbour(const struct config *of, int k, enum outcome outcome, double seconds)
{
    struct model *m = &app->model;
    struct config c;
    struct str key = {0}, json = {0};
    struct err e;
    int64_t ask = 1;
    space_neighbour(m->open.space, of, k, &c);
    config_add_key(m->open.space, &c, &key);
    config_add_json(m->open.space, &c, &json);
    while (model_trial(m, ask))
        ask++;
    bool rejected = outcome == OUTCOME_REJECTED;
    struct trial_record t = {
        .ask = ask,
        .number = rejected ? 0 : m->open.last_number + 1,
        .told = ask,
        .key = str_text(&key),
        .config = str_text(&json),
        .outcome = outcome,
        .seconds = seconds,
        .finished = FIXTURE_NOW,
    };
    assert_true(store_put_trial(main_stage.fixture.store, main_stage.fixture.session, &t, &e));
    str_finish(&key);
    str_finish(&json);
    stage_wait(&main_stage, 2);
    main_settle();
}

static void test_neighbours_are_counted(void **state)
{
    (void)state;
    main_open(FIXTURE_SMALL, 36, 160);
    struct trial best = *model_best(&app->model);
    int degree = space_degree(app->model.open.space, &best.config);
    char wanted[64];
    app_select(app, best.ask);
    main_settle();
    snprintf(wanted, sizeof wanted, "neighbours 0 of %d tried ", degree);
    assert_true(main_has(wanted));
    tell_neighbour(&best.config, 0, OUTCOME_OK, 2 * best.seconds);
    tell_neighbour(&best.config, 3, OUTCOME_WRONG, 0);
    tell_neighbour(&best.config, 4, OUTCOME_REJECTED, 0);
    tell_neighbour(&best.config, 5, OUTCOME_REJECTED, 0);
    snprintf(wanted, sizeof wanted, "neighbours 2 of %d tried, 0 better, 2 excluded ", degree);
    assert_true(main_has(wanted));
    tell_neighbour(&best.config, degree - 1, OUTCOME_OK, best.seconds / 2);
    snprintf(wanted, sizeof wanted, "neighbours 3 of %d tried, 1 better, 2 excluded ", degree);
    assert_true(main_has(wanted));
    assert_true(main_has("best -50"));
    main_close();
}

static void test_a_race_and_what_was_measured_are_both_there(void **state)
{
    (void)state;
    main_open(FIXTURE_SMALL, 36, 160);
    struct trial best = *model_best(&app->model);
    int64_t second = model_trial_ranked(&app->model, 1)->ask;
    author_retime(main_stage.fixture.author, best.ask, "race", 1.01, true);
    author_retime(main_stage.fixture.author, second, "race", 2, false);
    stage_wait(&main_stage, 2);
    main_show(best.number);
    char wanted[64], number[24];
    const struct trial *t = model_trial(&app->model, best.ask);
    speed_number(&app->model, trial_shown_speed(&app->model, t), number);
    snprintf(wanted, sizeof wanted, "│ race      %s TFLOPS  ", number);
    assert_true(main_has(wanted));
    speed_number(&app->model, seconds_speed(&app->model, t->seconds), number);
    snprintf(wanted, sizeof wanted, "│ measured  %s TFLOPS  ", number);
    assert_true(main_has(wanted));
    assert_true(main_has("  race  ")); // instead of the deviation in the list
    app_select(app, second);
    main_settle();
    assert_true(main_has("  NOT verified"));
    main_close();
}

static void test_fast_newest_trials_are_not_counted(void **state)
{
    (void)state;
    main_open(FIXTURE_SMALL, 36, 120);
    struct detail_pane fresh = {.ask = 0};
    app->follow = true;
    app->model.open.rate = 10;
    assert_false(detail_pane_tick(app, &fresh));
    assert_int_equal(fresh.counting.ask, 0);
    app->model.open.rate = 1;
    detail_pane_tick(app, &fresh);
    assert_true(fresh.counting.ask > 0);
    main_close();
}

TEST_GROUP(detail)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failures_say_why),
        cmocka_unit_test(test_moved_parameters_are_marked),
        cmocka_unit_test(test_neighbours_are_counted),
        cmocka_unit_test(test_a_race_and_what_was_measured_are_both_there),
        cmocka_unit_test(test_fast_newest_trials_are_not_counted),
    };
    return cmocka_run_group_tests_name("detail pane", tests, NULL, NULL);
}
