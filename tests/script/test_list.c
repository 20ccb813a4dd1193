// List files: what they declare, and one clear line for each mistake.
#include "base/file.h"
#include "script/list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/tilewalk-list-XXXXXX";

static bool read_text(const char *text, struct list *l, struct err *e)
{
    assert_true(file_write(path, text, strlen(text), e));
    return list_read(path, l, e);
}

static void items_are_as_declared(void **state)
{
    struct list l;
    struct err e;
    (void)state;
    assert_true(read_text("about 'a net'\n"
                          "for _, n in ipairs { 1, 16 } do\n"
                          "  item { label = 'dense-' .. n, preset = 'gemm', uses = 2 * n,\n"
                          "         set = { N = n, layout = 'nt', row_a = 0 } }\n"
                          "end\n"
                          "item { label = 'pool', preset = 'maxpool' }",
                          &l, &e));
    assert_string_equal(l.name, path + strlen("/tmp/"));
    assert_string_equal(l.about, "a net");
    assert_int_equal(l.count, 3);
    assert_string_equal(l.item[1].label, "dense-16");
    assert_string_equal(l.item[1].preset, "gemm");
    assert_int_equal(l.item[1].uses, 32);
    static const char *const set[][2] = {{"N", "16"}, {"layout", "nt"}, {"row_a", "0"}};
    assert_int_equal(l.item[1].set_count, 3);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(l.item[1].set[i].name, set[i][0]);
        assert_string_equal(l.item[1].set[i].value, set[i][1]);
    }
    assert_int_equal(l.item[2].uses, 1);
    assert_int_equal(l.item[2].set_count, 0);
    list_finish(&l);
}

static void mistakes_are_named(void **state)
{
#define ITEM "item { label = 'a', preset = 'b'"
    static const char *const wrong[][2] = {
        {"", "the list is empty (item { label = , preset = })"},
        {"item { preset = 'b' }", "1: item: label: expected a string, got nothing"},
        {"item { label = 'a' }", "1: item: preset: expected a string, got nothing"},
        {"item { label = 1, preset = 'b' }", "1: item: label: expected a string, got number"},
        {ITEM ", use = 3 }", "1: item has no field 'use' (did you mean 'uses'?)"},
        {ITEM ", uses = 0 }", "1: item: uses is 0, not within 1..2147483647"},
        {ITEM ", set = 1 }", "1: item: set: expected a table, got number"},
        {ITEM ", set = { N = true } }", "1: item: N: expected a number, got boolean"},
        {ITEM ", set = { 5 } }", "1: item: the name of a size: expected a string, got number"},
        {ITEM " }\n" ITEM " }", "2: item 'a' is declared twice"},
        {"about(1)", "1: about: expected a string, got number"},
        {"itme {}", "1: unknown name 'itme' (did you mean 'item'?)"},
        {"size('N', 1)", "1: unknown name 'size'"},
        {"x = 1", "1: 'x' is not a local variable (write 'local')"},
        {"while true do end",
         "1: too many steps: the limit is 50 million in loading a space file (an endless loop?)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct list l;
        struct err e;
        char message[1400];
        assert_false(read_text(wrong[i][0], &l, &e));
        list_finish(&l);
        err_format(&e, message, sizeof message);
        if (!strstr(message, wrong[i][1]))
            fail_msg("%s\n  gives %s\n  not   %s", wrong[i][0], message, wrong[i][1]);
        assert_null(strchr(message, '\n'));
    }
}

static void missing_files_are_named(void **state)
{
    struct list l;
    struct err e;
    (void)state;
    assert_false(list_read("/tmp/there/is/none.lua", &l, &e));
    list_finish(&l);
    assert_null(list_find("no-such-list", &e));
    assert_true(e.usage);
}

// Presets exist, and take what their items say.
static void shipped_lists_can_be_tuned(void **state)
{
    int count;
    char **name = list_names(&count);
    (void)state;
    for (int i = 0; i < count; i++) {
        struct list l;
        struct err e;
        char *file = list_find(name[i], &e), message[1400];
        if (!list_read(file, &l, &e))
            fail_msg("%s", err_format(&e, message, sizeof message));
        assert_true(strlen(l.about) > 0);
        for (int k = 0; k < l.count; k++) {
            char *preset = script_find(l.item[k].preset, &e);
            struct script_options o = {.path = preset,
                                       .set = l.item[k].set,
                                       .set_count = l.item[k].set_count,
                                       .device_type = "discrete"};
            struct script *s = preset ? script_create(&o, &e) : NULL;
            if (!s)
                fail_msg("%s %s: %s", name[i], l.item[k].label,
                         err_format(&e, message, sizeof message));
            script_destroy(s);
            free(preset);
        }
        list_finish(&l);
        free(file);
        free(name[i]);
    }
    free(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_as_declared),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(missing_files_are_named),
        cmocka_unit_test(shipped_lists_can_be_tuned),
    };
    int fd = mkstemp(path);
    if (fd < 0)
        return 1;
    close(fd);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
