// The main screen: panes of every size, what they show of a session, and keys.
#include "group.h"
#include "look.h"
#include "main_screen.h"
#include "text.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static struct app *const app = &main_stage.app;

// --- sizes ---

static void draw_body(void *context, const struct pane *p)
{
    (void)context;
    view_main.draw(app, app->state[VIEW_MAIN], p);
}

// Focus on each pane in turn: among four panes some give the focus back.
static void check_all_sizes(enum fixture_shape shape)
{
    static const enum action ways[] = {ACT_NEXT_PANE,     ACT_PREVIOUS_PANE, ACT_PREVIOUS_PANE,
                                       ACT_PREVIOUS_PANE, ACT_PREVIOUS_PANE, ACT_PREVIOUS_PANE};
    main_open(shape, 15, 60);
    for (int i = 0; i < 6; i++) {
        look_all_sizes(i % 2 ? CHARSET_ASCII : CHARSET_BRAILLE, draw_body, NULL);
        app_act(app, ACT_CARPET);
        look_all_sizes(i % 2 ? CHARSET_ASCII : CHARSET_BRAILLE, draw_body, NULL);
        main_resize(15, 60); // where all take turns
        main_act(ways[i]);
    }
    look_all_sizes(CHARSET_BLOCK, draw_body, NULL);
    main_act(ACT_ZOOM);
    look_all_sizes(CHARSET_BLOCK, draw_body, NULL);
    main_close();
}

static void test_every_size(void **state)
{
    (void)state;
    check_all_sizes(FIXTURE_SMALL);
    check_all_sizes(FIXTURE_EMPTY);
    check_all_sizes(FIXTURE_NOTHING);
}

// A session whose space file does not load any more: its trials are still there.
static void test_space_that_cannot_be_read(void **state)
{
    (void)state;
    main_open(FIXTURE_SMALL, 36, 120);
    const struct space *space = app->model.open.space;
    app->model.open.space = NULL;
    snprintf(app->model.open.trouble.text, sizeof app->model.open.trouble.text, "gemm.lua:3: gone");
    app_draw(app);
    assert_true(main_count("gemm.lua:3: gone") >= 2); // population and detail
    assert_true(main_has("BEST"));
    assert_non_null(view_main.disabled(app, app->state[VIEW_MAIN], ACT_COPY));
    for (int i = 0; i < 5; i++) {
        look_all_sizes(CHARSET_ASCII, draw_body, NULL);
        app_act(app, ACT_NEXT_PANE);
        app_act(app, ACT_OPEN);
    }
    app->model.open.space = space;
    main_close();
}

static void test_panes_of_each_size(void **state)
{
    (void)state;
    main_open(FIXTURE_SMALL, 36, 120);
    assert_true(main_has("─ Trials ─"));
    assert_true(main_has("─ Trial 64 ─"));
    assert_true(main_has("─ Workers ─"));
    assert_true(main_has("registers[1]│")); // of the carpet
    assert_false(main_has("─ Population "));
    main_act(ACT_CARPET);
    assert_true(main_has("─ Population "));
    assert_true(main_has("─ Trial 64 ─"));
    assert_false(main_has("─ Workers ─"));
    assert_false(main_has("registers[1]│"));
    main_act(ACT_CARPET);
    main_resize(24, 80);
    assert_true(main_has("─ Trials ─"));
    assert_true(main_has("Detail | Population | Trials | Workers | Log"));
    assert_false(main_has("─ Trial 64 ─"));
    main_act(ACT_NEXT_PANE); // who works is one key away
    assert_true(main_has("─ Workers ─"));
    main_act(ACT_NEXT_PANE);
    assert_true(main_has("─ Log ─"));
    main_resize(15, 60);
    assert_true(main_has("─ Log ─"));
    main_act(ACT_OPEN);
    assert_true(main_has("─ Trial 64 ─"));
    main_resize(4, 20);
    assert_true(main_has("TFLOPS"));
    main_close();
}

static void test_zoom(void **state)
{
    (void)state;
    main_open(FIXTURE_SMALL, 36, 120);
    main_act(ACT_ZOOM);
    assert_true(main_has("zoomed"));
    assert_false(main_has("Workers"));
    main_act(ACT_BACK);
    assert_true(main_has("Workers "));
    assert_int_equal(app->view, VIEW_MAIN);
    main_close();
}

static void test_no_session(void **state)
{
    (void)state;
    main_open(FIXTURE_NOTHING, 24, 80);
    assert_true(main_has("No session is open."));
    assert_true(main_has("start "));
    assert_false(main_has("choose ")); // there are none
    assert_non_null(view_main.disabled(app, app->state[VIEW_MAIN], ACT_ZOOM));
    assert_non_null(view_main.disabled(app, app->state[VIEW_MAIN], ACT_COPY));
    assert_null(view_main.disabled(app, app->state[VIEW_MAIN], ACT_NEW));
    main_close();
}

// --- trials ---

static void test_trials_follow_until_the_user_moves(void **state)
{
    (void)state;
    main_open(FIXTURE_SMALL, 36, 120);
    assert_int_equal(main_shown(), 64);
    fixture_tell(&main_stage.fixture, 2);
    main_settle();
    assert_int_equal(main_shown(), 66);
    main_act(ACT_DOWN);
    main_act(ACT_DOWN);
    assert_int_equal(main_shown(), 64);
    assert_true(main_has("> 64") || main_has(">   64"));
    fixture_tell(&main_stage.fixture, 3);
    main_settle();
    assert_int_equal(main_shown(), 64);
    assert_false(app->follow);
    main_act(ACT_FIRST);
    assert_int_equal(main_shown(), 69);
    fixture_tell(&main_stage.fixture, 1);
    main_settle();
    assert_int_equal(main_shown(), 70);
    main_close();
}

static void test_trials_move_within_what_is_there(void **state)
{
    (void)state;
    main_open(FIXTURE_SMALL, 36, 120);
    main_act(ACT_LAST);
    assert_int_equal(main_shown(), 1);
    main_act(ACT_DOWN);
    assert_int_equal(main_shown(), 1);
    main_act(ACT_PAGE_UP);
    int64_t paged = main_shown();
    assert_true(paged > 5 && paged < 20);
    main_act(ACT_PAGE_DOWN);
    assert_int_equal(main_shown(), 1);
    for (int i = 0; i < 20; i++)
        main_act(ACT_PAGE_UP);
    assert_int_equal(main_shown(), 64);
    assert_true(app->follow);
    main_close();
}

static void test_best_stays_in_sight(void **state)
{
    (void)state;
    main_open(FIXTURE_SMALL, 36, 120);
    int64_t best = model_best(&app->model)->number;
    for (int64_t n = 64; n >= 1; n -= 7) {
        main_show(n);
        char line[64];
        snprintf(line, sizeof line, "%s%4" PRId64 " ", n == best ? "> " : "* ", best);
        assert_int_equal(main_count("  BEST  "), 1);
        assert_true(main_has(line));
    }
    main_close();
}

// --- population ---

static void test_population_selects(void **state)
{
    (void)state;
    main_open(FIXTURE_SMALL, 36, 120);
    main_act(ACT_CARPET);
    main_act(ACT_PREVIOUS_PANE);
    main_act(ACT_FIRST);
    main_act(ACT_DOWN);
    main_act(ACT_DOWN);
    main_act(ACT_OPEN);
    assert_int_equal(app->selected, app->model.open.population[2]);
    assert_false(app->follow);
    main_close();
}

static void test_a_key_selects_the_best(void **state)
{
    (void)state;
    main_open(FIXTURE_SMALL, 36, 120);
    static const char *const screens[] = {"1 *", "3 *", "6 *", "8 *"};
    for (int i = 0; i < 4; i++) {
        app_select(app, 1);
        stage_play(&main_stage, screens[i]);
        assert_int_equal(app->selected, app->model.open.record.best_ask);
        assert_false(app->follow);
    }
    main_close();
    main_open(FIXTURE_NOTHING, 36, 120);
    stage_play(&main_stage, "*");
    assert_int_equal(app->selected, 0);
    main_close();
}

static void test_population_is_in_the_order_of_what_it_shows(void **state)
{
    (void)state;
    main_open(FIXTURE_SMALL, 36, 120);
    main_act(ACT_CARPET);
    int64_t first = app->model.open.population[0], third = app->model.open.population[2];
    author_retime(main_stage.fixture.author, third, "race", 0.5, true);
    main_settle();
    main_act(ACT_PREVIOUS_PANE);
    main_act(ACT_FIRST);
    main_act(ACT_OPEN);
    assert_int_equal(app->selected, third);
    view_main.click(app, app->state[VIEW_MAIN], 1 + 4 + 1, 70); // frame, heads, a row
    assert_int_equal(app->selected, first);
    main_act(ACT_FIRST);
    assert_true(main_has("   raced"));
    main_close();
}

static void put_paired(const char *name, int64_t position, double seconds, const char *paired)
{
    struct err e;
    struct baseline_record b = {.position = position,
                                .name = name,
                                .outcome = seconds > 0 ? OUTCOME_OK : OUTCOME_REJECTED,
                                .reason = "shared memory 34816 > 32768",
                                .seconds = seconds,
                                .paired = paired,
                                .paired_ask = paired ? app->model.open.record.best_ask : 0,
                                .at = FIXTURE_NOW - 60};
    if (!store_put_baseline(main_stage.fixture.store, app->model.open.record.id, &b, &e))
        fail_msg("%s", e.text);
    stage_wait(&main_stage, 5);
    main_settle();
}

static void put_baseline(const char *name, int64_t position, double seconds)
{
    put_paired(name, position, seconds, NULL);
}

// The kernel in use is a ratio in the head and a line in the curve. A ratio of times in pairs has
// its interval, and is none where that contains 1.
static void test_baselines(void **state)
{
    (void)state;
    main_open(FIXTURE_SMALL, 36, 140);
    double best = app->model.open.record.best_seconds;
    put_baseline("large", 0, 0);
    assert_true(main_has("no baseline"));
    put_baseline("small", 1, 4 * best);
    put_baseline("medium", 2, 2 * best);
    assert_true(main_has("  2.00x medium by single times"));
    assert_true(main_has(": medium "));
    assert_false(main_has("no baseline"));
    put_paired("medium", 2, 2 * best, "[[20,1.5,1.25,1.75]]");
    assert_true(main_has("  1.50x medium (1.25-1.75)"));
    put_paired("medium", 2, 2 * best, "[[60,1.25,0.75,1.5]]");
    assert_true(main_has("  level with medium (0.75-1.50x)"));
    main_close();
}

// The first one's speed is less than that of the next.
static void test_population_says_that_raced_ones_come_first(void **state)
{
    (void)state;
    static const int size[][2] = {{24, 80}, {36, 120}, {60, 200}};
    for (int i = 0; i < 3; i++) {
        main_open(FIXTURE_SMALL, size[i][0], size[i][1]);
        if (i > 0)
            main_act(ACT_CARPET);
        assert_false(main_has("raced"));
        author_retime(main_stage.fixture.author, app->model.open.population[2], "race", 2, true);
        stage_wait(&main_stage, 5);
        main_settle();
        assert_true(i == 0 || main_has(" r raced: timed again, in turns"));
        main_act(ACT_PREVIOUS_PANE); // or from the pane that hides it, on the smallest
        assert_true(main_has(" 8, raced"));
        assert_true(main_has(" raced: "));
        main_close();
    }
}

// Where its model foretold results.
static void test_population_says_how_calibrated_the_model_is(void **state)
{
    (void)state;
    main_open(FIXTURE_SMALL, 36, 120);
    main_act(ACT_CARPET);
    main_act(ACT_PREVIOUS_PANE);
    assert_true(main_has("parameters converged"));
    assert_false(main_has("model: "));
    const struct calibration_record c = {140, 73, 119};
    assert_true(
        store_add_calibration(main_stage.fixture.store, main_stage.fixture.session, &c, NULL));
    author_tell(main_stage.fixture.author, 1);
    main_act(ACT_ZOOM);
    main_settle();
    assert_true(main_has("calibration: 50 % interval covers 52 %, 90 % covers 85 %"));
    assert_true(main_has("parameters converged"));
    main_resize(15, 60);
    look_all_sizes(CHARSET_ASCII, draw_body, NULL);
    main_close();
}

static void test_population_spells_out_every_column(void **state)
{
    (void)state;
    main_open(FIXTURE_SMALL, 36, 120);
    main_act(ACT_CARPET);
    const struct space *s = app->model.open.space;
    struct {
        int param, slot;
    } column[SPACE_MAX_SLOTS];
    int count = 0;
    for (int i = 0; i < s->param_count; i++)
        for (int slot = 0; slot < (s->param[i].kind == PARAM_FACTORIZATION ? s->param[i].width : 1);
             slot++) {
            column[count].param = i;
            column[count++].slot = slot;
        }
    main_act(ACT_PREVIOUS_PANE);
    struct config best = model_trial(&app->model, app->model.open.population[0])->config;
    for (int width = 120; width > 0; width = width == 120 ? 46 : 0) {
        main_resize(36, width);
        for (int i = 0; i < count; i++)
            main_act(ACT_LEFT);
        for (int i = 0; i < count; i++) {
            const struct param *p = &s->param[column[i].param];
            struct str text = {0};
            if (p->kind == PARAM_FACTORIZATION)
                str_printf(&text, "%s[%d] = %" PRId32, p->name, column[i].slot + 1,
                           best.slot[p->offset + column[i].slot]);
            else
                str_printf(&text, "%s = ", p->name);
            assert_true(main_has(str_text(&text)));
            if (width == 120) // and there is room for names
                assert_true(main_has(p->name));
            str_finish(&text);
            main_act(ACT_RIGHT);
        }
    }
    main_close();
}

static void test_shades_from_anywhere(void **state)
{
    (void)state;
    main_open(FIXTURE_SMALL, 36, 120);
    main_act(ACT_CARPET);
    for (int i = 0; i < 4; i++) {
        assert_true(main_has("colour: value"));
        main_act(ACT_COLOUR);
        assert_true(main_has("colour: speed"));
        main_act(ACT_COLOUR);
        main_act(ACT_NEXT_PANE);
    }
    main_close();
}

static void open_other(int64_t id)
{
    app_open_session(app, id);
    main_settle();
}

static void test_sessions_that_have_nothing(void **state)
{
    (void)state;
    main_open(FIXTURE_EMPTY, 36, 120);
    main_act(ACT_CARPET);
    open_other(1);
    assert_true(main_has("No trial has been measured yet."));
    assert_true(main_has("─ Best trials ─"));
    assert_true(main_has("No trial has ended yet."));
    assert_non_null(view_main.disabled(app, app->state[VIEW_MAIN], ACT_COPY));
    open_other(2);
    assert_true(main_has("Rejected without a trial: "));
    main_close();
}

static void test_best_trials_without_a_population(void **state)
{
    (void)state;
    main_open(FIXTURE_SEVERAL, 36, 120);
    main_act(ACT_CARPET);
    for (int64_t id = main_stage.fixture.session; id > 0; id--) {
        open_other(id);
        bool is_population = app->model.open.is_population;
        assert_int_equal(main_count("─ Population "), is_population);
        assert_int_equal(main_count("─ Best 24 trials ─"), !is_population);
    }
    main_close();
}

// --- the carpet ---

// Back through the generations that changed the best, and on to now; the population shows the best
// of that time, and the trial that changed them is selected.
static void test_scrubbing(void **state)
{
    (void)state;
    main_open(FIXTURE_SMALL, 36, 120);
    main_act(ACT_CARPET);
    assert_true(main_has("Population of"));
    main_act(ACT_EARLIER);
    int64_t first = main_shown();
    char title[64];
    snprintf(title, sizeof title, "─ Best 8 after trial %" PRId64 " ", first);
    assert_true(main_has(title));
    assert_false(app->follow);
    main_act(ACT_EARLIER);
    assert_true(main_shown() < first);
    for (int i = 0; i < 40; i++)
        main_act(ACT_EARLIER);
    assert_true(main_has("after trial ") || main_has("─ Best "));
    int64_t oldest = main_shown();
    main_act(ACT_LATER);
    assert_true(main_shown() > oldest);
    for (int i = 0; i < 40; i++)
        main_act(ACT_LATER);
    assert_true(main_has("Population of"));
    assert_true(app->follow);
    assert_int_equal(main_shown(), 64);
    main_act(ACT_EARLIER);
    main_act(ACT_BACK);
    assert_true(main_has("Population of"));
    main_close();
}

// At 80x24 the carpet is a key away, and back.
static void test_carpet_is_a_key_away(void **state)
{
    (void)state;
    main_open(FIXTURE_SMALL, 24, 80);
    assert_false(main_has("registers[1]"));
    assert_true(main_has("Population | Trials"));
    main_act(ACT_CARPET);
    assert_true(main_has("registers[1]│"));
    assert_true(main_has("rows 1-12 of 21"));
    assert_false(main_has("walk"));
    main_act(ACT_LAST);
    assert_true(main_has("walk│"));
    main_act(ACT_CARPET);
    assert_true(main_has("Population of"));
    assert_false(main_has("registers[1]│"));
    main_close();
}

// --- the population's rows below, and its edges ---

static void test_agreement_is_counted(void **state)
{
    (void)state;
    main_open(FIXTURE_SMALL, 36, 120);
    main_act(ACT_CARPET);
    assert_true(main_has("│agree"));
    assert_true(main_has("│imp."));
    assert_true(main_has("21 parameters"));
    assert_false(main_has("columns 1-"));
    main_resize(30, 110); // too narrow for all
    assert_true(main_has("columns 1-"));
    main_close();
}

// --- workers ---

static void test_workers_are_shown(void **state)
{
    (void)state;
    main_open(FIXTURE_SMALL, 36, 120);
    assert_true(main_has("No worker"));
    const struct worker_record now[] = {{0, "compile", 71, FIXTURE_NOW - 3},
                                        {1, "time", 70, FIXTURE_NOW - 1},
                                        {2, "none", 0, FIXTURE_NOW - 40},
                                        {3, "verify", 69, FIXTURE_NOW - 2}};
    struct err e;
    assert_true(
        store_put_workers(main_stage.fixture.store, main_stage.fixture.session, now, 4, &e));
    stage_wait(&main_stage, 2);
    main_settle();
    assert_true(main_has("worker 0   compile   ask 71"));
    assert_true(main_has("worker 1   measure   ask 70"));
    assert_true(main_has("trials"));
    main_resize(60, 200);
    assert_true(main_has("worker 2   idle"));
    assert_true(main_has("worker 3   verify    ask 69"));
    assert_true(
        store_put_workers(main_stage.fixture.store, main_stage.fixture.session, now, 1, &e));
    stage_wait(&main_stage, 2);
    main_settle();
    assert_false(main_has("worker 1   measure"));
    fixture_kill_runner(&main_stage.fixture);
    stage_wait(&main_stage, 2);
    main_settle();
    assert_false(main_has("worker 0   compile"));
    assert_true(main_has("not run."));
    main_close();
}

// --- keys ---

static void test_copy(void **state)
{
    (void)state;
    main_open(FIXTURE_SMALL, 36, 120);
    main_act(ACT_COPY);
    struct str text = {0};
    config_add_difference(app->model.open.space, &shown_trial(app)->config, NULL, NULL, &text);
    assert_string_equal(app->copy, str_text(&text));
    str_finish(&text);
    main_close();
}

static void test_clicks(void **state)
{
    (void)state;
    main_open(FIXTURE_SMALL, 36, 120);
    for (int row = 0; row < 36; row++)
        for (int col = 0; col < 120; col += 5)
            view_main.click(app, app->state[VIEW_MAIN], row, col);
    view_main.click(app, app->state[VIEW_MAIN], 1 + 1 + 3, 80); // frame, head, fourth row
    assert_true(main_shown() > 0);
    int64_t before = main_shown();
    main_settle();
    view_main.click(app, app->state[VIEW_MAIN], 1 + 1 + 4, 80);
    assert_int_equal(main_shown(), before - 1);
    main_close();
}

TEST_GROUP(main)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_size),
        cmocka_unit_test(test_space_that_cannot_be_read),
        cmocka_unit_test(test_panes_of_each_size),
        cmocka_unit_test(test_zoom),
        cmocka_unit_test(test_no_session),
        cmocka_unit_test(test_trials_follow_until_the_user_moves),
        cmocka_unit_test(test_trials_move_within_what_is_there),
        cmocka_unit_test(test_best_stays_in_sight),
        cmocka_unit_test(test_population_selects),
        cmocka_unit_test(test_a_key_selects_the_best),
        cmocka_unit_test(test_population_is_in_the_order_of_what_it_shows),
        cmocka_unit_test(test_baselines),
        cmocka_unit_test(test_population_says_that_raced_ones_come_first),
        cmocka_unit_test(test_population_says_how_calibrated_the_model_is),
        cmocka_unit_test(test_population_spells_out_every_column),
        cmocka_unit_test(test_shades_from_anywhere),
        cmocka_unit_test(test_sessions_that_have_nothing),
        cmocka_unit_test(test_best_trials_without_a_population),
        cmocka_unit_test(test_scrubbing),
        cmocka_unit_test(test_carpet_is_a_key_away),
        cmocka_unit_test(test_agreement_is_counted),
        cmocka_unit_test(test_workers_are_shown),
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_clicks),
    };
    return cmocka_run_group_tests_name("main screen", tests, NULL, NULL);
}
