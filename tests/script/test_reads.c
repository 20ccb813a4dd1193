// Which slots of a configuration a rule reads, as it is evaluated.
#include "group.h"
#include "help.h"

#include <stdio.h>
#include <string.h>

#define PARAMS                                                                                     \
    "param.a = discrete { 1, 2, 3 } param.b = discrete { 1, 2, 3 } param.t = factors(12, 3) "      \
    "param.o = permutation { 'x', 'y' } "

enum { A = 1 << 0, B = 1 << 1, T1 = 1 << 2, T2 = 1 << 3, T3 = 1 << 4, O1 = 1 << 5, O2 = 1 << 6 };
enum { T = T1 | T2 | T3, O = O1 | O2, ALL = A | B | T | O };

static struct script *load(const char *rules)
{
    static char text[4000];
    snprintf(text, sizeof text, OPERATOR PARAMS "%s " KERNEL, rules);
    struct source files[] = {{"a.lua", text}, {"t.comp", "void main() {}"}, {NULL, NULL}};
    return must_load(files);
}

// Evaluates a constraint on the first point; returns what it read.
static uint64_t reads_of(struct script *s, int constraint)
{
    const struct space *space = script_space(s);
    const struct constraint *rule = &space->constraint[constraint];
    struct rule_reads r = {0};
    struct config c;
    struct err e;
    space_point(space, 0, &c);
    assert_int_equal(rule->holds(rule->context, &c, &e),
                     rule->holds_reading(rule->context, &c, &r, &e));
    return r.slots;
}

static void expect(const char *body, uint64_t slots)
{
    char rule[1000];
    snprintf(rule, sizeof rule, "constraint('r', function(c) %s end)", body);
    struct script *s = load(rule);
    uint64_t found = reads_of(s, 0);
    if (found != slots)
        fail_msg("%s: reads %lx, not %lx", body, (unsigned long)found, (unsigned long)slots);
    script_destroy(s);
}

static void test_reads(void **state)
{
    (void)state;
    expect("return true", 0);
    expect("return c.a > 0", A);
    expect("return c.a == 9 or c.b == 1", A | B);
    expect("return c.a == 1 or c.b == 1", A);
    expect("local t = c.t return true", 0);
    expect("return c.t[2] > 0", T2);
    expect("return #c.t == 3", 0);
    expect("return c.o[1] == 'x' and c.o[2] == 'y'", O);
    expect("for i, v in ipairs(c.t) do end return true", T);
    expect("local x, y, z = table.unpack(c.t) return x > 0", T);
    expect("for k, v in pairs(c) do end return true", ALL);
    expect("for k, v in pairs(c.o) do end return true", O);
    expect("return table.concat(c.o) == 'xy'", O);
}

static void test_derived_values(void **state)
{
    (void)state;
    struct script *s =
        load("local inner = derived(function(c) return c.t[1] end) "
             "local plan = derived(function(c) return { n = c.a + inner(c), t = c.t } end) "
             "constraint('one', function(c) return plan(c).n > 0 end) "
             "constraint('two', function(c) return c.b > 0 and plan(c).n > 0 end) "
             "constraint('three', function(c) return plan(c).t[3] > 0 end) "
             "constraint('four', function(c) return inner(c) > 0 end) ");
    for (int again = 0; again < 2; again++) { // what is kept tells the same
        assert_int_equal(reads_of(s, 0), A | T1);
        assert_int_equal(reads_of(s, 1), A | B | T1);
        assert_int_equal(reads_of(s, 2), A | T1 | T3);
        assert_int_equal(reads_of(s, 3), T1);
    }
    script_destroy(s);
}

static void test_resources(void **state)
{
    (void)state;
    struct script *s =
        load("resources(function(c) return { invocations = { c.a }, groups = { c.t[1] } } end) ");
    const struct space *space = script_space(s);
    struct rule_reads r = {0};
    struct resources needs;
    struct config c;
    struct err e;
    space_point(space, 0, &c);
    assert_true(space->resources_reading(space->resources_context, &c, &needs, &r, &e));
    assert_int_equal(r.slots, A | T1);
    script_destroy(s);
}

// What was read before an error is told, and the messages are those of rules that nobody watches.
static void test_errors(void **state)
{
    (void)state;
    static const char *const bodies[] = {"return c.a > 0 and c.bb == 1", "return c.t[4] == 1",
                                         "c.a = 3 return true"};
    static const char *const words[] = {"unknown parameter 'bb' (did you mean 'b'?)",
                                        "c.t has 3 elements: there is none at 4", "read-only"};
    for (int i = 0; i < 3; i++) {
        char rule[200];
        snprintf(rule, sizeof rule, "constraint('r', function(c) %s end)", bodies[i]);
        struct script *s = load(rule);
        const struct constraint *of = &script_space(s)->constraint[0];
        struct rule_reads r = {0};
        struct config c;
        struct err plain, watched;
        space_point(script_space(s), 0, &c);
        assert_int_equal(of->holds(of->context, &c, &plain), -1);
        assert_int_equal(of->holds_reading(of->context, &c, &r, &watched), -1);
        assert_string_equal(plain.text, watched.text);
        assert_non_null(strstr(watched.text, words[i]));
        assert_int_equal(watched.line, plain.line);
        assert_int_equal(r.slots, i == 0 ? A : 0);
        script_destroy(s);
    }
}

static void test_steps(void **state)
{
    (void)state;
    struct script *s =
        load("constraint('short', function(c) return c.a > 0 end) "
             "constraint('long', function(c) local n = 0 for i = 1, 10000 do n = n + "
             "i % 7 end return n > 0 end) ");
    uint64_t steps[2];
    for (int i = 0; i < 2; i++) {
        const struct constraint *of = &script_space(s)->constraint[i];
        struct rule_reads r = {0}, again = {0};
        struct config c;
        struct err e;
        space_point(script_space(s), 0, &c);
        assert_int_equal(of->holds_reading(of->context, &c, &r, &e), 1);
        assert_int_equal(of->holds_reading(of->context, &c, &again, &e), 1);
        steps[i] = again.steps;
    }
    assert_true(steps[0] < 100);
    assert_in_range(steps[1], 20000, 100000);
    script_destroy(s);
}

TEST_GROUP(reads)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads),     cmocka_unit_test(test_derived_values),
        cmocka_unit_test(test_resources), cmocka_unit_test(test_errors),
        cmocka_unit_test(test_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
