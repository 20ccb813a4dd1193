// Constraints, device limits and the survey that counts what each of them removes.
#include "group.h"
#include "space/outcome.h"
#include "space/survey.h"
#include "spaces.h"
#include "wording.h"

#include <string.h>

static void test_outcome_words(void **state)
{
    (void)state;
    const char *const frozen[] = {"ok",      "rejected", "compile", "driver",
                                  "timeout", "crash",    "lost",    "wrong"};
    assert_int_equal(OUTCOME_COUNT, 8);
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        enum outcome o;
        assert_string_equal(outcome_name((enum outcome)i), frozen[i]);
        assert_true(outcome_parse(frozen[i], &o));
        assert_int_equal(o, i);
        assert_false(outcome_parse("OK", &o));
    }
}

static const struct resources within = {
    .group_size = {16, 8, 1},
    .groups = {65535, 1, 1},
    .shared_bytes = 16384,
    .accumulators = 256,
    .loop_trips = 1u << 30,
    .statements = 20000,
    .buffer_bytes = 1u << 27,
};

static void check_limit(enum limit which, const struct resources *r, const struct limits *l,
                        const char *sentence)
{
    char text[100];
    assert_int_equal(limits_exceeded(l, r), 1u << which);
    assert_string_equal(limits_explain(l, r, text, sizeof text), sentence);
    assert_int_equal(strncmp(sentence, limit_name(which), strlen(limit_name(which))), 0);
}

static void test_each_limit(void **state)
{
    (void)state;
    struct limits l = limits_vulkan_minimum;
    char text[100];
    assert_int_equal(limits_exceeded(&l, &within), 0);
    assert_string_equal(limits_explain(&l, &within, text, sizeof text), "");
    assert_int_equal(limits_exceeded(&l, &(struct resources){0}),
                     0); // nothing declared, nothing judged
    struct resources r = within;
    r.group_size[2] = 2;
    check_limit(LIMIT_INVOCATIONS, &r, &l, "invocations 256 > 128");
    r = within;
    r.group_size[0] = 1, r.group_size[1] = 1, r.group_size[2] = 65;
    check_limit(LIMIT_GROUP_SIZE, &r, &l, "group size z 65 > 64");
    r = within;
    r.groups[1] = 65536;
    check_limit(LIMIT_GROUP_COUNT, &r, &l, "group count y 65536 > 65535");
    r = within;
    r.shared_bytes++;
    check_limit(LIMIT_SHARED, &r, &l, "shared memory 16385 bytes > 16384");
    r = within;
    r.buffer_bytes++;
    check_limit(LIMIT_BUFFER, &r, &l, "buffer 134217729 bytes > 134217728");
    r = within;
    r.accumulators++;
    check_limit(LIMIT_ACCUMULATORS, &r, &l, "accumulators 257 > 256");
    r = within;
    r.statements++;
    check_limit(LIMIT_STATEMENTS, &r, &l, "statements 20001 > 20000");
    r = within;
    r.registers = 105, l.registers = 128;
    check_limit(LIMIT_REGISTERS, &r, &l, "registers 105 > 104"); // 24 are taken
    r.registers = 104, r.subgroup = 32;
    assert_int_equal(limits_exceeded(&l, &r), 0);
    r.registers = 41, l.register_lanes = 16; // twice as many invocations share
    check_limit(LIMIT_REGISTERS, &r, &l, "registers 41 > 40");
    r.registers = 40;
    assert_int_equal(limits_exceeded(&l, &r), 0);
    r.subgroup = 128, r.registers = 2;
    check_limit(LIMIT_REGISTERS, &r, &l, "registers 2 > 1");
    l.loop_trips = 65535;
    r = within;
    check_limit(LIMIT_LOOP_TRIPS, &r, &l, "loop trips 1073741824 > 65535");
    l.loop_trips = l.accumulators = l.statements = l.registers = 0; // unlimited
    r.accumulators = r.statements = r.registers = UINT64_MAX;
    assert_int_equal(limits_exceeded(&l, &r), 0);
}

static void test_products_saturate(void **state)
{
    (void)state;
    struct resources r = {.group_size = {UINT64_C(1) << 32, UINT64_C(1) << 32, 0}};
    unsigned both = 1u << LIMIT_INVOCATIONS | 1u << LIMIT_GROUP_SIZE;
    assert_int_equal(limits_exceeded(&limits_vulkan_minimum, &r), both);
}

// In space_mixed: slots 0 and 1 are the split, 5 is the unroll, 6 the layout.
static int split_is_even(void *context, const struct config *c, struct err *e)
{
    (void)context;
    (void)e;
    return c->slot[0] == c->slot[1];
}

static int layout_is_not(void *context, const struct config *c, struct err *e)
{
    (void)e;
    return c->slot[6] != *(int *)context;
}

// Relies on split_is_even.
static int fails_unless_even(void *context, const struct config *c, struct err *e)
{
    (void)context;
    if (c->slot[0] != c->slot[1]) {
        err_at(e, "mixed.lua", 12, "division by zero");
        return -1;
    }
    return c->slot[5] != 0;
}

static bool needs(void *context, const struct config *c, struct resources *out, struct err *e)
{
    (void)context;
    if (c->slot[0] == 1)
        return err_set(e, "no such tile");
    out->shared_bytes = (uint64_t)c->slot[5] * 8192;      // unroll 3 is beyond 16384
    out->group_size[0] = 64 * ((uint64_t)c->slot[6] + 1); // layout 2 is beyond 128
    return true;
}

static struct space *judged(bool with_failing_rule, int *layout)
{
    struct space *s = space_mixed();
    space_add_constraint(s, &(struct constraint){.name = "even split", .holds = split_is_even});
    space_add_constraint(s, &(struct constraint){"layout", "mixed.lua", 7, layout, layout_is_not});
    if (with_failing_rule)
        space_add_constraint(
            s, &(struct constraint){"unrolled", "mixed.lua", 9, NULL, fails_unless_even});
    return s;
}

static struct verdict judge(const struct space *s, const struct limits *l, const char *key)
{
    struct config c;
    struct verdict v;
    struct err e = {0};
    assert_true(config_parse_key(s, key, &c, &e));
    assert_true(space_judge(s, l, &c, &v, &e));
    return v;
}

static void test_judge(void **state)
{
    (void)state;
    int layout = 1;
    struct space *s = judged(true, &layout);
    struct verdict v = judge(s, NULL, "1,4,0,1,2,0,1,0");
    // The first one that does not hold.
    assert_true(!v.legal && v.constraint == 0);
    wording_is("space", "judge: illegal", v.reason);
    v = judge(s, NULL, "2,2,0,1,2,0,1,0");
    assert_true(!v.legal && v.constraint == 1 && v.limits == 0);
    v = judge(s, NULL, "2,2,0,1,2,0,0,0");
    assert_string_equal(v.reason, "constraint 'unrolled'");
    s->resources = needs;
    v = judge(s, &limits_vulkan_minimum, "2,2,0,1,2,3,2,0");
    assert_true(!v.legal && v.constraint == -1);
    assert_int_equal(v.limits,
                     1u << LIMIT_INVOCATIONS | 1u << LIMIT_GROUP_SIZE | 1u << LIMIT_SHARED);
    assert_string_equal(v.reason, "invocations 192 > 128");
    v = judge(s, NULL, "2,2,0,1,2,3,2,0"); // no device, no limits
    assert_true(v.legal);
    v = judge(s, &limits_vulkan_minimum, "2,2,0,1,2,2,0,0");
    assert_true(v.legal && v.constraint == -1 && v.limits == 0 && v.reason[0] == '\0');
    space_destroy(s);
}

static void test_judge_reports_failing_rules(void **state)
{
    (void)state;
    struct space *s = space_mixed();
    space_add_constraint(s, &(struct constraint){.name = "unrolled", .holds = fails_unless_even});
    struct config c;
    struct verdict v;
    struct err e = {0};
    char text[200];
    assert_true(config_parse_key(s, "1,4,0,1,2,0,1,0", &c, &e));
    assert_false(space_judge(s, NULL, &c, &v, &e));
    wording_is("space", "judge: division by zero", err_format(&e, text, sizeof text));
    s->constraint_count = 0;
    s->resources = needs;
    assert_false(space_judge(s, &limits_vulkan_minimum, &c, &v, &e));
    assert_string_equal(e.text, "resources: no such tile");
    struct survey survey;
    assert_false(
        survey_take(s, &limits_vulkan_minimum, &(struct survey_plan){2000, 0, 1}, &survey, &e));
    space_destroy(s);
}

static void test_exact_survey(void **state)
{
    (void)state;
    int layout = 1;
    struct space *s = judged(true, &layout);
    s->resources = needs;
    struct survey v;
    struct err e = {0};
    assert_true(survey_take(s, &limits_vulkan_minimum, &(struct survey_plan){1080, 10, 1}, &v, &e));
    assert_true(v.exact);
    assert_int_equal(v.points, 1080);
    assert_int_equal(v.by_constraint[0], 720); // two of three splits
    assert_int_equal(v.by_constraint[1], 360); // one of three layouts
    assert_int_equal(v.by_constraint[2], 90);  // judged on the even splits only: a quarter of 360
    assert_int_equal(v.by_limit[LIMIT_SHARED],
                     180); // judged on two of three splits: a quarter of 720
    assert_int_equal(v.by_limit[LIMIT_INVOCATIONS], 240); // a third of 720
    assert_int_equal(v.by_limit[LIMIT_GROUP_SIZE], 240);
    assert_int_equal(v.by_limit[LIMIT_BUFFER], 0);
    assert_int_equal(v.valid, 6 * 5 * 2 * 1); // orders, ring, unroll 1 and 2, layout 0
    struct verdict verdict;
    assert_true(space_judge(s, &limits_vulkan_minimum, &v.example, &verdict, &e) && verdict.legal);
    survey_finish(&v);
    space_destroy(s);
}

static void test_survey_in_slices(void **state)
{
    (void)state;
    int layout = 1;
    struct space *s = judged(false, &layout);
    struct survey whole, v;
    struct err e = {0};
    for (uint64_t exact_up_to = 1079; exact_up_to <= 1080; exact_up_to++) {
        assert_true(survey_take(s, NULL, &(struct survey_plan){exact_up_to, 500, 5}, &whole, &e));
        survey_begin(&v, s, &(struct survey_plan){exact_up_to, 500, 5});
        for (uint64_t slice = 1; v.points < v.wanted; slice++)
            assert_true(survey_step(&v, s, NULL, slice, &e));
        assert_int_equal(v.points, exact_up_to < 1080 ? 500 : 1080);
        assert_true(v.exact == whole.exact && v.points == whole.points && v.valid == whole.valid);
        for (int i = 0; i < s->constraint_count; i++)
            assert_int_equal(v.by_constraint[i], whole.by_constraint[i]);
        survey_finish(&v);
        survey_finish(&whole);
    }
    space_destroy(s);
}

static void test_sampled_survey(void **state)
{
    (void)state;
    int layout = 1;
    struct space *s = judged(false, &layout);
    struct survey v;
    struct err e = {0};
    assert_true(survey_take(s, NULL, &(struct survey_plan){1079, 90000, 5}, &v, &e));
    assert_false(v.exact);
    assert_int_equal(v.points, 90000);
    assert_true(llabs((long long)v.by_constraint[0] - 60000) <
                700); // 5 sigma: sqrt(90000 * 2/9) = 141
    assert_true(llabs((long long)v.by_constraint[1] - 30000) < 700);
    assert_true(llabs((long long)v.valid - 20000) < 650);
    survey_finish(&v);

    struct space *huge = space_huge();
    assert_true(survey_take(huge, NULL, &(struct survey_plan){UINT64_MAX, 100, 5}, &v,
                            &e)); // never enumerated
    assert_false(v.exact);
    assert_int_equal(v.valid, 100);
    survey_finish(&v);
    space_destroy(huge);
    space_destroy(s);
}

static void test_empty_survey(void **state)
{
    (void)state;
    struct space *s = space_mixed();
    int all[] = {0, 1, 2};
    for (int i = 0; i < 3; i++)
        space_add_constraint(
            s, &(struct constraint){.name = "none", .context = &all[i], .holds = layout_is_not});
    struct survey v;
    struct err e = {0};
    assert_true(survey_take(s, NULL, &(struct survey_plan){2000, 0, 5}, &v, &e));
    assert_int_equal(v.valid, 0);
    assert_int_equal(v.by_constraint[2], 360);
    survey_finish(&v);
    space_destroy(s);
}

TEST_GROUP(judge)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outcome_words),
        cmocka_unit_test(test_each_limit),
        cmocka_unit_test(test_products_saturate),
        cmocka_unit_test(test_judge),
        cmocka_unit_test(test_judge_reports_failing_rules),
        cmocka_unit_test(test_exact_survey),
        cmocka_unit_test(test_survey_in_slices),
        cmocka_unit_test(test_sampled_survey),
        cmocka_unit_test(test_empty_survey),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
