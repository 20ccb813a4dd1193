// Lists without a screen: every motion against what it means, windows against all sizes.
#include "group.h"
#include "widget.h"

#include <stddef.h>
#include <string.h>

static struct list list_of(int64_t count, int rows, int64_t cursor)
{
    struct list l = {.cursor = cursor};
    list_fit(&l, count, rows);
    return l;
}

static int64_t after(struct list l, enum action a)
{
    assert_true(list_act(&l, a));
    return l.cursor;
}

static void test_actions_move_by_what_is_seen(void **state)
{
    (void)state;
    struct list l = list_of(100, 11, 50);
    assert_int_equal(after(l, ACT_DOWN), 51);
    assert_int_equal(after(l, ACT_UP), 49);
    assert_int_equal(after(l, ACT_PAGE_DOWN), 60);
    assert_int_equal(after(l, ACT_PAGE_UP), 40);
    assert_int_equal(after(l, ACT_HALF_DOWN), 55);
    assert_int_equal(after(l, ACT_HALF_UP), 45);
    assert_int_equal(after(l, ACT_NEXT_MATCH), 51);
    assert_int_equal(after(l, ACT_PREVIOUS_MATCH), 49);
    assert_int_equal(after(l, ACT_FIRST), 0);
    assert_int_equal(after(l, ACT_LAST), 99);
    assert_false(list_act(&l, ACT_OPEN));
    assert_false(list_act(&l, ACT_LEFT));
    assert_int_equal(l.cursor, 50);
}

// At any size: inside, by a row at least while there is one, and the last row of a page is the
// first of the next.
static void test_cursor_stays_inside_and_in_view(void **state)
{
    (void)state;
    static const enum action all[] = {ACT_DOWN,      ACT_UP,      ACT_PAGE_DOWN, ACT_PAGE_UP,
                                      ACT_HALF_DOWN, ACT_HALF_UP, ACT_FIRST,     ACT_LAST};
    for (int count = 1; count < 12; count++)
        for (int rows = 0; rows < 14; rows++)
            for (int i = 0; i < 200; i++) {
                struct list l = list_of(count, rows, i % count), was = l;
                enum action a = all[i / count % 8];
                bool back = a == ACT_UP || a == ACT_PAGE_UP || a == ACT_HALF_UP || a == ACT_FIRST;
                assert_true(list_act(&l, a));
                list_fit(&l, count, rows);
                assert_in_range(l.cursor, 0, count - 1);
                assert_true(l.cursor != was.cursor || l.cursor == (back ? 0 : count - 1));
                assert_true(rows == 0 || list_shows(&l, l.cursor));
                assert_true(l.top >= 0 && (l.top == 0 || l.top + rows <= count || rows == 0));
            }
}

static void test_a_page_keeps_a_row_in_sight(void **state)
{
    (void)state;
    struct list l = list_of(100, 10, 9);
    assert_int_equal(l.top, 0);
    list_act(&l, ACT_PAGE_DOWN);
    list_fit(&l, 100, 10);
    assert_int_equal(l.top, 9);
}

static void test_from_nowhere_to_the_first_row_seen(void **state)
{
    (void)state;
    struct list l = list_of(100, 10, 40);
    l.cursor = -1;
    assert_int_equal(after(l, ACT_DOWN), l.top);
    assert_int_equal(after(l, ACT_PAGE_UP), l.top);
    assert_int_equal(after(l, ACT_LAST), 99);
}

static void test_nothing_moves_in_an_empty_list(void **state)
{
    (void)state;
    struct list l = list_of(0, 10, 0);
    assert_int_equal(after(l, ACT_LAST), 0);
    assert_false(list_click(&l, 0));
    assert_false(list_shows(&l, 0));
}

// Rows that come in above, or go, move the picture under the cursor nowhere.
static void test_the_selected_item_keeps_its_row(void **state)
{
    (void)state;
    struct list l = list_of(100, 10, 50);
    list_point(&l, 7, 45);
    list_fit(&l, 100, 10);
    int64_t row = l.cursor - l.top;
    list_point(&l, 7, 48);
    list_fit(&l, 103, 10);
    assert_int_equal(l.cursor - l.top, row);
    list_point(&l, 7, 30);
    list_fit(&l, 85, 10);
    assert_int_equal(l.cursor - l.top, row);
    int64_t top = l.top;
    list_point(&l, 8, 31); // another item: the window stands still
    list_fit(&l, 85, 10);
    assert_int_equal(l.top, top);
    list_point(&l, 8, -1); // it is gone
    list_fit(&l, 84, 10);
    assert_int_equal(l.top, top);
}

static void test_a_loose_window_stays(void **state)
{
    (void)state;
    struct list l = list_of(100, 10, 0);
    l.is_loose = true;
    list_point(&l, 0, 90);
    list_fit(&l, 100, 10);
    assert_int_equal(l.top, 0);
}

static void test_clicks_are_on_what_is_drawn(void **state)
{
    (void)state;
    struct list l = list_of(5, 10, 0);
    l.first_row = 2;
    assert_false(list_click(&l, 1)); // a head
    assert_false(list_click(&l, 7)); // below the last
    assert_int_equal(l.cursor, 0);
    assert_true(list_click(&l, 6));
    assert_int_equal(l.cursor, 4);
}

static void test_text_scrolls_to_its_ends(void **state)
{
    (void)state;
    struct list l = {0};
    list_fit(&l, 30, 10);
    assert_true(list_scroll(&l, ACT_PAGE_DOWN));
    assert_int_equal(l.top, 9);
    list_fit(&l, 30, 10);
    assert_int_equal(l.top, 9);
    list_scroll(&l, ACT_LAST);
    assert_int_equal(l.top, 20);
    list_scroll(&l, ACT_DOWN);
    assert_int_equal(l.top, 20);
    list_scroll(&l, ACT_FIRST);
    assert_int_equal(l.top, 0);
    assert_false(list_scroll(&l, ACT_OPEN));
}

static void test_the_note_says_what_is_seen(void **state)
{
    (void)state;
    char note[64];
    struct list l = list_of(40, 10, 39);
    list_note(&l, "rows", note);
    assert_string_equal(note, "rows 31-40 of 40");
    l = list_of(10, 10, 0);
    list_note(&l, "rows", note);
    assert_string_equal(note, "");
}

TEST_GROUP(list)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_actions_move_by_what_is_seen),
        cmocka_unit_test(test_cursor_stays_inside_and_in_view),
        cmocka_unit_test(test_a_page_keeps_a_row_in_sight),
        cmocka_unit_test(test_from_nowhere_to_the_first_row_seen),
        cmocka_unit_test(test_nothing_moves_in_an_empty_list),
        cmocka_unit_test(test_the_selected_item_keeps_its_row),
        cmocka_unit_test(test_a_loose_window_stays),
        cmocka_unit_test(test_clicks_are_on_what_is_drawn),
        cmocka_unit_test(test_text_scrolls_to_its_ends),
        cmocka_unit_test(test_the_note_says_what_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
