// The right pane of the space screen: graphs, status of neighbours, best speeds by value.
#include "group.h"
#include "look.h"
#include "space_screen.h"
#include "text.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static struct app *const app = &space_stage.app;

// Stores the best configuration with another value of a listed parameter.
static void tell_moved(int param, int32_t value, enum outcome outcome, double seconds)
{
    struct trial best = *model_best(&app->model);
    struct str key = {0}, json = {0};
    struct err e;
    int64_t ask = 1;
    best.config.slot[space_opened()->param[param].offset] = value;
    config_add_key(space_opened(), &best.config, &key);
    config_add_json(space_opened(), &best.config, &json);
    while (model_trial(&app->model, ask))
        ask++;
    struct trial_record t = {
        .ask = ask,
        .number = app->model.open.last_number + 1,
        .told = ask,
        .key = str_text(&key),
        .config = str_text(&json),
        .outcome = outcome,
        .seconds = seconds,
        .finished = FIXTURE_NOW,
    };
    assert_true(store_put_trial(space_stage.fixture.store, space_stage.fixture.session, &t, &e));
    str_finish(&key);
    str_finish(&json);
    stage_wait(&space_stage, 2);
}

static void test_fates_of_neighbours(void **state)
{
    (void)state;
    space_open(FIXTURE_SMALL, 36, 120);
    struct trial best = *model_best(&app->model);
    int walk = space_param_named("walk"), stage_b = space_param_named("stage_b"), other = 0;
    int now = best.config.slot[space_opened()->param[stage_b].offset];
    char wanted[96];
    space_choose(stage_b);
    assert_true(space_has("valid, untried"));
    assert_false(space_has("tried #"));
    other = now == 1 ? 2 : 1;
    tell_moved(stage_b, other, OUTCOME_OK, best.seconds * 2);
    snprintf(wanted, sizeof wanted, "%-8s  tried #65  ",
             space_opened()->param[stage_b].label[other]);
    assert_true(space_has(wanted));
    assert_true(space_has("(-50.0 %)"));
    snprintf(wanted, sizeof wanted, "  %d candidates", space_degree(space_opened(), &best.config));
    assert_true(space_has(wanted));
    assert_true(space_has(" 1 tried   0 better"));
    tell_moved(stage_b, now == 3 ? 0 : 3, OUTCOME_WRONG, 0);
    assert_true(space_has("tried #66  wrong"));
    assert_true(space_has(" 2 tried   0 better"));
    app_resize(app, 24, 80); // without words that there is no room for
    assert_true(space_has(" 2 tried, 0 better"));
    assert_true(space_has("  #65  "));
    assert_true(space_has("(-50.0 %)"));
    app_resize(app, 36, 120);
    space_choose(walk);
    assert_false(space_has("tried #"));
    space_choose(space_param_named("stage_a"));
    assert_true(space_has("x constraint 'vectors divide")); // of stage_a=none
    space_close();
}

static void test_now_is_the_selected_trial(void **state)
{
    (void)state;
    space_open(FIXTURE_SMALL, 36, 120);
    struct trial best = *model_best(&app->model);
    char wanted[64];
    snprintf(wanted, sizeof wanted, "now: #%" PRId64 ", the best", best.number);
    assert_true(space_has(wanted));
    const struct trial *t = model_trial_numbered(&app->model, best.number == 7 ? 8 : 7);
    struct config c = t->config;
    snprintf(wanted, sizeof wanted, "now: #%" PRId64 ", the selected one", t->number);
    app_select(app, t->ask);
    stage_rest(&space_stage);
    assert_true(space_has(wanted));
    for (int i = 0; i < space_opened()->param_count; i++) {
        const struct param *p = &space_opened()->param[i];
        struct str text = {0};
        str_add(&text, "> ");
        value_add_text(p, c.slot + p->offset, &text);
        space_choose(i);
        assert_true(space_has(str_text(&text)));
        str_finish(&text);
    }
    space_close();
}

static void test_graphs(void **state)
{
    (void)state;
    space_open(FIXTURE_SMALL, 36, 120);
    space_choose(space_param_named("split_k"));
    assert_true(space_has("1 ─── 2 ─── 4 ─── 8"));
    assert_true(space_has("▲ now"));
    space_choose(space_param_named("order"));
    assert_true(space_has("any two swap places"));
    space_choose(space_param_named("walk"));
    assert_true(space_has("group2  ─ rows"));
    space_choose(space_param_named("explicit"));
    assert_true(space_has("each value is one step from every other"));
    space_choose(space_param_named("threads"));
    assert_true(space_has("a prime factor moves"));
    app->screen.charset = CHARSET_ASCII;
    space_choose(space_param_named("split_k"));
    assert_true(space_has("1 --- 2 --- 4 --- 8"));
    space_close();
}

// A path is cut around now, and never leaves the pane.
static void draw_long_path(void *context, const struct pane *p)
{
    struct lines l = {.p = p};
    space_graph_add(&l, context, &(int32_t){500});
    assert_true(l.row == 2);
}

static void test_long_lists(void **state)
{
    (void)state;
    struct arena arena;
    struct param p;
    struct err e;
    double number[1000];
    struct screen s = {.charset = CHARSET_BRAILLE};
    for (int i = 0; i < 1000; i++)
        number[i] = i;
    arena_init(&arena);
    assert_true(param_discrete(&p, &arena, "long", 1000, number, &e));
    screen_resize(&s, 5, 40);
    struct pane whole = screen_whole(&s);
    draw_long_path(&p, &whole);
    char *text = look_text(&s);
    assert_non_null(strstr(text, "… 497 ─ 498 ─ 499 ─ 500 ─ 501 ─ 502 …"));
    assert_non_null(strstr(text, "▲ now"));
    free(text);
    look_all_sizes(CHARSET_ASCII, draw_long_path, &p);
    screen_finish(&s);
    arena_finish(&arena);
}

static void test_best_by_value(void **state)
{
    (void)state;
    space_open(FIXTURE_SMALL, 36, 120);
    int walk = space_param_named("walk");
    const struct param *p = &space_opened()->param[walk];
    space_choose(walk);
    for (int32_t i = 0; i < p->count; i++) {
        double best = 0;
        int trials = 0;
        char number[24], wanted[64];
        for (int64_t n = 1; n <= app->model.open.last_number; n++) {
            const struct trial *t = model_trial_numbered(&app->model, n);
            if (t->config.slot[p->offset] != i)
                continue;
            trials++;
            if (t->outcome == OUTCOME_OK && (best <= 0 || t->seconds < best))
                best = t->seconds;
        }
        assert_true(trials > 0 && best > 0);
        speed_number(&app->model, seconds_speed(&app->model, best), number);
        snprintf(wanted, sizeof wanted, "%s (%d)", number, trials);
        assert_true(space_has(wanted));
    }
    space_close();
}

static void test_without_trials(void **state)
{
    (void)state;
    space_open(FIXTURE_EMPTY, 36, 120);
    for (int i = 0; i < app->model.session_count; i++) {
        app_open_session(app, app->model.session[i].record.id);
        app_show(app, VIEW_SPACE);
        stage_wait(&space_stage, 2);
        assert_true(space_has("13 parameters"));
        assert_true(space_has("Best "));
        space_play("j j ctrl-d ctrl-u tab enter");
    }
    space_close();
}

TEST_GROUP(space_moves)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fates_of_neighbours),
        cmocka_unit_test(test_now_is_the_selected_trial),
        cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_long_lists),
        cmocka_unit_test(test_best_by_value),
        cmocka_unit_test(test_without_trials),
    };
    return cmocka_run_group_tests_name("space screen, moves", tests, NULL, NULL);
}
