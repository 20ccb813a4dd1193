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

static enum layout_kind expected_kind(int rows, int cols, const struct layout_choice *c)
{
    bool zoomed = c->zoomed;
    if (rows < 6 || cols < 40)
        return LAYOUT_BARE;
    if (!zoomed && rows >= 26 && cols >= 110)
        return LAYOUT_FOUR;
    bool alone = zoomed || (c->carpet && c->focus == PANE_CURVE);
    return !alone && rows >= 20 && cols >= 80 ? LAYOUT_TABBED : LAYOUT_ONE;
}

static bool has_place(enum main_pane pane, bool carpet)
{
    return pane != PANE_LOG && pane != (carpet ? PANE_POPULATION : PANE_WORKERS);
}

static void check_size(int rows, int cols, const struct layout_choice *c)
{
    static const int promised[] = {
        [LAYOUT_FOUR] = 4, [LAYOUT_TABBED] = 2, [LAYOUT_ONE] = 1, [LAYOUT_BARE] = 1};
    struct layout l = layout_make(rows, cols, c);
    int shown;
    int cells = check_rectangles(&l, rows, cols, &shown);
    assert_int_equal(l.kind, expected_kind(rows, cols, c));
    assert_int_equal(shown, promised[l.kind]);
    assert_int_equal(cells, rows * cols);
    assert_int_equal(layout_shows(&l, c->focus),
                     l.kind != LAYOUT_FOUR || has_place(c->focus, c->carpet));
    if (l.kind == LAYOUT_TABBED)
        assert_true(layout_shows(&l, PANE_CURVE));
    if (l.kind == LAYOUT_TABBED && c->focus == PANE_CURVE)
        assert_true(layout_shows(&l, PANE_DETAIL));
}

static void test_every_size(void **state)
{
    (void)state;
    for (int rows = 1; rows <= 100; rows++)
        for (int cols = 1; cols <= 250; cols++)
            for (int i = 0; i < 4 * PANE_COUNT; i++) {
                struct layout_choice c = {(enum main_pane)(i / 4), PANE_DETAIL, i & 1, i & 2};
                check_size(rows, cols, &c);
            }
}

static void test_panes_are_usable(void **state)
{
    (void)state;
    struct layout_choice choice = {.focus = PANE_TRIALS, .tab = PANE_TRIALS};
    struct layout four = layout_make(LAYOUT_FOUR_ROWS, LAYOUT_FOUR_COLS, &choice);
    for (int i = 0; i < PANE_LOG; i++)
        assert_true(i == PANE_WORKERS || (four.pane[i].rows >= 11 && four.pane[i].cols >= 44));
    choice.carpet = true;
    four = layout_make(LAYOUT_FOUR_ROWS, LAYOUT_FOUR_COLS, &choice);
    assert_true(four.pane[PANE_CURVE].rows == LAYOUT_FOUR_ROWS && four.pane[PANE_CURVE].cols >= 66);
    assert_true(four.pane[PANE_TRIALS].rows >= 8 && four.pane[PANE_DETAIL].rows >= 10);
    assert_true(four.pane[PANE_WORKERS].rows >= 5 && four.pane[PANE_WORKERS].cols >= 44);
    choice = (struct layout_choice){.focus = PANE_LOG, .tab = PANE_LOG};
    struct layout two = layout_make(LAYOUT_TABBED_ROWS, LAYOUT_TABBED_COLS, &choice);
    assert_true(two.pane[PANE_CURVE].rows >= 8 && two.pane[PANE_LOG].rows >= 10);
}

static void test_pane_at(void **state)
{
    (void)state;
    const struct layout_choice choice = {.focus = PANE_TRIALS, .tab = PANE_TRIALS, .carpet = true};
    struct layout l = layout_make(32, 120, &choice);
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
    static const int sizes[][2] = {{32, 120}, {20, 80}, {10, 60}, {3, 20}};
    for (int i = 0; i < 8; i++) {
        struct layout_choice choice = {PANE_TRIALS, PANE_TRIALS, .carpet = i % 2};
        struct layout l = layout_make(sizes[i / 2][0], sizes[i / 2][1], &choice);
        enum main_pane pane = PANE_CURVE;
        unsigned seen = 0;
        for (int k = 0; k < (l.kind == LAYOUT_FOUR ? 4 : PANE_COUNT); k++) {
            seen |= 1u << pane;
            enum main_pane next = layout_next(&l, pane, true);
            assert_int_equal(layout_next(&l, next, false), pane);
            pane = next;
        }
        assert_int_equal(pane, PANE_CURVE);
        for (int k = 0; k < PANE_COUNT; k++)
            assert_int_equal(seen >> k & 1,
                             l.kind != LAYOUT_FOUR || has_place((enum main_pane)k, choice.carpet));
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
