// Evaluates Python's conditions and lists as T1 inputs write them, and reads those inputs.
#include "agreement.h"
#include "group.h"
#include "help.h"
#include "wording.h"

#include "record/rule.h"

#include <string.h>

// a = 7, b = -2, s = "on"
static int find(void *context, const char *name)
{
    (void)context;
    static const char *const names[] = {"a", "b", "s"};
    for (int i = 0; i < 3; i++)
        if (str_equal(names[i], name))
            return i;
    return -1;
}

static struct value value_of(const void *context, int number)
{
    static const struct value values[] = {
        {VALUE_NUMBER, 7, NULL}, {VALUE_NUMBER, -2, NULL}, {VALUE_TEXT, 0, "on"}};
    (void)context;
    return values[number];
}

static bool evaluate(const char *text, struct value *out, struct err *e)
{
    static struct arena arena;
    const struct rule_names names = {find, NULL};
    const struct rule_world world = {value_of, NULL};
    struct rule *rule;
    arena_finish(&arena);
    arena_init(&arena);
    return rule_parse(&arena, text, &names, &rule, e) && rule_evaluate(rule, &world, out, e);
}

static void test_numbers(void **state)
{
    // The results are those of Python 3.
    static const struct {
        const char *text;
        double result;
    } rules[] = {
        {"1 + 2 * 3", 7},
        {"(1 + 2) * 3", 9},
        {"7 / 2", 3.5},
        {"7 // 2", 3},
        {"-7 // 2", -4},
        {"7 // -2", -4},
        {"7 % 3", 1},
        {"-7 % 3", 2},
        {"7 % -3", -2},
        {"7.5 % 2", 1.5},
        {"2 ** 3 ** 2", 512},
        {"-2 ** 2", -4},
        {"2 ** -1", 0.5},
        {"10 - 4 - 3", 3},
        {"100 / 10 / 2", 5},
        {"a % b", -1},
        {"a//b*b + a%b", 7},
        {"- - 3 + +1", 4},
        {"1e3 + .5", 1000.5},
        {"1.5E-1", 0.15},
        {"0 or 5", 5},
        {"3 and 5", 5},
        {"0 and 1/0", 0},
        {"1 or 1/0", 1},
        {"True + True", 2},
        {"32%((8*16)/8)", 0},
        {"32 % ((8 * 8)/32)", 0},
        {"not 3", 0},
        {"a", 7},
        {"2*-b", 4},
        {"5 % 2.5 == 0 or 9", 1},
    };
    struct value v;
    struct err e;
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (!evaluate(rules[i].text, &v, &e))
            fail_msg("%s: %s", rules[i].text, e.text);
        if (v.type == VALUE_TEXT || v.number != rules[i].result)
            fail_msg("%s is %g, not %g", rules[i].text, v.number, rules[i].result);
    }
}

static void test_conditions(void **state)
{
    static const struct {
        const char *text;
        bool result;
    } rules[] = {
        {"a == 7", true},
        {"a != 7", false},
        {"1 < a <= 7", true},
        {"1 < a < 7", false},
        {"10 > a > b", true},
        {"1 < a > b == -2", true},
        {"not a == 7", false},
        {"not (a == 7 and b == -2)", false},
        {"a == 1 or a == 7 and b == 3", false},
        {"(a == 1 or a == 7) and b < 0", true},
        {"not a < 3 and not b > 3", true},
        {"s == 'on'", true},
        {"s == \"off\"", false},
        {"s != 1", true},
        {"s == 1", false},
        {"'a' < 'b' <= 'b'", true},
        {"True and not False", true},
        {"''", false},
    };
    struct value v;
    struct err e;
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (!evaluate(rules[i].text, &v, &e))
            fail_msg("%s: %s", rules[i].text, e.text);
        if (rule_truth(&v) != rules[i].result)
            fail_msg("%s is %d", rules[i].text, rule_truth(&v));
    }
}

// Each operand of a chain is evaluated once; twice each, this one would never end.
static void test_nested_chains(void **state)
{
    struct str text = {0};
    struct value v;
    struct err e;
    (void)state;
    for (int i = 0; i < 60; i++)
        str_add(&text, "0 <= (");
    str_add(&text, "1");
    for (int i = 0; i < 60; i++)
        str_add(&text, ") <= 1");
    assert_true(evaluate(str_text(&text), &v, &e));
    assert_true(v.number == 1);
    str_finish(&text);
    assert_true(evaluate("1 < 0 < 1/0", &v, &e)); // stops there, as Python does
    assert_true(v.number == 0);
}

static void test_bad_rules(void **state)
{
    static const struct {
        const char *text, *complaint;
    } rules[] = {
        {"", "a value is missing at 'the end'"},
        {"a +", "a value is missing at 'the end'"},
        {"(a", "')' is missing"},
        {"a b", "nothing is known to follow at 'b'"},
        {"a = 3", "nothing is known to follow at '= 3'"},
        {"c > 1", "no parameter has this name at 'c > 1'"},
        {"min(a, 1)", "no parameter has this name"},
        {"1.2.3", "a number is malformed"},
        {"3x", "a number is malformed"},
        {"'on", "a text is not closed"},
        {"a and", "a value is missing"},
        {"not", "a value is missing"},
        {"1 / (a - 7)", "division by zero"},
        {"1 % 0", "division by zero"},
        {"1 // 0.0", "division by zero"},
        {"s < 1", "no order"},
        {"s + 1", "texts cannot be calculated with"},
        {"-s", "a text has no sign"},
        {"10 ** 400", "not a finite number"},
        {"(-8) ** 0.5", "not a finite number"},
    };
    struct value v;
    struct err e;
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (evaluate(rules[i].text, &v, &e))
            fail_msg("accepted: %s", rules[i].text);
        if (!strstr(e.text, rules[i].complaint))
            fail_msg("%s: %s", rules[i].text, e.text);
    }
    static char sum[30001] = "1";
    for (size_t i = 1; i + 1 < sizeof sum; i++)
        sum[i] = i % 2 ? '+' : '1';
    assert_false(evaluate(sum, &v, &e));
    assert_non_null(strstr(e.text, "a value is missing"));
    sum[sizeof sum - 2] = '\0';
    assert_false(evaluate(sum, &v, &e));
    assert_non_null(strstr(e.text, "too long"));
    sum[2001] = '\0';
    assert_true(evaluate(sum, &v, &e));
    assert_true(v.number == 1001);

    char deep[2048];
    static const char opening[] = {'(', '-'};
    for (size_t kind = 0; kind < 2; kind++) {
        memset(deep, opening[kind], sizeof deep - 1);
        deep[sizeof deep - 1] = '\0';
        assert_false(evaluate(deep, &v, &e));
        assert_non_null(strstr(e.text, "too deep"));
    }
}

static void test_value_lists(void **state)
{
    static const struct {
        const char *text;
        int count;
        double first, last;
    } lists[] = {
        {"[1]", 1, 1, 1},
        {" [ 16, 32 ,64, ] ", 3, 16, 64},
        {"[0.5, 2*3, 2**3]", 3, 0.5, 8},
        {"[1, 2, 4, 8, 16] + list(range(32, 1024+1, 32))", 37, 1, 1024},
        {"[2**i for i in range(0, 6)]", 6, 1, 32},
        {"[i for i in range(1, 11)]", 10, 1, 10},
        {"range(3)", 3, 0, 2},
        {"list(range(9, 0, -3))", 3, 9, 3},
        {"[2*k+1 for k in [3, 4] + [5]]", 3, 7, 11},
        {"([1] + ([2]))", 2, 1, 2},
        {"[True, False]", 2, 1, 0},
        {"[7 for i in range(2)]", 2, 7, 7},
    };
    struct arena arena;
    struct value_list list;
    struct err e;
    (void)state;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (!value_list_parse(&arena, lists[i].text, &list, &e))
            fail_msg("%s: %s", lists[i].text, e.text);
        assert_int_equal(list.count, lists[i].count);
        assert_true(list.value[0].number == lists[i].first);
        assert_true(list.value[list.count - 1].number == lists[i].last);
        free(list.value);
    }
    static const char *const bad[] = {"",
                                      "1",
                                      "[1",
                                      "[1 2]",
                                      "[i]",
                                      "[1] 2",
                                      "list",
                                      "range()",
                                      "range(1,2,0)",
                                      "range(1,2,3,4)",
                                      "[i for j in range(2)]",
                                      "[i for i in 3]",
                                      "[1, i for i in range(2)",
                                      "range(0, 1000000)"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (value_list_parse(&arena, bad[i], &list, &e))
            fail_msg("accepted: %s", bad[i]);
        free(list.value);
    }
    arena_finish(&arena);
}

#define T1(conditions)                                                                             \
    "{\"ConfigurationSpace\": {\"TuningParameters\": [\n"                                          \
    "{\"Name\": \"x\", \"Values\": \"[4, 1, 2]\"}, {\"Name\": \"m\", \"Values\": \"['a', "         \
    "'b']\"},\n"                                                                                   \
    "{\"Name\": \"on\", \"Values\": \"[True, False]\"}],\n"                                        \
    "\"Conditions\": [" conditions "]},\n"                                                         \
    "\"KernelSpecification\": {\"KernelName\": \"k\"}}"
#define RULE(text) "{\"Expression\": \"" text "\", \"Parameters\": []}"

static int count_legal(const struct space *s)
{
    int legal = 0;
    for (uint64_t i = 0; i < s->size; i++) {
        struct config c;
        struct verdict v;
        struct err e;
        space_point(s, i, &c);
        assert_true(space_judge(s, NULL, &c, &v, &e));
        legal += v.legal;
    }
    return legal;
}

static void test_t1(void **state)
{
    (void)state;
    struct recording *r =
        must_read("t1.json", T1(RULE("x > 1 or m == 'b'") ",\n" RULE("not on or x % 2 == 0")));
    assert_string_equal(r->format, "t1");
    assert_string_equal(r->kernel, "k");
    assert_int_equal(r->count, 0);
    assert_int_equal(r->best, -1);
    assert_int_equal(r->space->size, 12);
    assert_int_equal(r->space->param[1].kind, PARAM_CATEGORICAL);
    assert_string_equal(r->space->param[2].label[0], "true");
    assert_int_equal(r->space->constraint_count, 2);
    assert_int_equal(r->space->constraint[1].line, 5);
    // x = 1: only m = b, and not on; x = 2, 4: all four.
    assert_int_equal(count_legal(r->space), 9);
    recording_destroy(r);

    refuse(T1(RULE("x >")), "x.json:4: a value is missing");
    refuse(T1(RULE("z > 1")), "x.json:4: no parameter has this name");
    refuse(T1("{}"), "x.json:4: a condition has an Expression");
    refuse("{\"ConfigurationSpace\": {}}", "x.json:1: ConfigurationSpace has a list");
    refuse("{\"ConfigurationSpace\": {\"TuningParameters\": [\n{\"Values\": \"[1]\"}]}}",
           "x.json:2: a parameter has a Name");
    refuse("{\"ConfigurationSpace\": {\"TuningParameters\": [\n{\"Name\": \"x\"}]}}",
           "x.json:2: parameter 'x': Values is a text");
    refuse("{\"ConfigurationSpace\": {\"TuningParameters\": [\n{\"Name\": \"x\",\n\"Values\": "
           "\"[1\"}]}}",
           "x.json:3: parameter 'x': ',' or ']' is missing");
}

static void test_absent_is_illegal(void **state)
{
    (void)state;
    struct err e;
    struct record_agreement a;
    struct recording *rules = must_read("t1.json", T1(RULE("x != 2")));
    // A constant of its own, no parameter `on`, x = 2 recorded though it is not legal, 4,a absent.
    struct recording *r = must_read(
        "x.json", "{\"tune_params\": {\"m\": [\"a\", \"b\"], \"x\": [1, 2, 4], \"c\": [5], "
                  "\"on\": [true]}, \"cache\": {\"a,1,5,True\": {\"time\": 1}, \"b,1,5,True\": "
                  "{\"time\": 1}, \"b,4,5,True\": {\"time\": 1}, \"a,2,5,True\": {\"time\": 1}}}");
    assert_true(recording_check(r, rules->space, &a, &e));
    assert_int_equal(a.points, 6);
    assert_int_equal(a.legal, 4);
    assert_int_equal(a.legal_absent, 1);
    assert_int_equal(a.illegal_record, 1);
    recording_destroy(r);

    r = must_read("x.json", "{\"tune_params\": {\"x\": [1]}, \"cache\": {\"1\": {\"time\": 1}}}");
    assert_false(recording_check(r, rules->space, &a, &e));
    wording_is("record", "rule: a parameter", e.text);
    recording_destroy(r);
    recording_destroy(rules);
}

TEST_GROUP(rule)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),           cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_nested_chains),     cmocka_unit_test(test_bad_rules),
        cmocka_unit_test(test_value_lists),       cmocka_unit_test(test_t1),
        cmocka_unit_test(test_absent_is_illegal),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
