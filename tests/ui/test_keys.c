#include "config.h"
#include "group.h"

#include "base/file.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

static void test_every_action_is_complete(void **state)
{
    (void)state;
    for (int a = ACT_NONE + 1; a < ACT_COUNT; a++) {
        assert_non_null(actions[a].name);
        assert_true(actions[a].views);
        assert_true(strlen(actions[a].help) > 0);
        assert_int_equal(action_find(actions[a].name), a);
    }
}

static void test_no_key_means_two_things_on_a_screen(void **state)
{
    (void)state;
    struct keymap m;
    keymap_init(&m);
    for (int a = ACT_NONE + 1; a < ACT_COUNT; a++) {
        assert_int_not_equal(m.key[a][0], KEY_IS_NONE);
        for (int i = 0; i < MOST_KEYS && m.key[a][i]; i++)
            for (int view = 0; view < VIEW_COUNT; view++)
                if (actions[a].views & 1u << view)
                    assert_int_equal(keymap_find(&m, m.key[a][i], (enum view_id)view), a);
    }
}

static void test_key_names_read_back(void **state)
{
    (void)state;
    char name[16];
    for (int32_t key = 1; key < 127; key++)
        if (key >= ' ' || (key < 27 && key != 9 && key != 13))
            assert_int_equal(key_parse(key_label(key, name)), key);
    for (int32_t key = KEY_IS_UP; key <= KEY_IS_F12; key++)
        if (key < KEY_IS_CLICK || key > KEY_IS_PASTE_END)
            assert_int_equal(key_parse(key_label(key, name)), key);
    assert_int_equal(key_parse("F13"), KEY_IS_NONE);
    assert_int_equal(key_parse("ctrl-"), KEY_IS_NONE);
    assert_int_equal(key_parse(""), KEY_IS_NONE);
}

static void test_keys_are_rebound(void **state)
{
    (void)state;
    struct keymap m;
    struct err e;
    enum action bound;
    keymap_init(&m);
    assert_true(keymap_bind(&m, "pause", "P F12", &bound, &e));
    assert_int_equal(bound, ACT_PAUSE);
    assert_true(keymap_check(&m, ACT_PAUSE, &e));
    assert_int_equal(keymap_find(&m, 'P', VIEW_MAIN), ACT_PAUSE);
    assert_int_equal(keymap_find(&m, 'p', VIEW_MAIN), ACT_NONE);
    assert_false(keymap_bind(&m, "paus", "w", NULL, &e));
    assert_non_null(strstr(e.text, "'paus'"));
    assert_non_null(strstr(e.text, "'pause'?"));
    assert_false(keymap_bind(&m, "pause", "hyper-q", NULL, &e));
    assert_int_equal(keymap_find(&m, 'P', VIEW_MAIN), ACT_PAUSE);
    assert_true(keymap_bind(&m, "stop", "none", NULL, &e));
    assert_int_equal(keymap_find(&m, 's', VIEW_MAIN), ACT_NONE);
}

static bool read_text(const char *text, struct ui_config *c, struct err *e)
{
    char path[] = "workbench-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    config_init(c);
    bool ok = config_read(c, path, e);
    unlink(path);
    return ok;
}

static void test_config_is_read(void **state)
{
    (void)state;
    struct ui_config c;
    struct err e;
    static const char text[] = "# mine\n\n charset = ascii \ncolor=never\n"
                               "editor = vim -u NONE\nkey pause = P\nmouse = off";
    assert_true(read_text(text, &c, &e));
    assert_true(c.charset_given && c.charset == CHARSET_ASCII && c.color == COLOR_NEVER &&
                !c.mouse);
    assert_string_equal(c.editor, "vim -u NONE");
    assert_int_equal(keymap_find(&c.keymap, 'P', VIEW_MAP), ACT_PAUSE);
    config_init(&c);
    assert_true(config_read(&c, "no/such/file", &e));
}

static void test_keys_can_be_swapped(void **state)
{
    (void)state;
    struct ui_config c;
    struct err e = {0};
    static const char swapped[] = "key pause = s\nkey stop = p\n",
                      taken[] = "# one\nkey pause = q\n";
    assert_true(read_text(swapped, &c, &e));
    assert_int_equal(keymap_find(&c.keymap, 's', VIEW_MAIN), ACT_PAUSE);
    assert_int_equal(keymap_find(&c.keymap, 'p', VIEW_MAIN), ACT_STOP);
    assert_false(read_text(taken, &c, &e));
    assert_int_equal(e.line, 2);
    assert_string_equal(e.text,
                        "key 'q' is that of 'quit', too (give that one another key, or none)");
}

static void test_config_errors_have_a_place(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"charset = ascii\ncolour = never\n", "unknown setting 'colour' (did you mean 'color'?)"},
        {"\ncolor = sometimes\n", "color 'sometimes' is none of auto, always, never"},
        {"\neditor\n", "'editor' has no '=' (name = value)"},
        {"\neditor =\n", "'editor' has no value"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ui_config c;
        struct err e = {0};
        assert_false(read_text(wrong[i][0], &c, &e));
        assert_string_equal(e.text, wrong[i][1]);
        assert_int_equal(e.line, 2);
    }
}

TEST_GROUP(keys)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_action_is_complete),
        cmocka_unit_test(test_no_key_means_two_things_on_a_screen),
        cmocka_unit_test(test_key_names_read_back),
        cmocka_unit_test(test_keys_are_rebound),
        cmocka_unit_test(test_config_is_read),
        cmocka_unit_test(test_keys_can_be_swapped),
        cmocka_unit_test(test_config_errors_have_a_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
