// export(name, function(c)): forms of a configuration, and their errors.
#include "group.h"
#include "help.h"

#include <stddef.h>
#include <string.h>

#define ALL OPERATOR PARAM KERNEL "\n"

static struct script *load(const char *lua)
{
    struct err e = {0};
    struct script *s =
        script_from((struct source[]){{"a.lua", lua}, {"t.comp", "x"}, {NULL, NULL}}, &e);
    if (!s)
        fail_msg("%s", e.text);
    return s;
}

static void expect(const char *lua, const char *name, enum script_form form, const char *expected)
{
    struct script *s = load(lua);
    struct str out = {0};
    struct err e;
    struct config c;
    char message[1400];
    space_point(script_space(s), 1, &c);
    assert_int_equal(script_export(s, &(struct form_use){name, &c, NULL}, &out, &e), form);
    assert_string_equal(
        form == FORM_FAILED ? err_format(&e, message, sizeof message) : str_text(&out), expected);
    str_finish(&out);
    script_destroy(s);
}

static void test_forms(void **state)
{
    (void)state;
    const char *two = ALL "export('tile', function(c) return c.p[1] .. 'x' .. c.p[2] end)\n"
                          "export('odd', function(c) return nil, 'p is ' .. c.p[1] end)";
    struct script *s = load(two);
    struct config c;
    struct str out = {0};
    struct err e;
    for (uint64_t i = 0; i < script_space(s)->size; i++) {
        space_point(script_space(s), i, &c);
        assert_int_equal(script_export(s, &(struct form_use){"tile", &c, NULL}, &out, &e),
                         FORM_MADE);
        assert_int_equal(atoi(str_text(&out)), c.slot[0]);
        assert_int_equal(atoi(strchr(str_text(&out), 'x') + 1), c.slot[1]);
        str_finish(&out);
        assert_int_equal(script_export(s, &(struct form_use){"odd", &c, NULL}, &out, &e),
                         FORM_NONE);
        assert_int_equal(atoi(str_text(&out) + strlen("p is ")), c.slot[0]);
        str_finish(&out);
    }
    script_destroy(s);
}

static void test_failures(void **state)
{
    (void)state;
    expect(ALL, "x", FORM_FAILED, "a.lua exports no 'x' (it has none)");
    expect(ALL "export('x', function(c) return '' end) export('y', function(c) return '' end)", "z",
           FORM_FAILED, "a.lua exports no 'z' (it has x, y)");
    expect(ALL "export('x', function(c) return c.q end)", "x", FORM_FAILED,
           "a.lua:2: export 'x': unknown parameter 'q' (did you mean 'p'?)");
    expect(ALL "export('x', function(c) return {} end)", "x", FORM_FAILED,
           "a.lua:2: export 'x': what it returns: expected a string, got table");
    expect(ALL "export('x', function(c) end)", "x", FORM_FAILED,
           "a.lua:2: export 'x': nil, and why: expected a string, got nothing");
    expect(ALL "export('x', function(c) while true do end end)", "x", FORM_FAILED,
           "a.lua:2: export 'x': too many steps: the limit is 50 million in rendering a candidate "
           "(an endless loop?)");
}

TEST_GROUP(form)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
