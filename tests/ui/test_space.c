// The space screen: the list, moves and their fates, shares, the file and its keys.
#include "base/file.h"
#include "look.h"
#include "stage.h"
#include "trial_text.h"
#include "view_space.h"

#include <inttypes.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define SPACE_PATH "presets/gemm.lua" // of the fixture's sessions, in its folder

static struct stage stage;
static struct app *const app = &stage.app;

static void open_at(enum fixture_shape shape, int rows, int cols)
{
    stage_open(&stage, shape, VIEW_SPACE, CHARSET_BRAILLE);
    app_resize(app, rows, cols);
    stage_rest(&stage);
}

static void open_screen(enum fixture_shape shape)
{
    open_at(shape, 36, 120);
}

static bool has(const char *text)
{
    char *frame = stage_frame(&stage);
    bool found = strstr(frame, text) != NULL;
    free(frame);
    return found;
}

static struct space_view *state_of_view(void)
{
    return app->state[VIEW_SPACE];
}

static const struct space *space(void)
{
    return app->model.open.space;
}

static int find_param(const char *name)
{
    return (int)(space_find(space(), name) - space()->param);
}

static void choose(int param)
{
    app_act(app, ACT_FIRST);
    for (int i = 0; i < param; i++)
        app_act(app, ACT_DOWN);
    stage_rest(&stage);
}

static void draw_body(void *context, const struct pane *p)
{
    (void)context;
    view_space.draw(app, state_of_view(), p);
}

// --- sizes ---

static void test_every_size(void **state)
{
    static const char *const kinds[] = {"registers", "stage_a", "pad", "order", "walk"};
    (void)state;
    for (int shape = FIXTURE_SMALL; shape <= FIXTURE_NOTHING; shape++) {
        open_screen((enum fixture_shape)shape);
        look_all_sizes(CHARSET_BRAILLE, draw_body, NULL);
        for (size_t i = 0; shape == FIXTURE_SMALL && i < sizeof kinds / sizeof *kinds; i++) {
            choose(find_param(kinds[i]));
            look_all_sizes(i % 2 ? CHARSET_ASCII : CHARSET_BLOCK, draw_body, NULL);
        }
        app_act(app, ACT_NEXT_PANE);
        app_act(app, ACT_LAST);
        look_all_sizes(CHARSET_ASCII, draw_body, NULL);
        stage_close(&stage);
    }
}

static void test_parameters_stay_when_there_is_little_room(void **state)
{
    (void)state;
    open_at(FIXTURE_SMALL, 15, 60);
    assert_true(has("threads"));
    assert_true(has("Moves of threads"));
    assert_true(has(SPACE_PATH));
    app_resize(app, 5, 30);
    assert_true(has("> threads"));
    assert_false(has("Neighbours"));
    stage_play(&stage, "G");
    assert_true(has("> walk"));
    app_resize(app, 4, 20);
    stage_play(&stage, "g");
    assert_true(has("> threads"));
    stage_close(&stage);
}

static void test_nothing_is_open(void **state)
{
    (void)state;
    open_screen(FIXTURE_NOTHING);
    assert_true(has("No session is open."));
    stage_play(&stage, "j k tab R u");
    assert_true(has("no session is open"));
    stage_close(&stage);
}

// --- the list ---

static void test_parameters(void **state)
{
    (void)state;
    open_at(FIXTURE_SMALL, 50, 160);
    struct trial best = *model_best(&app->model);
    for (int i = 0; i < space()->param_count; i++) {
        const struct param *p = &space()->param[i];
        struct str row = {0};
        str_printf(&row, " %-9s %-13s ", p->name, param_kind_name(p->kind));
        assert_true(has(str_text(&row)));
        row.length = 0;
        value_add_text(p, best.config.slot + p->offset, &row);
        assert_true(has(str_text(&row)));
        str_finish(&row);
    }
    stage_close(&stage);
}

// Distinct values among the trials that ran, by looking at every pair of them.
static int distinct_values(const struct param *p)
{
    struct trial seen[256];
    int count = 0, distinct = 0;
    for (int64_t n = 1; n <= app->model.open.last_number && count < 256; n++)
        seen[count++] = *model_trial_numbered(&app->model, n);
    for (int i = 0; i < count; i++) {
        bool again = false;
        for (int j = 0; j < i; j++)
            again |= value_equal(p, &seen[i].config, &seen[j].config);
        distinct += !again;
    }
    return distinct;
}

static void test_coverage(void **state)
{
    (void)state;
    open_screen(FIXTURE_SMALL);
    for (int again = 0; again < 2; again++) {
        for (int i = 0; i < space()->param_count; i++) {
            const struct param *p = &space()->param[i];
            const struct value_facts *facts = &state_of_view()->coverage.of[i];
            char wanted[48];
            int64_t trials = 0;
            assert_int_equal(facts->seen.count, distinct_values(p));
            for (int k = 0; k < facts->seen.count; k++)
                trials += facts->trials[k];
            assert_int_equal(trials, app->model.open.last_number);
            snprintf(wanted, sizeof wanted, " %d/%" PRIu64 " ", facts->seen.count, p->size);
            assert_true(has(wanted));
        }
        fixture_tell(&stage.fixture, 9);
        stage_wait(&stage, 2);
    }
    stage_close(&stage);
}

static void test_shares_agree_with_a_large_survey(void **state)
{
    (void)state;
    open_screen(FIXTURE_SMALL);
    const struct shares *s = &state_of_view()->shares;
    struct survey large;
    struct err e;
    assert_true(s->done);
    assert_int_equal(s->sum.points, SHARES_MOST);
    assert_true(survey_take(space(), &app->model.open.limits, 0, 8000, 77, &large, &e));
    double valid = (double)large.valid / (double)large.points;
    double share = share_of(s, s->sum.valid), error = share_error(s, share);
    assert_true(share - valid < 2 * error && valid - share < 2 * error);
    assert_true(error > 0.01 && error < 0.02);
    for (int i = 0; i < space()->constraint_count; i++) {
        double alone = (double)large.by_constraint[i] / (double)large.points;
        double found = share_of(s, s->sum.by_constraint[i]);
        assert_true(found - alone < 0.03 && alone - found < 0.03);
    }
    survey_finish(&large);
    char wanted[64];
    snprintf(wanted, sizeof wanted, "valid %.1f ±%.1f %%", 100 * share, 100 * error);
    assert_true(has(wanted));
    assert_true(has("the other 6 limits of the device")); // shared memory and statements have rows
    stage_close(&stage);
}

static void test_a_constraint_shows_its_line(void **state)
{
    (void)state;
    open_screen(FIXTURE_SMALL);
    assert_string_equal(view_space.disabled(app, state_of_view(), ACT_OPEN),
                        "no constraint is chosen");
    stage_play(&stage, "tab j j j enter");
    assert_true(has(SPACE_PATH ":40: constraint(\"whole subgroups\""));
    stage_play(&stage, "tab");
    assert_int_equal(state_of_view()->section, SECTION_PARAMS);
    stage_close(&stage);
}

static void test_cursors_stay_inside(void **state)
{
    (void)state;
    open_screen(FIXTURE_SMALL);
    struct space_view *v = state_of_view();
    stage_play(&stage, "k");
    assert_int_equal(v->cursor[SECTION_PARAMS], 0);
    stage_play(&stage, "G j");
    assert_int_equal(v->cursor[SECTION_PARAMS], space()->param_count - 1);
    stage_play(&stage, "tab G j j");
    assert_int_equal(v->cursor[SECTION_RULES], space()->constraint_count - 1);
    assert_int_equal(v->cursor[SECTION_PARAMS], space()->param_count - 1);
    stage_close(&stage);
}

static void test_clicks(void **state)
{
    (void)state;
    open_screen(FIXTURE_SMALL);
    struct space_view *v = state_of_view();
    stage_frame(&stage);
    view_space.click(app, v, 1 + 1 + 3, 5); // frame, head
    assert_int_equal(v->cursor[SECTION_PARAMS], 3);
    int rules = 1 + 1 + space()->param_count + 2;
    view_space.click(app, v, rules + 2, 5);
    assert_int_equal(v->section, SECTION_RULES);
    assert_int_equal(v->cursor[SECTION_RULES], 2);
    view_space.click(app, v, rules - 1, 5); // a head
    view_space.click(app, v, 5, 110);       // the other pane
    assert_int_equal(v->cursor[SECTION_RULES], 2);
    assert_int_equal(v->cursor[SECTION_PARAMS], 3);
    stage_close(&stage);
}

// --- moves ---

// Stores the best configuration with another value of a listed parameter.
static void tell_moved(int param, int32_t value, const char *outcome, double seconds)
{
    struct trial best = *model_best(&app->model);
    struct str key = {0}, json = {0};
    struct err e;
    int64_t ask = 1;
    best.config.slot[space()->param[param].offset] = value;
    config_add_key(space(), &best.config, &key);
    config_add_json(space(), &best.config, &json);
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
    assert_true(store_put_trial(stage.fixture.store, stage.fixture.session, &t, &e));
    str_finish(&key);
    str_finish(&json);
    stage_wait(&stage, 2);
}

static void test_fates_of_neighbours(void **state)
{
    (void)state;
    open_screen(FIXTURE_SMALL);
    struct trial best = *model_best(&app->model);
    int walk = find_param("walk"), stage_b = find_param("stage_b"), other = 0;
    int now = best.config.slot[space()->param[stage_b].offset];
    char wanted[96];
    choose(stage_b);
    assert_true(has("valid, untried"));
    assert_false(has("tried #"));
    other = now == 1 ? 2 : 1;
    tell_moved(stage_b, other, "ok", best.seconds * 2);
    snprintf(wanted, sizeof wanted, "%-8s  tried #65  ", space()->param[stage_b].label[other]);
    assert_true(has(wanted));
    assert_true(has("(-50.0 %)"));
    snprintf(wanted, sizeof wanted, "  %d candidates", space_degree(space(), &best.config));
    assert_true(has(wanted));
    assert_true(has(" 1 tried   0 better"));
    tell_moved(stage_b, now == 3 ? 0 : 3, "wrong", 0);
    assert_true(has("tried #66  wrong"));
    assert_true(has(" 2 tried   0 better"));
    choose(walk);
    assert_false(has("tried #"));
    choose(find_param("stage_a"));
    assert_true(has("x constraint 'vectors divide")); // of stage_a=none
    stage_close(&stage);
}

static void test_now_is_the_selected_trial(void **state)
{
    (void)state;
    open_screen(FIXTURE_SMALL);
    struct trial best = *model_best(&app->model);
    char wanted[64];
    snprintf(wanted, sizeof wanted, "now: #%" PRId64 ", the best", best.number);
    assert_true(has(wanted));
    const struct trial *t = model_trial_numbered(&app->model, best.number == 7 ? 8 : 7);
    struct config c = t->config;
    snprintf(wanted, sizeof wanted, "now: #%" PRId64 ", the selected one", t->number);
    app_select(app, t->ask);
    stage_rest(&stage);
    assert_true(has(wanted));
    for (int i = 0; i < space()->param_count; i++) {
        const struct param *p = &space()->param[i];
        struct str text = {0};
        str_add(&text, "> ");
        value_add_text(p, c.slot + p->offset, &text);
        choose(i);
        assert_true(has(str_text(&text)));
        str_finish(&text);
    }
    stage_close(&stage);
}

static void test_graphs(void **state)
{
    (void)state;
    open_screen(FIXTURE_SMALL);
    choose(find_param("split_k"));
    assert_true(has("1 ─── 2 ─── 4 ─── 8"));
    assert_true(has("▲ now"));
    choose(find_param("order"));
    assert_true(has("any two swap places"));
    choose(find_param("walk"));
    assert_true(has("group2  ─ rows, group4"));
    choose(find_param("explicit"));
    assert_true(has("each value is one step from every other"));
    choose(find_param("threads"));
    assert_true(has("a prime factor moves"));
    app->screen.charset = CHARSET_ASCII;
    choose(find_param("split_k"));
    assert_true(has("1 --- 2 --- 4 --- 8"));
    stage_close(&stage);
}

// A path is cut around now, and never leaves the pane.
static void draw_long_path(void *context, const struct pane *p)
{
    struct space_lines l = {.p = p};
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
    open_screen(FIXTURE_SMALL);
    int walk = find_param("walk");
    const struct param *p = &space()->param[walk];
    choose(walk);
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
        assert_true(has(wanted));
    }
    stage_close(&stage);
}

static void test_without_trials(void **state)
{
    (void)state;
    open_screen(FIXTURE_EMPTY);
    for (int i = 0; i < app->model.session_count; i++) {
        app_open_session(app, app->model.session[i].record.id);
        app_show(app, VIEW_SPACE);
        stage_wait(&stage, 2);
        assert_true(has("13 parameters"));
        assert_true(has("Best "));
        stage_play(&stage, "j j ctrl-d ctrl-u tab enter");
    }
    stage_close(&stage);
}

// --- the file ---

static void put(const char *from, const char *to)
{
    struct err e;
    char *text, *path = path_shipped("presets/gemm.lua");
    assert_true(file_read(path, &text, NULL, &e));
    char *at = strstr(text, from);
    assert_non_null(at);
    char *edited = mem_printf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    mkdir("presets", 0777);
    assert_true(file_write(SPACE_PATH, edited, strlen(edited), &e));
    free(edited);
    free(text);
    free(path);
    stage_wait(&stage, 2);
}

static void test_the_file(void **state)
{
    (void)state;
    open_screen(FIXTURE_SMALL);
    assert_true(has("The file is gone; session 1 has its own copy"));
    stage_play(&stage, "e");
    assert_null(app->edit_path);
    assert_true(has("edit: the file is gone"));
    put("param.pad", "param.pad");
    assert_true(has("On disk as the session has it."));
    stage_play(&stage, "u");
    assert_true(has("use-new: the file is as the session has it"));
    put("param.pad", "param.more = discrete { 1, 2 }\nparam.pad");
    assert_true(has("added more; other text in gemm.lua"));
    assert_true(has("160944537600 points, in use 80472268800"));
    put("discrete { 0, 1, 2, 4 }", "discret { 0, 1, 2, 4 }");
    assert_true(has("does NOT load"));
    assert_true(has(SPACE_PATH ":16: unknown name 'discret' (did you mean 'discrete'?)"));
    assert_true(has("      15 | param.stage_b"));
    assert_true(has(" >   16 | param.pad     = discret {"));
    assert_true(has("      17 |"));
    assert_true(has("The last good version stays in use; session 1 keeps running on it."));
    stage_play(&stage, "u");
    assert_true(has("use-new: the file does not load"));
    assert_null(app->dialog);
    stage_close(&stage);
}

static void test_edit_goes_to_the_line(void **state)
{
    (void)state;
    open_screen(FIXTURE_SMALL);
    put("param.pad", "param.pad");
    choose(find_param("walk"));
    stage_play(&stage, "e");
    assert_string_equal(app->edit_path, SPACE_PATH);
    assert_int_equal(app->edit_line, 25);
    stage_play(&stage, "tab e");
    assert_int_equal(app->edit_line, 37); // the first constraint
    stage_play(&stage, "tab");
    put("param.pad", "\n\nparam.pad"); // lines move
    stage_play(&stage, "e");
    assert_int_equal(app->edit_line, 27);
    put("discrete { 0, 1, 2, 4 }", "discret { 0, 1, 2, 4 }");
    stage_play(&stage, "e");
    assert_int_equal(app->edit_line, 16);
    stage_close(&stage);
}

static void test_use_new(void **state)
{
    (void)state;
    open_screen(FIXTURE_SMALL);
    put("param.pad", "param.more = discrete { 1, 2 }\nparam.pad");
    stage_play(&stage, "R");
    assert_true(has("loads: added more"));
    stage_play(&stage, "u");
    assert_non_null(app->dialog);
    assert_true(has(SPACE_PATH));
    stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_size),
        cmocka_unit_test(test_parameters_stay_when_there_is_little_room),
        cmocka_unit_test(test_nothing_is_open),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_shares_agree_with_a_large_survey),
        cmocka_unit_test(test_a_constraint_shows_its_line),
        cmocka_unit_test(test_cursors_stay_inside),
        cmocka_unit_test(test_clicks),
        cmocka_unit_test(test_fates_of_neighbours),
        cmocka_unit_test(test_now_is_the_selected_trial),
        cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_long_lists),
        cmocka_unit_test(test_best_by_value),
        cmocka_unit_test(test_without_trials),
        cmocka_unit_test(test_the_file),
        cmocka_unit_test(test_edit_goes_to_the_line),
        cmocka_unit_test(test_use_new),
    };
    setlocale(LC_ALL, "C.UTF-8");
    return cmocka_run_group_tests_name("space screen", tests, NULL, NULL);
}
