// The map's shades: what they say of a cell, and that the cursor does not change them.
#include "group.h"
#include "look.h"
#include "stage.h"
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

static int level_of(const struct map_order *order, int i)
{
    return map_level(map(), order,
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

static void test_levels(void **state)
{
    (void)state;
    struct map_order order;
    map_order_cells(map(), &order);
    for (int by_rank = 0; by_rank < 2; by_rank++) {
        map()->by_rank = by_rank;
        assert_int_equal(level_of(&order, 0), RAMP_LEVELS - 1);
        assert_int_equal(level_of(&order, order.count - 1), 0);
        for (int i = 1; i < order.count; i++)
            assert_true(level_of(&order, i) <= level_of(&order, i - 1));
    }
    map()->by_rank = false;
    for (int i = 0; i < order.count; i++) { // evenly in speed
        double share = (order.cell[i].value - order.least) / (order.most - order.least);
        assert_true(fabs(level_of(&order, i) - share * (RAMP_LEVELS - 1)) <= 1);
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
        bool shade = c->style >= STYLE_RAMP && c->style < STYLE_RAMP + RAMP_LEVELS;
        assert_false(shade && c->marked);
        brackets += c->marked && (c->glyph == '[' || c->glyph == ']');
    }
    assert_true(brackets >= 2);
}

#define MAP_TEST(test) cmocka_unit_test_setup_teardown(test, open_map, close_map)

TEST_GROUP(map_shades)
{
    const struct CMUnitTest tests[] = {
        MAP_TEST(test_keys),
        MAP_TEST(test_levels),
        MAP_TEST(test_winner),
        MAP_TEST(test_cursor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
