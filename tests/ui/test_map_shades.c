// The map's shades: what they say of a cell, and that the cursor does not change them.
#include "group.h"
#include "look.h"
#include "stage.h"
#include "text.h"
#include "view_map.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static struct stage stage;

static int open_map(void **state)
{
    (void)state;
    stage_open(&stage, FIXTURE_SMALL, VIEW_MAP, CHARSET_BRAILLE);
    app_resize(&stage.app, 36, 120);
    stage_rest(&stage);
    app_draw(&stage.app);
    return 0;
}

static int close_map(void **state)
{
    (void)state;
    stage_close(&stage);
    return 0;
}

static struct map *map(void)
{
    return stage.app.state[VIEW_MAP];
}

static void expect_text(const char *part)
{
    stage_rest(&stage);
    char *text = stage_frame(&stage);
    if (!strstr(text, part))
        fail_msg("'%s' is not in\n%s", part, text);
    free(text);
}

static double share_of(const struct map_order *order, int i)
{
    return map_share(map(), order,
                     projection_at(&map()->grid, order->cell[i].row, order->cell[i].col));
}

static void test_keys(void **state)
{
    (void)state;
    expect_text("high best, by speed");
    stage_play(&stage, "c");
    expect_text("high best, by rank");
    stage_play(&stage, "v");
    expect_text("mean TFLOPS");
    stage_play(&stage, "v");
    expect_text("count of trials");
    stage_play(&stage, "v c");
    expect_text("best TFLOPS");
    expect_text("by speed");
}

static void test_shares(void **state)
{
    (void)state;
    struct map_order order;
    map_order_cells(map(), &order);
    for (int by_rank = 0; by_rank < 2; by_rank++) {
        map()->by_rank = by_rank;
        assert_true(share_of(&order, 0) == 1);
        assert_true(share_of(&order, order.count - 1) == 0);
        for (int i = 1; i < order.count; i++)
            assert_true(share_of(&order, i) <= share_of(&order, i - 1));
    }
    map()->by_rank = false;
    for (int i = 0; i < order.count; i++) { // evenly in speed
        double share = (order.cell[i].value - order.least) / (order.most - order.least);
        assert_true(fabs(share_of(&order, i) - share) < 1e-12);
    }
}

// The winner of a race is the best of all cells, however fast others were measured.
static void test_winner(void **state)
{
    (void)state;
    struct trial winner = *model_trial_ranked(&stage.app.model, 3);
    author_retime(stage.fixture.author, winner.ask, "race", 2, true);
    for (int i = 0; i < 3; i++)
        stage_wait(&stage, 2);
    stage_rest(&stage);
    struct map_order order;
    int row, col;
    map_order_cells(map(), &order);
    assert_true(projection_find(&map()->grid, &winner.config, NULL, &row, &col));
    assert_true(order.cell[0].row == row && order.cell[0].col == col);
    assert_int_equal(projection_at(&map()->grid, row, col)->best_ask, winner.ask);
    assert_true(map_here(map()) == projection_at(&map()->grid, row, col));
    expect_text(" raced");
}

static void test_cursor(void **state)
{
    (void)state;
    const struct screen *s = &stage.app.screen;
    int brackets = 0;
    for (int i = 0; i < s->rows * s->cols; i++) {
        const struct cell *c = &s->cell[i];
        assert_false(c->style >= STYLE_PATCH && c->marked);
        brackets += c->marked && (c->glyph == '[' || c->glyph == ']');
    }
    assert_true(brackets >= 2);
}

// Every cell that has a value shows it, on the colour of its share, in any height of cells.
static void test_numbers(void **state)
{
    (void)state;
    struct map_order order;
    map_order_cells(map(), &order);
    for (int rows = 14; rows <= 60; rows += 5) {
        app_resize(&stage.app, rows, rows % 2 ? 150 : 72); // in narrow cells, too
        app_draw(&stage.app);
        const struct screen *s = &stage.app.screen;
        assert_int_equal(map()->at.rows, projection_rows(&map()->grid));
        for (int i = 0; i < order.count; i++) {
            char number[24], line[64] = "";
            int down = order.cell[i].row, top = down * map()->at.high / map()->at.rows;
            int end = (down + 1) * map()->at.high / map()->at.rows;
            int row = 2 + map()->at.row + (top + end - 1) / 2; // below the head
            int col = map()->at.col + order.cell[i].col * map()->at.width + 1;
            enum style text = paint_ordered(share_of(&order, i));
            for (int k = 0; k < map()->at.width - 1; k++) {
                const struct cell *c = &s->cell[row * s->cols + col + k];
                line[k] = c->glyph < 127 && c->style == text ? (char)c->glyph : ' ';
            }
            speed_number(&stage.app.model, order.cell[i].value, number);
            if (!strstr(line, number))
                fail_msg("%s is not in '%s', at %d rows", number, line, rows);
        }
    }
}

// The slice plots are of all trials, whatever the axes and the slice are.
static void test_slices(void **state)
{
    (void)state;
    stage_play(&stage, "f X");
    const struct map *m = map();
    struct model *model = &stage.app.model;
    for (int i = 0; i < m->factors; i++) {
        double best[AXIS_MOST] = {0};
        const struct trial *t;
        for (int64_t ask = 1; (t = model_trial(model, ask)); ask++) {
            int place = t->told ? axis_place(&m->along[i].x, &t->config, NULL) : -1;
            if (place >= 0 && t->outcome == OUTCOME_OK)
                best[place] = fmax(best[place], seconds_speed(model, t->seconds));
        }
        for (int k = 0; k < m->along[i].x.count; k++)
            assert_true(projection_at(&m->along[i], 0, k)->best == best[k]);
    }
}

// Where numbers stand, so do the marks of the best and of one trial: digits give way.
static void test_marks_of_one_trial(void **state)
{
    (void)state;
    int narrow = 0;
    app_resize(&stage.app, 24, 80);
    for (int pair = 0; pair < 12; pair++) {
        stage_play(&stage, "]");
        stage_rest(&stage);
        const struct projection *g = &map()->grid;
        char *text = stage_frame(&stage);
        int single = 0, marks = 0;
        for (int row = 0; row < map()->at.rows; row++)
            for (int col = 0; col < map()->at.cols; col++) {
                const struct map_cell *c = projection_at(g, map()->top + row, map()->left + col);
                bool best = c->best_ask == stage.app.model.open.record.best_ask;
                single += cell_trials(c) == 1 && c->outcome[OUTCOME_OK] && !best;
            }
        for (const char *c = text; *c; c++)
            marks += *c == '~';
        if (strchr(text, '*')) {
            assert_non_null(strstr(text, "once (~)"));
            assert_int_equal(marks, single + 1);
            narrow += map()->at.width <= 6;
        }
        free(text);
    }
    assert_true(narrow > 0); // "43.69" fills such a cell
}

// Cut labels are told apart: "g2" and "g4" of the groups of `walk`, not "gro" of each.
static void test_labels_differ(void **state)
{
    (void)state;
    bool seen = false;
    app_resize(&stage.app, 60, 80);
    for (int pair = 0; pair < 12; pair++) {
        stage_play(&stage, "]");
        stage_rest(&stage);
        char *text = stage_frame(&stage);
        assert_null(strstr(text, " gro "));
        seen |= strstr(text, " g2 ") && strstr(text, " g4 ");
        free(text);
    }
    assert_true(seen);
}

static void test_overlap(void **state)
{
    (void)state;
    struct importance *im = &map()->importance;
    for (int i = 0; i < im->count; i++)
        im->entry[i].share = 0.9 / im->count;
    expect_text("parameter importance");
    for (int i = 0; i < im->count; i++)
        im->entry[i].share = 0.9;
    expect_text("marginal importance");
    stage_play(&stage, "tab tab");
    expect_text("overlap");
}

#define MAP_TEST(test) cmocka_unit_test_setup_teardown(test, open_map, close_map)

TEST_GROUP(map_shades)
{
    const struct CMUnitTest tests[] = {
        MAP_TEST(test_keys),
        MAP_TEST(test_shares),
        MAP_TEST(test_winner),
        MAP_TEST(test_cursor),
        MAP_TEST(test_numbers),
        MAP_TEST(test_slices),
        MAP_TEST(test_marks_of_one_trial),
        MAP_TEST(test_labels_differ),
        MAP_TEST(test_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
