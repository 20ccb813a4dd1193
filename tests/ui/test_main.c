// The main screen: panes, what they show of a session, and keys.
#include "app.h"
#include "detail_pane.h"
#include "fixture.h"
#include "look.h"
#include "trial_text.h"

#include <inttypes.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct fixture fixture;
static struct ui_config config;
static struct app app;
static double now;

static void settle(void)
{
    while (app_poll(&app, now, FIXTURE_NOW))
        now += 0.01;
    app_draw(&app);
}

static void start_app(int rows, int cols)
{
    setlocale(LC_ALL, "C.UTF-8");
    config_init(&config);
    config.charset = CHARSET_BRAILLE;
    now = 100;
    struct app_options o = {
        .database = fixture.path,
        .config = &config,
        .program = "tilewalk",
        .view = VIEW_MAIN,
        .session = fixture.session,
    };
    app_init(&app, &o);
    app_resize(&app, rows, cols);
    settle();
}

static void open_app(enum fixture_shape shape, int rows, int cols)
{
    fixture_create(&fixture, shape);
    start_app(rows, cols);
}

static void close_app(void)
{
    app_finish(&app);
    fixture_destroy(&fixture);
}

static void act(enum action a)
{
    now += 2;
    app_act(&app, a);
    settle();
}

static bool frame_has(const char *text)
{
    char *frame = look_text(&app.screen);
    bool has = strstr(frame, text) != NULL;
    free(frame);
    return has;
}

// Many times as in `strstr`.
static int frame_count(const char *text)
{
    char *frame = look_text(&app.screen);
    int count = 0;
    for (const char *at = frame; (at = strstr(at, text)); at += strlen(text))
        count++;
    free(frame);
    return count;
}

static int64_t shown_number(void)
{
    const struct trial *t = shown_trial(&app);
    return t ? t->number : -1;
}

// The first trial from `number` on that is as `wanted` says; 0: none.
static int64_t find_numbered(bool (*wanted)(const struct trial *t))
{
    for (int64_t n = 1; n <= app.model.open.last_number; n++) {
        const struct trial *t = model_trial_numbered(&app.model, n);
        if (t && wanted(t))
            return n;
    }
    return 0;
}

static void show_number(int64_t number)
{
    app_select(&app, model_trial_numbered(&app.model, number)->ask);
    settle();
}

// --- sizes ---

static void draw_body(void *context, const struct pane *p)
{
    (void)context;
    view_main.draw(&app, app.state[VIEW_MAIN], p);
}

static void check_all_sizes(enum fixture_shape shape)
{
    open_app(shape, 36, 120);
    for (int pane = 0; pane < 5; pane++) {
        look_all_sizes(pane % 2 ? CHARSET_ASCII : CHARSET_BRAILLE, draw_body, NULL);
        app_act(&app, ACT_NEXT_PANE);
    }
    app_act(&app, ACT_ZOOM);
    look_all_sizes(CHARSET_BLOCK, draw_body, NULL);
    close_app();
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
    open_app(FIXTURE_SMALL, 36, 120);
    const struct space *space = app.model.open.space;
    app.model.open.space = NULL;
    snprintf(app.model.open.trouble.text, sizeof app.model.open.trouble.text, "gemm.lua:3: gone");
    app_draw(&app);
    assert_true(frame_count("gemm.lua:3: gone") >= 2); // population and detail
    assert_true(frame_has("BEST"));
    assert_non_null(view_main.disabled(&app, app.state[VIEW_MAIN], ACT_COPY));
    for (int i = 0; i < 5; i++) {
        look_all_sizes(CHARSET_ASCII, draw_body, NULL);
        app_act(&app, ACT_NEXT_PANE);
        app_act(&app, ACT_OPEN);
    }
    app.model.open.space = space;
    close_app();
}

static void test_panes_of_each_size(void **state)
{
    (void)state;
    open_app(FIXTURE_SMALL, 36, 120);
    assert_true(frame_has("─ Population of "));
    assert_true(frame_has("─ Trials ─"));
    assert_true(frame_has("─ Trial 64 ─"));
    app_resize(&app, 24, 80);
    settle();
    assert_true(frame_has("─ Trials ─"));
    assert_true(frame_has("Population | Trials | Detail | Log"));
    assert_false(frame_has("─ Trial 64 ─"));
    act(ACT_NEXT_PANE);
    assert_true(frame_has("─ Trial 64 ─"));
    act(ACT_NEXT_PANE);
    assert_true(frame_has("─ Log ─"));
    app_resize(&app, 15, 60);
    settle();
    assert_true(frame_has("─ Log ─"));
    act(ACT_PREVIOUS_PANE);
    assert_true(frame_has("─ Trial 64 ─"));
    app_resize(&app, 4, 20);
    settle();
    assert_true(frame_has("TFLOPS"));
    close_app();
}

static void test_zoom(void **state)
{
    (void)state;
    open_app(FIXTURE_SMALL, 36, 120);
    act(ACT_ZOOM);
    assert_true(frame_has("zoomed"));
    assert_false(frame_has("Population"));
    act(ACT_BACK);
    assert_true(frame_has("Population of "));
    assert_int_equal(app.view, VIEW_MAIN);
    close_app();
}

static void test_no_session(void **state)
{
    (void)state;
    open_app(FIXTURE_NOTHING, 24, 80);
    assert_true(frame_has("No session is open."));
    assert_true(frame_has("start a new session"));
    assert_false(frame_has("choose one of the sessions")); // there are none
    assert_non_null(view_main.disabled(&app, app.state[VIEW_MAIN], ACT_ZOOM));
    assert_non_null(view_main.disabled(&app, app.state[VIEW_MAIN], ACT_COPY));
    assert_null(view_main.disabled(&app, app.state[VIEW_MAIN], ACT_NEW));
    close_app();
}

// --- trials ---

static void test_trials_follow_until_the_user_moves(void **state)
{
    (void)state;
    open_app(FIXTURE_SMALL, 36, 120);
    assert_int_equal(shown_number(), 64);
    fixture_tell(&fixture, 2);
    settle();
    assert_int_equal(shown_number(), 66);
    act(ACT_DOWN);
    act(ACT_DOWN);
    assert_int_equal(shown_number(), 64);
    assert_true(frame_has("> 64") || frame_has(">   64"));
    fixture_tell(&fixture, 3);
    settle();
    assert_int_equal(shown_number(), 64);
    assert_false(app.follow);
    act(ACT_FIRST);
    assert_int_equal(shown_number(), 69);
    fixture_tell(&fixture, 1);
    settle();
    assert_int_equal(shown_number(), 70);
    close_app();
}

static void test_trials_move_within_what_is_there(void **state)
{
    (void)state;
    open_app(FIXTURE_SMALL, 36, 120);
    act(ACT_LAST);
    assert_int_equal(shown_number(), 1);
    act(ACT_DOWN);
    assert_int_equal(shown_number(), 1);
    act(ACT_PAGE_UP);
    int64_t paged = shown_number();
    assert_true(paged > 5 && paged < 20);
    act(ACT_PAGE_DOWN);
    assert_int_equal(shown_number(), 1);
    for (int i = 0; i < 20; i++)
        act(ACT_PAGE_UP);
    assert_int_equal(shown_number(), 64);
    assert_true(app.follow);
    close_app();
}

static void test_best_stays_in_sight(void **state)
{
    (void)state;
    open_app(FIXTURE_SMALL, 36, 120);
    int64_t best = model_best(&app.model)->number;
    for (int64_t n = 64; n >= 1; n -= 7) {
        show_number(n);
        char line[64];
        snprintf(line, sizeof line, "%s%4" PRId64 " ", n == best ? "> " : "* ", best);
        assert_int_equal(frame_count("  BEST  "), 1);
        assert_true(frame_has(line));
    }
    close_app();
}

// --- population ---

static void test_population_selects(void **state)
{
    (void)state;
    open_app(FIXTURE_SMALL, 36, 120);
    act(ACT_PREVIOUS_PANE);
    act(ACT_FIRST);
    act(ACT_DOWN);
    act(ACT_DOWN);
    act(ACT_OPEN);
    assert_int_equal(app.selected, app.model.open.population[2]);
    assert_false(app.follow);
    close_app();
}

static void test_population_spells_out_every_column(void **state)
{
    (void)state;
    open_app(FIXTURE_SMALL, 36, 120);
    const struct space *s = app.model.open.space;
    struct heat_column column[SPACE_MAX_SLOTS];
    int count = heat_columns(s, column);
    act(ACT_PREVIOUS_PANE);
    struct config best = model_trial(&app.model, app.model.open.population[0])->config;
    for (int width = 120; width > 0; width = width == 120 ? 46 : 0) {
        app_resize(&app, 36, width);
        for (int i = 0; i < count; i++)
            act(ACT_LEFT);
        for (int i = 0; i < count; i++) {
            const struct param *p = &s->param[column[i].param];
            struct str text = {0};
            if (p->kind == PARAM_FACTORIZATION)
                str_printf(&text, "%s[%d] = %" PRId32, p->name, column[i].slot + 1,
                           best.slot[p->offset + column[i].slot]);
            else
                str_printf(&text, "%s = ", p->name);
            assert_true(frame_has(str_text(&text)));
            assert_true(frame_has(column[i].head)); // its column is among those that are seen
            str_finish(&text);
            act(ACT_RIGHT);
        }
    }
    close_app();
}

static void test_shades_from_anywhere(void **state)
{
    (void)state;
    open_app(FIXTURE_SMALL, 36, 120);
    for (int i = 0; i < 4; i++) {
        assert_true(frame_has("shade: place in range"));
        act(ACT_COLOUR);
        assert_true(frame_has("shade: speed of value"));
        act(ACT_COLOUR);
        act(ACT_NEXT_PANE);
    }
    close_app();
}

static void open_other(int64_t id)
{
    app_open_session(&app, id);
    settle();
}

static void test_sessions_that_have_nothing(void **state)
{
    (void)state;
    open_app(FIXTURE_EMPTY, 36, 120);
    open_other(1);
    assert_true(frame_has("No trial has been measured yet."));
    assert_true(frame_has("No trial has ended yet."));
    assert_true(frame_has("No trial is shown"));
    assert_non_null(view_main.disabled(&app, app.state[VIEW_MAIN], ACT_COPY));
    open_other(2);
    assert_true(frame_has("Rejected without a trial: "));
    close_app();
}

static void test_best_trials_without_a_population(void **state)
{
    (void)state;
    open_app(FIXTURE_SEVERAL, 36, 120);
    for (int64_t id = fixture.session; id > 0; id--) {
        open_other(id);
        bool is_population = app.model.open.is_population;
        assert_int_equal(frame_count("─ Population of "), is_population);
        assert_int_equal(frame_count("─ Best 24 trials ─"), !is_population);
    }
    close_app();
}

// --- detail ---

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
    open_app(FIXTURE_SMALL, 36, 120);
    int64_t number = find_numbered(is_failure);
    assert_true(number > 0);
    show_number(number);
    struct trial t = *model_trial_numbered(&app.model, number);
    char wanted[64];
    snprintf(wanted, sizeof wanted, "│ %s%s%s", outcome_name(t.outcome),
             t.phase[0] ? " in phase " : "", t.phase);
    assert_true(frame_has(wanted));
    for (char *word = strtok(t.reason, " \n"); word; word = strtok(NULL, " \n"))
        assert_true(frame_has(word));
    close_app();
}

static void test_moved_parameters_are_marked(void **state)
{
    (void)state;
    open_app(FIXTURE_SMALL, 50, 200);
    const struct space *s = app.model.open.space;
    int moved_in_all = 0;
    for (int64_t n = find_numbered(has_parents); n <= app.model.open.last_number; n++) {
        struct trial t = *model_trial_numbered(&app.model, n);
        if (!has_parents(&t))
            continue;
        show_number(n);
        int moved = 0;
        for (int i = 0; i < s->param_count; i++) {
            const struct trial *from =
                t.origin[i] > 0 ? model_trial(&app.model, t.origin[i]) : NULL;
            if (!from || value_equal(&s->param[i], &from->config, &t.config))
                continue;
            struct str text = {0};
            str_printf(&text, "%s ", s->param[i].name);
            value_add_text(&s->param[i], from->config.slot + s->param[i].offset, &text);
            str_add(&text, ">");
            value_add_text(&s->param[i], t.config.slot + s->param[i].offset, &text);
            assert_true(frame_has(str_text(&text)));
            str_finish(&text);
            moved++;
        }
        char wanted[32];
        snprintf(wanted, sizeof wanted, "moved %d", moved);
        assert_true(frame_has(wanted));
        assert_true(frame_has("parents #") || frame_has("parents ask "));
        moved_in_all += moved;
    }
    assert_true(moved_in_all > 0);
    show_number(find_numbered(was_drawn));
    assert_true(frame_has("parents none: drawn"));
    close_app();
}

// Stores the k-th neighbour of `of` as the next trial.
static void tell_neighbour(const struct config *of, int k, const char *outcome, double seconds)
{
    struct model *m = &app.model;
    struct config c;
    struct str key = {0}, json = {0};
    struct err e;
    int64_t ask = 1;
    space_neighbour(m->open.space, of, k, &c);
    config_add_key(m->open.space, &c, &key);
    config_add_json(m->open.space, &c, &json);
    while (model_trial(m, ask))
        ask++;
    bool rejected = str_equal(outcome, "rejected");
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
    assert_true(store_put_trial(fixture.store, fixture.session, &t, &e));
    str_finish(&key);
    str_finish(&json);
    now += 2;
    settle();
}

static void test_neighbours_are_counted(void **state)
{
    (void)state;
    open_app(FIXTURE_SMALL, 36, 120);
    struct trial best = *model_best(&app.model);
    int degree = space_degree(app.model.open.space, &best.config);
    char wanted[64];
    app_select(&app, best.ask);
    settle();
    snprintf(wanted, sizeof wanted, "neighbours 0 of %d tried ", degree);
    assert_true(frame_has(wanted));
    tell_neighbour(&best.config, 0, "ok", 2 * best.seconds);
    tell_neighbour(&best.config, 3, "wrong", 0);
    tell_neighbour(&best.config, 4, "rejected", 0);
    tell_neighbour(&best.config, 5, "rejected", 0);
    snprintf(wanted, sizeof wanted, "neighbours 2 of %d tried, 0 better, 2 excluded ", degree);
    assert_true(frame_has(wanted));
    tell_neighbour(&best.config, degree - 1, "ok", best.seconds / 2);
    snprintf(wanted, sizeof wanted, "neighbours 3 of %d tried, 1 better, 2 excluded ", degree);
    assert_true(frame_has(wanted));
    assert_true(frame_has("vs best -50.0 %"));
    close_app();
}

static void test_fast_newest_trials_are_not_counted(void **state)
{
    (void)state;
    open_app(FIXTURE_SMALL, 36, 120);
    struct detail_pane fresh = {.ask = 0};
    app.follow = true;
    app.model.open.rate = 10;
    assert_false(detail_pane_tick(&app, &fresh));
    assert_int_equal(fresh.counting.ask, 0);
    app.model.open.rate = 1;
    detail_pane_tick(&app, &fresh);
    assert_true(fresh.counting.ask > 0);
    close_app();
}

static void test_copy(void **state)
{
    (void)state;
    open_app(FIXTURE_SMALL, 36, 120);
    act(ACT_COPY);
    struct str text = {0};
    config_add_difference(app.model.open.space, &shown_trial(&app)->config, NULL, false, &text);
    assert_string_equal(app.copy, str_text(&text));
    str_finish(&text);
    close_app();
}

static void test_clicks(void **state)
{
    (void)state;
    open_app(FIXTURE_SMALL, 36, 120);
    for (int row = 0; row < 36; row++)
        for (int col = 0; col < 120; col += 5)
            view_main.click(&app, app.state[VIEW_MAIN], row, col);
    view_main.click(&app, app.state[VIEW_MAIN], 18 + 1 + 1 + 3, 10); // frame, head, fourth row
    assert_true(shown_number() > 0);
    int64_t before = shown_number();
    settle();
    view_main.click(&app, app.state[VIEW_MAIN], 18 + 1 + 1 + 4, 10);
    assert_int_equal(shown_number(), before - 1);
    close_app();
}

int main(void)
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
        cmocka_unit_test(test_population_spells_out_every_column),
        cmocka_unit_test(test_shades_from_anywhere),
        cmocka_unit_test(test_sessions_that_have_nothing),
        cmocka_unit_test(test_best_trials_without_a_population),
        cmocka_unit_test(test_failures_say_why),
        cmocka_unit_test(test_moved_parameters_are_marked),
        cmocka_unit_test(test_neighbours_are_counted),
        cmocka_unit_test(test_fast_newest_trials_are_not_counted),
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_clicks),
    };
    return cmocka_run_group_tests_name("main screen", tests, NULL, NULL);
}
