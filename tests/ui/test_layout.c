// Layout of the main screen as a property of every size.
#include "group.h"
#include "view_main.h"

#include <stddef.h>
#include <stdint.h>

static int overlap(int a, int a_size, int b, int b_size)
{
    int low = a > b ? a : b;
    int high = a + a_size < b + b_size ? a + a_size : b + b_size;
    return high > low ? high - low : 0;
}

// Inside and disjoint; returns the cells that panes cover, and counts the panes that are shown.
static int check_rectangles(const struct layout *l, int rows, int cols, int *shown)
{
    int cells = 0;
    *shown = 0;
    for (int i = 0; i < PANE_COUNT; i++) {
        const struct rect *r = &l->pane[i];
        if (!layout_shows(l, (enum main_pane)i)) {
            assert_int_equal(r->rows * r->cols, 0);
            continue;
        }
        ++*shown;
        cells += r->rows * r->cols;
        assert_true(r->row >= 0 && r->col >= 0);
        assert_true(r->row + r->rows <= rows && r->col + r->cols <= cols);
        for (int j = 0; j < i; j++) {
            const struct rect *q = &l->pane[j];
            assert_int_equal(overlap(r->row, r->rows, q->row, q->rows) *
                                 overlap(r->col, r->cols, q->col, q->cols),
                             0);
        }
    }
    return cells;
}

static enum layout_kind expected_kind(int rows, int cols, bool zoomed)
{
    if (rows < 6 || cols < 40)
        return LAYOUT_BARE;
    if (!zoomed && rows >= 26 && cols >= 110)
        return LAYOUT_FOUR;
    return !zoomed && rows >= 20 && cols >= 80 ? LAYOUT_TABBED : LAYOUT_ONE;
}

static void check_size(int rows, int cols, enum main_pane focus, bool zoomed)
{
    static const int promised[] = {
        [LAYOUT_FOUR] = 4, [LAYOUT_TABBED] = 2, [LAYOUT_ONE] = 1, [LAYOUT_BARE] = 1};
    struct layout l = layout_make(rows, cols, focus, PANE_DETAIL, zoomed);
    int shown;
    int cells = check_rectangles(&l, rows, cols, &shown);
    assert_int_equal(l.kind, expected_kind(rows, cols, zoomed));
    assert_int_equal(shown, promised[l.kind]);
    assert_int_equal(cells, rows * cols);
    assert_true(layout_shows(&l, focus) || (l.kind == LAYOUT_FOUR && focus == PANE_LOG));
    if (l.kind == LAYOUT_TABBED)
        assert_true(layout_shows(&l, PANE_CURVE));
    if (l.kind == LAYOUT_TABBED && focus == PANE_CURVE)
        assert_true(layout_shows(&l, PANE_DETAIL));
}

static void test_every_size(void **state)
{
    (void)state;
    for (int rows = 1; rows <= 100; rows++)
        for (int cols = 1; cols <= 250; cols++)
            for (int focus = 0; focus < PANE_COUNT; focus++) {
                check_size(rows, cols, (enum main_pane)focus, false);
                check_size(rows, cols, (enum main_pane)focus, true);
            }
}

static void test_panes_are_usable(void **state)
{
    (void)state;
    struct layout four =
        layout_make(LAYOUT_FOUR_ROWS, LAYOUT_FOUR_COLS, PANE_TRIALS, PANE_TRIALS, false);
    for (int i = 0; i < PANE_LOG; i++)
        assert_true(four.pane[i].rows >= 11 && four.pane[i].cols >= 48);
    struct layout two =
        layout_make(LAYOUT_TABBED_ROWS, LAYOUT_TABBED_COLS, PANE_LOG, PANE_LOG, false);
    assert_true(two.pane[PANE_CURVE].rows >= 8 && two.pane[PANE_LOG].rows >= 10);
}

static void test_pane_at(void **state)
{
    (void)state;
    struct layout l = layout_make(32, 120, PANE_TRIALS, PANE_TRIALS, false);
    for (int row = -1; row <= 32; row++)
        for (int col = -1; col <= 120; col++) {
            enum main_pane pane = layout_pane_at(&l, row, col);
            bool inside = row >= 0 && row < 32 && col >= 0 && col < 120;
            assert_int_equal(pane < PANE_COUNT, inside);
            if (!inside)
                continue;
            const struct rect *r = &l.pane[pane];
            assert_true(row >= r->row && row - r->row < r->rows);
            assert_true(col >= r->col && col - r->col < r->cols);
        }
}

static void test_focus_goes_round(void **state)
{
    (void)state;
    for (int kind = LAYOUT_FOUR; kind <= LAYOUT_BARE; kind++) {
        enum main_pane pane = PANE_CURVE;
        unsigned seen = 0;
        for (int i = 0; i < (kind == LAYOUT_FOUR ? 4 : 5); i++) {
            seen |= 1u << pane;
            enum main_pane next = layout_next((enum layout_kind)kind, pane, true);
            assert_int_equal(layout_next((enum layout_kind)kind, next, false), pane);
            pane = next;
        }
        assert_int_equal(pane, PANE_CURVE);
        assert_int_equal(seen, kind == LAYOUT_FOUR ? 15 : 31);
    }
}

TEST_GROUP(layout)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_size),
        cmocka_unit_test(test_panes_are_usable),
        cmocka_unit_test(test_pane_at),
        cmocka_unit_test(test_focus_goes_round),
    };
    return cmocka_run_group_tests_name("layout", tests, NULL, NULL);
}
