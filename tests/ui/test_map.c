// The map: cells against the trials of a real session, keys, and every size.
#include "filter.h"
#include "fixture.h"
#include "group.h"
#include "look.h"
#include "text.h"
#include "view_map.h"
#include "view_trials.h"

#include <locale.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static struct fixture fixture;
static struct ui_config config;
static struct app app;
static double now;

static void settle(void)
{
    int polls = 0;
    while (app_poll(&app, now, FIXTURE_NOW)) {
        now += 0.01;
        assert_true(++polls < 100000);
    }
    app_draw(&app);
}

static void start(int rows, int cols, enum charset charset)
{
    setlocale(LC_ALL, "C.UTF-8");
    config_init(&config);
    config.charset = charset;
    now = 100;
    struct app_options o = {
        .database = fixture.path,
        .config = &config,
        .program = "tilewalk",
        .view = VIEW_MAP,
        .session = fixture.session,
    };
    app_init(&app, &o);
    app_show(&app, VIEW_MAP);
    app_resize(&app, rows, cols);
    settle();
}

static void open_app(enum fixture_shape shape, int rows, int cols)
{
    fixture_create(&fixture, shape);
    start(rows, cols, CHARSET_BRAILLE);
}

static void close_app(void)
{
    app_finish(&app);
    fixture_destroy(&fixture);
}

static void act(enum action a)
{
    app_act(&app, a);
    settle();
}

static struct map *map(void)
{
    return app.state[VIEW_MAP];
}

static char *frame(void)
{
    app_draw(&app);
    return look_text(&app.screen);
}

static void expect_text(const char *part, bool there)
{
    char *text = frame();
    if ((strstr(text, part) != NULL) != there)
        fail_msg("'%s' is %s in\n%s", part, there ? "not" : "there", text);
    free(text);
}

// --- what cells hold ---

static bool is_at(const struct projection *g, const struct config *c, int row, int col)
{
    return axis_place(&g->x, c, NULL) == col && (g->is_flat || axis_place(&g->y, c, NULL) == row);
}

static bool is_hidden_equal(const struct config *a, const struct config *b)
{
    const struct projection *g = &map()->grid;
    for (int i = 0; i < g->space->param_count; i++)
        if (i != g->x.factor.param && i != g->y.factor.param &&
            !value_equal(&g->space->param[i], a, b))
            return false;
    return true;
}

// All cells against every trial of the session, read one by one. Returns how many counted.
static int64_t expect_cells(const struct config *held)
{
    struct model *m = &app.model;
    const struct projection *g = &map()->grid;
    int64_t taken = 0;
    for (int row = 0; row < projection_rows(g); row++)
        for (int col = 0; col < g->x.count; col++) {
            int64_t outcome[OUTCOME_COUNT] = {0};
            double best = 0;
            const struct trial *t;
            for (int64_t ask = 1; (t = model_trial(m, ask)); ask++) {
                if (!t->told || !is_at(g, &t->config, row, col) ||
                    (held && !is_hidden_equal(&t->config, held)))
                    continue;
                outcome[t->outcome]++;
                taken++;
                best = seconds_speed(m, t->seconds) > best ? seconds_speed(m, t->seconds) : best;
            }
            const struct map_cell *c = projection_at(g, row, col);
            assert_memory_equal(c->outcome, outcome, sizeof outcome);
            assert_true(c->best == best);
        }
    return taken;
}

static int64_t ended(void)
{
    int64_t all = 0;
    for (int i = 0; i < OUTCOME_COUNT; i++)
        all += app.model.open.tally[i];
    return all;
}

static void test_every_trial_is_in_its_cell(void **state)
{
    (void)state;
    open_app(FIXTURE_SMALL, 36, 120);
    assert_int_equal(expect_cells(NULL), ended());
    fixture_tell(&fixture, 9); // new ones only add
    int64_t before = map()->grid.taken, known = ended();
    settle();
    assert_true(ended() > known);
    assert_int_equal(map()->grid.taken - before, ended() - known);
    assert_int_equal(expect_cells(NULL), ended());
    assert_int_equal(map()->importance.added, app.model.open.tally[OUTCOME_OK]);
    act(ACT_AXIS_X);
    assert_int_equal(expect_cells(NULL), ended());
    close_app();
}

static void test_bars_are_of_the_cell_under_the_cursor(void **state)
{
    (void)state;
    open_app(FIXTURE_SMALL, 36, 120);
    act(ACT_LEFT);
    act(ACT_UP);
    const struct map *m = map();
    const struct map_cell *here = map_here(m);
    int64_t all = cell_trials(here) + here->outcome[OUTCOME_REJECTED];
    assert_int_equal(m->cell.count, m->factors - 2);
    for (int i = 0; i < m->cell.count; i++) {
        const struct projection *bar = &m->cell.bar[i];
        double best = 0;
        assert_int_equal(bar->taken, all);
        for (int k = 0; k < bar->x.count; k++)
            best = projection_at(bar, 0, k)->best > best ? projection_at(bar, 0, k)->best : best;
        assert_true(best == here->best);
    }
    close_app();
}

static void test_a_slice_holds_the_best(void **state)
{
    (void)state;
    open_app(FIXTURE_SMALL, 36, 120);
    act(ACT_SLICE);
    struct config best = model_best(&app.model)->config;
    int64_t taken = expect_cells(&best);
    assert_in_range(taken, 1, ended() - 1);
    expect_text("slice", true);
    assert_int_equal(map_here(map())->best_ask, app.model.open.record.best_ask);
    act(ACT_SLICE);
    assert_int_equal(expect_cells(NULL), ended());
    close_app();
}

// --- keys ---

static void test_the_cursor_starts_on_the_best_and_moves(void **state)
{
    (void)state;
    open_app(FIXTURE_SMALL, 36, 120);
    struct map *m = map();
    char best[24];
    speed_number(&app.model, map_here(m)->best, best);
    assert_int_equal(map_here(m)->best_ask, app.model.open.record.best_ask);
    expect_text(best, true);
    assert_true(app.screen.cursor_row > 0);
    int row = m->row, rows = projection_rows(&m->grid);
    act(ACT_FIRST);
    assert_int_equal(m->row, 0);
    act(ACT_UP);
    assert_int_equal(m->row, 0);
    act(ACT_LAST);
    assert_int_equal(m->row, rows - 1);
    fixture_tell(&fixture, 3); // it stays where the user put it
    settle();
    assert_int_equal(m->row, rows - 1);
    act(ACT_AXIS_Y); // other axes: on the best again
    assert_int_equal(map_here(m)->best_ask, app.model.open.record.best_ask);
    (void)row;
    close_app();
}

static void test_pairs_go_by_importance(void **state)
{
    (void)state;
    open_app(FIXTURE_SMALL, 36, 120);
    struct map *m = map();
    double before = 2;
    int pairs = m->factors * (m->factors - 1) / 2, x = m->x, y = m->y;
    for (int i = 0; i < pairs; i++) {
        double share = importance_of(&m->importance, m->factor[m->x]) +
                       importance_of(&m->importance, m->factor[m->y]);
        assert_true(share <= before && m->x != m->y);
        before = share;
        app_act(&app, ACT_NEXT_PAIR);
    }
    assert_true(m->x == x && m->y == y); // round
    app_act(&app, ACT_PREVIOUS_PAIR);
    app_act(&app, ACT_NEXT_PAIR);
    assert_true(m->x == x && m->y == y);
    close_app();
}

// Chosen axes stay, also when others would be better by now; then the screen shows it, and one key
// leads there.
static void test_a_better_pair_is_told_not_taken(void **state)
{
    (void)state;
    open_app(FIXTURE_SMALL, 36, 120);
    struct map *m = map();
    int x = m->x, y = m->y;
    expect_text("more telling pair", false);
    assert_true(m->chosen_from >= 30);
    act(ACT_AXIS_X);
    act(ACT_AXIS_X);
    act(ACT_AXIS_X);
    int worse = m->x;
    m->by_user = false; // as if that had been the best pair when it was chosen
    m->better_from = 0;
    fixture_tell(&fixture, 20);
    now += 2;
    settle();
    settle();
    assert_true(m->x == worse && m->y == y);
    expect_text("] shows a more telling pair", true);
    act(ACT_NEXT_PAIR);
    double share = importance_of(&m->importance, m->factor[m->x]) +
                   importance_of(&m->importance, m->factor[m->y]);
    assert_true(share >= importance_of(&m->importance, m->factor[x]) +
                             importance_of(&m->importance, m->factor[y]));
    expect_text("more telling pair", false);
    close_app();
}

static void test_importance_is_in_percent(void **state)
{
    (void)state;
    open_app(FIXTURE_SMALL, 36, 120);
    char percent[16];
    snprintf(percent, sizeof percent, " %.0f %% ", 100 * map()->importance.entry[0].share);
    expect_text(" importance", true);
    expect_text(percent, true);
    close_app();
}

static void test_a_race_is_in_its_cell(void **state)
{
    (void)state;
    open_app(FIXTURE_SMALL, 36, 120);
    struct trial best = *model_best(&app.model);
    int row, col;
    assert_true(projection_find(&map()->grid, &best.config, NULL, &row, &col));
    author_retime(fixture.author, best.ask, "race", 0.5, true);
    for (int i = 0; i < 3; i++) {
        now += 2;
        settle();
    }
    double speed = projection_at(&map()->grid, row, col)->best;
    assert_true(speed == seconds_speed(&app.model, 0.5 * best.seconds));
    close_app();
}

static void expect_listed(void)
{
    struct map_cell here = *map_here(map());
    int64_t expected = cell_trials(&here), accepted = 0;
    bool only_rejected = expected == 0 && here.outcome[OUTCOME_REJECTED];
    const struct trials_view *v = app.state[VIEW_TRIALS];
    const struct trial *t;
    act(ACT_OPEN);
    assert_int_equal(app.view, VIEW_TRIALS);
    assert_non_null(v->filter);
    assert_string_equal(v->filter_error, "");
    for (int64_t ask = 1; (t = model_trial(&app.model, ask)); ask++)
        accepted += t->told && filter_accepts(v->filter, t) &&
                    (t->outcome == OUTCOME_REJECTED) == only_rejected;
    assert_int_equal(accepted, only_rejected ? here.outcome[OUTCOME_REJECTED] : expected);
    if (here.best_ask)
        assert_int_equal(app.selected, here.best_ask);
    app_show(&app, VIEW_MAP);
}

static void test_enter_lists_the_trials_of_the_cell(void **state)
{
    (void)state;
    open_app(FIXTURE_SMALL, 36, 120);
    for (int pair = 0; pair < 40; pair++) { // of all kinds of parameters
        expect_listed();
        act(ACT_FIRST);
        expect_listed();
        act(ACT_NEXT_PAIR);
    }
    close_app();
}

// A compiler statistic is an axis as parameters are, once the driver reports it.
static void test_what_drivers_tell_is_an_axis(void **state)
{
    (void)state;
    fixture_create(&fixture, FIXTURE_SMALL);
    fixture_execute(&fixture, "UPDATE trial SET statistics = printf('{\"VGPRs\":%d}', ask)"
                              " WHERE outcome = 'ok'");
    start(36, 120, CHARSET_BRAILLE);
    struct map *m = map();
    assert_int_equal(map_axes(m), m->factors + 1);
    for (int i = 0; m->y != m->factors + STATISTIC_REGISTERS; i++) {
        assert_true(i < m->factors);
        act(ACT_AXIS_Y);
    }
    expect_text("registers=", true);
    assert_int_equal(m->grid.taken, app.model.open.tally[OUTCOME_OK]);
    assert_int_equal(map_here(m)->best_ask, app.model.open.record.best_ask);
    expect_listed();
    act(ACT_FIRST);
    expect_listed();
    act(ACT_SLICE);
    expect_text("registers=", true);
    act(ACT_NEXT_PAIR); // of parameters
    assert_true(m->x < m->factors && m->y < m->factors);
    close_app();
}

static void test_a_click_moves_the_cursor(void **state)
{
    (void)state;
    open_app(FIXTURE_SMALL, 36, 120);
    struct map *m = map();
    app_click(&app, 2 + m->at.row, m->at.col + 1);
    assert_true(m->row == m->top && m->col == m->left);
    app_click(&app, 2 + m->at.row + (m->at.high + m->at.rows - 1) / m->at.rows,
              m->at.col + m->at.width + 1);
    assert_true(m->row == m->top + 1 && m->col == m->left + 1);
    app_click(&app, 2, 0); // the frame
    assert_true(m->row == m->top + 1 && m->col == m->left + 1);
    settle();
    close_app();
}

// --- other sessions, sizes, amounts ---

static void test_sessions_without_results(void **state)
{
    (void)state;
    open_app(FIXTURE_EMPTY, 36, 120);
    for (int64_t id = 1; id <= 3; id++) {
        app_open_session(&app, id);
        app_show(&app, VIEW_MAP);
        settle();
        expect_text("no ok trial yet", true);
        assert_int_equal(expect_cells(NULL), ended());
        act(ACT_NEXT_PAIR);
        act(ACT_OPEN);
        app_show(&app, VIEW_MAP);
    }
    model_close(&app.model); // as when somebody deletes it
    settle();
    expect_text("No session is open", true);
    act(ACT_DOWN);
    close_app();
    open_app(FIXTURE_NOTHING, 24, 80);
    expect_text("No session is open", true);
    close_app();
}

static void test_nothing_new_is_no_work(void **state)
{
    (void)state;
    open_app(FIXTURE_SMALL, 36, 120);
    app.dirty = false;
    int64_t taken = map()->scan.taken;
    assert_false(app_poll(&app, now + 1, FIXTURE_NOW));
    assert_false(app.dirty);
    assert_int_equal(map()->scan.taken, taken);
    close_app();
}

static void draw_any(void *context, const struct pane *p)
{
    (void)context;
    view_map.draw(&app, map(), p);
    view_map.act(&app, map(), p->rows % 2 ? ACT_DOWN : ACT_RIGHT);
    if (p->cols % 5 == 0)
        view_map.act(&app, map(), ACT_NEXT_PANE);
    if (p->cols % 3 == 0)
        view_map.act(&app, map(), ACT_PARALLEL);
    if (p->cols % 7 == 0)
        view_map.act(&app, map(), ACT_STATISTIC);
}

static void test_every_size(void **state)
{
    (void)state;
    for (int shape = FIXTURE_SMALL; shape <= FIXTURE_NOTHING; shape++) {
        open_app((enum fixture_shape)shape, 36, 120);
        look_all_sizes(CHARSET_BRAILLE, draw_any, NULL);
        app_act(&app, ACT_NEXT_PAIR);
        settle();
        look_all_sizes(CHARSET_ASCII, draw_any, NULL);
        close_app();
    }
}

static void test_ascii_is_ascii(void **state)
{
    (void)state;
    fixture_create(&fixture, FIXTURE_SMALL);
    start(36, 120, CHARSET_ASCII);
    char *text = frame();
    for (const char *c = text; *c; c++)
        assert_true(*c == '\n' || (*c >= ' ' && *c < 127));
    free(text);
    close_app();
}

static void test_many_trials_come_in_slices(void **state)
{
    (void)state;
    fixture_create_huge(&fixture, 20000);
    setlocale(LC_ALL, "C.UTF-8");
    start(36, 120, CHARSET_BRAILLE);
    struct map *m = map();
    assert_int_equal(m->grid.taken, ended());
    assert_int_equal(m->importance.added, app.model.open.tally[OUTCOME_OK]);
    assert_true(m->importance.kept == IMPORTANCE_SAMPLE || m->importance.added < IMPORTANCE_SAMPLE);
    act(ACT_AXIS_X);
    assert_int_equal(m->grid.taken, ended());
    app_act(&app, ACT_AXIS_X); // while it reads, frames say so
    app_poll(&app, now, FIXTURE_NOW);
    assert_in_range(m->scan.taken, 1, ended() - 1);
    expect_text("reading", true);
    close_app();
}

TEST_GROUP(map)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_trial_is_in_its_cell),
        cmocka_unit_test(test_bars_are_of_the_cell_under_the_cursor),
        cmocka_unit_test(test_a_slice_holds_the_best),
        cmocka_unit_test(test_the_cursor_starts_on_the_best_and_moves),
        cmocka_unit_test(test_pairs_go_by_importance),
        cmocka_unit_test(test_a_better_pair_is_told_not_taken),
        cmocka_unit_test(test_importance_is_in_percent),
        cmocka_unit_test(test_a_race_is_in_its_cell),
        cmocka_unit_test(test_enter_lists_the_trials_of_the_cell),
        cmocka_unit_test(test_what_drivers_tell_is_an_axis),
        cmocka_unit_test(test_a_click_moves_the_cursor),
        cmocka_unit_test(test_sessions_without_results),
        cmocka_unit_test(test_nothing_new_is_no_work),
        cmocka_unit_test(test_every_size),
        cmocka_unit_test(test_ascii_is_ascii),
        cmocka_unit_test(test_many_trials_come_in_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
